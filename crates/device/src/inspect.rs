//! Inspects a path before a plan is made.
//!
//! Leaves no trace: existing files are opened read-only, and O_DIRECT support of a directory is tested with an unnamed
//! file. `identify` and `guard` detect identity and content.

use crate::mounts;
use crate::roots::{self, DevNum, Roots};
use hakaru_model::facts::{TargetFacts, TargetKind};
use hakaru_model::units::Bytes;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::Metadata;
use std::io::{Error, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Why a path cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// The path is empty.
    #[error("the path is empty; help: name a file, a directory or a device")]
    Empty,
    /// The parent directory does not exist.
    #[error(
        "cannot create {path}: its directory {folder} does not exist; help: create it with mkdir -p"
    )]
    NoFolder {
        /// The path.
        path: PathBuf,
        /// Its directory.
        folder: PathBuf,
    },
    /// A parent is not a directory.
    #[error("cannot use {path}: {through} is not a directory")]
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// The part that is not a directory.
        through: PathBuf,
    },
    /// The device node does not exist; a file in its place would measure memory.
    #[error("device {path} does not exist; help: plug it in, or list the devices with `lsblk`")]
    NoSuchDevice {
        /// The path.
        path: PathBuf,
    },
    /// A dangling link.
    #[error(
        "{path} links to {target}, which does not exist; help: repair the link or name another path"
    )]
    DanglingLink {
        /// The path.
        path: PathBuf,
        /// The link target.
        target: PathBuf,
    },
    /// Neither reading nor writing is allowed.
    #[error("cannot read or write {path}: permission denied; help: {cure}")]
    Denied {
        /// The path.
        path: PathBuf,
        /// Advice for the user.
        cure: &'static str,
    },
    /// Any other I/O error.
    #[error("cannot inspect {path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The I/O error.
        source: Error,
    },
}

/// Returns the type, size, free space and direct I/O alignment of a path.
///
/// # Errors
/// An [`InspectError`] if the path cannot be measured: its directory is missing, it is a dangling
/// link, or it is neither readable nor writable.
pub fn inspect(path: &Path) -> Result<TargetFacts, InspectError> {
    PathInspector::default().inspect(path)
}

/// Inspects many paths. Missing files of one directory share the facts about the directory, so that it is probed once,
/// and existing files those about their file system.
#[derive(Debug, Default)]
pub struct PathInspector {
    /// Facts about a missing file, by directory.
    directories: HashMap<PathBuf, TargetFacts>,
    /// Facts about file systems, by device number.
    filesystems: HashMap<u64, FilesystemFacts>,
}

/// What all files of a file system have in common.
#[derive(Clone, Copy, Debug)]
struct FilesystemFacts {
    free: Option<Bytes>,
    /// Logical block size of the device below.
    block: Option<u32>,
}

impl FilesystemFacts {
    fn of(path: &Path) -> FilesystemFacts {
        FilesystemFacts {
            free: free_space(path),
            block: block_below(path),
        }
    }
}

impl PathInspector {
    /// See [`inspect`].
    ///
    /// # Errors
    /// See [`inspect`].
    pub fn inspect(&mut self, path: &Path) -> Result<TargetFacts, InspectError> {
        if is_missing(path) {
            self.inspect_missing(path)
        } else {
            inspect_other(path, &mut self.filesystems)
        }
    }

    fn inspect_missing(&mut self, path: &Path) -> Result<TargetFacts, InspectError> {
        let folder = directory_of(path);
        let known = match self.directories.get(folder) {
            Some(known) => known,
            None => {
                let found = inspect_absent(path)?;
                self.directories.entry(folder.to_owned()).or_insert(found)
            }
        };
        Ok(TargetFacts {
            path: path.to_owned(),
            ..known.clone()
        })
    }
}

/// Whether nothing is at a path, not even a link without a target.
fn is_missing(path: &Path) -> bool {
    let missing = |error: Error| error.kind() == ErrorKind::NotFound;
    !path.as_os_str().is_empty() && path.symlink_metadata().is_err_and(missing)
}

/// Inspects a path that exists, is not accessible, or is a dangling link.
fn inspect_other(
    path: &Path,
    filesystems: &mut HashMap<u64, FilesystemFacts>,
) -> Result<TargetFacts, InspectError> {
    let io = |source| InspectError::Io {
        path: path.to_owned(),
        source,
    };
    if path.as_os_str().is_empty() {
        return Err(InspectError::Empty);
    }
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return inspect_absent(path),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(not_a_directory(path));
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(InspectError::Denied {
                path: path.to_owned(),
                cure: "a parent directory is not accessible",
            });
        }
        Err(error) => return Err(io(error)),
    };
    match kind_of(&metadata) {
        TargetKind::File => {
            let filesystem = filesystems.entry(metadata.dev());
            let filesystem = filesystem.or_insert_with(|| FilesystemFacts::of(path));
            inspect_file(path, &metadata, *filesystem)
        }
        TargetKind::Directory => inspect_directory(path, path, TargetKind::Directory),
        TargetKind::BlockDevice => inspect_device(path, &metadata),
        kind => Ok(TargetFacts {
            writable: may(path, Access::WRITE_OK),
            ..facts(path, kind)
        }),
    }
}

