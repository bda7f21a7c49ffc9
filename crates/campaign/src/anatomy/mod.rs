//! Anatomies of cards: real devices, and simulated cards in virtual time; predictions of jobs.

mod direct;
mod examine;
mod predict;
#[cfg(test)]
mod resume_tests;
mod simulated;

pub use direct::{DirectDevice, DirectError, clock_name, file_size_for};
pub use examine::{
    continues, device_id, examine, new_record, prove, simulated_identity, trial_bytes,
};
pub use hakaru_anatomy::{DeviceError, RunStep, TimedDevice, advise};
pub use predict::{PredictionBasis, compare_with, predict_scenario};
pub use simulated::{AlteredDevice, ServeRequest, SimulatedDevice};
