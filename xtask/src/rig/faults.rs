//! Tests with fake cards, removed cards and power cuts: what the machine sees, and what hakaru reports.

use super::cards::{self, make};
use super::checks::Checks;
use super::full::RigSetup;
use anyhow::{Context, Result, ensure};
use hakaru_model::device_model::{Fault, FaultKind};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::Guest;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(300);

/// A card of 64 MiB that claims 256 MiB.
pub(super) fn counterfeit(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let mut prices = cards::quick("counterfeit", Bytes(64 << 20));
    prices.claimed_capacity = Some(Bytes(256 << 20));
    let card = make(prices)?;
    let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
    checks.check("the card wraps", || {
        let script = "cd /tmp; head -c 512 /dev/urandom >a\n\
                      dd if=a of=/dev/mmcblk0 bs=512 seek=$((64 * 2048)) oflag=direct status=none\n\
                      dd if=/dev/mmcblk0 of=b bs=512 count=1 iflag=direct status=none\n\
                      cmp a b && blockdev --getsize64 /dev/mmcblk0\n";
        let size = guest.run(script, LIMIT)?.success()?;
        ensure!(
            size.trim() == (256 << 20).to_string(),
            "it says it has {size}"
        );
        Ok("256 MiB announced; what is written at 64 MiB is read at 0".to_owned())
    });
    if !bench.has("verify") {
        checks.not_yet(
            "verify finds the true size, and passes a good card",
            "there is no `hakaru verify`",
        );
        return Ok(guest.power_off()?);
    }
    for (name, how) in [
        ("verify finds the true size", ""),
        ("verify --quick finds it too", "--quick"),
    ] {
        checks.check(name, || {
            let verdict = verified(&mut guest, bench, how, DEFECTS)?;
            ensure!(
                verdict["capacity"] == "wraps" && verdict["real"] == 64 << 20,
                "it says {verdict}"
            );
            Ok(format!(
                "exit {DEFECTS}, it wraps after {} bytes of {}",
                verdict["real"], verdict["claimed"]
            ))
        });
    }
    guest.power_off()?;
    let good = make(cards::quick("good", Bytes(64 << 20)))?;
    let mut guest = Guest::builder(&bench.kit).card(&good).boot()?;
    checks.check("verify passes a good card", || {
        let verdict = verified(&mut guest, bench, "", 0)?;
        ensure!(
            verdict["capacity"] == "as_claimed" && verdict["bad_bytes"] == 0,
            "it says {verdict}"
        );
        Ok(format!(
            "exit 0, {} bytes of {} are good",
            verdict["good"], verdict["claimed"]
        ))
    });
    Ok(guest.power_off()?)
}

/// A card that silently drops writes at two places.
pub(super) fn dropped(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let mut prices = cards::quick("forgetful", Bytes(64 << 20));
    let drops = |offset| Fault {
        offset: Bytes(offset),
        len: Bytes(4096),
        kind: FaultKind::DropsWrites,
    };
    prices.faults = vec![drops(1 << 20), drops((40 << 20) + 8192)];
    let card = make(prices)?;
    let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
    checks.check("the card drops writes", || {
        let script = "cd /tmp; head -c 1048576 /dev/urandom >a\n\
                      for at in 1 2; do dd if=a of=/dev/mmcblk0 bs=1M seek=$at oflag=direct status=none || exit 1; done\n\
                      for at in 1 2; do dd if=/dev/mmcblk0 bs=1M skip=$at count=1 iflag=direct status=none | cmp -s a -\n\
                      echo $?; done\n";
        let same = guest.run(script, LIMIT)?.success()?;
        ensure!(same == "1\n0\n", "the comparisons of the bad and the good place ended with {same:?}");
        Ok("a write at the bad place succeeds and is not there".to_owned())
    });
    if bench.has("verify") {
        checks.check("verify finds dropped writes", || {
            let verdict = verified(&mut guest, bench, "", DEFECTS)?;
            let bad: Vec<u64> = verdict["bad"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|s| s["offset"].as_u64())
                .collect();
            ensure!(
                bad == [1 << 20, (40 << 20) + 8192] && verdict["bad_bytes"] == 8192,
                "it says {verdict}"
            );
            Ok(format!("exit {DEFECTS}, 8192 bytes are bad, at {bad:?}"))
        });
    } else {
        checks.not_yet("verify finds dropped writes", "there is no `hakaru verify`");
    }
    Ok(guest.power_off()?)
}

