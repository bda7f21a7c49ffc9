//! Lists of runs and phases from the derived tables, without reading records.

use crate::{Store, StoreError};
use hakaru_model::job::Op;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row};
use std::collections::HashSet;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// All phases finished.
    Completed,
    /// Stopped by the user or a signal.
    Interrupted,
    /// Ended by an error.
    Failed,
}

impl OutcomeKind {
    /// Returns `completed`, `interrupted` or `failed`.
    pub fn name(self) -> &'static str {
        match self {
            OutcomeKind::Completed => "completed",
            OutcomeKind::Interrupted => "interrupted",
            OutcomeKind::Failed => "failed",
        }
    }

    pub(crate) fn from_name(name: &str) -> OutcomeKind {
        match name {
            "completed" => OutcomeKind::Completed,
            "interrupted" => OutcomeKind::Interrupted,
            _ => OutcomeKind::Failed,
        }
    }
}

/// Filter for lists of runs; every field that is set narrows the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Full series ID.
    pub series: Option<String>,
    /// Scenario name.
    pub scenario: Option<String>,
    /// Substring of the target name, ignoring ASCII case.
    pub target: Option<String>,
    /// `true` for imported runs, `false` for runs of hakaru.
    pub imported: Option<bool>,
    /// How the run ended.
    pub outcome: Option<OutcomeKind>,
    /// Started at or after this time, in milliseconds since 1970 UTC.
    pub since_unix_ms: Option<i64>,
    /// Started before this time, in milliseconds since 1970 UTC.
    pub until_unix_ms: Option<i64>,
    /// Maximum number of runs or series, newest first.
    pub limit: Option<u32>,
    /// Number of runs or series to skip before them.
    pub skip: u32,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// The run ID.
    pub id: String,
    /// Shortest unique prefix of the ID in this database; at least 8 characters.
    pub short: String,
    /// The series ID.
    pub series: String,
    /// Number in the series, from 0.
    pub repeat: u32,
    /// Start time in milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Scenario name.
    pub scenario: String,
    /// Name of the target.
    pub target: String,
    /// Program that measured it: `hakaru 0.1.0`, `fio-3.39`.
    pub origin: String,
    /// Whether it was imported.
    pub imported: bool,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// Record format.
    pub format: u32,
    /// Number of phases.
    pub phases: u32,
    /// Completed I/Os of all phases.
    pub ios: u64,
    /// Transferred bytes of all phases.
    pub bytes: u64,
    /// Failed I/Os.
    pub errors: u64,
    /// Number of caveats in the record.
    pub caveats: u32,
    /// File system, `raw`, or the layer of a campaign; empty if unknown.
    pub layer: String,
    /// Whether the path of its I/Os was traced, so that its figures do not count beside those of untraced runs.
    pub traced: bool,
    /// Position in the order in which the records were stored.
    pub stored: i64,
}

/// An operation of a phase in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseRow {
    /// The run ID.
    pub run: String,
    /// Index of the phase in the run, from 0.
    pub index: u32,
    /// Phase name.
    pub name: String,
    /// The operation.
    pub op: Op,
    /// Completed I/Os.
    pub ios: u64,
    /// Transferred bytes.
    pub bytes: u64,
    /// Longest measured time of its workers, in nanoseconds.
    pub runtime_ns: u64,
}

/// The condition of a query after WHERE, with its parameters in order.
fn conditions(filter: &Filter) -> (String, Vec<Value>) {
    let Filter {
        series,
        scenario,
        target,
        imported,
        outcome,
        since_unix_ms,
        until_unix_ms,
        limit: _,
        skip: _,
    } = filter;
    let text = |value: &Option<String>| value.clone().map(Value::Text);
    let part = target.as_ref().map(|name| name.to_ascii_lowercase());
    let outcome = outcome.map(|outcome| outcome.name().to_owned());
    let all = [
        ("series = ?", text(series)),
        ("scenario = ?", text(scenario)),
        ("instr(lower(target), ?) > 0", text(&part)),
        ("imported = ?", imported.map(|i| Value::Integer(i.into()))),
        ("outcome = ?", text(&outcome)),
        ("started_unix_ms >= ?", since_unix_ms.map(Value::Integer)),
        ("started_unix_ms < ?", until_unix_ms.map(Value::Integer)),
    ];
    let set = all
        .into_iter()
        .filter_map(|(sql, value)| Some((sql, value?)));
    let (sql, values): (Vec<&str>, Vec<Value>) = set.unzip();
    (
        ["TRUE"]
            .into_iter()
            .chain(sql)
            .collect::<Vec<_>>()
            .join(" AND "),
        values,
    )
}

