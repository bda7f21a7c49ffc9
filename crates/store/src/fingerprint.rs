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
    /// Lists the runs with this fingerprint, newest first.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn runs_like(&self, fingerprint: i64) -> Result<Vec<RunRow>, StoreError> {
        let rows = self.select_runs("fingerprint = ?", vec![fingerprint.into()], None);
        rows.map_err(self.failed("look for a run"))
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
