//! The requests a client writes: their headers, in one fixed order.
//!
//! `host`, `accept`, `content-type`, `mcp-protocol-version`, `mcp-session-id`, then the configured headers in the order
//! they were given (a bounded number, so that no map of them can overflow), then hyper's `content-length`. No `accept-encoding`, no `user-agent`. Row EX-REQ-10.

use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::{Parts, PathAndQuery};
use hyper::{Method, Uri};

use crate::endpoint::Endpoint;
use crate::error::{ConfigurationFault, Error};
use crate::exchange::Outgoing;
use crate::headers::ConfiguredHeaders;
use crate::session::SessionId;

const ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// What every request of a client has in common. It holds secrets: no `Debug`.
pub(crate) struct Template {
    target: Uri,
    host: HeaderValue,
    version: HeaderValue,
    configured: Vec<(HeaderName, HeaderValue)>,
}

impl Template {
    /// # Errors
    ///
    /// `invalid_http_configuration` for what the checks of its parts let pass and HTTP does not.
    pub(crate) fn new(
        endpoint: &Endpoint,
        version: &str,
        configured: &ConfiguredHeaders,
    ) -> Result<Self, Error> {
        let target = PathAndQuery::try_from(endpoint.target()).ok().and_then(|target| {
            let mut parts = Parts::default();
            parts.path_and_query = Some(target);
            Uri::from_parts(parts).ok()
        });
        let target = target.ok_or_else(|| invalid(ConfigurationFault::Target { offset: 0 }))?;
        let host = HeaderValue::try_from(endpoint.origin().authority())
            .map_err(|_| invalid(ConfigurationFault::Host))?;
        let version =
            HeaderValue::try_from(version).map_err(|_| invalid(ConfigurationFault::ProtocolVersion))?;
        let configured = configured.iter().enumerate().map(|(index, (name, value))| {
            let name =
                HeaderName::try_from(name).map_err(|_| invalid(ConfigurationFault::HeaderName { index }))?;
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| invalid(ConfigurationFault::HeaderValue { index, offset: 0 }))?;
            value.set_sensitive(true);
            Ok((name, value))
        });
        let configured = configured.collect::<Result<_, Error>>()?;
        Ok(Self { target, host, version, configured })
    }

    /// The POST of initialize, which knows no version and no session yet. Row EX-HS-02.
    pub(crate) fn initialize(&self, body: Vec<u8>) -> Outgoing {
        self.outgoing(Method::POST, body, false, None)
    }

    /// Any later POST. Row EX-HS-03.
    pub(crate) fn post(&self, body: Vec<u8>, session: Option<&SessionId>) -> Outgoing {
        self.outgoing(Method::POST, body, true, session)
    }

    /// The DELETE of a close.
    pub(crate) fn delete(&self, session: &SessionId) -> Outgoing {
        self.outgoing(Method::DELETE, Vec::new(), true, Some(session))
    }

    fn outgoing(
        &self,
        method: Method,
        body: Vec<u8>,
        versioned: bool,
        session: Option<&SessionId>,
    ) -> Outgoing {
        let mut headers = HeaderMap::with_capacity(8 + self.configured.len());
        headers.insert(header::HOST, self.host.clone());
        headers.insert(header::ACCEPT, ACCEPT);
        headers.insert(header::CONTENT_TYPE, JSON);
        if versioned {
            headers.insert(VERSION, self.version.clone());
        }
        // A session id is visible ASCII, which every header value may be.
        if let Some(Ok(mut value)) = session.map(|session| HeaderValue::from_str(session.reveal())) {
            value.set_sensitive(true);
            headers.insert(SESSION, value);
        }
        for (name, value) in &self.configured {
            headers.append(name, value.clone());
        }
        Outgoing { method, target: self.target.clone(), headers, body: Bytes::from(body) }
    }
}

fn invalid(fault: ConfigurationFault) -> Error {
    Error::InvalidHttpConfiguration(fault)
}
