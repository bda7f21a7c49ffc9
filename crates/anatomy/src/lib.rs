//! Anatomy of a card by timing: which requests to issue next, and what their latencies say about the card.
//!
//! Pure: a [`TimedDevice`] issues the requests and measures their latencies. The micro-patterns are those of flashbench
//! (Bergmann 2011) and uFLIP (Bouganim, Jónsson and Bonnet, CIDR 2009). A size is chosen among candidates by a joint
//! likelihood, a time has a 99% interval, and what neither decides stays unknown, with the reason.

#![forbid(unsafe_code)]

mod advice;
mod budget;
mod change;
mod device;
mod experiments;
mod fit;
mod grid;
mod lab;
mod location;
mod periodic;
mod predict;
mod prove;
mod references;
mod replay;
mod run;
mod warmth;
mod workload;

pub use advice::advise;
pub use budget::{budget, seconds_of};
pub use device::{DeviceError, TimedDevice, TimedRequest};
pub use fit::fit;
pub use predict::{
    MODEL_SPREAD, Prediction, PredictionError, Simulate, WorkloadTraits, at_upper_ends, draw_times,
    missing_for, predict, without_stalls,
};
pub use prove::prove;
pub use run::{RunStep, run};
pub use workload::{AccessPattern, Workload, WorkloadResult, drive};
