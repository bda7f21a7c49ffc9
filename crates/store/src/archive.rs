//! Moves series to another database of the same form.
//!
//! Runs are removed only after the other database has stored the whole series durably, so each run of a series that is
//! moved when the program is killed is in one of the two databases or in both, and moving it again completes it.

use crate::pack::{self, BODY, PackedBody};
use crate::{AppendError, FindError, ImportError, RecordText, Store, StoreError, derive, import};
use hakaru_model::record::RunRecord;
use rusqlite::{Connection, TransactionBehavior, params};

/// Errors of [`Store::move_series`] and [`Store::merge`].
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A record cannot be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The other database cannot store a record.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// SQLite reports an error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A copy differs from its record.
    #[error("failed to move run {id}: its copy differs; nothing was removed")]
    Differs {
        /// The run.
        id: String,
    },
}

/// Number of records that are moved or compressed at a time: a series can have any number of runs.
const BATCH: usize = 200;

/// Triggers that prevent the removal of records, with their definitions.
const GUARDS: &str =
    "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'record'";

impl ArchiveError {
    /// Whether only this series cannot be moved.
    pub fn is_of_series(&self) -> bool {
        match self {
            ArchiveError::Find(error) => error.is_unreadable(),
            ArchiveError::Append(AppendError::Conflict { .. } | AppendError::BadId { .. })
            | ArchiveError::Differs { .. } => true,
            ArchiveError::Append(_) | ArchiveError::Store(_) => false,
        }
    }
}

impl Store {
    /// Returns the series whose last run started before a time in milliseconds since 1970 UTC, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn series_before(&self, until_unix_ms: i64) -> Result<Vec<String>, StoreError> {
        let select = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT series FROM run GROUP BY series HAVING max(started_unix_ms) < ?1
                 ORDER BY max(started_unix_ms), series";
            self.connection
                .prepare(sql)?
                .query_map([until_unix_ms], |row| row.get(0))?
                .collect()
        };
        select().map_err(self.failed("list the series"))
    }

    /// Returns all series except the newest ones, oldest first. A series is as old as its last run.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn series_except_newest(&self, keep: usize) -> Result<Vec<String>, StoreError> {
        let mut all = self.series_before(i64::MAX)?;
        all.truncate(all.len().saturating_sub(keep));
        Ok(all)
    }

    /// Whether a resumed campaign needs a series: it has runs of a campaign whose definition is stored. The campaign
    /// counts what it has measured and written by its stored runs.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn is_of_campaign(&self, series: &str) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM run JOIN point ON point.run = run.seq
             JOIN campaign ON campaign.id = point.campaign WHERE series = ?1)";
        let found = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([series], |row| row.get(0)));
        found.map_err(self.failed("read a series"))
    }

    /// Copies the definitions of campaigns and the prices of cards to another database, where they replace earlier ones.
    ///
    /// # Errors
    /// [`StoreError`] when one of the databases cannot be read or written.
    pub fn copy_definitions(&self, to: &mut Store) -> Result<(), StoreError> {
        for (from, into) in [
            (
                "SELECT id, asked FROM campaign",
                "INSERT INTO campaign (id, asked) VALUES (?1, ?2)
                 ON CONFLICT (id) DO UPDATE SET asked = excluded.asked",
            ),
            (
                "SELECT card, price FROM price",
                "INSERT INTO price (card, price) VALUES (?1, ?2)
                 ON CONFLICT (card) DO UPDATE SET price = excluded.price",
            ),
        ] {
            let select = || -> rusqlite::Result<Vec<(String, String)>> {
                let mut statement = self.connection.prepare(from)?;
                let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                rows.collect()
            };
            for row in select().map_err(self.failed("read the definitions"))? {
                let copied = to.connection.execute(into, row);
                copied.map_err(to.failed("copy the definitions"))?;
            }
        }
        Ok(())
    }

    /// Reads all runs of a series, one at a time; returns their number.
    ///
    /// # Errors
    /// [`ArchiveError`] of the first record that cannot be read, and for which [`Store::move_series`] would move nothing.
    pub fn check_series(&self, series: &str) -> Result<u64, ArchiveError> {
        Ok(self.readable_ids(series)?.len() as u64)
    }

    fn readable_ids(&self, series: &str) -> Result<Vec<String>, ArchiveError> {
        let ids = self.run_ids(series).map_err(self.failed("read a series"))?;
        for id in &ids {
            self.run_text(id)?;
        }
        Ok(ids)
    }

    /// Moves a series with its labels, title and note; returns the number of its runs. The annotations stay here too.
    /// A record is copied as it is written, so that fields of a later version are kept.
    ///
    /// # Errors
    /// [`ArchiveError`]; the series is then still here.
    pub fn move_series(&mut self, series: &str, to: &mut Store) -> Result<u64, ArchiveError> {
        // All are read before one is copied: a series with a record that cannot be read stays whole.
        let ids = self.readable_ids(series)?;
        to.annotate(&self.annotation_history(series)?)?;
        for ids in ids.chunks(BATCH) {
            self.copy_runs(ids, to)?;
        }
        for ids in ids.chunks(BATCH) {
            self.remove(series, ids)
                .map_err(self.failed("remove moved runs"))?;
        }
        self.settle();
        Ok(ids.len() as u64)
    }

    /// Copies runs to another database, and compares the copies.
    fn copy_runs(&self, ids: &[String], to: &mut Store) -> Result<(), ArchiveError> {
        let texts = ids.iter().map(|id| self.run_text(id));
        let texts = texts.collect::<Result<Vec<RecordText>, FindError>>()?;
        to.append_texts(&texts)?;
        for (id, text) in ids.iter().zip(&texts) {
            if !to.run_text(id)?.holds(text) {
                return Err(ArchiveError::Differs { id: id.clone() });
            }
        }
        Ok(())
    }

    /// Returns a run as it is written in the database, given its full ID.
    ///
    /// # Errors
    /// [`FindError`]: no match, or an unreadable record.
    pub fn run_text(&self, id: &str) -> Result<RecordText, FindError> {
        let body = self.body(id).map_err(self.failed("read a run"))?;
        Ok(pack::parse_text(id, body)?)
    }

    fn run_ids(&self, series: &str) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT id FROM run WHERE series = ?1 ORDER BY repeat, id";
        self.connection
            .prepare_cached(sql)?
            .query_map([series], |row| row.get(0))?
            .collect()
    }

    /// Removes runs of a series in one transaction, in which the triggers that prevent it are absent.
    fn remove(&mut self, series: &str, ids: &[String]) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        without_guards(&transaction, |connection| {
            for id in ids {
                for table in ["point", "phase"] {
                    let sql = format!(
                        "DELETE FROM {table} WHERE run = (SELECT seq FROM run WHERE id = ?1)"
                    );
                    connection.prepare_cached(&sql)?.execute([id])?;
                }
                for table in ["run", "record"] {
                    let sql = format!("DELETE FROM {table} WHERE id = ?1");
                    connection.prepare_cached(&sql)?.execute([id])?;
                }
            }
            derive::list_series(connection, series)
        })?;
        transaction.commit()
    }

    /// Compresses the records that earlier versions stored as text, removes scenarios without a record, and returns
    /// free space to the file system.
    ///
    /// # Errors
    /// [`StoreError`]; each record is then stored in one of the two forms.
    pub fn compact(&mut self) -> Result<(), StoreError> {
        let path = self.path().to_owned();
        let mut compacted = || -> rusqlite::Result<()> {
            let mut last = 0;
            while let Some(seq) = self.compress_after(last)? {
                last = seq;
                self.work.renew();
            }
            self.connection.execute(
                "DELETE FROM scenario
                 WHERE hash NOT IN (SELECT scenario FROM record WHERE scenario IS NOT NULL)",
                [],
            )?;
            self.work.renew();
            self.connection.execute_batch("VACUUM")
        };
        compacted().map_err(|source| StoreError {
            action: "compress the records",
            path,
            source,
        })?;
        self.settle();
        Ok(())
    }

    /// Compresses some records after one in one transaction; returns the last of them.
    fn compress_after(&mut self, last: i64) -> rusqlite::Result<Option<i64>> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let sql = "SELECT seq FROM record WHERE seq > ?1 AND packed IS NULL ORDER BY seq LIMIT ?2";
        let batch: Vec<i64> = transaction
            .prepare(sql)?
            .query_map([last, BATCH as i64], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        without_guards(&transaction, |connection| {
            batch.iter().try_for_each(|seq| compress(connection, *seq))
        })?;
        transaction.commit()?;
        // In a damaged table, the same rows could follow each other for ever.
        Ok(batch.last().copied().filter(|end| *end > last))
    }
}

