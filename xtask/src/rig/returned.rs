//! A card is removed during a campaign and reinserted: hakaru asks for it, recognizes it, and continues.

use super::cards::{self, make};
use super::checks::Checks;
use super::figures::stored_once;
use super::full::RigSetup;
use anyhow::{Result, ensure};
use hakaru_model::units::Bytes;
use hakaru_rig::guest::Guest;
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
pub(super) fn main(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let card = make(cards::quick("thumb", Bytes(256 << 20)))?;
    let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
    std::fs::write(guest.out().join("pulled.toml"), FILE)?;
    let command = format!(
        "XDG_STATE_HOME=/out/state {} --db /out/rig.db",
        bench.hakaru
    );
    // An operator at a terminal who types nothing.
    let script = format!(
        "mkfifo /tmp/keys && exec 3<>/tmp/keys && cid=$(cat /sys/block/mmcblk0/device/cid)\n\
         script -qfec \"env TERM=xterm {command} campaign run /out/pulled.toml --erase=$cid\" /out/shown </tmp/keys\n"
    );
    guest.begin(&script)?;
    let mut desk = ReturnedRig {
        guest: &mut guest,
        seen: 0,
    };
    for (name, number) in [
        ("a card pulled from a raw run is asked for", 2),
        ("and from a file system as well", 8),
    ] {
        checks.check(name, || desk.pull_in_run(number));
        desk.guest.push(0)?;
    }
    let ended = guest.finish(LIMIT)?;
    checks.check("it is known again without a word, and gone on with", || {
        let shown = shown(guest.out());
        ensure!(ended.code == 0, "exit {}:\n{shown}", ended.code);
        ensure!(
            shown.contains("12 in all: complete"),
            "it does not say that all is done:\n{shown}"
        );
        Ok(last_line(&shown))
    });
    checks.check("every repeat of every cell is stored once", || {
        let records = guest.run(&format!("{command} export"), LIMIT)?.success()?;
        stored_once(&records, 4, RUNS / 4)
    });
    checks.check("nothing is left mounted or half done", || {
        let said = guest
            .run(
                &format!("{command} recover; grep mmcblk /proc/mounts; true"),
                LIMIT,
            )?
            .success()?;
        ensure!(
            said.contains("Nothing to recover") && !said.contains("/dev/mmcblk"),
            "{said}"
        );
        Ok(last_line(&said))
    });
    Ok(guest.power_off()?)
}

/// Terminal output in the machine.
fn shown(out: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(out.join("shown")).unwrap_or_default()).into_owned()
}

fn last_line(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned()
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
        self.await_words("thumb is not there any more; what was stored of it stays")?;
        self.await_words("Insert thumb")?;
        Ok(format!(
            "asked for {:.1} s later",
            begun.elapsed().as_secs_f64()
        ))
    }

    fn await_words(&mut self, words: &str) -> Result<()> {
        let begun = Instant::now();
        loop {
            let shown = shown(self.guest.out());
            if let Some(at) = shown.get(self.seen..).and_then(|new| new.find(words)) {
                self.seen += at + words.len();
                return Ok(());
            }
            ensure!(
                begun.elapsed() < LIMIT,
                "{words:?} is not shown in {} s, but\n{shown}",
                LIMIT.as_secs()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
