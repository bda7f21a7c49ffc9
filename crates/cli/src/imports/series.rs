//! Imported runs as series: those of one thing and one scenario repeat one another.

use anyhow::Result;
use hakaru_model::job::{Job, Scenario};
use hakaru_model::record::RunRecord;
use hakaru_store::{RunRow, Store};
use std::collections::BTreeSet;

/// Runs of one thing and one scenario repeat one another: they join the series that is there, or begin one.
pub(crate) fn joined(store: &Store, rows: &[RunRow], records: Vec<RunRecord>) -> Result<Vec<RunRecord>> {
    let known: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    // Thing, jobs, series, runs so far.
    let mut series: Vec<(String, Scenario, String, u32)> = Vec::new();
    let mut looked_at: BTreeSet<(String, String)> = BTreeSet::new();
    let mut joined: Vec<RunRecord> = Vec::with_capacity(records.len());
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for mut record in records {
        if known.contains(record.id.as_str()) {
            joined.push(store.run(&record.id)?);
            continue;
        }
        if !ids.insert(record.id.clone()) {
            continue;
        }
        let key = (record.target.display_name(), record.scenario.name.clone());
        if looked_at.insert(key.clone()) {
            for row in
                rows.iter().filter(|row| (&row.target, &row.scenario) == (&key.0, &key.1) && row.id == row.series)
            {
                let first = match store.run(&row.id) {
                    Err(error) if error.is_unreadable() => continue,
                    found => found?,
                };
                let runs = rows.iter().filter(|other| other.series == row.series).map(|other| other.repeat + 1).max();
                series.push((key.0.clone(), first.scenario, row.series.clone(), runs.unwrap_or(1)));
            }
        }
        let same =
            |entry: &&mut (String, Scenario, String, u32)| entry.0 == key.0 && same_jobs(&entry.1, &record.scenario);
        match series.iter_mut().find(same) {
            Some((_, _, id, runs)) if record.target.label.is_some() => {
                (record.series, record.repeat) = (id.clone(), *runs);
                *runs += 1;
            }
            _ => series.push((key.0, record.scenario.clone(), record.id.clone(), 1)),
        }
        joined.push(record);
    }
    Ok(joined)
}

/// Whether two scenarios ask for the same, whatever their files are called.
pub(crate) fn same_jobs(a: &Scenario, b: &Scenario) -> bool {
    let bare = |job: &Job| {
        let mut job = job.clone();
        job.target = hakaru_model::job::Target::Nothing;
        job.options.clear();
        job.seed = None;
        job
    };
    a.phases.len() == b.phases.len()
        && a.phases.iter().zip(&b.phases).all(|(a, b)| {
            a.name == b.name
                && a.jobs.len() == b.jobs.len()
                && a.jobs.iter().zip(&b.jobs).all(|(a, b)| bare(a) == bare(b))
        })
}
