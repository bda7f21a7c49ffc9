//! Records as JSON, one object per line: the stored, exported and imported form.

use hakaru_model::job::{Job, Target};
use hakaru_model::record::{FORMAT, RunRecord};
use std::path::PathBuf;

/// The record cannot be written as JSON.
#[derive(Debug, thiserror::Error)]
#[error("failed to write run {id} as JSON: {source}")]
pub struct ExportError {
    /// The run.
    pub id: String,
    /// The error of the JSON writer.
    #[source]
    pub source: serde_json::Error,
}

/// Errors of [`import`].
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Not a JSON object with a format number.
    #[error(
        "not a complete hakaru run record: {source}; help: a record is one line of JSON, as \
        written by `hakaru export`"
    )]
    NotARecord {
        /// The error of the JSON parser.
        #[source]
        source: serde_json::Error,
    },
    /// Written by a later version.
    #[error(
        "run {id} has record format {found}, but this version reads formats up to {newest}; help: \
        use the hakaru version that wrote it, or a later one"
    )]
    Newer {
        /// The run ID; `?` if the record has none.
        id: String,
        /// Its format.
        found: u32,
        /// The newest format this version reads.
        newest: u32,
    },
    /// A format number that no version has used.
    #[error("run {id} has record format {found}, which does not exist")]
    NoSuchFormat {
        /// The run ID; `?` if the record has none.
        id: String,
        /// Its format.
        found: u32,
    },
    /// A known format with missing or invalid fields.
    #[error("run {id} is damaged or was edited: {source} (record format {format})")]
    Damaged {
        /// The run ID; `?` if the record has none.
        id: String,
        /// Its format.
        format: u32,
        /// The error of the JSON parser.
        #[source]
        source: serde_json::Error,
    },
}

/// Serializes a record as one line of JSON, without a trailing newline.
///
/// In paths that are not UTF-8, invalid bytes are replaced by U+FFFD: JSON cannot represent them.
///
/// # Errors
/// [`ExportError`] if a value has no JSON form.
pub fn export(record: &RunRecord) -> Result<String, ExportError> {
    let mut printable;
    let record = match record.to_json() {
        Ok(text) => return Ok(text),
        Err(_) => {
            printable = record.clone();
            for path in paths(&mut printable) {
                *path = PathBuf::from(path.to_string_lossy().into_owned());
            }
            &printable
        }
    };
    record.to_json().map_err(|source| ExportError {
        id: record.id.clone(),
        source,
    })
}

/// Returns all paths in a record.
fn paths(record: &mut RunRecord) -> Vec<&mut PathBuf> {
    let target = &mut record.target;
    let mut all = vec![&mut target.path];
    all.extend(target.filesystem.as_mut().map(|fs| &mut fs.mount_point));
    if let hakaru_model::facts::Fact::Known(device) = &mut target.device {
        all.push(&mut device.node);
    }
    let phases = record.scenario.phases.iter_mut();
    all.extend(
        phases
            .flat_map(|phase| &mut phase.jobs)
            .flat_map(paths_of_job),
    );
    let phases = record.phases.iter_mut();
    let errors = phases
        .flat_map(|phase| &mut phase.workers)
        .flat_map(|worker| &mut worker.errors.first);
    let mismatches = errors.flat_map(|error| &mut error.mismatches);
    for saved in mismatches.filter_map(|mismatch| mismatch.saved.as_mut()) {
        all.push(&mut saved.received);
        all.extend(&mut saved.expected);
    }
    all
}

fn paths_of_job(job: &mut Job) -> Vec<&mut PathBuf> {
    let mut all = Vec::new();
    all.extend(
        job.verify
            .iter_mut()
            .filter_map(|verify| verify.folder.as_mut()),
    );
    let replay = &mut job.replay;
    all.extend(&mut replay.read);
    all.extend(&mut replay.write);
    all.extend(&mut replay.redirect);
    match &mut job.target {
        Target::Paths(paths) => all.extend(paths),
        Target::Formatted { directories, .. } => all.extend(directories),
        Target::Nothing | Target::Sim(_) => {}
    }
    all
}

/// The fields of every format: enough to distinguish a newer record from a damaged one.
#[derive(serde::Deserialize)]
struct RecordHead {
    format: u32,
    #[serde(default)]
    id: Option<String>,
}

/// Parses a record of any format up to the current one.
///
/// # Errors
/// [`ImportError`]: not a record, of a newer format, or damaged.
pub fn import(text: &str) -> Result<RunRecord, ImportError> {
    // Almost every text is a record of this format, so its form is looked at only if it is not.
    if let Ok(record) = RunRecord::from_json(text)
        && record.format == FORMAT
    {
        return Ok(record);
    }
    let head: RecordHead =
        hakaru_model::json::from_str(text).map_err(|source| ImportError::NotARecord { source })?;
    let id = head.id.unwrap_or_else(|| "?".to_owned());
    match head.format {
        1 => RunRecord::from_json(text).map_err(|source| ImportError::Damaged {
            id,
            format: 1,
            source,
        }),
        found if found > FORMAT => Err(ImportError::Newer {
            id,
            found,
            newest: FORMAT,
        }),
        found => Err(ImportError::NoSuchFormat { id, found }),
    }
}

/// Parses records from lines of JSON, each with its line number from 1; empty lines are skipped.
pub fn import_lines(
    text: &str,
) -> impl Iterator<Item = (usize, Result<RunRecord, ImportError>)> + '_ {
    let lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line));
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| (number, import(line)))
}
