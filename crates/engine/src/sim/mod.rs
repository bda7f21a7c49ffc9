//! The simulated card: a device model that determines the time of each command, on a virtual clock.

pub(crate) mod backend;
pub mod card;
mod flash;
mod media;
