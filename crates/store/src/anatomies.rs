//! Stores anatomies of cards: each state until the last experiment has ended, then the complete record.

use crate::append::{Appended, check_id};
use crate::find::text;
use crate::{AppendError, ExportError, FindError, Readable, Store, StoreError};
use hakaru_model::anatomy_record::{AnatomyRecord, AnatomyScope, FORMAT};
use hakaru_model::facts::Fact;
use rusqlite::{OptionalExtension, params};
use serde::de::{Error as _, IgnoredAny};
use std::path::PathBuf;

/// The fields of an anatomy of any version.
#[derive(serde::Deserialize)]
struct AnatomyHead {
    format: u32,
}

/// The fields that distinguish an anatomy from other records.
#[derive(serde::Deserialize)]
struct AnatomyMarker {
    #[serde(rename = "anatomy")]
    _anatomy: IgnoredAny,
    #[serde(rename = "budget")]
    _budget: IgnoredAny,
    id: String,
}

/// Serializes an anatomy as one line of JSON, without a trailing newline. Invalid bytes in paths are replaced by U+FFFD.
///
/// # Errors
/// [`ExportError`] when a value has no JSON form.
pub fn export_anatomy(record: &AnatomyRecord) -> Result<String, ExportError> {
    if let Ok(text) = serde_json::to_string(record) {
        return Ok(text);
    }
    let mut printable = record.clone();
    let target = &mut printable.target;
    let mut paths = vec![&mut target.path];
    paths.extend(target.filesystem.as_mut().map(|fs| &mut fs.mount_point));
    if let Fact::Known(device) = &mut target.device {
        paths.push(&mut device.node);
    }
    if let AnatomyScope::File { folder } = &mut printable.scope {
        paths.push(folder);
    }
    for path in paths {
        *path = PathBuf::from(path.to_string_lossy().into_owned());
    }
    serde_json::to_string(&printable).map_err(|source| ExportError {
        id: record.id.clone(),
        source,
    })
}

/// Parses a line of JSON as an anatomy; `None` if it is something else, such as a run record.
///
/// # Errors
/// [`FindError`]: newer format, damaged, or with values that no device has.
pub fn import_anatomy(text: &str) -> Option<Result<AnatomyRecord, FindError>> {
    // Most lines are records of runs, which are not parsed for this.
    if !text.contains("\"anatomy\"") {
        return None;
    }
    let kind: AnatomyMarker = hakaru_model::json::from_str(text).ok()?;
    Some(parse(&kind.id, text))
}

pub(crate) fn parse(id: &str, body: &str) -> Result<AnatomyRecord, FindError> {
    let damaged = |source| FindError::Damaged {
        what: "anatomy",
        id: id.to_owned(),
        source,
    };
    let head: AnatomyHead = hakaru_model::json::from_str(body).map_err(damaged)?;
    if head.format > FORMAT {
        return Err(FindError::Newer {
            what: "anatomy",
            id: id.to_owned(),
            found: head.format,
            newest: FORMAT,
        });
    }
    let record: AnatomyRecord = hakaru_model::json::from_str(body).map_err(damaged)?;
    match record.check() {
        Ok(()) => Ok(record),
        Err(why) => Err(damaged(serde_json::Error::custom(why))),
    }
}

impl Store {
    /// Stores the state of an anatomy. When this returns, it survives a power cut. An incomplete state is replaced by a
    /// later one with the same ID.
    ///
    /// # Errors
    /// [`AppendError`]: a complete anatomy has this ID, or the database cannot be written; nothing is stored then.
    pub fn put_anatomy(&mut self, record: &AnatomyRecord) -> Result<(), AppendError> {
        check_id(&record.id)?;
        self.put_anatomy_text(record, &export_anatomy(record)?)?;
        self.settle();
        Ok(())
    }

    fn put_anatomy_text(&mut self, record: &AnatomyRecord, body: &str) -> Result<(), AppendError> {
        let id = &record.id;
        let stored = self.anatomy_state(id);
        let stored = stored.map_err(self.failed("look for an anatomy"))?;
        let sql = match stored {
            None => "INSERT INTO anatomy (id, format, completed, body) VALUES (?1, ?2, ?3, ?4)",
            Some(false) => {
                "UPDATE anatomy SET format = ?2, completed = ?3, body = ?4 WHERE id = ?1"
            }
            Some(true) => {
                return Err(AppendError::Conflict {
                    id: id.clone(),
                    path: self.path().to_owned(),
                });
            }
        };
        let values = params![id, record.format, record.completed, body];
        let stored = self.connection.execute(sql, values);
        stored.map_err(self.failed("store an anatomy"))?;
        Ok(())
    }

    /// Appends an anatomy, such as one of another database. When this returns, it survives a power cut. One that is equal
    /// to the stored one with its ID, or an earlier state of it, has no effect; a later state replaces it.
    ///
    /// # Errors
    /// [`AppendError`]; nothing is stored then.
    pub fn append_anatomy(&mut self, record: &AnatomyRecord) -> Result<Appended, AppendError> {
        check_id(&record.id)?;
        let appended = self.append_anatomy_text(record, &export_anatomy(record)?)?;
        self.settle();
        Ok(appended)
    }

