//! The test bench of hakaru: simulated cards, and machines in which Linux's own MMC stack drives them.
//!
//! A [`card`] keeps bytes and charges for them in real time by the price list that the engine's `sim` has too.
//! An [`nbd::Server`] offers it to QEMU, and a [`guest::Guest`] is the machine that sees it as `/dev/mmcblk0`. What
//! such a machine is made of, kernels above all, is fetched once into a [`kit::Kit`].
//!
//! Nothing here is shipped: tests and `cargo xtask rig` use it.

#![forbid(unsafe_code)]

pub mod card;
pub mod guest;
pub mod kit;
pub mod nbd;
