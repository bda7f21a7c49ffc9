//! Compares the I/O amplification in a record with the ledger of the card: both must count the same bytes.
//!
//! On a raw card, the ledger has exactly the bytes of the job. On vfat each write is synced, so the writes of the file
//! system follow the write they belong to; the ledger is cut at the start and end of the measured data.

use super::cards::{self, make};
use super::checks::Checks;
use super::figures::ReportRows;
use super::full::RigSetup;
use super::product::{ERASE, record};
use anyhow::{Context, Result, ensure};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;
use hakaru_rig::card::{CardCommand, CardLedger, SimulatedCard};
use hakaru_rig::guest::Guest;
use serde_json::Value;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

/// I/O size in bytes. Other vfat writes come in smaller commands.
const BLOCK: u64 = 64 << 10;

/// One worker with a ramp time and one I/O in flight.
const WORKLOAD: &str = r#"
[[workload]]
name = "OP"
rw = "OP"
bs = "64 KiB"
size = "8 MiB"
file = "data"
ramp-time = "1s"
runtime = "2s"
"#;

/// Tests a raw card, then the same card with vfat.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let card = make(cards::nimble())?;
    let mut guest = rig.boot(&card)?;
    let whole = "[[card]]\nlabel = \"card\"\ndevice = \"/dev/mmcblk0\"\n";
    for (op, rw) in [(Op::Write, "randwrite"), (Op::Read, "randread")] {
        let name = format!("raw {rw}: the record counts what the card counts");
        checks.check(&name, || {
            let file = format!("{whole}{}", WORKLOAD.replace("OP", rw));
            let (ledger, counted) = run(&mut guest, rig, &card, rw, &file)?;
            counted.is_raw(&ledger, op)
        });
    }
    card.hurry(true);
    let mount = "mkfs.vfat -F 32 -s 32 -I /dev/mmcblk0 >&2 && mount /dev/mmcblk0 /mnt";
    guest.check_output(mount, LIMIT)?;
    card.hurry(false);
    let mounted = "[[card]]\nlabel = \"folder\"\nfolder = \"/mnt\"\n";
    checks.check(
        "vfat, synced: the record counts what the card counts",
        || {
            let file = format!(
                "{mounted}{}fsync = 1\n",
                WORKLOAD.replace("OP", "randwrite")
            );
            let (ledger, counted) = run(&mut guest, rig, &card, "vfat", &file)?;
            counted.is_within(&ledger)
        },
    );
    Ok(guest.power_off()?)
}

/// Runs a campaign with a single run. Returns the commands of the card, and the record.
fn run(
    guest: &mut Guest,
    rig: &RigSetup,
    card: &SimulatedCard,
    name: &str,
    file: &str,
) -> Result<(CardLedger, Counted)> {
    let toml = format!("{name}.toml");
    let file = format!("name = \"{name}\"\nrepeats = 1\n{file}");
    std::fs::write(guest.out().join(&toml), file)?;
    guest.check_output("sync", LIMIT)?;
    card.take_ledger();
    let command = format!("{} --db /tmp/{name}.db", rig.hakaru);
    let script = format!(
        "export XDG_STATE_HOME=/tmp/state\n{command} campaign run /out/{toml} {ERASE} >&2 || exit 1\n"
    );
    guest.check_output(&script, LIMIT)?;
    let ledger = card.take_ledger();
    let records = guest.check_output(&format!("{command} export"), LIMIT)?;
    let report = format!("{command} campaign report /out/{toml} --format csv");
    let csv = guest.check_output(&report, LIMIT)?;
    let record = record(records.lines().next().unwrap_or_default())?;
    let amplification = ReportRows::read(&csv)?.number("mean", &[("figure", "amplification")])?;
    let counted = Counted::read(&record["phases"][0], amplification)?;
    Ok((ledger, counted))
}

/// Byte counts in the record of a run with one worker.
#[derive(Debug)]
struct Counted {
    /// By the application during the measurement.
    measured: u64,
    /// By the application during the ramp time.
    ramp: u64,
    /// By the disk counters during the measurement.
    device: u64,
    /// By the disk counters including the ramp time.
    device_with_ramp: u64,
    /// As shown in the report.
    amplification: f64,
}

impl Counted {
    fn read(phase: &Value, amplification: f64) -> Result<Counted> {
        let worker = &phase["workers"][0];
        let reads = worker["ops"]["read"]["bytes"].as_u64() > Some(0);
        let op = if reads { "read" } else { "write" };
        let number = |value: &Value, what: &str| {
            let number = value.as_u64();
            number.with_context(|| format!("no {what} in {phase}"))
        };
        let transferred = |disks: &Value| {
            let mut disks = disks.as_array().into_iter().flatten();
            let card = disks.find(|disk| disk["name"] == "mmcblk0");
            let sectors = card.and_then(|card| card[format!("{op}_sectors")].as_u64());
            Ok::<u64, anyhow::Error>(512 * sectors.context("no counters of mmcblk0")?)
        };
        Ok(Counted {
            measured: number(&worker["ops"][op]["bytes"], "bytes")?,
            ramp: number(&worker["ramp_bytes"][op], "bytes of the ramp")?,
            device: transferred(&phase["traffic"]["disks"])?,
            device_with_ramp: transferred(&phase["disks"])?,
            amplification,
        })
    }

