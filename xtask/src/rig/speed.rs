//! Compares speeds measured by hakaru with the costs charged by the card.
//!
//! The rig is only exact within known limits: other work of the card, such as writing file system metadata, and the
//! time in which the emulator sent no request. Both are in the ledger of the card and are subtracted before a figure is
//! compared with the device model. A comparison waits for a quiet host; measurements on a busy host are not judged, and
//! are repeated.

use super::host::{HostBusy, HostWatch, Patience};
use super::jobs::RigWorkload;
use super::layers::RigLayer;
use anyhow::{Context, Result, bail};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::Op;
use hakaru_model::units::Nanos;
use hakaru_rig::card::{CardLedger, SimulatedCard};
use hakaru_rig::guest::Guest;
use std::time::Duration;

/// Accepted relative deviation from the device model.
const TOLERANCE: f64 = 0.03;

/// Number of attempts on a quiet host before a comparison fails.
const ATTEMPTS: u32 = 3;

/// Number of attempts on a busy host before a comparison counts as not judged.
const BUSY_ATTEMPTS: u32 = 3;

/// Maximum fraction of time that a card may wait for the guest; above it the result depends on the host.
const MOST_IDLE: f64 = 0.25;

/// Size of the area that the workloads use.
const FILE_SIZE: &str = "32M";

/// Duration of each measurement in seconds.
const RUNTIME_S: u32 = 3;

/// Time limit of a script, long enough for a busy host.
const LIMIT: Duration = Duration::from_secs(180);

/// A card in a machine, with the program under test.
pub(super) struct RigStation<'a> {
    pub(super) guest: &'a mut Guest,
    pub(super) card: &'a SimulatedCard,
    pub(super) prices: &'a DeviceModel,
    /// Device name of the card in the machine.
    pub(super) device: &'a str,
    /// Path of hakaru in the machine.
    pub(super) hakaru: &'a str,
    /// Remaining time to wait for a quiet host.
    pub(super) patience: Patience,
}

impl RigStation<'_> {
    /// Creates the layer and its file without delay by the card.
    pub(super) fn prepare(&mut self, layer: RigLayer) -> Result<()> {
        if layer == RigLayer::Raw {
            return Ok(());
        }
        let file = RigWorkload {
            rw: "read",
            bs: "1M",
        }
        .command("--directory=/mnt", FILE_SIZE, RUNTIME_S);
        let script = format!(
            "{}{} fio {file} --create_only=1 >&2\nsync\n",
            layer.make(self.device),
            self.hakaru
        );
        self.card.hurry(true);
        let prepared = self.guest.run(&script, LIMIT);
        self.card.hurry(false);
        prepared?
            .success()
            .with_context(|| format!("cannot make {}", layer.name()))?;
        Ok(())
    }

    /// Removes the layer.
    pub(super) fn clear(&mut self, layer: RigLayer) -> Result<()> {
        if layer != RigLayer::Raw {
            self.card.hurry(true);
            let cleared = self.guest.run("umount /mnt", LIMIT);
            self.card.hurry(false);
            cleared?.success()?;
        }
        Ok(())
    }

    /// Measures one workload on the current layer, and compares it with the device model.
    pub(super) fn compare(&mut self, layer: RigLayer, workload: RigWorkload) -> Result<String> {
        let target = match layer {
            RigLayer::Raw => format!("--filename={}", self.device),
            _ => "--directory=/mnt".to_owned(),
        };
        self.compare_command(
            &workload.command(&target, FILE_SIZE, RUNTIME_S),
            workload,
            RUNTIME_S,
        )
    }

    /// Runs the command line of a workload with this runtime, and compares the result with the device model.
    pub(super) fn compare_command(
        &mut self,
        command: &str,
        workload: RigWorkload,
        runtime_s: u32,
    ) -> Result<String> {
        let (mut tries, mut judged, mut busy) = (Vec::new(), 0, Vec::new());
        while judged < ATTEMPTS && (busy.len() as u32) < BUSY_ATTEMPTS {
            self.patience.wait_for_quiet();
            let watch = HostWatch::begin();
            let (measured, ledger) = self.measure(command, workload)?;
            let why_busy = watch.busy();
            let shares = CardTimeShares::of(&ledger, workload, self.prices, runtime_s);
            let expected = workload.by_list(self.prices) * shares.data * (1.0 - shares.idle);
            let off = measured / expected - 1.0;
            tries.push(format!(
                "{:.0} kB/s where the list says {:.0} ({:+.1} %, idle {:.1} %, other {:.1} %)",
                measured / 1e3,
                expected / 1e3,
                off * 100.0,
                shares.idle * 100.0,
                (1.0 - shares.data) * 100.0
            ));
            let waited = || {
                (shares.idle > MOST_IDLE)
                    .then(|| format!("the card waited {:.0}%", shares.idle * 100.0))
            };
            match why_busy.or_else(waited) {
                Some(why) => {
                    busy.push(why);
                    if self.patience.is_over() {
                        break;
                    }
                }
                None if off.abs() <= TOLERANCE => return Ok(tries.join("; again: ")),
                None => judged += 1,
            }
        }
        let tries = tries.join("; again: ");
        match busy.last() {
            Some(why) if judged < ATTEMPTS => Err(HostBusy(format!("{why}; {tries}")).into()),
            _ => bail!("{tries}"),
        }
    }

    fn measure(&mut self, command: &str, workload: RigWorkload) -> Result<(f64, CardLedger)> {
        self.card.take_ledger();
        let output = self.guest.run(
            &format!("{} fio {command} --output-format=json", self.hakaru),
            LIMIT,
        )?;
        let ledger = self.card.take_ledger();
        Ok((workload.measured(&output.success()?)?, ledger))
    }
}

/// Use of the card's time during a measurement.
pub(super) struct CardTimeShares {
    /// Busy time for the workload itself, according to the device model.
    pub(super) data: f64,
    /// Time waiting for the guest.
    pub(super) idle: f64,
}

impl CardTimeShares {
    pub(super) fn of(
        ledger: &CardLedger,
        workload: RigWorkload,
        prices: &DeviceModel,
        runtime_s: u32,
    ) -> CardTimeShares {
        let op = if workload.writes() {
            Op::Write
        } else {
            Op::Read
        };
        let least = if workload.bs == "1M" { 64 << 10 } else { 4096 };
        let data = || {
            ledger
                .commands
                .iter()
                .filter(|command| command.op == op && command.len.0 >= least)
        };
        let bytes: u64 = data().map(|command| command.len.0).sum();
        let share = bytes as f64 / workload.by_list(prices) / ledger.busy().as_secs_f64();
        // The measurement ends with the last command of the workload, and starts after the ramp time.
        let (runtime, end) = (
            Nanos::from_secs(runtime_s.into()),
            data().next_back().map_or(Nanos(0), |last| last.ended_at),
        );
        let idle = ledger.idle_between(Nanos(end.0.saturating_sub(runtime.0)), end);
        CardTimeShares {
            data: share.min(1.0),
            idle: (idle.as_secs_f64() / runtime.as_secs_f64()).min(0.99),
        }
    }
}
