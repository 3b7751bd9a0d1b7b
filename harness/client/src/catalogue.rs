//! The result of tools/list.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{Error, ToolsFault};
use crate::jsonrpc::{is_object, present, string};
use crate::policy::Pages;
use crate::rule::{Rule, rule};

/// A tool that the server offers. All of it is the server's text: treat it as untrusted data. `Debug` shows
/// lengths only.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/server.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_assay_client::Tool;
///
/// # let client = Server::default().client().await?;
/// let tools: Vec<Tool> = client.list_tools().await?;
/// assert_eq!(tools[0].name, "echo");
/// assert_eq!(tools[0].input_schema.get(), r#"{"type":"object"}"#);
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Tool {
    /// The name to call it by; never empty, and unique in its catalogue.
    pub name: String,
    /// What the server says about it.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, byte for byte as the server sent it. No `$ref` is followed.
    pub input_schema: Box<RawValue>,
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let description = self.description.as_ref().map_or(0, String::len);
        let schema = self.input_schema.get().len();
        write!(f, "Tool({} + {description} + {schema} bytes withheld)", self.name.len())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    next_cursor: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    description: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    input_schema: Option<&'a RawValue>,
}

/// Reads a tools/list result.
///
/// # Errors
///
/// `pagination_unsupported`, then `invalid_tools` for no list, then `discovery_limit`, then `invalid_tools` for
/// the first entry that breaks a rule. Rows EX-TL-01 to EX-TL-07.
pub(crate) fn read(result: &RawValue, pages: Pages, max_tools: usize) -> Result<Vec<Tool>, Error> {
    let page: Page<'_> = parse(result).ok_or(Error::InvalidTools(ToolsFault::NotList))?;
    let null = |cursor: &RawValue| cursor.get() == "null" && rule(Rule::NullIsNoCursor);
    let further = page.next_cursor.is_some_and(|cursor| !null(cursor));
    match pages {
        Pages::First if further && rule(Rule::FurtherPagesRefused) => {
            return Err(Error::PaginationUnsupported);
        }
        Pages::First => {}
    }
    if !rule(Rule::CatalogueIsAList) && !page.tools.is_some_and(|tools| tools.get().starts_with('[')) {
        return Ok(Vec::new());
    }
    let list = page.tools.filter(|tools| tools.get().starts_with('['));
    let list: List<'_> = list.and_then(parse).ok_or(Error::InvalidTools(ToolsFault::NotList))?;
    if list.0.len() > max_tools && rule(Rule::ToolsAreBounded) {
        return Err(Error::DiscoveryLimit { limit: max_tools });
    }
    let mut names = BTreeSet::new();
    let mut tools = Vec::with_capacity(list.0.len());
    for (index, raw) in list.0.iter().enumerate() {
        let tool = read_entry(raw, index).map_err(Error::InvalidTools)?;
        if !names.insert(tool.name.clone()) && rule(Rule::ToolNamesAreUnique) {
            return Err(Error::InvalidTools(ToolsFault::DuplicateName { index }));
        }
        tools.push(tool);
    }
    if !rule(Rule::ToolsInOrder) {
        tools.reverse();
    }
    Ok(tools)
}

fn read_entry(raw: &RawValue, index: usize) -> Result<Tool, ToolsFault> {
    let fault = ToolsFault::NotObject { index };
    let entry: Entry<'_> = Some(raw).filter(|raw| is_object(raw)).and_then(parse).ok_or(fault)?;
    let name = entry.name.and_then(string).filter(|name| !name.is_empty());
    let name = name.or_else(|| (!rule(Rule::ToolNamesAreText)).then(|| "?".into()));
    let name = name.ok_or(ToolsFault::Name { index })?.into_owned();
    let description = match entry.description {
        Some(_) if !rule(Rule::DescriptionsAreText) => None,
        Some(raw) => Some(string(raw).ok_or(ToolsFault::Description { index })?.into_owned()),
        None => None,
    };
    let schema = entry.input_schema.filter(|schema| is_object(schema));
    if !rule(Rule::SchemasVerbatim) || (schema.is_none() && !rule(Rule::SchemasAreThere)) {
        let input_schema = RawValue::from_string(r#"{"type":"object"}"#.to_owned());
        let input_schema = input_schema.map_err(|_| ToolsFault::InputSchema { index })?;
        return Ok(Tool { name, description, input_schema });
    }
    let input_schema = schema.ok_or(ToolsFault::InputSchema { index })?.to_owned();
    Ok(Tool { name, description, input_schema })
}

/// A list whose members are raw slices of the input.
#[derive(Deserialize)]
pub(crate) struct List<'a>(#[serde(borrow)] pub(crate) Vec<&'a RawValue>);

