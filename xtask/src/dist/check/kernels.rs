//! Runs the program of a release under the kernels of several Debian releases, in the machines of the rig.

use super::{STEPS, directory_name, find, roots};
use crate::workspace;
use anyhow::{Context, Result};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::units::Bytes;
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::GuestBuilder;
use hakaru_rig::kit::{Arch, Kit};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Kernels by their version, with the Debian release that has them.
pub(crate) const KERNELS: &[(&str, &str)] = &[
    ("linux-5.10", "bullseye"),
    ("linux-6.1", "bookworm"),
    ("linux-6.12", "trixie"),
];

/// A card of 256 MiB with ext4, mounted where the steps run.
const MOUNTED: &str = "modprobe ext4; \
     mke2fs -q -t ext4 /dev/mmcblk0 && mkdir -p /tmp/trial && mount /dev/mmcblk0 /tmp/trial";

/// An emulated processor takes about ten times as long.
const LIMIT: Duration = Duration::from_secs(600);

/// Boots a kernel, and runs all steps on a card.
pub(super) fn check(release: &str, files: &Path) -> Result<String> {
    let tarball = find(files, "x86_64-unknown-linux-musl-v")?;
    let folder = tempfile::tempdir_in(roots()?)?;
    let mut tar = Command::new("tar");
    workspace::run(tar.arg("-xzf").arg(&tarball).arg("-C").arg(folder.path()))?;
    let program = folder.path().join(directory_name(&tarball)).join("hakaru");
    let kit = Kit::of_release(release);
    kit.set_up(Arch::X86_64, &mut |what| eprintln!("{release}: {what}"))?;
    let model = DeviceModel::plain("plain", Bytes(256 << 20));
    let card = Arc::new(SimulatedCard::new(model, 1)?);
    let mut guest = GuestBuilder::new(&kit).card(&card).boot()?;
    let kernel = guest.check_output("uname -r", LIMIT)?;
    guest
        .check_output(MOUNTED, LIMIT)
        .context("cannot mount a card")?;
    for (name, step) in STEPS {
        // Some directories of the host are hidden by the machine's own; all are visible there.
        let step = step.replace("$H", &format!("/run/host{}", program.display()));
        let script = format!(
            "export HOME=/tmp/trial/home HAKARU_DB=/tmp/trial/h.db HAKARU_LANG=en; cd /tmp/trial; {step}"
        );
        guest
            .check_output(&script, LIMIT)
            .with_context(|| (*name).to_owned())?;
    }
    guest.power_off()?;
    let kernel = kernel.trim();
    Ok(format!(
        "{} steps passed on an emulated card; Linux {kernel}",
        STEPS.len()
    ))
}
