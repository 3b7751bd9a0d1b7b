use super::Context;
use super::args::Receipts;
use crate::exit::Exit;
pub(super) fn run(_: &Context, _: &Receipts) -> Exit {
    Exit::Incomplete
}
