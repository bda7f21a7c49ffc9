//! The person or script at the bench, as the runner sees them: who puts cards in, allows what destroys, and watches.

use super::matrix::Point;
use super::spec::Card;
use hakaru_device::ScanProgress;
use hakaru_device::guard::{Candidate, Confirmation};
use hakaru_engine::Observer;
use hakaru_model::record::RunRecord;
use std::path::PathBuf;
use std::time::Duration;

/// A disk that is there and could be a card under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateDisk {
    /// Its node.
    pub node: PathBuf,
    /// What it is called.
    pub name: String,
    /// What it answers to.
    pub ids: Vec<String>,
    /// The card of this campaign it was measured as, if it was.
    pub label: Option<String>,
}

/// What is to be done about a card that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorReply {
    /// Look again: it was put in.
    LookAgain,
    /// It is this one.
    Here(PathBuf),
    /// Go on without it.
    Skip,
    /// Stop; a later run goes on from here.
    Stop,
}

/// How far a campaign has come.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignStatus {
    /// The point that begins.
    pub point: Point,
    /// Card, layer and workload by name.
    pub names: [String; 3],
    /// Number of this run, counted from 1 with those that were stored before.
    pub number: u64,
    /// Runs there will be at most.
    pub of: u64,
    /// Time that is left, as far as it can be told.
    pub left: Duration,
}

/// The person or script at the bench.
pub trait Operator: Observer {
    /// A card is wanted and none of those that are there is it.
    fn insert(&mut self, wanted: &Card, why: &str, seen: &[CandidateDisk]) -> OperatorReply;
    /// A card is about to be erased. `None` forbids it.
    fn may_erase(&mut self, card: &Card, candidate: &Candidate) -> Option<Confirmation>;
    /// A run begins.
    fn begins(&mut self, _progressed: &CampaignStatus) {}
    /// Something is being done to the storage.
    fn preparing(&mut self, _what: &str, _progress: Option<ScanProgress>) {}
    /// A run is stored and counts.
    fn stored(&mut self, _record: &RunRecord) {}
    /// Something the user should know.
    fn note(&mut self, _text: &str) {}
}
