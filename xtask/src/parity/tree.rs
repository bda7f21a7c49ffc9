//! JSON as strict readers see it: keys in their order, and whole numbers told from those with a decimal point.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Tree>),
    /// Keys may come twice; strict readers would notice.
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// Parses a whole text.
    ///
    /// # Errors
    /// The reader's message, when this is not JSON, or not only JSON.
    pub(super) fn parse(text: &str) -> Result<Tree, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// What kind of value this is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Tree::Null => "null",
            Tree::Bool(_) => "bool",
            Tree::Int(_) => "integer",
            Tree::Float(_) => "float",
            Tree::Text(_) => "text",
            Tree::List(_) => "list",
            Tree::Object(_) => "object",
        }
    }

    /// The value as a number, whichever kind it is.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Tree::Int(value) => Some(*value as f64),
            Tree::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Every leaf with its path, such as `jobs[0].read.iops`.
    pub(super) fn leaves(&self) -> Vec<(String, &Tree)> {
        let mut found = Vec::new();
        self.collect("", &mut found);
        found
    }

    fn collect<'a>(&'a self, path: &str, found: &mut Vec<(String, &'a Tree)>) {
        match self {
            Tree::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    item.collect(&format!("{path}[{at}]"), found);
                }
            }
            Tree::Object(fields) => {
                for (key, value) in fields {
                    value.collect(&join(path, key), found);
                }
            }
            leaf => found.push((path.to_owned(), leaf)),
        }
    }
}

/// The path of a key in the object at a path.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Null => write!(f, "null"),
            Tree::Bool(value) => write!(f, "{value}"),
            Tree::Int(value) => write!(f, "{value}"),
            Tree::Float(value) => write!(f, "{value:.6}"),
            Tree::Text(text) => write!(f, "{text:?}"),
            Tree::List(items) => write!(f, "list of {}", items.len()),
            Tree::Object(fields) => write!(f, "object of {}", fields.len()),
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Int(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Int(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Tree::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_differ_from_decimal_ones() {
        let tree = Tree::parse(r#"{"b": 0, "a": 0.000000, "c": [-1, "x"], "a": null}"#).expect("JSON");
        let leaves: Vec<String> = tree.leaves().iter().map(|(path, leaf)| format!("{path} {}", leaf.kind())).collect();
        assert_eq!(leaves, ["b integer", "a float", "c[0] integer", "c[1] text", "a null"]);
    }

    #[test]
    fn anything_around_the_value_is_an_error() {
        assert!(Tree::parse("note: x\n{}").is_err());
        assert!(Tree::parse("{} {}").is_err());
        assert!(Tree::parse("{\"a\": nan}").is_err());
    }
}