/// A synced file after a power cut, on a card that honors flushes and on one that does not.
pub(super) fn lying_flush(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    for (name, lost, survives) in [
        ("an honest card keeps a synced file", None, true),
        ("a lying card loses it", Some(1 << 20), false),
    ] {
        let mut prices = cards::quick(name, Bytes(128 << 20));
        prices.lost_flush = lost.map(Bytes);
        let card = make(prices)?;
        let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
        let script = "set -e\nmkfs.ext4 -q -F -E nodiscard /dev/mmcblk0\nmount -o nodiscard /dev/mmcblk0 /mnt\n\
                      for file in old filler; do head -c 4M /dev/urandom >/mnt/$file; sync; done\n\
                      md5sum </mnt/old >/out/old\n\
                      head -c 64K /dev/urandom | dd of=/mnt/new bs=64K iflag=fullblock conv=fsync status=none\n";
        guest.run(script, LIMIT)?.success()?;
        let old = std::fs::read_to_string(guest.out().join("old"))?;
        let lost = guest.cut_power()?;
        let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
        checks.check(name, || {
            let script =
                "mount -o nodiscard /dev/mmcblk0 /mnt || exit 1\nmd5sum </mnt/old\nwc -c </mnt/new || echo gone";
            let found = guest.run(script, LIMIT)?.success()?;
            let new = found.strip_prefix(&old).with_context(|| format!("the old file changed: {found}"))?;
            let there = new.trim() == "65536";
            ensure!(there == survives, "the synced file: {}", new.trim());
            Ok(format!("{} lost, the file is {}", lost[0], if there { "there" } else { "gone" }))
        });
        guest.power_off()?;
    }
    found_by_verifying(bench, checks)
}

/// The same test with hakaru: data synced before the power cut is verified afterwards.
fn found_by_verifying(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let job = "--name=kept --filename=/dev/mmcblk0 --rw=write --bs=64k --size=8M --direct=1 --verify=crc32c";
    let (write, verify) = (
        format!("{} fio {job} --do_verify=0 --end_fsync=1", bench.hakaru),
        format!("{} fio {job} --verify_only=1", bench.hakaru),
    );
    let look = |guest: &mut Guest| -> Result<(i32, String)> {
        let output = guest.run(&verify, LIMIT)?;
        Ok((output.code, output.stdout + &output.stderr))
    };
    for (name, lost) in [
        ("verifying after the cut passes an honest card", None),
        (
            "verifying after the cut finds a lying flush",
            Some(Bytes(1 << 20)),
        ),
    ] {
        let mut prices = cards::quick(name, Bytes(64 << 20));
        prices.lost_flush = lost;
        let card = make(prices)?;
        let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
        let written = guest.run(&write, LIMIT)?;
        if written.code != 0 && written.stderr.contains("is not supported") {
            checks.not_yet(name, "`hakaru fio` does not take --verify");
            return Ok(guest.power_off()?);
        }
        written.success()?;
        let gone = guest.cut_power()?;
        let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
        checks.check(name, || {
            let (code, said) = look(&mut guest)?;
            ensure!(
                (code == 0) == lost.is_none(),
                "it ended with {code}:\n{said}"
            );
            let told = said
                .lines()
                .find(|line| line.contains("verify"))
                .unwrap_or_default();
            Ok(format!("{} lost, exit {code}; {}", gone[0], told.trim()))
        });
        guest.power_off()?;
    }
    Ok(())
}

