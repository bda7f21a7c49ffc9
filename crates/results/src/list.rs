//! Lists of stored series, verifications and anatomies.

use anyhow::Result;
use hakaru_model::anatomy::{CardFinding, CardProperty};
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::annotation::Annotations;
use hakaru_model::integrity::Verification;
use hakaru_model::units::{BytesPerSec, Iops};
use hakaru_report::{ListedAnatomy, ListedRate, ListedSeries, ListedVerification};
use hakaru_store::{Filter, OutcomeKind, PhaseRow, Readable, RunRow, Store};
use serde::Serialize;

/// Which series, verifications and anatomies are listed.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// Only targets whose label or name contains this text, in any case.
    pub target: Option<String>,
    /// Maximum number of entries of each list: that of series, that of verifications, and that of anatomies.
    pub limit: u32,
    /// Number of newer series to skip.
    pub skip: u32,
}

/// The runs of a series, in order; at least one.
pub struct StoredSeries {
    /// The first run.
    pub first: RunRow,
    others: Vec<RunRow>,
}

impl StoredSeries {
    /// Returns the series with the wanted name, the one stored last first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn all(store: &Store, query: &ListQuery) -> Result<Vec<StoredSeries>> {
        let newest = store.newest_series(&Filter {
            target: query.target.clone(),
            limit: Some(query.limit),
            skip: query.skip,
            ..Filter::default()
        })?;
        let mut all = Vec::with_capacity(newest.len());
        for series in newest {
            let mut rows = store.runs(&Filter {
                series: Some(series),
                target: query.target.clone(),
                ..Filter::default()
            })?;
            rows.sort_by_key(|row| (row.repeat, row.started_unix_ms));
            let mut rows = rows.into_iter();
            all.extend(rows.next().map(|first| StoredSeries {
                first,
                others: rows.collect(),
            }));
        }
        Ok(all)
    }

    /// Returns all runs, in order.
    pub fn rows(&self) -> impl Iterator<Item = &RunRow> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Whether a report may leave some of the runs out: not all are alike, or one has a caveat.
    fn is_uneven(&self) -> bool {
        let odd =
            |row: &RunRow| row.caveats > 0 || row.traced || row.outcome != OutcomeKind::Completed;
        !self.others.is_empty() && self.rows().any(odd)
    }

    /// Returns the mean rates over the runs that count, as in a report of the series.
    fn rates(&self, store: &Store) -> Result<Vec<ListedRate>> {
        if self.is_uneven() {
            return Ok(summarized_rates(store, &self.first.series));
        }
        let phases = store.phases(&Filter {
            series: Some(self.first.series.clone()),
            ..Filter::default()
        })?;
        let mut rates = means(phases.iter());
        if rates.is_empty() && self.first.imported {
            return Ok(summarized_rates(store, &self.first.series));
        }
        if rates.iter().any(|rate| has_own_name(&rate.phase)) {
            // A run that cannot be read is reported by the commands that show it.
            let record = store.run(&self.first.id).ok();
            let summary = record.map(|record| hakaru_analysis::summarize(&[record]));
            let foreign = summary.as_ref().map(hakaru_report::foreign_workloads);
            let foreign = foreign.unwrap_or_default();
            for rate in &mut rates {
                rate.foreign = foreign.contains(&&*rate.phase);
            }
        }
        Ok(rates)
    }

    /// Returns the line of the series in a list.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn listed(&self, store: &Store) -> Result<ListedSeries> {
        let completed = |row: &&RunRow| row.outcome == OutcomeKind::Completed;
        let last = self.rows().map(|row| row.started_unix_ms).max();
        Ok(ListedSeries {
            id: self.first.short.clone(),
            label: self.first.target.clone(),
            layer: self.first.layer.clone(),
            completed: self.rows().filter(completed).count() as u32,
            runs: self.rows().count() as u32,
            traced: self.rows().any(|row| row.traced),
            scenario: self.first.scenario.clone(),
            rates: self.rates(store)?,
            started_unix_ms: last.unwrap_or(self.first.started_unix_ms),
        })
    }
}

/// Whether a phase has the name of a workload of hakaru's own, which a user may have given to another workload.
fn has_own_name(phase: &str) -> bool {
    hakaru_report::workload_words(phase) != hakaru_report::plain(phase)
}

