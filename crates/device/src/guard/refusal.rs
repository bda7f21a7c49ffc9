//! Reasons to refuse writing to a device, with advice.

use std::path::{Path, PathBuf};

/// Reason to refuse writing to a device; [`Refusal::cure`] returns the advice.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The path does not exist.
    #[error("{path} does not exist")]
    NotThere {
        /// The path.
        path: PathBuf,
    },
    /// Not a block device.
    #[error("{path} is {what}, not a disk or partition")]
    NotABlockDevice {
        /// The path.
        path: PathBuf,
        /// Its type.
        what: &'static str,
    },
    /// The kernel tables that show the users of a device are missing.
    #[error("cannot determine what uses {path}: {because}")]
    Blind {
        /// The path.
        path: PathBuf,
        /// What is missing.
        because: String,
    },
    /// No card in the slot, or an unused loop device.
    #[error("no medium in {path}: its size is zero")]
    NoMedium {
        /// The path.
        path: PathBuf,
    },
    /// The running system uses it.
    #[error("the system runs from {system}")]
    SystemDisk {
        /// The path.
        path: PathBuf,
        /// The part that the system uses, and its relation to the path.
        system: String,
    },
    /// The device or a part of it is mounted.
    #[error("{what} is mounted at {at}")]
    Mounted {
        /// Kernel name of the part.
        what: String,
        /// The mount point.
        at: PathBuf,
    },
    /// The device or a part of it is mounted in another mount namespace.
    #[error("{what} is mounted at {at} in another mount namespace (process {process})")]
    MountedElsewhere {
        /// Kernel name of the part.
        what: String,
        /// The mount point in that namespace.
        at: PathBuf,
        /// A process in that namespace.
        process: u32,
    },
    /// The backing file of the device is used as swap.
    #[error("{file}, the backing file of {path}, is in use as swap")]
    SwapFile {
        /// The path.
        path: PathBuf,
        /// The file.
        file: PathBuf,
    },
    /// The device or a part of it is used as swap.
    #[error("{what} is in use as swap")]
    Swap {
        /// Kernel name of the part.
        what: String,
    },
    /// A mapping, RAID or loop device uses it.
    #[error("{path} is in use by {holder}")]
    Held {
        /// The path.
        path: PathBuf,
        /// Description of the other device.
        holder: String,
        /// Command that releases it.
        undo: String,
    },
    /// The device is read-only.
    #[error("{path} is write-protected")]
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// Another user has it open exclusively.
    #[error("{path} is in use (opened exclusively)")]
    Busy {
        /// The path.
        path: PathBuf,
    },
    /// No permission to open it.
    #[error("cannot open {path} for writing: permission denied")]
    Denied {
        /// The path.
        path: PathBuf,
    },
    /// The given ID does not match.
    #[error("`{given}` is not the ID of {path} ({})", known_as(.ids))]
    Mismatch {
        /// The path.
        path: PathBuf,
        /// The given value.
        given: String,
        /// Its IDs.
        ids: Vec<String>,
    },
    /// The given ID belongs to the disk below a mapping.
    #[error("`{given}` is the ID of the disk below the mapping {path}")]
    OnlyAbove {
        /// The path.
        path: PathBuf,
        /// The given value.
        given: String,
        /// IDs of the mapping.
        ids: Vec<String>,
    },
    /// The given ID is a placeholder that many devices share.
    #[error("`{given}` is a placeholder serial number, not a unique ID")]
    Anonymous {
        /// The given value.
        given: String,
        /// Its IDs.
        ids: Vec<String>,
    },
    /// The typed name does not match.
    #[error("you typed `{typed}`, and the name is `{wanted}`")]
    Mistyped {
        /// The typed name.
        typed: String,
        /// The expected name.
        wanted: String,
    },
    /// The device was exchanged.
    #[error("{path} is no longer the same device ({changed})")]
    Stale {
        /// The path.
        path: PathBuf,
        /// What changed.
        changed: String,
    },
    /// Any other I/O error.
    #[error("cannot open {path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
}

/// Formats IDs as command-line options.
fn options(ids: &[String]) -> String {
    ids.iter()
        .map(|id| format!("--erase={}", quoted(id)))
        .collect::<Vec<_>>()
        .join(" or ")
}

fn known_as(ids: &[String]) -> String {
    match ids {
        [] => "it has no unique ID".to_owned(),
        ids => ids
            .iter()
            .map(|id| format!("`{id}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

impl Refusal {
    /// Returns advice for the user.
    pub fn cure(&self) -> String {
        match self {
            Refusal::Mismatch { ids, .. }
            | Refusal::OnlyAbove { ids, .. }
            | Refusal::Anonymous { ids, .. } => self.cure_of_id(ids),
            Refusal::Mounted { at, .. } => {
                format!("unmount it first: umount {}", quoted_path(at))
            }
            Refusal::MountedElsewhere { at, process, .. } => format!(
                "stop the process, or unmount in its namespace: nsenter --target {process} --mount umount {}",
                quoted_path(at)
            ),
            Refusal::SwapFile { file, .. } => {
                format!("disable the swap first: swapoff {}", quoted_path(file))
            }
            Refusal::Swap { what } => format!("disable the swap first: swapoff /dev/{what}"),
            Refusal::Held { undo, .. } => format!("release it first: {undo}"),
            Refusal::Busy { path } => {
                format!("list the processes that use it: fuser -v {}", quoted_path(path))
            }
            Refusal::NotThere { .. } => "list the devices: lsblk".into(),
            Refusal::NotABlockDevice { .. } => "name a device such as /dev/sdX (lsblk lists them)".into(),
            Refusal::Blind { .. } => "mount /proc and /sys, then try again".into(),
            Refusal::NoMedium { .. } => "insert the card or set up the loop device, then try again".into(),
            Refusal::SystemDisk { .. } => "name another disk; to erase this one, boot from a different disk".into(),
            Refusal::ReadOnly { .. } => "release the lock switch of the card or adapter, or run `blockdev --setrw` on the device".into(),
            Refusal::Denied { .. } => "run as root or join the group `disk`".into(),
            Refusal::Mistyped { .. } => "check that this is the right device".into(),
            Refusal::Stale { .. } => "check which device has this name now, then start again".into(),
            Refusal::Io { .. } => "check the kernel log: dmesg".into(),
        }
    }

    /// Advice on a refused ID.
    fn cure_of_id(&self, ids: &[String]) -> String {
        let type_name = "type the device name when asked on a terminal";
        match self {
            Refusal::OnlyAbove { .. } => {
                let quoted: Vec<String> = ids.iter().map(|id| quoted(id)).collect();
                let how = if ids.is_empty() {
                    "type its name when asked on a terminal".to_owned()
                } else {
                    format!("pass --erase={}", quoted.join(" or "))
                };
                format!(
                    "to erase the disk, remove the mapping and name the disk; to erase only the mapping, {how}"
                )
            }
            Refusal::Anonymous { .. } if ids.is_empty() => format!(
                "the device has no serial number, CID or /dev/disk/by-id name: omit the ID, and {type_name}"
            ),
            Refusal::Anonymous { .. } => format!(
                "use its serial number, CID or /dev/disk/by-id name: {}",
                options(ids)
            ),
            _ if ids.is_empty() => format!("omit the ID, and {type_name}"),
            _ => format!(
                "check that this is the right device; if it is, pass {}",
                options(ids)
            ),
        }
    }
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// Quotes text for a shell if needed.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests;
