//! IDs that confirm the permission to erase a device.

use crate::chain::DeviceNode;
use crate::disk;
use crate::roots::{self, Roots};
use hakaru_model::facts::{DeviceIdentity, Identity, is_placeholder};

/// Returns the device's own IDs, most specific first. A partition has the IDs of its disk; a mapping or RAID has only
/// its own names, not the IDs of the disk below.
pub(super) fn own_ids(node: &DeviceNode, identity: &Identity) -> Vec<String> {
    let disk = node.disk();
    let described = identity
        .device
        .known()
        .filter(|device| device.kname == disk.kname);
    let mut ids: Vec<String> = described.map(ids_of).unwrap_or_default();
    for name in ["dm/uuid", "dm/name", "md/uuid"] {
        ids.extend(roots::text(&disk.folder.join(name)));
    }
    ids.extend(disk.backing_file().map(|file| file.display().to_string()));
    identifying(ids)
}

/// Returns the serial number, CID and world-wide name of a device.
pub(super) fn ids_of(device: &DeviceIdentity) -> Vec<String> {
    let cid = device.card.as_ref().and_then(|card| card.cid.known());
    device
        .serial
        .known()
        .into_iter()
        .chain(cid)
        .chain(device.wwid.known())
        .cloned()
        .collect()
}

/// Returns the IDs of the disk below a mapping; empty for the disk itself or a partition.
pub(super) fn ids_below(node: &DeviceNode, identity: &Identity, roots: &Roots) -> Vec<String> {
    let Some(device) = identity
        .device
        .known()
        .filter(|device| device.kname != node.disk().kname)
    else {
        return Vec::new();
    };
    let Some(bottom) = DeviceNode::by_name(&device.kname, roots) else {
        return Vec::new();
    };
    let file = bottom.backing_file().map(|file| file.display().to_string());
    identifying(
        ids_of(device)
            .into_iter()
            .chain(file)
            .chain(disk::aliases(&bottom, roots)),
    )
}

/// Adds the names of the device and of its disk in `/dev/disk/by-id`.
pub(super) fn with_aliases(own: &[String], node: &DeviceNode, roots: &Roots) -> Vec<String> {
    let aliases = disk::aliases(node, roots)
        .into_iter()
        .chain(disk::aliases(&node.disk(), roots));
    identifying(own.iter().cloned().chain(aliases))
}

/// Whether the given text is this ID. The case matters only in file paths and in mapping names, which users choose.
pub(super) fn is_equal(id: &str, given: &str, mapping: Option<&str>) -> bool {
    let is_name = id.starts_with('/') || id.starts_with("dm-name-") || mapping == Some(id);
    id == given || (!is_name && id.eq_ignore_ascii_case(given))
}

/// Removes placeholder and duplicate IDs.
pub(super) fn identifying(ids: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for id in ids {
        if !is_placeholder(&id) && !once.contains(&id) {
            once.push(id);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_and_duplicates_are_no_ids() {
        let ids = ["0x00000000", "card-7", "0000", "card-7", "", "disk-3"];
        assert_eq!(
            identifying(ids.map(str::to_owned)),
            ["card-7", "disk-3"],
            "in their order"
        );
    }
}