/// Returns a verification with its shortest unique ID.
///
/// # Errors
/// If the database cannot be read.
pub fn with_short_id<'a>(store: &Store, of: &'a Verification) -> Result<ListedVerification<'a>> {
    Ok(ListedVerification {
        id: store.short_verification_id(&of.id)?,
        verification: of,
    })
}

/// Returns an anatomy with its shortest unique ID.
///
/// # Errors
/// If the database cannot be read.
pub fn listed_anatomy<'a>(store: &Store, of: &'a AnatomyRecord) -> Result<ListedAnatomy<'a>> {
    Ok(ListedAnatomy {
        id: store.short_anatomy_id(&of.id)?,
        record: of,
    })
}

/// Returns the mean rates of each phase and operation, in the order of phases.
fn means<'a>(phases: impl Iterator<Item = &'a PhaseRow>) -> Vec<ListedRate> {
    let mut sums: Vec<(u32, ListedRate, f64)> = Vec::new();
    for phase in phases.filter(|phase| phase.runtime_ns > 0 && phase.ios > 0) {
        let seconds = phase.runtime_ns as f64 / 1e9;
        let (bandwidth, iops) = (phase.bytes as f64 / seconds, phase.ios as f64 / seconds);
        let same = |(index, rate, _): &&mut (u32, ListedRate, f64)| {
            (*index, &*rate.phase, rate.op) == (phase.index, &*phase.name, phase.op)
        };
        match sums.iter_mut().find(same) {
            Some((_, rate, runs)) => {
                rate.bandwidth.0 += bandwidth;
                rate.iops.0 += iops;
                *runs += 1.0;
            }
            None => {
                let rate = ListedRate {
                    phase: phase.name.clone(),
                    op: phase.op,
                    foreign: false,
                    bandwidth: BytesPerSec(bandwidth),
                    iops: Iops(iops),
                };
                sums.push((phase.index, rate, 1.0));
            }
        }
    }
    sums.sort_by_key(|(index, rate, _)| (*index, rate.op));
    let mean = |(_, rate, runs): (u32, ListedRate, f64)| ListedRate {
        bandwidth: BytesPerSec(rate.bandwidth.0 / runs),
        iops: Iops(rate.iops.0 / runs),
        ..rate
    };
    sums.into_iter().map(mean).collect()
}

/// Returns the rates in the summary of a series: over the runs that count, and those that an imported result states
/// without counting I/Os. A result that cannot be read has none here; the commands that show it report the error.
fn summarized_rates(store: &Store, series: &str) -> Vec<ListedRate> {
    let records = store.readable_series(series).map(|found| found.records);
    let summary = hakaru_analysis::summarize(&records.unwrap_or_default());
    let foreign = hakaru_report::foreign_workloads(&summary);
    let rate = |phase: &hakaru_model::finding::PhaseSummary| ListedRate {
        phase: phase.phase.clone(),
        op: phase.op,
        foreign: foreign.contains(&&*phase.phase),
        bandwidth: BytesPerSec(phase.bandwidth.mean),
        iops: Iops(phase.iops.mean),
    };
    summary.phases.iter().map(rate).collect()
}

/// Returns the verifications of targets with the wanted name, newest first; unreadable ones are listed separately.
///
/// # Errors
/// If the database cannot be read.
pub fn verifications(store: &Store, query: &ListQuery) -> Result<Readable<Verification>> {
    let wanted = query.target.as_ref().map(|text| text.to_lowercase());
    let is_wanted = |v: &Verification| {
        let target = hakaru_report::verified_target(v).to_lowercase();
        wanted.as_ref().is_none_or(|wanted| target.contains(wanted))
    };
    let mut found = store.verifications(u32::MAX)?;
    found.records.retain(is_wanted);
    found.records.truncate(query.limit as usize);
    Ok(found)
}

/// Returns the anatomies of targets with the wanted name, newest first; unreadable ones are listed separately.
///
/// # Errors
/// If the database cannot be read.
pub fn anatomies(store: &Store, query: &ListQuery) -> Result<Readable<AnatomyRecord>> {
    let wanted = query.target.as_ref().map(|text| text.to_lowercase());
    let is_wanted = |of: &AnatomyRecord| {
        let name = of.target.display_name().to_lowercase();
        wanted.as_ref().is_none_or(|wanted| name.contains(wanted))
    };
    let mut found = store.anatomies(u32::MAX)?;
    found.records.retain(is_wanted);
    found.records.truncate(query.limit as usize);
    Ok(found)
}

