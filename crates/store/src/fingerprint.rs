//! Fingerprints of records: two records of one measurement have the same one.
//!
//! An import finds a stored copy of a result by it, in another format or from another source.

use crate::{RunRow, Store, StoreError};
use hakaru_model::hash::fnv1a;
use hakaru_model::job::Op;
use hakaru_model::record::{Origin, RunRecord, WorkerRecord};

/// Returns the fingerprint of a record.
///
/// If a record has latencies, it is of the number of I/Os of each operation, which every output of a measurement has.
/// Otherwise only an equal result can be of the same measurement, and the fingerprint is of its figures. It is never 0.
pub fn fingerprint(record: &RunRecord) -> i64 {
    let workers = || record.phases.iter().flat_map(|phase| &phase.workers);
    // Workers may be reported one by one or as a group, so only their sums are comparable.
    let sum = |of: &dyn Fn(&WorkerRecord) -> u64| workers().map(of).fold(0, u64::saturating_add);
    let is_timed = Op::ALL.into_iter().any(|op| {
        sum(&|worker| worker.ops[op].ios) > 0
            && (sum(&|worker| worker.ops[op].clat.stat.count) > 1
                || sum(&|worker| worker.ops[op].lat.stat.count) > 1)
    });
    let mut text = String::new();
    if is_timed {
        for op in Op::ALL {
            text += &format!("{},", sum(&|worker| worker.ops[op].ios));
        }
    } else {
        text += &format!("{:?}", record.scenario.name);
        for phase in &record.phases {
            text += &format!(";{:?}", phase.name);
            for worker in &phase.workers {
                let WorkerRecord { name, runtime, .. } = worker;
                text += &format!(",{name:?},{}", runtime.0);
                for op in Op::ALL {
                    let of = &worker.ops[op];
                    text += &format!(",{},{},{}", of.ios, of.bytes, of.bw_samples.sum);
                }
            }
        }
        if let Origin::Imported { reported, .. } = &record.origin {
            for worker in &reported.workers {
                let rates = Op::ALL.map(|op| {
                    let of = &worker.ops[op];
                    [&of.bytes_per_s, &of.iops].map(|rate| rate.as_ref().map(|rate| rate.mean))
                });
                text += &format!(";{rates:?}");
            }
        }
    }
    fnv1a(text.as_bytes()) as i64 | 1
}

impl Store {
    /// Lists the runs with this fingerprint, newest first: those that started within an inclusive range of times in
    /// milliseconds since 1970 UTC, and those of a scenario.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn runs_like(
        &self,
        fingerprint: i64,
        (from, until): (i64, i64),
        scenario: Option<&str>,
    ) -> Result<Vec<RunRow>, StoreError> {
        let rows = self.select_runs(
            "fingerprint = ?1 AND (started_unix_ms BETWEEN ?2 AND ?3 OR scenario = ?4)",
            vec![
                fingerprint.into(),
                from.into(),
                until.into(),
                scenario.map(str::to_owned).into(),
            ],
            "",
        );
        rows.map_err(self.failed("look for a run"))
    }

    /// Returns the position of the run that was stored last; see [`RunRow::stored`].
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn last_stored(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM run";
        let last = self.connection.query_row(sql, [], |row| row.get(0));
        last.map_err(self.failed("look for a run"))
    }

    /// Returns the first run of a series by its repeat number, and the number of its runs; `None` if it has none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn series_head(&self, series: &str) -> Result<Option<(RunRow, u64)>, StoreError> {
        let select = || -> rusqlite::Result<Option<(RunRow, u64)>> {
            let first = "SELECT seq FROM run WHERE series = ?1 ORDER BY repeat, seq LIMIT 1";
            let first = format!("seq = ({first})");
            let of = || vec![series.to_owned().into()];
            let first = self.select_runs(&first, of(), "")?.pop();
            let count = "SELECT count(*) FROM run WHERE series = ?1";
            let count: i64 = self
                .connection
                .query_row(count, [series], |row| row.get(0))?;
            Ok(first.map(|first| (first, count.unsigned_abs())))
        };
        select().map_err(self.failed("read a series"))
    }

    /// Whether a run with exactly this ID is listed.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn is_stored(&self, id: &str) -> Result<bool, StoreError> {
        let found = self
            .connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1)")
            .and_then(|mut statement| statement.query_row([id], |row| row.get(0)));
        found.map_err(self.failed("look for a run"))
    }

    /// Returns the series of imported runs of a target and scenario, last started first, each with the number that its
    /// next repeat gets.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn imported_series(
        &self,
        target: &str,
        scenario: &str,
    ) -> Result<Vec<(String, u32)>, StoreError> {
        let select = || -> rusqlite::Result<Vec<(String, u32)>> {
            let sql = "SELECT id, (SELECT max(repeat) FROM run AS other WHERE other.series = run.id AND imported) + 1
                 FROM run WHERE target = ?1 COLLATE NOCASE AND target = ?1 AND scenario = ?2 AND id = series AND imported
                 ORDER BY started_unix_ms DESC, id DESC";
            self.connection
                .prepare_cached(sql)?
                .query_map([target, scenario], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        select().map_err(self.failed("look for a series"))
    }
}
