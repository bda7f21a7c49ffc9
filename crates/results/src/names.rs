//! Names of stored results: IDs and their prefixes, labels, and `latest`.

use crate::{CountedNoun, counted, not_there};
use anyhow::Result;
use hakaru_model::annotation::{Annotation, AnnotationKind};
use hakaru_report::plain;
use hakaru_store::{Filter, RunRow, Store};

/// Maximum number of characters of a label.
const LONGEST_LABEL: usize = 100;
/// Maximum number of candidates in an error.
const SHOWN: usize = 10;

/// Parses a label: one line that is neither empty nor a word with a meaning of its own.
pub fn label(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(both!(
            "a label needs at least one character",
            "ラベルには1文字以上が必要です"
        ));
    }
    if text.chars().count() > LONGEST_LABEL {
        return Err(both!(
            "a label has at most {LONGEST_LABEL} characters",
            "ラベルは{LONGEST_LABEL}文字までです"
        ));
    }
    if text.chars().any(|c| c.is_control() || c == ',') {
        return Err(both!(
            "a label contains no commas and no control characters",
            "ラベルにコンマと制御文字は使えません"
        ));
    }
    if position(text).is_some() {
        return Err(both!(
            "`latest` stands for the newest result",
            "latestは最新の結果を表すため、ラベルにできません"
        ));
    }
    Ok(text.to_owned())
}

/// Parses `latest` as 1, and `latest:N` as N.
pub fn position(name: &str) -> Option<Result<usize>> {
    let rest = name.strip_prefix("latest")?;
    if rest.is_empty() {
        return Some(Ok(1));
    }
    let number = rest.strip_prefix(':')?.parse().ok();
    let number = number.filter(|number| *number > 0);
    Some(number.ok_or_else(|| {
        not_there(both!("`{name}` is no position; help: `latest:1` is the newest result, `latest:2` the one before", "「{name}」は無効な位置です; help: latest:1は最新、latest:2は1つ前の結果です"))
    }))
}

/// Returns the series at a position, 1 for the one stored last.
pub fn series_at(store: &Store, position: usize) -> Result<String> {
    let newest = Filter {
        limit: u32::try_from(position).ok(),
        ..Filter::default()
    };
    let mut newest = store.newest_series(&newest)?;
    if newest.is_empty() {
        return Err(not_there(both!(
            "no runs are stored yet; help: create one with `hakaru bench`",
            "測定がまだ保存されていません; help: hakaru benchで測定してください"
        )));
    }
    let series = newest.len();
    let found = newest.pop().filter(|_| series == position);
    found.ok_or_else(|| {
        let count = counted(series, CountedNoun::Series);
        not_there(both!("there is no latest:{position}: the database has {count}; help: `hakaru list` shows them", "latest:{position}はありません（データベースには{count}）; help: hakaru listで確認してください"))
    })
}

/// Returns the series with a label or position; `None` if the name is neither, and may be an ID.
pub fn series_of_name(store: &Store, name: &str) -> Result<Option<Vec<String>>> {
    if let Some(position) = position(name) {
        return Ok(Some(vec![series_at(store, position?)?]));
    }
    let called = store.series_called(name)?;
    Ok((!called.is_empty()).then_some(called))
}

/// Returns the series that a name stands for: an ID, a prefix, a label, `latest` or `latest:N`. A label may stand for
/// several series.
pub fn series_named(store: &Store, name: &str) -> Result<Vec<String>> {
    match series_of_name(store, name)? {
        Some(series) => Ok(series),
        None => Ok(vec![store.series_id(name)?]),
    }
}

/// Returns the only series of a label.
///
/// # Errors
/// If it stands for several series; the error lists them.
pub fn only_series(store: &Store, name: &str, series: Vec<String>) -> Result<String> {
    match <[String; 1]>::try_from(series) {
        Ok([only]) => Ok(only),
        Err(several) => Err(ambiguous(store, name, &several)?),
    }
}

/// Returns the error for a label of several series.
fn ambiguous(store: &Store, name: &str, series: &[String]) -> Result<anyhow::Error> {
    let mut lines = vec![
        both!("`{name}` is the label of {} series; use one of these IDs:", "「{name}」は{}件の測定シリーズのラベルです。次のIDのいずれかを指定してください:"; series.len()),
    ];
    for id in series.iter().take(SHOWN) {
        lines.push(format!("  {}", described(store, id)?));
    }
    if series.len() > SHOWN {
        lines.push("  …".to_owned());
    }
    Ok(not_there(lines.join("\n")))
}

/// Describes a series in one line: ID, start, scenario and number of runs.
pub fn described(store: &Store, series: &str) -> Result<String> {
    let rows = rows_of(store, series)?;
    let Some(first) = rows.iter().min_by_key(|row| row.repeat) else {
        return Ok(series.to_owned());
    };
    let started = hakaru_report::time::utc(first.started_unix_ms);
    let runs = counted(rows.len(), CountedNoun::Run);
    let text = format!("{}  {started}  {}, {runs}", first.short, first.scenario);
    Ok(plain(&text))
}

/// Returns the runs of a series, newest first.
pub fn rows_of(store: &Store, series: &str) -> Result<Vec<RunRow>> {
    Ok(store.runs(&Filter {
        series: Some(series.to_owned()),
        ..Filter::default()
    })?)
}

/// Returns annotations of one kind for several subjects.
pub fn annotations(subjects: &[String], kind: AnnotationKind, value: &str) -> Vec<Annotation> {
    let at_unix_ms = hakaru_campaign::now_unix_ms();
    let one = |subject: &String| Annotation {
        subject: subject.clone(),
        kind,
        value: value.to_owned(),
        at_unix_ms,
    };
    subjects.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_from_the_newest() {
        let number = |name| position(name).map(|found| found.ok());
        assert_eq!(number("latest"), Some(Some(1)));
        assert_eq!(number("latest:3"), Some(Some(3)));
        assert_eq!(number("latest:0"), Some(None));
        assert_eq!(number("latest:x"), Some(None));
        assert_eq!(number("latest card"), None);
        assert_eq!(number("ssd"), None);
    }

    #[test]
    fn labels_are_one_line() {
        assert_eq!(label(" Samsung T7 "), Ok("Samsung T7".to_owned()));
        for wrong in ["", "  ", "a,b", "a\nb", "latest", "latest:2"] {
            assert!(label(wrong).is_err(), "{wrong:?}");
        }
    }
}
