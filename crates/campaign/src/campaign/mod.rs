//! Campaigns: cards × layers × workloads × repeats, from a file to a report.
//!
//! ```text
//! text ─ file ─> CampaignFile ─ resolve ─> Campaign ─ matrix ─> Point, Point, …
//!                                             │
//!        store ─ journal ─> open points ──────┴─ runner ─> PreparedTarget, and one Session for each run
//!        store ─ gather  ─> CampaignSummary for the report
//! ```
//! Only the store records the progress of a campaign.

mod card_finder;
pub mod check;
mod digest;
pub mod estimate;
pub mod file;
pub mod gather;
mod job;
pub mod journal;
pub mod live_points;
pub mod matrix;
mod measurements;
pub mod operator;
mod outcome;
mod prepared_target;
pub mod published;
mod quantity;
pub mod ready;
pub mod resolve;
mod retarget;
pub(crate) use retarget::{FreeRoom, RetargetTo, retarget};
pub mod runner;
pub mod spec;
pub mod status;
#[cfg(test)]
mod testing;
