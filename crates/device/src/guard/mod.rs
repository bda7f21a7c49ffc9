//! The only source of permission to erase: every destructive call needs an [`Erasable`].
//!
//! [`passive`] refuses a device that is in use or needed by the running system. Erasing also needs
//! a [`Confirmation`] of this specific device, and the device must open exclusively, which the
//! kernel refuses while a mount in another container, a mapping or a RAID uses it. A program that
//! has the device open without an exclusive claim is not detected.

mod ids;
mod losses;
mod magic;
mod refusal;
mod storage;
mod tables;
mod usage;

pub use losses::{Loss, LossKind, Partition, TableKind, what_would_be_lost};
pub use refusal::{Refusal, quoted};

use crate::chain::DeviceNode;
use crate::disk;
use crate::identify::recognise;
use crate::mounts;
use crate::roots::{self, Roots};
use hakaru_model::facts::{Identity, is_placeholder};
use hakaru_model::units::Bytes;
use ids::{ids_below, own_ids, with_aliases};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Confirmation that a specific device may be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// Serial number, CID, world-wide name or `/dev/disk/by-id` name: for scripts.
    Serial(String),
    /// Device name typed after its identity was shown: `mmcblk0` or `/dev/mmcblk0`. An ID is
    /// accepted too.
    Typed(String),
}

/// A device that passed the passive checks.
#[derive(Clone, Debug)]
pub struct Candidate {
    path: PathBuf,
    node: DeviceNode,
    sequence: Option<u64>,
    size: Bytes,
    identity: Identity,
    /// Its own IDs.
    own: Vec<String>,
    /// Its own IDs and its names in `/dev/disk/by-id`.
    ids: Vec<String>,
    /// IDs of the disk below a mapping. They identify more than the mapping, so they do not confirm it.
    below: Vec<String>,
}

impl Candidate {
    /// Identity of the device without SMART data, to show before asking for confirmation.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// All IDs that confirm the device: serial number, CID, world-wide name and `/dev/disk/by-id` names.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// The IDs of the device itself. Names in `/dev/disk/by-id` are not permanent: udev creates
    /// them later, and some depend on the content.
    pub fn own_ids(&self) -> &[String] {
        &self.own
    }

    /// Disk sequence number of the kernel, which changes each time a medium appears (Linux 5.15 and later).
    pub fn sequence(&self) -> Option<u64> {
        self.sequence
    }

    /// Whether the IDs identify the medium. A card in a USB reader has the IDs of the reader, which are the same for
    /// every card; a mapping without a UUID has a name chosen by a user.
    pub fn tells_itself(&self) -> bool {
        if self.mapping().is_some()
            && roots::text(&self.node.folder.join("dm/uuid")).is_none_or(|uuid| uuid.is_empty())
        {
            return false;
        }
        let card = self
            .identity
            .device
            .known()
            .and_then(|device| device.card.as_ref());
        card.is_none_or(|card| card.cid.known().is_some())
    }

    /// Size of this disk, partition or mapping in bytes; [`Candidate::identity`] describes the disk at the bottom.
    pub fn size(&self) -> Bytes {
        self.node.size()
    }

    /// Its partition number; `None` if it is not a partition.
    pub fn partition(&self) -> Option<u32> {
        self.node.partition()
    }

    /// Its device-mapper name; `None` if it is not a mapping.
    pub fn mapping(&self) -> Option<String> {
        roots::text(&self.node.folder.join("dm/name"))
    }

    /// The device name to type as confirmation.
    pub fn name(&self) -> &str {
        &self.node.kname
    }

    /// Opens the device for erasing if the confirmation matches and the device is unchanged.
    ///
    /// # Errors
    /// A [`Refusal`] with the reason.
    pub fn confirm(self, confirmation: &Confirmation, roots: &Roots) -> Result<Erasable, Refusal> {
        self.is_meant(confirmation)?;
        let device = patiently(|| open_exclusively(&self.path))?;
        self.is_same(&device, roots)?;
        let twins = claim_twins(&self.node, roots)?;
        // The device is claimed now: repeat the checks.
        let again = passive(&self.path, roots)?;
        if again.node != self.node || again.own != self.own {
            return Err(self.stale("its ID changed"));
        }
        Ok(Erasable {
            device,
            found: self,
            _twins: twins,
        })
    }

    fn is_meant(&self, confirmation: &Confirmation) -> Result<(), Refusal> {
        match confirmation {
            Confirmation::Serial(given) => self.has_id(given.trim()),
            Confirmation::Typed(typed) => self.is_called(typed.trim()),
        }
    }

