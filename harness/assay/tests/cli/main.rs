//! The command line from outside: exit codes, the last line for machines, what people read.

mod looks;
mod machines;
mod program;
mod runs;
mod serving;
mod tidying;
