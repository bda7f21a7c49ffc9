//! Compares speeds measured by hakaru with the costs charged by the card.
//!
//! The rig is only exact within known limits: other work of the card, such as writing file system metadata, and the
//! time in which the emulator sent no request. Both are in the ledger of the card and are subtracted before a figure is
//! compared with the device model. A comparison waits for a quiet host; measurements on a busy host are not judged, and
//! are repeated.

use super::checks::Checks;
use super::host::{HostBusy, HostWatch, Patience};
use super::jobs::{self, RigWorkload};
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
const BUSY_ATTEMPTS: usize = 3;

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
    pub(super) model: &'a DeviceModel,
    /// Device name of the card in the machine.
    pub(super) device: &'a str,
    /// Path of hakaru in the machine.
    pub(super) hakaru: &'a str,
    /// Remaining time to wait for a quiet host.
    patience: Patience,
}

impl<'a> RigStation<'a> {
    pub(super) fn new(
        guest: &'a mut Guest,
        card: &'a SimulatedCard,
        model: &'a DeviceModel,
        device: &'a str,
        hakaru: &'a str,
    ) -> RigStation<'a> {
        let patience = Patience::new();
        RigStation {
            guest,
            card,
            model,
            device,
            hakaru,
            patience,
        }
    }

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
        self.without_delay(&script, LIMIT)
            .with_context(|| format!("cannot make {}", layer.name()))
    }

    /// Runs a script while the card takes no time.
    pub(super) fn without_delay(&mut self, script: &str, limit: Duration) -> Result<()> {
        self.card.hurry(true);
        let done = self.guest.check_output(script, limit);
        self.card.hurry(false);
        done?;
        Ok(())
    }

    /// Removes the layer.
    pub(super) fn clear(&mut self, layer: RigLayer) -> Result<()> {
        if layer != RigLayer::Raw {
            self.without_delay("umount /mnt", LIMIT)?;
        }
        Ok(())
    }

    /// Compares every workload on every layer with the device model; `prefix` begins the names of the checks.
    pub(super) fn compare_all(&mut self, checks: &mut Checks, prefix: &str) -> Result<()> {
        for layer in RigLayer::ALL {
            self.prepare(layer)?;
            for workload in jobs::ALL {
                let name = format!("{prefix}{} {}", layer.name(), workload.rw);
                checks.check(&name, || self.compare(layer, workload));
            }
            self.clear(layer)?;
        }
        Ok(())
    }

    /// Measures one workload on the current layer, and compares it with the device model.
    fn compare(&mut self, layer: RigLayer, workload: RigWorkload) -> Result<String> {
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
        while judged < ATTEMPTS && busy.len() < BUSY_ATTEMPTS {
            let (measured, ledger, why_busy) = self.measure(command, workload)?;
            let shares = CardTimeShares::of(&ledger, workload, self.model, runtime_s);
            let (off, shown) = shares.compare(measured, workload.expected(self.model));
            tries.push(shown);
            match why_busy.or_else(|| shares.too_idle()) {
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

    /// Measures one workload when the host is quiet. Returns bytes per second, the commands of the card, and why the
    /// host was busy after all.
    fn measure(
        &mut self,
        command: &str,
        workload: RigWorkload,
    ) -> Result<(f64, CardLedger, Option<String>)> {
        self.patience.wait_for_quiet();
        let watch = HostWatch::begin();
        self.card.take_ledger();
        let script = format!("{} fio {command} --output-format=json", self.hakaru);
        let json = self.guest.check_output(&script, LIMIT)?;
        let ledger = self.card.take_ledger();
        Ok((workload.measured(&json)?, ledger, watch.busy()))
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
        model: &DeviceModel,
        runtime_s: u32,
    ) -> CardTimeShares {
        let op = if workload.writes() {
            Op::Write
        } else {
            Op::Read
        };
        let least = if workload.bs == "1M" { 64 << 10 } else { 4096 };
        let commands = ledger.commands.iter();
        let mut data = commands.filter(|command| command.op == op && command.len.0 >= least);
        let bytes: u64 = data.clone().map(|command| command.len.0).sum();
        let share = bytes as f64 / workload.expected(model) / ledger.busy().as_secs_f64();
        // The measurement ends with the last command of the workload, and starts after the ramp time.
        let end = data.next_back().map_or(Nanos(0), |last| last.ended_at);
        let runtime = Nanos::from_secs(runtime_s.into());
        let idle = ledger.idle_between(Nanos(end.0.saturating_sub(runtime.0)), end);
        CardTimeShares {
            data: share.min(1.0),
            idle: (idle.as_secs_f64() / runtime.as_secs_f64()).min(0.99),
        }
    }

    /// Compares a rate with that of the device model on a card that does nothing else, both in bytes per second.
    /// Returns the relative deviation, and a sentence.
    fn compare(&self, measured: f64, undisturbed: f64) -> (f64, String) {
        let expected = undisturbed * self.data * (1.0 - self.idle);
        let off = measured / expected - 1.0;
        let shown = format!(
            "{:.0} kB/s, {:.0} by the device model ({:+.1}%, idle {:.1}%, other {:.1}%)",
            measured / 1e3,
            expected / 1e3,
            off * 100.0,
            self.idle * 100.0,
            (1.0 - self.data) * 100.0
        );
        (off, shown)
    }

    /// Why the comparison says more about the host than about the program, if the card waited too long.
    fn too_idle(&self) -> Option<String> {
        (self.idle > MOST_IDLE).then(|| format!("the card waited {:.0}%", self.idle * 100.0))
    }
}
