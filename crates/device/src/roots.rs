//! Locations of the kernel's pseudo file systems, and readers for their small text files.
//!
//! All accesses to `/sys`, `/proc`, `/dev` and `/etc` go through [`Roots`], so that tests can use a
//! tree of plain files. The content is untrusted: it may be missing, truncated, oversized or not
//! UTF-8; reading never panics.

use hakaru_model::facts::{Fact, UnknownReason};
use std::fmt;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Maximum text size in bytes; sysfs attributes have at most one page.
const TEXT_LIMIT: u64 = 256 * 1024;

/// Root directories of the pseudo file systems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// `/sys`
    pub sys: PathBuf,
    /// `/proc`
    pub proc: PathBuf,
    /// `/dev`
    pub dev: PathBuf,
    /// `/etc`
    pub etc: PathBuf,
    /// Whether these are the roots of the running system; device nodes and statfs are used only then.
    live: bool,
}

impl Default for Roots {
    fn default() -> Self {
        Roots::live()
    }
}

impl Roots {
    /// Returns the roots of the running system.
    pub fn live() -> Roots {
        Roots {
            live: true,
            ..Roots::beneath(Path::new("/"))
        }
    }

    /// Uses a tree of plain files, for tests: `folder/sys`, `folder/proc` and so on. A plain file
    /// in `folder/dev` represents the block device of that name.
    pub fn beneath(folder: &Path) -> Roots {
        let [sys, proc, dev, etc] = ["sys", "proc", "dev", "etc"].map(|name| folder.join(name));
        Roots {
            sys,
            proc,
            dev,
            etc,
            live: false,
        }
    }

    /// Whether these are the roots of the running system.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Returns the sysfs directory of a block device, links resolved, such as
    /// `/sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0`.
    pub(crate) fn sysfs_of(&self, number: DevNum) -> Option<PathBuf> {
        self.sys
            .join("dev/block")
            .join(number.to_string())
            .canonicalize()
            .ok()
    }

    /// Returns the sysfs directory of a block device by kernel name.
    pub(crate) fn sysfs_by_name(&self, kname: &str) -> Option<PathBuf> {
        self.sys
            .join("class/block")
            .join(kname.replace('/', "!"))
            .canonicalize()
            .ok()
    }

    /// Returns the device number of a block device node; `None` for other files.
    pub(crate) fn device_number(&self, path: &Path) -> Option<DevNum> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let metadata = path.metadata().ok()?;
        if metadata.file_type().is_block_device() {
            return Some(DevNum::from_raw(metadata.rdev()));
        }
        if self.live {
            return None;
        }
        let real = path.canonicalize().ok()?;
        let name = real
            .strip_prefix(self.dev.canonicalize().ok()?)
            .ok()?
            .to_str()?;
        DevNum::parse(&text(&self.sysfs_by_name(name)?.join("dev"))?)
    }
}

/// Device number of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevNum {
    /// Major number, which identifies the driver.
    pub major: u32,
    /// Minor number, which identifies a device of that driver.
    pub minor: u32,
}

impl DevNum {
    /// Converts the `st_rdev` or `st_dev` of a stat call.
    pub fn from_raw(dev: u64) -> DevNum {
        DevNum {
            major: rustix::fs::major(dev),
            minor: rustix::fs::minor(dev),
        }
    }

    /// Parses `179:0`, as in sysfs and mountinfo.
    pub fn parse(text: &str) -> Option<DevNum> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DevNum {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }
}

impl fmt::Display for DevNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Reads a small text file, trimmed and without trailing NULs (device tree); `None` if unreadable.
pub(crate) fn text(path: &Path) -> Option<String> {
    read(path).ok()
}

/// Reads a number; hexadecimal with `0x`.
pub(crate) fn number<T: TryFrom<u64>>(path: &Path) -> Option<T> {
    parse_number(&text(path)?)
}

/// Parses a whole number as in sysfs: decimal, or hexadecimal with `0x`.
pub(crate) fn parse_number<T: TryFrom<u64>>(text: &str) -> Option<T> {
    let value = match text.trim().strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => text.trim().parse().ok()?,
    };
    T::try_from(value).ok()
}

/// Reads the text of a file as a fact; the reason for a missing one comes from the I/O error.
pub(crate) fn text_fact(path: &Path) -> Fact<String> {
    match read(path) {
        Ok(text) if text.is_empty() => Fact::Unknown(UnknownReason::Empty(file_name(path))),
        Ok(text) => Fact::Known(text),
        Err(error) => Fact::Unknown(why_unread(path, &error)),
    }
}

/// Reads a number as a fact.
pub(crate) fn number_fact<T: TryFrom<u64>>(path: &Path) -> Fact<T> {
    match text_fact(path) {
        Fact::Known(text) => {
            let because = UnknownReason::not_a_number(file_name(path), &text);
            Fact::or_because(parse_number(&text), because)
        }
        Fact::Unknown(because) => Fact::Unknown(because),
    }
}

/// The reason in "unknown (…)" for a file that cannot be read.
pub(crate) fn why_unread(path: &Path, error: &std::io::Error) -> UnknownReason {
    let name = file_name(path);
    match error.kind() {
        ErrorKind::NotFound => UnknownReason::NotProvided(name),
        ErrorKind::PermissionDenied => UnknownReason::NeedsRoot(name),
        _ => UnknownReason::Text(format!("cannot read `{name}` ({error})")),
    }
}

/// The name of a file without its directory: paths of sysfs are long and differ between hosts.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().display().to_string()
}

/// Returns the sorted entries of a directory; empty if unreadable.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<_> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(TEXT_LIMIT)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes)
        .trim_matches(|c: char| c.is_whitespace() || c == '\0')
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_are_read_and_written_alike() {
        let number = DevNum {
            major: 179,
            minor: 2,
        };
        assert_eq!(DevNum::parse(" 179:2\n"), Some(number));
        assert_eq!(number.to_string(), "179:2");
        assert_eq!(DevNum::parse("179"), None);
        assert_eq!(DevNum::parse("-1:2"), None);
    }

    #[test]
    fn texts_of_the_kernel_lose_their_padding() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        std::fs::write(&path, b"Raspberry Pi 3 Model B\0").unwrap();
        assert_eq!(text(&path).as_deref(), Some("Raspberry Pi 3 Model B"));
        std::fs::write(&path, b"0x40\n").unwrap();
        assert_eq!(number::<u8>(&path), Some(0x40));
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert!(number_fact::<u8>(&path).known().is_none());
        let absent = text_fact(&folder.path().join("none"));
        assert!(
            absent
                .to_string()
                .starts_with("unknown (the kernel provides no `none`"),
            "{absent}"
        );
    }
}
