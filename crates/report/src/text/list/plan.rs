//! Texts of the plan and of the progress of a campaign.

use crate::text::planned::*;
use crate::text::{Language, en, ja, language};

texts! {
    /// Name and ID of a campaign.
    pub fn campaign_title(name: &str, id: &str) -> String;
    /// Numbers of cards, layers, workloads and repeats.
    pub fn planned_extent(of: &PlannedExtent) -> String;
    /// Numbers of planned and stored runs.
    pub fn planned_runs(of: PlannedRuns) -> String;
    /// Stored runs that do not count because their settings differ.
    pub fn runs_with_other_settings(n: u64) -> String;
    /// Stored runs that do not count because they did not finish.
    pub fn unfinished_runs(n: u64) -> String;
    /// Stored and remaining runs; `time` is the estimate for the remaining ones.
    pub fn progress_of_campaign(of: StoredRuns, time: &str) -> String;
    /// A card without runs.
    pub fn not_measured_yet() -> &'static str;
    /// A card of the plan: place, layers and time.
    pub fn planned_card(place: &PlannedPlace<'_>, layers: &[&str], time: &str) -> String;
    /// The content of a card that will be erased; `None` if the card is absent.
    pub fn planned_erasure(content: Option<&[String]>) -> String;
    /// A job of the plan: `sequential write, 1 MiB, 60 s after 2 s, on 16 GiB`.
    pub fn planned_job(job: &PlannedJob) -> String;
    /// What cards that take turns require.
    pub fn cards_in_turns(order: &str, cards: usize, prepared: Option<TurnPreparation>, shared: bool) -> String;
    /// The second measurement of the first card.
    pub fn planned_recheck(of: &PlannedRecheck<'_>) -> String;
    /// Time of the whole plan.
    pub fn planned_time(time: &str) -> String;
    /// What the names of workloads in parentheses are.
    pub fn only_explained() -> &'static str;
}
