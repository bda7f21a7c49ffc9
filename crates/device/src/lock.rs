//! The lock on a disk or directory that is measured: two processes that measure it at the same time would measure each
//! other.

use crate::chain::DeviceNode;
use crate::roots::Roots;
use std::io::{self, ErrorKind};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;

/// A lock on a disk, or on a directory. It ends with the process that holds it, however that process ends.
///
/// The lock is a Unix socket with an abstract name, so it leaves no file behind and needs no writable directory. Processes
/// in other network namespaces, such as containers, do not see it. Source: unix(7), "Abstract sockets".
#[derive(Debug)]
pub struct MeasurementLock {
    name: String,
    _socket: UnixListener,
}

/// The process that holds a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockHolder {
    /// Process ID; `None` if the process has just ended.
    pub pid: Option<u32>,
    /// Command line, without the arguments; empty if it is not known.
    pub program: String,
}

impl std::fmt::Display for LockHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pid {
            Some(pid) if self.program.is_empty() => write!(f, "{pid}"),
            Some(pid) => write!(f, "{pid} ({})", self.program),
            None => f.write_str("?"),
        }
    }
}

/// Why a lock was not acquired.
#[derive(Debug)]
pub enum LockError {
    /// Another process, or another job of this one, holds it.
    Held(LockHolder),
    /// The system call failed.
    Failed(io::Error),
}

/// Returns the name of the lock of a path: of the whole disk for block devices and their partitions, otherwise of the
/// directory or file itself. `None` if there is nothing at the path.
pub fn lock_name(path: &Path, roots: &Roots) -> Option<String> {
    match DeviceNode::by_path(path, roots) {
        Some(node) => Some(format!("hakaru/disk/{}", node.disk().number)),
        None => {
            let metadata = path.metadata().ok()?;
            Some(format!(
                "hakaru/directory/{}/{}",
                metadata.dev(),
                metadata.ino()
            ))
        }
    }
}

impl MeasurementLock {
    /// Acquires the lock with this name, without waiting.
    ///
    /// # Errors
    /// [`LockError`] if it is held, or sockets are unavailable.
    pub fn acquire(name: &str) -> Result<MeasurementLock, LockError> {
        let address = SocketAddr::from_abstract_name(name).map_err(LockError::Failed)?;
        match UnixListener::bind_addr(&address) {
            Ok(socket) => Ok(MeasurementLock {
                name: name.to_owned(),
                _socket: socket,
            }),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                Err(LockError::Held(holder(&address)))
            }
            Err(error) => Err(LockError::Failed(error)),
        }
    }

    /// Name of the lock.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Returns the process that listens at an address.
fn holder(address: &SocketAddr) -> LockHolder {
    let peer = UnixStream::connect_addr(address)
        .ok()
        .and_then(|stream| rustix::net::sockopt::socket_peercred(stream).ok());
    let Some(peer) = peer else {
        return LockHolder::default();
    };
    let pid = peer.pid.as_raw_nonzero().get().unsigned_abs();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0).take(2);
    let words: Vec<_> = words.map(String::from_utf8_lossy).collect();
    let program = words.first().map(|path| path.rsplit('/').next());
    let program = [
        program.flatten().unwrap_or_default(),
        words.get(1).map_or("", |word| word),
    ];
    LockHolder {
        pid: Some(pid),
        program: program.join(" ").trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_locked_once_whatever_its_name_and_freed_with_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::fs::create_dir(&one).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let name = |path: &Path| lock_name(path, &Roots::live()).unwrap();
        assert_eq!(name(&one), name(&link));
        let held = MeasurementLock::acquire(&name(&one)).unwrap();
        let Err(LockError::Held(holder)) = MeasurementLock::acquire(&name(&link)) else {
            panic!("it was acquired twice");
        };
        assert_eq!(holder.pid, Some(std::process::id()));
        assert!(!holder.program.is_empty(), "{holder}");
        MeasurementLock::acquire(&name(&other)).unwrap();
        drop(held);
        MeasurementLock::acquire(&name(&one)).unwrap();
    }

    #[test]
    fn partitions_share_the_lock_of_their_disk() {
        let tree = crate::testtree::tree("pi4-sd");
        let name = |node: &str| lock_name(&tree.path(node), &tree.roots).unwrap();
        assert_eq!(name("/dev/mmcblk0p2"), name("/dev/mmcblk0"));
        assert!(
            name("/dev/mmcblk0").starts_with("hakaru/disk/179:"),
            "{}",
            name("/dev/mmcblk0")
        );
    }

    #[test]
    fn nothing_at_a_path_has_no_lock() {
        assert_eq!(lock_name(Path::new("/nonexistent/x"), &Roots::live()), None);
    }
}
