//! The stored progress of a campaign: a run counts if it completed on this host with the current definition.
//!
//! There is no journal file: the store is the journal. A run and its point are stored in one transaction, so they are
//! always consistent.

use super::file::{RepeatRule, Until};
use super::matrix::{Point, RECHECK, is_recheck};
use super::spec::Campaign;
use hakaru_analysis::stats::{self, SampleMoments};
use hakaru_model::campaign::CampaignPoint;
use hakaru_model::finding::Summary;
use hakaru_model::record::RunRecord;
use hakaru_store::{FindError, OutcomeKind, PointRow, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// A card, layer and workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointKey {
    /// ID of the card.
    pub card: String,
    /// Layer name.
    pub layer: String,
    /// Workload name.
    pub workload: String,
}

impl PointKey {
    /// Returns the key of the points of a card through a layer with a workload, both by index.
    pub(super) fn of(campaign: &Campaign, card: &str, layer: usize, workload: usize) -> PointKey {
        PointKey {
            card: card.to_owned(),
            layer: campaign.layers[layer].name.clone(),
            workload: campaign.workloads[workload].name.clone(),
        }
    }
}

/// Stored runs of one cell.
#[derive(Clone, Debug, Default)]
struct StoredPoint {
    series: String,
    repeats: BTreeSet<u32>,
    runs: Vec<String>,
    /// Repeats of the recheck, numbered from [`RECHECK`], and their series.
    rechecks: BTreeSet<u32>,
    recheck_series: String,
    /// Whether the traced run is stored.
    traced: bool,
    /// Bandwidth of each phase and operation, one value for each run; read only if the number of repeats depends on
    /// it.
    rates: Option<BTreeMap<String, Vec<f64>>>,
}

impl StoredPoint {
    /// Adds a run. Returns whether it is a new repeat: neither traced nor part of a recheck.
    fn add(&mut self, repeat: u32, series: &str) -> bool {
        if repeat >= CampaignPoint::TRACED {
            self.traced = true;
            return false;
        }
        let recheck = is_recheck(repeat);
        let (known, repeats) = match recheck {
            true => (&mut self.recheck_series, &mut self.rechecks),
            false => (&mut self.series, &mut self.repeats),
        };
        if known.is_empty() {
            series.clone_into(known);
        }
        repeats.insert(repeat) && !recheck
    }

    /// Whether a run of this repeat is stored.
    fn has(&self, repeat: u32) -> bool {
        match repeat {
            CampaignPoint::TRACED.. => self.traced,
            _ => self.repeats.contains(&repeat) || self.rechecks.contains(&repeat),
        }
    }

    /// Returns the bandwidths of the runs, which are read from the store once.
    fn rates(&mut self, store: &Store) -> Result<&BTreeMap<String, Vec<f64>>, FindError> {
        let rates = match self.rates.take() {
            Some(rates) => rates,
            None => {
                let mut rates = BTreeMap::new();
                for run in &self.runs {
                    match store.run(run) {
                        Ok(record) => add_rates(&mut rates, &record),
                        Err(error) if error.is_unreadable() => {}
                        Err(error) => return Err(error),
                    }
                }
                rates
            }
        };
        Ok(self.rates.insert(rates))
    }
}

/// The stored progress of a campaign.
#[derive(Clone, Debug, Default)]
pub struct CampaignProgress {
    cells: BTreeMap<PointKey, StoredPoint>,
    /// Card IDs by label.
    keys: BTreeMap<String, String>,
    /// Bytes written to each card by runs and, if the campaign limits written bytes, by preparations.
    written: BTreeMap<String, u64>,
    /// Seconds from the start of a run to the start of the next, by workload.
    paces: BTreeMap<String, Vec<f64>>,
    /// Number of runs with another definition, which do not count.
    other: u64,
    /// Runs of repeats that were stored before.
    duplicates: Vec<String>,
}

/// Measures the time from the start of a run to the start of the next run through the same layer of the same card (of
/// any card if cards alternate), which is the total time of the first run.
#[derive(Default)]
struct RunIntervals {
    last: Option<(PointKey, i64)>,
    /// Whether the next run is on another card.
    cards_in_turns: bool,
}

