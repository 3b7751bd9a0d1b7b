//! Building a client.

use std::fmt;
use std::sync::Arc;

use crate::client::Client;
use crate::connect::{Connect, NetConnector};
use crate::endpoint::Endpoint;
use crate::engine::{Config, Engine};
use crate::error::{ConfigurationFault, Error};
use crate::headers::ConfiguredHeaders;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::request::Template;
use crate::rule::{Rule, rule};

/// Collects what a client is made of. Made by [`Client::builder`].
///
/// ```
/// use mcp_assay_client::{Builder, Client};
///
/// let builder: Builder = Client::builder("http://localhost:8080/mcp").header("authorization", "Bearer secret");
/// // Neither the URL nor a header shows up in a log.
/// assert!(!format!("{builder:?}").contains("secret"));
/// ```
pub struct Builder {
    url: String,
    policy: Policy,
    limits: Limits,
    headers: Vec<(String, String)>,
    client_name: String,
    client_version: String,
    protocol_version: Option<String>,
    connector: Arc<dyn Connect>,
}

impl Builder {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            policy: Policy::default(),
            limits: Limits::default(),
            headers: Vec::new(),
            client_name: env!("CARGO_PKG_NAME").to_owned(),
            client_version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol_version: None,
            connector: Arc::new(NetConnector::new()),
        }
    }

    /// How the client behaves where clients differ. [`Policy::exagent`] unless set.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Client, Policy};
    ///
    /// # let server = Server::default();
    /// let client = Client::builder("http://localhost:8080/mcp")
    ///     .policy(Policy::exagent())
    /// #   .connector(server.clone())
    ///     .connect()
    ///     .await?;
    /// assert_eq!(client.protocol_version(), Policy::exagent().versions.all()[0]);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The client's bounds. [`Limits::default`] unless set. Zero is refused by [`Builder::connect`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Client, Limits};
    ///
    /// let limits = Limits::default().max_pending(0);
    /// let error = Client::builder("http://localhost:8080/mcp").limits(limits).connect().await.unwrap_err();
    /// assert_eq!(error.kind(), "invalid_option");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a header to every request. It must not be one the client sets itself. There can be at most 256; names
    /// and values together are bounded by `max_header_bytes`. Values are treated as secrets.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::Client;
    ///
    /// # let server = Server::default();
    /// let client = Client::builder("http://localhost:8080/mcp")
    ///     .header("authorization", "Bearer token")
    /// #   .connector(server.clone())
    ///     .connect()
    ///     .await?;
    /// assert!(server.heard("authorization: Bearer token\r\n"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds several headers, as [`Builder::header`] does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::Client;
    ///
    /// # let server = Server::default();
    /// let client = Client::builder("http://localhost:8080/mcp")
    ///     .headers([("x-tenant", "a"), ("x-trace", "1")].map(|(name, value)| (name.into(), value.into())))
    /// #   .connector(server.clone())
    ///     .connect()
    ///     .await?;
    /// assert!(server.heard("x-tenant: a\r\nx-trace: 1\r\n"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn headers(mut self, headers: impl IntoIterator<Item = (String, String)>) -> Self {
        self.headers.extend(headers);
        self
    }

    /// How the client names itself to the server. This crate's name and version unless set.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::Client;
    ///
    /// # let server = Server::default();
    /// let client = Client::builder("http://localhost:8080/mcp")
    ///     .client_info("my-agent", "1.2.0")
    /// #   .connector(server.clone())
    ///     .connect()
    ///     .await?;
    /// assert!(server.heard(r#""clientInfo":{"name":"my-agent","version":"1.2.0"}"#));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn client_info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.client_name = name.into();
        self.client_version = version.into();
        self
    }

    /// The protocol version to ask for, which must be one of the policy's. Its newest unless set.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::Client;
    ///
    /// # let server = Server::default();
    /// let client = Client::builder("http://localhost:8080/mcp")
    ///     .protocol_version("2025-06-18")
    /// #   .connector(server.clone())
    ///     .connect()
    ///     .await?;
    /// assert_eq!(client.protocol_version(), "2025-06-18");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn protocol_version(mut self, version: impl Into<String>) -> Self {
        self.protocol_version = Some(version.into());
        self
    }

    /// Where connections come from. [`NetConnector::new`] unless set.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Client, State};
    ///
    /// # let server = Server::default();
    /// // `server` is a `Connect` that serves in memory.
    /// let client = Client::builder("http://localhost:8080/mcp").connector(server).connect().await?;
    /// assert_eq!(client.status().state, State::Ready);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn connector(mut self, connector: impl Connect) -> Self {
        self.connector = Arc::new(connector);
        self
    }

    /// Checks everything, then makes the handshake: initialize and its notification under one `timeout`.
    ///
    /// Dropping the future ends the attempt: its socket is closed and nothing more is sent.
    ///
    /// # Errors
    ///
    /// `invalid_http_configuration` or `invalid_option` before anything is sent; `invalid_initialize`,
    /// `invalid_session_id` and what any request may meet: see [`Error`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_assay_client::{Client, State};
    ///
    /// # let url = Server::default().listen().await?;
    /// let client = Client::builder(url).connect().await?;
    /// assert_eq!(client.status().state, State::Ready);
    /// assert_eq!(Client::builder("ftp://host").connect().await.unwrap_err().kind(), "invalid_http_configuration");
    /// # Ok(()) }
    /// ```
    pub async fn connect(self) -> Result<Client, Error> {
        Client::connect(Engine::new(self.check()?)).await
    }

    fn check(self) -> Result<Config, Error> {
        if rule(Rule::LimitsAreChecked) {
            self.limits.validate()?;
        }
        #[cfg(feature = "mutants")]
        let limits = crate::switch::limits(self.limits);
        #[cfg(not(feature = "mutants"))]
        let limits = self.limits;
        let versions = self.policy.versions.all();
        let version = match &self.protocol_version {
            None => versions.first(),
            Some(_) if !rule(Rule::OfferedVersionIsKnown) => versions.first(),
            Some(asked) => versions.iter().find(|version| *version == asked),
        };
        let version = *version.ok_or(Error::InvalidHttpConfiguration(ConfigurationFault::ProtocolVersion))?;
        let endpoint = Endpoint::parse(&self.url, self.policy.url)?;
        let headers = ConfiguredHeaders::new(self.headers, &self.policy, limits.max_header_bytes)?;
        let template = Template::new(&endpoint, version, &headers)?;
        Ok(Config {
            policy: self.policy,
            limits,
            template,
            origin: endpoint.origin().clone(),
            connector: self.connector,
            version,
            client_name: self.client_name,
            client_version: self.client_version,
        })
    }
}

/// Shows no URL and no header.
impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("policy", &self.policy.name)
            .field("limits", &self.limits)
            .field("headers", &self.headers.len())
            .finish_non_exhaustive()
    }
}
