//! Stores verifications like runs: append, look up, list.

use crate::append::{Appended, check_id};
use crate::find::text;
use crate::{AppendError, ExportError, FindError, Readable, Store, StoreError};
use hakaru_model::facts::Fact;
use hakaru_model::integrity::{FORMAT, Scope, Verification};
use rusqlite::{OptionalExtension, params};
use serde::de::IgnoredAny;
use std::path::PathBuf;

/// The fields of a verification of any version.
#[derive(serde::Deserialize)]
struct VerificationHead {
    format: u32,
}

/// The field that distinguishes a verification from a run record.
#[derive(serde::Deserialize)]
struct VerificationMarker {
    #[serde(rename = "verdict")]
    _verdict: IgnoredAny,
    id: String,
}

/// Serializes a verification as one line of JSON, without a trailing newline. Invalid bytes in
/// paths are replaced by U+FFFD.
///
/// # Errors
/// [`ExportError`] when a value has no JSON form.
pub fn export_verification(verification: &Verification) -> Result<String, ExportError> {
    if let Ok(text) = serde_json::to_string(verification) {
        return Ok(text);
    }
    let mut printable = verification.clone();
    let mut paths = vec![&mut printable.target.path];
    paths.extend(
        printable
            .target
            .filesystem
            .as_mut()
            .map(|fs| &mut fs.mount_point),
    );
    if let Fact::Known(device) = &mut printable.target.device {
        paths.push(&mut device.node);
    }
    if let Scope::FreeSpace { folder } = &mut printable.scope {
        paths.push(folder);
    }
    for path in paths {
        *path = PathBuf::from(path.to_string_lossy().into_owned());
    }
    serde_json::to_string(&printable).map_err(|source| ExportError {
        id: verification.id.clone(),
        source,
    })
}

/// Parses a line of JSON as a verification; `None` if it is something else, such as a run record.
///
/// # Errors
/// [`FindError`]: newer format, or damaged.
pub fn import_verification(text: &str) -> Option<Result<Verification, FindError>> {
    // Most lines are records of runs, which are not parsed for this.
    if !text.contains("\"verdict\"") {
        return None;
    }
    let kind: VerificationMarker = hakaru_model::json::from_str(text).ok()?;
    Some(parse(&kind.id, text))
}

pub(crate) fn parse(id: &str, body: &str) -> Result<Verification, FindError> {
    let damaged = |source| FindError::Damaged {
        what: "verification",
        id: id.to_owned(),
        source,
    };
    let head: VerificationHead = hakaru_model::json::from_str(body).map_err(damaged)?;
    if head.format > FORMAT {
        return Err(FindError::Newer {
            what: "verification",
            id: id.to_owned(),
            found: head.format,
            newest: FORMAT,
        });
    }
    hakaru_model::json::from_str(body).map_err(damaged)
}

impl Store {
    /// Appends a verification. When this returns, it survives a power cut. Appending an equal one again has no
    /// effect.
    ///
    /// # Errors
    /// [`AppendError`]; nothing is stored then.
    pub fn append_verification(
        &mut self,
        verification: &Verification,
    ) -> Result<Appended, AppendError> {
        check_id(&verification.id)?;
        let body = export_verification(verification)?;
        let appended = self.append_verification_text(verification, &body)?;
        self.settle();
        Ok(appended)
    }

    /// Appends a verification as this text, which it was parsed from or written to.
    pub(crate) fn append_verification_text(
        &mut self,
        verification: &Verification,
        body: &str,
    ) -> Result<Appended, AppendError> {
        let id = &verification.id;
        let stored = self.verification_body(id);
        if let Some(stored) = stored.map_err(self.failed("look for a verification"))? {
            let same = || parse(id, &stored).is_ok_and(|stored| stored == *verification);
            return match stored == body || same() {
                true => Ok(Appended::AlreadyThere),
                false => Err(AppendError::Conflict {
                    id: id.clone(),
                    path: self.path().to_owned(),
                }),
            };
        }
        let sql = "INSERT INTO verification (id, format, body) VALUES (?1, ?2, ?3)";
        let appended = self
            .connection
            .execute(sql, params![id, verification.format, body]);
        appended.map_err(self.failed("store a verification"))?;
        Ok(Appended::Stored)
    }

