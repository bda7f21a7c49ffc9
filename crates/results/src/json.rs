//! JSON output of the commands: one object with the name of its schema, documented in docs/FORMAT.md.
//!
//! A schema only gets new keys; a key that changes its meaning needs a new version.

use hakaru_model::caveat::Caveat;
use hakaru_model::facts::{Environment, Identity};
use hakaru_model::finding::Summary;
use serde::Serialize;
use serde_json::{Map, Value};

/// Defines the names of the schemas, with a list of all for tests.
macro_rules! schemas {
    ($($name:ident = $schema:literal,)+) => {
        $(
            #[doc = concat!("The schema `", $schema, "`.")]
            pub const $name: &str = $schema;
        )+

        /// All schemas.
        #[cfg(test)]
        const ALL: &[&str] = &[$($schema),+];
    };
}

schemas! {
    ANATOMY = "hakaru.anatomy/1",
    BENCH = "hakaru.bench/1",
    CAMPAIGN_CHECK = "hakaru.campaign-check/1",
    CAMPAIGN_REPORT = "hakaru.campaign-report/1",
    CAMPAIGN_RUN = "hakaru.campaign-run/1",
    CAMPAIGN_STATUS = "hakaru.campaign-status/1",
    COMPARE = "hakaru.compare/1",
    EXPLAIN = "hakaru.explain/1",
    HISTORY = "hakaru.history/1",
    IMPORT = "hakaru.import/1",
    INFO = "hakaru.info/1",
    LIST = "hakaru.list/1",
    PREDICT = "hakaru.predict/1",
    PROGRESS = "hakaru.progress/1",
    RANK = "hakaru.rank/1",
    RECORD = "hakaru.record/1",
    RECOVER = "hakaru.recover/1",
    REFERENCE = "hakaru.reference/1",
    RELABEL = "hakaru.relabel/1",
    REPORT = "hakaru.report/1",
    FLEET = "hakaru.fleet/1",
    FLEET_RUN = "hakaru.fleet-run/1",
    SYNC = "hakaru.sync/1",
    VERIFICATION = "hakaru.verification/1",
}

/// An object with its schema first.
#[derive(Serialize)]
struct SchemaObject<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// Formats an object with its schema, indented.
pub fn text(schema: &'static str, body: &impl Serialize) -> anyhow::Result<String> {
    pretty(&SchemaObject { schema, body })
}

/// Formats an object with its schema in one line.
pub fn line(schema: &'static str, body: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string(&SchemaObject { schema, body })?)
}

/// Formats a value indented, with a final newline.
pub fn pretty(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(indented(&serde_json::to_string(value)?) + "\n")
}

/// Indents JSON that has no white space between its tokens, by two spaces a level, as `serde_json` does. A formatter of
/// `serde_json` would be compiled once more for each type.
fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_text, mut escaped, mut empty) = (0, false, false, false);
    let new_line = |out: &mut String, depth| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    for c in json.chars() {
        if in_text {
            out.push(c);
            in_text = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            continue;
        }
        let closes = matches!(c, '}' | ']');
        depth -= usize::from(closes);
        if closes != empty {
            new_line(&mut out, depth);
        }
        out.push(c);
        empty = matches!(c, '{' | '[');
        depth += usize::from(empty);
        match c {
            ',' => new_line(&mut out, depth),
            ':' => out.push(' '),
            '"' => in_text = true,
            _ => {}
        }
    }
    out
}

/// A series of runs and its circumstances, without its figures.
#[derive(Serialize)]
pub struct SeriesHead<'a> {
    series: &'a str,
    runs: &'a [String],
    label: String,
    title: Option<&'a str>,
    note: Option<&'a str>,
    scenario: &'a str,
    started_unix_ms: i64,
    origin: String,
    target: &'a Identity,
    environment: &'a Environment,
    caveats: Vec<CaveatText<'a>>,
}

/// A caveat with its sentence for people.
#[derive(Serialize)]
struct CaveatText<'a> {
    #[serde(flatten)]
    caveat: &'a Caveat,
    text: String,
}

