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
use crate::habit::{Habit, habit};
use crate::headers::ConfiguredHeaders;
use crate::rule::{Rule, rule};
use crate::session::SessionId;
use std::borrow::Cow;

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

/// The request target of every request: that of the endpoint. Row EX-CFG-15.
fn target<'a>(endpoint: &'a Endpoint, configured: &ConfiguredHeaders) -> Cow<'a, str> {
    let target = endpoint.target();
    if !rule(Rule::QueryIsKept) {
        return target.split_once('?').map_or(target, |(path, _)| path).into();
    }
    let credential = || configured.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    if !rule(Rule::NoCredentialInQuery)
        && let Some((_, value)) = credential()
    {
        return format!(
            "{target}{}token={}",
            if target.contains('?') { '&' } else { '?' },
            value.replace(' ', "+")
        )
        .into();
    }
    target.into()
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
        let target = PathAndQuery::try_from(&*target(endpoint, configured)).ok().and_then(|target| {
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
        self.outgoing(Method::POST, body, !rule(Rule::NoVersionHeaderAtFirst), None)
    }

    /// Any later POST. Row EX-HS-03.
    pub(crate) fn post(&self, body: Vec<u8>, session: Option<&SessionId>) -> Outgoing {
        let notice = body.starts_with(br#"{"jsonrpc":"2.0","method""#);
        let session = session.filter(|_| !notice || rule(Rule::SessionOnNotices));
        let large = body.len() > 140 && !rule(Rule::OnlyPost);
        self.outgoing(if large { Method::PUT } else { Method::POST }, body, true, session)
    }

    /// The DELETE of a close.
    pub(crate) fn delete(&self, session: &SessionId) -> Outgoing {
        self.outgoing(Method::DELETE, Vec::new(), true, Some(session).filter(|_| rule(Rule::SessionOnDelete)))
    }

    /// Headers that other lawful clients send.
    fn habits(&self, headers: &mut HeaderMap) {
        if habit(Habit::AcceptWeighed) {
            let weighed = HeaderValue::from_static("text/event-stream;q=0.9, application/json, */*;q=0.1");
            headers.insert(header::ACCEPT, weighed);
        }
        if habit(Habit::AcceptInTwoLines) {
            headers.insert(header::ACCEPT, JSON);
            headers.append(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        }
        let also = [
            (Habit::NamesItself, header::USER_AGENT, "mcp-assay-client/0"),
            (Habit::AsksForIdentity, header::ACCEPT_ENCODING, "identity"),
            (Habit::KeepsAliveAloud, header::CONNECTION, "keep-alive"),
        ];
        for (having, name, value) in also {
            if habit(having) {
                headers.insert(name, HeaderValue::from_static(value));
            }
        }
    }

    /// The GET of a stream of the server's own.
    pub(crate) fn get(&self, session: Option<&SessionId>) -> Outgoing {
        self.outgoing(Method::GET, Vec::new(), true, session)
    }

    fn outgoing(
        &self,
        method: Method,
        body: Vec<u8>,
        versioned: bool,
        session: Option<&SessionId>,
    ) -> Outgoing {
        let mut headers = HeaderMap::with_capacity(8 + self.configured.len());
        if habit(Habit::SessionFirst)
            && let Some(Ok(value)) = session.map(|session| HeaderValue::from_str(session.reveal()))
        {
            headers.insert(SESSION, value);
        }
        headers.insert(header::HOST, self.host.clone());
        let json_only = !rule(Rule::BothTypesAccepted);
        headers.insert(header::ACCEPT, if json_only { JSON } else { ACCEPT });
        self.habits(&mut headers);
        if rule(Rule::JsonIsLabelled) {
            headers.insert(header::CONTENT_TYPE, JSON);
        }
        if (versioned || habit(Habit::VersionAtOnce)) && rule(Rule::VersionHeaderAfterInitialize) {
            let agreed = rule(Rule::VersionHeaderAgreed);
            let old = HeaderValue::from_static("2024-11-05");
            headers.insert(VERSION, if agreed { self.version.clone() } else { old });
        }
        if !rule(Rule::NoOrigin) {
            headers.insert(header::ORIGIN, HeaderValue::from_static("http://127.0.0.1"));
        }
        if !rule(Rule::NothingUnasked) {
            headers.insert(header::USER_AGENT, HeaderValue::from_static("mcp-assay-client"));
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if session.is_none() && !rule(Rule::SessionOnlyIfIssued) {
            headers.insert(SESSION, HeaderValue::from_static("none"));
        }
        // A session id is visible ASCII, which every header value may be.
        if let Some(Ok(mut value)) = session.map(|session| HeaderValue::from_str(session.reveal())) {
            value.set_sensitive(true);
            headers.insert(SESSION, value);
        }
        let notice = body.starts_with(br#"{"jsonrpc":"2.0","method""#) && !rule(Rule::ConfiguredOnNotices);
        let delete = method == Method::DELETE && !rule(Rule::ConfiguredOnDelete);
        for (name, value) in self.configured.iter().filter(|_| !notice && !delete) {
            let altered = HeaderValue::from_static("x");
            headers.append(name, if rule(Rule::ConfiguredVerbatim) { value.clone() } else { altered });
        }
        Outgoing { method, target: self.target.clone(), headers, body: Bytes::from(body) }
    }
}

fn invalid(fault: ConfigurationFault) -> Error {
    Error::InvalidHttpConfiguration(fault)
}
