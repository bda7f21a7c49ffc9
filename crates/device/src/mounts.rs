//! Mounts and swap devices from `/proc`.
//!
//! Source of the formats: proc(5), `/proc/pid/mountinfo` and `/proc/swaps`.

use crate::roots::{self, DevNum, Roots};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum table size in bytes: hosts with thousands of containers have tables of megabytes, and a truncated table
/// would hide a mount.
const TABLE_LIMIT: u64 = 64 << 20;

/// One line of the mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Device number of the file system; major 0 when it has no device of its own.
    pub(crate) number: DevNum,
    /// The mount point.
    pub(crate) mount_point: PathBuf,
    /// Type, such as `ext4`.
    pub(crate) fs_type: String,
    /// The source; its form depends on the file system.
    pub(crate) source: String,
    /// Options of the mount and of the file system, without duplicates.
    pub(crate) options: String,
}

impl Mount {
    /// Returns the value of an option such as `upperdir=`.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options
            .split(',')
            .find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Reads the mount table of this process.
pub(crate) fn mounts(roots: &Roots) -> Vec<Mount> {
    parse_table(&table(&roots.proc.join("self/mountinfo")))
}

/// Reads the mount tables of this process and, if permitted, of process 1: a container sees fewer
/// mounts than its host.
pub(crate) fn mounts_everywhere(roots: &Roots) -> Vec<Mount> {
    let mut all = mounts(roots);
    for mount in parse_table(&table(&roots.proc.join("1/mountinfo"))) {
        if !all.contains(&mount) {
            all.push(mount);
        }
    }
    all
}

/// A mount in another mount namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    pub(crate) mount: Mount,
    /// A process in that namespace.
    pub(crate) process: u32,
}

/// Returns the mounts of all other readable mount namespaces that are not in `known`: containers,
/// sandboxes and services with private mounts. Each namespace is read once.
pub(crate) fn mounts_elsewhere(roots: &Roots, known: &[Mount]) -> Vec<Elsewhere> {
    let mut seen = vec![namespace(roots, "self"), namespace(roots, "1")];
    let mut all: Vec<Elsewhere> = Vec::new();
    let processes = roots::names(&roots.proc)
        .into_iter()
        .filter_map(|name| name.parse::<u32>().ok());
    for process in processes {
        let own = namespace(roots, &process.to_string());
        // If the namespace of a process is not readable, its table is read separately.
        if own.is_some() && seen.contains(&own) {
            continue;
        }
        seen.push(own);
        for mount in parse_table(&table(
            &roots.proc.join(process.to_string()).join("mountinfo"),
        )) {
            if !known.contains(&mount) && !all.iter().any(|other| other.mount == mount) {
                all.push(Elsewhere { mount, process });
            }
        }
    }
    all
}

/// Returns the mount namespace ID of a process.
fn namespace(roots: &Roots, process: &str) -> Option<PathBuf> {
    std::fs::read_link(roots.proc.join(process).join("ns/mnt")).ok()
}

/// Returns the mount of a path: the last one with the longest matching mount point.
pub(crate) fn mount_of<'a>(path: &Path, mounts: &'a [Mount]) -> Option<&'a Mount> {
    let covers = |mount: &&Mount| path.starts_with(&mount.mount_point);
    mounts
        .iter()
        .filter(covers)
        .max_by_key(|mount| mount.mount_point.components().count())
}

/// Returns the mount of a path from the table, or from the file system itself if the table does not
/// list it, as after chroot(2) and in some containers. For a missing path, its nearest existing
/// parent is used.
pub(crate) fn mount_at(path: &Path, roots: &Roots, mounts: &[Mount]) -> Option<Mount> {
    let shown = mount_of(path, mounts);
    if !roots.is_live() {
        return shown.cloned();
    }
    let Some((existing, own)) = path
        .ancestors()
        .find_map(|part| Some((part, device_of(part)?)))
    else {
        return shown.cloned();
    };
    // A file in an overlay may have the device number of its layer; only directories have the number of the overlay.
    let of_parent = existing.parent().and_then(device_of);
    // btrfs subvolumes have virtual device numbers that no table lists.
    let is_same = |mount: &Mount, number: DevNum| {
        mount.number == number || mount.number.major + number.major == 0
    };
    match shown {
        Some(mount)
            if is_same(mount, own) || of_parent.is_some_and(|parent| is_same(mount, parent)) =>
        {
            Some(mount.clone())
        }
        _ => Some(hidden(existing, own, roots)),
    }
}

/// Reconstructs an unlisted mount from `st_dev`, statfs(2), and another mount of the same file
/// system.
fn hidden(path: &Path, number: DevNum, roots: &Roots) -> Mount {
    let same = path
        .ancestors()
        .take_while(|part| device_of(part) == Some(number));
    let mount_point = same.last().unwrap_or(path).to_owned();
    let elsewhere = mounts_everywhere(roots)
        .into_iter()
        .find(|mount| mount.number == number);
    if let Some(elsewhere) = elsewhere {
        return Mount {
            mount_point,
            ..elsewhere
        };
    }
    let kname = roots
        .sysfs_of(number)
        .and_then(|folder| Some(folder.file_name()?.to_str()?.replace('!', "/")));
    let fs_type = fs_type(path, kname.as_deref(), roots);
    let source = kname.map_or_else(|| fs_type.clone(), |kname| format!("/dev/{kname}"));
    Mount {
        number,
        mount_point,
        fs_type,
        source,
        options: String::new(),
    }
}

