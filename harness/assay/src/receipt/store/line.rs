//! The lines of a stored timeline.

use super::blob::Part;
use crate::digest::Digest;
use crate::timeline::Side;
use serde::{Deserialize, Serialize};

/// The number of a byte string in its file, from 0.
pub(super) type Blob = u32;

/// The verbs a step may have; events name them by one of these texts.
pub(super) const VERBS: [&str; 14] = [
    "connect",
    "list_tools",
    "call_tool",
    "listen",
    "cancel",
    "reconnect",
    "close",
    "kill",
    "await",
    "join",
    "release",
    "linger",
    "admin",
    "hello",
];

/// One line.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    /// The first line.
    Case { schema: String, profile: String, case: String },
    /// A byte string; the digest is that of the whole, and stands where a part is a generator.
    Blob {
        parts: Vec<Part>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<Digest>,
    },
    /// A variant begins.
    Variant { id: String, events: u64 },
    /// An event of the variant.
    Event { at: u64, what: What },
    /// The last line.
    End { variants: u64 },
}

/// What happened; the names are those of [`crate::timeline::EventKind`].
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum What {
    Teardown {},
    StepBegan { step: String, verb: String, client: String },
    StepEnded { step: String, returned: Outcome },
    Accepted { conn: u32 },
    Request(Box<Request>),
    BadRequest { conn: u32, raw: Blob, problem: String },
    Held { name: String, request: u32 },
    Released { name: String },
    Replied(Box<Reply>),
    Closed { conn: u32, by: Side, how: How },
    Memory { taken: Option<Taken> },
    Witness { journal: Blob },
    HarnessError { problem: String },
}

/// What a step returned. Texts and tools are blobs, since they may be long and come again.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Outcome {
    Ok {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Blob>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tools: Option<Vec<Blob>>,
    },
    Error {
        kind: String,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Blob>,
    },
    Unsupported {
        message: String,
    },
}

/// What a process took.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Taken {
    pub(super) peak: u64,
    pub(super) now: u64,
}

/// A request.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) conn: u32,
    pub(super) number: u32,
    pub(super) reused: bool,
    pub(super) method: String,
    pub(super) target: String,
    /// A list of names and values.
    pub(super) headers: Blob,
    pub(super) head: Blob,
    pub(super) body: Blob,
    pub(super) json: Json,
    pub(super) rule: String,
}

/// A request's body as JSON.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Json {
    /// It is none.
    None,
    /// It is what the body says.
    Body,
    /// It is this.
    Is(Blob),
}

/// A reply.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply {
    pub(super) request: u32,
    pub(super) bytes: Blob,
    pub(super) content_len: usize,
    pub(super) written: usize,
    /// Runs of cuts: the first, the step to the next, how many.
    pub(super) cuts: Vec<(usize, usize, usize)>,
    pub(super) proven: u32,
    /// A list of names and offsets.
    pub(super) marks: Blob,
    pub(super) complete: bool,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum How {
    Fin,
    Rst,
}

/// Cuts as runs of equal steps.
pub(super) fn fold_cuts(cuts: &[usize]) -> Vec<(usize, usize, usize)> {
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    for &cut in cuts {
        match runs.last_mut() {
            Some((first, step, count @ 1)) if cut >= *first => (*step, *count) = (cut - *first, 2),
            Some((first, step, count)) if *count > 1 && *first + *step * *count == cut => *count += 1,
            _ => runs.push((cut, 0, 1)),
        }
    }
    runs
}

/// Runs as cuts again, at most `limit`; none where there are more, or one is past all offsets.
pub(super) fn unfold_cuts(runs: &[(usize, usize, usize)], limit: usize) -> Option<Vec<usize>> {
    let mut cuts = Vec::new();
    for &(first, step, count) in runs {
        if count > limit - cuts.len() {
            return None;
        }
        for n in 0..count {
            cuts.push(step.checked_mul(n)?.checked_add(first)?);
        }
    }
    Some(cuts)
}
