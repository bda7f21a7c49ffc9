//! Makes the kernel start programs for other processors in QEMU.
//!
//! Source: Documentation/admin-guide/binfmt-misc.rst of Linux, binfmt.d(5).

use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

const HANDLERS: &str = "/proc/sys/fs/binfmt_misc";

/// A registered emulator, removed when dropped unless it was registered before.
pub(super) struct Handler {
    added: Option<PathBuf>,
}

impl Handler {
    /// Registers an emulator such as `qemu-arm` as systemd-binfmt does. The kernel keeps its file open, so that roots
    /// need no copy of it.
    ///
    /// # Errors
    /// If the emulator is missing, or the kernel takes no handlers.
    pub(super) fn register(name: &str) -> Result<Handler> {
        emulator(name)?;
        let handlers = Path::new(HANDLERS);
        if !handlers.join("register").exists() {
            let mut mount = Command::new("mount");
            mount.args(["-t", "binfmt_misc", "binfmt_misc", HANDLERS]);
            workspace::run(&mut mount)?;
        }
        let file = handlers.join(name);
        if file.exists() {
            return Ok(Handler { added: None });
        }
        let source = PathBuf::from(format!("/usr/lib/binfmt.d/{name}.conf"));
        let lines = std::fs::read_to_string(&source)
            .with_context(|| format!("cannot read {}", source.display()))?;
        let line = handler_line(&lines, name)?;
        std::fs::write(handlers.join("register"), line)
            .with_context(|| format!("cannot register {name}"))?;
        Ok(Handler { added: Some(file) })
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        let Some(file) = &self.added else {
            return;
        };
        if let Err(error) = std::fs::write(file, "-1") {
            eprintln!("cannot unregister {}: {error}", file.display());
        }
    }
}

/// Path of the static program of an emulator.
///
/// # Errors
/// If it is not installed.
pub(super) fn emulator(name: &str) -> Result<PathBuf> {
    workspace::find_program(&format!("{name}-static"))
        .with_context(|| format!("{name}-static is missing: apt-get install qemu-user-static"))
}

/// The line that registers an emulator, which must have the flag `F`: without it, the kernel searches for the emulator
/// within the root.
fn handler_line<'a>(lines: &'a str, name: &str) -> Result<&'a str> {
    let start = format!(":{name}:");
    let line = lines.lines().find(|line| line.starts_with(&start));
    let line = line.with_context(|| format!("no line registers {name}"))?;
    let flags = line.rsplit(':').next().unwrap_or_default();
    ensure!(
        flags.contains('F'),
        "{name} is registered without F: {line}"
    );
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_that_are_searched_in_the_root_are_refused() {
        let line = r":qemu-arm:M::\x7f:\xff:/usr/bin/qemu-arm-static:OPF";
        let lines = format!("# comment\n{line}\n");
        assert_eq!(handler_line(&lines, "qemu-arm").unwrap(), line);
        assert!(handler_line(&lines, "qemu-aarch64").is_err());
        let without = lines.replace("OPF", "OP");
        let error = handler_line(&without, "qemu-arm").unwrap_err();
        assert!(error.to_string().contains("without F"));
    }
}
