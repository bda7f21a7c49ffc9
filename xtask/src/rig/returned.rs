//! A card is removed during a campaign and reinserted: hakaru asks for it, recognizes it, and continues.

use super::cards::{self, make};
use super::checks::{Checks, last_line, poll};
use super::figures::stored_once;
use super::full::RigSetup;
use super::product::ERASE;
use anyhow::{Result, ensure};
use hakaru_model::units::Bytes;
use hakaru_rig::guest::{Guest, Output};
use std::path::Path;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(180);

/// Two layers with two workloads, three repeats each.
const FILE: &str = r#"name = "pulled"
repeats = 3

[[card]]
label = "thumb"
id = "ask"

[[layer]]
fs = "raw"

[[layer]]
fs = "vfat"

[[workload]]
name = "write"
rw = "write"
bs = "64 KiB"
size = "4 MiB"
runtime = "3 s"

[[workload]]
name = "read"
rw = "randread"
size = "4 MiB"
runtime = "1 s"
"#;

/// Number of runs.
const RUNS: u32 = 12;

/// Removes the card once during a raw run and once during a run on a mounted file system.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let card = make(cards::quick("thumb", Bytes(256 << 20)))?;
    let mut guest = rig.boot(&card)?;
    std::fs::write(guest.out().join("pulled.toml"), FILE)?;
    let hakaru = &rig.hakaru;
    let command = format!("XDG_STATE_HOME=/out/state {hakaru} --db /out/rig.db");
    // An operator at a terminal who types nothing.
    let script = format!(
        "mkfifo /tmp/keys && exec 3<>/tmp/keys\n\
         script -qfec \"env TERM=xterm {command} campaign run /out/pulled.toml {ERASE}\" /out/shown </tmp/keys\n"
    );
    guest.begin(&script)?;
    let mut rig = ReturnedRig {
        guest: &mut guest,
        seen: 0,
    };
    for (name, number) in [
        ("a card pulled from a raw run is asked for", 2),
        ("and from a file system as well", 8),
    ] {
        checks.check(name, || rig.pull_in_run(number));
        rig.guest.push(0)?;
    }
    let ended = guest.finish(LIMIT)?;
    check_end(&mut guest, &ended, &command, checks);
    Ok(guest.power_off()?)
}

/// Checks that the campaign completed, and what it left behind.
fn check_end(guest: &mut Guest, ended: &Output, hakaru: &str, checks: &mut Checks) {
    checks.check(
        "it is recognized without a prompt, and the campaign resumes",
        || {
            let shown = shown(guest.out());
            ensure!(ended.code == 0, "exit {}:\n{shown}", ended.code);
            ensure!(
                shown.contains("12 in total: complete"),
                "it does not say that all is done:\n{shown}"
            );
            Ok(last_line(&shown))
        },
    );
    checks.check("every repeat of every cell is stored once", || {
        let records = guest.check_output(&format!("{hakaru} export"), LIMIT)?;
        stored_once(&records, 4, RUNS / 4)
    });
    checks.check("nothing is left mounted or half done", || {
        let script = format!("{hakaru} recover; grep mmcblk /proc/mounts; true");
        let said = guest.check_output(&script, LIMIT)?;
        ensure!(
            said.contains("Nothing to recover") && !said.contains("/dev/mmcblk"),
            "{said}"
        );
        Ok(last_line(&said))
    });
}

/// Terminal output in the machine.
fn shown(out: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(out.join("shown")).unwrap_or_default()).into_owned()
}

struct ReturnedRig<'g> {
    guest: &'g mut Guest,
    /// Bytes of the terminal output already checked.
    seen: usize,
}

impl ReturnedRig<'_> {
    /// Removes the card during a run, and waits until hakaru asks for it.
    fn pull_in_run(&mut self, number: u32) -> Result<String> {
        self.await_words(&format!("[ {number}/{RUNS}]"))?;
        std::thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        self.guest.pull(0)?;
        self.await_words("thumb is no longer present; its stored runs are kept")?;
        self.await_words("Insert thumb")?;
        Ok(format!(
            "asked for {:.1} s later",
            begun.elapsed().as_secs_f64()
        ))
    }

    /// Waits until the terminal shows these words after those found before.
    fn await_words(&mut self, words: &str) -> Result<()> {
        self.seen = poll(LIMIT, || {
            let shown = shown(self.guest.out());
            let at = shown.get(self.seen..).and_then(|new| new.find(words));
            at.map(|at| self.seen + at + words.len())
                .ok_or_else(|| format!("{words:?} is not shown, but\n{shown}"))
        })?;
        Ok(())
    }
}
