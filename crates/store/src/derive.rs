//! Derived tables: rows computed from records for lists and filters, and their rebuild.

use crate::fingerprint::fingerprint;
use crate::pack::{self, BODY};
use crate::{FindError, Store, annotations, import};
use hakaru_model::facts::{Fact, Filesystem};
use hakaru_model::job::Op;
use hakaru_model::record::{Origin, Outcome, PhaseRecord, RunRecord};
use rusqlite::{Connection, TransactionBehavior, params};

/// Saturates at the largest value of a column; only damaged imports exceed it.
fn column(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Totals of one operation of a phase over all workers.
struct Totals {
    ios: u64,
    bytes: u64,
    runtime_ns: u64,
}

fn totals(phase: &PhaseRecord, op: Op) -> Option<Totals> {
    let mut totals = Totals {
        ios: 0,
        bytes: 0,
        runtime_ns: 0,
    };
    let active =
        |w: &&hakaru_model::record::WorkerRecord| w.ops[op].ios > 0 || w.ops[op].issued > 0;
    for worker in phase.workers.iter().filter(active) {
        totals.ios = totals.ios.saturating_add(worker.ops[op].ios);
        totals.bytes = totals.bytes.saturating_add(worker.ops[op].bytes);
        totals.runtime_ns = totals.runtime_ns.max(worker.runtime.0);
    }
    phase.workers.iter().any(|w| active(&w)).then_some(totals)
}

pub(crate) fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Interrupted => "interrupted",
        Outcome::Failed { .. } => "failed",
    }
}

/// Returns the name of the program that measured the record, and whether it was imported.
fn origin_words(origin: &Origin) -> (String, bool) {
    match origin {
        Origin::Measured { version } => (format!("hakaru {version}"), false),
        Origin::Imported { program, .. } => (program.clone(), true),
    }
}

/// Inserts the derived rows of one record.
pub(crate) fn insert(
    connection: &Connection,
    seq: i64,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    let mut rows: Vec<PhaseTotals<'_>> = Vec::new();
    for (idx, phase) in record.phases.iter().enumerate() {
        let ops = Op::ALL.into_iter();
        rows.extend(ops.filter_map(|op| Some((idx, phase, op, totals(phase, op)?))));
    }
    insert_run(connection, seq, record, &rows)?;
    let mut phase = connection.prepare_cached(
        "INSERT INTO phase (run, idx, op, name, ios, bytes, runtime_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (idx, of, op, t) in &rows {
        phase.execute(params![
            seq,
            *idx as i64,
            op.name(),
            of.name,
            column(t.ios),
            column(t.bytes),
            column(t.runtime_ns),
        ])?;
    }
    insert_point(connection, seq, record)
}

/// Index of a phase, the phase, and its totals of one operation.
type PhaseTotals<'a> = (usize, &'a PhaseRecord, Op, Totals);

const INSERT_RUN: &str = "INSERT INTO run (seq, id, series, repeat, started_unix_ms, scenario, target, origin, imported, outcome,
                          format, phases, ios, bytes, errors, caveats, layer, traced, fingerprint, labelled, host,
                          model, serial, filesystem)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                 ?23, ?24)";

/// Returns the layer of a record: that of its campaign, its file system, or `raw`; empty if unknown.
fn layer(record: &RunRecord) -> String {
    if let Some(point) = &record.campaign {
        return point.layer.clone();
    }
    let layer = record.target.layer();
    let named = layer.filter(|layer| *layer != Filesystem::UNNAMED);
    named.unwrap_or_default().to_owned()
}

