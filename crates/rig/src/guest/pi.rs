//! A Raspberry Pi 3 with a simulated card in its slot, for a program built for it.
//!
//! It has no access to host files: everything is in its initial RAM disk, file systems are prepared
//! on the card, and it runs one script per boot. Output arrives on the serial line.

use super::error::{GuestError, Output, panicked};
use super::qemu::{self, cannot_make, lines_of};
use crate::card::SimulatedCard;
use crate::kit::{Arch, CpioArchive, GuestParts, Kit};
use crate::nbd::Server;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Modules of the slot driver, the file systems, and the power-off driver.
const MODULES: &[&str] = &[
    "bcm2835",
    "sdhci-iproc",
    "mmc_block",
    "bcm2835_wdt",
    "vfat",
    "nls_cp437",
    "nls_ascii",
    "crc32c_generic",
    "crc32_generic",
    "ext4",
    "f2fs",
];

/// Modules of the network adapter, which is on the USB port, as on the real board.
const NETWORK_MODULES: &[&str] = &["dwc2", "cdc_ether"];

/// Interval in which a running machine is asked to lose its power.
const LOOK: Duration = Duration::from_millis(100);

/// Builder of a Raspberry Pi guest.
#[derive(Clone, Debug)]
pub struct Pi {
    kit: Kit,
    card: Arc<SimulatedCard>,
    programs: Vec<(String, PathBuf)>,
    network: bool,
}

/// Result of a script on a Raspberry Pi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PiRun {
    /// Output of the script.
    pub output: Output,
    /// Duration of the boot, up to the first line of the script.
    pub boot_time: Duration,
}

impl Pi {
    /// A Raspberry Pi with this card. QEMU only accepts powers of two as size.
    pub fn with(kit: &Kit, card: &Arc<SimulatedCard>) -> Pi {
        Pi {
            kit: kit.clone(),
            card: Arc::clone(card),
            programs: Vec::new(),
            network: false,
        }
    }

    /// Adds a statically linked program as `/bin/NAME`.
    pub fn program(mut self, name: &str, file: &Path) -> Pi {
        self.programs.push((name.to_owned(), file.to_owned()));
        self
    }

    /// Adds a USB network adapter, `usb0`. The host is 10.0.2.2 there, whatever listens on its loopback interface.
    pub fn networked(mut self) -> Pi {
        self.network = true;
        self
    }

    /// Boots the machine, runs a busybox script, and waits until it is off again.
    ///
    /// # Errors
    /// If a component is missing, QEMU fails, the kernel panics or the time limit is reached.
    pub fn run(&self, script: &str, limit: Duration) -> Result<PiRun, GuestError> {
        let powered = AtomicBool::new(true);
        let run = self.run_while(&powered, script, limit)?;
        run.ok_or_else(|| unreachable!("nobody cut the power"))
    }

    /// Like [`Pi::run`], but the machine loses its power as soon as `powered` is false; the result is `None` then.
    ///
    /// # Errors
    /// Those of [`Pi::run`].
    pub fn run_while(
        &self,
        powered: &AtomicBool,
        script: &str,
        limit: Duration,
    ) -> Result<Option<PiRun>, GuestError> {
        let parts = self.kit.parts(Arch::Aarch64)?;
        let dir = qemu::dir()?;
        let at = dir.path();
        let network = NETWORK_MODULES.iter().filter(|_| self.network);
        let modules: Vec<&str> = MODULES.iter().chain(network).copied().collect();
        let initrd = qemu::initrd(&parts, include_bytes!("pi.init"), &modules, |archive| {
            self.add_programs(archive, script)
        })?;
        std::fs::write(at.join("initrd"), initrd).map_err(cannot_make("initrd", at))?;
        let server = Server::start(Arc::clone(&self.card), &at.join("card"))
            .map_err(cannot_make("the socket of the card", at))?;
        let begun = Instant::now();
        let mut child = qemu::spawn(self.command(&parts, at, &server).stdin(Stdio::null()), at)?;
        let Some(serial) = child.stdout.take() else {
            unreachable!("it was requested as a pipe")
        };
        let said = listen(&lines_of(serial), begun, limit, powered);
        let status =
            end(&mut child, said.ended).map_err(GuestError::host("cannot wait for QEMU"))?;
        if let Some(output) = said.output() {
            return Ok(Some(PiRun {
                output,
                boot_time: said.boot_time.unwrap_or_default(),
            }));
        }
        if !powered.load(Relaxed) {
            return Ok(None);
        }
        let (during, console) = ("running a script on a Raspberry Pi", said.lines.join("\n"));
        if !said.ended && !panicked(&console) {
            return Err(GuestError::timed_out(during, limit, &console));
        }
        let log = qemu::log(at);
        Err(GuestError::after_exit(status, during, &console, &log))
    }

