//! Selection of stored runs: `card=sandisk,layer=vfat`, `host=pi4`, `date=2026-11-01..2026-11-05`.
//!
//! Terms of different kinds narrow the selection, terms of one kind widen it. Names without a kind
//! are handled by the caller.

use crate::not_there;
use anyhow::{Context, Result, bail};
use hakaru_model::record::RunRecord;
use hakaru_store::{FindError, RunTerm, Store};
use jiff::civil::Date;
use jiff::{Span, tz::TimeZone};
use std::collections::BTreeSet;

/// Kind of a selector term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectorKind {
    /// Beginning of a series ID.
    Series,
    /// Label of the target.
    Label,
    /// Label, name, model or serial number of the card.
    Card,
    /// File system, `raw`, or layer of a campaign.
    Layer,
    /// Name of the host.
    Host,
    /// Day, month, year, or range of them.
    Date,
    /// ID of a campaign.
    Campaign,
    /// Scenario, phase, or workload of a campaign.
    Workload,
}

const KINDS: [(&str, SelectorKind); 8] = [
    ("series", SelectorKind::Series),
    ("label", SelectorKind::Label),
    ("card", SelectorKind::Card),
    ("layer", SelectorKind::Layer),
    ("host", SelectorKind::Host),
    ("date", SelectorKind::Date),
    ("campaign", SelectorKind::Campaign),
    ("workload", SelectorKind::Workload),
];

/// Minimum number of characters of a series ID.
const SHORTEST_ID: usize = 4;

/// One term of a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What the value is compared with.
    pub kind: SelectorKind,
    /// The value, in any case of ASCII letters.
    pub value: String,
}

impl Term {
    /// Parses `card=sandisk`. `None` if it does not start with a kind; the text before a `=` in a
    /// name or path is not a kind.
    pub fn read(text: &str) -> Option<Term> {
        let (name, value) = text.split_once('=')?;
        let (_, kind) = KINDS.into_iter().find(|(known, _)| *known == name.trim())?;
        Some(Term {
            kind,
            value: value.trim().to_owned(),
        })
    }

    fn name(&self) -> &'static str {
        KINDS
            .iter()
            .find(|(_, kind)| *kind == self.kind)
            .map_or("", |(name, _)| name)
    }

    /// Returns the condition by which the database selects the runs of the term.
    fn in_store(&self, store: &Store) -> Result<RunTerm> {
        let name = self.value.clone();
        Ok(match self.kind {
            SelectorKind::Series if name.len() < SHORTEST_ID => NO_RUN,
            SelectorKind::Series => RunTerm::Series(name.to_ascii_lowercase()),
            SelectorKind::Label => RunTerm::Label {
                // Series that are called so now are selected by their name.
                series: store.series_with_alias(&name)?,
                name,
            },
            SelectorKind::Card => RunTerm::Card {
                // Series that are called so now are selected by their name.
                series: store.series_with_alias(&name)?,
                name,
            },
            SelectorKind::Layer => RunTerm::Layer(name),
            SelectorKind::Host => RunTerm::Host(name),
            SelectorKind::Date => {
                let (from, until) = days(&name)?;
                RunTerm::Started { from, until }
            }
            SelectorKind::Campaign => RunTerm::Campaign(name),
            SelectorKind::Workload => RunTerm::Workload(name),
        })
    }

    /// Whether a run matches the term.
    fn means(&self, record: &RunRecord) -> Result<bool> {
        if self.kind == SelectorKind::Date {
            let (from, until) = days(&self.value)?;
            let at = record.started_unix_ms;
            return Ok(from.is_none_or(|from| at >= from) && until.is_none_or(|until| at < until));
        }
        if self.kind == SelectorKind::Series {
            let value = self.value.to_ascii_lowercase();
            return Ok(value.len() >= SHORTEST_ID && record.series.starts_with(&value));
        }
        Ok(values(record, self.kind)
            .iter()
            .any(|value| value.eq_ignore_ascii_case(&self.value)))
    }
}

/// Returns the values of a run for terms of this kind.
fn values(record: &RunRecord, kind: SelectorKind) -> Vec<String> {
    let point = record.campaign.as_ref();
    let target = &record.target;
    match kind {
        SelectorKind::Series => vec![record.series.chars().take(8).collect()],
        SelectorKind::Label => target.label.iter().cloned().collect(),
        SelectorKind::Card => {
            let device = target.device.known();
            let known = [
                Some(target.display_name()),
                target.label.clone(),
                point.map(|point| point.card.clone()),
                device.and_then(|device| device.model.known().cloned()),
                device.and_then(|device| device.serial.known().cloned()),
            ];
            known.into_iter().flatten().collect()
        }
        SelectorKind::Layer => {
            let through = target.layer().map(str::to_owned);
            let of_point = point.map(|point| point.layer.clone());
            of_point.into_iter().chain(through).collect()
        }
        SelectorKind::Host => vec![record.environment.hostname.clone()],
        SelectorKind::Date => vec![hakaru_report::time::day(record.started_unix_ms)],
        SelectorKind::Campaign => {
            let campaign = point.map(|point| point.campaign.clone());
            campaign.into_iter().collect()
        }
        SelectorKind::Workload => {
            let phases = record.phases.iter().map(|phase| phase.name.clone());
            let others = [
                point.map(|point| point.workload.clone()),
                Some(record.scenario.name.clone()),
            ];
            phases.chain(others.into_iter().flatten()).collect()
        }
    }
}

