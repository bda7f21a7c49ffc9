//! Tests with fake cards, removed cards and power cuts: what the machine sees, and what hakaru reports.

use super::cards::{self, make};
use super::checks::{Checks, last_line, poll};
use super::full::RigSetup;
use super::product::{ERASE, record};
use anyhow::{Context, Result, ensure};
use hakaru_model::device_model::{Fault, FaultKind};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::Guest;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(300);

/// Writes a sector past the real capacity, reads it from the start of the card, and prints the claimed size.
const WRITE_PAST_CAPACITY: &str = "cd /tmp; head -c 512 /dev/urandom >a
dd if=a of=/dev/mmcblk0 bs=512 seek=$((64 * 2048)) oflag=direct status=none
dd if=/dev/mmcblk0 of=b bs=512 count=1 iflag=direct status=none
cmp a b && blockdev --getsize64 /dev/mmcblk0
";

/// A card of 64 MiB that claims 256 MiB.
pub(super) fn counterfeit(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let mut model = cards::quick("counterfeit", Bytes(64 << 20));
    model.claimed_capacity = Some(Bytes(256 << 20));
    let mut guest = rig.boot(&make(model)?)?;
    checks.check("the card wraps", || {
        let size = guest.check_output(WRITE_PAST_CAPACITY, LIMIT)?;
        ensure!(size.trim() == (256 << 20).to_string(), "its size is {size}");
        Ok("256 MiB announced; what is written at 64 MiB is read at 0".to_owned())
    });
    for (name, how) in [
        ("verify finds the real capacity", ""),
        ("verify --quick finds it too", "--quick"),
    ] {
        checks.check(name, || {
            let verdict = verified(&mut guest, rig, how, DEFECTS)?;
            let (real, claimed) = (&verdict["real"], &verdict["claimed"]);
            ensure!(
                verdict["capacity"] == "wraps" && *real == 64 << 20,
                "it says {verdict}"
            );
            Ok(format!(
                "exit {DEFECTS}, it wraps after {real} bytes of {claimed}"
            ))
        });
    }
    guest.power_off()?;
    genuine(rig, checks)
}

/// A card with the capacity it claims.
fn genuine(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let mut guest = rig.boot(&make(cards::quick("good", Bytes(64 << 20)))?)?;
    checks.check("verify passes a good card", || {
        let verdict = verified(&mut guest, rig, "", 0)?;
        let (good, claimed) = (&verdict["good"], &verdict["claimed"]);
        ensure!(
            verdict["capacity"] == "as_claimed" && verdict["bad_bytes"] == 0,
            "it says {verdict}"
        );
        Ok(format!("exit 0, {good} bytes of {claimed} are good"))
    });
    Ok(guest.power_off()?)
}

/// Writes a good and a bad place, reads both back, and prints whether the data differs.
const WRITE_AND_COMPARE: &str = "cd /tmp; head -c 1048576 /dev/urandom >a
for at in 1 2; do dd if=a of=/dev/mmcblk0 bs=1M seek=$at oflag=direct status=none || exit 1; done
for at in 1 2; do
    dd if=/dev/mmcblk0 bs=1M skip=$at count=1 iflag=direct status=none | cmp -s a -
    echo $?
done
";

fn drops_writes(offset: u64) -> Fault {
    Fault {
        offset: Bytes(offset),
        len: Bytes(4096),
        kind: FaultKind::DropsWrites,
    }
}

/// A card that silently drops writes at two places.
pub(super) fn dropped(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let mut model = cards::quick("forgetful", Bytes(64 << 20));
    let dropping = [1 << 20, (40 << 20) + 8192];
    model.faults = dropping.map(drops_writes).to_vec();
    let mut guest = rig.boot(&make(model)?)?;
    checks.check("the card drops writes", || {
        let same = guest.check_output(WRITE_AND_COMPARE, LIMIT)?;
        ensure!(
            same == "1\n0\n",
            "the comparisons of the bad and the good place ended with {same:?}"
        );
        Ok("a write at the bad place succeeds and is not there".to_owned())
    });
    checks.check("verify finds dropped writes", || {
        let verdict = verified(&mut guest, rig, "", DEFECTS)?;
        let bad = verdict["bad"].as_array().into_iter().flatten();
        let bad: Vec<u64> = bad.filter_map(|part| part["offset"].as_u64()).collect();
        ensure!(
            bad == dropping && verdict["bad_bytes"] == 8192,
            "it says {verdict}"
        );
        Ok(format!("exit {DEFECTS}, 8192 bytes are bad, at {bad:?}"))
    });
    Ok(guest.power_off()?)
}

