//! tracefs: where the kernel describes its events.

use super::error::{Privileges, TraceError};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// `TRACEFS_MAGIC`
const MAGIC: u64 = 0x7472_6163;
/// Where it is usually mounted.
const MOUNT_POINTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Instances of this program are called this, followed by its process ID and a number: `hakaru-1234-0`.
const INSTANCE_PREFIX: &str = "hakaru-";
/// Instances that this process created: one for each disk that is traced.
static INSTANCES: AtomicU32 = AtomicU32::new(0);

/// An open tracefs.
#[derive(Debug)]
pub(super) struct Tracefs {
    root: OwnedFd,
}

impl Tracefs {
    /// Finds a mounted tracefs, or mounts one privately.
    pub(super) fn find() -> Result<Tracefs, TraceError> {
        let mounted = MOUNT_POINTS.iter().find_map(|path| mounted_at(path));
        let root = match mounted {
            Some(root) => root,
            None => mount_detached().map_err(mount_error)?,
        };
        Ok(Tracefs { root })
    }

    /// Takes a directory for tracefs.
    #[cfg(test)]
    pub(super) fn at(path: &Path) -> Tracefs {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Tracefs {
            root: rustix::fs::open(path, flags, Mode::empty()).unwrap(),
        }
    }

    /// Reads a file.
    pub(super) fn read(&self, path: &str) -> Result<String, Errno> {
        let file = self.open(path, OFlags::RDONLY)?;
        let mut content = Vec::new();
        let mut part = [0; 4096];
        loop {
            match rustix::io::read(&file, &mut part) {
                Ok(0) => break,
                Ok(n) => content.extend_from_slice(&part[..n]),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(String::from_utf8_lossy(&content).into_owned())
    }

    /// Writes a whole setting with one call, as these files require.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), Errno> {
        let file = self.open(path, OFlags::WRONLY | OFlags::TRUNC)?;
        match rustix::io::retry_on_intr(|| rustix::io::write(&file, text.as_bytes()))? {
            n if n == text.len() => Ok(()),
            _ => Err(Errno::IO),
        }
    }

    /// Opens a file.
    pub(super) fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty())
    }

    /// Creates an instance: buffers and settings of its own, which disturb nobody else's. Returns its path.
    pub(super) fn create_instance(&self) -> Result<String, Errno> {
        let number = INSTANCES.fetch_add(1, Ordering::Relaxed);
        let path = format!("instances/{INSTANCE_PREFIX}{}-{number}", std::process::id());
        rustix::fs::mkdirat(&self.root, path.as_str(), Mode::from_raw_mode(0o700))?;
        Ok(path)
    }

    /// Removes an instance, with which its events are disabled.
    pub(super) fn remove_instance(&self, path: &str) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.root, path, AtFlags::REMOVEDIR)
    }

    /// Removes the instances of processes that ended without doing so. The kernel refuses to remove one that is in use,
    /// such as that of a process in another PID namespace.
    pub(super) fn remove_stale_instances(&self) {
        for name in self.instances() {
            if owner(&name).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                let _ = self.remove_instance(&format!("instances/{name}"));
            }
        }
    }

    /// Returns the names of all instances; empty if they cannot be read.
    pub(super) fn instances(&self) -> Vec<String> {
        let Ok(directory) = self.open("instances", OFlags::RDONLY | OFlags::DIRECTORY) else {
            return Vec::new();
        };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut entries = RawDir::new(directory, &mut buffer);
        let mut names = Vec::new();
        while let Some(Ok(entry)) = entries.next() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names
    }
}

/// Returns the process that created an instance, if it is one of this program.
pub(super) fn owner(instance: &str) -> Option<u32> {
    let (pid, number) = instance.strip_prefix(INSTANCE_PREFIX)?.split_once('-')?;
    let _: u32 = number.parse().ok()?;
    pid.parse().ok()
}

/// Opens a directory if tracefs is mounted there.
fn mounted_at(path: &str) -> Option<OwnedFd> {
    // Without O_PATH this would need permission. Both without O_PATH and with O_DIRECTORY, the kernel would mount tracefs
    // below debugfs for everybody.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let filesystem = rustix::fs::fstatfs(&root).ok()?;
    (filesystem.f_type as u64 & 0xffff_ffff == MAGIC).then_some(root)
}

/// Mounts tracefs without attaching it to any directory: no other process sees it, no mount namespace or thread is
/// changed, and the kernel removes it with the last descriptor, even after `kill -9`.
fn mount_detached() -> Result<OwnedFd, Errno> {
    let context = rustix::mount::fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_create(&context)?;
    rustix::mount::fsmount(
        &context,
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::empty(),
    )
}

fn mount_error(errno: Errno) -> TraceError {
    match errno {
        Errno::NODEV | Errno::NOSYS => TraceError::NoTracefs,
        Errno::PERM | Errno::ACCESS => match Privileges::of_process().refusal(true) {
            TraceError::UserNamespace => TraceError::UserNamespace,
            _ => TraceError::TracefsNotMounted,
        },
        errno => TraceError::Failed {
            operation: "mounting tracefs",
            errno,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_the_mount_have_their_reasons() {
        assert_eq!(mount_error(Errno::NODEV), TraceError::NoTracefs);
        assert!(matches!(
            mount_error(Errno::PERM),
            TraceError::TracefsNotMounted | TraceError::UserNamespace
        ));
        assert!(mounted_at("/proc").is_none());
    }

    #[test]
    fn instances_name_their_process() {
        assert_eq!(owner("hakaru-1234-0"), Some(1234));
        assert_eq!(owner("hakaru-x-0"), None);
        assert_eq!(owner("hakaru-1-0/.."), None);
        assert_eq!(owner("somebody-1234-0"), None);
    }
}
