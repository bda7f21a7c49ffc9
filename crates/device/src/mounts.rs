//! What is mounted where, and what is swapped to, read from `/proc`.
//!
//! Source of the formats: proc(5), `/proc/pid/mountinfo` and `/proc/swaps`.

use crate::roots::{DevNum, Roots};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Hosts with thousands of containers have mount tables of megabytes; a table cut short would hide a mount.
const TABLE_LIMIT: u64 = 64 << 20;

/// One line of the mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Device number of the file system; major 0 when it has no device of its own.
    pub(crate) number: DevNum,
    /// Where it is mounted.
    pub(crate) mount_point: PathBuf,
    /// Type, such as `ext4`.
    pub(crate) fs_type: String,
    /// What is mounted there, as the file system words it.
    pub(crate) source: String,
    /// Options of the mount and of the file system, each once.
    pub(crate) options: String,
}

impl Mount {
    /// The value of an option such as `upperdir=`.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options.split(',').find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// The mount table of this process.
pub(crate) fn mounts(roots: &Roots) -> Vec<Mount> {
    parse_table(&table(&roots.proc.join("self/mountinfo")))
}

/// The mount tables of this process and, where it may be read, of process 1: a container sees less than its host.
pub(crate) fn mounts_everywhere(roots: &Roots) -> Vec<Mount> {
    let mut all = mounts(roots);
    for mount in parse_table(&table(&roots.proc.join("1/mountinfo"))) {
        if !all.contains(&mount) {
            all.push(mount);
        }
    }
    all
}

/// The mount that a path lies on: the last one over the longest part of it.
pub(crate) fn mount_of<'a>(path: &Path, mounts: &'a [Mount]) -> Option<&'a Mount> {
    let covers = |mount: &&Mount| path.starts_with(&mount.mount_point);
    mounts.iter().filter(covers).max_by_key(|mount| mount.mount_point.components().count())
}

/// What is swapped to: device nodes and files.
pub(crate) fn swaps(roots: &Roots) -> Vec<PathBuf> {
    let table = table(&roots.proc.join("swaps"));
    let paths = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    paths.map(|path| PathBuf::from(unescape(path))).collect()
}

fn table(path: &Path) -> String {
    let mut bytes = Vec::new();
    // An unreadable table is an empty one: who relies on it for safety opens the device exclusively as well.
    let _ = std::fs::File::open(path).and_then(|file| file.take(TABLE_LIMIT).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn parse_table(table: &str) -> Vec<Mount> {
    table.lines().filter_map(parse_line).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn parse_line(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let number = DevNum::parse(left.nth(2)?)?;
    let mount_point = PathBuf::from(unescape(left.nth(1)?));
    let own_options = left.next()?;
    let mut right = right.split(' ');
    let fs_type = unescape(right.next()?);
    let source = unescape(right.next()?);
    let options = join_options(own_options, right.next().unwrap_or_default());
    Some(Mount { number, mount_point, fs_type, source, options })
}

/// Options of the mount, then those of the file system that are not among them. A read-only mount of a writable file
/// system has `ro` in one and `rw` in the other: the mount's word counts.
fn join_options(own: &str, of_filesystem: &str) -> String {
    let mut options: Vec<&str> = own.split(',').filter(|o| !o.is_empty()).collect();
    for option in of_filesystem.split(',').filter(|o| !o.is_empty()) {
        if !options.contains(&option) && !matches!(option, "rw" | "ro") {
            options.push(option);
        }
    }
    options.iter().map(|option| unescape(option)).collect::<Vec<_>>().join(",")
}

/// Blanks, tabs, line ends and backslashes stand in these tables as `\040` and the like.
fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        let code = digits.and_then(|d| std::str::from_utf8(d).ok()).and_then(|d| u8::from_str_radix(d, 8).ok());
        out.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 4 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw,noatime
28 27 179:1 / /boot/firmware ro,relatime - vfat /dev/mmcblk0p1 rw,fmask=0022
30 27 8:1 / /media/my\\040card rw - exfat /dev/sda1 rw,iocharset=utf8
31 27 8:2 / /media/my\\040card rw - ext4 /dev/sda2 rw
";

    #[test]
    fn the_longest_and_latest_mount_wins() {
        let mounts = parse_table(TABLE);
        let on = |path: &str| mount_of(Path::new(path), &mounts).unwrap().source.clone();
        assert_eq!(on("/home/pi/file"), "/dev/root");
        assert_eq!(on("/boot/firmware/config.txt"), "/dev/mmcblk0p1");
        assert_eq!(on("/boot/firmwarex"), "/dev/root");
        assert_eq!(on("/media/my card/x"), "/dev/sda2");
    }

    #[test]
    fn a_read_only_mount_is_shown_read_only() {
        assert_eq!(parse_table(TABLE)[2].options, "ro,relatime,fmask=0022");
        assert_eq!(parse_table(TABLE)[2].option("fmask"), Some("0022"));
    }

    proptest::proptest! {
        #[test]
        fn any_table_is_read_without_a_panic(table in "[ -~\\n\\\\]{0,200}") {
            let mounts = parse_table(&table);
            let _ = mount_of(Path::new("/a/b"), &mounts);
        }
    }
}
