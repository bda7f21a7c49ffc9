//! `cargo xtask rig pi`: the Raspberry Pi build of the program on an emulated Raspberry Pi 3.
//!
//! The machine has no access to host files, so the card is prepared with its partitions and file systems.

mod traced;

use super::checks::Checks;
use super::layers::RigLayer;
use super::product::{self, ERASE, Product};
use super::{cards, setup};
use crate::workspace;
use anyhow::{Context, Result, ensure};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::units::Bytes;
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::{Output, Pi, PiRun};
use hakaru_rig::kit::{Arch, Kit};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Partition size of each layer; f2fs needs half of it for itself.
const PART: u64 = 128 << 20;

/// Start of the first partition in bytes.
const START: u64 = 4 << 20;

/// The workloads of the quick suite.
const WORKLOADS: [&str; 4] = ["seq-write", "seq-read", "rand-write", "rand-read"];

const LIMIT: Duration = Duration::from_secs(600);

/// Runs the test.
///
/// # Errors
/// If a check fails, or the machine cannot be started.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let product = static_program(&mut args)?;
    let only_trace = args == ["trace"];
    ensure!(
        only_trace || args.is_empty(),
        "cargo xtask rig pi takes nothing but --hakaru FILE, and `trace` for the traced runs alone"
    );
    setup::head_start();
    let mut checks = Checks::new();
    if !only_trace {
        suites(&mut checks, product.file())?;
    }
    traced::main(&mut checks, product.file())?;
    checks.conclude()
}

/// Builds the program for the Raspberry Pi, or removes `--hakaru FILE` from the arguments.
///
/// # Errors
/// If it does not build, or cannot run there.
pub(super) fn static_program(args: &mut Vec<String>) -> Result<Product> {
    let product = setup::program(Arch::Aarch64, product::PI, args)?;
    runs_on_pi(product.file())?;
    Ok(product)
}

/// A card with a partition for each layer.
///
/// # Errors
/// If the host has no space for the data, or a program is missing.
pub(super) fn card_with_layers() -> Result<Arc<SimulatedCard>> {
    let card = cards::make(DeviceModel {
        capacity: Bytes(1 << 30),
        ..cards::nimble()
    })?;
    partition(&card)?;
    Ok(card)
}

/// Runs the quick suite and fio on each layer.
fn suites(checks: &mut Checks, hakaru: &Path) -> Result<()> {
    let card = card_with_layers()?;
    let pi = Pi::with(&Kit::usual(), &card).program("hakaru", hakaru);
    let run = pi.run(&script(), LIMIT)?;
    checks.say(&format!(
        "a Raspberry Pi 3 started in {:.1} s, and is off again",
        run.boot_time.as_secs_f64()
    ));
    checks.check("the script succeeds", || script_succeeded(&run.output));
    checks.check("info names board and card", || names(&run));
    for layer in RigLayer::ALL {
        let name = layer.name();
        checks.check(&format!("quick suite on {name}"), || suite(&run, layer));
        checks.check(&format!("fio on {name}"), || fio(&run, layer));
    }
    Ok(())
}

fn script_succeeded(output: &Output) -> Result<String> {
    let Output {
        code,
        stdout,
        stderr,
    } = output;
    let failed = stdout.lines().filter(|line| line.starts_with("=== failed"));
    let failed = failed.collect::<Vec<_>>().join(", ");
    ensure!(*code == 0, "exit {code}: {failed}\n{stderr}");
    Ok("exit 0".to_owned())
}

/// Checks that a program can run on the machine, which has no shared libraries: other programs fail there without a
/// message.
fn runs_on_pi(file: &Path) -> Result<()> {
    let bytes =
        std::fs::read(file).with_context(|| format!("failed to read {}", file.display()))?;
    let why = foreign(&bytes);
    ensure!(
        why.is_none(),
        "{} cannot run on the Raspberry Pi: {}; help: leave --hakaru out to build one, or name a static program for \
         {}",
        file.display(),
        why.unwrap_or_default(),
        product::PI
    );
    Ok(())
}

