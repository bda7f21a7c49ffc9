//! JSON output of the commands; the schemas are in `hakaru-results`.

use crate::place;
pub(crate) use hakaru_results::json::*;
use serde::Serialize;
use std::path::Path;

/// Prints an object with its schema on standard output.
pub(crate) fn print(schema: &'static str, body: &impl Serialize) -> anyhow::Result<()> {
    super::print(&text(schema, body)?)
}

/// Writes an object with its schema to a file, or prints it.
pub(crate) fn write(
    output: Option<&Path>,
    schema: &'static str,
    body: &impl Serialize,
) -> anyhow::Result<()> {
    match output.filter(|path| !place::is_stdout(Some(path))) {
        Some(path) => place::write_page(path, text(schema, body)?.as_bytes()),
        None => print(schema, body),
    }
}
