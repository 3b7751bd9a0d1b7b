//! Floors and ceilings of a whole run.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// What a whole run of a profile must reach; below is incomplete.
///
/// In the file, floors of families stand beside the others: `splits = 4000` asks for that many variants of cases
/// `splits/*`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requires {
    /// At least this many cases.
    pub cases: Option<u64>,
    /// At least this many variants on all wires.
    pub variants: Option<u64>,
    /// At least this many variants on TCP.
    pub tcp: Option<u64>,
    /// At most this part of the variants comes from `each-cut`, 0 to 1.
    pub each_cut_max: Option<f64>,
    /// At most this part of the variants is of one case, 0 to 1.
    pub largest_case_max: Option<f64>,
    /// At least this many variants by family.
    pub families: BTreeMap<String, u64>,
}

impl<'de> Deserialize<'de> for Requires {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Requires;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a table of floors: cases, variants, tcp, each_cut_max, largest_case_max and families",
                )
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Requires, A::Error> {
                let mut requires = Requires::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "cases" => requires.cases = Some(map.next_value()?),
                        "variants" => requires.variants = Some(map.next_value()?),
                        "tcp" => requires.tcp = Some(map.next_value()?),
                        "each_cut_max" => requires.each_cut_max = Some(map.next_value()?),
                        "largest_case_max" => requires.largest_case_max = Some(map.next_value()?),
                        _ => {
                            let floor = map.next_value()?;
                            requires.families.insert(key, floor);
                        }
                    }
                }
                Ok(requires)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl JsonSchema for Requires {
    fn schema_name() -> Cow<'static, str> {
        "Requires".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let floor = |of: &str| json_schema!({ "type": "integer", "minimum": 0, "description": of });
        let part =
            |of: &str| json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "description": of });
        json_schema!({
            "type": "object",
            "description": "What a whole run must reach, else it is incomplete.",
            "properties": {
                "cases": floor("At least this many cases."),
                "variants": floor("At least this many variants on all wires."),
                "tcp": floor("At least this many variants on TCP."),
                "each_cut_max": part("At most this part of the variants comes from each-cut."),
                "largest_case_max": part("At most this part of the variants is of one case."),
            },
            "additionalProperties": floor("At least this many variants of the family."),
        })
    }
}