/// Like [`conditions`], on a row of `series`; `None` for a filter that only runs can answer.
fn conditions_on_series(filter: &Filter) -> Option<(String, Vec<Value>)> {
    let of_target = Filter {
        target: filter.target.clone(),
        limit: filter.limit,
        skip: filter.skip,
        ..Filter::default()
    };
    (*filter == of_target).then(|| conditions(filter))
}

/// The part of a query that limits its rows.
fn page(Filter { limit, skip, .. }: &Filter) -> String {
    let limit = limit.map_or(-1, i64::from);
    format!("LIMIT {limit} OFFSET {skip}")
}

impl Store {
    /// Lists runs, newest first.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
        let (wanted, parameters) = conditions(filter);
        self.select_runs(&wanted, parameters, &page(filter))
            .map_err(self.failed("list the runs"))
    }

    /// Returns the series with runs that match the filter, last stored first. `limit` and `skip` are of series.
    ///
    /// Without a condition, or with one of the target only, no run is read. Otherwise runs are read only until there are
    /// enough series.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn newest_series(&self, filter: &Filter) -> Result<Vec<String>, StoreError> {
        if let Some((wanted, parameters)) = conditions_on_series(filter) {
            let page = page(filter);
            let sql = format!("SELECT id FROM series WHERE {wanted} ORDER BY last DESC {page}");
            return self.texts(&sql, parameters);
        }
        let (wanted, parameters) = conditions(filter);
        let (most, skipped) = (filter.limit.unwrap_or(u32::MAX), filter.skip as usize);
        let most = skipped.saturating_add(most as usize);
        let select = || -> rusqlite::Result<Vec<String>> {
            let (mut found, mut seen) = (Vec::new(), HashSet::new());
            let sql = format!("SELECT series FROM run WHERE {wanted} ORDER BY seq DESC");
            let mut statement = self.connection.prepare(&sql)?;
            let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
            while found.len() < most
                && let Some(row) = rows.next()?
            {
                let series: String = row.get(0)?;
                if seen.insert(series.clone()) {
                    found.push(series);
                }
            }
            Ok(found.split_off(skipped.min(found.len())))
        };
        select().map_err(self.failed("list the series"))
    }

    /// Returns the number of series with runs that match the filter, whatever its limit.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn count_series(&self, filter: &Filter) -> Result<u64, StoreError> {
        let (from, (wanted, parameters)) = match conditions_on_series(filter) {
            Some(conditions) => ("coalesce(sum(1), 0) FROM series", conditions),
            None => ("count(DISTINCT series) FROM run", conditions(filter)),
        };
        let sql = format!("SELECT {from} WHERE {wanted}");
        let parameters = rusqlite::params_from_iter(parameters);
        let counted = self
            .connection
            .query_row(&sql, parameters, |row| count(row, 0));
        counted.map_err(self.failed("count the series"))
    }

    /// Whether no runs are stored.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM run)";
        let found = self.connection.query_row(sql, [], |row| row.get(0));
        found.map_err(self.failed("count the runs"))
    }

    /// Returns the runs that match a condition, newest first.
    pub(crate) fn select_runs(
        &self,
        wanted: &str,
        parameters: Vec<Value>,
        page: &str,
    ) -> rusqlite::Result<Vec<RunRow>> {
        let sql = format!(
            "SELECT id, series, repeat, started_unix_ms, scenario, target, origin, imported, outcome, format,
                    phases, ios, bytes, errors, caveats, layer, traced, seq
             FROM run WHERE {wanted} ORDER BY started_unix_ms DESC, id DESC {page}"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement
            .query_map(rusqlite::params_from_iter(parameters), run_row)?
            .collect::<Result<Vec<_>, _>>()?;
        for row in &mut rows {
            row.short = self.short_id(&row.id)?;
        }
        Ok(rows)
    }

    /// Returns the shortest prefix of the ID of a verification, at least 8 characters, that no other verification and no
    /// run has.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn short_verification_id(&self, id: &str) -> Result<String, StoreError> {
        let neighbors = [
            "SELECT id FROM verification WHERE id < ?1 ORDER BY id DESC LIMIT 1",
            "SELECT id FROM verification WHERE id > ?1 ORDER BY id LIMIT 1",
        ];
        let neighbors = [neighbors, RUN_NEIGHBORS].concat();
        self.prefix_beside(id, &neighbors)
            .map_err(self.failed("list the verifications"))
    }

    /// Returns the shortest prefix of the ID of an anatomy that no other anatomy and no run has.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn short_anatomy_id(&self, id: &str) -> Result<String, StoreError> {
        let neighbors = [
            "SELECT id FROM anatomy WHERE id < ?1 ORDER BY id DESC LIMIT 1",
            "SELECT id FROM anatomy WHERE id > ?1 ORDER BY id LIMIT 1",
        ];
        let neighbors = [neighbors, RUN_NEIGHBORS].concat();
        self.prefix_beside(id, &neighbors)
            .map_err(self.failed("list the anatomies"))
    }

    /// Returns the shortest ID prefix that differs from the neighboring IDs.
    fn short_id(&self, id: &str) -> rusqlite::Result<String> {
        self.prefix_beside(id, &RUN_NEIGHBORS)
    }

    /// Returns the shortest prefix of an ID that differs from what these statements find beside it.
    fn prefix_beside(&self, id: &str, neighbors: &[&str]) -> rusqlite::Result<String> {
        let mut shared = 7;
        for sql in neighbors {
            let mut statement = self.connection.prepare_cached(sql)?;
            let other: Option<String> = statement.query_row([id], |row| row.get(0)).optional()?;
            shared = shared.max(other.map_or(0, |other| shared_prefix(id, &other)));
        }
        Ok(id.chars().take(shared + 1).collect())
    }

    /// Lists the phases of the runs that match the filter: newest run first, phases in order.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn phases(&self, filter: &Filter) -> Result<Vec<PhaseRow>, StoreError> {
        self.select_phases(filter)
            .map_err(self.failed("list the phases"))
    }

    fn select_phases(&self, filter: &Filter) -> rusqlite::Result<Vec<PhaseRow>> {
        let (wanted, parameters) = conditions(filter);
        let page = page(filter);
        let sql = format!(
            "SELECT r.id, p.idx, p.name, p.op, p.ios, p.bytes, p.runtime_ns
             FROM (SELECT seq, id, started_unix_ms FROM run WHERE {wanted} ORDER BY started_unix_ms DESC, id DESC {page}) r
             JOIN phase p ON p.run = r.seq ORDER BY r.started_unix_ms DESC, r.id DESC, p.idx, p.op"
        );
        let mut statement = self.connection.prepare(&sql)?;
        statement
            .query_map(rusqlite::params_from_iter(parameters), phase_row)?
            .collect()
    }
}

