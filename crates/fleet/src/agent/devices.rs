//! The disks of this host, which are announced when they change.

use super::Agent;
use crate::message::AnnouncedDevice;
use anyhow::Result;
use hakaru_campaign::errors;
use hakaru_device::{Roots, guard};
use std::path::Path;
use std::time::Duration;

/// Interval of looking for changes: names and sizes in sysfs, no disk is opened.
const LOOK: Duration = Duration::from_secs(5);

/// Time after which the host is announced again, which also measures the offset of its clock again.
const RENEW: u32 = 360;

impl Agent<'_> {
    /// Announces this host when it starts, when a disk appears or leaves, and every half an hour. While something is
    /// measured, no disk is looked at.
    pub(super) async fn watch_devices(&self) -> Result<()> {
        let mut seen = None;
        let mut looks = 0;
        loop {
            let now = fingerprint(Path::new("/sys/block"));
            let is_idle = self.running.borrow().is_empty();
            if is_idle && (seen.as_ref() != Some(&now) || looks >= RENEW) {
                *self.devices.borrow_mut() = devices(&Roots::live());
                if self.announce().await.is_ok() {
                    seen = Some(now);
                    looks = 0;
                }
            }
            looks += 1;
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Names and sizes of all block devices.
fn fingerprint(sys_block: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(sys_block).into_iter().flatten().flatten() {
        let size = std::fs::read_to_string(entry.path().join("size")).unwrap_or_default();
        all.push((entry.file_name().to_string_lossy().into_owned(), size));
    }
    all.sort();
    all
}

/// Returns the disks of this host, with the reason why some cannot be measured.
fn devices(roots: &Roots) -> Vec<AnnouncedDevice> {
    let device = |node: &Path| {
        let shown = node.display().to_string();
        match guard::passive(node, roots) {
            Ok(candidate) => AnnouncedDevice {
                node: shown,
                name: candidate.identity().display_name(),
                ids: match candidate.tells_itself() {
                    true => candidate.own_ids().to_vec(),
                    false => Vec::new(),
                },
                size: candidate.size().0,
                refused: None,
            },
            Err(refusal) => AnnouncedDevice {
                node: shown,
                name: hakaru_device::recognise(node, roots).display_name(),
                refused: Some(errors::message(&refusal)),
                ..AnnouncedDevice::default()
            },
        }
    };
    let disks = hakaru_device::disks(roots);
    disks.iter().map(|node| device(node)).collect()
}
