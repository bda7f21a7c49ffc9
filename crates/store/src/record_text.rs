//! Records with the text that they were read from, and whether a copy of one loses anything.

use crate::{ImportError, export, import};
use hakaru_model::record::RunRecord;
use serde_json::{Value, json};

/// Maximum number of fields that a copy lacks and that are examined one by one.
const MOST_EXAMINED: usize = 1000;

/// A record with the JSON text that it was read from, which may have fields of a later version.
#[derive(Clone, Debug)]
pub struct RecordText {
    record: RunRecord,
    text: String,
}

impl RecordText {
    /// Parses a record, and keeps its text.
    ///
    /// # Errors
    /// [`ImportError`]: not a record, of a newer format, or damaged.
    pub fn read(text: String) -> Result<RecordText, ImportError> {
        let record = import(&text)?;
        Ok(RecordText { record, text })
    }

    /// Returns the record.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Converts the text to the record.
    pub fn into_record(self) -> RunRecord {
        self.record
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether this is the same record and its text has all fields of the other one that this version does not know.
    pub(crate) fn holds(&self, other: &RecordText) -> bool {
        self.text == other.text || self.record == other.record && !other.loses_fields_in(&self.text)
    }

    /// Whether a text of the same record lacks a field of this one that this version does not know. Other fields are
    /// compared with the records: a text may lack those that have their default value.
    fn loses_fields_in(&self, copy: &str) -> bool {
        let value = |text: &str| serde_json::from_str::<Value>(text).ok();
        let known = export(&self.record).ok();
        let Some(((mut all, copy), known)) = value(&self.text)
            .zip(value(copy))
            .zip(known.and_then(|known| value(&known)))
        else {
            return true;
        };
        let mut missing = MissingFields::default();
        missing.find(&all, Some(&copy), Some(&known));
        let mut missing = missing.found.iter();
        missing.len() > MOST_EXAMINED || missing.any(|place| !self.knows(&mut all, place))
    }

    /// Whether this version reads a field, given its JSON pointer in the text: another value makes another record.
    fn knows(&self, text: &mut Value, place: &str) -> bool {
        let Some(field) = text.pointer_mut(place) else {
            return false;
        };
        let value = field.take();
        let knows = [json!({ "?": [] }), json!(-1.5)].into_iter().any(|other| {
            if let Some(field) = text.pointer_mut(place) {
                *field = other;
            }
            import(&text.to_string()).ok().as_ref() != Some(&self.record)
        });
        if let Some(field) = text.pointer_mut(place) {
            *field = value;
        }
        knows
    }
}

/// Fields that a copy lacks and that this version does not write.
#[derive(Default)]
struct MissingFields {
    /// JSON pointers (RFC 6901).
    found: Vec<String>,
    place: String,
}

impl MissingFields {
    /// Compares a value with that of the copy, and with what this version writes in its place.
    fn find(&mut self, value: &Value, copy: Option<&Value>, known: Option<&Value>) {
        match (value, known) {
            // A field without a value is no field.
            (Value::Null, _) => {}
            (Value::Object(fields), Some(Value::Object(known))) => {
                for (name, value) in fields {
                    let (copy, known) = (copy.and_then(|copy| copy.get(name)), known.get(name));
                    let name = name.replace('~', "~0").replace('/', "~1");
                    self.find_at(&name, value, copy, known);
                }
            }
            (Value::Array(values), Some(Value::Array(known))) if values.len() == known.len() => {
                for (at, (value, known)) in values.iter().zip(known).enumerate() {
                    let copy = copy.and_then(|copy| copy.get(at));
                    self.find_at(&at.to_string(), value, copy, Some(known));
                }
            }
            (Value::Object(_) | Value::Array(_), _) | (_, None) => {
                if !copy.is_some_and(|copy| has_fields(copy, value)) {
                    self.found.push(self.place.clone());
                }
            }
            (_, Some(_)) => {}
        }
    }

    fn find_at(&mut self, name: &str, value: &Value, copy: Option<&Value>, known: Option<&Value>) {
        let length = self.place.len();
        self.place.push('/');
        self.place.push_str(name);
        self.find(value, copy, known);
        self.place.truncate(length);
    }
}

/// Whether a value has all fields of another one, with equal values. A field without a value is no field, and a number
/// can be written in several ways.
fn has_fields(all: &Value, part: &Value) -> bool {
    match (all, part) {
        (Value::Object(all), Value::Object(part)) => part
            .iter()
            .filter(|(_, part)| !part.is_null())
            .all(|(name, part)| all.get(name).is_some_and(|value| has_fields(value, part))),
        (Value::Array(all), Value::Array(part)) => {
            all.len() == part.len() && all.iter().zip(part).all(|(a, b)| has_fields(a, b))
        }
        (Value::Number(all), Value::Number(part)) if all.is_f64() || part.is_f64() => {
            all.as_f64() == part.as_f64()
        }
        (all, part) => all == part,
    }
}
