//! JSON with ordered keys, and integers distinguished from floats.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JsonTree {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<JsonTree>),
    /// Keys may be duplicated, because strict parsers would notice.
    Object(Vec<(String, JsonTree)>),
}

impl JsonTree {
    /// Parses a complete text.
    ///
    /// # Errors
    /// The parser's message if the text is not JSON, or not only JSON.
    pub(super) fn parse(text: &str) -> Result<JsonTree, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Name of the value type.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            JsonTree::Null => "null",
            JsonTree::Bool(_) => "bool",
            JsonTree::Int(_) => "integer",
            JsonTree::Float(_) => "float",
            JsonTree::Text(_) => "text",
            JsonTree::List(_) => "list",
            JsonTree::Object(_) => "object",
        }
    }

    /// The value as `f64`, for integers and floats.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            JsonTree::Int(value) => Some(*value as f64),
            JsonTree::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// All leaves with their paths, such as `jobs[0].read.iops`.
    pub(super) fn leaves(&self) -> Vec<(String, &JsonTree)> {
        let mut found = Vec::new();
        self.collect("", &mut found);
        found
    }

    fn collect<'a>(&'a self, path: &str, found: &mut Vec<(String, &'a JsonTree)>) {
        match self {
            JsonTree::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    item.collect(&format!("{path}[{at}]"), found);
                }
            }
            JsonTree::Object(fields) => {
                for (key, value) in fields {
                    value.collect(&join(path, key), found);
                }
            }
            leaf => found.push((path.to_owned(), leaf)),
        }
    }
}

/// Appends a key to the path of an object.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

impl fmt::Display for JsonTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonTree::Null => write!(f, "null"),
            JsonTree::Bool(value) => write!(f, "{value}"),
            JsonTree::Int(value) => write!(f, "{value}"),
            JsonTree::Float(value) => write!(f, "{value:.6}"),
            JsonTree::Text(text) => write!(f, "{text:?}"),
            JsonTree::List(items) => write!(f, "list of {}", items.len()),
            JsonTree::Object(fields) => write!(f, "object of {}", fields.len()),
        }
    }
}

impl<'de> Deserialize<'de> for JsonTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonTree, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = JsonTree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<JsonTree, E> {
        Ok(JsonTree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonTree, E> {
        Ok(JsonTree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsonTree, E> {
        Ok(JsonTree::Int(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsonTree, E> {
        Ok(JsonTree::Int(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsonTree, E> {
        Ok(JsonTree::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonTree, E> {
        Ok(JsonTree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonTree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(JsonTree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonTree, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(JsonTree::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_differ_from_decimal_ones() {
        let tree =
            JsonTree::parse(r#"{"b": 0, "a": 0.000000, "c": [-1, "x"], "a": null}"#).expect("JSON");
        let leaves: Vec<String> = tree
            .leaves()
            .iter()
            .map(|(path, leaf)| format!("{path} {}", leaf.kind()))
            .collect();
        assert_eq!(
            leaves,
            [
                "b integer",
                "a float",
                "c[0] integer",
                "c[1] text",
                "a null"
            ]
        );
    }

    #[test]
    fn anything_around_the_value_is_an_error() {
        assert!(JsonTree::parse("note: x\n{}").is_err());
        assert!(JsonTree::parse("{} {}").is_err());
        assert!(JsonTree::parse("{\"a\": nan}").is_err());
    }
}
