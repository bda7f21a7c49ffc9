//! Detects one measurement imported in two formats or from two sources, such as text and JSON of one fio run, or a file
//! and a pipe.
//!
//! A duplicate would count as two runs with equal results. Duplicates are recognized by values that
//! no second run repeats: all I/O counts, the time to the millisecond, and the latencies of each
//! operation.

use super::record::Imported;
use anyhow::Result;
use hakaru_dialects::import::SourceFormat;
use hakaru_model::job::Op;
use hakaru_model::record::{Origin, RunRecord, Samples, WorkerRecord};
use hakaru_report::plain;
use hakaru_store::{Store, fingerprint};
use std::collections::{BTreeMap, BTreeSet};

/// Removes results that exist in another format or are stored, and prints notes. A name that the user gave to a stored
/// result becomes a further label of it.
///
/// # Errors
/// If the store cannot be read.
pub(crate) fn without_duplicates(
    store: &Store,
    found: Vec<Imported>,
    stored: &mut KnownRuns,
    result: &mut DuplicateResults,
) -> Result<Vec<Imported>> {
    let mut kept = Vec::with_capacity(found.len());
    for (made, better) in found.iter().zip(better(&found)) {
        let source = plain(source(&made.record));
        let note = match better {
            _ if store.is_stored(&made.record.id)? => None,
            Some(other) => Some(words(
                &found[other].record,
                &both!("is imported too", "同時に取り込み"),
            )),
            None => match stored.twin(store, made)? {
                Some((twin, short)) => {
                    result.add(made, &twin);
                    Some(words(
                        &twin,
                        &both!("is stored as run {short}", "測定{short}として保存済み"),
                    ))
                }
                None => None,
            },
        };
        kept.push(note.is_none());
        result.notes += &note
            .map(|note| format!("{source}: {note}\n"))
            .unwrap_or_default();
    }
    let mut kept = kept.into_iter();
    let found = found.into_iter();
    Ok(found.filter(|_| kept.next().unwrap_or(false)).collect())
}

/// What is known about results that are not stored again.
#[derive(Debug, Default)]
pub(crate) struct DuplicateResults {
    /// One line per result.
    pub(crate) notes: String,
    /// Further labels of stored series.
    pub(crate) aliases: Vec<(String, String)>,
    /// IDs of the stored runs.
    pub(crate) stored: Vec<String>,
}

impl DuplicateResults {
    fn add(&mut self, made: &Imported, twin: &RunRecord) {
        self.stored.push(twin.id.clone());
        let label = made.record.target.label.as_ref();
        if let Some(label) = label.filter(|_| made.asked)
            && *label != twin.target.display_name()
        {
            let alias = (twin.series.clone(), label.clone());
            if !self.aliases.contains(&alias) {
                self.aliases.push(alias);
            }
        }
    }
}

fn words(twin: &RunRecord, where_it_is: &str) -> String {
    let twin = match &twin.origin {
        Origin::Imported { source, .. } => both!("in {}", "{}の測定"; plain(source)),
        Origin::Measured { .. } => both!("of {}", "{}の測定"; plain(&twin.target.display_name())),
    };
    both!(
        "the same measurement as {twin}, which {where_it_is}: not stored again",
        "{twin}と同じため、保存していません（{where_it_is}）"
    )
}

fn source(record: &RunRecord) -> &str {
    match &record.origin {
        Origin::Imported { source, .. } => source,
        Origin::Measured { .. } => "",
    }
}

/// Returns the total number of I/Os of a record, as the store counts them.
fn ios(record: &RunRecord) -> u64 {
    let workers = record.phases.iter().flat_map(|phase| &phase.workers);
    let counts = workers.flat_map(|worker| Op::ALL.map(|op| worker.ops[op].ios));
    counts.fold(0, u64::saturating_add)
}