    /// Checks a raw card: exactly the bytes of the job.
    fn is_raw(&self, ledger: &CardLedger, op: Op) -> Result<String> {
        let data: u64 = data(ledger, op).map(|command| command.len.0).sum();
        ensure!(
            self.ramp > 0 && self.measured > 0,
            "nothing was done: {self:?}"
        );
        ensure!(
            data == self.ramp + self.measured,
            "the card was asked for {data} bytes of data: {self:?}"
        );
        ensure!(self.device == self.measured, "{self:?}");
        ensure!(
            self.device_with_ramp == self.ramp + self.measured,
            "{self:?}"
        );
        // The card is also read to identify it.
        ensure!(
            op == Op::Read || ledger.of(op).bytes.0 == data,
            "the card was asked for {:?}: {self:?}",
            ledger.of(op)
        );
        self.shows(self.device)?;
        Ok(format!(
            "{} and {} in the ramp, on both sides; {}",
            self.device, self.ramp, self.amplification
        ))
    }

    /// Checks a file system: all commands from the first measured I/O on, without the sync of the previous one.
    fn is_within(&self, ledger: &CardLedger) -> Result<String> {
        let (least, most) = cut(ledger, self.measured).with_context(|| format!("{self:?}"))?;
        ensure!(
            (least..=most).contains(&self.device),
            "the card was asked for {least} to {most} bytes from there on: {self:?}"
        );
        let total = ledger.of(Op::Write).bytes.0;
        ensure!(
            self.device < self.device_with_ramp && self.device_with_ramp <= total,
            "{total} in all: {self:?}"
        );
        self.shows(self.device)?;
        let Counted {
            device,
            measured,
            amplification,
            ..
        } = self;
        Ok(format!(
            "{device} bytes for {measured}, and by the ledger {least} to {most}; {amplification}"
        ))
    }

    fn shows(&self, device: u64) -> Result<()> {
        let exact = device as f64 / self.measured as f64;
        ensure!(
            (self.amplification - exact).abs() < 1e-4,
            "{exact} is shown as {}",
            self.amplification
        );
        Ok(())
    }
}

fn data(ledger: &CardLedger, op: Op) -> impl DoubleEndedIterator<Item = &CardCommand> {
    ledger
        .commands
        .iter()
        .filter(move |command| command.op == op && command.len.0 >= BLOCK)
}

/// Bytes written with the last `measured` bytes of data: without, and with, the small commands just before and after
/// them.
fn cut(ledger: &CardLedger, measured: u64) -> Result<(u64, u64)> {
    let writes: Vec<Bytes> = ledger
        .commands
        .iter()
        .filter(|c| c.op == Op::Write)
        .map(|c| c.len)
        .collect();
    let is_data = |len: &Bytes| len.0 >= BLOCK;
    let last = writes
        .iter()
        .rposition(is_data)
        .context("no data was written")?;
    let mut left = measured;
    let mut first = last + 1;
    while left > 0 {
        first = writes[..first]
            .iter()
            .rposition(is_data)
            .context("less data was written than the record says")?;
        left = left
            .checked_sub(writes[first].0)
            .context("a command has data of the ramp and of the measured part")?;
    }
    let before = writes[..first]
        .iter()
        .rposition(is_data)
        .map_or(0, |at| at + 1);
    let sum = |part: &[Bytes]| part.iter().map(|len| len.0).sum::<u64>();
    Ok((sum(&writes[first..=last]), sum(&writes[before..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Nanos;

    #[test]
    fn the_ledger_is_cut_where_the_data_begins() {
        let mut ledger = CardLedger::default();
        for (at, len) in [BLOCK, 512, BLOCK, 512, 512, 2 * BLOCK, 512]
            .into_iter()
            .enumerate()
        {
            let (offset, len) = (Bytes(at as u64), Bytes(len));
            let (begun_at, busy, ended_at) = (Nanos(0), Nanos(0), Nanos(0));
            ledger.commands.push(CardCommand {
                op: Op::Write,
                offset,
                len,
                begun_at,
                busy,
                ended_at,
            });
        }
        assert_eq!(
            cut(&ledger, 2 * BLOCK).unwrap(),
            (2 * BLOCK, 2 * BLOCK + 1536)
        );
        assert_eq!(
            cut(&ledger, 3 * BLOCK).unwrap(),
            (3 * BLOCK + 1024, 3 * BLOCK + 2048)
        );
        assert!(cut(&ledger, BLOCK).is_err() && cut(&ledger, 5 * BLOCK).is_err());
    }
}
