//! JSON-RPC 2.0 messages as MCP uses them: encoding those that go out, classifying those that come in.

mod decode;
mod encode;

pub(crate) use decode::{Answer, Incoming, Response, is_object, present, string};
pub(crate) use encode::{
    call_tool, cancelled, initialize, initialized, list_tools, reply_to_server, sent_id,
};