/// The runs with the IDs before and after an ID.
const RUN_NEIGHBORS: [&str; 2] = [
    "SELECT id FROM run WHERE id < ?1 ORDER BY id DESC LIMIT 1",
    "SELECT id FROM run WHERE id > ?1 ORDER BY id LIMIT 1",
];

fn shared_prefix(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Counts were clamped when stored and are never negative; a damaged value reads as 0.
fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(index)
        .map(|n| u64::try_from(n).unwrap_or(0))
}

fn small(row: &Row<'_>, index: usize) -> rusqlite::Result<u32> {
    row.get::<_, i64>(index)
        .map(|n| u32::try_from(n).unwrap_or(0))
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: row.get(0)?,
        short: String::new(),
        series: row.get(1)?,
        repeat: small(row, 2)?,
        started_unix_ms: row.get(3)?,
        scenario: row.get(4)?,
        target: row.get(5)?,
        origin: row.get(6)?,
        imported: row.get(7)?,
        outcome: OutcomeKind::from_name(row.get_ref(8)?.as_str().unwrap_or_default()),
        format: small(row, 9)?,
        phases: small(row, 10)?,
        ios: count(row, 11)?,
        bytes: count(row, 12)?,
        errors: count(row, 13)?,
        caveats: small(row, 14)?,
        layer: row.get(15)?,
        traced: row.get(16)?,
        stored: row.get(17)?,
    })
}

fn phase_row(row: &Row<'_>) -> rusqlite::Result<PhaseRow> {
    let name: String = row.get(3)?;
    let op = Op::ALL
        .into_iter()
        .find(|op| op.name() == name)
        .unwrap_or(Op::Trim);
    Ok(PhaseRow {
        run: row.get(0)?,
        index: small(row, 1)?,
        name: row.get(2)?,
        op,
        ios: count(row, 4)?,
        bytes: count(row, 5)?,
        runtime_ns: count(row, 6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: of a million runs, all were read to list the series of a rare target.
    #[test]
    fn series_are_listed_without_reading_runs() {
        let store = Store::empty("none.db").unwrap();
        let of_target = |target: Option<&str>| Filter {
            target: target.map(str::to_owned),
            limit: Some(30),
            skip: 60,
            ..Filter::default()
        };
        for filter in [of_target(None), of_target(Some("card"))] {
            let (wanted, parameters) = conditions_on_series(&filter).unwrap();
            let sql = format!("SELECT id FROM series WHERE {wanted} ORDER BY last DESC");
            let plan = store.plan(&sql, parameters);
            assert_eq!(
                plan,
                ["SCAN series USING COVERING INDEX series_by_last"],
                "{filter:?}"
            );
        }
        let other = Filter {
            scenario: Some("s".to_owned()),
            ..of_target(None)
        };
        assert!(conditions_on_series(&other).is_none());
    }
}