impl RunIntervals {
    /// Returns the workload of the previous run and its seconds.
    fn next(&mut self, cell: &PointKey, started_unix_ms: i64) -> Option<(String, f64)> {
        let (before, began) = self.last.replace((cell.clone(), started_unix_ms))?;
        let together =
            before.layer == cell.layer && (self.cards_in_turns || before.card == cell.card);
        together.then(|| (before.workload, (started_unix_ms - began) as f64 / 1e3))
    }

    /// Resets the interval after another action between two runs.
    fn interrupted(&mut self) {
        self.last = None;
    }
}

/// Whether a stored run counts: it completed, on this host, with the current definition.
pub(super) fn counts(campaign: &Campaign, row: &PointRow) -> Option<RunStatus> {
    let (mut layers, mut workloads) = (campaign.layers.iter(), campaign.workloads.iter());
    let layer = layers.position(|layer| layer.name == row.layer)?;
    let workload = workloads.position(|workload| workload.name == row.workload)?;
    let definition = campaign.definition(layer, workload);
    Some(match (definition.matches(&row.definition), row.outcome) {
        (false, _) => RunStatus::OtherDefinition,
        (true, OutcomeKind::Completed) => RunStatus::Counts,
        (true, _) => RunStatus::HalfDone,
    })
}

/// Whether a stored run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunStatus {
    Counts,
    HalfDone,
    OtherDefinition,
}

