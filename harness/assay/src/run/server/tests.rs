//! Whether a server is still well. Those that end or flood are in `tests/runs/servers.rs`.

use super::health;
use crate::sdk::process::{Patience, Server};
use std::cell::RefCell;
use std::net::TcpListener;

/// A server whose process is well, but which answers nobody, as one does that is stuck in a write to its stdout.
#[test]
fn a_server_that_blocks_is_not_well() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let ready = format!(
        r#"echo '{{"ready":true,"name":"n","mode":"m","port":{port},"url":"u","pid":1,"versions":{{}}}}'; cat"#
    );
    let command = ["sh", "-c", &ready].map(std::ffi::OsString::from);
    let mut server = Server::start("n-m", "sh", &command, Patience::default()).unwrap();
    // The paused clock goes on as soon as all wait for the server.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let problem = runtime.block_on(health(&RefCell::new(&mut server))).unwrap();
    assert!(problem.ends_with("expected an answer, it took over 10 s"), "{problem}");
    let record = server.stop();
    assert_eq!((record.ended.as_str(), record.killed), ("exit 0", false));
    drop(listener);
}
