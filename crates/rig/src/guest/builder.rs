//! Configures and starts a PC guest.

use super::{Guest, GuestError, Monitor, lines_of};
use crate::card::SimulatedCard;
use crate::kit::{Arch, CpioArchive, GuestParts, Kit, find, load_order, run};
use crate::nbd::Server;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time limit of a boot. A boot takes six seconds on an idle host, and longer on a busy one.
const BOOT_LIMIT: Duration = Duration::from_secs(120);

/// Modules that the first process loads to access the host's files.
const FIRST_MODULES: &[&str] = &["virtio_pci", "9pnet_virtio", "9p", "overlay"];

/// Loads the slot drivers, and waits until the expected number of cards has appeared.
const FIND_CARDS: &str = "modprobe sdhci-pci && modprobe mmc_block || exit 1
n=0
while [ \"$(ls -d /dev/mmcblk[0-9] 2>/dev/null | wc -l)\" -lt CARDS ]; do
    n=$((n + 1))
    [ $n -lt 600 ] || exit 1
    sleep 0.05
done
";

/// Bus width and clock of the slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlotWiring {
    /// Four data lines, 50 MHz, "high speed".
    #[default]
    FourBits50MHz,
    /// Four data lines, 25 MHz.
    FourBits25MHz,
    /// One data line, 50 MHz.
    OneBit50MHz,
    /// One data line, 25 MHz.
    OneBit25MHz,
}

impl SlotWiring {
    fn one_bit(self) -> bool {
        matches!(self, SlotWiring::OneBit50MHz | SlotWiring::OneBit25MHz)
    }

    /// The capabilities of the controller: a base clock of 50 MHz to be divided (QEMU's default of 52 MHz would give 26
    /// MHz), and "high speed" if the card may run at the full clock.
    ///
    /// Source: SD Host Controller Simplified Specification 3.00, "Capabilities Register"; bit 21 is high speed, bits 8
    /// to 15 are the clock in MHz.
    fn capabilities(self) -> u64 {
        let slow = matches!(self, SlotWiring::FourBits25MHz | SlotWiring::OneBit25MHz);
        if slow { 0x0558_32b4 } else { 0x0578_32b4 }
    }
}

/// A disk other than a card, at host speed: for identification tests, not for measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestDisk {
    /// A flash drive on a USB 3 port.
    Usb,
    /// NVMe over PCI Express.
    Nvme,
    /// SATA on an AHCI controller.
    Sata,
}

impl GuestDisk {
    /// Serial number.
    pub fn serial(self) -> &'static str {
        match self {
            GuestDisk::Usb => "RIG-USB-1",
            GuestDisk::Nvme => "RIG-NVME-1",
            GuestDisk::Sata => "RIG-SATA-1",
        }
    }

    /// QEMU options for its controller, if needed, and for the disk.
    fn devices(self, number: usize) -> Vec<String> {
        let serial = self.serial();
        match self {
            GuestDisk::Usb => vec![
                format!("qemu-xhci,id=usb{number}"),
                format!(
                    "usb-storage,bus=usb{number}.0,drive=d{number},serial={serial},removable=on"
                ),
            ],
            // A separate port, because only such a link reports a speed.
            GuestDisk::Nvme => vec![
                format!("pcie-root-port,id=port{number},chassis={}", number + 1),
                format!("nvme,bus=port{number},drive=d{number},serial={serial}"),
            ],
            GuestDisk::Sata => vec![
                format!("ahci,id=sata{number}"),
                format!("ide-hd,bus=sata{number}.0,drive=d{number},serial={serial}"),
            ],
        }
    }
}

/// Size of a disk in bytes; its backing file is sparse.
pub const DISK_SIZE: u64 = 64 << 20;

/// Builder of a PC guest.
#[derive(Clone, Debug)]
pub struct Builder {
    kit: Kit,
    cards: Vec<Arc<SimulatedCard>>,
    disks: Vec<GuestDisk>,
    machine: &'static str,
    bus: SlotWiring,
    kernel_args: Vec<String>,
    out: Option<PathBuf>,
    limit: Duration,
}

impl Builder {
    pub(super) fn new(kit: &Kit) -> Builder {
        let kit = kit.clone();
        Builder {
            kit,
            cards: Vec::new(),
            disks: Vec::new(),
            machine: "pc",
            bus: SlotWiring::default(),
            kernel_args: Vec::new(),
            out: None,
            limit: BOOT_LIMIT,
        }
    }

