use super::Context;
use super::args::Tidy;
use crate::exit::Exit;
pub(super) fn run(_: &Context, _: &Tidy) -> Exit {
    Exit::Incomplete
}