impl CampaignProgress {
    /// Reads the progress of a campaign on these hosts.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn read(
        campaign: &Campaign,
        store: &Store,
        hosts: &[&str],
    ) -> Result<CampaignProgress, StoreError> {
        let mut journal = CampaignProgress::default();
        let mut intervals = RunIntervals {
            cards_in_turns: campaign.card_order.takes_turns(),
            ..RunIntervals::default()
        };
        // Summing the bytes of preparations requires reading all records, so this is done only if the campaign limits
        // them.
        if campaign.limits.written.is_some() {
            for host in hosts {
                for (card, bytes) in store.written_besides(&campaign.id, host)? {
                    journal.note_written(&card, bytes);
                }
            }
        }
        let rows = store.points(&campaign.id)?.into_iter();
        for row in rows.filter(|row| hosts.contains(&row.host.as_str())) {
            if !row.label.is_empty() {
                journal.note_key(&row.label, &row.card);
            }
            journal.note_written(&row.card, row.written);
            match counts(campaign, &row) {
                Some(RunStatus::Counts) => journal.add_stored(row, &mut intervals),
                Some(RunStatus::OtherDefinition) => journal.other += 1,
                Some(RunStatus::HalfDone) | None => intervals.interrupted(),
            }
        }
        Ok(journal)
    }

    /// Adds a stored run that counts.
    fn add_stored(&mut self, row: PointRow, intervals: &mut RunIntervals) {
        let cell = PointKey {
            card: row.card,
            layer: row.layer,
            workload: row.workload,
        };
        if let Some((workload, seconds)) = intervals.next(&cell, row.started_unix_ms) {
            self.note_pace(&workload, seconds);
        }
        let stored = self.cells.entry(cell).or_default();
        let known = stored.has(row.repeat);
        // A repeat that is stored twice (after merging two databases, or measured twice in a fleet) counts once.
        if stored.add(row.repeat, &row.series) {
            stored.runs.push(row.run);
        } else if known {
            self.duplicates.push(row.run);
        }
    }

    /// Returns the IDs of runs of repeats that are stored more than once; the first run of each counts.
    pub fn duplicates(&self) -> &[String] {
        &self.duplicates
    }

    /// Whether a repeat of a cell is stored.
    pub(super) fn has(&self, cell: &PointKey, repeat: u32) -> bool {
        self.cells
            .get(cell)
            .is_some_and(|stored| stored.has(repeat))
    }

    /// Whether the traced run of a cell is stored.
    pub(super) fn has_trace(&self, cell: &PointKey) -> bool {
        self.has(cell, CampaignPoint::TRACED)
    }

    /// Returns the number of stored repeats of a cell.
    pub(super) fn repeats(&self, cell: &PointKey) -> u32 {
        self.cells
            .get(cell)
            .map_or(0, |stored| stored.repeats.len() as u32)
    }

    /// Returns the number of stored runs of the recheck.
    pub(super) fn rechecked(&self, campaign: &Campaign) -> u64 {
        let Some((card, layer)) = campaign.rechecked() else {
            return 0;
        };
        let Some(key) = self.key_of(&campaign.cards[card].label) else {
            return 0;
        };
        let rechecks = |workload| {
            let stored = self
                .cells
                .get(&PointKey::of(campaign, key, layer, workload));
            stored.map_or(0, |stored| stored.rechecks.len() as u64)
        };
        campaign.wanted_workloads().map(rechecks).sum()
    }

    /// Returns the series of a cell or of its recheck, if it has one.
    pub(super) fn series(&self, cell: &PointKey, recheck: bool) -> Option<String> {
        let stored = self.cells.get(cell)?;
        let series = match recheck {
            true => &stored.recheck_series,
            false => &stored.series,
        };
        Some(series.clone()).filter(|series| !series.is_empty())
    }

    /// Returns the ID of the card that was measured under a label.
    pub(super) fn key_of(&self, label: &str) -> Option<&str> {
        self.keys.get(label).map(String::as_str)
    }

    /// Whether any run of a card is stored.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.cells.keys().any(|cell| cell.card == key)
    }

    /// Returns the ID of a stored run of a card, if any.
    pub(super) fn a_run_of(&self, key: &str) -> Option<&str> {
        let of_card = self.cells.iter().filter(|(cell, _)| cell.card == key);
        of_card
            .flat_map(|(_, stored)| &stored.runs)
            .next()
            .map(String::as_str)
    }

    /// Returns the number of runs that count.
    pub fn done(&self) -> u64 {
        self.cells
            .values()
            .map(|stored| stored.repeats.len() as u64)
            .sum()
    }

    /// Returns the number of runs that count within the current filter of the campaign.
    pub fn done_of(&self, campaign: &Campaign) -> u64 {
        let labels = campaign
            .wanted_cards()
            .map(|card| (card, &campaign.cards[card].label));
        let keys = labels.filter_map(|(card, label)| Some((card, self.key_of(label)?)));
        let repeats = |(card, key): (usize, &str)| {
            let cells = campaign.layers_of(card).flat_map(|layer| {
                campaign
                    .wanted_workloads()
                    .map(move |workload| PointKey::of(campaign, key, layer, workload))
            });
            cells
                .map(|cell| {
                    let traced = campaign.trace.is_some() && self.has_trace(&cell);
                    u64::from(self.repeats(&cell)) + u64::from(traced)
                })
                .sum::<u64>()
        };
        keys.map(repeats).sum::<u64>() + self.rechecked(campaign)
    }

    /// Returns the number of runs that do not count because their definition differs.
    pub fn other(&self) -> u64 {
        self.other
    }

    /// Adds bytes written to a card.
    pub(super) fn note_written(&mut self, key: &str, bytes: u64) {
        let written = self.written.entry(key.to_owned()).or_default();
        *written = written.saturating_add(bytes);
    }

    /// Adds the bytes that a run and its file layout wrote to the card, whether or not the run counts.
    pub(super) fn note_written_by(&mut self, record: &RunRecord) {
        let Some(point) = &record.campaign else {
            return;
        };
        let bytes = record
            .phases
            .iter()
            .flat_map(|phase| &phase.workers)
            .map(|worker| worker.ops.write.bytes);
        self.note_written(
            &point.card,
            bytes.fold(point.laid_out.0, u64::saturating_add),
        );
    }

    /// Records the ID of the card with a label.
    pub(super) fn note_key(&mut self, label: &str, key: &str) {
        self.keys.insert(label.to_owned(), key.to_owned());
    }

    /// Returns the bytes written to a card, including runs that do not count.
    pub(super) fn written(&self, key: &str) -> u64 {
        self.written.get(key).copied().unwrap_or(0)
    }

    /// Returns the median total seconds of earlier runs of a workload.
    pub(super) fn pace(&self, workload: &str) -> Option<f64> {
        stats::median(self.paces.get(workload)?)
    }

    /// Records the seconds of a run of a workload.
    pub(super) fn note_pace(&mut self, workload: &str, seconds: f64) {
        self.paces
            .entry(workload.to_owned())
            .or_default()
            .push(seconds);
    }

    /// Records a stored run that counts.
    pub(super) fn note(&mut self, cell: &PointKey, label: &str, record: &RunRecord) {
        self.note_key(label, &cell.card);
        let stored = self.cells.entry(cell.clone()).or_default();
        let repeat = record
            .campaign
            .as_ref()
            .map_or(record.repeat, |point| point.repeat);
        if stored.add(repeat, &record.series) {
            stored.runs.push(record.id.clone());
            if let Some(rates) = &mut stored.rates {
                add_rates(rates, record);
            }
        }
    }

    /// Whether a point of the card with this ID still has to be measured.
    ///
    /// # Errors
    /// [`FindError`] if stored runs that determine this cannot be read.
    pub(super) fn is_open(
        &mut self,
        campaign: &Campaign,
        card: &str,
        point: &Point,
        store: &Store,
    ) -> Result<bool, FindError> {
        let cell = PointKey::of(campaign, card, point.layer, point.workload);
        if self.has(&cell, point.repeat) {
            return Ok(false);
        }
        if point.is_traced() {
            return Ok(true);
        }
        if point.is_recheck() {
            // The recheck has as many repeats as the first measurement.
            return Ok(point.repeat - RECHECK < self.repeats(&cell));
        }
        match campaign.repeats {
            RepeatRule::Times(_) => Ok(true),
            RepeatRule::Until(until) => Ok(!self.is_known(until, &cell, store)?),
            RepeatRule::Steady { .. } => {
                let watched: Vec<PointKey> = match &campaign.steady[..] {
                    [] => vec![cell],
                    all => all
                        .iter()
                        .map(|&workload| PointKey::of(campaign, card, point.layer, workload))
                        .collect(),
                };
                let rounds = watched
                    .iter()
                    .map(|cell| self.rounds_before(point.repeat, cell, store))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(hakaru_analysis::rounds::common_window(&rounds).is_none())
            }
        }
    }

    /// Returns the rates of a cell in the rounds before this one. A round is measured for all points or for none,
    /// whatever the order of the points in it.
    fn rounds_before(
        &mut self,
        round: u32,
        cell: &PointKey,
        store: &Store,
    ) -> Result<Vec<f64>, FindError> {
        let mut rounds: Vec<f64> = Vec::new();
        let Some(stored) = self.cells.get_mut(cell) else {
            return Ok(rounds);
        };
        for values in stored.rates(store)?.values() {
            rounds.resize(rounds.len().max(values.len()), 0.0);
            for (sum, value) in rounds.iter_mut().zip(values) {
                *sum += value;
            }
        }
        rounds.truncate(round as usize);
        Ok(rounds)
    }

    /// Whether the means of a cell are known precisely enough.
    fn is_known(
        &mut self,
        until: Until,
        cell: &PointKey,
        store: &Store,
    ) -> Result<bool, FindError> {
        let Some(stored) = self.cells.get_mut(cell) else {
            return Ok(false);
        };
        if (stored.repeats.len() as u32) < until.at_least {
            return Ok(false);
        }
        let close = |values: &Vec<f64>| {
            let error =
                SampleMoments::of(values).and_then(|m| stats::relative_error(&m, stats::LEVEL));
            error.is_some_and(|error| error <= until.until.0)
        };
        Ok(stored.rates(store)?.values().all(close))
    }
}

/// Adds the bandwidth of each phase and operation; with one block size it is equivalent to IOPS.
fn add_rates(rates: &mut BTreeMap<String, Vec<f64>>, record: &RunRecord) {
    let Summary { phases, .. } = hakaru_analysis::summarize(std::slice::from_ref(record));
    for phase in phases {
        let name = format!("{} {}", phase.phase, phase.op.name());
        rates
            .entry(name)
            .or_default()
            .extend(phase.bandwidth.values.first());
    }
}

#[cfg(test)]
mod tests;