/// Returns the rank of a format by detail; 0 is the most detailed.
fn rank(made: &Imported) -> u32 {
    match made.format {
        SourceFormat::FioJson => 0,
        SourceFormat::FioText => 1,
        _ => 2,
    }
}

/// Returns, for each imported result, a more detailed one of the same measurement.
fn better(found: &[Imported]) -> Vec<Option<usize>> {
    let mut of_ios: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    found
        .iter()
        .enumerate()
        .for_each(|(at, made)| of_ios.entry(ios(&made.record)).or_default().push(at));
    let better = |at: usize| {
        let made = &found[at];
        // Only latencies show that results are of one measurement, and figures without I/Os have none.
        if ios(&made.record) == 0 {
            return None;
        }
        // Identical outputs of one program in one text are repeats with equal figures, not duplicates.
        let repeats = |other: &Imported| {
            source(&other.record) == source(&made.record) && other.format == made.format
        };
        let others = of_ios
            .get(&ios(&made.record))
            .into_iter()
            .flatten()
            .copied();
        let candidate = |&other: &usize| {
            let first = (rank(&found[other]), other) < (rank(made), at);
            first && !repeats(&found[other]) && found[other].record.id != made.record.id
        };
        others
            .filter(candidate)
            .find(|&other| same_measurement(&found[other].record, &made.record))
    };
    (0..found.len()).map(better).collect()
}

/// Stored runs, found by their fingerprints.
#[derive(Debug)]
pub(crate) struct KnownRuns {
    /// IDs of stored runs that already match an imported one.
    taken: BTreeSet<String>,
    /// The last run that was stored before the import: equal results of one import are repeats.
    last: i64,
}

impl KnownRuns {
    /// Returns the runs that are stored now.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) fn of(store: &Store) -> Result<KnownRuns> {
        Ok(KnownRuns {
            taken: BTreeSet::new(),
            last: store.last_stored()?,
        })
    }

    /// Returns the stored run of the same measurement, and its short ID.
    fn twin(&mut self, store: &Store, made: &Imported) -> Result<Option<(RunRecord, String)>> {
        let record = &made.record;
        // Content from a pipe has no name to distinguish it from the same content in a file, and a name that the user
        // gives does not make another measurement of the same file.
        let any_name = !made.named || made.asked;
        let started = record.started_unix_ms;
        let near = (
            started.saturating_sub_unsigned(APART_MS),
            started.saturating_add_unsigned(APART_MS),
        );
        let scenario = any_name.then_some(record.scenario.name.as_str());
        for row in store.runs_like(fingerprint(record), near, scenario)? {
            if self.taken.contains(&row.id) {
                continue;
            }
            let stored = match store.run(&row.id) {
                Err(error) if error.is_unreadable() => continue,
                found => found?,
            };
            let one_source = any_name && (!made.named || source(&stored) == source(record));
            if same_measurement(&stored, record)
                || one_source && row.stored <= self.last && same_content(&stored, record)
            {
                self.taken.insert(row.id.clone());
                return Ok(Some((stored, row.short)));
            }
        }
        Ok(None)
    }
}

/// Whether two records are equal except for their names.
fn same_content(a: &RunRecord, b: &RunRecord) -> bool {
    let timeless = |record: &RunRecord| {
        let mut phases = record.phases.clone();
        phases
            .iter_mut()
            .for_each(|phase| phase.started_unix_ms = 0);
        phases
    };
    let reported = |record: &RunRecord| match &record.origin {
        Origin::Imported {
            program, reported, ..
        } => Some((program.clone(), reported.clone())),
        Origin::Measured { .. } => None,
    };
    a.scenario == b.scenario && reported(a) == reported(b) && timeless(a) == timeless(b)
}

/// Maximum difference between the times of one measurement: a day and the time zones.
const APART_MS: u64 = 26 * 3_600_000;