impl SeriesHead<'_> {
    /// Returns the circumstances of a summary.
    pub fn of(summary: &Summary) -> SeriesHead<'_> {
        let caveat = |caveat| CaveatText {
            caveat,
            text: hakaru_report::caveat_of(summary, caveat),
        };
        SeriesHead {
            series: &summary.series,
            runs: &summary.runs,
            label: summary.target.display_name(),
            title: summary.annotations.title.as_deref(),
            note: summary.annotations.note.as_deref(),
            scenario: &summary.scenario,
            started_unix_ms: summary.started_unix_ms,
            origin: hakaru_report::origin_id(&summary.origin),
            target: &summary.target,
            environment: &summary.environment,
            caveats: summary.caveats.iter().map(caveat).collect(),
        }
    }
}

/// Columns of the CSV forms that hold text. Their values stay text, even if they look like a number.
const TEXT: [&str; 17] = [
    "a",
    "against",
    "b",
    "campaign",
    "card",
    "figure",
    "host",
    "interval_caveats",
    "layer",
    "letters",
    "op",
    "phase",
    "scenario",
    "series",
    "started",
    "target",
    "unit",
];

/// Converts the CSV form of results to objects, one per line: identifiers are the same, empty fields are left out.
pub fn rows(csv: &str) -> Vec<Map<String, Value>> {
    let mut lines = records(csv).into_iter();
    let names = lines.next().unwrap_or_default();
    let object = |fields: Vec<String>| -> Map<String, Value> {
        let fields = names.iter().zip(fields);
        let given = fields.filter(|(_, field)| !field.is_empty());
        given
            .map(|(name, field)| (name.clone(), value(name, field)))
            .collect()
    };
    lines.map(object).collect()
}

fn value(name: &str, field: String) -> Value {
    if TEXT.contains(&name) {
        // The CSV form marks text that a spreadsheet would take for a formula.
        let bare = field.strip_prefix('\'');
        let bare = bare.filter(|bare| bare.starts_with(['=', '+', '-', '@']));
        return Value::String(bare.map_or(field.clone(), str::to_owned));
    }
    match serde_json::from_str(&field) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(field),
    }
}

/// Splits CSV text (RFC 4180) into lines of fields.
fn records(csv: &str) -> Vec<Vec<String>> {
    let mut lines = vec![vec![String::new()]];
    let (mut quoted, mut chars) = (false, csv.chars().peekable());
    while let Some(c) = chars.next() {
        let line = lines.last_mut().expect("there is always a line");
        let field = line.last_mut().expect("a line has a field");
        match (c, quoted) {
            ('"', true) if chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            ('"', _) => quoted = !quoted,
            (',', false) => line.push(String::new()),
            ('\r', false) => {}
            ('\n', false) => lines.push(vec![String::new()]),
            (c, _) => field.push(c),
        }
    }
    lines.retain(|line| line.len() > 1 || line.iter().any(|field| !field.is_empty()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_documented() {
        let format = include_str!("../../../docs/FORMAT.md");
        for schema in ALL {
            assert!(
                format.contains(&format!("`{schema}`")),
                "docs/FORMAT.md does not document {schema}"
            );
        }
    }

    #[test]
    fn values_are_indented_as_by_serde_json() {
        let odd = "q\"u\\o{t}e\\\\\", [x]: 1,\n\u{7}日本";
        let values = [
            serde_json::json!([]),
            serde_json::json!({}),
            serde_json::json!(-1.5e300),
            serde_json::json!(odd),
            serde_json::json!({"a": {}, "b": [[], {}, [null, true]], odd: {"c": [odd, {"d": 1}]}}),
            serde_json::json!([{"a": "\\"}, {"b": "\\\""}, ""]),
        ];
        for value in values {
            let expected = serde_json::to_string_pretty(&value).unwrap() + "\n";
            assert_eq!(pretty(&value).unwrap(), expected);
        }
    }

    #[test]
    fn lines_of_csv_become_objects() {
        let csv = "card,n,value,figure,primary\r\n\"a \"\"b\"\", c\",3,1.5,x,true\r\n12,,kept,\"'-y\",\r\n";
        let rows = rows(csv);
        let expected = serde_json::json!([
            {"card": "a \"b\", c", "n": 3, "value": 1.5, "figure": "x", "primary": true},
            {"card": "12", "value": "kept", "figure": "-y"},
        ]);
        assert_eq!(serde_json::json!(rows), expected);
    }
}
