//! Campaigns: cards × layers × workloads × repeats, from a file to a report.
//!
//! ```text
//! text ─ file ─> CampaignFile ─ resolve ─> Campaign ─ matrix ─> Point, Point, …
//!                                             │
//!        store ─ journal ─> what is open ─────┴─ runner ─> stage (prepare, undo) and run_point, one by one
//!        store ─ gather  ─> CampaignSummary, for the report
//! ```
//! Nothing but the store remembers how far a campaign has come: a run is there or it is not.

pub mod aim;
pub mod check;
pub mod digest;
pub mod estimate;
pub mod file;
pub mod gather;
pub mod hands;
mod job;
pub mod journal;
pub mod matrix;
mod outcome;
pub mod published;
pub mod quantity;
pub mod ready;
pub mod resolve;
pub mod runner;
mod seat;
pub mod spec;
mod stage;
pub mod status;
#[cfg(test)]
mod testing;
