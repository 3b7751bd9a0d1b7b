//! JSON Schemas of the files people write, for editors, and of the receipts that others read. They are generated from
//! the types that read the files; drift is an error.

use crate::case::Case;
use crate::driver::protocol::Line;
use crate::profile::Profile;
use crate::receipt::catalog::Catalog;
use crate::receipt::claim::Claim;
use crate::receipt::observation::Observation;
use crate::receipt::run::Run;
use crate::source::SourceError;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;

/// Keys of a case file whose values never come from `vary`.
const FIXED: [&str; 5] = ["title", "revisions", "vary", "max_variants", "timing"];

/// The schema of a case file. Where a value may come from `vary`, `"$key"` is lawful too.
#[must_use]
pub fn case() -> Value {
    let mut schema = generate::<Case>();
    let varied = |schemas: &mut Map<String, Value>| {
        for (name, schema) in schemas {
            if !FIXED.contains(&name.as_str()) {
                vary(schema);
            }
        }
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        varied(properties);
    }
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        for definition in definitions.values_mut() {
            below(definition);
        }
    }
    schema
}

/// The schema of a profile.
#[must_use]
pub fn profile() -> Value {
    generate::<Profile>()
}

/// The files below a root that hold the schemas, and their text.
#[must_use]
pub fn files() -> [(&'static Path, String); 7] {
    let text = |schema: &Value| format!("{schema:#}\n");
    [
        (Path::new("fixtures/schema/case.schema.json"), text(&case())),
        (Path::new("fixtures/schema/profile.schema.json"), text(&profile())),
        (Path::new("fixtures/schema/driver.schema.json"), text(&generate::<Line>())),
        (Path::new("fixtures/schema/run.schema.json"), text(&generate::<Run>())),
        (Path::new("fixtures/schema/catalog.schema.json"), text(&generate::<Catalog>())),
        (Path::new("fixtures/schema/claim.schema.json"), text(&generate::<Claim>())),
        (Path::new("fixtures/schema/observation.schema.json"), text(&generate::<Observation>())),
    ]
}

/// Writes the schemas below a root.
///
/// # Errors
/// A file cannot be written.
pub fn write(root: &Path) -> io::Result<()> {
    for (path, text) in files() {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// The schema files below a root that are not what [`files`] says.
#[must_use]
pub fn drift(root: &Path) -> Vec<SourceError> {
    let help = "`cargo xtask tidy --write` writes it";
    let stale = |(path, text): (&Path, String)| match std::fs::read_to_string(root.join(path)) {
        Ok(found) if found == text => None,
        Ok(_) => Some(SourceError::file(path, "the schema is not the one of the types", help)),
        Err(error) => Some(SourceError::file(path, format!("cannot be read: {error}"), help)),
    };
    files().into_iter().filter_map(stale).collect()
}

fn generate<T: JsonSchema>() -> Value {
    // Draft 7 is what TOML editors (taplo, Even Better TOML) read.
    let generator = SchemaGenerator::new(SchemaSettings::draft07().with(|settings| {
        settings.definitions_path = "/$defs".into();
    }));
    generator.into_root_schema_for::<T>().to_value()
}

/// Lets a schema's value, and all below it, come from `vary`.
fn vary(schema: &mut Value) {
    below(schema);
    let is_text = schema.get("type").is_some_and(|of| *of == "string") && schema.get("enum").is_none();
    if is_text || *schema == Value::Bool(true) {
        return;
    }
    let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    let default = schema.as_object_mut().and_then(|schema| schema.remove("default"));
    let hole = json!({ "type": "string", "pattern": "^\\$[a-z0-9_-]{1,60}$" });
    let mut outer = json!({ "anyOf": [schema.take(), hole] });
    for (key, value) in [("description", description), ("default", default)] {
        if let (Some(value), Some(outer)) = (value, outer.as_object_mut()) {
            outer.insert(key.to_owned(), value);
        }
    }
    *schema = outer;
}

/// Lets the members and elements of a schema's value come from `vary`.
fn below(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(vary);
    }
    for key in ["items", "additionalProperties"] {
        match schema.get_mut(key) {
            Some(Value::Array(elements)) => elements.iter_mut().for_each(vary),
            Some(inner @ Value::Object(_)) => vary(inner),
            _ => {}
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(choices)) = schema.get_mut(key) {
            choices.iter_mut().for_each(below);
        }
    }
}

#[cfg(test)]
mod tests;