/// Why a file is not a static program for aarch64. Source: elf(5).
fn foreign(bytes: &[u8]) -> Option<String> {
    const AARCH64: u16 = 183;
    const INTERPRETER: u32 = 3;
    let half = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.get(..5) != Some(b"\x7fELF\x02") {
        return Some("it is no 64-bit ELF program".to_owned());
    }
    let machine = half(18)?;
    if machine != AARCH64 {
        let name = match machine {
            62 => "x86-64".to_owned(),
            40 => "32-bit Arm".to_owned(),
            other => format!("machine {other} of the ELF format"),
        };
        return Some(format!("it is built for {name}"));
    }
    let table = usize::try_from(u64::from(word(32)?) | u64::from(word(36)?) << 32).ok()?;
    let (size, count) = (usize::from(half(54)?), usize::from(half(56)?));
    let wants =
        (0..count).any(|index| word(table.saturating_add(index * size)) == Some(INTERPRETER));
    wants.then(|| "it wants shared libraries".to_owned())
}

/// Writes a partition table and three file systems to the card; the first partition stays raw.
fn partition(card: &Arc<SimulatedCard>) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut table = [0; 512];
    for (number, layer) in RigLayer::ALL.into_iter().enumerate() {
        let start = START + PART * number as u64;
        let entry = &mut table[446 + 16 * number..][..16];
        entry[4] = if layer == RigLayer::Vfat { 0x0c } else { 0x83 };
        entry[8..12].copy_from_slice(&((start / 512) as u32).to_le_bytes());
        entry[12..].copy_from_slice(&((PART / 512) as u32).to_le_bytes());
        let file = dir.path().join(layer.name());
        std::fs::File::create(&file)?.set_len(PART)?;
        if let Some(mut mkfs) = mkfs(layer, &file) {
            workspace::output(&mut mkfs)?;
            card.lay(start, &file)?;
        }
    }
    table[510..].copy_from_slice(&[0x55, 0xaa]);
    Ok(card.poke(0, &table)?)
}

fn mkfs(layer: RigLayer, file: &Path) -> Option<Command> {
    let (program, _) = layer.tool()?;
    let options: &[&str] = match layer {
        RigLayer::Raw => &[],
        RigLayer::Vfat => &["-F", "32"],
        RigLayer::Ext4 => &[
            "-q",
            "-F",
            "-E",
            "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
        ],
        RigLayer::F2fs => &["-q", "-f", "-t", "0"],
    };
    let mut command = Command::new(workspace::find_program(program)?);
    command.args(options).arg(file);
    Some(command)
}

/// The complete script for one boot, because a boot takes longer than a workload.
fn script() -> String {
    let mut lines = vec![
        "fail() { echo \"=== failed $1\"; code=1; }".to_owned(),
        "code=0".to_owned(),
        "echo '=== info'".to_owned(),
        "hakaru info --json /dev/mmcblk0 || fail info".to_owned(),
    ];
    for (number, layer) in RigLayer::ALL.into_iter().enumerate() {
        lines.extend(layer_script(layer, &format!("/dev/mmcblk0p{}", number + 1)));
    }
    lines.push("exit $code".to_owned());
    lines.join("\n")
}

/// Runs the quick suite and fio on one layer.
fn layer_script(layer: RigLayer, device: &str) -> Vec<String> {
    let name = layer.name();
    let quick = format!(
        "--quick --repeat 1 --size 16MiB --only {}",
        WORKLOADS.join(",")
    );
    let job = "--name=x --rw=randwrite --bs=4k --size=4M --direct=1 --time_based --runtime=2 --output-format=json";
    let (place, erase, target) = match layer {
        RigLayer::Raw => (device, ERASE, format!("--filename={device}")),
        _ => ("/mnt", "", "--directory=/mnt".to_owned()),
    };
    let mut lines = vec![
        format!("echo '=== suite {name}'"),
        format!("hakaru --db /tmp/rig.db bench {place} {quick} {erase} || fail suite"),
        format!("echo '=== fio {name}'"),
        format!("hakaru fio {job} {target} || fail fio"),
    ];
    if layer != RigLayer::Raw {
        lines.insert(0, format!("mount -t {name} {device} /mnt || fail mount"));
        lines.push("umount /mnt || fail umount".to_owned());
    }
    lines
}

