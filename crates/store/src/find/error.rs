//! Why a record was not found.

use crate::{ImportError, StoreError};
use std::path::PathBuf;

/// Why a record was not found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing begins so.
    #[error("no {what} begins with {prefix:?} in the database {}; `hakaru list` shows what there is", path.display())]
    NotFound {
        /// `run` or `series`.
        what: &'static str,
        /// What was asked for.
        prefix: String,
        /// The database.
        path: PathBuf,
    },
    /// Several begin so.
    #[error("{count} {what} have IDs that start with {prefix:?}; type more digits of one of these:\n  {}{}", candidates.join("\n  "),
        if *count > candidates.len() as u64 { "\n  …" } else { "" })]
    Ambiguous {
        /// `runs` or `series`.
        what: &'static str,
        /// What was asked for.
        prefix: String,
        /// How many there are.
        count: u64,
        /// The first of them: id, scenario, target.
        candidates: Vec<String>,
    },
    /// It is there, and this build cannot read it.
    #[error(transparent)]
    Unreadable(#[from] ImportError),
    /// A verification that a newer build stored.
    #[error(
        "verification {id} has format {found}, and this build reads formats up to {newest}: a newer hakaru stored it, \
         so use that version or a later one"
    )]
    Newer {
        /// Its id.
        id: String,
        /// Its format.
        found: u32,
        /// The newest format known.
        newest: u32,
    },
    /// A verification that has lost its form.
    #[error("verification {id} is damaged: {source}")]
    Damaged {
        /// Its id.
        id: String,
        /// What the JSON reader says.
        #[source]
        source: serde_json::Error,
    },
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FindError {
    /// Whether the record is there and this build cannot read it, which is no reason to leave out any other.
    pub fn is_unreadable(&self) -> bool {
        matches!(
            self,
            FindError::Unreadable(_) | FindError::Newer { .. } | FindError::Damaged { .. }
        )
    }
}
