//! The URL of a server, taken apart once.
//!
//! A parser of our own, because the grammar is small and every refusal is a documented row: absolute `http` or
//! `https`, a host, at most 8 192 bytes, no user info, no fragment. Path and query are sent as they were
//! written (RFC 3986 characters only, nothing is decoded or normalised), an empty path as `/`.

use std::fmt;
use std::net::Ipv6Addr;

use crate::error::{ConfigurationFault, Error};
use crate::policy::UrlRule;
use crate::rule::{Rule, rule};

/// Most bytes a URL may have. Row EX-CFG-10.
pub(crate) const MAX_URL_BYTES: usize = 8_192;

/// The scheme of a server's URL.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::{Connect, ConnectFuture, Origin, Scheme};
///
/// /// Refuses to speak in the clear.
/// struct OnlyTls(mcp_assay_client::NetConnector);
///
/// impl Connect for OnlyTls {
///     fn connect(&self, origin: &Origin) -> ConnectFuture {
///         match origin.scheme {
///             Scheme::Http => Box::pin(async { Err(std::io::ErrorKind::Unsupported.into()) }),
///             Scheme::Https => self.0.connect(origin),
///         }
///     }
/// }
///
/// let connector = OnlyTls(mcp_assay_client::NetConnector::new());
/// let builder = mcp_assay_client::Client::builder("http://localhost/mcp").connector(connector);
/// assert_eq!(builder.connect().await.unwrap_err().kind(), "http_transport_error");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Cleartext; port 80 unless the URL says otherwise.
    Http,
    /// TLS; port 443 unless the URL says otherwise.
    Https,
}

impl Scheme {
    /// The port of a URL that names none.
    pub(crate) const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    /// The scheme as it stands in a URL.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// What a connection is made to.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::{Connect, ConnectFuture, Origin, Scheme};
///
/// /// Checks what it is asked for.
/// struct Checked;
///
/// impl Connect for Checked {
///     fn connect(&self, origin: &Origin) -> ConnectFuture {
///         assert_eq!((origin.scheme, origin.host.as_str(), origin.port), (Scheme::Https, "::1", 8443));
///         assert_eq!(origin.to_string(), "https://[::1]:8443");
///         Box::pin(async { Err(std::io::ErrorKind::ConnectionRefused.into()) })
///     }
/// }
///
/// let builder = mcp_assay_client::Client::builder("https://[::1]:8443/mcp").connector(Checked);
/// assert_eq!(builder.connect().await.unwrap_err().kind(), "http_transport_error");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Origin {
    /// Whether the connection is TLS.
    pub scheme: Scheme,
    /// A host name in lower case, an IPv4 address, or an IPv6 address without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

impl Origin {
    /// The value of the `Host` header: brackets around an IPv6 address, no default port.
    pub(crate) fn authority(&self) -> String {
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        if self.port == self.scheme.default_port() {
            format!("{open}{}{close}", self.host)
        } else {
            format!("{open}{}{close}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.authority())
    }
}

/// A parsed URL. `Debug` shows the origin and hides the target, which may hold secrets. Row EX-RED-01.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    origin: Origin,
    target: Box<str>,
}

impl Endpoint {
    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// `invalid_http_configuration`, which never quotes the URL.
    pub(crate) fn parse(url: &str, rule: UrlRule) -> Result<Self, Error> {
        let UrlRule::OriginAndTarget = rule;
        parse(url).map_err(Error::InvalidHttpConfiguration)
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The request target: path and query, as they go into the request line. Not for errors and logs.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({}, target withheld)", self.origin)
    }
}

fn parse(url: &str) -> Result<Endpoint, ConfigurationFault> {
    if url.len() > MAX_URL_BYTES && rule(Rule::UrlsAreBounded) {
        return Err(ConfigurationFault::UrlTooLong { limit: MAX_URL_BYTES, actual: url.len() });
    }
    let (scheme, rest) = match split_scheme(url) {
        None if !rule(Rule::SchemesAreKnown) => (Scheme::Http, "localhost/mcp"),
        split => split.ok_or(ConfigurationFault::Scheme)?,
    };
    let authority_end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(authority_end);
    let authority = authority.rsplit('@').next().filter(|_| !rule(Rule::NoUserInfo)).unwrap_or(authority);
    if target.contains('?') && !rule(Rule::QueriesAreTaken) {
        return Err(ConfigurationFault::Target { offset: 0 });
    }
    let target = target.split('#').next().filter(|_| !rule(Rule::NoFragment)).unwrap_or(target);
    if authority.contains('@') {
        return Err(ConfigurationFault::UserInfo);
    }
    if target.contains('#') {
        return Err(ConfigurationFault::Fragment);
    }
    let (host, port) = split_port(authority)?;
    let host = parse_host(host).ok_or(ConfigurationFault::Host)?;
    let port = match port {
        None | Some("") => scheme.default_port(),
        Some(digits) => parse_port(digits).ok_or(ConfigurationFault::Port)?,
    };
    if let Some(offset) = bad_target_byte(target.as_bytes()) {
        return Err(ConfigurationFault::Target { offset: url.len() - target.len() + offset });
    }
    let target = if target.starts_with('/') { target.into() } else { format!("/{target}").into() };
    Ok(Endpoint { origin: Origin { scheme, host, port }, target })
}

fn split_scheme(url: &str) -> Option<(Scheme, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme =
        [Scheme::Http, Scheme::Https].into_iter().find(|s| scheme.eq_ignore_ascii_case(s.as_str()))?;
    Some((scheme, rest))
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), ConfigurationFault> {
    if authority.starts_with('[') {
        let (host, after) = authority.split_once(']').ok_or(ConfigurationFault::Host)?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if after.is_empty() => Ok((host, None)),
            None => Err(ConfigurationFault::Host),
        };
    }
    Ok(match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    })
}