    /// Appends an anatomy as this text, which it was parsed from or written to.
    pub(crate) fn append_anatomy_text(
        &mut self,
        record: &AnatomyRecord,
        body: &str,
    ) -> Result<Appended, AppendError> {
        let stored = match self.raw_anatomy(&record.id) {
            Ok(stored) => stored,
            Err(FindError::NotFound { .. }) => {
                self.put_anatomy_text(record, body)?;
                return Ok(Appended::Stored);
            }
            Err(error) => return Err(error.into()),
        };
        let is_same =
            stored.started_unix_ms == record.started_unix_ms && stored.seed == record.seed;
        if is_same && record.is_later_than(&stored) && !stored.completed {
            self.put_anatomy_text(record, body)?;
            return Ok(Appended::Stored);
        }
        match stored == *record || (is_same && stored.is_later_than(record)) {
            true => Ok(Appended::AlreadyThere),
            false => Err(AppendError::Conflict {
                id: record.id.clone(),
                path: self.path().to_owned(),
            }),
        }
    }

    /// Returns an anatomy as it was stored, without later labels, given its full ID.
    ///
    /// # Errors
    /// [`FindError`]: no match, or unreadable.
    pub fn raw_anatomy(&self, id: &str) -> Result<AnatomyRecord, FindError> {
        let body = self
            .anatomy_body(id)
            .map_err(self.failed("read an anatomy"))?;
        let body = body.ok_or_else(|| FindError::NotFound {
            what: "anatomy",
            prefix: id.to_owned(),
            path: self.path().to_owned(),
        })?;
        parse(id, &body)
    }

    pub(crate) fn anatomy_body(&self, id: &str) -> rusqlite::Result<Option<String>> {
        let sql = "SELECT body FROM anatomy WHERE id = ?1";
        self.connection
            .prepare_cached(sql)?
            .query_row([id], |row| Ok(text(row.get_ref(0)?)))
            .optional()
    }

    /// Returns the number of stored anatomies.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn count_anatomies(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM anatomy";
        let counted = self
            .connection
            .query_row(sql, [], |row| row.get::<_, i64>(0));
        counted
            .map(i64::unsigned_abs)
            .map_err(self.failed("count the anatomies"))
    }

    /// Returns whether the stored anatomy with an ID is complete; `None` if there is none.
    fn anatomy_state(&self, id: &str) -> rusqlite::Result<Option<bool>> {
        let sql = "SELECT completed FROM anatomy WHERE id = ?1";
        self.connection
            .prepare_cached(sql)?
            .query_row([id], |row| row.get(0))
            .optional()
    }

    /// Returns the anatomy with this ID or unique ID prefix.
    ///
    /// # Errors
    /// [`FindError`]: no match, several matches, or unreadable.
    pub fn anatomy(&self, id_or_prefix: &str) -> Result<AnatomyRecord, FindError> {
        let found = self
            .anatomies_from(id_or_prefix)
            .map_err(self.failed("look for an anatomy"))?;
        match &found[..] {
            [(id, body)] if !id_or_prefix.is_empty() => self.labelled_anatomy(id, body),
            [(id, body), ..] if id == id_or_prefix => self.labelled_anatomy(id, body),
            [] | [_] => Err(FindError::NotFound {
                what: "anatomy",
                prefix: id_or_prefix.to_owned(),
                path: self.path().to_owned(),
            }),
            many => Err(FindError::Ambiguous {
                what: "anatomies",
                prefix: id_or_prefix.to_owned(),
                count: many.len() as u64,
                candidates: many.iter().take(10).map(|(id, _)| id.clone()).collect(),
            }),
        }
    }

    /// Returns up to `limit` anatomies, newest first; unreadable ones are listed separately.
    ///
    /// # Errors
    /// [`FindError`] if the database cannot be read.
    pub fn anatomies(&self, limit: u32) -> Result<Readable<AnatomyRecord>, FindError> {
        let sql = "SELECT id, body FROM anatomy ORDER BY seq DESC LIMIT ?1";
        let select = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement
                .query_map([limit], |row| Ok((row.get(0)?, text(row.get_ref(1)?))))?
                .collect()
        };
        let newest = select().map_err(self.failed("list the anatomies"))?;
        Readable::collect(newest.into_iter().map(|(id, body)| {
            let parsed = self.labelled_anatomy(&id, &body);
            (id, parsed)
        }))
    }

    /// Parses an anatomy, and gives it its current label.
    fn labelled_anatomy(&self, id: &str, body: &str) -> Result<AnatomyRecord, FindError> {
        let mut record = parse(id, body)?;
        if let Some(label) = self.annotations(id)?.label {
            record.target.label = Some(label);
        }
        Ok(record)
    }

    fn anatomies_from(&self, prefix: &str) -> rusqlite::Result<Vec<(String, String)>> {
        let sql = "SELECT id, body FROM anatomy WHERE id >= ?1 AND id < ?2 ORDER BY id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![prefix, format!("{prefix}\u{10FFFF}")], |row| {
            Ok((row.get::<_, String>(0)?, text(row.get_ref(1)?)))
        })?;
        rows.collect()
    }
}