/// Returns the runs that match all kinds of terms, in the order of measurement. Incomplete and
/// unreadable runs are skipped and listed in `notes`.
///
/// # Errors
/// If a term is invalid or matches no stored run (the error lists the stored values), or if no record can be read.
pub fn runs(store: &Store, terms: &[Term], notes: &mut BTreeSet<String>) -> Result<Vec<RunRecord>> {
    reduced_runs(store, terms, notes, |_| ())
}

/// Like [`runs`], and reduces each record before the next one is read.
///
/// # Errors
/// See [`runs`].
pub fn reduced_runs(
    store: &Store,
    terms: &[Term],
    notes: &mut BTreeSet<String>,
    reduce: fn(&mut RunRecord),
) -> Result<Vec<RunRecord>> {
    let mut groups: Vec<Vec<RunTerm>> = Vec::new();
    for (_, kind) in KINDS {
        let mut group = Vec::new();
        for term in terms.iter().filter(|term| term.kind == kind) {
            let wanted = term.in_store(store)?;
            groups.push(vec![wanted.clone()]);
            let is_there = wanted != NO_RUN && store.has_runs_with(&groups)?;
            groups.pop();
            if !is_there {
                let there = store.values_of(&wanted, &groups, SHOWN + 1)?;
                return Err(not_there(nothing(term, &there)));
            }
            group.push(wanted);
        }
        if !group.is_empty() {
            groups.push(group);
        }
    }
    let found = store.runs_with(&groups)?;
    let reduced = |mut record| {
        reduce(&mut record);
        record
    };
    readable(found.iter().map(|id| store.run(id).map(reduced)), notes)
}

/// A term for which no run is meant: a series ID that is too short.
const NO_RUN: RunTerm = RunTerm::Series(String::new());

/// Returns the readable records. A damaged record, or a record of a newer version, is listed in the notes and does not
/// affect the others.
fn readable<T>(
    found: impl Iterator<Item = Result<T, FindError>>,
    notes: &mut BTreeSet<String>,
) -> Result<Vec<T>> {
    let (mut all, mut unreadable) = (Vec::new(), Vec::new());
    for one in found {
        match one {
            Ok(one) => all.push(one),
            Err(error) if error.is_unreadable() => unreadable.push(error),
            Err(error) => return Err(error.into()),
        }
    }
    let count = unreadable.len();
    match unreadable.into_iter().next() {
        Some(first) if all.is_empty() => Err(first.into()),
        Some(first) => {
            let first = hakaru_report::plain(&first.to_string());
            notes.insert(match count {
                1 => both!(
                    "1 stored run is excluded: {first}",
                    "保存した測定1回を除外: {first}"
                ),
                _ => both!(
                    "{count} stored runs are excluded: {first}",
                    "保存した測定{count}回を除外: {first}"
                ),
            });
            Ok(all)
        }
        None => Ok(all),
    }
}

