//! The digest of a campaign point's definition, which decides whether a stored run still counts.
//!
//! Format 2 hashes a canonical text that names every key and contains no Rust type names. Format 1 hashed Rust's
//! `Debug` output; its text is still produced unchanged, so that runs stored with it still count.

use super::file::{DiscardMode, FillEntry, PreparationSpec, PrepareScope};
use hakaru_model::hash::fnv1a;
use std::fmt::Write as _;

/// The keys of one layer or workload in a campaign file, without the keys that only name it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuthoredEntry {
    /// Keys and values as written in the file.
    pub table: toml::Table,
    /// Other content of the definition: the phase of the suite, or the text of a fio job file.
    pub content: Option<String>,
}

impl AuthoredEntry {
    /// Returns a copy of the entry with this content.
    pub(super) fn with_content(&self, content: &str) -> AuthoredEntry {
        AuthoredEntry {
            table: self.table.clone(),
            content: Some(content.to_owned()),
        }
    }

    /// Returns the text that format 1 hashes.
    fn text_v1(&self) -> String {
        let mut lines: Vec<String> = self
            .table
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        lines.sort();
        let text = lines.join("\n");
        self.content
            .as_ref()
            .map_or_else(|| text.clone(), |content| format!("{text}\n{content}"))
    }
}

/// The definition of a campaign point: all settings that determine what its runs measure.
#[derive(Clone, Copy, Debug)]
pub struct PointDefinition<'a> {
    /// The workload.
    pub workload: &'a AuthoredEntry,
    /// The layer.
    pub layer: &'a AuthoredEntry,
    /// The preparation of the storage before a run.
    pub preparation: &'a PreparationSpec,
}

impl PointDefinition<'_> {
    /// Returns the digest that is stored with a run: `2:` and 16 hexadecimal digits.
    ///
    /// It changes only when the workload, the layer or the preparation changes in the campaign file.
    pub fn digest(&self) -> String {
        format!("2:{:016x}", fnv1a(self.canonical().as_bytes()))
    }

    /// Whether a stored digest of either format matches this definition.
    pub fn matches(&self, stored: &str) -> bool {
        match stored.starts_with("2:") {
            true => stored == self.digest(),
            false => stored == self.digest_v1(),
        }
    }

    /// Returns the canonical text: JSON with sorted keys and no white space.
    fn canonical(&self) -> String {
        let PointDefinition {
            workload,
            layer,
            preparation,
        } = *self;
        let mut out = String::from("{\"format\":2,\"layer\":");
        entry(&mut out, layer);
        out.push_str(",\"preparation\":");
        prepared(&mut out, preparation);
        out.push_str(",\"workload\":");
        entry(&mut out, workload);
        out.push('}');
        out
    }

    /// Returns the digest of format 1, which is used until records have format 2.
    fn digest_v1(&self) -> String {
        let PreparationSpec {
            discard,
            fill,
            fill_passes,
            each,
            fill_level,
            drop_caches,
            fresh,
        } = self.preparation;
        let optional = |value: Option<String>| match value {
            None => "None".to_owned(),
            Some(value) => format!("Some({value})"),
        };
        let discard = optional(discard.map(|mode| discard_names(mode).0.to_owned()));
        let fill = optional(fill.map(|data| fill_names(data).0.to_owned()));
        let each = scope_names(*each).0;
        let level = optional(fill_level.map(|share| format!("Share({:?})", share.0)));
        let passes = match fill_passes {
            1 => String::new(),
            passes => format!(" {passes}"),
        };
        let prepared = format!("{discard} {fill} {each} {level} {drop_caches} {fresh}{passes}");
        let text = format!(
            "{}\n{}\n{prepared}",
            self.workload.text_v1(),
            self.layer.text_v1()
        );
        format!("{:016x}", fnv1a(text.as_bytes()))
    }
}

/// Returns the names of a discard in format 1 and in format 2.
fn discard_names(mode: DiscardMode) -> (&'static str, &'static str) {
    match mode {
        DiscardMode::Plain => ("Plain", "plain"),
        DiscardMode::Secure => ("Secure", "secure"),
        DiscardMode::WhereOffered => ("WhereOffered", "where-offered"),
    }
}

