//! The OpenAPI document of `hakaru serve`, generated from the types whose values it sends.
//!
//! The types are read from the source code, so that the program itself contains only the finished document. Tests of
//! `hakaru serve` compare it with the routes, and with real answers.

mod attributes;
mod paths;
mod source;
mod types;

use anyhow::Result;
use serde_json::{Value, json};
use source::SourceTypes;
use types::SchemaSet;

/// Crates whose types are sent, in the order in which a name is looked up.
const CRATES: [&str; 5] = ["model", "store", "device", "results", "web"];

/// Returns the document, with one path or type on each line: the program contains it.
///
/// # Errors
/// If the sources cannot be read, or a type has no known form.
pub(crate) fn document() -> Result<String> {
    let sources = SourceTypes::read(&CRATES)?;
    let mut schemas = SchemaSet::new(&sources);
    let paths = paths::all(&mut schemas)?;
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "hakaru",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0" },
            "description": "Stored results and running measurements of storage benchmarks, as hakaru serve sends them. \
                Times are in nanoseconds and sizes in bytes unless stated otherwise. Later versions may add keys.",
        },
        "servers": [{ "url": "/" }],
        // Reading needs the token only beyond loopback, or with --host.
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas.into_components(),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token that hakaru serve printed at its first start.",
                },
            },
        },
    });
    Ok(lines(&document, 3)? + "\n")
}

/// Formats a value with a line for each member of its objects, down to a depth.
fn lines(value: &Value, depth: u32) -> Result<String> {
    let Some(members) = value.as_object().filter(|_| depth > 0) else {
        return Ok(serde_json::to_string(value)?);
    };
    let members = members.iter().map(|(name, value)| {
        Ok(format!(
            "{}:{}",
            Value::from(name.as_str()),
            lines(value, depth - 1)?
        ))
    });
    let members = members.collect::<Result<Vec<String>>>()?;
    Ok(format!("{{\n{}\n}}", members.join(",\n")))
}
