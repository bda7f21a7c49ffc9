//! What may be measured from a page: disks that are present, and their mounted file systems. A client names one of these;
//! no path that it sends is used.

use hakaru_device::Roots;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Returns the node of a disk that is present, by its name such as `sda`.
pub(super) fn disk(name: &str) -> Option<PathBuf> {
    let disks = hakaru_device::disks(&Roots::live());
    let named = |node: &PathBuf| node.file_name().is_some_and(|own| own == name);
    disks.into_iter().find(named)
}

/// Returns the directories at which file systems of a disk are mounted.
pub(super) fn mounts(disk: &Path) -> Vec<PathBuf> {
    let name = disk.file_name().unwrap_or_default();
    let block = Path::new("/sys/class/block").join(name);
    let numbers = numbers_of(&block);
    let text = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut found: Vec<PathBuf> = text
        .lines()
        .filter_map(|line| mounted(line, &numbers))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the device numbers of a disk and of its partitions.
fn numbers_of(block: &Path) -> Vec<String> {
    let number = |of: &Path| {
        let text = std::fs::read_to_string(of.join("dev")).ok()?;
        Some(text.trim().to_owned())
    };
    let entries = std::fs::read_dir(block).into_iter().flatten().flatten();
    let partitions = entries.map(|entry| entry.path());
    let partitions = partitions.filter(|path| path.join("partition").exists());
    let all = partitions.filter_map(|path| number(&path));
    number(block).into_iter().chain(all).collect()
}

/// Returns the directory of a line of `mountinfo` if its file system is on one of the devices and is mounted as a whole.
///
/// Source of the fields: `proc_pid_mountinfo(5)`.
fn mounted(line: &str, numbers: &[String]) -> Option<PathBuf> {
    let fields: Vec<&str> = line.split(' ').collect();
    let [_, _, number, root, at, options, ..] = fields[..] else {
        return None;
    };
    let is_writable = options.split(',').any(|option| option == "rw");
    let wanted = numbers.iter().any(|known| known == number) && root == "/" && is_writable;
    wanted.then(|| unescaped(at))
}

/// Replaces the escapes of `mountinfo`, such as `\040` for a space.
fn unescaped(text: &str) -> PathBuf {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = text.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        match code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 4;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    std::ffi::OsString::from_vec(out).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_writable_file_systems_of_the_disk_are_targets() {
        let numbers = ["8:1".to_owned()];
        let mounted = |line: &str| mounted(line, &numbers);
        let line = r"36 35 8:1 / /mnt/my\040card rw,noatime shared:1 - ext4 /dev/sda1 rw";
        assert_eq!(mounted(line), Some(PathBuf::from("/mnt/my card")));
        assert_eq!(mounted(&line.replace("8:1", "8:2")), None);
        assert_eq!(mounted(&line.replace(" rw,noatime", " ro,noatime")), None);
        assert_eq!(mounted(&line.replace("8:1 /", "8:1 /sub")), None);
        assert_eq!(mounted(""), None);
    }

    #[test]
    fn names_that_are_paths_are_no_disks() {
        for name in ["", "..", "../sda", "/dev/sda", "a\0b"] {
            assert_eq!(disk(name), None, "{name:?}");
        }
    }
}
