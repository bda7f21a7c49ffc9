//! Mounting, unmounting, and emptying the host's caches, by system calls: no tool is needed for that.

use crate::roots::Roots;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why something could not be mounted or unmounted.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The kernel does not know the file system.
    #[error(
        "the kernel has no {fs_type}: load its module (modprobe {fs_type}), or use another file system"
    )]
    NoSuchType {
        /// The type.
        fs_type: String,
    },
    /// The option text cannot be passed on.
    #[error("the mount options `{options}` hold a zero byte")]
    BadOptions {
        /// The options.
        options: String,
    },
    /// The kernel refused to mount.
    #[error("{device} cannot be mounted at {at} as {fs_type} with `{options}`: {source}{hint}")]
    Mount {
        /// The device.
        device: PathBuf,
        /// Where.
        at: PathBuf,
        /// The type.
        fs_type: String,
        /// The options.
        options: String,
        /// The system's word.
        source: io::Error,
        /// What would help.
        hint: &'static str,
    },
    /// The kernel refused to unmount.
    #[error("{at} cannot be unmounted: {source} (see what uses it: fuser -vm {at})")]
    Unmount {
        /// Where.
        at: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// The caches could not be emptied.
    #[error(
        "the caches of the host cannot be emptied by writing to {path}: {source} (that needs root)"
    )]
    Caches {
        /// The file of the kernel.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
}

/// Options that are flags of the call; everything else is for the file system.
const FLAGS: [(&str, MountFlags, bool); 14] = [
    ("ro", MountFlags::RDONLY, true),
    ("rw", MountFlags::RDONLY, false),
    ("noatime", MountFlags::NOATIME, true),
    ("atime", MountFlags::NOATIME, false),
    ("nodiratime", MountFlags::NODIRATIME, true),
    ("relatime", MountFlags::RELATIME, true),
    ("strictatime", MountFlags::STRICTATIME, true),
    ("nodev", MountFlags::NODEV, true),
    ("nosuid", MountFlags::NOSUID, true),
    ("noexec", MountFlags::NOEXEC, true),
    ("sync", MountFlags::SYNCHRONOUS, true),
    ("async", MountFlags::SYNCHRONOUS, false),
    ("dirsync", MountFlags::DIRSYNC, true),
    ("lazytime", MountFlags::LAZYTIME, true),
];

/// Whether the kernel can mount this type: it has it, or a module for it. Where that cannot be told, it is taken to.
pub fn can_mount(fs_type: &str, roots: &Roots) -> bool {
    let read = |path: PathBuf| std::fs::read_to_string(path);
    let Ok(known) = read(roots.proc.join("filesystems")) else {
        return true;
    };
    if known.split_whitespace().any(|word| word == fs_type) {
        return true;
    }
    let release = crate::roots::text(&roots.proc.join("sys/kernel/osrelease")).unwrap_or_default();
    match read(Path::new("/lib/modules").join(release).join("modules.dep")) {
        Ok(modules) => modules.contains(&format!("/{fs_type}.ko")),
        // A kernel that takes no modules has no such file either.
        Err(_) => roots.proc.join("modules").exists(),
    }
}

/// Splits `noatime,discard` into flags and what is left for the file system.
fn split_options(options: &str) -> (MountFlags, String) {
    let mut flags = MountFlags::empty();
    let mut rest: Vec<&str> = Vec::new();
    for option in options
        .split(',')
        .map(str::trim)
        .filter(|option| !option.is_empty() && *option != "defaults")
    {
        match FLAGS.iter().find(|(name, ..)| *name == option) {
            Some((_, flag, true)) => flags |= *flag,
            Some((_, flag, false)) => flags -= *flag,
            None => rest.push(option),
        }
    }
    (flags, rest.join(","))
}