/// The output between a marker and the next.
fn part<'a>(run: &'a PiRun, mark: &str) -> Result<&'a str> {
    let text = &run.output.stdout;
    let start = format!("=== {mark}\n");
    let at = text
        .find(&start)
        .with_context(|| format!("the script did not come to {mark}"))?
        + start.len();
    let rest = &text[at..];
    Ok(&rest[..rest.find("\n=== ").unwrap_or(rest.len())])
}

fn names(run: &PiRun) -> Result<String> {
    let info: Value =
        serde_json::from_str(part(run, "info")?).context("`hakaru info --json` printed no JSON")?;
    let text = |path: &[&str]| product::known(&info, path).as_str().unwrap_or_default();
    let board = text(&["environment", "board"]);
    let card = text(&["identity", "device", "card", "name"]);
    ensure!(
        board.starts_with("Raspberry Pi 3 Model B"),
        "the board is called {board:?}"
    );
    ensure!(card == "QEMU!", "the card is called {card:?}");
    let (lines, hertz, ceiling) = product::wires(&info["identity"]);
    Ok(format!(
        "{board}, card {card}, {lines} lines at {hertz} Hz, {ceiling} B/s at most"
    ))
}

fn suite(run: &PiRun, layer: RigLayer) -> Result<String> {
    let shown = part(run, &format!("suite {}", layer.name()))?;
    // A row has the workload, its kind and two figures; remarks have a colon after the name.
    let rows = shown.lines().map(|line| line.split_whitespace().collect());
    let lines: Vec<String> = rows
        .filter(|row: &Vec<&str>| row.first().is_some_and(|name| WORKLOADS.contains(name)))
        .map(|row| row.join(" "))
        .collect();
    ensure!(
        lines.len() == 4,
        "the suite shows {} workloads of 4:\n{shown}",
        lines.len()
    );
    Ok(lines.join(" | "))
}

fn fio(run: &PiRun, layer: RigLayer) -> Result<String> {
    let job = product::fio_job(part(run, &format!("fio {}", layer.name()))?)?;
    let write = &job["write"];
    let iops = write["iops"].as_f64().context("fio's JSON has no iops")?;
    ensure!(iops > 0.0, "nothing was written: {write}");
    Ok(format!("{iops:.0} random writes per second"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF header with one program header of this type.
    fn program(machine: u16, kind: u32) -> Vec<u8> {
        let mut elf = vec![0; 64 + 56];
        elf[..5].copy_from_slice(b"\x7fELF\x02");
        elf[18..20].copy_from_slice(&machine.to_le_bytes());
        elf[32] = 64;
        elf[54] = 56;
        elf[56] = 1;
        elf[64..68].copy_from_slice(&kind.to_le_bytes());
        elf
    }

    #[test]
    fn only_static_programs_for_aarch64_run_on_the_pi() {
        assert_eq!(foreign(&program(183, 1)), None);
        assert_eq!(
            foreign(&program(62, 1)).as_deref(),
            Some("it is built for x86-64")
        );
        assert_eq!(
            foreign(&program(183, 3)).as_deref(),
            Some("it wants shared libraries")
        );
        assert_eq!(
            foreign(b"#!/bin/sh\n").as_deref(),
            Some("it is no 64-bit ELF program")
        );
        let mut cut = program(183, 1);
        cut.truncate(40);
        assert_eq!(foreign(&cut), None);
    }
}