/// Inserts the row of a run, with the sums of its phases.
fn insert_run(
    connection: &Connection,
    seq: i64,
    record: &RunRecord,
    rows: &[PhaseTotals<'_>],
) -> rusqlite::Result<()> {
    let sum = |counts: &mut dyn Iterator<Item = u64>| column(counts.fold(0, u64::saturating_add));
    let workers = record.phases.iter().flat_map(|phase| &phase.workers);
    let (origin, imported) = origin_words(&record.origin);
    let label = annotations::current(connection, &record.series)?.label;
    let features = RunFeatures::of(record, label.is_some());
    let target = label.unwrap_or_else(|| record.target.display_name());
    let mut run = connection.prepare_cached(INSERT_RUN)?;
    run.execute(params![
        seq,
        record.id,
        record.series,
        record.repeat,
        record.started_common_ms(),
        record.scenario.name,
        target,
        origin,
        imported,
        outcome_name(&record.outcome),
        record.format,
        record.phases.len() as i64,
        sum(&mut rows.iter().map(|row| row.3.ios)),
        sum(&mut rows.iter().map(|row| row.3.bytes)),
        sum(&mut workers.map(|worker| worker.errors.total)),
        record.caveats.len() as i64,
        features.layer,
        features.traced,
        features.fingerprint,
        features.labelled,
        features.host,
        features.model,
        features.serial,
        features.filesystem,
    ])?;
    let newest = "INSERT INTO series (id, last, target) VALUES (?1, ?2, ?3) ON CONFLICT (id)
                  DO UPDATE SET last = excluded.last, target = excluded.target WHERE excluded.last > last";
    connection
        .prepare_cached(newest)?
        .execute(params![record.series, seq, target])?;
    Ok(())
}

/// Computes the row of a series again, after its runs were renamed or removed.
pub(crate) fn list_series(connection: &Connection, series: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM series WHERE id = ?1")?
        .execute([series])?;
    // A bare column is that of the row with the maximum.
    let newest = "INSERT INTO series (id, last, target)
                  SELECT series, max(seq), target FROM run WHERE series = ?1 GROUP BY series";
    connection.prepare_cached(newest)?.execute([series])?;
    Ok(())
}

/// Columns of `run` by which runs are selected and found again; older schemas lack them.
struct RunFeatures<'a> {
    layer: String,
    traced: bool,
    fingerprint: i64,
    /// Whether the target name is a label.
    labelled: bool,
    host: &'a str,
    model: &'a str,
    serial: &'a str,
    /// The layer of the target where that of a campaign differs.
    filesystem: &'a str,
}

impl<'a> RunFeatures<'a> {
    /// `labelled_later` is whether the series has a label beside the record.
    fn of(record: &'a RunRecord, labelled_later: bool) -> RunFeatures<'a> {
        let target = &record.target;
        let device = target.device.known();
        let text = |of: Option<&'a Fact<String>>| of.and_then(Fact::known).map(String::as_str);
        let layer = layer(record);
        let measured = target.layer().filter(|measured| *measured != layer);
        RunFeatures {
            traced: record.is_traced(),
            fingerprint: fingerprint(record),
            labelled: labelled_later || target.label.is_some(),
            host: &record.environment.hostname,
            model: text(device.map(|device| &device.model)).unwrap_or_default(),
            serial: text(device.map(|device| &device.serial)).unwrap_or_default(),
            filesystem: measured.unwrap_or_default(),
            layer,
        }
    }

    fn update(&self, connection: &Connection, seq: i64) -> rusqlite::Result<()> {
        let mut update = connection.prepare_cached(
            "UPDATE run SET layer = ?2, traced = ?3, fingerprint = ?4, labelled = ?5, host = ?6, model = ?7,
                            serial = ?8, filesystem = ?9 WHERE seq = ?1",
        )?;
        update.execute(params![
            seq,
            self.layer,
            self.traced,
            self.fingerprint,
            self.labelled,
            self.host,
            self.model,
            self.serial,
            self.filesystem,
        ])?;
        Ok(())
    }
}

/// Inserts the row of a run that belongs to a campaign point.
fn insert_point(connection: &Connection, seq: i64, record: &RunRecord) -> rusqlite::Result<()> {
    let Some(point) = &record.campaign else {
        return Ok(());
    };
    let mut row = connection.prepare_cached(
        "INSERT INTO point (run, campaign, host, card, label, layer, workload, repeat, definition)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    row.execute(params![
        seq,
        point.campaign,
        record.environment.hostname,
        point.card,
        record.target.label.as_deref().unwrap_or_default(),
        point.layer,
        point.workload,
        point.repeat,
        point.definition,
    ])?;
    Ok(())
}

