//! Stores a run if requested by the environment (`HAKARU_STORE=1`).

use crate::cmd::counted;
use crate::place;
use anyhow::Context;
use hakaru_device::Roots;
use hakaru_dialects::iozone::IozoneRequest;
use hakaru_engine::{ClockChoice, EngineReport};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::Scenario;
use hakaru_model::record::{FORMAT, Origin, Outcome, PhaseRecord, RunRecord};
use std::path::{Path, PathBuf};

/// What is kept of a run.
pub(super) struct RunKeeper {
    asked: bool,
    started_unix_ms: i64,
    scenario: Option<Scenario>,
    phases: Vec<PhaseRecord>,
    caveats: Vec<Caveat>,
    outcome: Outcome,
}

impl RunKeeper {
    pub(super) fn begin() -> RunKeeper {
        let asked =
            std::env::var_os("HAKARU_STORE").is_some_and(|value| !value.is_empty() && value != "0");
        RunKeeper {
            asked,
            started_unix_ms: hakaru_campaign::now_unix_ms(),
            scenario: None,
            phases: Vec::new(),
            caveats: Vec::new(),
            outcome: Outcome::Completed,
        }
    }

    /// Adds a row of the table, or a group of children.
    pub(super) fn add(&mut self, scenario: Scenario, report: EngineReport) {
        let EngineReport {
            phases,
            caveats,
            outcome,
            laid_out: _,
            error: _,
        } = report;
        match &mut self.scenario {
            Some(whole) => whole.phases.extend(scenario.phases),
            None => self.scenario = Some(scenario),
        }
        self.phases.extend(phases);
        for caveat in caveats {
            if !self.caveats.contains(&caveat) {
                self.caveats.push(caveat);
            }
        }
        self.outcome = outcome;
    }

    /// Stores the run if requested and not empty.
    pub(super) fn store(self, request: &IozoneRequest) -> anyhow::Result<()> {
        let RunKeeper {
            asked,
            started_unix_ms,
            scenario,
            phases,
            mut caveats,
            outcome,
        } = self;
        let Some(scenario) = scenario.filter(|_| asked && !phases.is_empty()) else {
            return Ok(());
        };
        let roots = Roots::live();
        let target = hakaru_device::identify(&place_of(&scenario), &roots);
        if target.system_disk {
            caveats.push(Caveat::SystemDisk);
        }
        let id = hakaru_campaign::new_id();
        let record = RunRecord {
            format: FORMAT,
            series: id.clone(),
            id: id.clone(),
            repeat: 0,
            started_unix_ms,
            origin: Origin::Measured {
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            scenario,
            target,
            environment: hakaru_device::environment(&roots, ClockChoice::best().name()),
            phases,
            caveats,
            outcome,
            overhead: None,
            campaign: None,
        };
        let db = std::env::var_os("HAKARU_DB").map(PathBuf::from);
        let mut store = place::open(db.as_deref())?;
        store
            .append(&record)
            .context("the run finished, but its record could not be stored")?;
        let rows = counted(request.kinds.len(), "test");
        anstream::eprintln!("iozone: stored as {id} ({rows}); show it with `hakaru show {id}`");
        Ok(())
    }
}

/// The first file, or where it was.
fn place_of(scenario: &Scenario) -> PathBuf {
    let path = scenario.paths().into_iter().next().unwrap_or_default();
    if path.exists() {
        return path;
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => Path::new(".").to_owned(),
    }
}