    pub(crate) fn verification_body(&self, id: &str) -> rusqlite::Result<Option<String>> {
        let sql = "SELECT body FROM verification WHERE id = ?1";
        self.connection
            .prepare_cached(sql)?
            .query_row([id], |row| row.get(0))
            .optional()
    }

    /// Returns the verification with this ID or unique ID prefix.
    ///
    /// # Errors
    /// [`FindError`]: no match, several matches, or unreadable.
    pub fn verification(&self, id_or_prefix: &str) -> Result<Verification, FindError> {
        let found = self
            .verifications_from(id_or_prefix)
            .map_err(self.failed("look for a verification"))?;
        let not_found = || FindError::NotFound {
            what: "verification",
            prefix: id_or_prefix.to_owned(),
            path: self.path().to_owned(),
        };
        match &found[..] {
            [] => Err(not_found()),
            _ if id_or_prefix.is_empty() => Err(not_found()),
            [(id, body)] => self.labelled_verification(id, body),
            [(id, body), ..] if id == id_or_prefix => self.labelled_verification(id, body),
            many => Err(FindError::Ambiguous {
                what: "verifications",
                prefix: id_or_prefix.to_owned(),
                count: many.len() as u64,
                candidates: many.iter().take(10).map(|(id, _)| id.clone()).collect(),
            }),
        }
    }

    /// Returns the number of stored verifications.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn count_verifications(&self) -> Result<u64, StoreError> {
        let counted = self
            .connection
            .query_row("SELECT count(*) FROM verification", [], |row| {
                row.get::<_, i64>(0)
            });
        counted
            .map(i64::unsigned_abs)
            .map_err(self.failed("count the verifications"))
    }

    /// Returns the verification that was stored last; `None` if there is none.
    ///
    /// # Errors
    /// [`FindError`] if it cannot be read.
    pub fn latest_verification(&self) -> Result<Option<Verification>, FindError> {
        let newest = self
            .newest_verifications(1)
            .map_err(self.failed("list the verifications"))?;
        let newest = newest.first();
        newest
            .map(|(id, body)| self.labelled_verification(id, body))
            .transpose()
    }

    /// Returns up to `limit` verifications, newest first; unreadable ones are listed separately.
    ///
    /// # Errors
    /// [`FindError`] if the database cannot be read.
    pub fn verifications(&self, limit: u32) -> Result<Readable<Verification>, FindError> {
        let newest = self
            .newest_verifications(limit)
            .map_err(self.failed("list the verifications"))?;
        Readable::collect(newest.into_iter().map(|(id, body)| {
            let parsed = self.labelled_verification(&id, &body);
            (id, parsed)
        }))
    }

    /// Parses a verification, and gives it its current label.
    fn labelled_verification(&self, id: &str, body: &str) -> Result<Verification, FindError> {
        let mut verification = parse(id, body)?;
        if let Some(label) = self.annotations(id)?.label {
            verification.target.label = Some(label);
        }
        Ok(verification)
    }

    /// Returns a verification as it was stored, without later labels, given its full ID.
    ///
    /// # Errors
    /// [`FindError`]: no match, or unreadable.
    pub fn raw_verification(&self, id: &str) -> Result<Verification, FindError> {
        let body = self
            .verification_body(id)
            .map_err(self.failed("read a verification"))?;
        let body = body.ok_or_else(|| FindError::NotFound {
            what: "verification",
            prefix: id.to_owned(),
            path: self.path().to_owned(),
        })?;
        parse(id, &body)
    }

    fn newest_verifications(&self, limit: u32) -> rusqlite::Result<Vec<(String, String)>> {
        let sql = "SELECT id, body FROM verification ORDER BY seq DESC LIMIT ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement
            .query_map([limit], |row| Ok((row.get(0)?, text(row.get_ref(1)?))))?
            .collect()
    }

    fn verifications_from(&self, prefix: &str) -> rusqlite::Result<Vec<(String, String)>> {
        let sql = "SELECT id, body FROM verification WHERE id >= ?1 AND id < ?2 ORDER BY id";
        let mut statement = self.connection.prepare_cached(sql)?;
        // IDs are ASCII: everything that starts with the prefix sorts below the prefix followed by
        // this character.
        let rows = statement.query_map(params![prefix, format!("{prefix}\u{10FFFF}")], |row| {
            Ok((row.get::<_, String>(0)?, text(row.get_ref(1)?)))
        })?;
        rows.collect()
    }
}