    /// Inserts a card into the next slot; the first becomes `/dev/mmcblk0`. QEMU only accepts powers of two as size.
    pub fn card(mut self, card: &Arc<SimulatedCard>) -> Builder {
        self.cards.push(Arc::clone(card));
        self
    }

    /// Adds a disk other than a card; the caller loads its drivers. Also gives the machine PCI Express.
    pub fn disk(mut self, disk: GuestDisk) -> Builder {
        self.disks.push(disk);
        self.machine = "q35";
        self
    }

    /// Sets the wiring of the slots.
    pub fn bus(mut self, bus: SlotWiring) -> Builder {
        self.bus = bus;
        self
    }

    /// Adds a word to the kernel command line.
    pub fn kernel_arg(mut self, word: &str) -> Builder {
        self.kernel_args.push(word.to_owned());
        self
    }

    /// Mounts this directory as `/out`, instead of a temporary one.
    pub fn out(mut self, folder: &Path) -> Builder {
        self.out = Some(folder.to_owned());
        self
    }

    /// Sets the time limit of the boot.
    pub fn boot_limit(mut self, limit: Duration) -> Builder {
        self.limit = limit;
        self
    }

    /// Boots the guest, and waits for its cards.
    ///
    /// # Errors
    /// If a component is missing, QEMU fails, the kernel panics or the time limit is reached.
    pub fn boot(self) -> Result<Guest, GuestError> {
        let parts = self.kit.parts(Arch::X86_64)?;
        let folder =
            tempfile::tempdir().map_err(GuestError::host("cannot make a temporary folder"))?;
        let at = folder.path().to_owned();
        let host = |what: &str| GuestError::host(format!("cannot make {what} in {}", at.display()));
        let out = self.out.clone().unwrap_or_else(|| at.join("out"));
        std::fs::create_dir_all(&out).map_err(host("out"))?;
        std::fs::write(at.join("initrd"), first_memory(&parts)?).map_err(host("initrd"))?;
        let mut servers = Vec::new();
        for (slot, card) in self.cards.iter().enumerate() {
            let socket = at.join(format!("card{slot}"));
            servers.push(
                Server::start(Arc::clone(card), &socket).map_err(host("the socket of a card"))?,
            );
        }
        for number in 0..self.disks.len() {
            let file = File::create(at.join(format!("disk{number}"))).map_err(host("a disk"))?;
            file.set_len(DISK_SIZE).map_err(host("a disk"))?;
        }
        let mut command = self.command(&parts, &at, &out, &servers);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(File::create(at.join("qemu.log")).map_err(host("qemu.log"))?);
        let begun = Instant::now();
        let mut child = command
            .spawn()
            .map_err(GuestError::host("cannot start qemu-system-x86_64"))?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for as pipes");
        };
        let mut guest = Guest {
            child,
            orders,
            answers: lines_of(answers),
            monitor: Monitor::new(&at.join("monitor")),
            cards: self.cards,
            servers,
            scripts: 0,
            boot_time: Duration::ZERO,
            out,
            folder,
        };
        guest.await_answer("starting", self.limit, |line| {
            (line == "ready").then_some(())
        })?;
        let count = guest.cards.len();
        if count > 0 {
            guest
                .run(&FIND_CARDS.replace("CARDS", &count.to_string()), self.limit)?
                .success()?;
        }
        guest.boot_time = begun.elapsed();
        Ok(guest)
    }

    /// The complete QEMU command line.
    fn command(&self, parts: &GuestParts, at: &Path, out: &Path, servers: &[Server]) -> Command {
        let qemu = Arch::X86_64.qemu();
        let mut command = Command::new(find(qemu).unwrap_or_else(|| PathBuf::from(qemu)));
        let path = |name: &str| at.join(name).display().to_string();
        command.args([
            "-machine",
            self.machine,
            "-accel",
            "tcg",
            "-smp",
            "1",
            "-m",
            "512M",
        ]);
        // Without an entropy source, the first request for random bytes blocks for seconds.
        command.args(["-cpu", "qemu64,+rdrand"]);
        command.args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ]);
        command
            .arg("-kernel")
            .arg(&parts.kernel)
            .args(["-initrd", &path("initrd")]);
        command.args(["-append", &self.kernel_command_line(parts)]);
        command.args([
            "-serial",
            &format!("file:{}", path("console.log")),
            "-serial",
            "stdio",
        ]);
        command.args([
            "-monitor",
            &format!("unix:{},server,nowait", path("monitor")),
        ]);
        let share = "local,security_model=none,multidevs=remap";
        command.args(["-fsdev", &format!("{share},id=host,path=/,readonly=on")]);
        command.args(["-device", "virtio-9p-pci,fsdev=host,mount_tag=hostroot"]);
        command.args(["-fsdev", &format!("{share},id=out,path={}", out.display())]);
        command.args(["-device", "virtio-9p-pci,fsdev=out,mount_tag=out"]);
        let caps = self.bus.capabilities();
        for (slot, server) in servers.iter().enumerate() {
            let socket = server.socket().display();
            command.args([
                "-device",
                &format!("sdhci-pci,id=h{slot},capareg={caps:#x}"),
            ]);
            let drive = format!(
                "id=c{slot},if=none,driver=nbd,server.type=unix,server.path={socket},cache=unsafe"
            );
            command.args(["-drive", &drive]);
            command.args(["-device", &format!("sd-card,drive=c{slot}")]);
        }
        for (number, disk) in self.disks.iter().enumerate() {
            let file = path(&format!("disk{number}"));
            command.args([
                "-drive",
                &format!("id=d{number},if=none,format=raw,cache=unsafe,file={file}"),
            ]);
            for device in disk.devices(number) {
                command.args(["-device", &device]);
            }
        }
        command
    }

    fn kernel_command_line(&self, parts: &GuestParts) -> String {
        let modules = parts.modules.display();
        // On a busy host the guest misses timer interrupts while the kernel checks the timer, and it would panic.
        let quiet =
            "console=ttyS0 quiet panic=-1 oops=panic mitigations=off nokaslr no_timer_check";
        let mut words = vec![format!("{quiet} rig.modules={modules}")];
        if self.bus.one_bit() {
            // The quirk that limits a host to one data line.
            words.push("sdhci.debug_quirks=0x400000".to_owned());
        }
        words.extend(self.kernel_args.iter().cloned());
        words.join(" ")
    }
}