/// A card removed during a run: the run ends soon and reports the reason, and its measurements are kept.
pub(super) fn pulled(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let hakaru = &bench.hakaru;
    let fio = format!(
        "{hakaru} fio --name=pulled --filename=/dev/mmcblk0 --filesize=32M --time_based --runtime=60 --ioengine=sync \
         --direct=1 --bs=64k --rw=write"
    );
    let suite = format!(
        "{hakaru} --db /out/rig.db bench /dev/mmcblk0 --standard --size 32MiB --only seq-write \
         --erase=$(cat /sys/block/mmcblk0/device/cid); code=$?; {hakaru} --db /out/rig.db list >/tmp/list; \
         cat /tmp/list; echo LISTED $(grep -c QEMU /tmp/list); exit $code"
    );
    for (name, script) in [
        ("fio ends when the card is pulled", fio),
        ("bench ends and keeps the record", suite),
    ] {
        let card = make(cards::nimble())?;
        let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
        checks.check(name, || {
            guest.begin(&script)?;
            await_writes(&card, Bytes(1 << 20))?;
            // The run is in progress then, with several seconds left.
            std::thread::sleep(Duration::from_secs(4));
            let begun = Instant::now();
            guest.pull(0)?;
            let output = guest.finish(Duration::from_secs(30))?;
            let said = format!("{}{}", output.stdout, output.stderr);
            ensure!(output.code != 0, "it ended with 0:\n{said}");
            ensure!(!said.contains("panicked"), "it panicked:\n{said}");
            let told = [
                "Input/output error",
                "I/O error",
                "os error 5",
                "errno 5",
                "No such device",
                "No medium",
            ];
            ensure!(
                told.iter().any(|words| said.contains(words)),
                "it does not say that the device failed:\n{said}"
            );
            if name.starts_with("bench") {
                ensure!(
                    said.contains("LISTED 1"),
                    "the record is not in the list:\n{said}"
                );
            }
            Ok(format!(
                "exit {} after {:.1} s; {}",
                output.code,
                begun.elapsed().as_secs_f64(),
                last_line(&said)
            ))
        });
    }
    Ok(())
}

