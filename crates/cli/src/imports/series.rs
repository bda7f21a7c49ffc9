//! Joins imported runs to series: runs of one target and scenario are repeats.

use super::record::Imported;
use anyhow::Result;
use hakaru_analysis::summarize::reported_disks;
use hakaru_model::facts::Filesystem;
use hakaru_model::record::{Origin, RunRecord};
use hakaru_model::reported::UnstatedJob;
use hakaru_report::plain;
use hakaru_results::same_jobs;
use hakaru_store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// A series that more runs can join.
struct ImportSeries {
    /// The first run of the series.
    first: RunRecord,
    /// Runs so far.
    runs: u32,
}

impl ImportSeries {
    /// Whether a run belongs to the series.
    fn is_joined_by(&self, made: &Imported) -> bool {
        let record = &made.record;
        let same = (self.first.target.display_name(), unstated(&self.first))
            == (record.target.display_name(), unstated(record))
            && same_jobs(&self.first.scenario, &record.scenario);
        // A name given by the user means one target; a caveat of the series reports that the disks differ.
        same && record.target.label.is_some()
            && (made.asked || difference(&self.first, record).is_none())
    }
}

/// Joins runs of one target and scenario to an existing or new series.
pub(crate) fn joined(
    store: &Store,
    found: Vec<Imported>,
    notes: &mut String,
) -> Result<Vec<RunRecord>> {
    // By target: a series has runs of one target only.
    let mut all: BTreeMap<String, Vec<ImportSeries>> = BTreeMap::new();
    let mut looked_at: BTreeSet<(String, String)> = BTreeSet::new();
    let mut joined: Vec<RunRecord> = Vec::with_capacity(found.len());
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for mut made in found {
        if store.is_stored(&made.record.id)? {
            continue;
        }
        if !ids.insert(made.record.id.clone()) {
            continue;
        }
        let (target, scenario) = (
            made.record.target.display_name(),
            &made.record.scenario.name,
        );
        let key = (target, scenario.clone());
        let series = all.entry(key.0.clone()).or_default();
        if looked_at.insert(key.clone()) {
            series.extend(stored_series(store, &key)?);
        }
        if let Some(series) = series.iter_mut().find(|series| series.is_joined_by(&made)) {
            (made.record.series, made.record.repeat) = (series.first.series.clone(), series.runs);
            series.runs += 1;
        } else {
            if let Some(other) = unlike(series, &made.record) {
                *notes += &(plain(&other) + "\n");
            }
            series.push(ImportSeries {
                first: made.record.clone(),
                runs: 1,
            });
        }
        joined.push(made.record);
    }
    Ok(joined)
}

/// The readable series of a target and scenario.
fn stored_series(
    store: &Store,
    (target, scenario): &(String, String),
) -> Result<Vec<ImportSeries>> {
    let mut found = Vec::new();
    for (id, runs) in store.imported_series(target, scenario)? {
        match store.run(&id) {
            Err(error) if error.is_unreadable() => continue,
            first => found.push(ImportSeries {
                first: first?,
                runs,
            }),
        }
    }
    Ok(found)
}

/// Returns a note about a run that has the name and jobs of a series but is not a repeat.
fn unlike(series: &[ImportSeries], record: &RunRecord) -> Option<String> {
    let alike = |other: &&ImportSeries| {
        other.first.target.display_name() == record.target.display_name()
            && same_jobs(&other.first.scenario, &record.scenario)
    };
    let differs = |other: &ImportSeries| difference(&other.first, record);
    let what = series.iter().filter(alike).find_map(differs)?;
    let name = record.target.display_name();
    Some(both!(
        "{name}: not a repeat of the stored runs with this name: {what}; give it another name \
        with --label",
        "{name}: 同じ名前の保存済みの測定の繰り返しではありません（{what}）。--labelで別の名前を付けてください"
    ))
}

/// Returns a property that repeats must share and that differs between two runs, if known for both.
fn difference(a: &RunRecord, b: &RunRecord) -> Option<String> {
    let kind = |record: &RunRecord| {
        let kind = record
            .target
            .filesystem
            .as_ref()
            .map(|filesystem| filesystem.fs_type.clone());
        kind.filter(|kind| kind != Filesystem::UNNAMED)
            .unwrap_or_default()
    };
    let raw = |record: &RunRecord| {
        let path = &record.target.path;
        if path.starts_with("/dev") {
            path.display().to_string()
        } else {
            String::new()
        }
    };
    let aspects: [(String, String, String); 3] = [
        (both!("file system", "ファイルシステム"), kind(a), kind(b)),
        (
            both!("disk", "ディスク"),
            reported_disks(a),
            reported_disks(b),
        ),
        (both!("device", "デバイス"), raw(a), raw(b)),
    ];
    let differs = |(_, a, b): &(String, String, String)| !a.is_empty() && !b.is_empty() && a != b;
    aspects
        .into_iter()
        .find(differs)
        .map(|(what, a, b)| both!("the {what} is {b}, not {a}", "{what}が{a}ではなく{b}"))
}

/// Returns the job properties that the output of another program does not state.
fn unstated(record: &RunRecord) -> &[UnstatedJob] {
    match &record.origin {
        Origin::Imported { reported, .. } => &reported.unstated,
        Origin::Measured { .. } => &[],
    }
}