    fn has_id(&self, given: &str) -> Result<(), Refusal> {
        let (path, ids) = (self.path.clone(), self.ids.clone());
        let (own, below) = (
            self.is_among(&self.ids, given),
            self.is_among(&self.below, given),
        );
        let given = given.to_owned();
        if is_placeholder(&given) {
            Err(Refusal::Anonymous { given, ids })
        } else if own {
            Ok(())
        } else if below {
            Err(Refusal::OnlyAbove { path, given, ids })
        } else {
            Err(Refusal::Mismatch { path, given, ids })
        }
    }

    fn is_among(&self, ids: &[String], given: &str) -> bool {
        let mapping = self.mapping();
        let is_given = |id: &String| ids::is_equal(id, given, mapping.as_deref());
        ids.iter().any(is_given)
    }

    /// Checks the typed name; an ID is accepted here too.
    fn is_called(&self, typed: &str) -> Result<(), Refusal> {
        let names = |name: &str| typed == name || Path::new(typed) == Path::new("/dev").join(name);
        let mapped = self
            .mapping()
            .is_some_and(|name| typed == name || names(&format!("mapper/{name}")));
        let is_id = || !is_placeholder(typed) && self.is_among(&self.ids, typed);
        if names(&self.node.kname) || mapped || is_id() {
            return Ok(());
        }
        Err(Refusal::Mistyped {
            typed: typed.to_owned(),
            wanted: self.node.kname.clone(),
        })
    }

