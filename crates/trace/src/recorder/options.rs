//! What to record.

use hakaru_model::io_path::TraceMethod;
use std::fmt;

/// Number of a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DiskNumber {
    /// Major number, which identifies the driver.
    pub major: u32,
    /// Minor number, which identifies a device of that driver.
    pub minor: u32,
}

impl DiskNumber {
    /// Converts the `st_rdev` or `st_dev` of a stat call.
    pub fn from_raw(dev: u64) -> DiskNumber {
        DiskNumber {
            major: rustix::fs::major(dev),
            minor: rustix::fs::minor(dev),
        }
    }

    /// Parses `179:0`, as in sysfs.
    pub fn parse(text: &str) -> Option<DiskNumber> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DiskNumber {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// Returns the kernel's own encoding, which differs from that of `st_rdev`.
    pub const fn kernel(self) -> u32 {
        self.major << 20 | self.minor
    }
}

impl fmt::Display for DiskNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// How much to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventSet {
    /// Two events for each request, its issue and its completion, and rare ones. A request then counts as queued by the
    /// thread that issues it, when it issues it. That is so for direct I/O at queue depth 1 on a block device without
    /// an I/O scheduler.
    Minimal,
    /// Three events for each request, which suffice to restore it, and rare ones: for queue depth 1 on fast devices, where
    /// each event costs about 1 µs.
    Lean,
    /// Also events that confirm and explain.
    #[default]
    Full,
}

/// What to record, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecorderOptions {
    /// The most to record; [`EventRecorder::choose`](super::EventRecorder::choose) can reduce it later.
    pub events: EventSet,
    /// Device number of the mounted file system (`st_dev` of its files), whose events are recorded, too.
    pub filesystem: Option<DiskNumber>,
    /// Bytes of the ring of one CPU; by default as much as this user may lock, up to 4 MiB.
    pub ring: Option<usize>,
    /// Whether to read 100 blocks of the disk first, to find out whether perf delivers all events here.
    pub probe: bool,
    /// Facility to use. By default perf, or ftrace where perf fails the probe, and where few events are recorded if the
    /// program [allows](super::allow_cleaner) a process that removes its instance.
    pub method: Option<TraceMethod>,
}

impl Default for RecorderOptions {
    fn default() -> RecorderOptions {
        RecorderOptions {
            events: EventSet::default(),
            filesystem: None,
            ring: None,
            probe: true,
            method: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_numbers_as_the_kernel_does() {
        let number = DiskNumber::parse("8:16\n").unwrap();
        assert_eq!(number.kernel(), 8_388_624);
        assert_eq!(number.to_string(), "8:16");
        assert_eq!(
            DiskNumber::from_raw(rustix::fs::makedev(259, 300)),
            DiskNumber {
                major: 259,
                minor: 300
            }
        );
    }
}