/// Returns the file system type by its statfs(2) number and, if several share it, by its directory
/// in `/sys/fs`. Source of the numbers: `linux/magic.h`.
fn fs_type(path: &Path, kname: Option<&str>, roots: &Roots) -> String {
    let Ok(stat) = rustix::fs::statfs(path) else {
        return "unknown".to_owned();
    };
    let of_ext4 = || kname.is_some_and(|kname| roots.sys.join("fs/ext4").join(kname).is_dir());
    match stat.f_type as u64 & 0xffff_ffff {
        0xef53 if of_ext4() => "ext4",
        0xef53 => "ext2",
        0x4d44 => "vfat",
        0x2011_bab0 => "exfat",
        0xf2f5_2010 => "f2fs",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0x0102_1994 => "tmpfs",
        0x8584_58f6 => "ramfs",
        0x794c_7630 => "overlay",
        0x2fc1_2fc1 => "zfs",
        0x6969 => "nfs",
        0x6573_5546 => "fuse",
        0x7371_7368 => "squashfs",
        0x0102_1997 => "9p",
        other => return format!("unknown (0x{other:x})"),
    }
    .to_owned()
}

/// Returns the `st_dev` of a path.
fn device_of(path: &Path) -> Option<DevNum> {
    use std::os::unix::fs::MetadataExt;
    Some(DevNum::from_raw(path.metadata().ok()?.dev()))
}

/// Returns active swap devices and files.
pub(crate) fn swaps(roots: &Roots) -> Vec<PathBuf> {
    let table = table(&roots.proc.join("swaps"));
    let paths = table
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    paths.map(|path| PathBuf::from(unescape(path))).collect()
}

fn table(path: &Path) -> String {
    let mut bytes = Vec::new();
    // An unreadable table counts as empty; safety does not depend on it, because the device is also
    // opened exclusively.
    let _ =
        std::fs::File::open(path).and_then(|file| file.take(TABLE_LIMIT).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn parse_table(table: &str) -> Vec<Mount> {
    table.lines().filter_map(parse_line).collect()
}

/// Parses one line of mountinfo, such as `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root
/// rw,errors=continue`.
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
    Some(Mount {
        number,
        mount_point,
        fs_type,
        source,
        options,
    })
}

/// Joins the mount options and the other options of the file system. The `ro` or `rw` of the mount applies: a read-only
/// mount of a writable file system lists both.
fn join_options(own: &str, of_filesystem: &str) -> String {
    let mut options: Vec<&str> = own.split(',').filter(|o| !o.is_empty()).collect();
    for option in of_filesystem.split(',').filter(|o| !o.is_empty()) {
        if !options.contains(&option) && !matches!(option, "rw" | "ro") {
            options.push(option);
        }
    }
    options
        .iter()
        .map(|option| unescape(option))
        .collect::<Vec<_>>()
        .join(",")
}

/// Decodes spaces, tabs, newlines and backslashes, which these tables write as `\040` and so on.
fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        let code = digits
            .and_then(|d| std::str::from_utf8(d).ok())
            .and_then(|d| u8::from_str_radix(d, 8).ok());
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

    /// As after chroot(2): no table lists the root, only mounts below it.
    #[test]
    fn a_mount_that_no_table_shows_is_known_by_its_device_number() {
        let folder = tempfile::tempdir().unwrap();
        let mut roots = Roots::live();
        roots.proc = folder.path().join("proc");
        std::fs::create_dir_all(roots.proc.join("self")).unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (absent, own) = (real.join("absent/file"), device_of(&real).unwrap());
        let elsewhere = DevNum {
            major: own.major + 1,
            minor: 0,
        };
        for table in [
            String::new(),
            format!("20 1 {elsewhere} / / rw - cramfs /dev/other rw\n"),
        ] {
            std::fs::write(roots.proc.join("self/mountinfo"), table).unwrap();
            let mount = mount_at(&absent, &roots, &mounts(&roots)).unwrap();
            assert_eq!(mount.number, own);
            assert!(
                real.starts_with(&mount.mount_point) && mount.fs_type != "cramfs",
                "{mount:?}"
            );
            let shown = mounts(&Roots::live());
            if let Some(shown) = mount_of(&real, &shown).filter(|shown| shown.number == own) {
                let one = [mount.fs_type.as_str(), shown.fs_type.as_str()];
                assert!(
                    one[0] == one[1] || one == ["ext2", "ext3"] || one[0].starts_with("unknown"),
                    "{one:?}"
                );
            }
        }
        // Another mount of the same file system provides the rest.
        let table = format!("20 1 {own} / /elsewhere ro - somefs /dev/some ro,here\n");
        std::fs::write(roots.proc.join("self/mountinfo"), table).unwrap();
        let mount = mount_at(&absent, &roots, &mounts(&roots)).unwrap();
        assert_eq!(
            (mount.fs_type.as_str(), mount.source.as_str()),
            ("somefs", "/dev/some")
        );
        assert!(real.starts_with(&mount.mount_point), "{mount:?}");
    }

    proptest::proptest! {
        #[test]
        fn any_table_is_read_without_a_panic(table in "[ -~\\n\\\\]{0,200}") {
            let mounts = parse_table(&table);
            let _ = mount_of(Path::new("/a/b"), &mounts);
        }
    }
}
