//! Rules that apply to the entries of all lists of a campaign file, and the functions that reading them needs.

use super::super::digest::AuthoredEntry;
use super::super::file::FileError;
use hakaru_model::job::Scenario;
use hakaru_report::both;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

/// Functions that reading a campaign file needs.
pub struct ResolveContext<'a> {
    /// Reads a file that the campaign names; relative paths are relative to the campaign file.
    pub read_file: &'a dyn Fn(&Path) -> Result<String, String>,
    /// Parses the text of a fio job file; the other argument is its name for messages.
    pub fio: &'a dyn Fn(&str, &str) -> Result<Scenario, String>,
}

/// Rejects empty names, because results are distinguished by name.
pub(super) fn not_empty(name: Option<&Spanned<String>>, what: &str) -> Result<(), FileError> {
    match name.filter(|name| name.get_ref().trim().is_empty()) {
        Some(name) => Err(FileError::at(
            name,
            both!(
                "this {what} is empty; help: enter a name or remove the key",
                "{what}が空です; help: 名前を入れるか、キーを削除してください"
            ),
        )),
        None => Ok(()),
    }
}

/// Rejects the first duplicate name; `message` describes it.
pub(super) fn unique<'a>(
    names: impl Iterator<Item = (&'a str, Option<Range<usize>>)>,
    message: impl Fn(&str) -> String,
) -> Result<(), FileError> {
    let mut seen = BTreeSet::new();
    for (name, span) in names {
        if !seen.insert(name) {
            let message = message(name);
            return Err(FileError { message, span });
        }
    }
    Ok(())
}

/// Returns an entry of a list as written in the file, without the keys that only name it.
pub(super) fn authored(
    written: &toml::Table,
    list: &str,
    index: usize,
    without: &[&str],
) -> AuthoredEntry {
    let table = written
        .get(list)
        .and_then(|list| list.get(index))
        .and_then(toml::Value::as_table);
    let mut table = table.cloned().unwrap_or_default();
    without.iter().for_each(|key| {
        table.remove(*key);
    });
    AuthoredEntry {
        table,
        content: None,
    }
}
