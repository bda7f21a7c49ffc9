//! Facts about the traced disk from sysfs.

use super::error::TraceError;
use super::options::DiskNumber;
use std::path::{Path, PathBuf};

/// The disk whose events are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskFacts {
    /// Number of the whole disk.
    pub number: DiskNumber,
    /// Kernel name: `mmcblk0`.
    pub name: String,
    /// First sector (512 bytes) and number of sectors of the partition that was asked for.
    pub partition: Option<(u64, u64)>,
    /// Size in sectors of 512 bytes.
    pub sectors: u64,
    /// Whether the device takes bios instead of requests: zram, brd, device mapper, md.
    pub bio_based: bool,
    /// Host of an SD or MMC card: `mmc0`.
    pub mmc_host: Option<String>,
    /// Host, channel, target and unit of a SCSI device.
    pub scsi_address: Option<[u32; 4]>,
    /// Number of the NVMe controller.
    pub nvme_controller: Option<u32>,
}

impl DiskFacts {
    /// Reads the facts of a disk, or of the disk of a partition.
    pub(super) fn read(number: DiskNumber) -> Result<DiskFacts, TraceError> {
        DiskFacts::read_below(Path::new("/sys"), number)
    }

    fn read_below(sysfs: &Path, number: DiskNumber) -> Result<DiskFacts, TraceError> {
        let device = sysfs.join(format!("dev/block/{number}"));
        let device = std::fs::canonicalize(device).map_err(|_| TraceError::NoBlockDevice)?;
        let start = number_in(&device.join("start"));
        let (disk, partition) = match (start, device.parent()) {
            (Some(start), Some(disk)) if device.join("partition").exists() => {
                let sectors = number_in(&device.join("size")).unwrap_or(0);
                (disk.to_owned(), Some((start, sectors)))
            }
            _ => (device, None),
        };
        let number = text(&disk.join("dev"))
            .and_then(|text| DiskNumber::parse(&text))
            .ok_or(TraceError::NoBlockDevice)?;
        let name = file_name(&disk).unwrap_or_default();
        let attached = std::fs::canonicalize(disk.join("device")).ok();
        let attached = attached.as_deref().and_then(file_name).unwrap_or_default();
        Ok(DiskFacts {
            number,
            partition,
            sectors: number_in(&disk.join("size")).unwrap_or(0),
            bio_based: !disk.join("mq").exists(),
            mmc_host: mmc_host(&name, &attached),
            scsi_address: scsi_address(&attached),
            nvme_controller: nvme_controller(&name),
            name,
        })
    }

    /// Returns the path of the device node, if it exists and is this disk.
    pub(super) fn node(&self) -> Option<PathBuf> {
        // Slashes in kernel names are exclamation marks in sysfs.
        let path = Path::new("/dev").join(self.name.replace('!', "/"));
        let stat = rustix::fs::stat(&path).ok()?;
        (DiskNumber::from_raw(stat.st_rdev as _) == self.number).then_some(path)
    }
}

fn mmc_host(name: &str, attached: &str) -> Option<String> {
    let (host, _) = attached.split_once(':')?;
    name.starts_with("mmcblk").then(|| host.to_owned())
}

fn scsi_address(attached: &str) -> Option<[u32; 4]> {
    let numbers: Vec<u32> = attached
        .split(':')
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn nvme_controller(name: &str) -> Option<u32> {
    let (controller, _) = name.strip_prefix("nvme")?.split_once('n')?;
    controller.parse().ok()
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn number_in(path: &Path) -> Option<u64> {
    text(path)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a tree like that of a Raspberry Pi with a card.
    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let sys = root.path();
        let put = |path: &str, content: &str| {
            let path = sys.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        let link = |path: &str, target: &str| {
            let path = sys.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(sys.join(target), path).unwrap();
        };
        let card = "devices/emmc2/mmc_host/mmc0/mmc0:aaaa";
        put(&format!("{card}/block/mmcblk0/dev"), "179:0\n");
        put(&format!("{card}/block/mmcblk0/size"), "62333952\n");
        put(&format!("{card}/block/mmcblk0/mq/0/cpu_list"), "0, 1\n");
        link(&format!("{card}/block/mmcblk0/device"), card);
        put(&format!("{card}/block/mmcblk0/mmcblk0p2/dev"), "179:2\n");
        put(&format!("{card}/block/mmcblk0/mmcblk0p2/partition"), "2\n");
        put(&format!("{card}/block/mmcblk0/mmcblk0p2/start"), "532480\n");
        put(
            &format!("{card}/block/mmcblk0/mmcblk0p2/size"),
            "61801472\n",
        );
        link("dev/block/179:0", &format!("{card}/block/mmcblk0"));
        link(
            "dev/block/179:2",
            &format!("{card}/block/mmcblk0/mmcblk0p2"),
        );
        put("devices/virtual/block/zram0/dev", "254:0\n");
        link("dev/block/254:0", "devices/virtual/block/zram0");
        root
    }

    #[test]
    fn resolves_a_partition_to_its_disk() {
        let sys = tree();
        let number = |text: &str| DiskNumber::parse(text).unwrap();
        let of_partition = DiskFacts::read_below(sys.path(), number("179:2")).unwrap();
        let of_disk = DiskFacts::read_below(sys.path(), number("179:0")).unwrap();
        assert_eq!(of_partition.partition, Some((532_480, 61_801_472)));
        assert_eq!(of_disk.partition, None);
        for disk in [of_partition, of_disk] {
            assert_eq!(disk.number, number("179:0"));
            assert_eq!((disk.name.as_str(), disk.sectors), ("mmcblk0", 62_333_952));
            assert_eq!(disk.mmc_host.as_deref(), Some("mmc0"));
            assert!(!disk.bio_based && disk.scsi_address.is_none());
        }
    }

    #[test]
    fn recognizes_devices_without_requests() {
        let sys = tree();
        let disk = DiskFacts::read_below(sys.path(), DiskNumber::parse("254:0").unwrap()).unwrap();
        assert!(disk.bio_based);
        let nothing = DiskFacts::read_below(sys.path(), DiskNumber::parse("0:45").unwrap());
        assert_eq!(nothing, Err(TraceError::NoBlockDevice));
    }

    #[test]
    fn finds_controllers_by_name() {
        assert_eq!(nvme_controller("nvme2n1"), Some(2));
        assert_eq!(nvme_controller("sda"), None);
        assert_eq!(scsi_address("1:0:2:3"), Some([1, 0, 2, 3]));
        assert_eq!(scsi_address("mmc0:0001"), None);
        assert_eq!(mmc_host("sda", "0:0:0:0"), None);
    }
}
