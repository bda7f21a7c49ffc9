//! How carrying out a campaign ends, and why it cannot go on.

use crate::session::UnstoredRecord;
use hakaru_store::{FindError, StoreError};
use std::path::PathBuf;

/// How a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignOutcome {
    /// Every point is stored.
    Complete,
    /// Some points could not be measured; a later run tries them again.
    Incomplete,
    /// Somebody stopped it.
    Stopped,
    /// Its time is over.
    TimeUp,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignResult {
    /// How it ended.
    pub end: CampaignOutcome,
    /// Runs that were stored now.
    pub stored: u64,
    /// Runs that count, with those from before.
    pub done: u64,
    /// Runs that did not come to their end, and why, in words.
    pub failures: Vec<(String, String)>,
    /// Cards that were left out, and why.
    pub skipped: Vec<(String, String)>,
}

/// Why a campaign cannot go on at all.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum CampaignError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Unstored(#[from] UnstoredRecord),
    #[error("the directory {} for campaigns in progress cannot be {doing}: {source}", .path.display())]
    State {
        path: PathBuf,
        doing: &'static str,
        source: std::io::Error,
    },
    #[error(
        "campaign {id} is already running in another process; help: wait for that process or \
        stop it"
    )]
    Busy { id: String },
}
