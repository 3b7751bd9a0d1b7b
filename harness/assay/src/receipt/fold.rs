//! Folds: a set of variants as a few short texts, and back, exactly.
//!
//! A fold is a variant id in which a value may be a set `{a|b}`, a range of cuts `each-cut@1..193` (both ends
//! included) or all pairs of cuts `each-two-cuts@pairs(1..47)`; it stands for the product of its values.

mod escape;
mod values;

use super::problem::Problem;
use crate::revision::Revision;
use crate::variant::{Variant, Wire};
use escape::{escape, unescape};
use std::collections::{BTreeMap, BTreeSet};
use values::Value;

/// How many variants one fold may stand for: far above any case, far below what fills a memory.
pub const MAX_VARIANTS: usize = 1_000_000;

/// The id of one variant, as receipts write it: [`Variant`]'s text with what a fold uses as signs escaped.
#[must_use]
pub fn id(variant: &Variant) -> String {
    text(
        &Shape::of(variant),
        &row(variant).into_iter().map(|value| BTreeSet::from([value])).collect::<Vec<_>>(),
    )
}

/// Reads the id of one variant.
///
/// # Errors
///
/// When the text is no id, or stands for several variants.
pub fn read_id(text: &str) -> Result<Variant, Problem> {
    let mut variants = unfold(text)?;
    match (variants.pop(), variants.pop()) {
        (Some(variant), None) => Ok(variant),
        _ => Err(bad(text, "several variants")),
    }
}

/// Folds a set of variants. The texts depend on the set alone, stand for disjoint parts of it, and come in order.
#[must_use]
pub fn fold(variants: &BTreeSet<Variant>) -> Vec<String> {
    let mut shapes: BTreeMap<Shape, Vec<Product>> = BTreeMap::new();
    for variant in variants {
        let product = row(variant).into_iter().map(|value| BTreeSet::from([value])).collect();
        shapes.entry(Shape::of(variant)).or_default().push(product);
    }
    let mut texts = Vec::new();
    for (shape, products) in &shapes {
        // Which dimension merges first decides how much folds; the shortest result wins, the first of equals.
        let best = (0..shape.names.len())
            .map(|first| {
                let merged = merge(products.clone(), first);
                merged.iter().map(|product| text(shape, product)).collect::<Vec<_>>()
            })
            .min_by_key(|texts| texts.iter().map(|text| text.len() + 3).sum::<usize>());
        texts.extend(best.unwrap_or_default());
    }
    texts
}

/// Unfolds one text into its variants, in order.
///
/// # Errors
///
/// When it is no fold, or stands for over [`MAX_VARIANTS`].
pub fn unfold(text: &str) -> Result<Vec<Variant>, Problem> {
    let mut names = Vec::new();
    let mut product = Vec::new();
    let mut size = 1_usize;
    for part in text.split(';') {
        let (name, value) = part.split_once('=').ok_or_else(|| bad(text, "a part without `=`"))?;
        let set = values::read(value, MAX_VARIANTS / size)
            .ok_or_else(|| bad(text, &format!("the value {value}")))?;
        size *= set.len();
        names.push(name);
        product.push(set);
    }
    let mut rows = vec![Vec::new()];
    for set in &product {
        rows =
            rows.iter().flat_map(|row| set.iter().map(|value| [row.as_slice(), &[value]].concat())).collect();
    }
    rows.into_iter()
        .map(|row| variant(&names, &row).ok_or_else(|| bad(text, "no revision, wire or names")))
        .collect()
}

/// One set of values for each dimension.
type Product = Vec<BTreeSet<Value>>;

/// The dimensions that variants must share to fold together.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Shape {
    names: Vec<String>,
}

impl Shape {
    fn of(variant: &Variant) -> Self {
        let mut names = vec!["revision".to_owned()];
        if variant.server.is_some() {
            names.push("server".to_owned());
        }
        names.extend(variant.keys.iter().map(|(key, _)| escape::name(key)));
        names.push("wire".to_owned());
        Self { names }
    }
}

fn row(variant: &Variant) -> Vec<Value> {
    let mut row = vec![Value::of(variant.revision.as_str())];
    row.extend(variant.server.as_deref().map(Value::of));
    row.extend(variant.keys.iter().map(|(_, value)| Value::of(value)));
    row.push(Value::of(variant.wire.as_str()));
    row
}

fn variant(names: &[&str], row: &[&Value]) -> Option<Variant> {
    let mut parts = names.iter().copied().zip(row.iter().map(|value| value.text()));
    let revision = parts.next().filter(|(name, _)| *name == "revision")?.1.parse::<Revision>().ok()?;
    let wire = match parts.next_back().filter(|(name, _)| *name == "wire")?.1.as_str() {
        "memory" => Wire::Memory,
        "tcp" => Wire::Tcp,
        _ => return None,
    };
    let mut parts = parts.peekable();
    let server = parts.next_if(|(name, _)| *name == "server").map(|(_, value)| value);
    let keys = parts.map(|(name, value)| Some((unescape(name)?, value))).collect::<Option<Vec<_>>>()?;
    let plain = keys.iter().zip(names.iter().skip(1 + usize::from(server.is_some())));
    // Each name has one spelling, so that a variant has one id.
    plain.into_iter().all(|((key, _), name)| escape::name(key) == *name).then_some(())?;
    Some(Variant { revision, server, keys, wire })
}

/// Joins products that differ in one dimension only, until none do. `first` is the dimension tried first.
fn merge(mut products: Vec<Product>, first: usize) -> Vec<Product> {
    let dimensions = products.first().map_or(0, Vec::len);
    loop {
        let before = products.len();
        for dimension in (0..dimensions).map(|step| (first + step) % dimensions) {
            let mut joined: BTreeMap<Product, BTreeSet<Value>> = BTreeMap::new();
            for mut product in products {
                let Some(set) = product.get_mut(dimension).map(std::mem::take) else { continue };
                joined.entry(product).or_default().extend(set);
            }
            products = joined
                .into_iter()
                .map(|(mut product, set)| {
                    if let Some(slot) = product.get_mut(dimension) {
                        *slot = set;
                    }
                    product
                })
                .collect();
        }
        if products.len() == before {
            products.sort();
            return products;
        }
    }
}

fn text(shape: &Shape, product: &[BTreeSet<Value>]) -> String {
    let parts = shape.names.iter().zip(product).map(|(name, set)| format!("{name}={}", values::text(set)));
    parts.collect::<Vec<_>>().join(";")
}

fn bad(text: &str, seen: &str) -> Problem {
    Problem::new(
        format!("variants {text:?}"),
        "`revision=…;key=value;wire=…`, values with {a|b}, …@1..9 or …@pairs(1..9), at most a million variants",
        seen,
        "restore the file as the harness wrote it",
    )
}

#[cfg(test)]
mod tests;