/// Returns the names of fill data in format 1 and in format 2.
fn fill_names(data: FillEntry) -> (&'static str, &'static str) {
    match data {
        FillEntry::Ones => ("Ones", "ones"),
        FillEntry::Zeroes => ("Zeroes", "zeroes"),
        FillEntry::Random => ("Random", "random"),
    }
}

/// Returns the names of a preparation scope in format 1 and in format 2.
fn scope_names(scope: PrepareScope) -> (&'static str, &'static str) {
    match scope {
        PrepareScope::Card => ("Card", "card"),
        PrepareScope::Layer => ("Layer", "layer"),
        PrepareScope::Run => ("Run", "run"),
    }
}

fn entry(out: &mut String, authored: &AuthoredEntry) {
    let AuthoredEntry {
        table: keys,
        content,
    } = authored;
    out.push_str("{\"content\":");
    match content {
        Some(content) => string(out, content),
        None => out.push_str("null"),
    }
    out.push_str(",\"keys\":");
    table(out, keys);
    out.push('}');
}

fn prepared(out: &mut String, preparation: &PreparationSpec) {
    let PreparationSpec {
        discard,
        fill,
        fill_passes,
        each,
        fill_level,
        drop_caches,
        fresh,
    } = preparation;
    let optional = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
    let discard = optional(discard.map(|mode| format!("\"{}\"", discard_names(mode).1)));
    let fill = optional(fill.map(|data| format!("\"{}\"", fill_names(data).1)));
    let each = scope_names(*each).1;
    let level = optional(fill_level.map(|share| share.0.to_string()));
    // Left out if it is 1, so that the digests of older files stay.
    let passes = match fill_passes {
        1 => String::new(),
        passes => format!(",\"fill-passes\":{passes}"),
    };
    let _ = write!(
        out,
        "{{\"discard\":{discard},\"drop-caches\":{drop_caches},\"each\":\"{each}\",\"fill\":{fill},\
         \"fill-level\":{level}{passes},\"fresh\":{fresh}}}"
    );
}

fn value(out: &mut String, value: &toml::Value) {
    match value {
        toml::Value::String(text) => string(out, text),
        toml::Value::Integer(number) => out.push_str(&number.to_string()),
        toml::Value::Float(number) => out.push_str(&number.to_string()),
        toml::Value::Boolean(flag) => out.push_str(&flag.to_string()),
        toml::Value::Datetime(moment) => string(out, &moment.to_string()),
        toml::Value::Array(list) => {
            out.push('[');
            for (index, item) in list.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                self::value(out, item);
            }
            out.push(']');
        }
        toml::Value::Table(keys) => table(out, keys),
    }
}

fn table(out: &mut String, table: &toml::Table) {
    let mut keys: Vec<&String> = table.keys().collect();
    keys.sort();
    out.push('{');
    for (index, key) in keys.into_iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        string(out, key);
        out.push(':');
        value(out, &table[key]);
    }
    out.push('}');
}

/// Writes a JSON string: only quotes, backslashes and control characters are escaped (RFC 8259, section 7).
fn string(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The canonical text is part of the stored format: a change here needs format 3, and a migration.
    #[test]
    fn pins_the_canonical_text() {
        let text =
            "rw = \"randwrite\"\nbs = 4096\n[opts]\nb = [1, 2.5, true]\na = \"quote \\\" and é\"";
        let workload = AuthoredEntry {
            table: text.parse().unwrap(),
            content: Some("[x]\nrw=read\n".to_owned()),
        };
        let preparation = PreparationSpec {
            fill: Some(FillEntry::Ones),
            ..PreparationSpec::default()
        };
        let point = PointDefinition {
            workload: &workload,
            layer: &AuthoredEntry::default(),
            preparation: &preparation,
        };
        let canonical = r#"{"format":2,"layer":{"content":null,"keys":{}},"preparation":{"discard":null,"drop-caches":false,"each":"card","fill":"ones","fill-level":null,"fresh":false},"workload":{"content":"[x]\nrw=read\n","keys":{"bs":4096,"opts":{"a":"quote \" and é","b":[1,2.5,true]},"rw":"randwrite"}}}"#;
        assert_eq!(point.canonical(), canonical);
        assert_eq!(
            point.digest(),
            format!("2:{:016x}", fnv1a(canonical.as_bytes()))
        );
        assert!(
            point.matches(&point.digest())
                && point.matches(&point.digest_v1())
                && !point.matches("")
        );
    }
}
