//! Where things are kept: the database, and reports beside it.

use anyhow::{Context, Result};
use hakaru_model::integrity::Verification;
use hakaru_store::{CutShort, FindError, Journal, Store};
use std::path::{Path, PathBuf};

/// Where the named database is, or the user's own.
pub(crate) fn database(db: Option<&Path>) -> Result<PathBuf> {
    Ok(match db {
        Some(path) => path.to_owned(),
        None => hakaru_store::default_path()?,
    })
}

/// Opens the named database, or the user's own.
pub(crate) fn open(db: Option<&Path>) -> Result<Store> {
    let store = Store::open(database(db)?)?;
    if store.journal() == Journal::Rollback {
        anstream::eprintln!(
            "note: the file system under {} lets no memory be shared (9p and network file systems do not), so the \
             database uses an older journal: just as safe, but commands that run at once wait for each other",
            store.path().display()
        );
    }
    let cut_short = hakaru_store::left(store.path()).iter().filter(|spool| was_cut_short(&store, spool)).count();
    if cut_short > 0 {
        anstream::eprintln!("note: {cut_short} run(s) were cut short: `hakaru recover` keeps what they had measured");
    }
    Ok(store)
}

fn was_cut_short(store: &Store, spool: &Path) -> bool {
    matches!(store.look_into(spool), Ok(CutShort::Run(_)))
}

/// The verification of that name, where no run has it; `latest` names one only where there is no run.
pub(crate) fn verification(store: &Store, name: &str) -> Result<Option<Verification>> {
    let run_is_there = match name {
        "latest" => store.latest()?.is_some(),
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

/// Whether output is to go to standard output, for which `-` stands.
pub(crate) fn is_stdout(output: Option<&Path>) -> bool {
    output == Some(Path::new("-"))
}

/// Writes a report. Beside the database unless a place is named.
pub(crate) fn write_report(store: &Store, named: Option<&Path>, series: &str, text: &str) -> Result<PathBuf> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => {
            let folder = store.path().parent().unwrap_or(Path::new(".")).join("reports");
            std::fs::create_dir_all(&folder).with_context(|| {
                format!("cannot make the folder {} for reports; name a file with --output", folder.display())
            })?;
            folder.join(format!("{series}.html"))
        }
    };
    write_page(&path, text.as_bytes())?;
    Ok(path)
}

/// Writes a report of any form to the file that was named.
pub(crate) fn write_page(path: &Path, content: &[u8]) -> Result<()> {
    std::fs::write(path, content)
        .with_context(|| format!("cannot write the report to {}; name a file with --output", path.display()))
}
