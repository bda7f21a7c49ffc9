//! Traced runs that end early: nothing stays enabled or mounted, and the result is kept.

use crate::rig::cards;
use crate::rig::checks::{Checks, last_line, poll};
use crate::rig::full::RigSetup;
use crate::rig::product::record;
use anyhow::{Context, Result, ensure};
use hakaru_model::job::Op;
use hakaru_rig::guest::Guest;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

/// Prints what a trace could leave behind: enabled events, instances of ftrace, and mounts.
const STATE: &str = "cd /sys/kernel/tracing || exit 1
cat events/enable tracing_on current_tracer
for system in block mmc ext4 jbd2 f2fs; do
    [ ! -e events/$system ] || echo $system $(cat events/$system/enable)
done
ls instances
sort /proc/mounts
";

/// A run that would last a minute.
const RUN: &str = "fio --hakaru-trace=whole --name=job --filename=/dev/mmcblk0 --rw=randwrite --bs=4k --size=16m --direct=1 \
                   --time_based --runtime=60";

/// Interrupts a run by Ctrl-C, by `kill -9`, and by pulling the card.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let card = cards::paced(cards::slow())?;
    let mut guest = rig.boot(&card)?;
    // Loads the modules of file systems, whose events come with them.
    guest.check_output("modprobe ext4; modprobe f2fs", LIMIT)?;
    let before = guest.check_output(STATE, LIMIT)?;
    let hakaru = |name: &str| format!("{} --db /tmp/{name}.db", rig.hakaru);
    for (name, signal) in [("Ctrl-C", "INT"), ("kill -9", "KILL")] {
        checks.check(&format!("{name} during a trace"), || {
            let hakaru = hakaru(signal);
            // What a killed run had measured is kept by the next start.
            let script = format!(
                "cd /tmp; export HAKARU_STORE=1; timeout -s {signal} 9 {hakaru} {RUN} >&2; {hakaru} recover >&2
                 {hakaru} export"
            );
            let exported = guest.run(&script, LIMIT)?;
            ensure_clean(&mut guest, &before)?;
            kept(&exported.stdout).with_context(|| exported.stderr)
        });
    }
    checks.check("a card pulled during a trace", || {
        let hakaru = hakaru("pulled");
        card.take_ledger();
        guest.begin(&format!(
            "cd /tmp; export HAKARU_STORE=1; {hakaru} {RUN} >&2; code=$?; {hakaru} export; exit $code"
        ))?;
        poll(LIMIT, || {
            let written = card.ledger().of(Op::Write).commands;
            let done = written > 30;
            done.then_some(()).ok_or_else(|| format!("{written} writes"))
        })?;
        guest.pull(0)?;
        let output = guest.finish(LIMIT)?;
        ensure!(output.code != 0, "it ended with 0: {}", output.stderr);
        ensure!(!output.stderr.contains("panicked"), "{}", output.stderr);
        ensure_clean(&mut guest, &before)?;
        let text = kept(&output.stdout).with_context(|| output.stderr.clone())?;
        Ok(format!("{text}; {}", last_line(&output.stderr)))
    });
    Ok(guest.power_off()?)
}

/// Checks that the machine is as before the trace.
fn ensure_clean(guest: &mut Guest, before: &str) -> Result<()> {
    let after = guest.check_output(STATE, LIMIT)?;
    let left: Vec<&str> = after
        .lines()
        .filter(|line| !before.lines().any(|known| known == *line))
        .collect();
    ensure!(after == before, "left behind: {left:?}");
    Ok(())
}

/// Checks that the only record has the writes up to the interruption, and that it says so if their path is lost.
fn kept(exported: &str) -> Result<String> {
    let record = record(exported.lines().last().unwrap_or_default())?;
    let phase = &record["phases"][0];
    let writes = phase["workers"][0]["ops"]["write"]["bytes"].as_u64();
    let writes = writes.context("no writes are kept")?;
    ensure!(writes > 0, "no writes are kept: {}", record["outcome"]);
    let traced: u64 = phase["paths"][0]["classes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|class| class["bytes"].as_u64())
        .sum();
    let caveats = record["caveats"].as_array().into_iter().flatten();
    let says_lost = caveats
        .map(|caveat| &caveat["caveat"])
        .any(|it| it == "path_lost");
    ensure!(
        (traced == 0) == says_lost,
        "{traced} bytes traced; {}",
        record["caveats"]
    );
    Ok(format!(
        "nothing is left; {writes} bytes are kept, {traced} of them traced; {}",
        record["outcome"]["outcome"]
    ))
}
