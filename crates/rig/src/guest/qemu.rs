//! What both kinds of guests share: the QEMU process, its output, and the initial RAM disk.

use super::error::GuestError;
use crate::kit::{Arch, CpioArchive, GuestParts, find, load_order, run};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;

/// A command for the emulator of this architecture, wherever it is installed.
pub(super) fn command(arch: Arch) -> Command {
    let program = arch.qemu();
    Command::new(find(program).unwrap_or_else(|| PathBuf::from(program)))
}

/// The file with the messages of QEMU itself.
pub(super) fn log(dir: &Path) -> PathBuf {
    dir.join("qemu.log")
}

/// A temporary directory for the files of one machine.
pub(super) fn dir() -> Result<tempfile::TempDir, GuestError> {
    tempfile::tempdir().map_err(GuestError::host("cannot make a temporary directory"))
}

/// Error conversion for a file that cannot be created in the directory of the machine.
pub(super) fn cannot_make(what: &str, dir: &Path) -> impl FnOnce(io::Error) -> GuestError {
    GuestError::host(format!("cannot make {what} in {}", dir.display()))
}

/// Starts QEMU with its standard output as a pipe.
pub(super) fn spawn(command: &mut Command, dir: &Path) -> Result<Child, GuestError> {
    let log = File::create(log(dir)).map_err(cannot_make("qemu.log", dir))?;
    let program = Path::new(command.get_program()).display().to_string();
    command
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .map_err(GuestError::host(format!("cannot start {program}")))
}

/// Reads lines in a separate thread, so that waiting can time out.
pub(super) fn lines_of(from: impl io::Read + Send + 'static) -> Receiver<String> {
    let (to, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n') {
            let Ok(line) = line else { return };
            let line = String::from_utf8_lossy(&line);
            if to.send(line.trim_end_matches('\r').to_owned()).is_err() {
                return;
            }
        }
    });
    lines
}

/// Creates the initial RAM disk with busybox, the program `/init`, and these modules in their load order; `add` adds
/// the rest.
pub(super) fn initrd(
    parts: &GuestParts,
    init: &[u8],
    modules: &[&str],
    add: impl FnOnce(&mut CpioArchive) -> Result<(), GuestError>,
) -> Result<Vec<u8>, GuestError> {
    let mut archive = CpioArchive::default();
    archive.dir("/dev");
    // The kernel opens it before anything is mounted.
    archive.device("/dev/console", 5, 1);
    archive.program("/init", init);
    copy(&mut archive, "/busybox", &parts.busybox)?;
    add(&mut archive)?;
    let files = load_order(&parts.modules.join(&parts.version), modules)?;
    add_modules(&mut archive, &files)?;
    Ok(archive.finish())
}

/// Adds a copy of a host file.
pub(super) fn copy(archive: &mut CpioArchive, path: &str, of: &Path) -> Result<(), GuestError> {
    archive
        .copy(path, of)
        .map_err(GuestError::host(format!("cannot read {}", of.display())))
}

/// Adds modules, and a list with their load order.
fn add_modules(archive: &mut CpioArchive, files: &[PathBuf]) -> Result<(), GuestError> {
    let mut names = String::new();
    for (number, file) in files.iter().enumerate() {
        // Numbered, because two directories may have modules with the same name.
        let name = format!("module{number}");
        if file.extension().is_some_and(|end| end == "xz") {
            let module = run(Command::new("xz").arg("-dc").arg(file))?;
            archive.program(&format!("/{name}"), &module);
        } else {
            copy(archive, &format!("/{name}"), file)?;
        }
        names += &format!("{name}\n");
    }
    archive.program("/modules", names.as_bytes());
    Ok(())
}
