//! Configures and starts a PC guest.

use super::qemu::{self, cannot_make, lines_of};
use super::{BOOT_LIMIT, Guest, GuestError, Monitor};
use crate::card::SimulatedCard;
use crate::kit::{Arch, GuestParts, Kit};
use crate::nbd::Server;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Modules that the first process loads to access the host's files.
const FIRST_MODULES: &[&str] = &["virtio_pci", "9pnet_virtio", "9p", "overlay"];

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

/// Name of the pipe for QEMU's trace of commands, and its size.
const COMMANDS: &str = "commands";
const PIPE_SIZE: usize = 1 << 20;

/// Size of a disk in bytes; its backing file is sparse.
pub const DISK_SIZE: u64 = 64 << 20;

/// GuestBuilder of a PC guest.
#[derive(Clone, Debug)]
pub struct GuestBuilder {
    kit: Kit,
    cards: Vec<Arc<SimulatedCard>>,
    disks: Vec<GuestDisk>,
    machine: &'static str,
    bus: SlotWiring,
    out: Option<PathBuf>,
}

impl GuestBuilder {
    /// A PC guest without cards.
    pub fn new(kit: &Kit) -> GuestBuilder {
        let kit = kit.clone();
        GuestBuilder {
            kit,
            cards: Vec::new(),
            disks: Vec::new(),
            machine: "pc",
            bus: SlotWiring::default(),
            out: None,
        }
    }

    /// Inserts a card into the next slot; the first becomes `/dev/mmcblk0`. QEMU only accepts powers of two as size.
    pub fn card(mut self, card: &Arc<SimulatedCard>) -> GuestBuilder {
        self.cards.push(Arc::clone(card));
        self
    }

    /// Adds a disk other than a card; the caller loads its drivers. Also gives the machine PCI Express.
    pub fn disk(mut self, disk: GuestDisk) -> GuestBuilder {
        self.disks.push(disk);
        self.machine = "q35";
        self
    }

    /// Sets the wiring of the slots.
    pub fn bus(mut self, bus: SlotWiring) -> GuestBuilder {
        self.bus = bus;
        self
    }

    /// Mounts this directory as `/out`, instead of a temporary one.
    pub fn out(mut self, dir: &Path) -> GuestBuilder {
        self.out = Some(dir.to_owned());
        self
    }

