//! Looks up whole records by ID or unique ID prefix.

mod error;

pub use error::FindError;

use crate::pack::{self, BODY};
use crate::{Store, StoreError};
use hakaru_model::record::RunRecord;
use rusqlite::{OptionalExtension, params};

/// Maximum number of candidates in an error message.
const SHOWN: usize = 10;

/// Records, and those that could not be read.
#[derive(Debug, Default)]
pub struct Readable<T> {
    /// The readable records.
    pub records: Vec<T>,
    /// IDs and errors of the unreadable records.
    pub unreadable: Vec<(String, FindError)>,
}

impl<T> Readable<T> {
    /// Separates readable records from unreadable ones.
    ///
    /// # Errors
    /// The first error that affects more than one record.
    pub fn collect(
        found: impl IntoIterator<Item = (String, Result<T, FindError>)>,
    ) -> Result<Readable<T>, FindError> {
        let (mut records, mut unreadable) = (Vec::new(), Vec::new());
        for (id, one) in found {
            match one {
                Ok(record) => records.push(record),
                Err(error) if error.is_unreadable() => unreadable.push((id, error)),
                Err(error) => return Err(error),
            }
        }
        Ok(Readable {
            records,
            unreadable,
        })
    }
}

/// The column that is searched for an ID.
#[derive(Clone, Copy)]
enum Key {
    Run,
    Series,
}

impl Key {
    fn column(self) -> &'static str {
        match self {
            Key::Run => "id",
            Key::Series => "series",
        }
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Key::Run => ("run", "runs"),
            Key::Series => ("series", "series"),
        }
    }
}

impl Store {
    /// Returns the run with this ID or unique ID prefix.
    ///
    /// # Errors
    /// [`FindError`]: no match, several matches, or an unreadable record.
    pub fn run(&self, id_or_prefix: &str) -> Result<RunRecord, FindError> {
        let id = self
            .resolve(Key::Run, id_or_prefix)?
            .ok_or_else(|| self.not_found("run", id_or_prefix))?;
        let body = self.body(&id).map_err(self.failed("read a run"))?;
        self.labelled(&id, &body)
    }

    /// Returns the runs of a series in order, by the ID or unique prefix of the series or of one of
    /// its runs.
    ///
    /// # Errors
    /// [`FindError`]: no match, several matches, or an unreadable record.
    pub fn series(&self, id_or_prefix: &str) -> Result<Vec<RunRecord>, FindError> {
        let Readable {
            records,
            unreadable,
        } = self.readable_series(id_or_prefix)?;
        unreadable
            .into_iter()
            .next()
            .map_or(Ok(records), |(_, error)| Err(error))
    }

    /// Like [`Store::series`], but with unreadable records listed separately.
    ///
    /// # Errors
    /// [`FindError`]: no match or several matches.
    pub fn readable_series(&self, id_or_prefix: &str) -> Result<Readable<RunRecord>, FindError> {
        let series = match self.resolve(Key::Series, id_or_prefix)? {
            Some(series) => series,
            None => match self.resolve(Key::Run, id_or_prefix)? {
                Some(run) => self.series_of(&run).map_err(self.failed("read a series"))?,
                None => return Err(self.not_found("series", id_or_prefix)),
            },
        };
        let bodies = self.bodies(&series).map_err(self.failed("read a series"))?;
        Readable::collect(bodies.into_iter().map(|(id, body)| {
            let parsed = self.labelled(&id, &body);
            (id, parsed)
        }))
    }

    /// Returns the series ID of a run, given its ID or unique prefix, without reading its record.
    ///
    /// # Errors
    /// [`FindError`]: no match or several matches.
    pub fn series_id(&self, id_or_prefix: &str) -> Result<String, FindError> {
        let id = self
            .resolve(Key::Run, id_or_prefix)?
            .ok_or_else(|| self.not_found("run", id_or_prefix))?;
        Ok(self.series_of(&id).map_err(self.failed("read a series"))?)
    }