/// Returns the runs that match all kinds of terms.
///
/// # Errors
/// See [`runs`].
pub fn narrow(mut records: Vec<RunRecord>, terms: &[Term]) -> Result<Vec<RunRecord>> {
    for (_, kind) in KINDS {
        let of_kind: Vec<&Term> = terms.iter().filter(|term| term.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        for term in &of_kind {
            let mut found = false;
            for record in &records {
                found |= term.means(record)?;
            }
            if !found {
                let there = values_there(&records, term.kind);
                return Err(not_there(nothing(term, &there)));
            }
        }
        let mut kept = Vec::new();
        for record in records {
            if of_kind
                .iter()
                .map(|term| term.means(&record))
                .collect::<Result<Vec<bool>>>()?
                .contains(&true)
            {
                kept.push(record);
            }
        }
        records = kept;
    }
    Ok(records)
}

/// Maximum number of values listed in an error.
const SHOWN: usize = 10;

/// Returns the values of runs that a user would type, in order.
fn values_there(records: &[RunRecord], kind: SelectorKind) -> Vec<String> {
    let all = records.iter().filter_map(|record| {
        let mut values = values(record, kind).into_iter();
        values.find(|value| !value.is_empty())
    });
    all.collect::<BTreeSet<String>>().into_iter().collect()
}

/// Describes that no run matches a term; `there` are the values that runs have.
fn nothing(term: &Term, there: &[String]) -> String {
    let mut named: Vec<&str> = there.iter().take(SHOWN).map(String::as_str).collect();
    if there.len() > SHOWN {
        named.push("…");
    }
    let (name, value) = (term.name(), &term.value);
    match named.is_empty() {
        true => both!(
            "no stored run has {name}={value}: no run matches the other terms",
            "{name}={value}の測定は保存されていません（他の条件に一致する測定なし）"
        ),
        false => {
            both!("no stored run has {name}={value}; stored values: {}", "{name}={value}の測定は保存されていません（保存済みの値: {}）"; named.join(", "))
        }
    }
}

/// Range of times in milliseconds since 1970 UTC: inclusive start and exclusive end.
type Days = (Option<i64>, Option<i64>);

/// Parses dates: `2026`, `2026-11`, `2026-11-05`, `2026-11-01..2026-11-05` (including both days), `..2026-11`,
/// `2026-11..`.
fn days(text: &str) -> Result<Days> {
    let (from, until) = text.split_once("..").unwrap_or((text, text));
    let side = |part: &str| match part.trim() {
        "" => Ok(None),
        part => day(part).map(Some),
    };
    let (from, until) = (side(from)?, side(until)?);
    if from.is_none() && until.is_none() {
        bail!(both!(
            "`date={text}` is not a date: expected date=2026-11-05 or \
            date=2026-11-01..2026-11-05",
            "「date={text}」は日付ではありません（例: date=2026-11-05、date=2026-11-01..2026-11-05）"
        ));
    }
    Ok((from.map(|(first, _)| first), until.map(|(_, end)| end)))
}

/// Returns the start of a day, month or year in milliseconds since 1970 UTC.
///
/// # Errors
/// If the text is not a date.
pub fn day_start(text: &str) -> Result<i64> {
    Ok(day(text)?.0)
}

/// Returns the start of a day, month or year, and the start of the next one.
fn day(text: &str) -> Result<(i64, i64)> {
    let parts: Vec<&str> = text.split('-').collect();
    let (first, span) = match parts.len() {
        1 => (format!("{text}-01-01"), Span::new().years(1)),
        2 => (format!("{text}-01"), Span::new().months(1)),
        _ => (text.to_owned(), Span::new().days(1)),
    };
    let failed = || {
        both!(
            "`{text}` is not a date: expected 2026-11-05, 2026-11 or 2026",
            "「{text}」は日付ではありません（例: 2026-11-05、2026-11、2026）"
        )
    };
    let first: Date = first.parse().with_context(failed)?;
    let end = first.checked_add(span).with_context(failed)?;
    let moment = |date: Date| {
        date.to_zoned(TimeZone::UTC)
            .map(|zoned| zoned.timestamp().as_millisecond())
    };
    Ok((
        moment(first).with_context(failed)?,
        moment(end).with_context(failed)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_cannot_be_read_keeps_no_other_from_being_chosen() {
        let newer = || {
            hakaru_store::import(r#"{"format": 4000000000}"#)
                .err()
                .map(FindError::from)
        };
        let mut notes = BTreeSet::new();
        let mut found = |all: Vec<Option<u32>>| {
            let each = all
                .into_iter()
                .map(|one| one.ok_or_else(|| newer().expect("no build reads such a format")));
            readable(each, &mut notes).map_err(|error| error.to_string())
        };
        assert_eq!(found(vec![Some(1), None, Some(2)]), Ok(vec![1, 2]));
        assert_eq!(found(vec![None, Some(3)]), Ok(vec![3]));
        assert_eq!(found(Vec::new()), Ok(Vec::new()));
        assert!(found(vec![None, None]).unwrap_err().contains("4000000000"));
        // Both sides of a comparison use the same database and produce the same note.
        assert_eq!(notes.len(), 1, "{notes:?}");
    }

    #[test]
    fn terms_have_a_kind_and_paths_have_none() {
        let term = Term::read("card=SanDisk MAX").unwrap();
        assert_eq!(
            (term.kind, term.value.as_str()),
            (SelectorKind::Card, "SanDisk MAX")
        );
        assert_eq!(Term::read("a=b.json"), None);
        assert_eq!(Term::read("latest"), None);
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        // From `date -u -d … +%s`.
        assert_eq!(
            days("2026-11-05").unwrap(),
            (Some(1_793_836_800_000), Some(1_793_923_200_000))
        );
        assert_eq!(
            days("2024-02").unwrap(),
            (Some(1_706_745_600_000), Some(1_709_251_200_000))
        );
        assert_eq!(
            days("2026-11-05..").unwrap(),
            (Some(1_793_836_800_000), None)
        );
        assert_eq!(
            days("2026-11-05..2026-11-05").unwrap(),
            days("2026-11-05").unwrap()
        );
        assert_eq!(days("..2026").unwrap(), (None, Some(1_798_761_600_000)));
        for wrong in ["", "..", "yesterday", "2026-13", "2026-02-30", "9999-12-31"] {
            assert!(days(wrong).is_err(), "{wrong}");
        }
    }
}
