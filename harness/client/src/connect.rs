//! Where connections come from: the `Connect` trait and the connector over TCP and TLS.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::endpoint::{Origin, Scheme};
use crate::tls::TlsConnector;

/// A duplex byte stream a client can speak HTTP/1.1 over.
///
/// Every `AsyncRead + AsyncWrite + Send + Unpin` type is one. Dropping it closes the connection.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// use mcp_assay_client::Io;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let (ours, theirs) = tokio::io::duplex(64);
/// let (mut ours, mut theirs): (Box<dyn Io>, Box<dyn Io>) = (Box::new(ours), Box::new(theirs));
/// ours.write_all(b"hello").await?;
/// let mut read = [0; 5];
/// theirs.read_exact(&mut read).await?;
/// assert_eq!(&read, b"hello");
/// # Ok(()) }
/// ```
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + ?Sized> Io for T {}

/// The future of one connection attempt.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::{ConnectFuture, Io};
///
/// let connecting: ConnectFuture = Box::pin(async {
///     let (ours, _theirs) = tokio::io::duplex(64);
///     Ok(Box::new(ours) as Box<dyn Io>)
/// });
/// assert!(connecting.await.is_ok());
/// # Ok(()) }
/// ```
pub type ConnectFuture = Pin<Box<dyn Future<Output = io::Result<Box<dyn Io>>> + Send>>;

/// Opens connections for a client.
///
/// The client calls it whenever it needs a connection, never for more than
/// [`max_connections`](crate::Limits::max_connections) at once, and drops the future when the deadline of the request
/// behind it passes. An error becomes
/// [`http_transport_error`](crate::Error::kind); its text is not kept, since it may hold what must not be told.
///
/// ```
/// use mcp_assay_client::{Connect, ConnectFuture, Io, Origin};
///
/// /// Gives the client one end of a pipe and keeps the other.
/// struct Pipe;
///
/// impl Connect for Pipe {
///     fn connect(&self, _origin: &Origin) -> ConnectFuture {
///         Box::pin(async {
///             let (ours, _theirs) = tokio::io::duplex(64);
///             Ok(Box::new(ours) as Box<dyn Io>)
///         })
///     }
/// }
///
/// let builder = mcp_assay_client::Client::builder("http://localhost/mcp").connector(Pipe);
/// # let outcome = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(builder.connect());
/// # assert_eq!(outcome.unwrap_err().kind(), "http_transport_error");
/// ```
pub trait Connect: Send + Sync + 'static {
    /// Opens one connection to `origin`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Connect, ConnectFuture, Origin};
    ///
    /// /// Refuses every connection.
    /// struct Offline;
    ///
    /// impl Connect for Offline {
    ///     fn connect(&self, _origin: &Origin) -> ConnectFuture {
    ///         Box::pin(async { Err(std::io::ErrorKind::NetworkUnreachable.into()) })
    ///     }
    /// }
    ///
    /// let builder = mcp_assay_client::Client::builder("http://localhost/mcp").connector(Offline);
    /// assert_eq!(builder.connect().await.unwrap_err().kind(), "http_transport_error");
    /// # Ok(()) }
    /// ```
    fn connect(&self, origin: &Origin) -> ConnectFuture;
}

impl<T: Connect + ?Sized> Connect for Arc<T> {
    fn connect(&self, origin: &Origin) -> ConnectFuture {
        (**self).connect(origin)
    }
}

/// The connector a client uses unless told otherwise: TCP for `http`, TLS over TCP for `https`.
///
/// An IP literal is dialled without a look-up; a host name is resolved by the system on tokio's blocking pool and its
/// addresses are tried in order. Proxies are not used and the environment is not read.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::{Client, NetConnector};
///
/// # let url = Server::default().listen().await?;
/// let client = Client::builder(url).connector(NetConnector::default()).connect().await?;
/// assert!(client.status().has_session);
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct NetConnector {
    tls: TlsConnector,
}

impl NetConnector {
    /// A connector that trusts what the platform trusts.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Connect, NetConnector};
    /// use std::sync::Arc;
    ///
    /// // One connector can serve many clients.
    /// let shared: Arc<dyn Connect> = Arc::new(NetConnector::new());
    /// # let server = Server::default();
    /// for url in [server.listen().await?, server.listen().await?] {
    ///     let client = mcp_assay_client::Client::builder(url).connector(shared.clone()).connect().await?;
    ///     assert!(client.status().has_session);
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A connector that dials `https` with `tls`.
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
    #[must_use]
    pub fn with_tls(tls: TlsConnector) -> Self {
        Self { tls }
    }
}

impl fmt::Debug for NetConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetConnector").finish_non_exhaustive()
    }
}

impl Connect for NetConnector {
    fn connect(&self, origin: &Origin) -> ConnectFuture {
        let origin = origin.clone();
        let tls = self.tls.clone();
        Box::pin(async move {
            let tcp = dial(&origin).await?;
            tcp.set_nodelay(true)?;
            match origin.scheme {
                Scheme::Http => Ok(Box::new(tcp) as Box<dyn Io>),
                Scheme::Https => Ok(Box::new(tls.handshake(&origin.host, tcp).await?) as Box<dyn Io>),
            }
        })
    }
}

async fn dial(origin: &Origin) -> io::Result<TcpStream> {
    match origin.host.parse::<IpAddr>() {
        Ok(address) => TcpStream::connect((address, origin.port)).await,
        Err(_) => TcpStream::connect((origin.host.as_str(), origin.port)).await,
    }
}
