//! `hakaru info`: what is known of a device or a path, and of this host.

use super::print;
use crate::exit::Exit;
use anyhow::Result;
use hakaru_device::Roots;
use hakaru_engine::ClockChoice;
use hakaru_model::facts::{Environment, Identity};
use serde_json::Value;
use std::path::PathBuf;

/// Of what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A device, file or directory
    #[arg(default_value = ".")]
    path: PathBuf,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Prints it.
pub(crate) fn main(args: &Args) -> Result<Exit> {
    let facts = hakaru_device::inspect(&args.path)?;
    let identity = hakaru_device::identify(&args.path, &Roots::live());
    let environment = hakaru_device::environment(&Roots::live(), ClockChoice::best().name());
    if args.json {
        let all = serde_json::json!({ "facts": facts, "identity": identity, "environment": environment });
        print(&(serde_json::to_string_pretty(&all)? + "\n"))?;
        return Ok(Exit::Ok);
    }
    print(&text(&identity, &environment)?)?;
    Ok(Exit::Ok)
}

fn text(identity: &Identity, environment: &Environment) -> Result<String> {
    let mut lines = Vec::new();
    flatten("", &serde_json::to_value(identity)?, &mut lines);
    lines.push((String::new(), String::new()));
    flatten("host", &serde_json::to_value(environment)?, &mut lines);
    let widest = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    Ok(lines
        .into_iter()
        .map(|(name, value)| format!("{name:<widest$}  {value}").trim_end().to_owned() + "\n")
        .collect())
}

/// One line a fact; what is not known says why.
fn flatten(prefix: &str, value: &Value, lines: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            if let Some(known) = map.get("known") {
                return flatten(prefix, known, lines);
            }
            if let Some(Value::String(because)) = map.get("unknown") {
                return lines.push((prefix.to_owned(), format!("unknown, because {because}")));
            }
            for (key, value) in map {
                let key = key.replace('_', " ");
                flatten(&if prefix.is_empty() { key } else { format!("{prefix} {key}") }, value, lines);
            }
        }
        Value::Array(items) => {
            let words: Vec<String> = items.iter().map(plain).collect();
            if !words.is_empty() {
                lines.push((prefix.to_owned(), words.join(", ")));
            }
        }
        Value::Null => {}
        other => lines.push((prefix.to_owned(), plain(other))),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
