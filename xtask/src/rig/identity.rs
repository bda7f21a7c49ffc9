//! Checks `hakaru info --json` for every type of disk, field by field: known, or unknown with a
//! reason.

use super::cards::{self, make};
use super::checks::Checks;
use super::full::RigSetup;
use super::product::{info, known};
use anyhow::{Context, Result, ensure};
use hakaru_model::units::Bytes;
use hakaru_rig::guest::{DISK_SIZE, Guest, GuestBuilder, GuestDisk};
use serde_json::Value;
use std::time::Duration;

/// A busy machine takes a long time to detect a disk.
const LIMIT: Duration = Duration::from_secs(120);

/// Fields of every block device.
const OF_ALL: &[&str] = &[
    "node",
    "model",
    "serial",
    "size",
    "logical_block",
    "physical_block",
    "rotational",
    "scheduler",
    "write_cache",
    "max_sectors_kb",
    "nr_requests",
    "zoned",
    "discard_max",
    "discard_granularity",
    "removable",
    "firmware",
    "wwid",
    "driver",
    "temperature_mc",
    "health",
    "chain",
];

/// Fields of a card on an SD or eMMC bus.
const OF_CARDS: &[&str] = &[
    "cid",
    "maker",
    "oem",
    "name",
    "revision",
    "serial",
    "date",
    "csd",
    "scr",
    "ssr",
    "card_type",
    "spec",
    "speed_class",
    "uhs_grade",
    "video_class",
    "app_class",
    "allocation_unit",
    "life_time",
    "pre_eol",
    "device_type",
];

/// Fields of the card's block device that must be known.
const KNOWN_OF_CARD_DISK: &[&str] = &[
    "model",
    "serial",
    "scheduler",
    "write_cache",
    "max_sectors_kb",
    "zoned",
    "driver",
];

/// Fields of the emulated card that must be known.
const KNOWN_OF_CARD: &[&str] = &["cid", "csd", "scr", "ssr", "maker", "name", "date", "spec"];

/// Bus fields of a card.
const OF_MMC_BUS: &[&str] = &["width_bits", "clock_hz", "timing", "ceiling"];

/// Fields of the host.
const OF_HOST: &[&str] = &[
    "board",
    "kernel",
    "cpu",
    "cpu_count",
    "governor",
    "memory",
    "load_percent",
    "temperature_mc",
    "throttled",
    "io_pressure",
];

/// Fields of the emulated host that must be known.
const KNOWN_OF_HOST: &[&str] = &[
    "board",
    "kernel",
    "cpu",
    "cpu_count",
    "memory",
    "load_percent",
];

/// A disk of the guest: how to identify it, and the fields that must be known.
struct Expected {
    kind: GuestDisk,
    modules: &'static str,
    /// Possible device nodes; the serial number decides.
    nodes: &'static str,
    known: &'static [&'static str],
    /// Bus type, negotiated mode, and driver.
    bus: [&'static str; 3],
    /// Minimum bus ceiling in bytes per second, if known.
    ceiling: u64,
}

const DISKS: &[Expected] = &[
    Expected {
        kind: GuestDisk::Usb,
        modules: "xhci-pci usb-storage sd_mod",
        nodes: "/dev/sd?",
        known: &[
            "model",
            "serial",
            "rotational",
            "scheduler",
            "write_cache",
            "max_sectors_kb",
            "nr_requests",
            "zoned",
        ],
        bus: ["usb", "5000", "usb-storage"],
        ceiling: 500_000_000,
    },
    Expected {
        kind: GuestDisk::Nvme,
        modules: "nvme",
        nodes: "/dev/nvme?n1",
        known: &[
            "model",
            "serial",
            "firmware",
            "wwid",
            "rotational",
            "scheduler",
            "write_cache",
            "zoned",
            "health",
        ],
        bus: ["nvme", "", "nvme"],
        ceiling: 250_000_000,
    },
    Expected {
        kind: GuestDisk::Sata,
        modules: "ahci sd_mod",
        nodes: "/dev/sd?",
        known: &[
            "model",
            "serial",
            "firmware",
            "rotational",
            "scheduler",
            "write_cache",
            "zoned",
            "health",
        ],
        bus: ["scsi", "1.5 Gbps", "ahci"],
        ceiling: 150_000_000,
    },
];

/// Checks a card with a partition and one disk of each other kind, in one machine.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let card = make(cards::quick("identified", Bytes(64 << 20)))?;
    card.poke(0, &cards::two_partitions())?;
    let disks = DISKS.iter().map(|expected| expected.kind);
    let mut guest = disks.fold(rig.with(&card), GuestBuilder::disk).boot()?;
    checks.check("an SD card, by its partition", || {
        check_card(&info(&mut guest, &rig.hakaru, "/dev/mmcblk0p1")?)
    });
    checks.check("the host", || {
        let info = info(&mut guest, &rig.hakaru, "/dev/mmcblk0")?;
        fields(&info["environment"], OF_HOST, KNOWN_OF_HOST)
    });
    for expected in DISKS {
        checks.check(&format!("{:?}", expected.kind), || {
            let node = expected.find(&mut guest)?;
            expected.check(&info(&mut guest, &rig.hakaru, &node)?, &node)
        });
    }
    checks.check("the list of disks", || {
        let list = guest.check_output(&format!("{} info", rig.hakaru), LIMIT)?;
        let nodes = ["/dev/mmcblk0", "/dev/nvme0n1", "/dev/sda", "/dev/sdb"];
        let missing = nodes.into_iter().filter(|node| !list.contains(node));
        let missing: Vec<&str> = missing.collect();
        ensure!(missing.is_empty(), "{missing:?} are not in it:\n{list}");
        Ok("each of the disks is in it".to_owned())
    });
    Ok(guest.power_off()?)
}

