//! `cargo xtask rig setup`: downloads the parts of the guests.

use super::layers::RigLayer;
use super::product::Product;
use crate::dist::check::KERNELS;
use crate::workspace;
use anyhow::{Result, bail, ensure};
use hakaru_rig::kit::{Arch, GuestParts, Kit, missing};
use std::process::Command;
use std::time::Instant;

/// Sets up the PC guest, or the Raspberry Pi guest with the word `pi`.
///
/// # Errors
/// If programs are missing that only root can install, or the archive cannot be reached.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let arch = match args {
        [] => Arch::X86_64,
        [word] if word == "pi" => Arch::Aarch64,
        _ => bail!("cargo xtask rig setup takes nothing, or the word pi"),
    };
    let parts = ready(arch)?;
    println!("kernel {} in {}", parts.version, parts.kernel.display());
    Ok(())
}

/// Prepares the guests, and builds the program under test, or removes `--hakaru FILE` from the arguments.
///
/// # Errors
/// If something is missing that cannot be installed, or the program does not build.
pub(super) fn program(arch: Arch, target: &str, args: &mut Vec<String>) -> Result<Product> {
    ready(arch)?;
    layer_tools()?;
    Product::get(target, args)
}

/// Removes `--kernel RELEASE` from the arguments; returns the kit with the kernel of that Debian release, or the default
/// kit.
///
/// # Errors
/// If the release is missing or unknown, or the archive cannot be reached.
pub(super) fn kernel(args: &mut Vec<String>) -> Result<Kit> {
    let Some(at) = args.iter().position(|arg| arg == "--kernel") else {
        return Ok(Kit::usual());
    };
    let known = || {
        let releases = KERNELS.iter().map(|(_, release)| *release);
        releases.collect::<Vec<_>>().join(", ")
    };
    args.remove(at);
    ensure!(at < args.len(), "--kernel needs one of {}", known());
    let release = args.remove(at);
    let is_known = KERNELS.iter().any(|(_, known)| *known == release);
    ensure!(is_known, "--kernel {release}: use one of {}", known());
    let kit = Kit::of_release(&release);
    let parts = kit.set_up(Arch::X86_64, &mut |what| eprintln!("{release}: {what}"))?;
    eprintln!("{release}: Linux {}", parts.version);
    Ok(kit)
}

/// Returns the components for one architecture, downloading missing ones.
///
/// # Errors
/// See [`main`].
pub(super) fn ready(arch: Arch) -> Result<GuestParts> {
    let begun = Instant::now();
    let mut report = |what: &str| eprintln!("rig: {:5.1} s  {what}", begun.elapsed().as_secs_f64());
    if let Some(missing) = missing(arch) {
        if !rustix::process::geteuid().is_root() {
            bail!("{missing}");
        }
        report(&format!("installing {}", missing.packages.join(" ")));
        workspace::install(&missing.packages)?;
    }
    Ok(Kit::usual().set_up(arch, &mut report)?)
}

/// Ensures that the programs that create layers and mappings are installed.
///
/// # Errors
/// If one is missing that only root can install.
pub(super) fn layer_tools() -> Result<()> {
    let tools = RigLayer::ALL
        .iter()
        .filter_map(|layer| layer.tool())
        .chain([("dmsetup", "dmsetup")]);
    let missing = tools.filter(|(program, _)| workspace::find_program(program).is_none());
    let packages: Vec<&str> = missing.map(|(_, package)| package).collect();
    if packages.is_empty() {
        return Ok(());
    }
    if !rustix::process::geteuid().is_root() {
        bail!(
            "not installed; install with: apt-get install {}",
            packages.join(" ")
        );
    }
    workspace::install(&packages)
}

/// Lets this process and the guests that it starts run before all others, so that a busy host does not slow a card down;
/// only as root and with `chrt`.
pub(super) fn real_time() {
    let own = std::process::id().to_string();
    // Without it, more of a card is unknown.
    let _ = Command::new("chrt")
        .args(["--rr", "--pid", "1", &own])
        .output();
}

/// Raises the scheduling priority of the guests, so that they run in real time; only as root.
pub(super) fn head_start() {
    // Without a higher priority, failed comparisons are repeated.
    let _ = rustix::process::setpriority_process(None, -15);
}
