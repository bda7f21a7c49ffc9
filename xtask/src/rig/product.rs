//! The program under test: how it is built for the machines, and what it must say in them.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use hakaru_rig::guest::Guest;
use serde_json::Value;
use std::time::Duration;

/// What the program is built for to run in a PC.
pub(super) const PC: &str = "x86_64-unknown-linux-musl";

/// Builds the program as it is released, and returns its path in a PC, which sees the host's files there.
///
/// # Errors
/// When it does not build.
pub(super) fn build(target: &str) -> Result<String> {
    eprintln!("rig: building hakaru for {target}");
    workspace::run(workspace::cargo().args([
        "build",
        "--release",
        "--quiet",
        "--package",
        "hakaru",
        "--target",
        target,
    ]))?;
    let file = workspace::target().join(target).join("release/hakaru");
    let file = file.canonicalize().with_context(|| format!("cargo built no {}", file.display()))?;
    // Some of the host's folders are covered by the machine's own; there all of them are seen.
    Ok(format!("/run/host{}", file.display()))
}

/// The card is there, and `hakaru info` knows it.
///
/// # Errors
/// When it does not.
pub(super) fn sees_card(guest: &mut Guest, hakaru: &str, name: &str) -> Result<String> {
    let limit = Duration::from_secs(60);
    let cid = guest.run(&format!("cat /sys/block/{name}/device/cid"), limit)?.success()?;
    let info = info(guest, hakaru, &format!("/dev/{name}"))?;
    let told = |key: &str| known(&info, &["identity", "device", "card", key]).as_str().unwrap_or_default().to_owned();
    ensure!(told("cid") == cid.trim(), "the card is {}, but info says {}", cid.trim(), told("cid"));
    ensure!(told("name") == "QEMU!", "info calls the card {}", told("name"));
    Ok(format!("CID {}, {}", cid.trim(), bus(&info)))
}

/// What `hakaru info` says of a device and its host.
///
/// # Errors
/// When it fails or prints no JSON.
pub(super) fn info(guest: &mut Guest, hakaru: &str, path: &str) -> Result<Value> {
    let json = guest.run(&format!("{hakaru} info --json {path}"), Duration::from_secs(60))?.success()?;
    serde_json::from_str(&json).context("`hakaru info --json` printed no JSON")
}

/// The value at a place, where facts may be known or unknown.
pub(super) fn known<'a>(tree: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(tree, |value, key| {
        let value = &value[*key];
        value.get("known").unwrap_or(value)
    })
}

/// The wires of a card as `hakaru info` tells them: data lines, hertz, and bytes per second at best.
pub(super) fn wires(info: &Value) -> (u64, u64, u64) {
    let number = |key: &str| known(info, &["identity", "device", "bus", key]).as_u64().unwrap_or(0);
    (number("width_bits"), number("clock_hz"), number("ceiling"))
}

fn bus(info: &Value) -> String {
    let (lines, hertz, ceiling) = wires(info);
    format!("{lines} lines at {} MHz, {} MB/s at best", hertz as f64 / 1e6, ceiling as f64 / 1e6)
}

/// `hakaru bench --quick` on the raw card, with leave to erase it.
///
/// # Errors
/// When it fails.
pub(super) fn quick_suite(guest: &mut Guest, hakaru: &str, limit: Duration) -> Result<String> {
    let script = format!(
        "cd /tmp && {hakaru} --db /tmp/rig.db bench /dev/mmcblk0 --quick --repeat 1 --size 16MiB \
         --only rand-read,rand-write --erase=$(cat /sys/block/mmcblk0/device/cid)"
    );
    let shown = guest.run(&script, limit)?.success()?;
    ensure!(shown.contains("rand-write"), "the suite shows no rand-write:\n{shown}");
    Ok(format!("{} lines of results", shown.lines().count()))
}