/// A synced file after a power cut, on a card that honors flushes and on one that does not.
pub(super) fn lying_flush(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    for (name, lost, survives) in [
        ("an honest card keeps a synced file", None, true),
        ("a lying card loses it", Some(Bytes(1 << 20)), false),
    ] {
        let card = card_losing(name, 128 << 20, lost)?;
        let mut guest = rig.boot(&card)?;
        let script = "set -e\nmkfs.ext4 -q -F -E nodiscard /dev/mmcblk0\nmount -o nodiscard /dev/mmcblk0 /mnt\n\
                      for file in old filler; do head -c 4M /dev/urandom >/mnt/$file; sync; done\n\
                      md5sum </mnt/old >/out/old\n\
                      head -c 64K /dev/urandom | dd of=/mnt/new bs=64K iflag=fullblock conv=fsync status=none\n";
        guest.check_output(script, LIMIT)?;
        let old = std::fs::read_to_string(guest.out().join("old"))?;
        let lost = guest.cut_power()?[0];
        let mut guest = rig.boot(&card)?;
        checks.check(name, || {
            let script = "mount -o nodiscard /dev/mmcblk0 /mnt || exit 1\nmd5sum </mnt/old\nwc -c </mnt/new || echo gone";
            let found = guest.check_output(script, LIMIT)?;
            let new = found.strip_prefix(&old);
            let new = new.with_context(|| format!("the old file changed: {found}"))?.trim();
            let present = new == "65536";
            ensure!(present == survives, "the synced file: {new}");
            let is = if present { "present" } else { "gone" };
            Ok(format!("{lost} lost, the file is {is}"))
        });
        guest.power_off()?;
    }
    found_by_verifying(rig, checks)
}

/// A card that loses this much flushed data in a power cut.
fn card_losing(name: &str, size: u64, lost: Option<Bytes>) -> Result<Arc<SimulatedCard>> {
    let mut model = cards::quick(name, Bytes(size));
    model.lost_flush = lost;
    make(model)
}

/// The same test with hakaru: data synced before the power cut is verified afterwards.
fn found_by_verifying(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let job = "--name=kept --filename=/dev/mmcblk0 --rw=write --bs=64k --size=8M --direct=1 --verify=crc32c";
    let fio = format!("{} fio {job}", rig.hakaru);
    for (name, lost) in [
        ("verifying after the cut passes an honest card", None),
        (
            "verifying after the cut finds a lying flush",
            Some(Bytes(1 << 20)),
        ),
    ] {
        let card = card_losing(name, 64 << 20, lost)?;
        let mut guest = rig.boot(&card)?;
        guest.check_output(&format!("{fio} --do_verify=0 --end_fsync=1"), LIMIT)?;
        let gone = guest.cut_power()?[0];
        let mut guest = rig.boot(&card)?;
        checks.check(name, || {
            let output = guest.run(&format!("{fio} --verify_only=1"), LIMIT)?;
            let (code, said) = (output.code, output.both());
            ensure!(
                (code == 0) == lost.is_none(),
                "it ended with {code}:\n{said}"
            );
            let shown = said.lines().find(|line| line.contains("verify"));
            let shown = shown.unwrap_or_default().trim();
            Ok(format!("{gone} lost, exit {code}; {shown}"))
        });
        guest.power_off()?;
    }
    Ok(())
}

/// A card removed during a run: the run ends soon and reports the reason, and its measurements are kept.
pub(super) fn pulled(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let hakaru = &rig.hakaru;
    let fio = format!(
        "{hakaru} fio --name=pulled --filename=/dev/mmcblk0 --filesize=32M --time_based --runtime=60 --ioengine=sync \
         --direct=1 --bs=64k --rw=write"
    );
    let suite = format!(
        "{hakaru} --db /out/rig.db bench /dev/mmcblk0 --standard --size 32MiB --only seq-write {ERASE}; code=$?; \
         {hakaru} --db /out/rig.db list >/tmp/list; cat /tmp/list; echo LISTED $(grep -c QEMU /tmp/list); exit $code"
    );
    checks.check("fio ends when the card is pulled", || {
        pulled_from(rig, &fio).map(|(_, text)| text)
    });
    checks.check("bench ends and keeps the record", || {
        let (said, text) = pulled_from(rig, &suite)?;
        ensure!(
            said.contains("LISTED 1"),
            "the record is not in the list:\n{said}"
        );
        Ok(text)
    });
    Ok(())
}

