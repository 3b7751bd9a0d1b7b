//! TLS: what is offered, what is accepted, whom is trusted.

use std::sync::Arc;

use mcp_assay_client::error::TransportFault;
use mcp_assay_client::{Client, Effect, Error, NetConnector, TlsConnector};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::server::Acceptor;

use crate::peer::{initialize_result, kind};
use crate::secrets::{assert_log_clean, collect};

/// A TLS server for one handshake after another, and the certificate to trust.
struct Server {
    listener: TcpListener,
    certificate: CertificateDer<'static>,
    config: Arc<ServerConfig>,
}

impl Server {
    async fn new(alpn: &[&[u8]]) -> Self {
        Self::named("127.0.0.1", alpn).await
    }

    async fn named(name: &str, alpn: &[&[u8]]) -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([name.to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider speaks TLS")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("the key is the certificate's");
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        Self { listener, certificate: cert.der().clone(), config: Arc::new(config) }
    }

    fn url(&self) -> String {
        format!("https://{}/mcp", self.listener.local_addr().expect("it is bound"))
    }

    /// Answers one request over TLS; gives back the protocols that were offered.
    async fn serve(&self, response: impl FnOnce(&str) -> String) -> Vec<Vec<u8>> {
        let (tcp, _) = self.listener.accept().await.expect("a connection");
        let Ok(start) = LazyConfigAcceptor::new(Acceptor::default(), tcp).await else { return Vec::new() };
        let offered = start.client_hello().alpn().into_iter().flatten().map(<[u8]>::to_vec).collect();
        // A client that does not trust us breaks off here.
        if let Ok(mut tls) = start.into_stream(self.config.clone()).await {
            let mut read = Vec::new();
            while !read.ends_with(b"}") && tls.read_buf(&mut read).await.is_ok_and(|n| n > 0) {}
            if !read.is_empty() {
                let response = response(&String::from_utf8_lossy(&read));
                tls.write_all(response.as_bytes()).await.expect("the client reads");
                tls.shutdown().await.expect("the client reads");
            }
        }
        offered
    }
}

fn trusting(certificate: &CertificateDer<'_>) -> NetConnector {
    let tls = TlsConnector::builder().root_certificate(certificate.to_vec()).build();
    NetConnector::with_tls(tls.expect("the certificate is sound"))
}

/// Row EX-HS-24.
#[tokio::test]
async fn http_1_1_is_all_that_is_offered() {
    let server = Server::new(&[b"h2", b"http/1.1"]).await;
    let serve = async {
        let initialize = server.serve(|_| {
            let body = initialize_result(1);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            format!("{head}content-length: {}\r\n\r\n{body}", body.len())
        });
        assert_eq!(initialize.await, [b"http/1.1"]);
        let accepted = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        assert_eq!(server.serve(|_| accepted.to_owned()).await, [b"http/1.1"]);
    };
    let connect = Client::builder(server.url()).connector(trusting(&server.certificate)).connect();
    let ((), client) = tokio::join!(serve, connect);
    client.expect("the handshake is sound").close().await.expect("there is no session");
}

/// Row EX-HS-24.
#[tokio::test]
async fn a_server_that_insists_on_h2_is_refused() {
    let server = Server::new(&[b"h2"]).await;
    let connect = Client::builder(server.url()).connector(trusting(&server.certificate)).connect();
    let (offered, outcome) = tokio::join!(server.serve(|_| String::new()), connect);
    assert_eq!(offered, [b"http/1.1"]);
    let expected = Error::HttpTransport { fault: TransportFault::Tls, effect: Effect::NotSent };
    assert_eq!(outcome.unwrap_err(), expected);
}

#[tokio::test]
async fn a_server_nobody_vouches_for_is_refused() {
    let server = Server::new(&[b"http/1.1"]).await;
    let other = Server::new(&[]).await;
    for connector in [NetConnector::new(), trusting(&other.certificate)] {
        let connect = Client::builder(server.url()).connector(connector).connect();
        let (_, outcome) = tokio::join!(server.serve(|_| String::new()), connect);
        assert_eq!(kind(&outcome), "http_transport_error");
        assert_eq!(outcome.unwrap_err().effect(), Effect::NotSent);
    }
}

/// The secrets test looks at what is logged here.
#[tokio::test]
async fn a_server_of_another_name_is_refused() {
    collect();
    let server = Server::named("server-secret.test", &[b"http/1.1"]).await;
    for connector in [NetConnector::new(), trusting(&server.certificate)] {
        let connect = Client::builder(server.url()).connector(connector).connect();
        let (_, outcome) = tokio::join!(server.serve(|_| String::new()), connect);
        assert_eq!(kind(&outcome), "http_transport_error");
    }
    assert_log_clean();
}