    fn command(&self, parts: &GuestParts, at: &Path, server: &Server) -> Command {
        let mut command = qemu::command(Arch::Aarch64);
        command.args(["-machine", "raspi3b", "-display", "none", "-no-reboot"]);
        command.arg("-kernel").arg(&parts.kernel);
        command.arg("-initrd").arg(at.join("initrd"));
        if let Some(dtb) = &parts.dtb {
            command.arg("-dtb").arg(dtb);
        }
        command.args(["-append", "console=ttyS1,115200 quiet panic=-1 oops=panic"]);
        let socket = server.socket().display();
        let card = format!("if=sd,driver=nbd,server.type=unix,server.path={socket},cache=unsafe");
        command.args(["-drive", &card]);
        // The kernel's console is the second serial port; the first one is for Bluetooth.
        command.args(["-serial", "null", "-serial", "stdio", "-monitor", "none"]);
        if self.network {
            command.args(["-netdev", "user,id=net", "-device", "usb-net,netdev=net"]);
        }
        command
    }

    fn add_programs(&self, archive: &mut CpioArchive, script: &str) -> Result<(), GuestError> {
        archive.program("/script", script.as_bytes());
        archive.dir("/bin");
        self.programs
            .iter()
            .try_for_each(|(name, file)| qemu::copy(archive, &format!("/bin/{name}"), file))
    }
}

/// Output on the serial port.
struct SerialOutput {
    lines: Vec<String>,
    boot_time: Option<Duration>,
    /// Whether the machine exited by itself.
    ended: bool,
}

/// Reads until the machine ends, its time is over, or it loses its power.
fn listen(
    serial: &Receiver<String>,
    begun: Instant,
    limit: Duration,
    powered: &AtomicBool,
) -> SerialOutput {
    let mut said = SerialOutput {
        lines: Vec::new(),
        boot_time: None,
        ended: false,
    };
    while begun.elapsed() < limit && powered.load(Relaxed) {
        match serial.recv_timeout(LOOK) {
            Ok(line) => {
                if line.contains("RIG-READY") {
                    said.boot_time = Some(begun.elapsed());
                }
                said.lines.push(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                said.ended = true;
                return said;
            }
        }
    }
    said
}

fn end(child: &mut Child, ended: bool) -> std::io::Result<std::process::ExitStatus> {
    if !ended {
        child.kill()?;
    }
    child.wait()
}

impl SerialOutput {
    /// The script's output and exit code, if it finished.
    fn output(&self) -> Option<Output> {
        let at = |mark: &str| self.lines.iter().position(|line| line.starts_with(mark));
        let (out, err, done) = (at("RIG-OUT")?, at("RIG-ERR")?, at("RIG-DONE ")?);
        let code = self.lines[done]
            .strip_prefix("RIG-DONE ")?
            .trim()
            .parse()
            .ok()?;
        let text =
            |lines: &[String]| String::from_utf8_lossy(&from_base64(&lines.concat())).into_owned();
        Some(Output {
            code,
            stdout: text(self.lines.get(out + 1..err)?),
            stderr: text(self.lines.get(err + 1..done)?),
        })
    }
}

/// Decodes base64, ignoring other characters.
fn from_base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(value).map(u32::from).collect();
    let group = |four: &[u32]| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len().max(1)].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_comes_back() {
        for (text, bytes) in [
            ("", ""),
            ("YQ==", "a"),
            ("YWI=", "ab"),
            ("YWJj", "abc"),
            ("YWJj\r\nZGU=\n", "abcde"),
        ] {
            assert_eq!(from_base64(text), bytes.as_bytes(), "{text}");
        }
        assert_eq!(from_base64("+/+/"), [0xfb, 0xff, 0xbf]);
    }

    #[test]
    fn the_output_of_a_script_is_found_between_kernel_messages() {
        let text = "\u{0}[0.0] Booting\nRIG-READY\n\nRIG-OUT\nYWJj\nRIG-ERR\nRIG-DONE 3\n[9.0] reboot: off";
        let lines = text.lines().map(str::to_owned).collect();
        let said = SerialOutput {
            lines,
            boot_time: None,
            ended: true,
        };
        let output = said.output().expect("all is there");
        assert_eq!(
            (output.code, output.stdout.as_str(), output.stderr.as_str()),
            (3, "abc", "")
        );
        let cut = SerialOutput {
            lines: said.lines[..5].to_vec(),
            ..said
        };
        assert_eq!(cut.output(), None);
    }
}
