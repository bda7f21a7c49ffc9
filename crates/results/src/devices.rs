//! The disks of this host.

use hakaru_device::guard::{self, Refusal};
use hakaru_device::{Roots, disks, identify};
use hakaru_model::facts::{Environment, Identity};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Version of the JSON format, which output without a schema had.
pub const FORMAT: u32 = 1;

/// A disk that is here now.
#[derive(Clone, Debug)]
pub struct PresentDisk {
    /// Name of its device file, such as `sda`.
    pub name: String,
    /// Path of its device file.
    pub path: PathBuf,
    /// Its identity.
    pub identity: Identity,
    /// Its use, in a few words.
    pub state: String,
    /// Whether the system runs from it.
    pub runs_system: bool,
}

impl PresentDisk {
    fn at(path: PathBuf, roots: &Roots) -> PresentDisk {
        let name = path.file_name().unwrap_or_default();
        PresentDisk {
            name: name.to_string_lossy().into_owned(),
            identity: identify(&path, roots),
            state: state(&path, roots),
            runs_system: runs_system(&path, roots),
            path,
        }
    }
}

/// Returns the disks of this host.
pub fn present(roots: &Roots) -> Vec<PresentDisk> {
    let disks = disks(roots).into_iter();
    disks.map(|path| PresentDisk::at(path, roots)).collect()
}

/// Returns the disk of this host whose device file has this name. The name is compared only, and never used as a path.
pub fn named(name: &str, roots: &Roots) -> Option<PresentDisk> {
    let path = disks(roots)
        .into_iter()
        .find(|path| path.file_name().is_some_and(|known| known == name))?;
    Some(PresentDisk::at(path, roots))
}

/// Output of `hakaru info --json` without a path.
#[derive(Serialize)]
pub struct PresentDisksJson<'a> {
    format: u32,
    disks: Vec<PresentDiskJson<'a>>,
    environment: &'a Environment,
}

#[derive(Serialize)]
struct PresentDiskJson<'a> {
    identity: &'a Identity,
    /// Use, in a few words.
    state: &'a str,
}

/// Returns the JSON document on the disks and the host.
pub fn json<'a>(disks: &'a [PresentDisk], environment: &'a Environment) -> PresentDisksJson<'a> {
    let disk = |disk: &'a PresentDisk| PresentDiskJson {
        identity: &disk.identity,
        state: &disk.state,
    };
    PresentDisksJson {
        format: FORMAT,
        disks: disks.iter().map(disk).collect(),
        environment,
    }
}

/// Describes the use of a device in a few words.
pub fn state(path: &Path, roots: &Roots) -> String {
    match guard::passive(path, roots) {
        Ok(_) => both!("free", "未使用"),
        Err(Refusal::SystemDisk { .. }) => both!("the system runs from it", "システムディスク"),
        Err(Refusal::Mounted { at, .. }) => {
            both!("mounted at {}", "{}にマウント済み"; at.display())
        }
        Err(Refusal::Swap { .. }) => both!("in use as swap", "スワップとして使用中"),
        Err(Refusal::Held { holder, .. }) => both!("part of {holder}", "{holder}の一部"),
        Err(Refusal::ReadOnly { .. }) => both!("write-protected", "書き込み禁止"),
        Err(refusal) => hakaru_campaign::errors::message(&refusal),
    }
}

/// Whether the system runs from a device.
pub fn runs_system(path: &Path, roots: &Roots) -> bool {
    matches!(guard::passive(path, roots), Err(Refusal::SystemDisk { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_used_as_a_path() {
        let roots = Roots::live();
        for name in [
            "",
            ".",
            "..",
            "../etc/passwd",
            "/dev/null",
            "null",
            "no such disk",
        ] {
            assert!(named(name, &roots).is_none(), "{name:?}");
        }
        for disk in present(&roots) {
            let found = named(&disk.name, &roots);
            assert_eq!(found.map(|found| found.path), Some(disk.path));
        }
    }
}
