//! Anatomy of a card by timing: which requests to issue next, and what their latencies say about the card.
//!
//! Pure: a [`TimedDevice`] issues the requests and measures their latencies. The micro-patterns are those of flashbench
//! (Bergmann 2011) and uFLIP (Bouganim, Jónsson and Bonnet, CIDR 2009). A size is chosen among candidates by a joint
//! likelihood, a time has a 99% interval, and what neither decides stays unknown, with the reason.

#![forbid(unsafe_code)]

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
mod run;
mod workload;

pub use budget::{budget, seconds_of};
pub use device::{DeviceError, TimedDevice, TimedRequest};
pub use fit::fit;
pub use predict::{Prediction, PredictionError, Simulate, predict};
pub use run::{RunStep, run};
pub use workload::{AccessPattern, Workload, WorkloadResult, drive};
