//! The program under test: its build for the guests, and its expected output.

use crate::{cross, workspace};
use anyhow::{Context, Result, ensure};
use hakaru_rig::guest::Guest;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Target triple for a PC guest.
pub(super) const PC: &str = "x86_64-unknown-linux-musl";

/// Target triple for a Raspberry Pi guest.
pub(super) const PI: &str = "aarch64-unknown-linux-musl";

/// Build for this host, whose libraries a PC guest also has: reuses the build of the tests.
pub(super) const HOST: &str = "this host";

/// Permission to erase the first card, by its identity.
pub(super) const ERASE: &str = "--erase=$(cat /sys/block/mmcblk0/device/cid)";

/// Debian's cross compiler for SQLite's C code, if cargo-zigbuild is not available.
const CROSS_GCC: &str = "aarch64-linux-gnu-gcc";

/// The program under test. Its own code is not optimized, which is fast enough for a card; `--hakaru` selects a
/// release.
pub(super) struct Product {
    file: PathBuf,
}

impl Product {
    /// Builds the program, or removes `--hakaru FILE` from the arguments and uses that file.
    ///
    /// # Errors
    /// If it does not build, or the file does not exist.
    pub(super) fn get(target: &str, args: &mut Vec<String>) -> Result<Product> {
        let named = args.iter().position(|arg| arg == "--hakaru");
        let file = match named {
            Some(at) => {
                let file = args
                    .get(at + 1)
                    .map(PathBuf::from)
                    .context("--hakaru wants a file")?;
                args.drain(at..at + 2);
                file
            }
            None => {
                eprintln!("rig: building hakaru for {target}");
                compile(target)?;
                let dir = workspace::target();
                if target == HOST {
                    dir.join("debug/hakaru")
                } else {
                    dir.join(target).join("debug/hakaru")
                }
            }
        };
        let file = file
            .canonicalize()
            .with_context(|| format!("there is no {}", file.display()))?;
        Ok(Product { file })
    }

    /// Path on the host.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Path in a PC guest, which can access the host's files.
    pub(super) fn in_pc(&self) -> String {
        // Some host directories are hidden by the machine's own; all of them are visible there.
        format!("/run/host{}", self.file.display())
    }
}

fn compile(target: &str) -> Result<()> {
    let mut cargo = workspace::cargo();
    let zig = target == PI && workspace::find_program("cargo-zigbuild").is_some();
    cargo.arg(if zig { "zigbuild" } else { "build" });
    cargo.arg("--quiet").args(workspace::WHOLE_PROGRAM);
    if target != HOST {
        cross::require(target)?;
        cargo.args(["--target", target]);
    }
    if target == PC {
        require_compiler("musl-gcc", &["musl-tools"], target)?;
    }
    if target == PI && !zig {
        let packages = ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"];
        require_compiler(CROSS_GCC, &packages, target)?;
        cargo.env("CC_aarch64_unknown_linux_musl", CROSS_GCC);
        // The headers belong to another C library, which has everything else that SQLite needs.
        cargo.env("LIBSQLITE3_FLAGS", "-DSQLITE_DISABLE_LFS");
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
    }
    workspace::run(&mut cargo)
}

/// Installs the C compiler of a target if it is missing: SQLite is C code.
fn require_compiler(program: &str, packages: &[&str], target: &str) -> Result<()> {
    if workspace::find_program(program).is_some() {
        return Ok(());
    }
    workspace::install(packages).with_context(|| {
        let packages = packages.join(" and ");
        format!("SQLite needs {program} for {target}: install {packages}")
    })
}