/// Mounts a device.
pub(super) fn mount(
    device: &Path,
    at: &Path,
    fs_type: &str,
    options: &str,
) -> Result<(), MountError> {
    let (flags, rest) = split_options(options);
    let bad = |_| MountError::BadOptions {
        options: options.to_owned(),
    };
    let data = CString::new(rest).map_err(bad)?;
    let mut answer = rustix::mount::mount(device, at, fs_type, flags, Some(data.as_c_str()));
    // The claim of whoever had the device last may take a moment to go.
    for _ in 0..10 {
        if answer != Err(Errno::BUSY) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        answer = rustix::mount::mount(device, at, fs_type, flags, Some(data.as_c_str()));
    }
    answer.map_err(|error| match error {
        Errno::NODEV => MountError::NoSuchType {
            fs_type: fs_type.to_owned(),
        },
        error => MountError::Mount {
            device: device.to_owned(),
            at: at.to_owned(),
            fs_type: fs_type.to_owned(),
            options: options.to_owned(),
            source: error.into(),
            hint: match error {
                Errno::INVAL => " (an option it does not know, or another file system; see dmesg)",
                Errno::PERM | Errno::ACCESS => " (that needs root)",
                Errno::BUSY => " (it is mounted already, or in use)",
                _ => "",
            },
        },
    })
}

/// Writes back and unmounts. Somebody who only looked in by chance (a file indexer) is given three seconds to leave.
pub(super) fn unmount(at: &Path) -> Result<(), MountError> {
    let mut last = Errno::BUSY;
    for _ in 0..30 {
        match rustix::mount::unmount(at, UnmountFlags::NOFOLLOW) {
            Ok(()) => return Ok(()),
            Err(Errno::BUSY) => std::thread::sleep(Duration::from_millis(100)),
            Err(error) => {
                last = error;
                break;
            }
        }
    }
    Err(MountError::Unmount {
        at: at.to_owned(),
        source: last.into(),
    })
}

/// Writes all dirty data back, and drops the page cache, and the caches of names and inodes.
pub(super) fn drop_caches(roots: &Roots) -> Result<(), MountError> {
    rustix::fs::sync();
    let path = roots.proc.join("sys/vm/drop_caches");
    std::fs::write(&path, "3\n").map_err(|source| MountError::Caches { path, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_split_into_flags_and_the_rest() {
        let (flags, rest) = split_options("defaults,noatime,discard,ro,commit=30,rw");
        assert_eq!(
            (flags, rest.as_str()),
            (MountFlags::NOATIME, "discard,commit=30")
        );
        assert_eq!(split_options(""), (MountFlags::empty(), String::new()));
    }

    #[test]
    fn caches_are_dropped_by_the_kernels_file() {
        let tree = crate::testtree::tree("empty");
        let error = drop_caches(&tree.roots).unwrap_err();
        assert!(error.to_string().ends_with("(that needs root)"), "{error}");
        tree.write("/proc/sys/vm/drop_caches", "");
        drop_caches(&tree.roots).unwrap();
        assert_eq!(
            std::fs::read_to_string(tree.path("/proc/sys/vm/drop_caches")).unwrap(),
            "3\n"
        );
    }

    #[test]
    fn what_the_kernel_cannot_mount_is_known_beforehand() {
        let tree = crate::testtree::tree("empty");
        assert!(
            can_mount("ext4", &tree.roots),
            "where nothing is known, it is tried"
        );
        tree.write("/proc/filesystems", "nodev\tsysfs\n\text4\n");
        assert!(can_mount("ext4", &tree.roots) && !can_mount("f2fs", &tree.roots));
        tree.write("/proc/modules", "");
        assert!(can_mount("f2fs", &tree.roots));
    }

    #[test]
    fn an_unknown_type_names_the_module() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED an_unknown_type_names_the_module: mounting needs root");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let error = mount(Path::new("none"), folder.path(), "nosuchfs", "").unwrap_err();
        insta::assert_snapshot!(error, @"the kernel has no nosuchfs: load its module (modprobe nosuchfs), or use another file system");
    }
}
