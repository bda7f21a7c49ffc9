//! Records as text, one JSON object a line: what is stored, exported, and imported again by this and every later build.

use hakaru_model::job::Target;
use hakaru_model::record::{FORMAT, RunRecord};
use std::path::PathBuf;

/// Why a record has no text form.
#[derive(Debug, thiserror::Error)]
#[error("failed to write run {id} as JSON: {source}")]
pub struct ExportError {
    /// The run.
    pub id: String,
    /// What the JSON writer says.
    #[source]
    pub source: serde_json::Error,
}

/// Why a text is not a record.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The text is not a JSON object with the number of its format.
    #[error(
        "this is no whole run record of hakaru: {source}. A record is one line of JSON, as `hakaru export` writes it"
    )]
    NotARecord {
        /// What the JSON reader says.
        #[source]
        source: serde_json::Error,
    },
    /// A later build wrote it.
    #[error(
        "run {id} has record format {found}, and this build reads formats up to {newest}: \
         a newer hakaru wrote it, so use that version or a later one"
    )]
    Newer {
        /// The run; `?` when the record does not say.
        id: String,
        /// Its format.
        found: u32,
        /// The newest format known.
        newest: u32,
    },
    /// No build ever wrote such a format.
    #[error("run {id} has record format {found}, which no hakaru ever wrote")]
    NoSuchFormat {
        /// The run; `?` when the record does not say.
        id: String,
        /// Its format.
        found: u32,
    },
    /// It has a format, but not the fields of it.
    #[error("run {id} is damaged or was edited: {source} (record format {format})")]
    Damaged {
        /// The run; `?` when the record does not say.
        id: String,
        /// Its format.
        format: u32,
        /// What the JSON reader says.
        #[source]
        source: serde_json::Error,
    },
}

/// Writes a record as one line of JSON, without a line break at the end.
///
/// Paths that are not UTF-8 have their odd bytes replaced by U+FFFD, because JSON cannot carry them and a measurement
/// is worth more than the exact name of its file.
///
/// # Errors
/// [`ExportError`] when a value has no JSON form.
pub fn export(record: &RunRecord) -> Result<String, ExportError> {
    let mut printable;
    let record = match serde_json::to_string(record) {
        Ok(text) => return Ok(text),
        Err(_) => {
            printable = record.clone();
            for path in paths(&mut printable) {
                *path = PathBuf::from(path.to_string_lossy().into_owned());
            }
            &printable
        }
    };
    serde_json::to_string(record).map_err(|source| ExportError {
        id: record.id.clone(),
        source,
    })
}

/// Every path that a record holds.
fn paths(record: &mut RunRecord) -> Vec<&mut PathBuf> {
    let mut all = vec![&mut record.target.path];
    all.extend(
        record
            .target
            .filesystem
            .as_mut()
            .map(|fs| &mut fs.mount_point),
    );
    if let hakaru_model::facts::Fact::Known(device) = &mut record.target.device {
        all.push(&mut device.node);
    }
    for job in record
        .scenario
        .phases
        .iter_mut()
        .flat_map(|phase| &mut phase.jobs)
    {
        let replay = &mut job.replay;
        all.extend(
            job.verify
                .as_mut()
                .and_then(|verify| verify.folder.as_mut()),
        );
        all.extend(
            replay
                .read
                .iter_mut()
                .chain(&mut replay.write)
                .chain(&mut replay.redirect),
        );
        match &mut job.target {
            Target::Paths(paths) => all.extend(paths),
            Target::Formatted { directories, .. } => all.extend(directories),
            Target::Nothing | Target::Sim(_) => {}
        }
    }
    let errors = record
        .phases
        .iter_mut()
        .flat_map(|phase| &mut phase.workers)
        .flat_map(|worker| &mut worker.errors.first);
    for saved in errors
        .flat_map(|error| &mut error.mismatches)
        .filter_map(|mismatch| mismatch.saved.as_mut())
    {
        all.push(&mut saved.received);
        all.extend(&mut saved.expected);
    }
    all
}

/// What every format has: enough to tell a record of the future from a damaged one.
#[derive(serde::Deserialize)]
struct RecordHead {
    format: u32,
    #[serde(default)]
    id: Option<String>,
}

/// Reads a record of any format that a build up to this one has written.
///
/// # Errors
/// [`ImportError`]: not a record, of a newer format, or damaged.
pub fn import(text: &str) -> Result<RunRecord, ImportError> {
    let head: RecordHead =
        serde_json::from_str(text).map_err(|source| ImportError::NotARecord { source })?;
    let id = head.id.unwrap_or_else(|| "?".to_owned());
    match head.format {
        1 => serde_json::from_str(text).map_err(|source| ImportError::Damaged {
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

/// Reads records from lines of JSON, each with its line number from 1; empty lines are passed over.
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