/// Output of `hakaru list --json`.
#[derive(Serialize)]
pub struct ListJson {
    series: Vec<SeriesJson>,
    verifications: Vec<VerificationJson>,
    anatomies: Vec<AnatomyJson>,
}

#[derive(Serialize)]
struct SeriesJson {
    series: String,
    label: String,
    annotations: Annotations,
    layer: String,
    scenario: String,
    origin: String,
    imported: bool,
    started_unix_ms: i64,
    rates: Vec<RateJson>,
    runs: Vec<ListedRunJson>,
}

#[derive(Serialize)]
struct RateJson {
    phase: String,
    op: &'static str,
    bytes_per_s: f64,
    iops: f64,
}

#[derive(Serialize)]
struct ListedRunJson {
    id: String,
    repeat: u32,
    started_unix_ms: i64,
    outcome: &'static str,
    traced: bool,
    ios: u64,
    bytes: u64,
    errors: u64,
    caveats: u32,
}

#[derive(Serialize)]
struct AnatomyJson {
    id: String,
    label: String,
    started_unix_ms: i64,
    completed: bool,
    read_only: bool,
    /// Numbers of properties that are known or absent, and of those that cannot be told.
    known: usize,
    unknown: usize,
}

#[derive(Serialize)]
struct VerificationJson {
    id: String,
    label: String,
    started_unix_ms: i64,
    completed: bool,
    defects: bool,
}

impl ListJson {
    /// Returns the list of these series, verifications and anatomies.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn of(
        store: &Store,
        series: &[StoredSeries],
        verifications: &[Verification],
        anatomies: &[AnatomyRecord],
    ) -> Result<ListJson> {
        let series = series.iter().map(|series| series_json(store, series));
        let verification = |of: &Verification| VerificationJson {
            id: of.id.clone(),
            label: of.target.display_name(),
            started_unix_ms: of.started_unix_ms,
            completed: of.completed,
            defects: of.verdict.has_defects(),
        };
        Ok(ListJson {
            series: series.collect::<Result<_>>()?,
            verifications: verifications.iter().map(verification).collect(),
            anatomies: anatomies.iter().map(anatomy_json).collect(),
        })
    }
}

fn anatomy_json(of: &AnatomyRecord) -> AnatomyJson {
    let is_unknown = |property: &&CardProperty| {
        matches!(of.anatomy.finding(**property), CardFinding::Unknown(_))
    };
    let unknown = CardProperty::ALL.iter().filter(is_unknown).count();
    AnatomyJson {
        id: of.id.clone(),
        label: of.target.display_name(),
        started_unix_ms: of.started_unix_ms,
        completed: of.completed,
        read_only: of.anatomy.read_only,
        known: CardProperty::ALL.len() - unknown,
        unknown,
    }
}

fn series_json(store: &Store, series: &StoredSeries) -> Result<SeriesJson> {
    let first = &series.first;
    let rate = |rate: ListedRate| RateJson {
        phase: rate.phase,
        op: rate.op.name(),
        bytes_per_s: rate.bandwidth.0,
        iops: rate.iops.0,
    };
    let run = |row: &RunRow| ListedRunJson {
        id: row.id.clone(),
        repeat: row.repeat,
        started_unix_ms: row.started_unix_ms,
        outcome: row.outcome.name(),
        traced: row.traced,
        ios: row.ios,
        bytes: row.bytes,
        errors: row.errors,
        caveats: row.caveats,
    };
    Ok(SeriesJson {
        series: first.series.clone(),
        label: first.target.clone(),
        annotations: store.annotations(&first.series)?,
        layer: first.layer.clone(),
        scenario: first.scenario.clone(),
        origin: first.origin.clone(),
        imported: first.imported,
        started_unix_ms: first.started_unix_ms,
        rates: series.rates(store)?.into_iter().map(rate).collect(),
        runs: series.rows().map(run).collect(),
    })
}
