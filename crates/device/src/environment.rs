//! The host environment: machine, operating system, and load at the start of a run.
//!
//! Read from pseudo files only; no program is started and no network is used.

use crate::roots::{self, Roots};
use hakaru_model::facts::{Environment, Fact, UnknownReason};
use hakaru_model::units::Bytes;
use std::path::{Path, PathBuf};

/// Returns the current environment. `clock` is the name of the clock that times the I/Os.
pub fn environment(roots: &Roots, clock: &str) -> Environment {
    let kernel_file = |name: &str| roots::text(&roots.proc.join("sys/kernel").join(name));
    let uname = rustix::system::uname();
    let uname_text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    let cpuinfo = roots::text(&roots.proc.join("cpuinfo")).unwrap_or_default();
    let release = kernel_file("osrelease").unwrap_or_else(|| uname_text(uname.release()));
    let system = kernel_file("ostype").unwrap_or_else(|| uname_text(uname.sysname()));
    Environment {
        hostname: kernel_file("hostname").unwrap_or_else(|| uname_text(uname.nodename())),
        kernel: format!("{system} {release}"),
        // The file exists since Linux 6.1; it contains the kernel's architecture, like uname.
        arch: kernel_file("arch").unwrap_or_else(|| uname_text(uname.machine())),
        distribution: distribution(roots),
        board: board(roots),
        cpu: Fact::or_because(cpu_name(&cpuinfo), UnknownReason::NoCpuName),
        cpu_count: cpu_count(roots, &cpuinfo),
        governor: governor(roots),
        memory: memory(roots),
        load_percent: load(roots),
        temperature_mc: temperature(roots),
        throttled: throttled(roots),
        io_pressure: io_pressure(roots),
        clock: clock.to_owned(),
    }
}

fn distribution(roots: &Roots) -> Fact<String> {
    let text = roots::text(&roots.etc.join("os-release")).unwrap_or_default();
    let value = |key: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(line.trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
    };
    Fact::or_because(
        value("PRETTY_NAME").or_else(|| value("NAME")),
        UnknownReason::NotInOsRelease,
    )
}

/// Returns the board name from the device tree, or vendor and product from DMI.
fn board(roots: &Roots) -> Fact<String> {
    let trees = [
        roots.proc.join("device-tree/model"),
        roots.sys.join("firmware/devicetree/base/model"),
    ];
    if let Some(model) = trees
        .iter()
        .find_map(|path| roots::text(path))
        .filter(|model| !model.is_empty())
    {
        return Fact::Known(model);
    }
    let dmi = |name: &str| {
        roots::text(&roots.sys.join("class/dmi/id").join(name)).filter(|t| !t.is_empty())
    };
    match (dmi("sys_vendor"), dmi("product_name")) {
        (Some(vendor), Some(product)) if product.starts_with(&vendor) => Fact::Known(product),
        (Some(vendor), Some(product)) => Fact::Known(format!("{vendor} {product}")),
        (one, other) => Fact::or_because(one.or(other), UnknownReason::NoBoardName),
    }
}

/// ARM core names by MIDR part number, for kernels that do not report a name. Source: technical
/// reference manuals of the cores, register MIDR, field PartNum, implementer 0x41.
const ARM_CORES: [(u32, &str); 14] = [
    (0xb76, "ARM1176JZF-S"),
    (0xc07, "Cortex-A7"),
    (0xc08, "Cortex-A8"),
    (0xc09, "Cortex-A9"),
    (0xc0f, "Cortex-A15"),
    (0xd03, "Cortex-A53"),
    (0xd04, "Cortex-A35"),
    (0xd05, "Cortex-A55"),
    (0xd07, "Cortex-A57"),
    (0xd08, "Cortex-A72"),
    (0xd09, "Cortex-A73"),
    (0xd0a, "Cortex-A75"),
    (0xd0b, "Cortex-A76"),
    (0xd0c, "Neoverse-N1"),
];