    /// Boots the guest, and waits for its cards.
    ///
    /// # Errors
    /// If a component is missing, QEMU fails, the kernel panics or the time limit is reached.
    pub fn boot(self) -> Result<Guest, GuestError> {
        let parts = self.kit.parts(Arch::X86_64)?;
        let dir = qemu::dir()?;
        let at = dir.path().to_owned();
        let out = self.out.clone().unwrap_or_else(|| at.join("out"));
        std::fs::create_dir_all(&out).map_err(cannot_make("out", &at))?;
        let servers = self.create_files(&parts, &at)?;
        let begun = Instant::now();
        let mut command = self.command(&parts, &at, &out, &servers);
        let mut child = qemu::spawn(command.stdin(Stdio::piped()), &at)?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were requested as pipes");
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
            dir,
        };
        guest.await_answer("starting", BOOT_LIMIT, |line| {
            (line == "ready").then_some(())
        })?;
        guest.find_cards()?;
        guest.boot_time = begun.elapsed();
        Ok(guest)
    }

    /// Creates the files and sockets that QEMU opens: the initial RAM disk, the cards and the other disks.
    fn create_files(&self, parts: &GuestParts, at: &Path) -> Result<Vec<Server>, GuestError> {
        let initrd = qemu::initrd(parts, include_bytes!("pc.init"), FIRST_MODULES, |archive| {
            archive.program("/answer", include_bytes!("answer.sh"));
            Ok(())
        })?;
        std::fs::write(at.join("initrd"), initrd).map_err(cannot_make("initrd", at))?;
        for number in 0..self.disks.len() {
            File::create(at.join(format!("disk{number}")))
                .and_then(|file| file.set_len(DISK_SIZE))
                .map_err(cannot_make("a disk", at))?;
        }
        let serve = |(slot, card): (usize, &Arc<SimulatedCard>)| {
            Server::start(Arc::clone(card), &at.join(format!("card{slot}")))
                .map_err(cannot_make("the socket of a card", at))
        };
        if let Some(card) = self.card_with_commands() {
            let pipe = command_pipe(&at.join(COMMANDS)).map_err(cannot_make("a pipe", at))?;
            card.follow_commands(pipe);
        }
        self.cards.iter().enumerate().map(serve).collect()
    }

    /// The card whose commands QEMU traces: the trace does not say which of several cards has a command.
    fn card_with_commands(&self) -> Option<&Arc<SimulatedCard>> {
        match self.cards.as_slice() {
            [card] if card.has_traced_commands() => Some(card),
            _ => None,
        }
    }

    /// The complete QEMU command line.
    fn command(&self, parts: &GuestParts, at: &Path, out: &Path, servers: &[Server]) -> Command {
        let mut command = qemu::command(Arch::X86_64);
        command.args(["-nodefaults", "-no-user-config", "-no-reboot"]);
        command.arg("-kernel").arg(&parts.kernel);
        command.arg("-initrd").arg(at.join("initrd"));
        let mut option = |name: &str, value: String| {
            command.arg(name).arg(value);
        };
        option("-machine", self.machine.to_owned());
        option("-accel", "tcg".to_owned());
        option("-smp", "1".to_owned());
        option("-m", "512M".to_owned());
        // Without an entropy source, the first request for random bytes blocks for seconds.
        option("-cpu", "qemu64,+rdrand".to_owned());
        option("-display", "none".to_owned());
        option("-append", self.kernel_command_line(parts));
        option("-serial", format!("file:{}/console.log", at.display()));
        option("-serial", "stdio".to_owned());
        let monitor = format!("unix:{}/monitor,server,nowait", at.display());
        option("-monitor", monitor);
        let share = "local,security_model=none,multidevs=remap";
        for (id, tag, path) in [
            ("host", "hostroot", "/,readonly=on".to_owned()),
            ("out", "out", out.display().to_string()),
        ] {
            option("-fsdev", format!("{share},id={id},path={path}"));
            let device = format!("virtio-9p-pci,fsdev={id},mount_tag={tag}");
            option("-device", device);
        }
        if self.card_with_commands().is_some() {
            option("-trace", "enable=sdcard_normal_command".to_owned());
            option("-D", at.join(COMMANDS).display().to_string());
        }
        self.add_disks(at, servers, option);
        command
    }

    /// Adds the QEMU options for the cards and the other disks.
    fn add_disks(&self, at: &Path, servers: &[Server], mut option: impl FnMut(&str, String)) {
        let caps = self.bus.capabilities();
        for (slot, server) in servers.iter().enumerate() {
            let socket = server.socket().display();
            let host = format!("sdhci-pci,id=h{slot},capareg={caps:#x}");
            let drive = format!(
                "id=c{slot},if=none,driver=nbd,server.type=unix,server.path={socket},cache=unsafe"
            );
            option("-device", host);
            option("-drive", drive);
            option("-device", format!("sd-card,drive=c{slot}"));
        }
        for (number, disk) in self.disks.iter().enumerate() {
            let file = at.join(format!("disk{number}"));
            let drive = format!(
                "id=d{number},if=none,format=raw,cache=unsafe,file={}",
                file.display()
            );
            option("-drive", drive);
            for device in disk.devices(number) {
                option("-device", device);
            }
        }
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
        words.join(" ")
    }
}

/// Creates a pipe with a name and returns its reading end, which is also a writing one, so that QEMU does not wait for a
/// reader.
fn command_pipe(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{CWD, FileType, Mode, OFlags};
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let pipe = rustix::fs::open(path, flags, Mode::empty())?;
    // Commands without data stay in it until the next one with data. It may not be allowed to be so large.
    let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_SIZE);
    Ok(File::from(pipe))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_and_the_controller_get_the_wiring() {
        let parts = GuestParts {
            kernel: PathBuf::from("/k/kernel"),
            version: "6.1.0".to_owned(),
            modules: PathBuf::from("/k/lib/modules"),
            busybox: PathBuf::from("/k/busybox"),
            dtb: None,
        };
        let text = |bus: SlotWiring| {
            GuestBuilder::new(&Kit::at(Path::new("/k")))
                .bus(bus)
                .kernel_command_line(&parts)
        };
        assert!(
            text(SlotWiring::OneBit25MHz)
                .ends_with("rig.modules=/k/lib/modules sdhci.debug_quirks=0x400000")
        );
        assert!(text(SlotWiring::FourBits25MHz).ends_with("rig.modules=/k/lib/modules"));
        assert_eq!(
            SlotWiring::FourBits50MHz.capabilities() ^ SlotWiring::OneBit25MHz.capabilities(),
            1 << 21
        );
    }
}
