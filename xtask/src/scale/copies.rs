//! Copies of records, each with its own identity, time, host and label.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Runs with one label, whatever the number of runs: what a comparison reads.
pub(super) const RUNS_OF_LABEL: u64 = 200;

/// Runs of one series.
const REPEATS: u64 = 5;

/// Start of the first run in milliseconds since 1970 UTC, and the time from one run to the next.
const STARTED: (u64, u64) = (1_700_000_000_000, 60_000);

/// Members of a record that each copy has for itself, and what stands for them in a template.
const STANDINS: [(&str, &str); 6] = [
    ("/id", "@id@"),
    ("/series", "@series@"),
    ("/environment/hostname", "@host@"),
    ("/target/label", "@label@"),
    ("/started_unix_ms", "@started@"),
    ("/repeat", "@repeat@"),
];

/// Returns copies of a record.
pub(super) fn copies(
    template: &str,
    runs: u64,
) -> Result<impl Iterator<Item = String> + Send + use<>> {
    // Replaced as text, so that the copies are written as exports are, and made quickly.
    let record: Value = serde_json::from_str(template)?;
    let mut text = template.to_owned();
    for (place, standin) in STANDINS {
        text = with_member(&text, &record, place, standin)?;
    }
    let parts = pieces(&text);
    Ok((0..runs).map(move |run| {
        let label = run / RUNS_OF_LABEL;
        let values = [
            format!("\"{}\"", id(run)),
            format!("\"{}\"", id(run - run % REPEATS)),
            format!("\"host {}\"", label % 20),
            format!("\"card {label}\""),
            (STARTED.0 + run * STARTED.1).to_string(),
            (run % REPEATS).to_string(),
        ];
        let mut text = String::with_capacity(16 << 10);
        for (piece, value) in &parts {
            text += piece;
            text += value.map_or("", |value| &values[value]);
        }
        text
    }))
}

/// Replaces the value that a member has in a record by another text.
fn with_member(text: &str, record: &Value, place: &str, new: &str) -> Result<String> {
    let value = record.pointer(place).context("a record lacks a member")?;
    let name = place.rsplit('/').next().unwrap_or_default();
    // The first with this value: members of the record itself are before those of its parts.
    let old = format!("\"{name}\":{value}");
    ensure!(text.contains(&old), "a record is written in another way");
    Ok(text.replacen(&old, &format!("\"{name}\":{new}"), 1))
}

/// Separates a text at stand-ins: each piece, and the index of the stand-in after it.
fn pieces(text: &str) -> Vec<(String, Option<usize>)> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    let next = |rest: &str| {
        let found = STANDINS.iter().enumerate();
        let found = found.filter_map(|(which, (_, standin))| Some((rest.find(standin)?, which)));
        found.min()
    };
    while let Some((at, which)) = next(rest) {
        pieces.push((rest[..at].to_owned(), Some(which)));
        rest = &rest[at + STANDINS[which].1.len()..];
    }
    pieces.push((rest.to_owned(), None));
    pieces
}

fn id(run: u64) -> String {
    format!(
        "{:08x}-0000-7000-8000-{run:012x}",
        run.wrapping_mul(0x9e37_79b1) as u32
    )
}

/// A term that selects the runs of some days.
pub(super) fn day(run: u64, runs: u64) -> String {
    let date = |run: u64| {
        let days = (STARTED.0 + run * STARTED.1) / 86_400_000;
        // Days since 1970 to a date of the Gregorian calendar, by Howard Hinnant's algorithm.
        let z = days + 719_468;
        let (era, doe) = (z / 146_097, z % 146_097);
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let (day, month) = (
            doy - (153 * mp + 2) / 5 + 1,
            if mp < 10 { mp + 3 } else { mp - 9 },
        );
        let year = yoe + era * 400 + u64::from(month <= 2);
        format!("{year:04}-{month:02}-{day:02}")
    };
    format!("date={}..{}", date(run), date(run + runs))
}

/// Returns a copy of a record of a campaign for another card.
pub(super) fn of_card(record: &str, card: u64) -> Result<String> {
    let value: Value = serde_json::from_str(record)?;
    let id = |place: &str| {
        let of = value.pointer(place).and_then(Value::as_str);
        let of = of.unwrap_or_default();
        format!("\"{card:08x}{}\"", of.get(8..).unwrap_or_default())
    };
    let label = format!("\"card {card}\"");
    let mut text = record.to_owned();
    for (place, new) in [
        ("/id", id("/id")),
        ("/series", id("/series")),
        ("/campaign/card", label.clone()),
        ("/target/label", label),
    ] {
        text = with_member(&text, &value, place, &new)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_their_own_identity() {
        let template = r#"{"format":1,"id":"a","series":"a","repeat":0,"started_unix_ms":5,
            "target":{"label":"l"},"environment":{"hostname":""},"other":"a"}"#;
        let copies: Vec<Value> = copies(template, 7)
            .unwrap()
            .map(|text| serde_json::from_str(&text).unwrap())
            .collect();
        assert_eq!(copies[6]["id"], id(6));
        assert_eq!(copies[6]["series"], id(5));
        assert_eq!(copies[6]["repeat"], 1);
        assert_eq!(copies[6]["started_unix_ms"], STARTED.0 + 6 * STARTED.1);
        assert_eq!(copies[6]["other"], "a");
        assert_eq!(copies[6]["environment"]["hostname"], "host 0");
    }
}
