//! Identifies, guards and prepares the storage under test.
//!
//! [`inspect`] tells what a plan needs to know of a path; [`identify`] tells whose card or disk it is; [`environment`]
//! tells what the host was like. [`guard`] alone can allow data on a device to be destroyed, and [`prepare`] changes the
//! device in steps that are undone afterwards. Measuring lives elsewhere, and so does choosing the target.

#![forbid(unsafe_code)]

mod blockdev;
mod bus;
mod card;
mod chain;
mod disk;
mod environment;
mod freespace;
pub mod guard;
mod health;
mod identify;
mod inspect;
mod makers;
mod mounts;
mod oddities;
pub mod prepare;
mod roots;
#[cfg(test)]
mod testcard;
#[cfg(test)]
mod testloop;
#[cfg(test)]
mod testtree;
pub mod verify;

pub use blockdev::{BlockDev, OnProgress, OpenDevice, ScanProgress, SpeedMap, SpeedPoint};
pub use bus::ceiling as bus_ceiling;
pub use card::RawCard;
pub use environment::environment;
pub use freespace::FreeSpace;
pub use identify::{Presence, disks, identify, is_same_device, presence, recognise};
pub use inspect::{InspectError, inspect};
pub use oddities::decode_card;
pub use roots::{DevNum, Roots};
