//! The interface to the user or script: inserts cards, permits erasing, and receives progress.

use super::matrix::Point;
use super::spec::Card;
use hakaru_device::ScanProgress;
use hakaru_device::guard::{Candidate, Confirmation};
use hakaru_engine::Observer;
use hakaru_model::record::RunRecord;
use hakaru_report::both;
use hakaru_store::live::LivePublisher;
use std::path::PathBuf;
use std::time::Duration;

/// A disk that could be a card under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateDisk {
    /// Device node.
    pub node: PathBuf,
    /// Display name.
    pub name: String,
    /// Its IDs.
    pub ids: Vec<String>,
    /// Label of the card of this campaign as which it was measured before, if any.
    pub label: Option<String>,
}

/// The operator's reply when a card is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorReply {
    /// Search again: the card was inserted.
    LookAgain,
    /// Use this device.
    Here(PathBuf),
    /// Continue without the card.
    Skip,
    /// Stop; a later run continues from here.
    Stop,
}

/// A step of preparing storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreparingStep {
    /// Overwrites the whole card.
    FillCard,
    /// Discards the whole card.
    DiscardCard,
    /// Writes a partition table.
    PartitionTable,
    /// Creates a file system of this type.
    MakeFileSystem(&'static str),
    /// Fills the file system.
    FillFileSystem,
}

impl PreparingStep {
    /// The step in the language of the thread.
    pub fn text(self) -> String {
        match self {
            PreparingStep::FillCard => both!("filling the card", "カードに全域書き込み中"),
            PreparingStep::DiscardCard => both!("discarding the card", "カードをdiscard中"),
            PreparingStep::PartitionTable => both!(
                "creating a partition table",
                "パーティションテーブルを作成中"
            ),
            PreparingStep::MakeFileSystem(fs) => both!("making {fs}", "{fs}を作成中"),
            PreparingStep::FillFileSystem => {
                both!("filling the file system", "ファイルシステムに書き込み中")
            }
        }
    }
}

/// Progress of a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignStatus {
    /// The next point to measure.
    pub point: Point,
    /// Names of the card, layer and workload.
    pub names: [String; 3],
    /// Number of this run from 1, including runs stored before.
    pub number: u64,
    /// Maximum number of runs.
    pub of: u64,
    /// Estimated remaining time.
    pub left: Duration,
}

/// The user or script that operates the hardware.
pub trait Operator: Observer {
    /// Called when a required card is not among the present disks.
    fn insert(&mut self, wanted: &Card, why: &str, seen: &[CandidateDisk]) -> OperatorReply;
    /// Asks for permission to erase a card; `None` denies it.
    fn may_erase(&mut self, card: &Card, candidate: &Candidate) -> Option<Confirmation>;
    /// Called at the start of a run.
    fn begins(&mut self, _progressed: &CampaignStatus) {}
    /// Called during the preparation of the storage.
    fn preparing(&mut self, _step: PreparingStep, _progress: Option<ScanProgress>) {}
    /// Called after a run that counts is stored.
    fn stored(&mut self, _record: &RunRecord) {}
    /// Called with a note for the user.
    fn note(&mut self, _text: &str) {}
    /// Returns the publisher of the progress for other processes.
    fn live(&self) -> Option<LivePublisher> {
        None
    }
}
