//! Stores anatomies of cards: each state until the last experiment has ended, then the complete record.

use crate::append::check_id;
use crate::find::text;
use crate::{AppendError, FindError, Readable, Store};
use hakaru_model::anatomy_record::{AnatomyRecord, FORMAT};
use rusqlite::{OptionalExtension, params};

/// The fields of an anatomy of any version.
#[derive(serde::Deserialize)]
struct AnatomyHead {
    format: u32,
}

fn parse(id: &str, body: &str) -> Result<AnatomyRecord, FindError> {
    let damaged = |source| FindError::Damaged {
        id: id.to_owned(),
        source,
    };
    let head: AnatomyHead = hakaru_model::json::from_str(body).map_err(damaged)?;
    if head.format > FORMAT {
        return Err(FindError::Newer {
            id: id.to_owned(),
            found: head.format,
            newest: FORMAT,
        });
    }
    hakaru_model::json::from_str(body).map_err(damaged)
}

impl Store {
    /// Stores the state of an anatomy. When this returns, it survives a power cut. An incomplete state is replaced by a
    /// later one with the same ID.
    ///
    /// # Errors
    /// [`AppendError`]: a complete anatomy has this ID, or the database cannot be written; nothing is stored then.
    pub fn put_anatomy(&mut self, record: &AnatomyRecord) -> Result<(), AppendError> {
        let id = &record.id;
        check_id(id)?;
        let body = serde_json::to_string(record).map_err(|source| crate::ExportError {
            id: id.clone(),
            source,
        })?;
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
        self.settle();
        Ok(())
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
