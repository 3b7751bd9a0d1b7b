// The server of the documentation's examples, which include this file in hidden lines.
//
// It speaks over in-memory pipes (as the client's connector) or over TCP, and remembers what it heard. It issues a session
// and has one tool, `echo`, which answers with its argument `text`. Any method can be given another answer.

use server::Server;

mod server {
    use std::collections::BTreeMap;
    use std::io;
    use std::sync::{Arc, Mutex};

    use mcp_assay_client::{Client, Connect, ConnectFuture, Error, Io, Origin};
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    /// Where the examples' in-memory server is said to be.
    pub const URL: &str = "http://server.example/mcp";

    #[derive(Clone, Default)]
    pub struct Server {
        heard: Arc<Mutex<String>>,
        answers: BTreeMap<&'static str, (u16, &'static str, String)>,
    }

    impl Server {
        /// Gives requests of this method (`DELETE` for a close) another answer. `ID` in the body is the request's id.
        pub fn answer(
            mut self,
            method: &'static str,
            status: u16,
            headers: &'static str,
            body: &str,
        ) -> Self {
            self.answers.insert(method, (status, headers, body.to_owned()));
            self
        }

        /// Gives requests of this method another result.
        pub fn result(self, method: &'static str, result: &str) -> Self {
            let body = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#);
            self.answer(method, 200, "content-type: application/json\r\n", &body)
        }

        /// Never answers requests of this method.
        pub fn silent(self, method: &'static str) -> Self {
            self.answer(method, 0, "", "")
        }

        /// Returns once some request held this text.
        pub async fn hears(&self, text: &str) {
            let heard = async {
                while !self.heard(text) {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(std::time::Duration::from_secs(10), heard).await.expect("it is sent at once");
        }

        /// Whether some request held this text.
        pub fn heard(&self, text: &str) -> bool {
            self.heard.lock().unwrap().contains(text)
        }

        /// A client after its handshake with this server.
        pub async fn client(&self) -> Result<Client, Error> {
            Client::builder(URL).connector(self.clone()).connect().await
        }

        /// Serves TCP; gives back the URL.
        pub async fn listen(&self) -> io::Result<String> {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let url = format!("http://{}/mcp", listener.local_addr()?);
            let server = self.clone();
            tokio::spawn(async move {
                while let Ok((tcp, _)) = listener.accept().await {
                    tokio::spawn(server.clone().converse(tcp));
                }
            });
            Ok(url)
        }

        /// Serves TLS; gives back the URL and the certificate to trust.
        pub async fn listen_tls(&self) -> io::Result<(String, Vec<u8>)> {
            let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
            let (certificate, key) = (made.cert.der().clone(), made.signing_key.serialize_der());
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config = rustls::ServerConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![certificate.clone()], key.try_into().unwrap())
                .unwrap();
            let acceptor = TlsAcceptor::from(Arc::new(config));
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let url = format!("https://{}/mcp", listener.local_addr()?);
            let server = self.clone();
            tokio::spawn(async move {
                while let Ok((tcp, _)) = listener.accept().await {
                    if let Ok(tls) = acceptor.accept(tcp).await {
                        tokio::spawn(server.clone().converse(tls));
                    }
                }
            });
            Ok((url, certificate.to_vec()))
        }

        /// Answers the requests of one connection, one after another.
        async fn converse(self, mut stream: impl Io) {
            let mut read = Vec::new();
            loop {
                let text = String::from_utf8_lossy(&read).into_owned();
                if let Some(request) = Request::parse(&text) {
                    read.clear();
                    self.heard.lock().unwrap().push_str(&text);
                    if stream.write_all(self.response(&request).as_bytes()).await.is_err() {
                        return;
                    }
                } else if !matches!(stream.read_buf(&mut read).await, Ok(1..)) {
                    return;
                }
            }
        }

        fn response(&self, request: &Request) -> String {
            let Request { method, id, message } = request;
            let (status, headers, body) = match self.answers.get(method.as_str()) {
                Some((status, headers, body)) => (*status, *headers, body.replace("ID", id)),
                None => usual(method, message),
            };
            if status == 0 {
                return String::new();
            }
            format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
        }
    }

    fn usual(method: &str, message: &Value) -> (u16, &'static str, String) {
        let result = match method {
            "initialize" => json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "example", "version": "1" },
            }),
            "tools/list" => json!({ "tools": [{
                "name": "echo",
                "description": "Gives its text back",
                "inputSchema": { "type": "object" },
            }] }),
            "tools/call" => json!({ "content": [{
                "type": "text",
                "text": message["params"]["arguments"]["text"].as_str().unwrap_or_default(),
            }] }),
            "DELETE" => return (200, "", String::new()),
            _ => return (202, "", String::new()),
        };
        let headers = match method {
            "initialize" => "content-type: application/json\r\nmcp-session-id: abc\r\n",
            _ => "content-type: application/json\r\n",
        };
        (200, headers, json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
    }

    impl Connect for Server {
        fn connect(&self, _origin: &Origin) -> ConnectFuture {
            let (ours, theirs) = tokio::io::duplex(65_536);
            tokio::spawn(self.clone().converse(ours));
            Box::pin(async { Ok(Box::new(theirs) as Box<dyn Io>) })
        }
    }

    struct Request {
        /// The JSON-RPC method, or the HTTP method of a request without a body.
        method: String,
        id: String,
        message: Value,
    }

    impl Request {
        /// The request, once it is whole.
        fn parse(text: &str) -> Option<Self> {
            let (head, body) = text.split_once("\r\n\r\n")?;
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() < length.map_or(0, |length| length.parse().unwrap()) {
                return None;
            }
            let message: Value = serde_json::from_str(body).unwrap_or_default();
            let method = message["method"].as_str().or_else(|| head.split(' ').next());
            Some(Self {
                method: method.unwrap_or_default().to_owned(),
                id: message["id"].to_string(),
                message,
            })
        }
    }
}
