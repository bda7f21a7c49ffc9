//! The test rig of hakaru: simulated cards, and virtual machines in which Linux's own MMC stack accesses them.
//!
//! A [`card`] stores data and takes real time for commands, using the same device models as the engine's `sim`. An
//! `nbd` server provides it to QEMU, and a [`guest::Guest`] is the machine that sees it as `/dev/mmcblk0`. The
//! components of a machine, mainly kernels, are downloaded once into a [`kit::Kit`].
//!
//! Not shipped: only tests and `cargo xtask rig` use it.

#![forbid(unsafe_code)]

pub mod card;
pub mod guest;
pub mod kit;
mod nbd;