/// Content of the initial RAM disk.
fn first_memory(parts: &GuestParts) -> Result<Vec<u8>, GuestError> {
    let mut archive = CpioArchive::default();
    archive.folder("/dev");
    // The kernel opens it before anything is mounted.
    archive.device("/dev/console", 5, 1);
    archive.program("/init", include_bytes!("pc.init"));
    archive.program("/answer", include_bytes!("answer.sh"));
    let host = |path: &Path| GuestError::host(format!("cannot read {}", path.display()));
    archive
        .copy("/busybox", &parts.busybox)
        .map_err(host(&parts.busybox))?;
    add_modules(
        &mut archive,
        &load_order(&parts.modules.join(&parts.version), FIRST_MODULES)?,
    )?;
    Ok(archive.finish())
}

/// Adds modules, and a list with their load order.
pub(super) fn add_modules(archive: &mut CpioArchive, files: &[PathBuf]) -> Result<(), GuestError> {
    let mut names = String::new();
    for (number, file) in files.iter().enumerate() {
        // Numbered, because two directories may have modules with the same name.
        let name = format!("module{number}");
        if file.extension().is_some_and(|end| end == "xz") {
            archive.program(
                &format!("/{name}"),
                &run(Command::new("xz").arg("-dc").arg(file))?,
            );
        } else {
            let host = GuestError::host(format!("cannot read {}", file.display()));
            archive.copy(&format!("/{name}"), file).map_err(host)?;
        }
        names += &format!("{name}\n");
    }
    archive.program("/modules", names.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wires_are_told_to_those_they_concern() {
        let parts = GuestParts {
            kernel: PathBuf::from("/k/kernel"),
            version: "6.1.0".to_owned(),
            modules: PathBuf::from("/k/lib/modules"),
            busybox: PathBuf::from("/k/busybox"),
            dtb: None,
        };
        let text = |bus: SlotWiring| {
            let builder = Builder::new(&Kit::at(Path::new("/k")))
                .bus(bus)
                .kernel_arg("more");
            builder.kernel_command_line(&parts)
        };
        assert!(
            text(SlotWiring::OneBit25MHz)
                .ends_with("rig.modules=/k/lib/modules sdhci.debug_quirks=0x400000 more")
        );
        assert!(text(SlotWiring::FourBits25MHz).ends_with("rig.modules=/k/lib/modules more"));
        assert_eq!(
            SlotWiring::FourBits50MHz.capabilities() ^ SlotWiring::OneBit25MHz.capabilities(),
            1 << 21
        );
    }
}
