//! Why a device must not be written to, and what would help.

use std::path::PathBuf;

/// Why a device must not be written to. Each message names the reason; [`Refusal::cure`] tells what would help.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is nothing at the path.
    #[error("there is no {path}")]
    NotThere {
        /// The path.
        path: PathBuf,
    },
    /// The path leads to no block device.
    #[error("{path} is {what}, not a disk or partition")]
    NotABlockDevice {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// The kernel's tables, without which nothing can be said of its use, are missing.
    #[error("what {path} is used for cannot be told: {because}")]
    Blind {
        /// The path.
        path: PathBuf,
        /// What is missing.
        because: String,
    },
    /// There is no card in the slot, or nothing set up behind the node.
    #[error("{path} holds no medium: its size is zero")]
    NoMedium {
        /// The path.
        path: PathBuf,
    },
    /// The system runs from it.
    #[error("this system runs from {system}")]
    SystemDisk {
        /// The path.
        path: PathBuf,
        /// The part of it that the system needs, and how the path belongs to it.
        system: String,
    },
    /// It or a part of it is mounted.
    #[error("{what} is mounted at {at}")]
    Mounted {
        /// Kernel name of the part.
        what: String,
        /// Where.
        at: PathBuf,
    },
    /// It or a part of it is mounted where only other processes see it.
    #[error("{what} is mounted at {at} in another mount namespace, that of process {process}")]
    MountedElsewhere {
        /// Kernel name of the part.
        what: String,
        /// Where, as those processes see it.
        at: PathBuf,
        /// One of them.
        process: u32,
    },
    /// A file that holds its bytes is swapped to.
    #[error("{file}, which {path} is made of, is in use as swap space")]
    SwapFile {
        /// The path.
        path: PathBuf,
        /// The file.
        file: PathBuf,
    },
    /// It or a part of it is swapped to.
    #[error("{what} is in use as swap space")]
    Swap {
        /// Kernel name of the part.
        what: String,
    },
    /// Another device is made of it.
    #[error("{holder} is made of {path}")]
    Held {
        /// The path.
        path: PathBuf,
        /// The other device, in a few words.
        holder: String,
        /// How to undo that.
        undo: String,
    },
    /// The kernel has it read-only.
    #[error("{path} is write-protected")]
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// Somebody else has it open for themselves alone.
    #[error("{path} is in use by something that keeps it for itself")]
    Busy {
        /// The path.
        path: PathBuf,
    },
    /// It may not be opened.
    #[error("{path} may not be opened for writing: permission denied")]
    Denied {
        /// The path.
        path: PathBuf,
    },
    /// The identity given is not that of the device.
    #[error("`{given}` is not the identity of {path}, which is {}", known_as(.ids))]
    Mismatch {
        /// The path.
        path: PathBuf,
        /// What was given.
        given: String,
        /// What it answers to.
        ids: Vec<String>,
    },
    /// The identity given is that of the disk on which a mapping lies.
    #[error("`{given}` is the disk below {path}, and only what {path} maps of it would be erased")]
    OnlyAbove {
        /// The path.
        path: PathBuf,
        /// What was given.
        given: String,
        /// What the mapping answers to.
        ids: Vec<String>,
    },
    /// The identity given is one that many devices share.
    #[error("`{given}` is no identity: many devices have none, and show this instead")]
    Anonymous {
        /// What was given.
        given: String,
        /// What the device answers to.
        ids: Vec<String>,
    },
    /// The name was typed differently.
    #[error("`{typed}` was typed, and the name is `{wanted}`")]
    Mistyped {
        /// What was typed.
        typed: String,
        /// What it should have been.
        wanted: String,
    },
    /// Another device took its name meanwhile.
    #[error("{path} is another device than a moment ago ({changed})")]
    Stale {
        /// The path.
        path: PathBuf,
        /// What changed.
        changed: String,
    },
    /// Anything else the system says.
    #[error("{path} cannot be opened: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
}

/// The ids as they are given on a command line.
fn options(ids: &[String]) -> String {
    ids.iter()
        .map(|id| format!("--erase={}", quoted(id)))
        .collect::<Vec<_>>()
        .join(" or ")
}

fn known_as(ids: &[String]) -> String {
    match ids {
        [] => "known by none".to_owned(),
        ids => ids
            .iter()
            .map(|id| format!("`{id}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

impl Refusal {
    /// What would help, as a request.
    pub fn cure(&self) -> String {
        match self {
            Refusal::NotThere { .. } => "see which devices there are: lsblk".to_owned(),
            Refusal::NotABlockDevice { .. } => "name the device itself, such as /dev/sdX (see `lsblk`)".to_owned(),
            Refusal::Blind { .. } => "mount /proc and /sys, then try again".to_owned(),
            Refusal::NoMedium { .. } => "insert the card, or set the loop device up, then try again".to_owned(),
            Refusal::SystemDisk { .. } => {
                "name another disk; to erase this one, start the machine from another".to_owned()
            }
            Refusal::Mounted { at, .. } => format!("unmount it first: umount {}", quoted(&at.display().to_string())),
            Refusal::MountedElsewhere { at, process, .. } => format!(
                "stop what uses it there, or unmount it there: nsenter --target {process} --mount umount {}",
                quoted(&at.display().to_string())
            ),
            Refusal::SwapFile { file, .. } => {
                format!("stop swapping to it first: swapoff {}", quoted(&file.display().to_string()))
            }
            Refusal::Swap { what } => format!("stop swapping to it first: swapoff /dev/{what}"),
            Refusal::Held { undo, .. } => format!("take that apart first: {undo}"),
            Refusal::ReadOnly { .. } => {
                "slide the lock of the card or adapter back, or run `blockdev --setrw` on it".to_owned()
            }
            Refusal::Busy { path } => format!("see what uses it: fuser -v {}", path.display()),
            Refusal::Denied { .. } => "run as root, or join the group `disk`".to_owned(),
            Refusal::Mismatch { ids, .. } if ids.is_empty() => {
                "leave the id away, and type the name of the device when asked on a terminal".to_owned()
            }
            Refusal::Mismatch { ids, .. } => {
                format!("look again whether this is the device you mean; if it is, allow it with {}", options(ids))
            }
            Refusal::OnlyAbove { ids, .. } if ids.is_empty() => {
                "to erase the disk, take the mapping apart and name the disk; to erase the mapping alone, type its name \
                 when asked on a terminal"
                    .to_owned()
            }
            Refusal::OnlyAbove { ids, .. } => format!(
                "to erase the disk, take the mapping apart and name the disk; to erase the mapping alone, give {}",
                ids.iter().map(|id| quoted(id)).collect::<Vec<_>>().join(" or ")
            ),
            Refusal::Anonymous { ids, .. } if ids.is_empty() => {
                "it has no serial number, CID or name in /dev/disk/by-id of its own: leave the id away, and type the name \
                 of the device when asked on a terminal"
                    .to_owned()
            }
            Refusal::Anonymous { ids, .. } => {
                format!("give its serial number, CID or a name from /dev/disk/by-id: {}", options(ids))
            }
            Refusal::Mistyped { .. } => "look again whether this is the device you mean".to_owned(),
            Refusal::Stale { .. } => "look again which device has that name now, then start over".to_owned(),
            Refusal::Io { .. } => "see the kernel's messages (dmesg) about it".to_owned(),
        }
    }
}

/// For a shell: in single quotes where there is need of them.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@".contains(c);
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
