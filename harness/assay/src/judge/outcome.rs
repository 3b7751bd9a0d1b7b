//! The kinds result, error and alive: what a step returned.

use super::finding::{Finding, quoted};
use super::index::{Index, StepRecord};
use super::request;
use crate::case::check::{ErrorCheck, ResultCheck};
use crate::returned::Returned;
use serde_json::Value;

/// What the step returned, or what its silence means.
fn returned<'i, 'a>(index: &'i Index<'a>, name: &str) -> Result<&'a Returned, Finding> {
    let step: &StepRecord<'a> =
        index.step(name).ok_or_else(|| Finding::error(format!("the case has no step `{name}`")))?;
    match step.ended {
        Some((_, returned)) => Ok(returned),
        None => Err(index.unsettled(step)),
    }
}

/// What was returned, in words that do not differ between runs: messages are the client's own and stay out.
pub(crate) fn describe_returned(returned: &Returned) -> String {
    match returned {
        Returned::Ok { text: None, tools: None } => "succeeded".to_owned(),
        Returned::Ok { text: Some(text), .. } => format!("succeeded with text {}", quoted(text)),
        Returned::Ok { text: None, tools: Some(tools) } => {
            format!("succeeded with tools {}", names(tools).join(", "))
        }
        Returned::Error { kind, effect, status, code, text, .. } => {
            let mut said = format!("failed with {kind}");
            let mut add = |name: &str, value: Option<String>| {
                if let Some(value) = value {
                    said.push_str(&format!(", {name} {value}"));
                }
            };
            add("status", status.map(|status| status.to_string()));
            add("code", code.map(|code| code.to_string()));
            add("effect", effect.clone());
            add("text", text.as_deref().map(quoted));
            said
        }
        Returned::Unsupported { .. } => "unsupported".to_owned(),
    }
}

fn names(tools: &[Value]) -> Vec<String> {
    tools
        .iter()
        .map(|tool| tool.get("name").and_then(Value::as_str).unwrap_or("(no name)").to_owned())
        .collect()
}

pub(super) fn expected_result(check: &ResultCheck) -> String {
    let mut expected = format!("step `{}` succeeds", check.of);
    if let Some(text) = &check.text {
        expected.push_str(&format!(" with text {}", quoted(text)));
    }
    if let Some(tools) = &check.tools {
        expected.push_str(&format!(" with tools {}", tools.join(", ")));
    }
    if let Some(schema) = &check.schema_json {
        expected.push_str(&format!(" with the first tool's input schema {schema}"));
    }
    for (tool, schema) in &check.schemas {
        expected.push_str(&format!(", the input schema of {tool} holding {schema}"));
    }
    expected
}

pub(super) fn result(index: &Index<'_>, check: &ResultCheck) -> Finding {
    let returned = match returned(index, &check.of) {
        Ok(returned) => returned,
        Err(finding) => return finding,
    };
    let Returned::Ok { text, tools } = returned else { return Finding::fail(describe_returned(returned)) };
    if check.text.is_some() && check.text != *text {
        return Finding::fail(match text {
            Some(_) => describe_returned(returned),
            None => "succeeded without text".to_owned(),
        });
    }
    let tools = tools.as_deref();
    if let Some(wanted) = &check.tools
        && tools.map(names).as_ref() != Some(wanted)
    {
        return Finding::fail(match tools {
            Some([]) => "succeeded with no tools".to_owned(),
            Some(tools) => format!("succeeded with tools {}", names(tools).join(", ")),
            None => "succeeded without a list of tools".to_owned(),
        });
    }
    if let Some(wanted) = &check.schema_json {
        let schema = tools.and_then(<[Value]>::first).and_then(|tool| tool.get("inputSchema"));
        let Ok(wanted) = serde_json::from_str::<Value>(wanted) else {
            return Finding::error("the check's schema_json is no JSON".to_owned());
        };
        if schema != Some(&wanted) {
            return Finding::fail(match schema {
                Some(schema) => format!("the first tool's input schema is {schema}"),
                None => "there is no input schema".to_owned(),
            });
        }
    }
    for (name, wanted) in &check.schemas {
        let named = |tool: &&Value| tool.get("name").and_then(Value::as_str) == Some(name);
        match tools.and_then(|tools| tools.iter().find(named)).map(|tool| tool.get("inputSchema")) {
            Some(Some(schema)) if request::holds(index, schema, wanted) => {}
            Some(Some(schema)) => return Finding::fail(format!("the input schema of {name} is {schema}")),
            Some(None) => return Finding::fail(format!("{name} has no input schema")),
            None => return Finding::fail(format!("there is no tool {name}")),
        }
    }
    Finding::pass(describe_returned(returned))
}

pub(super) fn expected_error(check: &ErrorCheck) -> String {
    let mut expected = format!("step `{}` fails", check.of);
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            expected.push_str(&format!("{name} {value}"));
        }
    };
    add(" with", check.kind.clone());
    add(", status", check.status.map(|status| status.to_string()));
    add(", code", check.code.map(|code| code.to_string()));
    add(", effect", check.effect.clone());
    add(", text", check.text.as_deref().map(quoted));
    for text in &check.without {
        add(", its message without", Some(quoted(text)));
    }
    expected
}

pub(super) fn error(index: &Index<'_>, check: &ErrorCheck) -> Finding {
    let returned = match returned(index, &check.of) {
        Ok(returned) => returned,
        Err(finding) => return finding,
    };
    let Returned::Error { kind, message, effect, status, code, text } = returned else {
        return Finding::fail(describe_returned(returned));
    };
    if let Some(told) = check.without.iter().find(|text| message.contains(text.as_str())) {
        return Finding::fail(format!("failed with {kind}, and its message holds {}", quoted(told)));
    }
    let holds = check.kind.as_ref().is_none_or(|wanted| wanted == kind)
        && (check.status.is_none() || check.status == *status)
        && (check.code.is_none() || check.code == *code)
        && (check.effect.is_none() || check.effect == *effect)
        && (check.text.is_none() || check.text == *text);
    Finding::of(holds, describe_returned(returned))
}

pub(super) fn alive(index: &Index<'_>, step: &str) -> Finding {
    match returned(index, step) {
        // What it returned is not what this kind is about, and stays out of the claim.
        Ok(Returned::Ok { .. }) => Finding::pass("succeeded".to_owned()),
        Ok(returned) => Finding::fail(describe_returned(returned)),
        Err(finding) => finding,
    }
}
