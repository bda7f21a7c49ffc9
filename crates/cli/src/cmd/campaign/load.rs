//! Finds a campaign by its name, and prints errors with their position in its file.
//!
//! A name is looked up as a file, then as a stored campaign, then as a template.

use crate::exit::{Ended, Exit, NamedPath, not_there};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anyhow::Result;
use hakaru_campaign::campaign::file::FileError;
use hakaru_campaign::campaign::ready;
use hakaru_campaign::campaign::resolve::{self, ResolveContext};
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_dialects::fio::{FioError, Location};
use hakaru_model::job::Scenario;
use hakaru_report::plain;
use hakaru_report::text::{self, MessagePrefix};
use hakaru_store::Store;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A campaign with the text from which it was parsed.
pub(super) struct Loaded {
    pub(super) campaign: Campaign,
    /// The campaign file and the files it names, as JSON for the store, so that reports do not need the files.
    pub(super) asked: String,
}

/// The text of a campaign and of the files it names.
struct CampaignText {
    /// File name or other origin of the text, for messages.
    origin: String,
    text: String,
    /// Files read so far that the campaign names, by path relative to `directory`.
    files: RefCell<BTreeMap<PathBuf, String>>,
    directory: PathBuf,
    /// Whether files that are not in `files` may be read from disk.
    open: bool,
}

impl CampaignText {
    fn read(&self, path: &Path) -> io::Result<String> {
        if let Some(text) = self.files.borrow().get(path) {
            return Ok(text.clone());
        }
        if !self.open {
            return Err(io::ErrorKind::NotFound.into());
        }
        let text = std::fs::read_to_string(self.directory.join(path))?;
        self.files
            .borrow_mut()
            .insert(path.to_owned(), text.clone());
        Ok(text)
    }

    fn is_there(&self, path: &Path) -> bool {
        self.files.borrow().contains_key(path) || self.open && self.directory.join(path).exists()
    }

    fn asked(&self) -> String {
        let files: serde_json::Map<String, Value> = self
            .files
            .borrow()
            .iter()
            .map(|(path, text)| (path.display().to_string(), text.clone().into()))
            .collect();
        serde_json::json!({ "format": 1, "text": self.text, "files": files }).to_string()
    }

    /// A text without a file: the files it names are not read from disk.
    fn closed(origin: impl Into<String>, text: impl Into<String>) -> CampaignText {
        CampaignText {
            origin: origin.into(),
            text: text.into(),
            files: RefCell::default(),
            directory: PathBuf::new(),
            open: false,
        }
    }

    fn kept(name: &str, asked: &str) -> Option<CampaignText> {
        let asked: Value = serde_json::from_str(asked).ok()?;
        let text = asked.get("text")?.as_str()?.to_owned();
        let files = asked
            .get("files")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let files = files
            .filter_map(|(path, text)| Some((PathBuf::from(path), text.as_str()?.to_owned())))
            .collect();
        Some(CampaignText {
            files: RefCell::new(files),
            ..CampaignText::closed(
                both!("{name} (as last run)", "{name}（前回の実行時）"),
                text,
            )
        })
    }
}

/// Finds and parses a campaign, or prints its error with its position.
pub(super) fn load(name: &Path, store: &Store) -> Result<Loaded> {
    let text = find(name, store)?;
    let fio_error: RefCell<Option<FioError>> = RefCell::default();
    let warnings: RefCell<Vec<String>> = RefCell::default();
    let failed = |path: &Path, error| both!("{} cannot be read: {error}", "{}を読み込めません（{error}）"; path.display());
    let read_file = |path: &Path| text.read(path).map_err(|error| failed(path, error));
    let fio = |name: &str, job: &str| {
        let (scenario, of_job) = lower(name, job, &text).map_err(|error| {
            let message = error.to_string();
            *fio_error.borrow_mut() = Some(error);
            message
        })?;
        warnings.borrow_mut().extend(of_job);
        Ok(scenario)
    };
    let around = ResolveContext {
        read_file: &read_file,
        fio: &fio,
    };
    let campaign = resolve::campaign(&text.text, &around).map_err(|error| {
        point_at(&error, &text, fio_error.borrow().as_ref());
        Ended(Exit::Usage)
    })?;
    for warning in warnings.borrow().iter() {
        anstream::eprintln!("{}: {warning}", text::prefix(MessagePrefix::Warning));
    }
    let asked = text.asked();
    Ok(Loaded { campaign, asked })
}

