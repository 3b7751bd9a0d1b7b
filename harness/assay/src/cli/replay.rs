use super::Context;
use super::args::Replay;
use crate::exit::Exit;
pub(super) fn run(_: &Context, _: &Replay) -> Exit {
    Exit::Incomplete
}