/// Waits until this much data was written to a card.
fn await_writes(card: &SimulatedCard, wanted: Bytes) -> Result<()> {
    let begun = Instant::now();
    loop {
        let written = card.ledger().of(Op::Write).bytes;
        if written >= wanted {
            return Ok(());
        }
        ensure!(
            begun.elapsed() < LIMIT,
            "after {} s only {written} of {wanted} were written",
            LIMIT.as_secs()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A power cut during a run whose database is on another disk: the measurements up to then are kept.
pub(super) fn power_cut(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let hakaru = format!(
        "export XDG_STATE_HOME=/out/state; {} --db /out/rig.db",
        bench.hakaru
    );
    let suite = |pace: &str, only: &str| {
        let erase = "--erase=$(cat /sys/block/mmcblk0/device/cid)";
        format!("{hakaru} bench /dev/mmcblk0 {pace} --repeat 1 --size 16MiB --only {only} {erase}")
    };
    let card = make(cards::nimble())?;
    let mut guest = Guest::builder(&bench.kit)
        .card(&card)
        .out(folder.path())
        .boot()?;
    guest
        .run(&suite("--quick", "rand-read"), LIMIT)?
        .success()?;
    guest.begin(&suite("--standard", "seq-write"))?;
    let lines = await_spool(folder.path(), 6)?;
    guest.cut_power()?;
    let mut guest = Guest::builder(&bench.kit)
        .card(&card)
        .out(folder.path())
        .boot()?;
    checks.check("the database is whole after a power cut", || {
        let list = guest.run(&format!("{hakaru} list"), LIMIT)?.success()?;
        ensure!(
            list.contains("QEMU") || list.contains("mmcblk0"),
            "the run before the cut is not listed:\n{list}"
        );
        guest
            .run(&suite("--quick", "rand-read"), LIMIT)?
            .success()?;
        Ok(format!(
            "{} lines listed, and it is written to again",
            list.lines().count()
        ))
    });
    checks.check("recover keeps what was measured before the cut", || {
        let said = guest.run(&format!("{hakaru} recover"), LIMIT)?.success()?;
        ensure!(
            said.contains("cut short: seq-write; stored as run"),
            "{said}"
        );
        let records = guest.run(&format!("{hakaru} export"), LIMIT)?.success()?;
        let line = records
            .lines()
            .find(|line| line.contains("cut_short"))
            .context("no record is cut short")?;
        let record: Value =
            serde_json::from_str(line).context("`hakaru export` printed no JSON")?;
        let worker = &record["phases"][0]["workers"][0];
        let (bytes, seconds) = (
            worker["ops"]["write"]["bytes"].as_u64(),
            worker["runtime"].as_u64(),
        );
        let (bytes, seconds) = (bytes.unwrap_or(0), seconds.unwrap_or(0) as f64 / 1e9);
        ensure!(
            record["outcome"]["outcome"] == "interrupted",
            "its outcome is {}",
            record["outcome"]
        );
        ensure!(
            seconds >= 3.0 && bytes > 1 << 20,
            "it holds {seconds:.1} s and {bytes} bytes of {lines} lines"
        );
        let rate = bytes as f64 / seconds;
        ensure!(
            (rate / 2.5e6 - 1.0).abs() < 0.25,
            "it holds {rate:.0} B/s, and the card writes 2500000"
        );
        let again = guest.run(&format!("{hakaru} recover"), LIMIT)?.success()?;
        ensure!(
            again.contains("Nothing to recover"),
            "it is told a second time:\n{again}"
        );
        Ok(format!(
            "{seconds:.1} s of seq-write with {bytes} bytes, {rate:.0} B/s; {}",
            last_line(&said)
        ))
    });
    guest.power_off()?;
    if bench.has("prepare") {
        cut_in_mkfs(bench, checks)
    } else {
        checks.not_yet(
            "recover after a power cut in mkfs",
            "there is no `hakaru prepare`",
        );
        Ok(())
    }
}

/// Waits until a spool has `wanted` lines, and returns their number.
fn await_spool(out: &Path, wanted: usize) -> Result<usize> {
    let begun = Instant::now();
    loop {
        let spools = std::fs::read_dir(out.join("rig.db.spool"))
            .into_iter()
            .flatten()
            .flatten();
        let texts = spools.filter_map(|spool| std::fs::read(spool.path()).ok());
        let lines = texts
            .map(|text| text.iter().filter(|byte| **byte == b'\n').count())
            .max()
            .unwrap_or(0);
        if lines >= wanted {
            return Ok(lines);
        }
        ensure!(
            begun.elapsed() < LIMIT,
            "after {} s there are {lines} lines of {wanted}",
            LIMIT.as_secs()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A power cut while a file system is created, with the journal on another disk.
fn cut_in_mkfs(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let hakaru = format!("export XDG_STATE_HOME=/out/state; {}", bench.hakaru);
    let prepare = format!(
        "{hakaru} prepare /dev/mmcblk0 --mkfs=ext4 --mkfs-options=\"-E nodiscard\" \
         --erase=$(cat /sys/block/mmcblk0/device/cid)"
    );
    let card = make(cards::nimble())?;
    let mut guest = Guest::builder(&bench.kit)
        .card(&card)
        .out(folder.path())
        .boot()?;
    guest.begin(&prepare)?;
    let begun = Instant::now();
    while card.ledger().of(Op::Write).bytes.0 < 1 << 20 {
        ensure!(
            begun.elapsed() < LIMIT,
            "mkfs wrote nothing for {} s",
            LIMIT.as_secs()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    guest.cut_power()?;
    let mut guest = Guest::builder(&bench.kit)
        .card(&card)
        .out(folder.path())
        .boot()?;
    checks.check("recover after a power cut in mkfs", || {
        let first = guest
            .run(&format!("{hakaru} --db /out/rig.db recover"), LIMIT)?
            .success()?;
        ensure!(
            first.contains("mmcblk0") && first.contains("restarted"),
            "the half-made card is not named:\n{first}"
        );
        let again = guest
            .run(&format!("{hakaru} --db /out/rig.db recover"), LIMIT)?
            .success()?;
        ensure!(
            again.contains("Nothing to recover"),
            "it is told a second time:\n{again}"
        );
        Ok(last_line(&first))
    });
    card.hurry(true);
    checks.check("the card can be prepared again", || {
        guest
            .run(
                &format!("{prepare} >&2 && mount -o nodiscard /dev/mmcblk0 /mnt && df /mnt"),
                LIMIT,
            )?
            .success()?;
        Ok("mkfs.ext4 ends well, and the card is mounted".to_owned())
    });
    Ok(guest.power_off()?)
}

/// Exit code of `hakaru verify` after it found defects.
const DEFECTS: i32 = 4;

/// Output of `hakaru verify` on the first card, which must exit with this code.
fn verified(guest: &mut Guest, bench: &RigSetup, how: &str, code: i32) -> Result<Value> {
    let cid = "$(cat /sys/block/mmcblk0/device/cid)";
    let script = format!(
        "{} --db /tmp/rig.db verify /dev/mmcblk0 --json {how} --erase={cid}",
        bench.hakaru
    );
    let output = guest.run(&script, LIMIT)?;
    let said = output.stdout + &output.stderr;
    ensure!(
        output.code == code,
        "it ended with {}:\n{said}",
        output.code
    );
    let start = said
        .find('{')
        .with_context(|| format!("there is no JSON:\n{said}"))?;
    let verification = serde_json::Deserializer::from_str(&said[start..])
        .into_iter::<Value>()
        .next();
    let verification = verification.with_context(|| format!("there is no JSON:\n{said}"))??;
    Ok(verification["verdict"].clone())
}

fn last_line(said: &str) -> String {
    said.trim().lines().last().unwrap_or_default().to_owned()
}