impl Store {
    /// Rebuilds the derived tables from the records in one transaction; returns the number of
    /// records listed. Unreadable records are skipped, see [`Store::unlisted`].
    ///
    /// # Errors
    /// [`FindError`] if the database cannot be read or written; the tables are then unchanged.
    pub fn rebuild(&mut self) -> Result<u64, FindError> {
        const ACTION: &str = "rebuild the derived tables";
        let path = self.path().to_owned();
        let mut rebuilt = || -> rusqlite::Result<u64> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let count = refill(&transaction)?;
            transaction.commit()?;
            Ok(count)
        };
        rebuilt().map_err(|source| {
            FindError::Store(crate::StoreError {
                action: ACTION,
                path,
                source,
            })
        })
    }
}

fn refill(connection: &Connection) -> rusqlite::Result<u64> {
    connection.execute_batch(
        "DELETE FROM point; DELETE FROM phase; DELETE FROM series; DELETE FROM run;",
    )?;
    list(connection, "TRUE")
}

/// Inserts the derived rows of the records that match a condition; returns the number of readable ones.
fn list(connection: &Connection, condition: &str) -> rusqlite::Result<u64> {
    let mut records = connection.prepare(&format!(
        "SELECT {BODY}, seq FROM record WHERE {condition} ORDER BY seq"
    ))?;
    let mut rows = records.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let Ok(record) = import(&pack::body(row, 0)?) else {
            continue;
        };
        insert(connection, row.get(3)?, &record)?;
        count += 1;
    }
    Ok(count)
}

/// Number of records whose derived columns are computed in one transaction.
const BATCH: u32 = 200;

/// Lists records that an earlier version could not read.
pub(crate) fn list_missing(connection: &Connection) -> rusqlite::Result<()> {
    list(connection, "seq NOT IN (SELECT seq FROM run)").map(drop)
}

/// Whether a migration was interrupted before all derived columns were computed.
pub(crate) fn is_incomplete(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM run WHERE fingerprint IS NULL)";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Computes the derived columns that a migration left empty. Each batch is committed, so that an interrupted call
/// continues where it stopped.
pub(crate) fn complete(connection: &mut Connection) -> rusqlite::Result<()> {
    // Each row once: in a damaged index, a row can look incomplete for ever.
    let mut last = i64::MIN;
    while is_incomplete(connection)? {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let sql = format!(
            "SELECT seq FROM run WHERE fingerprint IS NULL AND seq > ?1 ORDER BY seq LIMIT {BATCH}"
        );
        let batch: Vec<i64> = transaction
            .prepare_cached(&sql)?
            .query_map([last], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let Some(end) = batch.last().filter(|end| **end > last) else {
            break;
        };
        last = *end;
        for seq in batch {
            let body = transaction
                .prepare_cached(&format!("SELECT {BODY} FROM record WHERE seq = ?1"))?
                .query_row([seq], |row| pack::body(row, 0))?;
            match import(&body) {
                Ok(record) => {
                    let label = annotations::current(&transaction, &record.series)?.label;
                    RunFeatures::of(&record, label.is_some()).update(&transaction, seq)?;
                }
                // A damaged record keeps its row, and is equal to none.
                Err(_) => {
                    transaction.execute(
                        "UPDATE run SET fingerprint = 0, labelled = 0, host = '', model = '', serial = '',
                                        filesystem = '' WHERE seq = ?1",
                        [seq],
                    )?;
                }
            }
        }
        transaction.commit()?;
    }
    Ok(())
}