/// Checks what is known of the card, by its partition.
fn check_card(info: &Value) -> Result<String> {
    let device = known(info, &["identity", "device"]);
    fields(device, OF_ALL, KNOWN_OF_CARD_DISK)?;
    let card = fields(&device["card"], OF_CARDS, KNOWN_OF_CARD)?;
    let bus = fields(&device["bus"], OF_MMC_BUS, OF_MMC_BUS)?;
    let chain = chain_of(device, &[("mmcblk0p1", "partition"), ("mmcblk0", "disk")])?;
    is_driven_by(device, "sdhci-pci")?;
    Ok(format!("{chain}; {card}; {bus}"))
}

/// Checks that all fields exist, required ones are known, and others have a reason. Returns them as text.
fn fields(tree: &Value, fields: &[&str], must: &[&str]) -> Result<String> {
    let mut words = Vec::new();
    for field in fields {
        let value = tree
            .get(field)
            .with_context(|| format!("there is no `{field}`"))?;
        if let Some(why) = value.get("unknown") {
            ensure!(!must.contains(field), "`{field}` is unknown, because {why}");
            ensure!(
                why.as_str().is_some_and(|why| why.len() > 10),
                "`{field}` is unknown for no reason: {why}"
            );
            words.push(format!("{field} unknown"));
            continue;
        }
        let value = value.get("known").unwrap_or(value);
        let text = value.as_str().map(str::to_owned);
        let text = text.unwrap_or_else(|| value.to_string());
        let start: String = text.chars().take(40).collect();
        words.push(format!("{field} {start}"));
    }
    Ok(words.join(", "))
}

/// The chain from the named node to the disk, by names and roles.
fn chain_of(device: &Value, expected: &[(&str, &str)]) -> Result<String> {
    let links = device["chain"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let links: Vec<(String, String)> = links
        .map(|link| (text(&link["name"]), text(&link["role"])))
        .collect();
    let found = links
        .iter()
        .map(|(name, role)| (name.as_str(), role.as_str()));
    ensure!(found.eq(expected.iter().copied()), "the chain is {links:?}");
    let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    Ok(names.join(" → "))
}

fn is_driven_by(device: &Value, driver: &str) -> Result<()> {
    let found = &device["driver"]["known"];
    ensure!(found == driver, "the driver is reported as {found}");
    Ok(())
}

impl Expected {
    /// Finds its device node in the machine, after its drivers have detected it.
    fn find(&self, guest: &mut Guest) -> Result<String> {
        let Expected { modules, nodes, .. } = self;
        let script = format!(
            "for module in {modules}; do modprobe $module || exit 1; done\n\
             modprobe drivetemp 2>/dev/null\n\
             for n in $(seq 200); do\n\
             for node in $(ls -d {nodes} 2>/dev/null); do\n\
             name=${{node#/dev/}}\n\
             serials=\"$(cat /sys/block/$name/device/serial /sys/block/$name/device/vpd_pg80 2>/dev/null | tr -d '\\0')\"\n\
             serials=\"$serials $(cat $(readlink -f /sys/block/$name/device)/../../../../serial 2>/dev/null)\"\n\
             case \"$serials\" in *{}*) echo $node; exit 0;; esac\n\
             done\n\
             sleep 0.1\n\
             done\n\
             ls /sys/block >&2\n\
             exit 1\n",
            self.kind.serial()
        );
        Ok(guest.check_output(&script, LIMIT)?.trim().to_owned())
    }

    /// Checks what is known of the disk.
    fn check(&self, info: &Value, node: &str) -> Result<String> {
        let device = known(info, &["identity", "device"]);
        let words = fields(device, OF_ALL, self.known)?;
        let [kind, link, driver] = self.bus;
        let (serial, size, bus) = (
            known(device, &["serial"]).as_str().unwrap_or_default(),
            &device["size"],
            &device["bus"],
        );
        ensure!(serial == self.kind.serial(), "the serial is {serial:?}");
        ensure!(*size == DISK_SIZE, "the size is reported as {size}");
        ensure!(
            bus["type"] == kind && bus.to_string().contains(link),
            "the bus is reported as {bus}"
        );
        is_driven_by(device, driver)?;
        chain_of(device, &[(node.trim_start_matches("/dev/"), "disk")])?;
        let ceiling = info["bus_ceiling"].as_u64();
        let ceiling = ceiling.context("the ceiling of the bus is missing")?;
        let least = self.ceiling;
        ensure!(
            ceiling >= least,
            "the ceiling is {ceiling} B/s, less than {least}"
        );
        Ok(format!("{words}; {ceiling} B/s at most"))
    }
}