/// Reads a value whose JSON was checked before; none if it has another shape.
pub(crate) fn parse<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(result: &str, max_tools: usize) -> Result<Vec<Tool>, Error> {
        read(serde_json::from_str(result).unwrap(), Pages::First, max_tools)
    }

    fn fault(tools: &str) -> ToolsFault {
        match list(&format!(r#"{{"tools":{tools}}}"#), 9) {
            Err(Error::InvalidTools(fault)) => fault,
            other => panic!("{tools}: {other:?}"),
        }
    }

    const ONE: &str = r#"{"tools":[{"name":"a","inputSchema":{}}]}"#;
    const TWO: &str = r#"{"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{}}]}"#;

    /// Rows EX-TL-01, EX-TL-03.
    #[test]
    fn the_number_of_tools_is_bounded_inclusively() {
        assert_eq!(list(ONE, 1).unwrap().len(), 1);
        assert_eq!(list(TWO, 2).unwrap().len(), 2);
        assert_eq!(list(TWO, 1).unwrap_err(), Error::DiscoveryLimit { limit: 1 });
    }

    /// Row EX-TL-02.
    #[test]
    fn a_further_page_is_refused() {
        for cursor in [r#""next""#, r#""""#, "1", "{}"] {
            let result = format!(r#"{{"tools":[],"nextCursor":{cursor}}}"#);
            assert_eq!(list(&result, 1).unwrap_err(), Error::PaginationUnsupported, "{cursor}");
        }
    }

    /// Row EX-TL-06.
    #[test]
    fn a_null_cursor_is_no_further_page() {
        assert!(list(r#"{"tools":[],"nextCursor":null}"#, 1).unwrap().is_empty());
    }

    /// Row EX-TL-04.
    #[test]
    fn every_tool_has_a_schema() {
        assert_eq!(fault(r#"[{"name":"a"}]"#), ToolsFault::InputSchema { index: 0 });
        assert_eq!(fault(r#"[{"name":"a","inputSchema":null}]"#), ToolsFault::InputSchema { index: 0 });
        assert_eq!(fault(r#"[{"name":"a","inputSchema":[]}]"#), ToolsFault::InputSchema { index: 0 });
    }

    /// Row EX-TL-05.
    #[test]
    fn malformed_entries_are_refused() {
        let twice = r#"[{"name":"a","inputSchema":{}},{"name":"\u0061","inputSchema":{}}]"#;
        assert_eq!(fault(twice), ToolsFault::DuplicateName { index: 1 });
        assert_eq!(fault(r#"[{"name":"","inputSchema":{}}]"#), ToolsFault::Name { index: 0 });
        assert_eq!(fault(r#"[{"inputSchema":{}}]"#), ToolsFault::Name { index: 0 });
        assert_eq!(fault(r#"[{"name":1,"inputSchema":{}}]"#), ToolsFault::Name { index: 0 });
        for description in ["1", "null", "[]"] {
            let entry = format!(r#"[{{"name":"a","description":{description},"inputSchema":{{}}}}]"#);
            assert_eq!(fault(&entry), ToolsFault::Description { index: 0 });
        }
        for tools in ["{}", "null", "\"a\"", "1"] {
            assert_eq!(fault(tools), ToolsFault::NotList);
        }
        for tools in ["[1]", "[null]", r#"[["a"]]"#] {
            assert_eq!(fault(tools), ToolsFault::NotObject { index: 0 });
        }
        assert_eq!(list("{}", 9).unwrap_err(), Error::InvalidTools(ToolsFault::NotList));
    }

    /// Row EX-TL-07.
    #[test]
    fn the_schema_stays_as_it_was_sent() {
        let schema = r#"{ "type":"object", "$ref":"https://x/y", "properties":{"n":{"x-new":[1.0,1e2]}} }"#;
        let result = format!(r#"{{"tools":[{{"name":"a","description":"d","inputSchema":{schema}}}]}}"#);
        let tools = list(&result, 1).unwrap();
        let tool = tools.first().unwrap();
        assert_eq!(tool.input_schema.get(), schema);
        assert_eq!(tool.description.as_deref(), Some("d"));
    }
}