/// Returns the type of a file.
pub(crate) fn kind_of(metadata: &Metadata) -> TargetKind {
    let kind = metadata.file_type();
    match () {
        () if kind.is_file() => TargetKind::File,
        () if kind.is_dir() => TargetKind::Directory,
        () if kind.is_block_device() => TargetKind::BlockDevice,
        () if kind.is_char_device() => TargetKind::CharDevice,
        () => TargetKind::Other,
    }
}

/// Returns the parent directory.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn facts(path: &Path, kind: TargetKind) -> TargetFacts {
    let path = path.to_owned();
    TargetFacts {
        path,
        kind,
        size: Bytes(0),
        free: None,
        logical_block: 512,
        direct_io: None,
        writable: false,
    }
}

fn inspect_absent(path: &Path) -> Result<TargetFacts, InspectError> {
    if path.symlink_metadata().is_ok() {
        let target = path.read_link().unwrap_or_default();
        return Err(InspectError::DanglingLink {
            path: path.to_owned(),
            target,
        });
    }
    let folder = directory_of(path);
    if is_device_directory(folder) {
        return Err(InspectError::NoSuchDevice {
            path: path.to_owned(),
        });
    }
    match folder.metadata() {
        Ok(metadata) if metadata.is_dir() => inspect_directory(path, folder, TargetKind::Absent),
        Ok(_) => Err(not_a_directory(path)),
        Err(_) => Err(InspectError::NoFolder {
            path: path.to_owned(),
            folder: folder.to_owned(),
        }),
    }
}

/// Whether files in this directory would be in the memory file system behind /dev. /dev/shm is intended for files and
/// is allowed.
fn is_device_directory(folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.starts_with("/dev") && !folder.starts_with("/dev/shm")
}

fn not_a_directory(path: &Path) -> InspectError {
    let through = path
        .ancestors()
        .skip(1)
        .find(|part| part.exists())
        .unwrap_or(path);
    InspectError::NotAFolder {
        path: path.to_owned(),
        through: through.to_owned(),
    }
}

fn inspect_directory(
    path: &Path,
    folder: &Path,
    kind: TargetKind,
) -> Result<TargetFacts, InspectError> {
    let mut facts = TargetFacts {
        free: free_space(folder),
        ..facts(path, kind)
    };
    facts.writable = may(folder, Access::WRITE_OK | Access::EXEC_OK);
    let probe = if facts.writable {
        probe_directory(folder)
    } else {
        Probe::default()
    };
    facts.direct_io = probe.direct;
    facts.logical_block = probe
        .alignment
        .or_else(|| block_below(folder))
        .unwrap_or(512);
    // Permission bits may allow an access that the file system refuses.
    facts.writable &= !probe.refused;
    Ok(facts)
}

fn inspect_file(
    path: &Path,
    metadata: &Metadata,
    filesystem: FilesystemFacts,
) -> Result<TargetFacts, InspectError> {
    let mut facts = facts(path, TargetKind::File);
    facts.size = Bytes(metadata.len());
    facts.free = filesystem.free;
    facts.writable = may(path, Access::WRITE_OK);
    let mode = match (may(path, Access::READ_OK), facts.writable) {
        (true, _) => OFlags::RDONLY,
        (false, true) => OFlags::WRONLY,
        (false, false) => {
            let cure = "change its permissions or run as its owner";
            return Err(InspectError::Denied {
                path: path.to_owned(),
                cure,
            });
        }
    };
    let probe = probe_file(path, mode);
    facts.direct_io = probe.direct;
    facts.logical_block = probe.alignment.or(filesystem.block).unwrap_or(512);
    Ok(facts)
}

fn inspect_device(path: &Path, metadata: &Metadata) -> Result<TargetFacts, InspectError> {
    let mut facts = facts(path, TargetKind::BlockDevice);
    let sysfs = Roots::live().sysfs_of(DevNum::from_raw(metadata.rdev()));
    let read_only = sysfs
        .as_ref()
        .and_then(|folder| roots::number::<u8>(&folder.join("ro")))
        == Some(1);
    facts.writable = !read_only && may(path, Access::WRITE_OK);
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let device = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| not_opened(path, e))?;
    let size = rustix::fs::seek(&device, rustix::fs::SeekFrom::End(0));
    facts.size = Bytes(size.map_err(|error| InspectError::Io {
        path: path.to_owned(),
        source: error.into(),
    })?);
    facts.logical_block = rustix::fs::ioctl_blksszget(&device).unwrap_or(512);
    facts.direct_io = Some(true);
    Ok(facts)
}

