//! `mcp-assay …`: the same commands as `cargo xtask …`, for a binary on its own.

use mcp_assay::cli::{Program, main as command};
use std::process::ExitCode;

fn main() -> ExitCode {
    command(&Program { name: "mcp-assay", root: None }, std::env::args_os())
}
