//! Finds a campaign by its name, and prints errors with their position in its file.
//!
//! A name is looked up as a file, then as a stored campaign, then as a template.

use crate::exit::{Exit, NamedPath, not_there};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anyhow::Result;
use hakaru_campaign::campaign::file::FileError;
use hakaru_campaign::campaign::ready;
use hakaru_campaign::campaign::resolve::{self, ResolveContext};
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_dialects::fio::{FioError, Location, ParseContext};
use hakaru_model::job::Scenario;
use hakaru_report::plain;
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
    /// Files read so far that the campaign names, by path relative to `folder`.
    files: RefCell<BTreeMap<PathBuf, String>>,
    folder: PathBuf,
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
        let text = std::fs::read_to_string(self.folder.join(path))?;
        self.files
            .borrow_mut()
            .insert(path.to_owned(), text.clone());
        Ok(text)
    }

    fn is_there(&self, path: &Path) -> bool {
        self.files.borrow().contains_key(path) || self.open && self.folder.join(path).exists()
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
        let origin = format!("{name} (as last run)");
        Some(CampaignText {
            origin,
            text,
            files: RefCell::new(files),
            folder: PathBuf::new(),
            open: false,
        })
    }
}

/// Finds and parses a campaign. Prints an error in the campaign with its position, and returns the exit code.
pub(super) fn load(name: &Path, store: &Store) -> Result<Result<Loaded, Exit>> {
    let text = find(name, store)?;
    let fio_error: RefCell<Option<FioError>> = RefCell::default();
    let warnings: RefCell<Vec<String>> = RefCell::default();
    let read_file = |path: &Path| {
        text.read(path)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let fio = |name: &str, job: &str| {
        let (scenario, told) = lower(name, job, &text).map_err(|error| {
            let message = error.to_string();
            *fio_error.borrow_mut() = Some(error);
            message
        })?;
        warnings.borrow_mut().extend(told);
        Ok(scenario)
    };
    let around = ResolveContext {
        read_file: &read_file,
        fio: &fio,
    };
    match resolve::campaign(&text.text, &around) {
        Ok(campaign) => {
            warnings
                .into_inner()
                .iter()
                .for_each(|warning| anstream::eprintln!("warning: {warning}"));
            Ok(Ok(Loaded {
                campaign,
                asked: text.asked(),
            }))
        }
        Err(error) => {
            point_at(&error, &text, fio_error.into_inner().as_ref());
            Ok(Err(Exit::Usage))
        }
    }
}

fn find(name: &Path, store: &Store) -> Result<CampaignText> {
    let short = name.to_string_lossy();
    // A directory may have the name of the campaign; a pipe is not a file.
    if name.exists() && !name.is_dir() {
        let text = std::fs::read_to_string(name)
            .named(|| format!("cannot read the campaign file {}", name.display()))?;
        let folder = name.parent().unwrap_or(Path::new("")).to_owned();
        return Ok(CampaignText {
            origin: short.into_owned(),
            text,
            files: RefCell::default(),
            folder,
            open: true,
        });
    }
    if let Some(kept) = store
        .kept_campaign(&short)?
        .and_then(|asked| CampaignText::kept(&short, &asked))
    {
        return Ok(kept);
    }
    if let Some(ready) = ready::ready(&short) {
        let text = ready.text.to_owned();
        let origin = format!("{short} (ready-made)");
        return Ok(CampaignText {
            origin,
            text,
            files: RefCell::default(),
            folder: PathBuf::new(),
            open: false,
        });
    }
    let names: Vec<&str> = ready::READY.iter().map(|ready| ready.name).collect();
    Err(not_there(format!(
        "campaign {} does not exist: no such file, stored campaign or ready-made campaign; help: \
        create a file with `hakaru campaign init`, or use one of {}",
        name.display(),
        names.join(", ")
    )))
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
    let context = ParseContext {
        env: &|name| std::env::var(name).ok(),
        read_file: &read_file,
        path_exists: &|wanted| wanted == path || text.is_there(wanted),
        cpu_count: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        page_size: rustix::param::page_size() as u64,
        memory_mb: crate::cmd::fio::memory_mb(),
    };
    let args = [OsString::from(&path)];
    let mut invocation = hakaru_dialects::fio::parse(&args, &context)?;
    // The repeats of a campaign must use different offsets, so the default seed of fio is removed. A seed set by the
    // author stays.
    for (phase, extras) in invocation
        .scenario
        .phases
        .iter_mut()
        .zip(&invocation.extras)
    {
        for (job, _) in phase
            .jobs
            .iter_mut()
            .zip(extras)
            .filter(|(_, extras)| extras.seed_by_default)
        {
            job.seed = None;
        }
    }
    let warnings = invocation
        .warnings
        .iter()
        .map(|warning| format!("{name}: {warning}"))
        .collect();
    Ok((invocation.scenario, warnings))
}

/// Prints the line with the error, in the campaign file and in a job file that it names.
fn point_at(error: &FileError, text: &CampaignText, fio: Option<&FioError>) {
    let FileError { message, span } = error;
    let (title, cause) = message.split_once('\n').unwrap_or((message, ""));
    let title = &plain(title);
    let mut report = vec![Group::with_title(Level::ERROR.primary_title(title))];
    let job_line = fio.and_then(|error| match &error.at {
        Some(Location::File {
            line, text, span, ..
        }) => Some((*line, text.as_str(), span.clone())),
        _ => None,
    });
    let inside = span
        .clone()
        .zip(job_line.as_ref())
        .and_then(|(span, (_, line, word))| {
            // Errors in an inline job file point into the campaign file.
            let at = span.start + text.text.get(span)?.find(*line)?;
            Some(at + word.start..at + word.end)
        });
    let place = inside
        .clone()
        .or_else(|| span.clone())
        .and_then(|span| sound(&text.text, span));
    if let Some(span) = place {
        let snippet = Snippet::source(text.text.as_str()).path(text.origin.as_str());
        report = vec![
            report
                .remove(0)
                .element(snippet.annotation(AnnotationKind::Primary.span(span))),
        ];
    }
    if let (None, Some((number, line, word))) = (inside, job_line)
        && let Some(word) = sound(line, word)
    {
        let snippet = Snippet::source(line)
            .line_start(number)
            .path("the job file");
        report = vec![
            report
                .remove(0)
                .element(snippet.annotation(AnnotationKind::Primary.span(word))),
        ];
    }
    let help = help(title, cause);
    report = vec![report.remove(0).element(Level::HELP.message(help))];
    anstream::eprintln!("{}", Renderer::styled().render(&report));
}

/// Returns the part of a span on one line; `None` if it cannot be shown.
fn sound(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let word = text.get(span.start..span.end.min(text.len()))?;
    let end = span.start + word.find('\n').unwrap_or(word.len());
    Some(span.start..end)
}

/// Advice for the user.
fn help(title: &str, cause: &str) -> String {
    let names: Vec<&str> = title.split('`').skip(1).step_by(2).collect();
    let nearest = names
        .split_first()
        .filter(|_| title.starts_with("unknown field"))
        .and_then(|(wrong, known)| {
            let near = known.iter().map(|name| (distance(wrong, name), name));
            near.filter(|(distance, _)| *distance <= 3)
                .min()
                .map(|(_, name)| *name)
        });
    match nearest {
        Some(name) => format!("did you mean `{name}`? See docs/CAMPAIGNS.md for all keys"),
        None if !cause.is_empty() => plain(&cause.replace('\n', "; ")),
        None => {
            "see docs/CAMPAIGNS.md for all keys, and `hakaru campaign init --list` for ready-made \
            files"
                .to_owned()
        }
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
        let told = help(
            "unknown field `repaets`, expected one of `name`, `repeats`, `order`",
            "",
        );
        assert!(told.starts_with("did you mean `repeats`?"), "{told}");
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
            folder: PathBuf::new(),
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
