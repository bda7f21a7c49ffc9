//! Campaigns by name: files, stored campaigns and templates.
//!
//! A stored campaign has priority over a template of the same name.

pub mod documents;

use crate::fio_jobs::parse_with;
use crate::{NamedPath, not_there};
use anyhow::Result;
use hakaru_campaign::campaign::file::FileError;
use hakaru_campaign::campaign::ready;
use hakaru_campaign::campaign::resolve::{self, ResolveContext};
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_dialects::fio::FioError;
use hakaru_model::job::Scenario;
use hakaru_store::Store;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The text of a campaign and of the files it names.
pub struct CampaignText {
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
    /// Reads a campaign file; the files it names are read from its directory.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_file(path: &Path) -> Result<CampaignText> {
        let text = std::fs::read_to_string(path)
            .named(|| both!("cannot read the campaign file {}", "キャンペーンファイル{}を読み込めません"; path.display()))?;
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(CampaignText {
            directory,
            open: true,
            ..CampaignText::closed(path.to_string_lossy(), text)
        })
    }

    /// Reads a campaign from the JSON that [`LoadedCampaign::asked`] holds. No file is read. `None` if it is not that.
    pub fn of_asked(name: &str, asked: &str) -> Option<CampaignText> {
        CampaignText::kept(name, asked)
    }

    /// Returns the text of a campaign that names no files.
    pub fn of_text(origin: &str, text: String) -> CampaignText {
        CampaignText::closed(origin, text)
    }

    /// Returns the file name or other origin of the text, for messages.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the text of the campaign file.
    pub fn text(&self) -> &str {
        &self.text
    }

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

/// A campaign with the text from which it was parsed.
pub struct LoadedCampaign {
    /// The campaign.
    pub campaign: Campaign,
    /// The campaign file and the files it names, as JSON for the store, so that reports do not need the files.
    pub asked: String,
    /// Warnings about its job files.
    pub warnings: Vec<String>,
}

/// An error in a campaign file.
pub struct InvalidCampaign {
    /// The error, with its position in the campaign file.
    pub error: FileError,
    /// The error in a job file that the campaign contains or names.
    pub fio: Option<FioError>,
    /// The text with the error.
    pub text: CampaignText,
}

/// Parses and validates a campaign.
///
/// # Errors
/// [`InvalidCampaign`] with the position of the invalid text.
pub fn parse(text: CampaignText) -> Result<LoadedCampaign, Box<InvalidCampaign>> {
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
    match resolve::campaign(&text.text, &around) {
        Ok(campaign) => Ok(LoadedCampaign {
            campaign,
            asked: text.asked(),
            warnings: warnings.take(),
        }),
        Err(error) => Err(Box::new(InvalidCampaign {
            error,
            fio: fio_error.take(),
            text,
        })),
    }
}

/// Finds a stored campaign by its ID. No file is read.
///
/// # Errors
/// If there is none, or the database cannot be read.
pub fn find_stored(name: &str, store: &Store) -> Result<CampaignText> {
    let stored = store.kept_campaign(name)?;
    let stored = stored.and_then(|asked| CampaignText::kept(name, &asked));
    stored.ok_or_else(|| {
        not_there(both!(
            "no campaign {name} is stored",
            "キャンペーン{name}は保存されていません"
        ))
    })
}

/// Finds a stored campaign or a template by its name. No file is read.
///
/// # Errors
/// If there is none, or the database cannot be read.
pub fn find(name: &str, store: &Store) -> Result<CampaignText> {
    let stored = store.kept_campaign(name)?;
    if let Some(stored) = stored.and_then(|asked| CampaignText::kept(name, &asked)) {
        return Ok(stored);
    }
    if let Some(ready) = ready::ready(name) {
        let origin = both!("{name} (ready-made)", "{name}（既製）");
        return Ok(CampaignText::closed(origin, ready.localized()));
    }
    let names: Vec<&str> = ready::READY.iter().map(|ready| ready.name).collect();
    Err(not_there(
        both!("campaign {name} does not exist: no such file, stored campaign or ready-made campaign; help: \
        create a file with `hakaru campaign init`, or use one of {}", "キャンペーン{name}はありません（ファイル、保存済み、既製のいずれにも該当なし）; help: hakaru campaign initで作成するか、{}のいずれかを使ってください"; names.join(", ")),
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
    let mut invocation = parse_with(&args, &read_file, &path_exists)?;
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

#[cfg(test)]
mod tests {
    use super::*;

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
