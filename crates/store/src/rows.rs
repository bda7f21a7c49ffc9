//! Lists: one short row a run or a phase, from the derived tables alone, so that long histories list at once.

use crate::{Store, StoreError};
use hakaru_model::job::Op;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row};

/// How a run ended, without the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// All of it was done.
    Completed,
    /// Somebody stopped it.
    Interrupted,
    /// It could not go on.
    Failed,
}

impl OutcomeKind {
    /// `completed`, `interrupted`, `failed`.
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

/// Which runs to list; every field that is set narrows the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this series (its whole id).
    pub series: Option<String>,
    /// Of the scenario with this name.
    pub scenario: Option<String>,
    /// Whose target has this text in its name, whatever the case of ASCII letters.
    pub target: Option<String>,
    /// Imported ones, or our own.
    pub imported: Option<bool>,
    /// That ended so.
    pub outcome: Option<OutcomeKind>,
    /// Begun at this moment or later, milliseconds since 1970 UTC.
    pub since_unix_ms: Option<i64>,
    /// Begun before this moment, milliseconds since 1970 UTC.
    pub until_unix_ms: Option<i64>,
    /// At most so many, the newest.
    pub limit: Option<u32>,
}

/// One run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: String,
    /// How much of the id is enough to name it in this database; at least 8 characters.
    pub short: String,
    /// The series it belongs to.
    pub series: String,
    /// Number within the series, from 0.
    pub repeat: u32,
    /// As it began, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Name of the scenario.
    pub scenario: String,
    /// What was measured, by name.
    pub target: String,
    /// Where it comes from: `hakaru 0.1.0`, `fio-3.39`.
    pub origin: String,
    /// Whether another program measured it.
    pub imported: bool,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// Format of its record.
    pub format: u32,
    /// Phases.
    pub phases: u32,
    /// I/Os completed, over all phases.
    pub ios: u64,
    /// Bytes moved, over all phases.
    pub bytes: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// Caveats in the record.
    pub caveats: u32,
}

/// One phase and operation in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseRow {
    /// The run.
    pub run: String,
    /// Number of the phase in the run, from 0.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Which operation.
    pub op: Op,
    /// I/Os completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Longest measured time of its workers, nanoseconds.
    pub runtime_ns: u64,
}

/// The part of a query after WHERE, with its parameters in order.
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
    } = filter;
    let text = |value: &Option<String>| value.clone().map(Value::Text);
    let all = [
        ("series = ?", text(series)),
        ("scenario = ?", text(scenario)),
        (
            "instr(lower(target), ?) > 0",
            target.as_ref().map(|t| Value::Text(t.to_ascii_lowercase())),
        ),
        ("imported = ?", imported.map(|i| Value::Integer(i.into()))),
        (
            "outcome = ?",
            outcome.map(|o| Value::Text(o.name().to_owned())),
        ),
        ("started_unix_ms >= ?", since_unix_ms.map(Value::Integer)),
        ("started_unix_ms < ?", until_unix_ms.map(Value::Integer)),
    ];
    let set: Vec<(&str, Value)> = all
        .into_iter()
        .filter_map(|(sql, value)| Some((sql, value?)))
        .collect();
    let sql: Vec<&str> = std::iter::once("TRUE")
        .chain(set.iter().map(|(sql, _)| *sql))
        .collect();
    (
        sql.join(" AND "),
        set.into_iter().map(|(_, value)| value).collect(),
    )
}

impl Store {
    /// Lists runs, newest first.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
        self.select_runs(filter)
            .map_err(self.failed("list the runs"))
    }

    fn select_runs(&self, filter: &Filter) -> rusqlite::Result<Vec<RunRow>> {
        let (wanted, parameters) = conditions(filter);
        let limit = filter.limit.map_or(-1, i64::from);
        let sql = format!(
            "SELECT id, series, repeat, started_unix_ms, scenario, target, origin, imported, outcome, format,
                    phases, ios, bytes, errors, caveats
             FROM run WHERE {wanted} ORDER BY started_unix_ms DESC, id DESC LIMIT {limit}"
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

    /// Enough of an id to differ from its neighbours in the order of ids.
    fn short_id(&self, id: &str) -> rusqlite::Result<String> {
        let mut shared = 7;
        for sql in [
            "SELECT id FROM run WHERE id < ?1 ORDER BY id DESC LIMIT 1",
            "SELECT id FROM run WHERE id > ?1 ORDER BY id LIMIT 1",
        ] {
            let mut statement = self.connection.prepare_cached(sql)?;
            let other: Option<String> = statement.query_row([id], |row| row.get(0)).optional()?;
            shared = shared.max(other.map_or(0, |other| shared_prefix(id, &other)));
        }
        Ok(id.chars().take(shared + 1).collect())
    }

    /// Lists the phases of the runs that pass the filter: newest run first, phases in their order.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn phases(&self, filter: &Filter) -> Result<Vec<PhaseRow>, StoreError> {
        self.select_phases(filter)
            .map_err(self.failed("list the phases"))
    }

    fn select_phases(&self, filter: &Filter) -> rusqlite::Result<Vec<PhaseRow>> {
        let (wanted, parameters) = conditions(filter);
        let limit = filter.limit.map_or(-1, i64::from);
        let sql = format!(
            "SELECT r.id, p.idx, p.name, p.op, p.ios, p.bytes, p.runtime_ns
             FROM (SELECT id, started_unix_ms FROM run WHERE {wanted} ORDER BY started_unix_ms DESC, id DESC LIMIT {limit}) r
             JOIN phase p ON p.run = r.id ORDER BY r.started_unix_ms DESC, r.id DESC, p.idx, p.op"
        );
        let mut statement = self.connection.prepare(&sql)?;
        statement
            .query_map(rusqlite::params_from_iter(parameters), phase_row)?
            .collect()
    }
}

fn shared_prefix(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Columns are counts that were clamped on their way in, so they are never negative; a damaged one reads as 0.
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