/// Whether two results are of one measurement. Workers that one of them reports as a group are added up.
fn same_measurement(a: &RunRecord, b: &RunRecord) -> bool {
    let (of_a, of_b) = (workers(a), workers(b));
    let near = |(a, b): (&WorkerFigures, &WorkerFigures)| a.runtime_ms.abs_diff(b.runtime_ms) <= 1;
    let (of_a, of_b) = match of_a.len() == of_b.len() {
        true if !of_a.iter().zip(&of_b).all(near) => return false,
        true => (of_a, of_b),
        false => (vec![sum(of_a)], vec![sum(of_b)]),
    };
    let ops = |(a, b): (&WorkerFigures, &WorkerFigures)| {
        Op::ALL.map(|op| same_op(&a.ops[op as usize], &b.ops[op as usize]))
    };
    let judged: Vec<MatchStrength> = of_a.iter().zip(&of_b).flat_map(ops).collect();
    a.started_unix_ms.abs_diff(b.started_unix_ms) <= APART_MS
        && judged.iter().all(|sameness| *sameness != MatchStrength::No)
        && judged.contains(&MatchStrength::Shown)
}

/// The figures of a worker that are compared.
#[derive(Clone, Default)]
struct WorkerFigures {
    runtime_ms: u64,
    ops: [OpFigures; Op::ALL.len()],
}

/// The figures of one operation that are compared.
#[derive(Clone, Default)]
struct OpFigures {
    ios: u64,
    clat: Samples,
    lat: Samples,
}

fn workers(record: &RunRecord) -> Vec<WorkerFigures> {
    let workers = record.phases.iter().flat_map(|phase| &phase.workers);
    let figures = |worker: &WorkerRecord| WorkerFigures {
        runtime_ms: worker.runtime.as_millis(),
        ops: Op::ALL.map(|op| OpFigures {
            ios: worker.ops[op].ios,
            clat: worker.ops[op].clat.stat,
            lat: worker.ops[op].lat.stat,
        }),
    };
    workers.map(figures).collect()
}

fn sum(workers: Vec<WorkerFigures>) -> WorkerFigures {
    let mut all = WorkerFigures::default();
    for worker in workers {
        for (all, one) in all.ops.iter_mut().zip(worker.ops) {
            all.ios = all.ios.saturating_add(one.ios);
            all.clat.merge(&one.clat);
            all.lat.merge(&one.lat);
        }
    }
    all
}

/// Evidence from the figures of one operation that two results are of one measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatchStrength {
    /// The figures differ: two measurements.
    No,
    /// The figures are compatible with one measurement.
    Perhaps,
    /// The latencies are equal, which is not a coincidence: one measurement.
    Shown,
}

fn same_op(a: &OpFigures, b: &OpFigures) -> MatchStrength {
    if a.ios != b.ios {
        return MatchStrength::No;
    }
    let kinds = [(&a.clat, &b.clat), (&a.lat, &b.lat)];
    let kind = kinds.into_iter().find(|(a, b)| a.count > 1 && b.count > 1);
    let Some((a, b)) = kind.filter(|_| a.ios > 0) else {
        return MatchStrength::Perhaps;
    };
    // Text output has two decimals for means and deviations, in microseconds or milliseconds, and whole numbers for
    // extremes.
    let near = |a: f64, b: f64, share: f64| (a - b).abs() <= 10.0 + a.max(b) * share;
    let longest = near(a.max as f64, b.max as f64, 0.05);
    let same = longest && near(mean(a), mean(b), 0.002) && near(deviation(a), deviation(b), 0.005);
    if same {
        MatchStrength::Shown
    } else {
        MatchStrength::No
    }
}

fn mean(stat: &Samples) -> f64 {
    stat.sum as f64 / stat.count as f64
}

fn deviation(stat: &Samples) -> f64 {
    let square_of_sum = stat
        .sum
        .checked_mul(stat.sum)
        .map_or(0, |square| square / u128::from(stat.count));
    (stat.sum_sq.saturating_sub(square_of_sum) as f64 / (stat.count as f64 - 1.0)).sqrt()
}
