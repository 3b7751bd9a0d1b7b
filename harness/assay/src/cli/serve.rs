use super::Context;
use super::args::Serve;
use crate::exit::Exit;
pub(super) fn run(_: &Context, _: &Serve) -> Exit {
    Exit::Incomplete
}
