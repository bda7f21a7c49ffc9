//! JSON in fio's layout: two spaces of indentation, ` : ` after names, floats with six decimals, keys in a fixed order.
//!
//! A general JSON writer would sort keys, print `1e-7`, or drop the `.0` of floats.

/// A JSON value whose objects keep their key order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JsonValue {
    /// A whole number.
    Int(i128),
    /// A float, printed with six decimals and no exponent.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<JsonValue>),
    /// An object.
    Object(Vec<(String, JsonValue)>),
    /// Text already formatted for its nesting depth.
    Written(String),
}

/// A JSON object built key by key.
#[derive(Default)]
pub(super) struct JsonObject(Vec<(String, JsonValue)>);

impl JsonObject {
    pub(super) fn set(&mut self, key: &str, value: impl Into<JsonValue>) -> &mut JsonObject {
        self.0.push((key.to_owned(), value.into()));
        self
    }
}

impl From<JsonObject> for JsonValue {
    fn from(object: JsonObject) -> JsonValue {
        JsonValue::Object(object.0)
    }
}

impl From<u64> for JsonValue {
    fn from(number: u64) -> JsonValue {
        JsonValue::Int(i128::from(number))
    }
}

impl From<u32> for JsonValue {
    fn from(number: u32) -> JsonValue {
        JsonValue::Int(i128::from(number))
    }
}

impl From<i64> for JsonValue {
    fn from(number: i64) -> JsonValue {
        JsonValue::Int(i128::from(number))
    }
}

impl From<i32> for JsonValue {
    fn from(number: i32) -> JsonValue {
        JsonValue::Int(i128::from(number))
    }
}

impl From<f64> for JsonValue {
    fn from(number: f64) -> JsonValue {
        // JSON cannot represent infinity, and no parser of fio output expects it.
        JsonValue::Float(if number.is_finite() { number } else { 0.0 })
    }
}

impl From<&str> for JsonValue {
    fn from(text: &str) -> JsonValue {
        JsonValue::Text(text.to_owned())
    }
}

impl JsonValue {
    /// Formats the value for a nesting depth. A tree of many jobs would take several times the memory of its text.
    pub(super) fn written(&self, indent: usize) -> JsonValue {
        let mut out = String::new();
        self.write(indent, &mut out);
        out.shrink_to_fit();
        JsonValue::Written(out)
    }

    /// Formats the value as text with a final newline.
    pub(super) fn print(&self) -> String {
        let mut out = String::new();
        self.write(0, &mut out);
        out.push('\n');
        out
    }

    fn write(&self, indent: usize, out: &mut String) {
        match self {
            JsonValue::Int(number) => *out += &number.to_string(),
            JsonValue::Float(number) => *out += &format!("{number:.6}"),
            JsonValue::Text(text) => quote(text, out),
            JsonValue::Written(text) => *out += text,
            JsonValue::List(items) => {
                let items = items.iter().map(|item| (None, item));
                block('[', items, ']', indent, out);
            }
            JsonValue::Object(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| (Some(key.as_str()), value));
                block('{', entries, '}', indent, out);
            }
        }
    }
}

fn block<'a>(
    open: char,
    entries: impl Iterator<Item = (Option<&'a str>, &'a JsonValue)>,
    close: char,
    indent: usize,
    out: &mut String,
) {
    out.push(open);
    for (number, (key, value)) in entries.enumerate() {
        *out += if number == 0 { "\n" } else { ",\n" };
        *out += &"  ".repeat(indent + 1);
        if let Some(key) = key {
            quote(key, out);
            *out += " : ";
        }
        value.write(indent + 1, out);
    }
    out.push('\n');
    *out += &"  ".repeat(indent);
    out.push(close);
}

/// Writes a quoted string, with escapes for the characters JSON forbids.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => *out += "\\\"",
            '\\' => *out += "\\\\",
            '\n' => *out += "\\n",
            '\t' => *out += "\\t",
            '\r' => *out += "\\r",
            c if c < ' ' => *out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_fios() {
        let mut inner = JsonObject::default();
        inner.set("iops", 166.0).set("path", "a \"b\"\\\u{1}");
        let mut outer = JsonObject::default();
        outer
            .set(
                "jobs",
                JsonValue::List(vec![inner.into(), JsonObject::default().into()]),
            )
            .set("eta", 0u64);
        insta::assert_snapshot!(JsonValue::from(outer).print(), @r#"
        {
          "jobs" : [
            {
              "iops" : 166.000000,
              "path" : "a \"b\"\\\u0001"
            },
            {
            }
          ],
          "eta" : 0
        }
        "#);
    }

    #[test]
    fn floats_have_no_exponent_and_no_infinity() {
        assert_eq!(JsonValue::from(1e-9).print(), "0.000000\n");
        assert_eq!(
            JsonValue::from(1e20).print(),
            "100000000000000000000.000000\n"
        );
        assert_eq!(JsonValue::from(f64::NAN).print(), "0.000000\n");
    }

    proptest::proptest! {
        #[test]
        fn any_text_survives(text in "\\PC*|[\\x00-\\x20\"\\\\]*") {
            let printed = JsonValue::from(text.as_str()).print();
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&printed).unwrap(), text);
        }
    }
}