/// Removes the card while the script measures it. Returns the output of the script, and a summary of it.
fn pulled_from(rig: &RigSetup, script: &str) -> Result<(String, String)> {
    let card = make(cards::nimble())?;
    let mut guest = rig.boot(&card)?;
    guest.begin(script)?;
    await_writes(&card, Bytes(1 << 20))?;
    // The run is in progress then, with several seconds left.
    std::thread::sleep(Duration::from_secs(4));
    let begun = Instant::now();
    guest.pull(0)?;
    let output = guest.finish(Duration::from_secs(30))?;
    let (code, said) = (output.code, output.both());
    ensure!(code != 0, "it ended with 0:\n{said}");
    ensure!(!said.contains("panicked"), "it panicked:\n{said}");
    ensure!(
        DEVICE_ERRORS.iter().any(|words| said.contains(words)),
        "it does not say that the device failed:\n{said}"
    );
    let seconds = begun.elapsed().as_secs_f64();
    let text = format!("exit {code} after {seconds:.1} s; {}", last_line(&said));
    Ok((said, text))
}

/// Ways to say that a device failed; one of them must be in the output.
const DEVICE_ERRORS: [&str; 6] = [
    "Input/output error",
    "I/O error",
    "os error 5",
    "errno 5",
    "No such device",
    "No medium",
];

/// Waits until this much data was written to a card.
fn await_writes(card: &SimulatedCard, wanted: Bytes) -> Result<()> {
    poll(LIMIT, || {
        let written = card.ledger().of(Op::Write).bytes;
        let done = written >= wanted;
        done.then_some(())
            .ok_or_else(|| format!("only {written} of {wanted} were written"))
    })
}

/// The command of hakaru with its database and journals on another disk.
fn on_other_disk(rig: &RigSetup) -> String {
    let hakaru = &rig.hakaru;
    format!("export XDG_STATE_HOME=/out/state; {hakaru} --db /out/rig.db")
}

/// A power cut during a run whose database is on another disk: the measurements up to then are kept.
pub(super) fn power_cut(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let hakaru = on_other_disk(rig);
    let suite = |pace: &str, only: &str| {
        format!("{hakaru} bench /dev/mmcblk0 {pace} --repeat 1 --size 16MiB --only {only} {ERASE}")
    };
    let card = make(cards::nimble())?;
    let mut guest = rig.with(&card).out(dir.path()).boot()?;
    guest.check_output(&suite("--quick", "rand-read"), LIMIT)?;
    guest.begin(&suite("--standard", "seq-write"))?;
    let lines = await_spool(dir.path(), 6)?;
    guest.cut_power()?;
    let mut guest = rig.with(&card).out(dir.path()).boot()?;
    checks.check("the database is intact after a power cut", || {
        let list = guest.check_output(&format!("{hakaru} list"), LIMIT)?;
        guest.check_output(&suite("--quick", "rand-read"), LIMIT)?;
        listed(&list)
    });
    checks.check("recover keeps what was measured before the cut", || {
        let said = guest.check_output(&format!("{hakaru} recover"), LIMIT)?;
        let stored = "cut short: seq-write; stored as run";
        ensure!(said.contains(stored), "{said}");
        let records = guest.check_output(&format!("{hakaru} export"), LIMIT)?;
        let kept = recovered_rate(&records, lines)?;
        nothing_to_recover(&mut guest, &hakaru)?;
        Ok(format!("{kept}; {}", last_line(&said)))
    });
    guest.power_off()?;
    cut_in_mkfs(rig, checks)
}

/// Checks the list of runs after a power cut.
fn listed(list: &str) -> Result<String> {
    ensure!(
        list.contains("QEMU") || list.contains("mmcblk0"),
        "the run before the cut is not listed:\n{list}"
    );
    let count = list.lines().count();
    Ok(format!("{count} lines listed, and it is written to again"))
}

