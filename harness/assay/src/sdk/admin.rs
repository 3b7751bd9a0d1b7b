//! The admin routes of our SDK servers (see `fixtures/servers/README.md`): plain HTTP beside the endpoint, out of band.

use crate::layout::Layout;
use serde::Deserialize;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The most bytes of an answer.
const ANSWER_MAX: usize = 16 << 20;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the journal answers.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    /// The number to ask with next.
    pub next: u64,
    /// The entries, an array.
    pub entries: Value,
}

/// The journal's entries from number `since` on.
///
/// # Errors
/// In words: the server does not answer as documented.
pub async fn journal(server: SocketAddr, since: u64) -> Result<Journal, String> {
    let answer = get(server, &format!("journal?since={since}")).await?;
    serde_json::from_value(answer).map_err(|problem| format!("expected the server's journal: {problem}"))
}

/// Calls an admin route (`expire`, `drop_sockets`).
///
/// # Errors
/// In words: the server does not answer with 200 and JSON in time.
pub async fn get(server: SocketAddr, route: &str) -> Result<Value, String> {
    let called = timeout(PATIENCE, call(server, route)).await;
    let problem = match called {
        Ok(Ok(answer)) => return Ok(answer),
        Ok(Err(problem)) => problem,
        Err(_) => format!("it took over {} s", PATIENCE.as_secs()),
    };
    Err(format!("the server's admin route {route}: expected an answer, {problem}"))
}

async fn call(server: SocketAddr, route: &str) -> Result<Value, String> {
    let failed = |problem: std::io::Error| problem.to_string();
    let mut stream = TcpStream::connect(server).await.map_err(failed)?;
    let request = format!("GET /admin/{route} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(failed)?;
    let mut raw = Vec::new();
    let mut layout = Layout::new("GET");
    while layout.read(&raw).is_none() {
        if stream.read_buf(&mut raw).await.map_err(failed)? == 0 || raw.len() > ANSWER_MAX {
            break;
        }
    }
    if layout.status != 200 {
        return Err(format!("saw the status {}", layout.status));
    }
    serde_json::from_slice(&layout.content).map_err(|problem| problem.to_string())
}
