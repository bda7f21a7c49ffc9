//! Finds a campaign by its name, and prints errors with their position in its file.
//!
//! A name is looked up as a file, then as a stored campaign, then as a template.

use crate::exit::{Ended, Exit};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anyhow::Result;
use hakaru_campaign::campaign::file::FileError;
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_dialects::fio::Location;
use hakaru_report::plain;
use hakaru_report::text::{self, MessagePrefix};
use hakaru_results::campaign::{self, CampaignText, InvalidCampaign};
use hakaru_store::Store;
use std::ops::Range;
use std::path::Path;

/// A campaign with the text from which it was parsed.
pub(crate) struct Loaded {
    pub(crate) campaign: Campaign,
    /// The campaign file and the files it names, as JSON for the store, so that reports do not need the files.
    pub(crate) asked: String,
}

/// Finds and parses a campaign, or prints its error with its position.
pub(super) fn load(name: &Path, store: &Store) -> Result<Loaded> {
    let loaded = campaign::parse(find(name, store)?).map_err(|invalid| {
        point_at(&invalid);
        Ended(Exit::Usage)
    })?;
    for warning in &loaded.warnings {
        anstream::eprintln!("{}: {warning}", text::prefix(MessagePrefix::Warning));
    }
    let (campaign, asked) = (loaded.campaign, loaded.asked);
    Ok(Loaded { campaign, asked })
}

fn find(name: &Path, store: &Store) -> Result<CampaignText> {
    // A directory may have the name of the campaign; a pipe is not a file.
    match name.exists() && !name.is_dir() {
        true => CampaignText::of_file(name),
        false => campaign::find(&name.to_string_lossy(), store),
    }
}

/// Prints the line with the error, in the campaign file and in a job file that it names.
fn point_at(invalid: &InvalidCampaign) {
    let FileError { message, span } = &invalid.error;
    let (source, origin) = (invalid.text.text(), invalid.text.origin());
    let (title, cause) = message.split_once('\n').unwrap_or((message, ""));
    let title = &plain(title);
    let mut report = Group::with_title(Level::ERROR.primary_title(title));
    let job_line = invalid.fio.as_ref().and_then(|error| match &error.at {
        Some(Location::File {
            line, text, span, ..
        }) => Some((*line, text.as_str(), span.clone())),
        _ => None,
    });
    let inside = span.clone().zip(job_line.as_ref());
    let inside = inside.and_then(|(span, (_, line, word))| within(source, span, line, word));
    let marked =
        |source, span| Snippet::source(source).annotation(AnnotationKind::Primary.span(span));
    let place = inside.clone().or_else(|| span.clone());
    if let Some(span) = place.and_then(|span| sound(source, span)) {
        let snippet = marked(source, span);
        report = report.element(snippet.path(origin));
    }
    if let (None, Some((number, line, word))) = (inside, job_line)
        && let Some(word) = sound(line, word)
    {
        let snippet = marked(line, word).line_start(number);
        report = report.element(snippet.path(both!("the job file", "ジョブファイル")));
    }
    let report = report.element(Level::HELP.message(help(title, cause)));
    anstream::eprintln!("{}", Renderer::styled().render(&[report]));
}

/// Returns the place of an error in an inline job file, whose text is in this span of the campaign file.
fn within(text: &str, span: Range<usize>, line: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let at = span.start + text.get(span)?.find(line)?;
    Some(at + word.start..at + word.end)
}

/// Returns the part of a span on one line; `None` if it cannot be shown.
fn sound(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let word = text.get(span.start..span.end.min(text.len()))?;
    let end = span.start + word.find('\n').unwrap_or(word.len());
    Some(span.start..end)
}

/// Begin of the message of the TOML parser about a key that does not exist.
const UNKNOWN_FIELD: &str = "unknown field";

/// Advice for the user.
fn help(title: &str, cause: &str) -> String {
    let names: Vec<&str> = title.split('`').skip(1).step_by(2).collect();
    let nearest = names
        .split_first()
        .filter(|_| title.starts_with(UNKNOWN_FIELD))
        .and_then(|(wrong, known)| {
            let near = known.iter().map(|name| (distance(wrong, name), name));
            near.filter(|(distance, _)| *distance <= 3)
                .min()
                .map(|(_, name)| *name)
        });
    match nearest {
        Some(name) => both!(
            "did you mean `{name}`? See docs/CAMPAIGNS.md for all keys",
            "「{name}」ではありませんか。全キーの説明はdocs/CAMPAIGNS.mdにあります"
        ),
        None if !cause.is_empty() => plain(&cause.replace('\n', "; ")),
        None => both!(
            "see docs/CAMPAIGNS.md for all keys, and `hakaru campaign init --list` for ready-made files",
            "全キーの説明はdocs/CAMPAIGNS.md、既製のファイルはhakaru campaign init --listで確認してください"
        ),
    }
}

/// Returns the edit distance of two words: the number of letters to change, insert or delete.
///
/// Source: Levenshtein (1966), in the form of Wagner and Fischer (1974).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = cost.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_named() {
        let help = help(
            "unknown field `repaets`, expected one of `name`, `repeats`, `order`",
            "",
        );
        assert!(help.starts_with("did you mean `repeats`?"), "{help}");
        assert_eq!(
            (
                distance("", "abc"),
                distance("kitten", "sitting"),
                distance("a", "a")
            ),
            (3, 3, 0)
        );
    }
}
