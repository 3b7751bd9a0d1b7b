//! The progress bar on stderr: only where a person watches.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A bar for one profile. Where stderr is no terminal it shows nothing.
pub(super) fn bar(profile: &str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    let style = "{prefix} {wide_bar} {pos}/{len} cases, {msg} variants, {elapsed}";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.set_prefix(profile.to_owned());
    bar
}
