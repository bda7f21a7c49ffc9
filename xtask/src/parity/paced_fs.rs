//! A rate-limited target: a FUSE file system with one file, where every access has a cost.
//!
//! It behaves like a card with one channel: one access at a time, each taking as long as the cost model says. Two
//! programs must measure the same on it, however fast or busy the host is. Requires root and `/dev/fuse`.

use super::fuse::{FILE_NAME, FuseOp, FuseRequest, REQUEST_MAX};
use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Size of the file.
pub(super) const FILE_BYTES: u64 = 64 << 20;

/// Cost of an access: a fixed part, and a part per byte.
const READ: PacedCost = PacedCost {
    each: Duration::from_micros(2000),
    bytes_per_s: 50_000_000,
};
const WRITE: PacedCost = PacedCost {
    each: Duration::from_micros(3000),
    bytes_per_s: 25_000_000,
};
const SYNC: PacedCost = PacedCost {
    each: Duration::from_micros(5000),
    bytes_per_s: 1,
};

struct PacedCost {
    each: Duration,
    bytes_per_s: u64,
}

impl PacedCost {
    fn of(&self, bytes: u32) -> Duration {
        self.each + Duration::from_nanos(u64::from(bytes) * 1_000_000_000 / self.bytes_per_s)
    }
}

/// The target. It has no mount point: it exists through an open file of this process, and disappears with it.
pub(super) struct PacedFs {
    mount: OwnedFd,
}

impl PacedFs {
    /// Creates the target and serves it in a background thread.
    ///
    /// # Errors
    /// If the host does not support it: requires root, and FUSE in kernel 5.2 or later.
    pub(super) fn serve() -> Result<PacedFs> {
        let channel = File::options()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .context("cannot open /dev/fuse")?;
        let mount = mount(&channel)
            .context("cannot make a file system of held speed; that takes root and FUSE")?;
        // The thread exits after the last user of the file system is gone.
        std::thread::spawn(move || serve(channel));
        Ok(PacedFs { mount })
    }

    /// Path of the file, which other processes can open while this one runs.
    pub(super) fn file(&self) -> PathBuf {
        format!(
            "/proc/{}/fd/{}/{FILE_NAME}",
            std::process::id(),
            self.mount.as_raw_fd()
        )
        .into()
    }
}

fn mount(channel: &File) -> rustix::io::Result<OwnedFd> {
    let context = fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let fd = channel.as_raw_fd().to_string();
    let options = [
        ("source", "held"),
        ("fd", &fd),
        ("rootmode", "40000"),
        ("user_id", "0"),
        ("group_id", "0"),
    ];
    for (key, value) in options {
        fsconfig_set_string(context.as_fd(), key, value)?;
    }
    fsconfig_create(context.as_fd())?;
    fsmount(
        context.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::empty(),
    )
}

/// Serves requests in order until the target is unmounted.
fn serve(mut channel: File) {
    let mut buffer = vec![0; REQUEST_MAX];
    let mut free_at = Instant::now();
    loop {
        let waited = !has_request(&channel);
        let len = match channel.read(&mut buffer) {
            Ok(len) => len,
            // The request was withdrawn before it was read, or a signal arrived.
            Err(error) if matches!(error.raw_os_error(), Some(2 | 4 | 11)) => continue,
            Err(_) => return,
        };
        let Some(request) = buffer.get(..len).and_then(FuseRequest::parse) else {
            return;
        };
        let cost = match request.kind() {
            FuseOp::Silent => continue,
            FuseOp::Free => None,
            FuseOp::Read { len } => Some(READ.of(len)),
            FuseOp::Write { len } => Some(WRITE.of(len)),
            FuseOp::Sync => Some(SYNC.of(0)),
        };
        let answer = request.answer(FILE_BYTES);
        if cost.is_none() {
            // A request after a zero-cost one cannot start before that one was answered.
            free_at = free_at.max(Instant::now());
        }
        if let Some(cost) = cost {
            // A queued access starts when the previous one was due, even if this thread woke up late.
            let begun = if waited { Instant::now() } else { free_at };
            free_at = begun + cost;
            wait_until(free_at);
        }
        // A withdrawn request takes no answer.
        let _ = channel.write(&answer);
    }
}

/// Whether a request is queued.
fn has_request(channel: &File) -> bool {
    let mut fds = [PollFd::new(channel, PollFlags::IN)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

/// Sleeps for most of the time and spins for the rest, because a sleep ends late by a variable time.
fn wait_until(moment: Instant) {
    const WATCHED: Duration = Duration::from_micros(150);
    let left = moment.saturating_duration_since(Instant::now());
    if let Some(sleep) = left.checked_sub(WATCHED) {
        std::thread::sleep(sleep);
    }
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_grow_with_the_bytes() {
        assert_eq!(READ.of(0), Duration::from_micros(2000));
        assert_eq!(READ.of(50_000), Duration::from_micros(3000));
        assert_eq!(SYNC.of(0), Duration::from_micros(5000));
    }

    #[test]
    fn reads_take_their_cost() {
        let held = match PacedFs::serve() {
            Ok(held) => held,
            Err(error) => return eprintln!("skipped: {error:#}"),
        };
        let mut file = File::open(held.file()).expect("the file of the target");
        assert_eq!(file.metadata().expect("its size").len(), FILE_BYTES);
        let begun = Instant::now();
        let mut block = [1; 4096];
        for _ in 0..5 {
            file.read_exact(&mut block).expect("a block");
        }
        assert!(begun.elapsed() >= READ.of(4096) * 5);
        assert_eq!(block, [0; 4096]);
    }
}
