//! `driver`: the built-in client as a driver, and whether other programs are one.

use super::Context;
use super::args::{Driver, DriverCommand};
use crate::driver::serve;
use crate::exit::Exit;
use crate::run::client;
use crate::source::escape_lines;

/// Speaks the driver protocol until stdin ends.
pub(super) fn serve(program: &str, args: &Driver) -> Exit {
    let complain = |problem: &dyn std::fmt::Display| {
        tell!("{program}: {}", escape_lines(&problem.to_string()));
        Exit::Usage
    };
    let client = match client::builtin(&args.policy) {
        Ok(client) => client,
        Err(problem) => return complain(&problem),
    };
    match serve::serve(&client, std::io::stdin(), std::io::stdout()) {
        Ok(()) => Exit::AsExpected,
        Err(problem) => complain(&problem),
    }
}

pub(super) fn run(context: &Context, args: &Driver) -> Exit {
    match &args.command {
        Some(DriverCommand::Check { .. }) | None => serve(context.program, args),
    }
}