    /// Checks that the open device is the inspected one: names and numbers can be reused when cards
    /// are swapped.
    fn is_same(&self, device: &OwnedFd, roots: &Roots) -> Result<(), Refusal> {
        let stat = rustix::fs::fstat(device).map_err(|error| self.io(error))?;
        let number = roots::DevNum::from_raw(stat.st_rdev as _);
        if number != self.node.number {
            return Err(self.stale(&format!(
                "device number {}, was {}",
                number, self.node.number
            )));
        }
        let told = hakaru_sys::block::disk_sequence(device).ok();
        let told = told.or_else(|| disk::sequence(&self.node.disk()).known().copied());
        match (self.sequence, told) {
            (Some(before), Some(now)) if before != now => {
                Err(self.stale(&format!("disk sequence number {now}, was {before}")))
            }
            _ if DeviceNode::by_number(self.node.number, roots).as_ref() != Some(&self.node) => {
                Err(self.stale("it is connected to another port"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the held device is still present and has the same size. Uses a new descriptor,
    /// because opening makes the kernel check for a media change.
    fn is_unchanged(&self, held: BorrowedFd<'_>, roots: &Roots) -> Result<(), Refusal> {
        let device = open_itself(held, OFlags::RDONLY).map_err(|error| match error {
            Errno::NOMEDIUM | Errno::NXIO | Errno::NODEV => self.stale("it was removed"),
            error => self.io(error),
        })?;
        self.is_same(&device, roots)?;
        let size = self.node.size();
        if size != self.size {
            return Err(self.stale(&format!("size {size}, was {}", self.size)));
        }
        Ok(())
    }

    fn stale(&self, changed: &str) -> Refusal {
        Refusal::Stale {
            path: self.path.clone(),
            changed: changed.to_owned(),
        }
    }

    fn io(&self, error: Errno) -> Refusal {
        Refusal::Io {
            path: self.path.clone(),
            source: error.into(),
        }
    }
}

/// Permission to erase a device. It holds the device open exclusively, so that nothing can mount
/// it.
///
/// Created only by [`check`] and [`Candidate::confirm`]; dropping it releases the device.
#[derive(Debug)]
pub struct Erasable {
    device: OwnedFd,
    found: Candidate,
    /// Other names of the same storage, held open so that nothing can mount them.
    _twins: Vec<OwnedFd>,
}

impl Erasable {
    /// The path given by the user.
    pub fn path(&self) -> &Path {
        &self.found.path
    }

    /// Its device node, such as `/dev/mmcblk0`, even if a link was given.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.found.node.kname)
    }

    /// Its identity.
    pub fn identity(&self) -> &Identity {
        &self.found.identity
    }

    /// Its serial number or another ID that a script would use to confirm it.
    pub fn id(&self) -> Option<&str> {
        self.found.ids.first().map(String::as_str)
    }

    /// Size of the disk or partition in bytes.
    pub fn size(&self) -> Bytes {
        self.found.node.size()
    }

    /// The open device, for reading and writing.
    pub fn device(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Checks that the device is still the same: not removed, not exchanged, and of the same size.
    ///
    /// # Errors
    /// A [`Refusal`] with the change.
    pub fn check_unchanged(&self, roots: &Roots) -> Result<(), Refusal> {
        self.found.is_unchanged(self.device(), roots)
    }

    /// Opens the device again with other flags, such as O_DIRECT. The exclusive claim is kept.
    ///
    /// # Errors
    /// The I/O error.
    pub(crate) fn open_again(&self, flags: OFlags) -> std::io::Result<OwnedFd> {
        Ok(open_itself(self.device(), flags)?)
    }

    /// Releases the claim while a tool such as mkfs uses the device, then claims it again.
    ///
    /// # Errors
    /// A [`Refusal`] if the device cannot be claimed again; the permission and the tool's result
    /// are then lost.
    pub(crate) fn while_released<T>(
        self,
        work: impl FnOnce(&Path) -> T,
        roots: &Roots,
    ) -> Result<(Erasable, T), Refusal> {
        let released = self.release()?;
        let done = work(&released.node());
        Ok((released.retake(roots)?, done))
    }

    /// Releases the claim for longer, for example while the device is mounted.
    ///
    /// # Errors
    /// The I/O error.
    pub fn release(self) -> Result<Released, Refusal> {
        let keep = self
            .open_again(OFlags::RDONLY)
            .map_err(|source| self.io(source))?;
        let Erasable {
            device,
            found,
            _twins: twins,
        } = self;
        drop((device, twins));
        patiently(|| open_exclusively(&found.path)).map(drop)?;
        Ok(Released { keep, found })
    }

    /// Converts the permission to one for a partition of this disk.
    ///
    /// # Errors
    /// A [`Refusal`] if the partition does not exist or is in use.
    pub fn into_partition(self, number: u32, roots: &Roots) -> Result<Erasable, Refusal> {
        let path = self.found.path.clone();
        let node = self
            .found
            .node
            .partitions()
            .into_iter()
            .find(|node| node.partition() == Some(number));
        let Some(node) = node else {
            return Err(Refusal::Blind {
                path,
                because: format!("sysfs lists no partition {number} on it"),
            });
        };
        let sequence = self.found.sequence;
        drop(self);
        let part = passive(&Path::new("/dev").join(&node.kname), roots)?;
        if part.sequence != sequence || part.node != node {
            return Err(Refusal::Stale {
                path,
                changed: "its partition belongs to another disk".to_owned(),
            });
        }
        let name = Confirmation::Typed(part.name().to_owned());
        part.confirm(&name, roots)
    }

    fn io(&self, source: std::io::Error) -> Refusal {
        Refusal::Io {
            path: self.found.path.clone(),
            source,
        }
    }
}

/// A device with erase permission that is lent to the kernel or a tool.
///
/// It stays open without a claim, so that its name and number are not reused.
#[derive(Debug)]
pub struct Released {
    keep: OwnedFd,
    found: Candidate,
}

impl Released {
    /// Its device node, such as `/dev/mmcblk0`.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.found.node.kname)
    }

    /// Checks that the device is still the same: not removed, not exchanged, and of the same size.
    ///
    /// # Errors
    /// A [`Refusal`] with the change.
    pub fn check_unchanged(&self, roots: &Roots) -> Result<(), Refusal> {
        self.found.is_unchanged(self.keep.as_fd(), roots)
    }

    /// Claims the device again.
    ///
    /// # Errors
    /// A [`Refusal`] if something else uses it, or it is a different device.
    pub(crate) fn retake(self, roots: &Roots) -> Result<Erasable, Refusal> {
        let device = patiently(|| open_exclusively(&self.found.path)).map_err(|refusal| {
            let is_pulled = hakaru_sys::block::is_empty(&self.keep);
            if is_pulled {
                self.found.stale("it was removed")
            } else {
                refusal
            }
        })?;
        self.found.is_same(&device, roots)?;
        let twins = claim_twins(&self.found.node, roots)?;
        Ok(Erasable {
            device,
            found: self.found,
            _twins: twins,
        })
    }
}

/// Runs all checks and opens a device for erasing.
///
/// # Errors
/// A [`Refusal`] with the reason; nothing was written.
pub fn check(path: &Path, confirmation: &Confirmation, roots: &Roots) -> Result<Erasable, Refusal> {
    passive(path, roots)?.confirm(confirmation, roots)
}

/// Runs the checks that need no confirmation: a block device with a medium, not write-protected,
/// and not used by the system, a mount, swap, mapping, RAID or loop device. Opens nothing.
///
/// # Errors
/// A [`Refusal`] with the reason.
pub fn passive(path: &Path, roots: &Roots) -> Result<Candidate, Refusal> {
    let node = usage::named_node(path, roots)?;
    let mounts = mounts::mounts_everywhere(roots);
    let path = path.to_owned();
    if mounts.is_empty() {
        let because = "/proc/self/mountinfo is empty or unreadable".to_owned();
        return Err(Refusal::Blind { path, because });
    }
    usage::not_of_the_system(&path, &node, roots, &mounts)?;
    usage::not_in_use(&path, &node, roots, &mounts)?;
    let size = node.size();
    if size.0 == 0 {
        return Err(Refusal::NoMedium { path });
    }
    if disk::is_read_only(&node) || disk::is_read_only(&node.disk()) {
        return Err(Refusal::ReadOnly { path });
    }
    let identity = recognise(&path, roots);
    let own = own_ids(&node, &identity);
    Ok(Candidate {
        sequence: disk::sequence(&node.disk()).known().copied(),
        size,
        ids: with_aliases(&own, &node, roots),
        below: ids_below(&node, &identity, roots),
        path,
        node,
        identity,
        own,
    })
}

/// Runs the checks of [`passive`], and tests for exclusive users that no table lists: a mount
/// detached while in use, an external journal, a mapping of another host system. For writing to a
/// device without erasing it; the claim is released at once, so that several jobs can write.
///
/// # Errors
/// A [`Refusal`] with the reason.
pub fn writable(path: &Path, roots: &Roots) -> Result<(), Refusal> {
    let candidate = passive(path, roots)?;
    if roots.is_live() {
        patiently(|| claim(path)).map(drop)?;
        claim_twins(&candidate.node, roots)?;
    }
    Ok(())
}

/// Claims a device read-only: closing a device that was open for writing makes udev read it.
fn claim(path: &Path) -> Result<OwnedFd, Refusal> {
    let path = path.to_owned();
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| refused(error, path))
}

/// Checks that no loop device over the file is mounted or otherwise in use.
///
/// # Errors
/// A [`Refusal`] with the reason.
pub fn writable_file(path: &Path, roots: &Roots) -> Result<(), Refusal> {
    usage::file_not_in_use(path, roots, &mounts::mounts_everywhere(roots))
}

/// Claims the other names of the same storage: loop devices over the same file or device, and the device below.
fn claim_twins(node: &DeviceNode, roots: &Roots) -> Result<Vec<OwnedFd>, Refusal> {
    let twins = if roots.is_live() {
        storage::claimable(node, roots)
    } else {
        Vec::new()
    };
    let claim = |twin: &DeviceNode| patiently(|| claim(&roots.dev.join(&twin.kname)));
    twins.iter().map(claim).collect()
}

/// Reopens the device through its descriptor, so that a changed name cannot lead to another device.
fn open_itself(held: BorrowedFd<'_>, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open(
        format!("/proc/self/fd/{}", held.as_raw_fd()),
        flags | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

/// Retries for one second while the device is busy: udev claims a device briefly after it was
/// plugged in or written, and so does a child process between fork and exec.
fn patiently<T>(work: impl Fn() -> Result<T, Refusal>) -> Result<T, Refusal> {
    for _ in 0..20 {
        match work() {
            Err(Refusal::Busy { .. }) => std::thread::sleep(std::time::Duration::from_millis(50)),
            answer => return answer,
        }
    }
    work()
}

fn open_exclusively(path: &Path) -> Result<OwnedFd, Refusal> {
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    let path = path.to_owned();
    // On block devices O_EXCL without O_CREAT means: fail if another process has claimed it.
    rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| refused(error, path))
}

/// Converts the error of an exclusive open.
fn refused(error: Errno, path: PathBuf) -> Refusal {
    match error {
        Errno::BUSY => Refusal::Busy { path },
        Errno::ACCESS | Errno::PERM => Refusal::Denied { path },
        Errno::ROFS => Refusal::ReadOnly { path },
        Errno::NOMEDIUM | Errno::NXIO => Refusal::NoMedium { path },
        error => Refusal::Io {
            path,
            source: error.into(),
        },
    }
}

#[cfg(test)]
mod tests;
