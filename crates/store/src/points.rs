//! Lists the stored points of a campaign, which a resumed campaign needs before it measures.

use crate::pack::{self, BODY};
use crate::rows::OutcomeKind;
use crate::{Store, StoreError};
use rusqlite::{OptionalExtension, Row};
use std::collections::BTreeMap;

/// A run that belongs to a campaign point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointRow {
    /// ID of the run.
    pub run: String,
    /// ID of its series: the repeats of one point.
    pub series: String,
    /// Host it ran on.
    pub host: String,
    /// ID of the card under which its runs are stored.
    pub card: String,
    /// Label of the card; empty if it has none.
    pub label: String,
    /// Layer name.
    pub layer: String,
    /// Workload name.
    pub workload: String,
    /// Repeat number, from 0.
    pub repeat: u32,
    /// Digest of the point's definition.
    pub definition: String,
    /// Outcome of the run.
    pub outcome: OutcomeKind,
    /// Start time in milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Completed I/Os of all phases.
    pub ios: u64,
    /// Transferred bytes of all phases.
    pub bytes: u64,
    /// Written bytes of all phases.
    pub written: u64,
}

/// The part of a record that says what was written outside its phases.
#[derive(serde::Deserialize)]
struct PreparedRecord {
    campaign: PreparedPoint,
}

#[derive(serde::Deserialize)]
struct PreparedPoint {
    #[serde(default)]
    laid_out: u64,
    #[serde(default)]
    prepared: Vec<PreparationBytes>,
}

/// Bytes that one step of a preparation wrote.
#[derive(serde::Deserialize)]
struct PreparationBytes {
    #[serde(default)]
    written: u64,
    #[serde(default)]
    speed: Vec<SegmentBytes>,
}

#[derive(serde::Deserialize)]
struct SegmentBytes {
    len: u64,
}

impl PreparedPoint {
    /// Files are laid out for each run. Fills are stored with the first completed run after them.
    fn written(&self, completed: bool) -> u64 {
        let steps = self.prepared.iter().filter(|_| completed);
        let bytes = steps.flat_map(|step| {
            let segments = step.speed.iter().map(|segment| segment.len);
            segments.chain([step.written])
        });
        bytes.fold(self.laid_out, u64::saturating_add)
    }
}

impl Store {
    /// Lists all stored points of a campaign in the order in which they were measured.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn points(&self, campaign: &str) -> Result<Vec<PointRow>, StoreError> {
        self.select_points(campaign)
            .map_err(self.failed("list the points of a campaign"))
    }

    fn select_points(&self, campaign: &str) -> rusqlite::Result<Vec<PointRow>> {
        let mut statement = self.connection.prepare(
            "SELECT run.id, series, point.host, card, label, point.layer, workload, point.repeat, definition, outcome,
                    started_unix_ms, ios, bytes,
                    CAST(min((SELECT total(bytes) FROM phase WHERE phase.run = run.seq AND op = 'write'), 9.2e18) AS INTEGER)
             FROM point JOIN run ON run.seq = point.run WHERE campaign = ?1 ORDER BY started_unix_ms, run.id",
        )?;
        statement.query_map([campaign], point_row)?.collect()
    }

    /// Returns the bytes that a host wrote to each card of a campaign outside its runs, by card ID. These are the
    /// laid-out files, and the fills of cards and file systems, which are stored with the first completed run after
    /// them.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn written_besides(
        &self,
        campaign: &str,
        host: &str,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        self.select_written_besides(campaign, host)
            .map_err(self.failed("sum the bytes written by preparation"))
    }

    fn select_written_besides(
        &self,
        campaign: &str,
        host: &str,
    ) -> rusqlite::Result<Vec<(String, u64)>> {
        let mut by_card: BTreeMap<String, u64> = BTreeMap::new();
        let mut statement = self.connection.prepare(&format!(
            "SELECT {BODY}, card, outcome FROM point JOIN run ON run.seq = point.run
             JOIN record ON record.seq = point.run WHERE campaign = ?1 AND point.host = ?2"
        ))?;
        let mut rows = statement.query([campaign, host])?;
        while let Some(row) = rows.next()? {
            let Ok(of) = hakaru_model::json::from_str::<PreparedRecord>(&pack::body(row, 0)?)
            else {
                continue;
            };
            let completed = row.get_ref(4)?.as_str() == Ok(OutcomeKind::Completed.name());
            let sum = by_card.entry(row.get(3)?).or_default();
            *sum = sum.saturating_add(of.campaign.written(completed));
        }
        by_card.retain(|_, sum| *sum > 0);
        Ok(by_card.into_iter().collect())
    }

    /// Stores the campaign definition as text; replaces an earlier one.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn keep_campaign(&mut self, campaign: &str, asked: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO campaign (id, asked) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET asked = excluded.asked";
        let kept = self.connection.execute(sql, [campaign, asked]).map(drop);
        kept.map_err(self.failed("keep a campaign"))
    }

    /// Returns the stored campaign definition; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn kept_campaign(&self, campaign: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT asked FROM campaign WHERE id = ?1";
        let kept = self
            .connection
            .query_row(sql, [campaign], |row| row.get(0))
            .optional();
        kept.map_err(self.failed("read a campaign"))
    }

    /// Lists all campaigns by name, each with its number of runs.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn campaigns(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.select_campaigns()
            .map_err(self.failed("list the campaigns"))
    }

    fn select_campaigns(&self) -> rusqlite::Result<Vec<(String, u64)>> {
        let sql = "SELECT campaign, count(*) FROM point GROUP BY campaign ORDER BY campaign";
        let mut statement = self.connection.prepare(sql)?;
        let row = |row: &Row<'_>| {
            Ok((
                row.get(0)?,
                u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0),
            ))
        };
        statement.query_map([], row)?.collect()
    }
}

fn point_row(row: &Row<'_>) -> rusqlite::Result<PointRow> {
    let count = |index: usize| {
        row.get::<_, i64>(index)
            .map(|n| u64::try_from(n).unwrap_or(0))
    };
    Ok(PointRow {
        run: row.get(0)?,
        series: row.get(1)?,
        host: row.get(2)?,
        card: row.get(3)?,
        label: row.get(4)?,
        layer: row.get(5)?,
        workload: row.get(6)?,
        repeat: u32::try_from(count(7)?).unwrap_or(u32::MAX),
        definition: row.get(8)?,
        outcome: OutcomeKind::from_name(row.get_ref(9)?.as_str().unwrap_or_default()),
        started_unix_ms: row.get(10)?,
        ios: count(11)?,
        bytes: count(12)?,
        written: count(13)?,
    })
}
