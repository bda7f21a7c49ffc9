//! Locations of the database and of reports beside it.

use crate::cmd::unreadable::{self, Unreadable};
use crate::exit::{NamedPath, not_there};
use anyhow::Result;
use hakaru_model::integrity::Verification;
use hakaru_model::record::RunRecord;
use hakaru_store::{Filter, FindError, JournalMode, OpenError, OrphanedRun, Readable, Store};
use std::path::{Path, PathBuf};

/// Returns the path of the given database, or of the user's default one.
pub(crate) fn database(db: Option<&Path>) -> Result<PathBuf> {
    Ok(match db {
        Some(path) => path.to_owned(),
        None => hakaru_store::default_path()?,
    })
}

/// Opens the given database, or the user's default one, creating it if needed.
pub(crate) fn open(db: Option<&Path>) -> Result<Store> {
    let store = Store::open(database(db)?)?;
    if store.journal() == JournalMode::Rollback {
        anstream::eprintln!(
            "note: the file system of {} does not support shared memory (as 9p and network file \
            systems), so the database uses a rollback journal: equally safe, but concurrent \
            commands wait for each other",
            store.path().display()
        );
    }
    note_interrupted(&store);
    Ok(store)
}

/// Opens the user's default database for a front end if `HAKARU_STORE=1` requests that its runs are stored: programs
/// that call fio or iozone do not expect a database in a home directory.
pub(crate) fn open_if_asked() -> Result<Option<Store>> {
    let asked = set("HAKARU_STORE").is_some_and(|value| value != "0");
    let db = from_environment();
    asked.then(|| open(db.as_deref())).transpose()
}

/// Returns the database that the environment names.
pub(crate) fn from_environment() -> Option<PathBuf> {
    set("HAKARU_DB").map(PathBuf::from)
}

/// Returns an environment variable that is not empty.
fn set(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Opens the given database read-only, or the user's default one, which is empty as long as it does not exist.
pub(crate) fn read(db: Option<&Path>) -> Result<Store> {
    match db {
        Some(path) => Ok(with_note(Store::read(path)?)),
        None => read_or_empty(None),
    }
}

/// Like [`read`], but a given database that does not exist is also empty, because the first run creates it.
pub(crate) fn read_or_empty(db: Option<&Path>) -> Result<Store> {
    match Store::read(database(db)?) {
        Err(OpenError::Absent { path }) => Ok(Store::empty(path)?),
        opened => Ok(with_note(opened?)),
    }
}

fn with_note(store: Store) -> Store {
    note_interrupted(&store);
    store
}

fn note_interrupted(store: &Store) {
    let cut_short = hakaru_store::left(store.path())
        .iter()
        .filter(|spool| was_cut_short(store, spool))
        .count();
    let (runs, they) = if cut_short == 1 {
        ("run was", "it")
    } else {
        ("runs were", "they")
    };
    if cut_short > 0 {
        anstream::eprintln!(
            "note: {cut_short} {runs} interrupted; `hakaru recover` stores what {they} measured"
        );
    }
}

fn was_cut_short(store: &Store, spool: &Path) -> bool {
    matches!(store.look_into(spool), Ok(OrphanedRun::Run(_)))
}

/// Returns the verification with this ID if no run has it; `latest` is a verification only if there are no runs.
pub(crate) fn verification(store: &Store, name: &str) -> Result<Option<Verification>> {
    let run_is_there = match name {
        "latest" => store.count()? > 0,
        name => !matches!(store.run(name), Err(FindError::NotFound { .. })),
    };
    if run_is_there {
        return Ok(None);
    }
    if name == "latest" {
        return Ok(store.latest_verification()?);
    }
    match store.verification(name) {
        Err(FindError::NotFound { .. }) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Like [`verification`], with an unreadable record listed separately.
pub(crate) fn readable_verification(
    store: &Store,
    name: &str,
) -> Result<Option<Readable<Verification>>> {
    match verification(store, name) {
        Ok(found) => Ok(found.map(|found| Readable {
            records: vec![found],
            unreadable: Vec::new(),
        })),
        Err(error) => match error.downcast::<FindError>() {
            Ok(error) if error.is_unreadable() => Ok(Some(Readable {
                records: Vec::new(),
                unreadable: vec![(name.to_owned(), error)],
            })),
            Ok(error) => Err(error.into()),
            Err(error) => Err(error),
        },
    }
}

/// Returns the run with this ID, or its whole series; `latest` is the newest run.
pub(crate) fn runs(store: &Store, name: &str, series: bool) -> Result<Vec<RunRecord>> {
    Unreadable::default().skip_some("run", readable_runs(store, name, series)?)
}

/// Like [`runs`], with unreadable records listed separately.
pub(crate) fn readable_runs(
    store: &Store,
    name: &str,
    series: bool,
) -> Result<Readable<RunRecord>> {
    let id = match name {
        "latest" => {
            let newest = Filter {
                limit: Some(1),
                ..Filter::default()
            };
            let newest = store.runs(&newest)?.into_iter().next();
            let none = "no runs are stored yet; help: create one with `hakaru bench`";
            newest.ok_or_else(|| not_there(none))?.id
        }
        name => name.to_owned(),
    };
    match series {
        true => Ok(store.readable_series(&store.series_id(&id)?)?),
        false => Ok(unreadable::one(&id, store.run(&id))?),
    }
}

/// Whether output goes to standard output, given as `-`.
pub(crate) fn is_stdout(output: Option<&Path>) -> bool {
    output == Some(Path::new("-"))
}

/// Writes a report to the given file, or beside the database.
pub(crate) fn write_report(
    store: &Store,
    named: Option<&Path>,
    series: &str,
    text: &str,
) -> Result<PathBuf> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => {
            let directory = store.path().parent().unwrap_or(Path::new("."));
            let directory = directory.join("reports");
            std::fs::create_dir_all(&directory).named(|| {
                format!(
                    "cannot create the directory {} for reports; help: name a file with --output",
                    directory.display()
                )
            })?;
            directory.join(format!("{series}.html"))
        }
    };
    write_page(&path, text.as_bytes())?;
    Ok(path)
}

/// Writes a report of any format to the given file.
pub(crate) fn write_page(path: &Path, content: &[u8]) -> Result<()> {
    crate::output::write(path, content).named(|| {
        format!(
            "cannot write the report to {}; help: name a file with --output",
            path.display()
        )
    })
}
