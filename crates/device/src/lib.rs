//! Identifies, guards and prepares the storage under test.
//!
//! [`inspect`] returns what a plan needs to know of a path; [`identify`] returns the identity of a
//! card or disk; [`environment`] describes the host. Only [`guard`] permits erasing a device, and
//! [`prepare`] changes a device in steps that are undone afterwards. Measuring and choosing the
//! target are not part of this crate.

#![forbid(unsafe_code)]

mod below;
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
mod lock;
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

pub use below::{DiskBelow, disks_below};
pub use blockdev::{BlockDev, OnProgress, OpenDevice, ScanProgress, SpeedMap, SpeedPoint};
pub use bus::ceiling as bus_ceiling;
pub use card::RawCard;
pub use environment::{HostSensors, environment, host_sensors};
pub use freespace::FreeSpace;
pub use identify::{Presence, disks, identify, is_same_device, presence, recognise};
pub use inspect::{InspectError, PathInspector, inspect};
pub use lock::{LockError, LockHolder, MeasurementLock, lock_name};
pub use oddities::decode_card;
pub use roots::{DevNum, Roots};
