//! Outcomes and errors of a campaign.

use crate::session::UnstoredRecord;
use hakaru_store::{FindError, StoreError};
use std::path::PathBuf;

/// Outcome of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignOutcome {
    /// Every point is stored.
    Complete,
    /// Some points could not be measured; a later run tries them again.
    Incomplete,
    /// The operator stopped it.
    Stopped,
    /// Its time limit was reached.
    TimeUp,
}

/// Results of carrying out a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignResult {
    /// The outcome.
    pub end: CampaignOutcome,
    /// Number of runs stored by this call.
    pub stored: u64,
    /// Number of runs that count, including earlier ones.
    pub done: u64,
    /// Failed runs with the reasons as text.
    pub failures: Vec<(String, String)>,
    /// Skipped cards with the reasons.
    pub skipped: Vec<(String, String)>,
}

/// Errors that end a campaign.
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
