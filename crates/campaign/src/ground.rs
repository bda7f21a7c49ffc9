//! What `bench` and campaigns share about the places they measure on: how much of one may be used, and what a simulated
//! card is called.

use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::{Fact, Identity, TargetKind};
use hakaru_model::units::Bytes;
use std::path::PathBuf;

/// Bytes of free space that files may take: a file system filled to the brim answers more slowly, so a twentieth stays
/// free.
pub(crate) fn usable(free: Bytes) -> Bytes {
    Bytes(free.0 - free.0 / 20)
}

/// Without what is left of a MiB.
pub(crate) fn whole_mib(size: Bytes) -> Bytes {
    Bytes(size.0 - size.0 % (1 << 20))
}

/// A simulated card, by its label.
pub(crate) fn simulated(prices: &DeviceModel, label: &str) -> Identity {
    Identity {
        path: PathBuf::from(&prices.name),
        kind: TargetKind::Other,
        filesystem: None,
        device: Fact::Unknown("simulated card".to_owned()),
        system_disk: false,
        label: Some(label.to_owned()),
    }
}
