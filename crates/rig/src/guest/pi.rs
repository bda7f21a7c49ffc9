//! A Raspberry Pi 3 with a simulated card in its slot, for a program built for it.
//!
//! It has no access to host files: everything is in its initial RAM disk, file systems are prepared
//! on the card, and it runs one script per boot. Output arrives on the serial line.

use super::{GuestError, Output, last_words, lines_of};
use crate::card::SimulatedCard;
use crate::kit::{Arch, CpioArchive, GuestParts, Kit, KitError, find, load_order};
use crate::nbd::Server;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
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

/// Builder of a Raspberry Pi guest.
#[derive(Clone, Debug)]
pub struct Pi {
    kit: Kit,
    card: Arc<SimulatedCard>,
    programs: Vec<(String, PathBuf)>,
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
        }
    }

    /// Adds a statically linked program as `/bin/NAME`.
    pub fn program(mut self, name: &str, file: &Path) -> Pi {
        self.programs.push((name.to_owned(), file.to_owned()));
        self
    }

    /// Boots the machine, runs a busybox script, and waits until it is off again.
    ///
    /// # Errors
    /// If a component is missing, QEMU fails, the kernel panics or the time limit is reached.
    pub fn run(&self, script: &str, limit: Duration) -> Result<PiRun, GuestError> {
        let parts = self.kit.parts(Arch::Aarch64)?;
        let folder =
            tempfile::tempdir().map_err(GuestError::host("cannot make a temporary folder"))?;
        let at = folder.path();
        let host = |what: &str| GuestError::host(format!("cannot make {what} in {}", at.display()));
        std::fs::write(at.join("initrd"), self.first_memory(&parts, script)?)
            .map_err(host("initrd"))?;
        let server = Server::start(Arc::clone(&self.card), &at.join("card"))
            .map_err(host("the socket of the card"))?;
        let mut command = command(&parts, at, &server);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(std::fs::File::create(at.join("qemu.log")).map_err(host("qemu.log"))?);
        let begun = Instant::now();
        let mut child = command
            .spawn()
            .map_err(GuestError::host("cannot start qemu-system-aarch64"))?;
        let Some(serial) = child.stdout.take() else {
            unreachable!("it was asked for as a pipe")
        };
        let said = listen(&lines_of(serial), begun, limit);
        let status =
            end(&mut child, said.ended).map_err(GuestError::host("cannot wait for QEMU"))?;
        if let Some(output) = said.output() {
            return Ok(PiRun {
                output,
                boot_time: said.boot_time.unwrap_or_default(),
            });
        }
        let console = last_words(&said.lines.join("\n"));
        let during = "running a script on a Raspberry Pi".to_owned();
        if said.lines.iter().any(|line| line.contains("Kernel panic")) {
            return Err(GuestError::Panicked { during, console });
        }
        if !said.ended {
            return Err(GuestError::TimedOut {
                during,
                after: limit,
                console,
            });
        }
        let qemu = std::fs::read_to_string(at.join("qemu.log")).unwrap_or_default();
        if !status.success() {
            return Err(GuestError::Qemu {
                status,
                during,
                said: qemu.trim().to_owned(),
            });
        }
        Err(GuestError::Ended { during, console })
    }

    fn first_memory(&self, parts: &GuestParts, script: &str) -> Result<Vec<u8>, GuestError> {
        let mut archive = CpioArchive::default();
        archive.folder("/dev");
        archive.device("/dev/console", 5, 1);
        archive.program("/init", include_bytes!("pi.init"));
        archive.program("/script", script.as_bytes());
        archive.folder("/bin");
        let host = |path: &Path| GuestError::host(format!("cannot read {}", path.display()));
        archive
            .copy("/busybox", &parts.busybox)
            .map_err(host(&parts.busybox))?;
        for (name, file) in &self.programs {
            archive
                .copy(&format!("/bin/{name}"), file)
                .map_err(host(file))?;
        }
        super::builder::add_modules(
            &mut archive,
            &load_order(&parts.modules.join(&parts.version), MODULES)?,
        )?;
        Ok(archive.finish())
    }
}

fn command(parts: &GuestParts, at: &Path, server: &Server) -> Command {
    let qemu = Arch::Aarch64.qemu();
    let mut command = Command::new(find(qemu).unwrap_or_else(|| PathBuf::from(qemu)));
    command.args(["-machine", "raspi3b", "-display", "none", "-no-reboot"]);
    command
        .arg("-kernel")
        .arg(&parts.kernel)
        .arg("-initrd")
        .arg(at.join("initrd"));
    if let Some(dtb) = &parts.dtb {
        command.arg("-dtb").arg(dtb);
    }
    command.args(["-append", "console=ttyS1,115200 quiet panic=-1 oops=panic"]);
    let socket = server.socket().display();
    command.args([
        "-drive",
        &format!("if=sd,driver=nbd,server.type=unix,server.path={socket},cache=unsafe"),
    ]);
    // The kernel's console is the second serial port; the first one is for Bluetooth.
    command.args(["-serial", "null", "-serial", "stdio", "-monitor", "none"]);
    command
}

/// Output on the serial port.
struct SerialOutput {
    lines: Vec<String>,
    boot_time: Option<Duration>,
    /// Whether the machine exited by itself.
    ended: bool,
}

fn listen(serial: &Receiver<String>, begun: Instant, limit: Duration) -> SerialOutput {
    let mut said = SerialOutput {
        lines: Vec::new(),
        boot_time: None,
        ended: false,
    };
    loop {
        match serial.recv_timeout((begun + limit).saturating_duration_since(Instant::now())) {
            Ok(line) => {
                if line.contains("RIG-READY") {
                    said.boot_time = Some(begun.elapsed());
                }
                said.lines.push(line);
            }
            Err(RecvTimeoutError::Timeout) => return said,
            Err(RecvTimeoutError::Disconnected) => {
                said.ended = true;
                return said;
            }
        }
    }
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

/// Both guest types report kit errors in the same way.
impl From<crate::kit::RigToolError> for GuestError {
    fn from(error: crate::kit::RigToolError) -> GuestError {
        GuestError::Kit(KitError::Tool(error))
    }
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
    fn the_words_of_a_script_are_found_between_those_of_the_kernel() {
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
