//! Published and own reference results.

use anyhow::{Context, Result};
use hakaru_model::references::ReferenceSet;
use hakaru_store::Store;
use std::path::{Path, PathBuf};

/// Returns the published reference results and those of the user.
pub fn with_published(own: &ReferenceSet) -> ReferenceSet {
    let mut all = hakaru_analysis::published_references();
    all.sources.extend(own.sources.iter().cloned());
    all.entries.extend(own.entries.iter().cloned());
    all
}

/// Returns the path of the user's own reference results, beside the database.
pub fn own_path(store: &Store) -> PathBuf {
    own_path_beside(store.path())
}

/// Returns the path of the user's own reference results beside a database.
pub fn own_path_beside(database: &Path) -> PathBuf {
    database.with_file_name("shelf.json")
}

/// Loads the user's own reference results; empty if there are none.
///
/// # Errors
/// If the file cannot be read, or holds no reference results.
pub fn own(store: &Store) -> Result<ReferenceSet> {
    let path = own_path(store);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(ReferenceSet::default());
        }
        Err(error) => {
            return Err(error).with_context(|| {
                both!("cannot read your reference results in {}", "参考値{}を読み込めません"; path.display())
            });
        }
    };
    hakaru_model::json::from_str(&text).with_context(|| {
        both!("{} holds no reference results; help: repair it, or move it away to start a new file", "{}に参考値がありません; help: 修復するか、別の場所に移して新しく始めてください"; path.display())
    })
}
