//! Selects runs by their properties, without reading records.

use crate::{Store, StoreError};
use rusqlite::types::Value;
use rusqlite::{ffi, params_from_iter};

/// A property that selects runs. Texts are compared in any case of ASCII letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunTerm {
    /// The series ID starts with this text.
    Series(String),
    /// The label, or one of the other labels, of which these series are.
    Label {
        /// The label.
        name: String,
        /// Series with this label beside their records.
        series: Vec<String>,
    },
    /// The target name, the card of a campaign, or the model or serial number of the device.
    Card {
        /// The name.
        name: String,
        /// Series with this label beside their records.
        series: Vec<String>,
    },
    /// The file system, `raw`, or the layer of a campaign.
    Layer(String),
    /// The host.
    Host(String),
    /// The start time in milliseconds since 1970 UTC: inclusive start, exclusive end.
    Started {
        /// Inclusive start.
        from: Option<i64>,
        /// Exclusive end.
        until: Option<i64>,
    },
    /// The campaign.
    Campaign(String),
    /// The scenario, one of its phases, or the workload of a campaign.
    Workload(String),
}

impl RunTerm {
    /// The condition on a row of `run`; appends its parameters.
    fn condition(&self, parameters: &mut Vec<Value>) -> String {
        let mut text = |text: &str| {
            parameters.push(Value::Text(text.to_owned()));
            format!("?{}", parameters.len())
        };
        match self {
            RunTerm::Series(prefix) => {
                let (from, until) = (text(prefix), text(&format!("{prefix}\u{10FFFF}")));
                format!("series >= {from} AND series < {until}")
            }
            RunTerm::Label { name, series } => {
                let name = text(name);
                let of: Vec<String> = series.iter().map(|id| text(id)).collect();
                let of = of.join(", ");
                format!(
                    "seq IN (SELECT seq FROM run WHERE target = {name} COLLATE NOCASE AND labelled
                             UNION SELECT seq FROM run WHERE series IN ({of}))"
                )
            }
            RunTerm::Card { name, series } => {
                let name = text(name);
                let of: Vec<String> = series.iter().map(|id| text(id)).collect();
                let of = of.join(", ");
                // One query per index: the planner cannot know that each finds few of all runs.
                format!(
                    "seq IN (SELECT seq FROM run WHERE target = {name} COLLATE NOCASE
                             UNION SELECT seq FROM run WHERE series IN ({of})
                             UNION SELECT seq FROM run WHERE model <> '' AND model = {name} COLLATE NOCASE
                             UNION SELECT seq FROM run WHERE serial <> '' AND serial = {name} COLLATE NOCASE
                             UNION SELECT run FROM point WHERE card = {name} COLLATE NOCASE)"
                )
            }
            RunTerm::Layer(name) => {
                let name = text(name);
                format!(
                    "layer <> '' AND layer = {name} COLLATE NOCASE
                     OR filesystem <> '' AND filesystem = {name} COLLATE NOCASE"
                )
            }
            RunTerm::Host(name) => format!("host = {} COLLATE NOCASE", text(name)),
            RunTerm::Started { from, until } => {
                let bounds = [("started_unix_ms >=", from), ("started_unix_ms <", until)];
                let bounds = bounds.into_iter().filter_map(|(compared, bound)| {
                    let bound = (*bound)?;
                    Some(format!("{compared} {bound}"))
                });
                let bounds: Vec<String> =
                    std::iter::once("TRUE".to_owned()).chain(bounds).collect();
                bounds.join(" AND ")
            }
            RunTerm::Campaign(name) => {
                let name = text(name);
                format!("seq IN (SELECT run FROM point WHERE campaign = {name} COLLATE NOCASE)")
            }
            RunTerm::Workload(name) => {
                let name = text(name);
                format!(
                    "scenario = {name} COLLATE NOCASE
                     OR EXISTS (SELECT 1 FROM phase WHERE run = seq AND name = {name} COLLATE NOCASE)
                     OR seq IN (SELECT run FROM point WHERE workload = {name} COLLATE NOCASE)"
                )
            }
        }
    }

    /// SQL for the value of a run that a user would type for this kind of term.
    fn value(&self) -> &'static str {
        match self {
            RunTerm::Series(_) => "substr(series, 1, 8)",
            RunTerm::Label { .. } => "iif(labelled, target, '')",
            RunTerm::Card { .. } => "target",
            RunTerm::Layer(_) => "iif(layer <> '', layer, filesystem)",
            RunTerm::Host(_) => "host",
            RunTerm::Started { .. } => "strftime('%Y-%m-%d', started_unix_ms / 1000, 'unixepoch')",
            RunTerm::Campaign(_) => "(SELECT campaign FROM point WHERE run = seq)",
            RunTerm::Workload(_) => {
                "coalesce((SELECT name FROM phase WHERE run = seq ORDER BY idx LIMIT 1),
                          (SELECT workload FROM point WHERE run = seq), scenario)"
            }
        }
    }
}