/// Compresses a record. The text of a damaged one stays.
fn compress(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    let sql = format!("SELECT {BODY} FROM record WHERE seq = ?1");
    let stored = connection
        .prepare_cached(&sql)?
        .query_row([seq], |row| pack::body(row, 0))?;
    let parsed: Result<RunRecord, ImportError> = import(&stored);
    let Ok(record) = parsed else {
        return Ok(());
    };
    let Some(PackedBody { scenario, packed }) = pack::pack(connection, &record, &stored)? else {
        return Ok(());
    };
    connection
        .prepare_cached("UPDATE record SET body = '', scenario = ?2, packed = ?3 WHERE seq = ?1")?
        .execute(params![seq, scenario, packed])?;
    let unpacked = connection
        .prepare_cached(&sql)?
        .query_row([seq], |row| pack::body(row, 0))?;
    match unpacked == stored {
        true => Ok(()),
        // The transaction is rolled back.
        false => Err(rusqlite::Error::InvalidColumnType(
            0,
            format!("record {seq} after compression"),
            rusqlite::types::Type::Blob,
        )),
    }
}

/// Calls a function within a transaction while the triggers that protect records are absent.
fn without_guards(
    connection: &Connection,
    change: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let guards: Vec<(String, String)> = connection
        .prepare(GUARDS)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (name, _) in &guards {
        connection.execute_batch(&format!("DROP TRIGGER {name}"))?;
    }
    change(connection)?;
    for (_, sql) in &guards {
        connection.execute_batch(sql)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a series was moved in one operation, so that a database refused one with very many runs.
    #[test]
    fn a_series_of_any_length_is_moved() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path().join("x.db")).unwrap();
        let fixture = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../testdata/store/record-format-1.jsonl"
        );
        let text = std::fs::read_to_string(fixture).unwrap();
        let first = import(text.lines().next().unwrap()).unwrap();
        let runs: u32 = 1_000;
        let all = (0..runs).map(|repeat| RunRecord {
            id: format!("{}-{repeat}", first.id),
            repeat,
            ..first.clone()
        });
        store.append_all(&all.collect::<Vec<_>>()).unwrap();
        let mut archive = Store::open(dir.path().join("archive.db")).unwrap();
        // Enough for a few hundred runs.
        store.work.set_most(20);
        archive.work.set_most(20);
        let moved = store.move_series(&first.series, &mut archive);
        assert_eq!(moved.unwrap(), u64::from(runs));
        assert!(store.is_empty().unwrap());
        assert_eq!(archive.count().unwrap(), u64::from(runs));
    }
}
