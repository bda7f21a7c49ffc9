//! Errors of looking up stored records.

use crate::{ImportError, StoreError};
use std::path::PathBuf;

/// Errors of looking up a stored record.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No ID matches.
    #[error("no {what} in {} has the name or ID `{prefix}`; help: `hakaru list` shows the stored ones", path.display())]
    NotFound {
        /// `run` or `series`.
        what: &'static str,
        /// The ID or prefix that was searched for.
        prefix: String,
        /// The database.
        path: PathBuf,
    },
    /// Several IDs match.
    #[error("{count} {what} have IDs that start with {prefix:?}; type more digits of one of these:\n  {}{}", candidates.join("\n  "),
        if *count > candidates.len() as u64 { "\n  …" } else { "" })]
    Ambiguous {
        /// `runs` or `series`.
        what: &'static str,
        /// The ID prefix that was searched for.
        prefix: String,
        /// Number of matches.
        count: u64,
        /// The first matches: ID, scenario, target.
        candidates: Vec<String>,
    },
    /// The record exists, but this version cannot read it.
    #[error(transparent)]
    Unreadable(#[from] ImportError),
    /// A verification or anatomy that a newer version stored.
    #[error(
        "{what} {id} has format {found}, and this build reads formats up to {newest}: a newer hakaru stored it, \
         so use that version or a later one"
    )]
    Newer {
        /// `verification` or `anatomy`.
        what: &'static str,
        /// Its ID.
        id: String,
        /// Its format.
        found: u32,
        /// The newest format this version reads.
        newest: u32,
    },
    /// A verification or anatomy with missing or invalid fields.
    #[error("{what} {id} is damaged: {source}")]
    Damaged {
        /// `verification` or `anatomy`.
        what: &'static str,
        /// Its ID.
        id: String,
        /// The error of the JSON parser.
        #[source]
        source: serde_json::Error,
    },
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FindError {
    /// Whether only this record is unreadable; other records can still be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(
            self,
            FindError::Unreadable(_) | FindError::Newer { .. } | FindError::Damaged { .. }
        )
    }
}
