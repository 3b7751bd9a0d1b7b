//! `cargo xtask …`: the project's commands.

fn main() {}
