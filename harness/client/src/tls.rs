//! TLS: rustls with the platform's trust, and HTTP/1.1 as the only protocol.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::error::TransportFault;

/// The only protocol offered by ALPN, and the only one accepted.
const HTTP_1_1: &[u8] = b"http/1.1";

/// How a client speaks TLS: TLS 1.2 or 1.3, ALPN `http/1.1` only (row EX-HS-24).
///
/// A server that insists on another protocol fails the handshake. There is no way to turn the verification of the
/// server's certificate off.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::{Client, NetConnector, TlsConnector};
///
/// # let (url, der) = Server::default().listen_tls().await?;
/// let tls = TlsConnector::builder().root_certificate(der).build()?;
/// let client = Client::builder(url).connector(NetConnector::with_tls(tls)).connect().await?;
/// assert!(client.status().has_session);
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct TlsConnector {
    config: Arc<OnceLock<Arc<ClientConfig>>>,
}

impl TlsConnector {
    /// Starts from no root certificate at all; without any the platform's are used.
    ///
    /// ```
    /// use mcp_assay_client::TlsConnector;
    ///
    /// let tls = TlsConnector::builder().build()?;
    /// assert_eq!(format!("{tls:?}"), "TlsConnector { .. }");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn builder() -> TlsConnectorBuilder {
        TlsConnectorBuilder { roots: Vec::new() }
    }

    pub(crate) async fn handshake(&self, host: &str, tcp: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let failed = |_| io::Error::other(TransportFault::Tls);
        let name =
            ServerName::try_from(host.to_owned()).map_err(|_| io::Error::other(TransportFault::Tls))?;
        let tls = tokio_rustls::TlsConnector::from(self.config()?);
        let stream = tls.connect(name, tcp).await.map_err(failed)?;
        match stream.get_ref().1.alpn_protocol() {
            None | Some(HTTP_1_1) => Ok(stream),
            Some(_) => Err(io::Error::other(TransportFault::Alpn)),
        }
    }

    /// The configuration; the platform's trust is read when it is first needed.
    fn config(&self) -> io::Result<Arc<ClientConfig>> {
        if let Some(config) = self.config.get() {
            return Ok(config.clone());
        }
        let config = configure(None).map_err(|_| io::Error::other(TransportFault::Tls))?;
        Ok(self.config.get_or_init(|| config).clone())
    }
}

impl fmt::Debug for TlsConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConnector").finish_non_exhaustive()
    }
}

/// Collects what a [`TlsConnector`] trusts.
///
/// ```
/// use mcp_assay_client::{TlsConnector, TlsConnectorBuilder};
///
/// let builder: TlsConnectorBuilder = TlsConnector::builder();
/// assert!(builder.build().is_ok());
/// ```
#[derive(Debug)]
pub struct TlsConnectorBuilder {
    roots: Vec<CertificateDer<'static>>,
}

impl TlsConnectorBuilder {
    /// Trusts this certificate authority, given as DER, instead of the platform's. May be called several times.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Client, NetConnector, TlsConnector};
    ///
    /// # let server = Server::default();
    /// # let ((url, der), (_, other)) = (server.listen_tls().await?, server.listen_tls().await?);
    /// let tls = TlsConnector::builder().root_certificate(other).root_certificate(der).build()?;
    /// let client = Client::builder(url).connector(NetConnector::with_tls(tls)).connect().await?;
    /// assert!(client.status().has_session);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn root_certificate(mut self, der: impl Into<Vec<u8>>) -> Self {
        self.roots.push(CertificateDer::from(der.into()));
        self
    }

    /// The connector.
    ///
    /// # Errors
    /// When a root is no certificate, or the platform's trust cannot be read.
    ///
    /// ```
    /// use mcp_assay_client::TlsConnector;
    ///
    /// let error = TlsConnector::builder().root_certificate(*b"no certificate").build().unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    /// ```
    pub fn build(self) -> io::Result<TlsConnector> {
        let roots = if self.roots.is_empty() {
            None
        } else {
            let mut store = RootCertStore::empty();
            for root in self.roots {
                store.add(root).map_err(|_| {
                    io::Error::new(io::ErrorKind::InvalidInput, "a root certificate is not valid DER")
                })?;
            }
            Some(store)
        };
        let config = configure(roots).map_err(io::Error::other)?;
        Ok(TlsConnector { config: Arc::new(OnceLock::from(config)) })
    }
}

fn configure(roots: Option<RootCertStore>) -> Result<Arc<ClientConfig>, rustls::Error> {
    let provider: Arc<CryptoProvider> = Arc::new(ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let mut config = match roots {
        Some(roots) => builder.with_root_certificates(roots).with_no_client_auth(),
        None => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(NameFirst(Verifier::new(provider)?)))
            .with_no_client_auth(),
    };
    config.alpn_protocols = vec![HTTP_1_1.to_vec()];
    Ok(Arc::new(config))
}

/// The platform's verifier, asked only about certificates that bear the right name.
///
/// It logs why it refuses, and the refusal of a wrong name quotes the names in the certificate, which are the server's
/// words. Checked first, a wrong name is refused without a log. Nothing the platform refuses is accepted.
#[derive(Debug)]
struct NameFirst(Verifier);

impl ServerCertVerifier for NameFirst {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
        self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
