//! Checks `hakaru info --json` for every type of disk, field by field: known, or unknown with a
//! reason.

use super::cards::{self, make};
use super::checks::Checks;
use super::full::RigSetup;
use super::product::{info, known};
use anyhow::{Context, Result, ensure};
use hakaru_model::units::Bytes;
use hakaru_rig::guest::{DISK_SIZE, Guest, GuestDisk};
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
pub(super) fn main(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let card = make(cards::quick("told", Bytes(64 << 20)))?;
    card.poke(0, &cards::two_partitions())?;
    let mut builder = Guest::builder(&bench.kit).card(&card);
    for expected in DISKS {
        builder = builder.disk(expected.kind);
    }
    let mut guest = builder.boot()?;
    checks.check("an SD card, by its partition", || {
        let info = info(&mut guest, &bench.hakaru, "/dev/mmcblk0p1")?;
        let device = known(&info, &["identity", "device"]);
        told(
            device,
            OF_ALL,
            &[
                "model",
                "serial",
                "scheduler",
                "write_cache",
                "max_sectors_kb",
                "zoned",
                "driver",
            ],
        )?;
        let card = told(
            &device["card"],
            OF_CARDS,
            &["cid", "csd", "scr", "ssr", "maker", "name", "date", "spec"],
        )?;
        let bus = told(&device["bus"], OF_MMC_BUS, OF_MMC_BUS)?;
        let chain = chain_of(device, &[("mmcblk0p1", "partition"), ("mmcblk0", "disk")])?;
        is_driven_by(device, "sdhci-pci")?;
        Ok(format!("{chain}; {card}; {bus}"))
    });
    checks.check("the host", || {
        let info = info(&mut guest, &bench.hakaru, "/dev/mmcblk0")?;
        told(
            &info["environment"],
            OF_HOST,
            &[
                "board",
                "kernel",
                "cpu",
                "cpu_count",
                "memory",
                "load_percent",
            ],
        )
    });
    for expected in DISKS {
        checks.check(&format!("{:?}", expected.kind), || {
            let node = expected.find(&mut guest)?;
            expected.is_told(&info(&mut guest, &bench.hakaru, &node)?, &node)
        });
    }
    checks.check("the list of disks", || {
        let list = guest
            .run(&format!("{} info", bench.hakaru), LIMIT)?
            .success()?;
        let missing: Vec<&str> = ["/dev/mmcblk0", "/dev/nvme0n1", "/dev/sda", "/dev/sdb"]
            .into_iter()
            .filter(|node| !list.contains(node))
            .collect();
        ensure!(missing.is_empty(), "{missing:?} are not in it:\n{list}");
        Ok("each of the disks is in it".to_owned())
    });
    Ok(guest.power_off()?)
}

/// Checks that all fields exist, required ones are known, and others have a reason. Returns them as
/// text.
fn told(tree: &Value, fields: &[&str], must: &[&str]) -> Result<String> {
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
        let shown = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        words.push(format!(
            "{field} {}",
            shown.chars().take(40).collect::<String>()
        ));
    }
    Ok(words.join(", "))
}

/// The chain from the named node to the disk, by names and roles.
fn chain_of(device: &Value, expected: &[(&str, &str)]) -> Result<String> {
    let link = |link: &Value| {
        let text = |key: &str| link[key].as_str().unwrap_or_default().to_owned();
        (text("name"), text("role"))
    };
    let links: Vec<(String, String)> = device["chain"]
        .as_array()
        .into_iter()
        .flatten()
        .map(link)
        .collect();
    let same = links.len() == expected.len()
        && links
            .iter()
            .zip(expected)
            .all(|(found, wanted)| (found.0.as_str(), found.1.as_str()) == *wanted);
    ensure!(same, "the chain is {links:?}");
    let names: Vec<String> = links.into_iter().map(|(name, _)| name).collect();
    Ok(names.join(" → "))
}

fn is_driven_by(device: &Value, driver: &str) -> Result<()> {
    let found = &device["driver"]["known"];
    ensure!(found == driver, "the driver is told as {found}");
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
        Ok(guest.run(&script, LIMIT)?.success()?.trim().to_owned())
    }

    fn is_told(&self, info: &Value, node: &str) -> Result<String> {
        let device = known(info, &["identity", "device"]);
        let words = told(device, OF_ALL, self.known)?;
        let serial = known(device, &["serial"]).as_str().unwrap_or_default();
        ensure!(
            serial == self.kind.serial(),
            "the serial number is told as {serial:?}"
        );
        ensure!(
            device["size"] == DISK_SIZE,
            "the size is told as {}",
            device["size"]
        );
        let [kind, link, driver] = self.bus;
        let bus = &device["bus"];
        ensure!(
            bus["type"] == kind && bus.to_string().contains(link),
            "the bus is told as {bus}"
        );
        is_driven_by(device, driver)?;
        let name = node.trim_start_matches("/dev/");
        chain_of(device, &[(name, "disk")])?;
        let ceiling = info["bus_ceiling"]
            .as_u64()
            .context("the ceiling of the bus is not told")?;
        ensure!(
            ceiling >= self.ceiling,
            "the ceiling is told as {ceiling} B/s, and is {} at least",
            self.ceiling
        );
        Ok(format!("{words}; {ceiling} B/s at best"))
    }
}