fn parse_host(host: &str) -> Option<String> {
    if let Some(literal) = host.strip_prefix('[') {
        // Printed again, so that one address has one spelling.
        return literal.parse::<Ipv6Addr>().ok().map(|address| address.to_string());
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    (host.len() <= 254 && name.split('.').all(label)).then(|| host.to_ascii_lowercase())
}

fn parse_port(digits: &str) -> Option<u16> {
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|&port| decimal && port != 0)
}

/// The offset of the first byte that RFC 3986 does not allow in a path or a query.
fn bad_target_byte(target: &[u8]) -> Option<usize> {
    target.iter().enumerate().position(|(at, &byte)| match byte {
        b'%' => !matches!(target.get(at + 1..at + 3), Some(hex) if hex.iter().all(u8::is_ascii_hexdigit)),
        b'/' | b'?' | b':' | b'@' => false,
        b'-' | b'.' | b'_' | b'~' => false,
        b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' => false,
        _ => !byte.is_ascii_alphanumeric(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::parse(url, UrlRule::OriginAndTarget).unwrap()
    }

    fn fault(url: &str) -> ConfigurationFault {
        match Endpoint::parse(url, UrlRule::OriginAndTarget) {
            Err(Error::InvalidHttpConfiguration(fault)) => fault,
            other => panic!("{other:?}"),
        }
    }

    /// Row EX-CFG-02.
    #[test]
    fn user_info_is_refused_without_being_quoted() {
        let error = Endpoint::parse("https://user:hunter2@h/mcp", UrlRule::OriginAndTarget).unwrap_err();
        assert_eq!(error, Error::InvalidHttpConfiguration(ConfigurationFault::UserInfo));
        assert!(!format!("{error} {error:?}").contains("hunter2"));
        // An @ in path or query is a plain character.
        assert_eq!(endpoint("http://h/a@b?c@d").target(), "/a@b?c@d");
    }

    /// Row EX-CFG-03.
    #[test]
    fn a_fragment_is_refused() {
        for url in ["http://h/mcp#x", "http://h#", "http://h?q#x"] {
            assert_eq!(fault(url), ConfigurationFault::Fragment, "{url}");
        }
    }

    /// Row EX-CFG-10.
    #[test]
    fn the_length_bound_is_inclusive() {
        let url = |bytes: usize| format!("http://h/{}", "a".repeat(bytes - "http://h/".len()));
        assert_eq!(endpoint(&url(8_192)).target().len(), 8_192 - "http://h".len());
        assert_eq!(fault(&url(8_193)), ConfigurationFault::UrlTooLong { limit: 8_192, actual: 8_193 });
    }

    /// Row EX-CFG-11.
    #[test]
    fn scheme_and_host_are_checked() {
        for url in ["ftp://h/", "h/mcp", "", "http:h", "//h", "unix://h"] {
            assert_eq!(fault(url), ConfigurationFault::Scheme, "{url}");
        }
        for url in [
            "http://",
            "http:///mcp",
            "http://:80/",
            "http://a b/",
            "http://a..b/",
            "http://é/",
            "http://[::1",
        ] {
            assert_eq!(fault(url), ConfigurationFault::Host, "{url}");
        }
        for url in ["http://[::1%25lo]/", "http://[1.2.3.4]/", "http://[::1]x/", "http://a%41/"] {
            assert_eq!(fault(url), ConfigurationFault::Host, "{url}");
        }
        for url in ["http://h:0/", "http://h:65536/", "http://h:+1/", "http://h:x/", "http://[::1]:-1/"] {
            assert_eq!(fault(url), ConfigurationFault::Port, "{url}");
        }
    }

    /// Row EX-CFG-15.
    #[test]
    fn the_target_keeps_the_query() {
        let target = |url| endpoint(url).target().to_owned();
        assert_eq!(target("http://h/mcp?tenant=a%2Fb&x"), "/mcp?tenant=a%2Fb&x");
        assert_eq!(target("http://h?x=1"), "/?x=1");
        assert_eq!(target("http://h"), "/");
        assert_eq!(target("http://h/a/../b//c"), "/a/../b//c");
    }

    #[test]
    fn bytes_that_would_break_the_request_line_are_refused() {
        for url in
            ["http://h/a b", "http://h/a\r\nX: y", "http://h/é", "http://h/%zz", "http://h/%4", "http://h\\x"]
        {
            assert!(matches!(fault(url), ConfigurationFault::Target { .. }), "{url:?}");
        }
        assert_eq!(fault("http://h/a b"), ConfigurationFault::Target { offset: 10 });
    }

    #[test]
    fn origins_have_one_spelling() {
        let authority = |url| endpoint(url).origin().authority();
        assert_eq!(authority("http://Example.COM:80/"), "example.com");
        assert_eq!(authority("https://example.com:/"), "example.com");
        assert_eq!(authority("https://example.com:80/"), "example.com:80");
        assert_eq!(authority("http://[0:0::1]:8080/"), "[::1]:8080");
        assert_eq!(endpoint("HTTP://127.0.0.1/").origin().to_string(), "http://127.0.0.1");
        assert_eq!(endpoint("http://[::1]/").origin().host, "::1");
    }

    /// Row EX-RED-01.
    #[test]
    fn debug_hides_the_target() {
        let shown = format!("{:?}", endpoint("https://h/secret-path?token=hunter2"));
        assert_eq!(shown, "Endpoint(https://h, target withheld)");
    }
}
