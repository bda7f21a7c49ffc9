//! Detects the bus of a disk from sysfs, and its maximum throughput.

use crate::chain::DeviceNode;
use crate::roots::{self, Roots};
use hakaru_model::facts::{Bus, Fact, UnknownReason};
use std::path::{Path, PathBuf};

/// Returns the bus of a disk.
pub(crate) fn bus_of(disk: &DeviceNode, roots: &Roots) -> Bus {
    if disk.is_virtual() {
        return Bus::Software;
    }
    if let Some(host) = component(&disk.folder, "mmc_host") {
        return mmc(&host, roots);
    }
    if let Some(device) = usb_device(&disk.folder) {
        return Bus::Usb {
            speed_mbps: roots::number_fact(&device.join("speed")),
        };
    }
    if disk.kname.starts_with("nvme") {
        return Bus::Nvme {
            link: pci_link(disk),
        };
    }
    if ancestors(&disk.folder).any(|part| name_of(part).starts_with("virtio")) {
        return Bus::Virtio;
    }
    if ancestors(&disk.folder).any(|part| name_of(part).starts_with("host")) {
        return Bus::Scsi {
            link: ata_link(&disk.folder, roots),
        };
    }
    let subsystem = disk.folder.join("device/subsystem").read_link().ok();
    Bus::Other {
        name: subsystem.map_or_else(|| "unknown".to_owned(), |link| name_of(&link).to_owned()),
    }
}

/// Returns the maximum throughput of the bus in bytes/s, if known.
///
/// Source: clock × lines (SD and eMMC); line rate × coding (USB 2 as signalled, USB 3.0 and SATA 8b/10b, USB 3.1 and
/// PCI Express 3 and later 128b/130b or 128b/132b). Commands and protocol take another 5 to 20% that are not counted.
pub fn ceiling(bus: &Bus) -> Option<u64> {
    match bus {
        Bus::Mmc { ceiling, .. } => ceiling.known().copied(),
        Bus::Usb { speed_mbps } => usb_ceiling(*speed_mbps.known()?),
        Bus::Nvme { link } => pci_ceiling(link.known()?),
        Bus::Scsi { link } => {
            let gbps: f64 = link.known()?.split_once(" Gbps")?.0.trim().parse().ok()?;
            Some((gbps * 1e9 / 10.0) as u64)
        }
        Bus::Virtio | Bus::Software | Bus::Other { .. } => None,
    }
}

/// Returns the driver of the controller: the lowest driver in sysfs that is not a disk driver.
pub(crate) fn driver(disk: &DeviceNode) -> Fact<String> {
    let links = ancestors(&disk.folder).filter_map(|part| part.join("driver").read_link().ok());
    let mut names = links.map(|link| name_of(&link).to_owned());
    let found = names.find(|name| !matches!(name.as_str(), "sd" | "sr" | "mmcblk"));
    Fact::or_because(
        found,
        if disk.is_virtual() {
            UnknownReason::NoHardware
        } else {
            UnknownReason::NotReportedBySysfs
        },
    )
}

/// The USB device that a disk belongs to.
pub(crate) fn usb_device(folder: &Path) -> Option<PathBuf> {
    ancestors(folder)
        .find(|part| part.join("idVendor").exists() && part.join("speed").exists())
        .map(Path::to_owned)
}

/// Returns the path component after a given directory, such as `mmc0` after `mmc_host`.
fn component(folder: &Path, above: &str) -> Option<String> {
    let part = ancestors(folder).find(|part| part.parent().is_some_and(|p| name_of(p) == above))?;
    Some(name_of(part).to_owned())
}

fn ancestors(folder: &Path) -> impl Iterator<Item = &Path> {
    folder
        .ancestors()
        .take_while(|part| name_of(part) != "devices")
}

