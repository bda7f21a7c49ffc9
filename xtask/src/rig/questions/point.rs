//! A traced run of a campaign, with the ledger of the card.

use crate::rig::fat::FatVolume;
use crate::rig::trace::{
    ComparedCommand, by_class, commands_until_end, ensure_attributed, ensure_bytes_by_class,
    ensure_classes,
};
use crate::rig::traced::{GatedLedger, path_of};
use anyhow::{Context, Result, ensure};
use hakaru_model::io_path::{IoClass, IoPath};
use hakaru_model::job::Op;
use hakaru_rig::card::CardLedger;
use serde_json::Value;

/// A traced run.
pub(super) struct TracedPoint {
    pub(super) layer: String,
    pub(super) workload: String,
    /// ID of the run.
    pub(super) id: String,
    pub(super) path: IoPath,
    pub(super) ledger: CardLedger,
    fat: Option<FatVolume>,
}

/// Commands of one class, by the ledger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClassCost {
    pub(super) class: IoClass,
    pub(super) commands: u64,
    pub(super) bytes: u64,
    /// Time charged in ms.
    pub(super) charged: f64,
}

impl TracedPoint {
    /// Joins a record with the ledger of the same run.
    ///
    /// # Errors
    /// If they do not belong together, or nothing was traced.
    pub(super) fn new(record: &Value, gated: GatedLedger) -> Result<TracedPoint> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let campaign = &record["campaign"];
        let workload = text(&campaign["workload"]).context("no workload")?;
        ensure!(
            workload == gated.job,
            "a record of {workload} and a ledger of {}",
            gated.job
        );
        Ok(TracedPoint {
            layer: text(&campaign["layer"]).context("no layer")?,
            workload,
            id: text(&record["id"]).context("no id")?,
            path: path_of(record)?,
            ledger: gated.ledger,
            fat: gated.fat,
        })
    }

    /// Layer and workload.
    pub(super) fn name(&self) -> String {
        format!("{}, {}", self.layer, self.workload)
    }

    /// Stem of the names of its files.
    pub(super) fn file(&self) -> String {
        format!("{}-{}", self.layer, self.workload)
    }

    /// Compares bytes, commands and classes with the ledger.
    pub(super) fn compare(&self) -> Result<String> {
        let (commands, after) = commands_until_end(&self.path, &self.ledger.commands)?;
        ensure_attributed(&self.path, self.layer == "raw")?;
        if self.layer == "vfat" {
            let fat = self.fat.as_ref().context("no FAT32 on the card")?;
            let class_at = |offset| fat.class_at(offset);
            ensure_classes(&commands, class_at)?;
            ensure_bytes_by_class(&self.path, &commands, class_at)?;
        }
        let asked = self.writes();
        Ok(format!(
            "{}; {} commands for {asked} writes; {} commands after the traced part",
            by_class(&self.path),
            commands.len(),
            after.len()
        ))
    }

    /// Commands of the traced part. A thread that writes metadata back may follow it until the gate closes, so later
    /// commands are no fault: the counters of the disk tell what belongs to the traced part.
    pub(super) fn commands(&self) -> Result<Vec<ComparedCommand>> {
        let (commands, _after) = commands_until_end(&self.path, &self.ledger.commands)?;
        Ok(commands)
    }

    /// Writes of the application.
    pub(super) fn writes(&self) -> u64 {
        let sizes = self.path.asked.iter().filter(|size| size.op == Op::Write);
        sizes.map(|size| size.count).sum()
    }

    /// Bytes written by the application.
    pub(super) fn asked_bytes(&self) -> u64 {
        let sizes = self.path.asked.iter().filter(|size| size.op == Op::Write);
        sizes.map(|size| size.count * size.size.0).sum()
    }

    /// The cost of each class.
    pub(super) fn costs(&self) -> Result<Vec<ClassCost>> {
        let mut costs: Vec<ClassCost> = Vec::new();
        for command in self.commands()? {
            let index = costs.iter().position(|cost| cost.class == command.class);
            let index = index.unwrap_or_else(|| {
                costs.push(ClassCost {
                    class: command.class,
                    commands: 0,
                    bytes: 0,
                    charged: 0.0,
                });
                costs.len() - 1
            });
            let cost = &mut costs[index];
            cost.commands += 1;
            cost.bytes += command.len.0;
            cost.charged += command.charged.0 as f64 / 1e6;
        }
        costs.sort_by_key(|cost| cost.class);
        Ok(costs)
    }

    /// Mean time of a write in ms, by the clock of the application: the traced time divided by the writes.
    pub(super) fn time_per_write(&self) -> f64 {
        self.path.window.0 as f64 / 1e6 / self.writes().max(1) as f64
    }
}
