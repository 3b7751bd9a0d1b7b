use super::Context;
use super::args::Output;
use crate::exit::Exit;
pub(super) fn run(_: &Context, _: &Output) -> Exit {
    Exit::Incomplete
}