fn name_of(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// Reads width, clock and timing of an SD or eMMC bus from debugfs.
fn mmc(host: &str, roots: &Roots) -> Bus {
    let path = roots.sys.join("kernel/debug").join(host).join("ios");
    let text = match roots::text_fact(&path) {
        Fact::Known(text) => text,
        Fact::Unknown(because) => {
            let because = if rustix::process::geteuid().is_root() || !roots.is_live() {
                UnknownReason::NotMounted {
                    cause: Box::new(because),
                    filesystem: "debugfs".to_owned(),
                    at: "/sys/kernel/debug".to_owned(),
                }
            } else {
                UnknownReason::DebugfsNeedsRoot
            };
            let unknown = || Fact::Unknown(because.clone());
            return Bus::Mmc {
                width_bits: Fact::Unknown(because.clone()),
                clock_hz: Fact::Unknown(because.clone()),
                timing: unknown(),
                ceiling: Fact::Unknown(because.clone()),
            };
        }
    };
    let ios = Ios::parse(&text);
    let because = || UnknownReason::NotReportedIn(path.display().to_string());
    Bus::Mmc {
        width_bits: Fact::or_because(ios.width_bits, because()),
        clock_hz: Fact::or_because(ios.clock_hz, because()),
        ceiling: Fact::or_because(ios.ceiling(), because()),
        timing: Fact::or_because(ios.timing, because()),
    }
}

/// Bus state from `/sys/kernel/debug/mmc0/ios`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ios {
    width_bits: Option<u32>,
    clock_hz: Option<u64>,
    timing: Option<String>,
}

impl Ios {
    fn parse(text: &str) -> Ios {
        let value = |key: &str| {
            let line = text.lines().find(|line| {
                line.split(':')
                    .next()
                    .is_some_and(|name| name.trim() == key)
            })?;
            Some(line.split_once(':')?.1.trim())
        };
        // `2 (4 bits)`: the text in parentheses is more precise than the code before it.
        let words = |key: &str| value(key)?.split_once('(')?.1.strip_suffix(')');
        let hz = |key: &str| value(key)?.split_whitespace().next()?.parse::<u64>().ok();
        Ios {
            width_bits: words("bus width")
                .and_then(|text| text.split_whitespace().next()?.parse().ok()),
            clock_hz: hz("actual clock")
                .filter(|hz| *hz > 0)
                .or_else(|| hz("clock")),
            timing: words("timing spec").map(str::to_owned),
        }
    }

    /// Maximum throughput in bytes/s: one bit per line and clock cycle, two in double data rate modes.
    fn ceiling(&self) -> Option<u64> {
        let timing = self.timing.as_deref()?.to_uppercase();
        let edges = if timing.contains("DDR") || timing.contains("HS400") {
            2
        } else {
            1
        };
        self.clock_hz?
            .checked_mul(u64::from(self.width_bits?))?
            .checked_mul(edges)
            .map(|bits| bits / 8)
    }
}

fn usb_ceiling(mbps: u64) -> Option<u64> {
    let bits = mbps.checked_mul(1_000_000)?;
    Some(match mbps {
        0..=480 => bits / 8,
        481..=5000 => bits / 10,
        _ => bits / 8 * 128 / 132,
    })
}

/// Formats the PCI Express link, such as `8.0 GT/s PCIe x4`.
fn pci_link(disk: &DeviceNode) -> Fact<String> {
    let controllers =
        ancestors(&disk.folder).filter(|part| part.join("current_link_speed").exists());
    let Some(pci) = controllers.last() else {
        return Fact::Unknown(UnknownReason::NoLinkSpeed);
    };
    let speed = roots::text_fact(&pci.join("current_link_speed"));
    match (speed, roots::text(&pci.join("current_link_width"))) {
        (Fact::Known(speed), Some(width)) => Fact::Known(format!("{speed} x{width}")),
        (speed, _) => speed,
    }
}