    /// Returns the IDs of records that are missing in the derived tables because they were
    /// unreadable.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn unlisted(&self) -> Result<Vec<String>, StoreError> {
        let select = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT id FROM record WHERE seq NOT IN (SELECT seq FROM run) ORDER BY seq";
            self.connection
                .prepare_cached(sql)?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        select().map_err(self.failed("list the records"))
    }

    /// Returns the run that started last; `None` if the database is empty.
    ///
    /// # Errors
    /// [`FindError`] if it cannot be read.
    pub fn latest(&self) -> Result<Option<RunRecord>, FindError> {
        let sql = "SELECT id FROM run ORDER BY started_unix_ms DESC, id DESC LIMIT 1";
        let id: Option<String> = self
            .connection
            .query_row(sql, [], |row| row.get(0))
            .optional()
            .map_err(self.failed("find the latest run"))?;
        let Some(id) = id else { return Ok(None) };
        let body = self.body(&id).map_err(self.failed("read a run"))?;
        self.labelled(&id, &body).map(Some)
    }

    /// Returns the number of runs.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn count(&self) -> Result<u64, StoreError> {
        let counted = self
            .connection
            .query_row(&select_count("run"), [], |row| row.get::<_, i64>(0));
        counted
            .map(|n| u64::try_from(n).unwrap_or(0))
            .map_err(self.failed("count the runs"))
    }

    fn not_found(&self, what: &'static str, prefix: &str) -> FindError {
        FindError::NotFound {
            what,
            prefix: prefix.to_owned(),
            path: self.path().to_owned(),
        }
    }

    /// Returns the full ID for a prefix; `None` if nothing matches. An exact ID wins over longer
    /// ones.
    fn resolve(&self, key: Key, prefix: &str) -> Result<Option<String>, FindError> {
        if prefix.is_empty() {
            return Ok(None);
        }
        let found = self
            .beginning_with(key, prefix)
            .map_err(self.failed("look for a run"))?;
        match found.as_slice() {
            [] => Ok(None),
            [(id, _)] => Ok(Some(id.clone())),
            [(id, _), ..] if id == prefix => Ok(Some(id.clone())),
            many => Err(FindError::Ambiguous {
                what: key.words().1,
                prefix: prefix.to_owned(),
                count: many.len() as u64,
                candidates: many
                    .iter()
                    .take(SHOWN)
                    .map(|(_, line)| line.clone())
                    .collect(),
            }),
        }
    }

    /// Returns matching IDs in ascending order, each with a line that describes the run.
    fn beginning_with(&self, key: Key, prefix: &str) -> rusqlite::Result<Vec<(String, String)>> {
        let column = key.column();
        // IDs are ASCII: everything that starts with the prefix sorts below the prefix followed by
        // this character.
        let end = format!("{prefix}\u{10FFFF}");
        let sql = format!(
            "SELECT {column}, min(scenario), min(target) FROM run WHERE {column} >= ?1 AND {column} < ?2
             GROUP BY {column} ORDER BY {column}"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params![prefix, end], |row| {
            let (id, scenario, target): (String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            let line = format!("{id}  {scenario}, {target}");
            Ok((id, line))
        })?;
        rows.collect()
    }

    pub(crate) fn body(&self, id: &str) -> rusqlite::Result<String> {
        self.connection
            .prepare_cached(&format!("SELECT {BODY} FROM record WHERE id = ?1"))?
            .query_row([id], |row| pack::body(row, 0))
    }

    fn series_of(&self, run: &str) -> rusqlite::Result<String> {
        self.connection
            .query_row("SELECT series FROM run WHERE id = ?1", [run], |row| {
                row.get(0)
            })
    }

    /// Returns record bodies with their IDs.
    fn bodies(&self, series: &str) -> rusqlite::Result<Vec<(String, String)>> {
        let sql = format!(
            "SELECT {BODY}, run.id FROM run JOIN record ON record.seq = run.seq
             WHERE series = ?1 ORDER BY repeat, started_unix_ms, run.id"
        );
        self.connection
            .prepare_cached(&sql)?
            .query_map([series], |row| Ok((row.get(3)?, pack::body(row, 0)?)))?
            .collect()
    }
}

/// Returns SQL for the number of rows of a table. SQLite counts them itself for `count(*)`, which no limit can end.
pub(crate) fn select_count(table: &str) -> String {
    format!("SELECT coalesce(sum(1), 0) FROM {table}")
}

/// Returns a stored body as text. A damaged body of another type becomes an empty text, not a
/// database error.
pub(crate) fn text(value: rusqlite::types::ValueRef<'_>) -> String {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => String::new(),
    }
}