/// The condition that at least one term of each group holds, for completed runs, with its parameters.
fn conditions(groups: &[Vec<RunTerm>]) -> (String, Vec<Value>) {
    let mut parameters = Vec::new();
    let mut all = vec!["outcome = 'completed'".to_owned()];
    for group in groups {
        let terms: Vec<String> = group
            .iter()
            .map(|term| format!("({})", term.condition(&mut parameters)))
            .collect();
        all.push(format!("({})", terms.join(" OR ")));
    }
    (all.join(" AND "), parameters)
}

impl Store {
    /// Returns the IDs of the completed runs for which at least one term of each group holds, first started first.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn runs_with(&self, groups: &[Vec<RunTerm>]) -> Result<Vec<String>, StoreError> {
        let (wanted, parameters) = conditions(groups);
        let sql = format!("SELECT id FROM run WHERE {wanted} ORDER BY started_unix_ms, id");
        self.texts(&sql, parameters)
    }

    /// Whether [`Store::runs_with`] finds any run.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn has_runs_with(&self, groups: &[Vec<RunTerm>]) -> Result<bool, StoreError> {
        let (wanted, parameters) = conditions(groups);
        let sql = format!("SELECT id FROM run WHERE {wanted} LIMIT 1");
        Ok(!self.texts(&sql, parameters)?.is_empty())
    }

    /// Returns up to `limit` different values that the runs of [`Store::runs_with`] have for a kind of term, in order.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn values_of(
        &self,
        kind: &RunTerm,
        groups: &[Vec<RunTerm>],
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let (wanted, parameters) = conditions(groups);
        let value = kind.value();
        let sql = format!(
            "SELECT DISTINCT value FROM (SELECT {value} AS value FROM run WHERE {wanted})
             WHERE value <> '' ORDER BY value LIMIT {limit}"
        );
        self.texts(&sql, parameters)
    }

    /// Returns up to `limit` runs after one, first started first: start times with IDs.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn runs_after(
        &self,
        last: Option<&(i64, String)>,
        limit: u32,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let select = || -> rusqlite::Result<Vec<(i64, String)>> {
            let sql = "SELECT started_unix_ms, id FROM run WHERE (started_unix_ms, id) > (?1, ?2)
                 ORDER BY started_unix_ms, id LIMIT ?3";
            let (started, id) = last.map_or((i64::MIN, ""), |(started, id)| (*started, id));
            let runs: Vec<(i64, String)> = self
                .connection
                .prepare_cached(sql)?
                .query_map((started, id, limit), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            // In a damaged index, the same runs could follow each other for ever.
            let mut before = last;
            for run in &runs {
                if before.is_some_and(|before| before >= run) {
                    return Err(damaged());
                }
                before = Some(run);
            }
            Ok(runs)
        };
        select().map_err(self.failed("list the runs"))
    }

    pub(crate) fn texts(
        &self,
        sql: &str,
        parameters: Vec<Value>,
    ) -> Result<Vec<String>, StoreError> {
        let select = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map(params_from_iter(parameters), |row| row.get(0))?;
            rows.collect()
        };
        select().map_err(self.failed("select runs"))
    }
}

/// The error of SQLite for a damaged database.
fn damaged() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Store {
        /// The steps of SQLite for a query.
        pub(crate) fn plan(&self, sql: &str, parameters: Vec<Value>) -> Vec<String> {
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let mut statement = self.connection.prepare(&sql).unwrap();
            let steps = statement.query_map(params_from_iter(parameters), |row| row.get(3));
            steps.unwrap().map(Result::unwrap).collect()
        }
    }

    /// Regression: of a million runs, all were read to compare two cards.
    #[test]
    fn terms_that_find_few_runs_read_no_others() {
        let store = Store::empty("none.db").unwrap();
        let name = || "a".to_owned();
        let card = RunTerm::Card {
            name: name(),
            series: vec![name(), name()],
        };
        let label = RunTerm::Label {
            name: name(),
            series: vec![name()],
        };
        let days = RunTerm::Started {
            from: Some(1),
            until: Some(2),
        };
        let host = RunTerm::Host(name());
        for groups in [
            vec![vec![card.clone()]],
            vec![vec![card.clone(), card.clone()]],
            vec![vec![card.clone()], vec![RunTerm::Layer(name())]],
            vec![vec![card], vec![RunTerm::Workload(name())]],
            vec![vec![label]],
            vec![vec![host.clone()]],
            vec![vec![host], vec![days.clone()]],
            vec![vec![days]],
            vec![vec![RunTerm::Series(name())]],
            vec![vec![RunTerm::Campaign(name())]],
        ] {
            let (wanted, parameters) = conditions(&groups);
            for order in ["ORDER BY started_unix_ms, id", "LIMIT 1"] {
                let sql = format!("SELECT id FROM run WHERE {wanted} {order}");
                let plan = store.plan(&sql, parameters.clone());
                let reads_all = |step: &String| step.starts_with("SCAN run");
                assert!(!plan.iter().any(reads_all), "{groups:?}: {plan:#?}");
            }
        }
    }
}