fn pci_ceiling(link: &str) -> Option<u64> {
    let (speed, rest) = link.split_once(" GT/s")?;
    let gigatransfers: f64 = speed.trim().parse().ok()?;
    let lanes: f64 = rest.rsplit_once('x')?.1.trim().parse().ok()?;
    let coding = if gigatransfers < 8.0 {
        8.0 / 10.0
    } else {
        128.0 / 130.0
    };
    Some((gigatransfers * 1e9 * lanes * coding / 8.0) as u64)
}

/// Whether a disk uses the kernel's ATA layer.
pub(crate) fn is_ata(disk: &DeviceNode) -> bool {
    ata_port(&disk.folder).is_some()
}

fn ata_port(folder: &Path) -> Option<u32> {
    ancestors(folder).find_map(|part| name_of(part).strip_prefix("ata")?.parse().ok())
}

/// Reads the SATA link of a disk by its port number.
fn ata_link(folder: &Path, roots: &Roots) -> Fact<String> {
    let Some(port) = ata_port(folder) else {
        return Fact::Unknown(UnknownReason::NoSataPort);
    };
    roots::text_fact(
        &roots
            .sys
            .join(format!("class/ata_link/link{port}/sata_spd")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ios(width: &str, clock: &str, timing: &str) -> Option<u64> {
        let text =
            format!("clock:\t\t{clock} Hz\nbus width:\t2 ({width})\ntiming spec:\t6 ({timing})\n");
        Ios::parse(&text).ceiling()
    }

    #[test]
    fn the_ceiling_follows_from_lines_clock_and_edges() {
        assert_eq!(ios("1 bits", "25000000", "legacy"), Some(3_125_000));
        assert_eq!(ios("4 bits", "25000000", "legacy"), Some(12_500_000));
        assert_eq!(ios("4 bits", "50000000", "sd high-speed"), Some(25_000_000));
        assert_eq!(ios("4 bits", "50000000", "sd uhs DDR50"), Some(50_000_000));
        assert_eq!(
            ios("4 bits", "208000000", "sd uhs SDR104"),
            Some(104_000_000)
        );
        assert_eq!(ios("8 bits", "200000000", "mmc HS400"), Some(400_000_000));
        assert_eq!(Ios::parse("clock:\t\t0 Hz\n").ceiling(), None);
    }

    #[test]
    fn the_actual_clock_is_used_if_known() {
        let text = "clock:\t\t50000000 Hz\nactual clock:\t26000000 Hz\nbus width:\t2 (4 bits)\ntiming spec:\t2 (sd high-speed)\n";
        assert_eq!(Ios::parse(text).ceiling(), Some(13_000_000));
    }

    #[test]
    fn other_links_have_ceilings_too() {
        let known = |text: &str| Fact::Known(text.to_owned());
        assert_eq!(
            ceiling(&Bus::Usb {
                speed_mbps: Fact::Known(480)
            }),
            Some(60_000_000)
        );
        assert_eq!(
            ceiling(&Bus::Usb {
                speed_mbps: Fact::Known(5000)
            }),
            Some(500_000_000)
        );
        assert_eq!(
            ceiling(&Bus::Scsi {
                link: known("6.0 Gbps")
            }),
            Some(600_000_000)
        );
        assert_eq!(
            ceiling(&Bus::Nvme {
                link: known("8.0 GT/s PCIe x4")
            }),
            Some(3_938_461_538)
        );
        assert_eq!(
            ceiling(&Bus::Nvme {
                link: known("Unknown")
            }),
            None
        );
        assert_eq!(ceiling(&Bus::Virtio), None);
    }

    proptest::proptest! {
        #[test]
        fn no_link_panics(text in "[ -~\\n\\t]{0,80}", speed: u64) {
            let _ = Ios::parse(&text).ceiling();
            let _ = ceiling(&Bus::Scsi { link: Fact::Known(text.clone()) });
            let _ = ceiling(&Bus::Nvme { link: Fact::Known(text) });
            let _ = ceiling(&Bus::Usb { speed_mbps: Fact::Known(speed) });
        }
    }
}
