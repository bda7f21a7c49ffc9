//! Where things are kept: the database, and reports beside it.

use anyhow::{Context, Result};
use hakaru_store::Store;
use std::path::{Path, PathBuf};

/// Opens the named database, or the user's own.
pub(crate) fn open(db: Option<&Path>) -> Result<Store> {
    Ok(match db {
        Some(path) => Store::open(path)?,
        None => Store::open_default()?,
    })
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
    std::fs::write(&path, text)
        .with_context(|| format!("cannot write the report to {}; name a file with --output", path.display()))?;
    Ok(path)
}