fn find(name: &Path, store: &Store) -> Result<CampaignText> {
    let short = name.to_string_lossy();
    // A directory may have the name of the campaign; a pipe is not a file.
    if name.exists() && !name.is_dir() {
        let text = std::fs::read_to_string(name)
            .named(|| both!("cannot read the campaign file {}", "キャンペーンファイル{}を読み込めません"; name.display()))?;
        let directory = name.parent().unwrap_or(Path::new("")).to_owned();
        return Ok(CampaignText {
            directory,
            open: true,
            ..CampaignText::closed(short, text)
        });
    }
    let stored = store.kept_campaign(&short)?;
    if let Some(stored) = stored.and_then(|asked| CampaignText::kept(&short, &asked)) {
        return Ok(stored);
    }
    if let Some(ready) = ready::ready(&short) {
        let origin = both!("{short} (ready-made)", "{short}（既製）");
        return Ok(CampaignText::closed(origin, ready.text));
    }
    let names: Vec<&str> = ready::READY.iter().map(|ready| ready.name).collect();
    Err(not_there(
        both!("campaign {short} does not exist: no such file, stored campaign or ready-made campaign; help: \
        create a file with `hakaru campaign init`, or use one of {}", "キャンペーン{short}はありません（ファイル、保存済み、既製のいずれにも該当なし）; help: hakaru campaign initで作成するか、{}のいずれかを使ってください"; names.join(", ")),
    ))
}

/// Converts the text of a fio job file to a scenario, with warnings.
fn lower(name: &str, job: &str, text: &CampaignText) -> Result<(Scenario, Vec<String>), FioError> {
    let path = PathBuf::from(format!("{name}.fio"));
    let read_file = |wanted: &Path| {
        if wanted == path {
            Ok(job.as_bytes().to_vec())
        } else {
            text.read(wanted).map(String::into_bytes)
        }
    };
    let path_exists = |wanted: &Path| wanted == path || text.is_there(wanted);
    let args = [OsString::from(&path)];
    let mut invocation = crate::cmd::fio::parse_with(&args, &read_file, &path_exists)?;
    // The repeats of a campaign must use different offsets, so the default seed of fio is removed. A seed set by the
    // author stays.
    let phases = invocation.scenario.phases.iter_mut();
    for (phase, extras) in phases.zip(&invocation.extras) {
        for (job, extras) in phase.jobs.iter_mut().zip(extras) {
            if extras.seed_by_default {
                job.seed = None;
            }
        }
    }
    let warnings = invocation.warnings.iter();
    let warnings = warnings.map(|warning| format!("{name}: {warning}"));
    let warnings = warnings.collect();
    Ok((invocation.scenario, warnings))
}

/// Prints the line with the error, in the campaign file and in a job file that it names.
fn point_at(error: &FileError, text: &CampaignText, fio: Option<&FioError>) {
    let FileError { message, span } = error;
    let (title, cause) = message.split_once('\n').unwrap_or((message, ""));
    let title = &plain(title);
    let mut report = Group::with_title(Level::ERROR.primary_title(title));
    let job_line = fio.and_then(|error| match &error.at {
        Some(Location::File {
            line, text, span, ..
        }) => Some((*line, text.as_str(), span.clone())),
        _ => None,
    });
    let inside = span.clone().zip(job_line.as_ref());
    let inside = inside.and_then(|(span, (_, line, word))| within(&text.text, span, line, word));
    let marked =
        |source, span| Snippet::source(source).annotation(AnnotationKind::Primary.span(span));
    let place = inside.clone().or_else(|| span.clone());
    if let Some(span) = place.and_then(|span| sound(&text.text, span)) {
        let snippet = marked(text.text.as_str(), span);
        report = report.element(snippet.path(text.origin.as_str()));
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

    #[test]
    fn what_is_kept_is_read_back() {
        let files = BTreeMap::from([(PathBuf::from("card.json"), "{}".to_owned())]);
        let text = CampaignText {
            origin: "x".into(),
            text: "name = \"x\"".into(),
            files: RefCell::new(files),
            directory: PathBuf::new(),
            open: true,
        };
        let kept = CampaignText::kept("x", &text.asked()).unwrap();
        assert_eq!(
            (
                kept.text.as_str(),
                kept.read(Path::new("card.json")).unwrap().as_str()
            ),
            ("name = \"x\"", "{}")
        );
        assert!(
            kept.read(Path::new("Cargo.toml")).is_err() && CampaignText::kept("x", "[]").is_none()
        );
    }
}