/// Checks that the card exists and `hakaru info` identifies it.
///
/// # Errors
/// If it does not.
pub(super) fn sees_card(guest: &mut Guest, hakaru: &str, name: &str) -> Result<String> {
    let limit = Duration::from_secs(60);
    let cid = guest.check_output(&format!("cat /sys/block/{name}/device/cid"), limit)?;
    let cid = cid.trim();
    let info = info(guest, hakaru, &format!("/dev/{name}"))?;
    let shown = |key: &str| {
        known(&info, &["identity", "device", "card", key])
            .as_str()
            .unwrap_or_default()
    };
    let (shown_cid, shown_name) = (shown("cid"), shown("name"));
    ensure!(
        shown_cid == cid,
        "the card is {cid}, but info says {shown_cid}"
    );
    ensure!(shown_name == "QEMU!", "info calls the card {shown_name}");
    Ok(format!("CID {cid}, {}", bus(&info)))
}

/// Output of `hakaru info` on a device and its host.
///
/// # Errors
/// If it fails or prints no JSON.
pub(super) fn info(guest: &mut Guest, hakaru: &str, path: &str) -> Result<Value> {
    let script = format!("{hakaru} info --json {path}");
    let json = guest.check_output(&script, Duration::from_secs(60))?;
    serde_json::from_str(&json).context("`hakaru info --json` printed no JSON")
}

/// The value at a path, for facts that may be known or unknown.
pub(super) fn known<'a>(tree: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(tree, |value, key| {
        let value = &value[*key];
        value.get("known").unwrap_or(value)
    })
}

/// The bus of a card from its identity: data lines, clock in Hz, and maximum bytes per second.
pub(super) fn wires(identity: &Value) -> (u64, u64, u64) {
    let number = |key: &str| {
        known(identity, &["device", "bus", key])
            .as_u64()
            .unwrap_or(0)
    };
    (number("width_bits"), number("clock_hz"), number("ceiling"))
}

/// The bus of the first card as recorded in a run.
///
/// # Errors
/// If nothing is measured or recorded.
pub(super) fn recorded_wires(guest: &mut Guest, hakaru: &str) -> Result<(u64, u64, u64)> {
    let script = format!(
        "cd /tmp && {hakaru} --db /tmp/wires.db bench /dev/mmcblk0 --quick --repeat 1 --size 16MiB --only rand-read >&2 \
         && {hakaru} --db /tmp/wires.db export"
    );
    let lines = guest.check_output(&script, Duration::from_secs(120))?;
    Ok(wires(
        &record(lines.lines().next().unwrap_or_default())?["target"],
    ))
}

/// A record, from its line in the output of `hakaru export`.
///
/// # Errors
/// If it is not JSON.
pub(super) fn record(line: &str) -> Result<Value> {
    serde_json::from_str(line).context("`hakaru export` printed no JSON")
}

/// The first job in fio's JSON.
///
/// # Errors
/// If the text is not JSON, or the job ended with an error.
pub(super) fn fio_job(json: &str) -> Result<Value> {
    let mut tree: Value = serde_json::from_str(json).context("fio printed no JSON")?;
    let job = tree["jobs"][0].take();
    let error = &job["error"];
    ensure!(*error == 0, "fio's job ended with error {error}");
    Ok(job)
}

fn bus(info: &Value) -> String {
    let (lines, hertz, ceiling) = wires(&info["identity"]);
    format!(
        "{lines} lines at {} MHz, {} MB/s at most",
        hertz as f64 / 1e6,
        ceiling as f64 / 1e6
    )
}

/// Runs `hakaru bench --quick` on the raw card, with permission to erase it.
///
/// # Errors
/// If it fails.
pub(super) fn quick_suite(guest: &mut Guest, hakaru: &str, limit: Duration) -> Result<String> {
    let script = format!(
        "cd /tmp && {hakaru} --db /tmp/rig.db bench /dev/mmcblk0 --quick --repeat 1 --size 16MiB \
         --only rand-read,rand-write {ERASE}"
    );
    let shown = guest.check_output(&script, limit)?;
    ensure!(
        shown.contains("Random writes"),
        "the suite shows no random writes:\n{shown}"
    );
    Ok(format!("{} lines of results", shown.lines().count()))
}
