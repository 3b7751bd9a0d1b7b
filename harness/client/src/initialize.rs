//! What an initialize result must hold.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{Error, InitializeFault};
use crate::jsonrpc::{is_object, present, string};
use crate::policy::Versions;
use crate::rule::{Rule, rule};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    server_info: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ServerInfo<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    version: Option<&'a RawValue>,
}

/// Checks an initialize result against the version that was asked for.
///
/// # Errors
///
/// `invalid_initialize`. Rows EX-HS-05, EX-HS-06.
pub(crate) fn check(result: &RawValue, asked: &str, versions: Versions) -> Result<(), Error> {
    let fault = Error::InvalidInitialize;
    let members: Members<'_> =
        serde_json::from_str(result.get()).map_err(|_| fault(InitializeFault::ServerInfo))?;
    let version = members.protocol_version.and_then(string);
    let accepted = match versions {
        Versions::Only20250618 => version.as_deref() == Some(asked),
    };
    if !accepted && rule(Rule::VersionIsAgreed) {
        return Err(fault(InitializeFault::ProtocolVersion));
    }
    if !members.capabilities.is_some_and(is_object) && rule(Rule::CapabilitiesAreThere) {
        return Err(fault(InitializeFault::Capabilities));
    }
    let info = members.server_info.filter(|info| is_object(info));
    let info = info.and_then(|info| serde_json::from_str::<ServerInfo<'_>>(info.get()).ok());
    let is_string = |member: Option<&RawValue>| member.is_some_and(|raw| raw.get().starts_with('"'));
    if !info.is_some_and(|info| is_string(info.name) && is_string(info.version)) && rule(Rule::ServerIsNamed)
    {
        return Err(fault(InitializeFault::ServerInfo));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(result: &str) -> Result<(), Error> {
        let raw: &RawValue = serde_json::from_str(result).unwrap();
        check(raw, "2025-06-18", Versions::Only20250618)
    }

    const GOOD: &str =
        r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;

    /// Row EX-HS-05.
    #[test]
    fn the_version_must_be_the_one_asked_for() {
        assert_eq!(fault(GOOD), Ok(()));
        for version in [r#""2024-11-05""#, r#""2025-11-25""#, "20250618", "null", r#""2025-06-18 ""#] {
            let result = GOOD.replace(r#""2025-06-18""#, version);
            assert_eq!(
                fault(&result),
                Err(Error::InvalidInitialize(InitializeFault::ProtocolVersion)),
                "{version}"
            );
        }
    }

    /// Row EX-HS-06.
    #[test]
    fn server_info_and_capabilities_must_be_whole() {
        for info in [r#"{"name":"s"}"#, r#"{"version":"1"}"#, r#"{"name":1,"version":"1"}"#, "[]", "null"] {
            let result = GOOD.replace(r#"{"name":"s","version":"1"}"#, info);
            assert_eq!(fault(&result), Err(Error::InvalidInitialize(InitializeFault::ServerInfo)), "{info}");
        }
        let result = r#"{"protocolVersion":"2025-06-18","capabilities":{}}"#;
        assert_eq!(fault(result), Err(Error::InvalidInitialize(InitializeFault::ServerInfo)));
        for capabilities in ["[]", "null", "true"] {
            let result = GOOD.replace("\"capabilities\":{}", &format!("\"capabilities\":{capabilities}"));
            assert_eq!(fault(&result), Err(Error::InvalidInitialize(InitializeFault::Capabilities)));
        }
    }
}