/// Returns the different values of a key.
fn values_of(cpuinfo: &str, key: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    for (_, value) in pairs.filter(|(name, _)| name.trim() == key) {
        let value = value.trim().to_owned();
        if !value.is_empty() && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Returns the CPU name; different core types are joined with ` + `.
fn cpu_name(cpuinfo: &str) -> Option<String> {
    let values = |key: &str| values_of(cpuinfo, key);
    let by_name = values("model name");
    if !by_name.is_empty() {
        return Some(by_name.join(" + "));
    }
    if values("CPU implementer") != ["0x41"] {
        return values("Hardware")
            .pop()
            .or_else(|| values("cpu model").pop());
    }
    let parts = values("CPU part");
    let core = |part: &String| {
        let number = roots::parse_number::<u32>(part)?;
        ARM_CORES
            .iter()
            .find(|(known, _)| *known == number)
            .map(|(_, name)| (*name).to_owned())
    };
    let names: Vec<_> = parts
        .iter()
        .map(|part| core(part).unwrap_or_else(|| format!("ARM core {part}")))
        .collect();
    (!names.is_empty()).then(|| names.join(" + "))
}

fn cpu_count(roots: &Roots, cpuinfo: &str) -> u32 {
    let online = roots::text(&roots.sys.join("devices/system/cpu/online"))
        .and_then(|text| count_list(&text));
    let listed = cpuinfo
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    online.unwrap_or(u32::try_from(listed).unwrap_or(u32::MAX))
}

/// Counts the numbers in a list such as `0-3,6`.
fn count_list(text: &str) -> Option<u32> {
    let mut count = 0u32;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

fn governor(roots: &Roots) -> Fact<String> {
    let folder = roots.sys.join("devices/system/cpu/cpufreq");
    let policies = roots::names(&folder)
        .into_iter()
        .filter(|name| name.starts_with("policy"));
    let mut found: Vec<String> = policies
        .filter_map(|p| roots::text(&folder.join(p).join("scaling_governor")))
        .collect();
    found.sort();
    found.dedup();
    let because = UnknownReason::NoFrequencyScaling;
    Fact::or_because((!found.is_empty()).then(|| found.join(", ")), because)
}

fn memory(roots: &Roots) -> Bytes {
    let text = roots::text(&roots.proc.join("meminfo")).unwrap_or_default();
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next());
    Bytes(
        total
            .and_then(|kib| kib.parse::<u64>().ok())
            .unwrap_or(0)
            .saturating_mul(1024),
    )
}

fn load(roots: &Roots) -> Fact<u32> {
    let path = roots.proc.join("loadavg");
    let percent = roots::text(&path).and_then(|text| parse_centi(text.split_whitespace().next()?));
    Fact::or_because(
        percent,
        UnknownReason::CannotBeRead(path.display().to_string()),
    )
}

/// Parses a decimal number in units of 0.01, without floating point: `0.25` is 25.
fn parse_centi(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits: String = fraction.chars().chain("00".chars()).take(2).collect();
    whole
        .parse::<u32>()
        .ok()?
        .checked_mul(100)?
        .checked_add(digits.parse().ok()?)
}

/// Types of CPU thermal zones, most reliable first.
const CPU_ZONES: [&str; 6] = [
    "x86_pkg_temp",
    "cpu-thermal",
    "cpu_thermal",
    "soc-thermal",
    "cpu0-thermal",
    "TCPU",
];

/// Names of CPU hardware monitors.
const CPU_MONITORS: [&str; 4] = ["coretemp", "k10temp", "zenpower", "cpu_thermal"];

/// Sensors of the host that change while it measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostSensors {
    /// CPU temperature in thousandths of a degree Celsius.
    pub temperature: Option<i64>,
    /// Throttling flags of the Raspberry Pi firmware, as in [`Environment`].
    pub throttled: Option<u32>,
}

/// Reads the sensors of the host: a few dozen system calls.
pub fn host_sensors(roots: &Roots) -> HostSensors {
    HostSensors {
        temperature: temperature(roots).known().copied(),
        throttled: throttled(roots).known().copied(),
    }
}

fn temperature(roots: &Roots) -> Fact<i64> {
    let zones = numbered(&roots.sys.join("class/thermal"), "thermal_zone");
    let kind = |zone: &PathBuf| roots::text(&zone.join("type")).unwrap_or_default();
    let named = CPU_ZONES
        .iter()
        .find_map(|wanted| zones.iter().find(|zone| kind(zone) == *wanted));
    let monitors = numbered(&roots.sys.join("class/hwmon"), "hwmon");
    let monitor = monitors.iter().find(|m| {
        roots::text(&m.join("name")).is_some_and(|name| CPU_MONITORS.contains(&name.as_str()))
    });
    let files = [
        named.map(|zone| zone.join("temp")),
        monitor.map(|monitor| monitor.join("temp1_input")),
        // Any other zone is a fallback; the first zone usually belongs to the CPU.
        zones.first().map(|zone| zone.join("temp")),
    ];
    let read = |path: PathBuf| roots::text(&path)?.parse::<i64>().ok();
    Fact::or_because(
        files.into_iter().flatten().find_map(read),
        UnknownReason::NoCpuSensor,
    )
}

/// Returns `folder/prefix0`, `folder/prefix1`, … sorted by number.
fn numbered(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let number = |name: &String| {
        name.strip_prefix(prefix)
            .and_then(|n| n.parse::<u32>().ok())
    };
    let mut found: Vec<_> = roots::names(folder)
        .into_iter()
        .filter_map(|n| Some((number(&n)?, n)))
        .collect();
    found.sort();
    found
        .into_iter()
        .map(|(_, name)| folder.join(name))
        .collect()
}

/// Reads the throttling flags of the Pi firmware: bit 0 under-voltage now, 1 frequency capped, 2
/// throttled, 3 soft temperature limit; bits 16 to 19: the same since boot.
///
/// Source: the Raspberry Pi documentation, `vcgencmd get_throttled`. The driver shows them in hexadecimal, without `0x`.
fn throttled(roots: &Roots) -> Fact<u32> {
    let platform = roots.sys.join("devices/platform");
    let usual = [
        "soc/soc:firmware",
        "soc@107c000000/soc@107c000000:firmware",
        "soc:firmware",
    ];
    let flags = usual.iter().find_map(|folder| {
        let text = roots::text(&platform.join(folder).join("get_throttled"))?;
        u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
    });
    // If the flags are hidden, the voltage monitor still reports under-voltage.
    let alarm = || {
        let monitors = numbered(&roots.sys.join("class/hwmon"), "hwmon");
        let monitor = monitors
            .iter()
            .find(|m| roots::text(&m.join("name")).as_deref() == Some("rpi_volt"))?;
        Some(roots::number::<u32>(&monitor.join("in0_lcrit_alarm"))? << 16)
    };
    Fact::or_because(flags.or_else(alarm), UnknownReason::NoThrottlingFlags)
}

fn io_pressure(roots: &Roots) -> Fact<u32> {
    let path = roots.proc.join("pressure/io");
    let value = roots::text(&path).and_then(|text| {
        let some = text
            .lines()
            .find(|line| line.starts_with("some "))?
            .to_owned();
        parse_centi(
            some.split_whitespace()
                .find_map(|word| word.strip_prefix("avg10="))?,
        )
    });
    Fact::or_because(value, UnknownReason::NoPsi(path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testtree::tree;

    #[test]
    fn a_pi_is_described_with_its_flags() {
        let tree = tree("pi4-sd");
        insta::assert_snapshot!(tree.masked(&environment(&tree.roots, "monotonic")));
    }

    #[test]
    fn a_host_that_hides_everything_says_so() {
        let tree = tree("empty");
        // Host name, kernel and architecture come from a system call, so they describe the test host.
        let bare = Environment {
            hostname: String::new(),
            kernel: String::new(),
            arch: String::new(),
            ..environment(&tree.roots, "monotonic")
        };
        insta::assert_snapshot!(tree.masked(&bare));
    }

    #[test]
    fn this_host_is_described() {
        let here = environment(&Roots::live(), "tsc");
        assert!(
            here.cpu_count > 0 && here.memory.0 > 0 && here.kernel.starts_with("Linux "),
            "{here:?}"
        );
    }

    #[test]
    fn lists_and_shares_are_read() {
        assert_eq!(count_list("0-3,6"), Some(5));
        assert_eq!(count_list("3-0"), None);
        assert_eq!(parse_centi("12.5"), Some(1250));
        assert_eq!(parse_centi("0.07"), Some(7));
        assert_eq!(parse_centi("x"), None);
    }

    #[test]
    fn kinds_of_cores_are_named_once_each() {
        let info = "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd08\nprocessor : 1\nCPU implementer : 0x41\nCPU part : 0xd08\nprocessor : 2\nCPU implementer : 0x41\nCPU part : 0xd03\n";
        assert_eq!(cpu_name(info).as_deref(), Some("Cortex-A72 + Cortex-A53"));
        assert_eq!(
            cpu_name("model name\t: Intel(R) Xeon(R)\n").as_deref(),
            Some("Intel(R) Xeon(R)")
        );
        assert_eq!(cpu_name(""), None);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[ -~\\n]{0,120}") {
            let _ = (cpu_name(&text), count_list(&text), parse_centi(&text));
        }
    }
}
