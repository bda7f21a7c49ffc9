//! Functions shared by `bench` and campaigns: usable space, and the identity of a simulated card.

use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::{Fact, Identity, TargetKind, UnknownReason};
use hakaru_model::units::Bytes;
use std::path::PathBuf;

/// Returns the free space that files may use. A twentieth stays free, because a full file system responds more
/// slowly.
pub(crate) fn usable(free: Bytes) -> Bytes {
    Bytes(free.0 - free.0 / 20)
}

/// Rounds down to whole MiB.
pub(crate) fn whole_mib(size: Bytes) -> Bytes {
    Bytes(size.0 - size.0 % (1 << 20))
}

/// Returns the identity of a simulated card with this label.
pub(crate) fn simulated(model: &DeviceModel, label: &str) -> Identity {
    Identity {
        path: PathBuf::from(&model.name),
        kind: TargetKind::Other,
        filesystem: None,
        device: Fact::Unknown(UnknownReason::SimulatedCard),
        system_disk: false,
        label: Some(label.to_owned()),
    }
}
