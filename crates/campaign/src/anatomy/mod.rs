//! Devices for the experiments of an anatomy: the simulated card in virtual time.

mod simulated;

pub use simulated::SimulatedDevice;
