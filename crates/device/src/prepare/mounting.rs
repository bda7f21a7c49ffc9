//! Mounts, unmounts and drops host caches with system calls, without external tools.

use crate::roots::Roots;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Errors of mounting, unmounting and dropping caches.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The kernel does not support the file system.
    #[error(
        "the kernel does not support {fs_type}; help: load the module with `modprobe {fs_type}`, \
        or use another file system"
    )]
    NoSuchType {
        /// The type.
        fs_type: String,
    },
    /// Invalid option text.
    #[error("the mount options `{options}` contain a NUL byte")]
    BadOptions {
        /// The options.
        options: String,
    },
    /// The mount failed.
    #[error("cannot mount {device} at {at} as {fs_type} with options `{options}`: {source}{hint}")]
    Mount {
        /// The device.
        device: PathBuf,
        /// The mount point.
        at: PathBuf,
        /// The type.
        fs_type: String,
        /// The options.
        options: String,
        /// The I/O error.
        source: io::Error,
        /// Advice for the user.
        hint: &'static str,
    },
    /// The unmount failed.
    #[error(
        "cannot unmount {at}: {source}; help: list the processes that use it with `fuser -vm \
        {at}`"
    )]
    Unmount {
        /// The mount point.
        at: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// Dropping the caches failed.
    #[error("cannot drop the host caches through {path}: {source}; help: run as root")]
    Caches {
        /// The kernel file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
}

/// Options that are mount flags; all others are passed to the file system.
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

/// Whether the kernel supports this type, built in or as a module. Assumes yes if unknown.
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
        // A kernel without module support does not have this file either.
        Err(_) => roots.proc.join("modules").exists(),
    }
}

/// Splits `noatime,discard` into mount flags and file system options.
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
    let mount = || rustix::mount::mount(device, at, fs_type, flags, Some(data.as_c_str()));
    let mut answer = mount();
    // The previous claim on the device may take a moment to end.
    for _ in 0..10 {
        if answer != Err(Errno::BUSY) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        answer = mount();
    }
    let fs_type = fs_type.to_owned();
    answer.map_err(|error| match error {
        Errno::NODEV => MountError::NoSuchType { fs_type },
        error => MountError::Mount {
            device: device.to_owned(),
            at: at.to_owned(),
            fs_type,
            options: options.to_owned(),
            source: error.into(),
            hint: hint(error),
        },
    })
}

fn hint(error: Errno) -> &'static str {
    match error {
        Errno::INVAL => {
            "; help: check the mount options and the file system type (dmesg has details)"
        }
        Errno::PERM | Errno::ACCESS => "; help: run as root",
        Errno::BUSY => "; help: it may be mounted already or in use",
        _ => "",
    }
}

/// Syncs and unmounts. Retries for three seconds, for short-lived users such as a file indexer.
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

/// Writes dirty data back and drops the page, dentry and inode caches.
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
        assert!(
            error.to_string().ends_with("; help: run as root"),
            "{error}"
        );
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
        insta::assert_snapshot!(error, @"the kernel does not support nosuchfs; help: load the module with `modprobe nosuchfs`, or use another file system");
    }
}
