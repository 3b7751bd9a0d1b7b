//! `cargo xtask …`: the project's commands. A thin door to the library.

use mcp_assay::cli::{Program, main as command};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned);
    command(&Program { name: "cargo xtask", root }, std::env::args_os())
}