fn not_opened(path: &Path, error: Errno) -> InspectError {
    let path = path.to_owned();
    if !matches!(error, Errno::ACCESS | Errno::PERM) {
        let source = error.into();
        return InspectError::Io { path, source };
    }
    let cure = match rustix::process::geteuid().is_root() {
        true => "a container or security module denies access, even to root",
        false => "run as root or join the group `disk`",
    };
    InspectError::Denied { path, cure }
}

/// Whether this process has access, by its effective user: permission bits, read-only mounts,
/// immutable files.
fn may(path: &Path, access: Access) -> bool {
    rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS).is_ok()
}

/// Returns the free space for unprivileged users.
fn free_space(path: &Path) -> Option<Bytes> {
    // A file system without blocks, such as ramfs, reports no free space.
    let stat = rustix::fs::statvfs(path)
        .ok()
        .filter(|stat| stat.f_blocks > 0)?;
    Some(Bytes(stat.f_bavail.saturating_mul(stat.f_frsize)))
}

/// Result of an O_DIRECT test.
#[derive(Default)]
struct Probe {
    direct: Option<bool>,
    alignment: Option<u32>,
    refused: bool,
}

fn probe_file(path: &Path, mode: OFlags) -> Probe {
    let open = |extra| {
        rustix::fs::open(
            path,
            mode | extra | OFlags::CLOEXEC | OFlags::NONBLOCK,
            Mode::empty(),
        )
    };
    judge(open(OFlags::DIRECT), || open(OFlags::empty()))
}

/// Tests a directory with an unnamed file or, if that is not supported, with a file that is
/// unlinked at once.
fn probe_directory(folder: &Path) -> Probe {
    judge(nameless_file(folder, OFlags::DIRECT), || {
        nameless_file(folder, OFlags::empty())
    })
}

/// Evaluates an O_DIRECT test. `direct` is the result of opening with O_DIRECT; `plain` opens without it, to
/// distinguish missing O_DIRECT support from other errors.
fn judge(direct: Result<OwnedFd, Errno>, plain: impl FnOnce() -> Result<OwnedFd, Errno>) -> Probe {
    match direct {
        Ok(file) => {
            let alignment = alignment_of(&file);
            // A file system that reports no possible alignment opens the file and uses the page
            // cache.
            Probe {
                direct: Some(alignment != Some(0)),
                alignment: alignment.filter(|&a| a > 0),
                refused: false,
            }
        }
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Probe {
            direct: plain().is_ok().then_some(false),
            ..Probe::default()
        },
        // For example a full disk: access is permitted, and `free` shows the rest.
        Err(Errno::NOSPC | Errno::DQUOT | Errno::MFILE | Errno::NFILE | Errno::NOMEM) => {
            Probe::default()
        }
        Err(_) => Probe {
            refused: true,
            ..Probe::default()
        },
    }
}

/// Returns the direct I/O alignment from the kernel (Linux 6.1 and later): 0 means no direct I/O.
fn alignment_of(file: &OwnedFd) -> Option<u32> {
    let stat = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let told = stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    told.then_some(stat.stx_dio_offset_align)
}

fn nameless_file(folder: &Path, extra: OFlags) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CLOEXEC | extra;
    match rustix::fs::open(folder, flags | OFlags::TMPFILE, mode) {
        // Errors for unsupported unnamed files differ: FAT returns "not supported", old kernels
        // treat it as a directory.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {
            named_file(folder, flags)
        }
        answer => answer,
    }
}

fn named_file(folder: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let process = std::process::id();
    for attempt in 0..16 {
        let path = folder.join(format!(".hakaru-probe-{process}-{attempt}"));
        match rustix::fs::open(
            &path,
            flags | OFlags::CREATE | OFlags::EXCL,
            Mode::RUSR | Mode::WUSR,
        ) {
            Err(Errno::EXIST) => {}
            answer => {
                // Some file systems leave the file behind when they refuse O_DIRECT at opening.
                let _ = rustix::fs::unlink(&path);
                return answer;
            }
        }
    }
    Err(Errno::EXIST)
}

/// Returns the logical block size of the device of a path.
fn block_below(path: &Path) -> Option<u32> {
    let roots = Roots::live();
    let own = DevNum::from_raw(path.metadata().ok()?.dev());
    let number = if own.major != 0 {
        own
    } else {
        // btrfs has a virtual device number; its mount names the device.
        let mounts = mounts::mounts(&roots);
        let mount = mounts::mount_at(&path.canonicalize().ok()?, &roots, &mounts)?;
        roots.device_number(Path::new(&mount.source))?
    };
    let folder = roots.sysfs_of(number)?;
    let queue = [folder.join("queue"), folder.join("../queue")]
        .into_iter()
        .find(|queue| queue.is_dir())?;
    roots::number(&queue.join("logical_block_size"))
}

#[cfg(test)]
mod tests;