/// Checks the record of the interrupted run, whose spool had this many lines, against the write rate of the card.
fn recovered_rate(records: &str, lines: usize) -> Result<String> {
    let line = records.lines().find(|line| line.contains("cut_short"));
    let record = record(line.context("no record is cut short")?)?;
    let outcome = &record["outcome"]["outcome"];
    ensure!(*outcome == "interrupted", "its outcome is {outcome}");
    let worker = &record["phases"][0]["workers"][0];
    let bytes = worker["ops"]["write"]["bytes"].as_u64().unwrap_or(0);
    let seconds = worker["runtime"].as_u64().unwrap_or(0) as f64 / 1e9;
    ensure!(
        seconds >= 3.0 && bytes > 1 << 20,
        "it holds {seconds:.1} s and {bytes} bytes of {lines} lines"
    );
    let rate = bytes as f64 / seconds;
    ensure!(
        (rate / 2.5e6 - 1.0).abs() < 0.25,
        "it holds {rate:.0} B/s, and the card writes 2500000"
    );
    Ok(format!(
        "{seconds:.1} s of seq-write with {bytes} bytes, {rate:.0} B/s"
    ))
}

/// Checks that a second `recover` finds nothing.
fn nothing_to_recover(guest: &mut Guest, hakaru: &str) -> Result<()> {
    let again = guest.check_output(&format!("{hakaru} recover"), LIMIT)?;
    ensure!(
        again.contains("Nothing to recover"),
        "it is recovered a second time:\n{again}"
    );
    Ok(())
}

/// Waits until a spool has `wanted` lines, and returns their number.
fn await_spool(out: &Path, wanted: usize) -> Result<usize> {
    poll(LIMIT, || {
        let spools = std::fs::read_dir(out.join("rig.db.spool"));
        let texts = spools.into_iter().flatten().flatten();
        let texts = texts.filter_map(|spool| std::fs::read(spool.path()).ok());
        let count = |text: Vec<u8>| text.iter().filter(|byte| **byte == b'\n').count();
        let lines = texts.map(count).max().unwrap_or(0);
        if lines >= wanted {
            Ok(lines)
        } else {
            Err(format!("the spool has {lines} lines of {wanted}"))
        }
    })
}

/// A power cut while a file system is created, with the journal on another disk.
fn cut_in_mkfs(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let hakaru = on_other_disk(rig);
    let prepare = format!(
        "{hakaru} prepare /dev/mmcblk0 --mkfs=ext4 --mkfs-options=\"-E nodiscard\" {ERASE}"
    );
    let card = make(cards::nimble())?;
    let mut guest = rig.with(&card).out(dir.path()).boot()?;
    guest.begin(&prepare)?;
    await_writes(&card, Bytes(1 << 20))?;
    guest.cut_power()?;
    let mut guest = rig.with(&card).out(dir.path()).boot()?;
    checks.check("recover after a power cut in mkfs", || {
        let first = guest.check_output(&format!("{hakaru} recover"), LIMIT)?;
        ensure!(
            first.contains("mmcblk0") && first.contains("from before the last reboot"),
            "the incomplete card is not named:\n{first}"
        );
        nothing_to_recover(&mut guest, &hakaru)?;
        Ok(last_line(&first))
    });
    card.hurry(true);
    checks.check("the card can be prepared again", || {
        let script = format!("{prepare} >&2 && mount -o nodiscard /dev/mmcblk0 /mnt && df /mnt");
        guest.check_output(&script, LIMIT)?;
        Ok("mkfs.ext4 succeeds, and the card is mounted".to_owned())
    });
    Ok(guest.power_off()?)
}

/// Exit code of `hakaru verify` after it found defects.
const DEFECTS: i32 = 4;

/// Output of `hakaru verify` on the first card, which must exit with this code.
fn verified(guest: &mut Guest, rig: &RigSetup, how: &str, code: i32) -> Result<Value> {
    let script = format!(
        "{} --db /tmp/rig.db verify /dev/mmcblk0 --json {how} {ERASE}",
        rig.hakaru
    );
    let output = guest.run(&script, LIMIT)?;
    let said = output.both();
    ensure!(
        output.code == code,
        "it ended with {}:\n{said}",
        output.code
    );
    let no_json = || format!("there is no JSON:\n{said}");
    let start = said.find('{').with_context(no_json)?;
    let mut values = serde_json::Deserializer::from_str(&said[start..]).into_iter::<Value>();
    let mut verification = values.next().with_context(no_json)??;
    Ok(verification["verdict"].take())
}
