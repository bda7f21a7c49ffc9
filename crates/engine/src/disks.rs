//! Counters of the block devices below the files of a phase, from sysfs.
//!
//! Source of the fields: the kernel's `Documentation/block/stat.rst`.

use hakaru_model::facts::DiskStats;
use hakaru_model::plan::FilePlan;
use hakaru_model::units::Nanos;
use rustix::fd::AsFd;
use rustix::fs::{FileType, major, minor};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Readings taken as a phase began.
#[derive(Debug)]
pub(crate) struct DiskWatch {
    start: Vec<(String, [u64; FIELDS])>,
    begun: Instant,
}

const FIELDS: usize = 17;
const MS: u64 = 1_000_000;

impl DiskWatch {
    /// Reads the counters of every disk below these files, each once.
    pub(crate) fn begin(files: &[FilePlan]) -> DiskWatch {
        let mut names: Vec<String> = files.iter().filter_map(|f| disk_below(&f.path)).collect();
        names.sort();
        names.dedup();
        let start = names.into_iter().filter_map(|name| read(&name).map(|counts| (name, counts))).collect();
        DiskWatch { start, begun: Instant::now() }
    }

    /// What the disks did since.
    pub(crate) fn end(self) -> Vec<DiskStats> {
        let elapsed = Nanos(self.begun.elapsed().as_nanos() as u64);
        let since = |(name, before): (String, [u64; FIELDS])| {
            let now = read(&name)?;
            // One that went and came again counts from the beginning: what it did since cannot be told.
            if now.iter().zip(&before).take(8).any(|(now, before)| now < before) {
                return None;
            }
            let d = |i: usize| now[i].saturating_sub(before[i]);
            Some(DiskStats {
                read_ios: d(0),
                read_merges: d(1),
                read_sectors: d(2),
                read_ticks: Nanos(d(3) * MS),
                write_ios: d(4),
                write_merges: d(5),
                write_sectors: d(6),
                write_ticks: Nanos(d(7) * MS),
                discard_ios: d(11),
                flush_ios: d(15),
                busy: Nanos(d(9) * MS),
                queued: Nanos(d(10) * MS),
                elapsed,
                name,
            })
        };
        self.start.into_iter().filter_map(since).collect()
    }
}

/// Whether a file is a disk that lies in memory: a virtual one on no other disk, file or host.
pub(crate) fn is_in_memory(file: impl AsFd) -> bool {
    let stat = rustix::fs::fstat(file).ok();
    let stat = stat.filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice);
    let Some(node) = stat.and_then(|stat| node_of(stat.st_rdev)) else { return false };
    // Such as the disk itself, the file of a loop device, and the client of a network disk.
    let below = ["device", "loop", "pid", "partition"].iter().any(|name| node.join(name).exists());
    !below && std::fs::read_dir(node.join("slaves")).is_ok_and(|mut disks| disks.next().is_none())
}

/// The folder of a block device in sysfs.
fn node_of(device: u64) -> Option<PathBuf> {
    let node = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    std::fs::canonicalize(node).ok()
}

/// Kernel name of the whole disk that a path stands on. `None` for what has no disk (tmpfs, network).
fn disk_below(path: &Path) -> Option<String> {
    // What is not there yet will stand where its folder does; a bare name has an empty one.
    let folder = path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let stat = rustix::fs::stat(path).ok().or_else(|| rustix::fs::stat(folder?).ok())?;
    let device = match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => stat.st_rdev,
        _ => stat.st_dev,
    };
    let node = node_of(device)?;
    // A partition is a folder inside the folder of its disk.
    let disk = if node.join("partition").exists() { node.parent()?.to_owned() } else { node };
    Some(disk.file_name()?.to_str()?.to_owned())
}

fn read(name: &str) -> Option<[u64; FIELDS]> {
    let text = std::fs::read_to_string(format!("/sys/class/block/{name}/stat")).ok()?;
    Some(parse(&text))
}

/// Older kernels have fewer fields: the rest stays zero.
fn parse(text: &str) -> [u64; FIELDS] {
    let mut counts = [0; FIELDS];
    for (count, word) in counts.iter_mut().zip(text.split_whitespace()) {
        *count = word.parse().unwrap_or(0);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_in_their_order() {
        let counts = parse("  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
        assert_eq!((counts[0], counts[2], counts[6], counts[9], counts[15]), (1, 3, 7, 10, 16));
        assert_eq!(parse("4 junk")[..2], [4, 0]);
    }

    #[test]
    fn a_file_is_no_disk_in_memory() {
        let is = |path: &str| std::fs::File::open(path).map(is_in_memory).ok();
        assert_eq!(is("/proc/self/stat"), Some(false));
        assert_eq!(is("/dev/null"), Some(false));
        // What cannot be opened, or is not there, says nothing.
        assert_ne!(is("/dev/zram0"), Some(false));
    }

    #[test]
    fn a_path_without_a_disk_has_none() {
        assert_eq!(disk_below(Path::new("/proc/self/stat")), None);
    }
}
