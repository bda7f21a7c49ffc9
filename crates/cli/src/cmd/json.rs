//! JSON output of the commands: one object with the name of its schema, documented in docs/FORMAT.md.
//!
//! A schema only gets new keys; a key that changes its meaning needs a new version.

use serde::Serialize;

pub(crate) const IMPORT: &str = "hakaru.import/1";
pub(crate) const LIST: &str = "hakaru.list/1";
pub(crate) const RECORD: &str = "hakaru.record/1";
pub(crate) const VERIFICATION: &str = "hakaru.verification/1";

/// All schemas.
#[cfg(test)]
const ALL: [&str; 4] = [IMPORT, LIST, RECORD, VERIFICATION];

/// An object with its schema first.
#[derive(Serialize)]
struct Document<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// Formats an object with its schema, indented.
pub(crate) fn text(schema: &'static str, body: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&Document { schema, body })? + "\n")
}

/// Prints an object with its schema on standard output.
pub(crate) fn print(schema: &'static str, body: &impl Serialize) -> anyhow::Result<()> {
    super::print(&text(schema, body)?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_schema_is_documented() {
        let format = include_str!("../../../../docs/FORMAT.md");
        for schema in super::ALL {
            assert!(
                format.contains(&format!("`{schema}`")),
                "docs/FORMAT.md does not document {schema}"
            );
        }
    }
}
