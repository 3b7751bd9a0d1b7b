use super::Context;
use super::args::Explain;
use crate::exit::Exit;
pub(super) fn run(_: &Context, _: &Explain) -> Exit {
    Exit::Incomplete
}
