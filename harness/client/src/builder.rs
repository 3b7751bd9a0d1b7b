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

/// Collects what a client is made of. Made by [`Client::builder`].
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
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The client's bounds. [`Limits::default`] unless set. Zero is refused by [`Builder::connect`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a header to every request. It must not be one the client sets itself. There can be at most 256; names
    /// and values together are bounded by `max_header_bytes`. Values are treated as secrets.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds several headers, as [`Builder::header`] does.
    #[must_use]
    pub fn headers(mut self, headers: impl IntoIterator<Item = (String, String)>) -> Self {
        self.headers.extend(headers);
        self
    }

    /// How the client names itself to the server. This crate's name and version unless set.
    #[must_use]
    pub fn client_info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.client_name = name.into();
        self.client_version = version.into();
        self
    }

    /// The protocol version to ask for, which must be one of the policy's. Its newest unless set.
    #[must_use]
    pub fn protocol_version(mut self, version: impl Into<String>) -> Self {
        self.protocol_version = Some(version.into());
        self
    }

    /// Where connections come from. [`NetConnector::new`] unless set.
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
    pub async fn connect(self) -> Result<Client, Error> {
        Client::connect(Engine::new(self.check()?)).await
    }

    fn check(self) -> Result<Config, Error> {
        self.limits.validate()?;
        let versions = self.policy.versions.all();
        let version = match &self.protocol_version {
            None => versions.first(),
            Some(asked) => versions.iter().find(|version| *version == asked),
        };
        let version = *version.ok_or(Error::InvalidHttpConfiguration(ConfigurationFault::ProtocolVersion))?;
        let endpoint = Endpoint::parse(&self.url, self.policy.url)?;
        let headers = ConfiguredHeaders::new(self.headers, &self.policy, self.limits.max_header_bytes)?;
        let template = Template::new(&endpoint, version, &headers)?;
        Ok(Config {
            policy: self.policy,
            limits: self.limits,
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
