//! Converts imported results to records, with their names, IDs and times.

use super::ImportText;
use super::labels::Label;
use hakaru_dialects::import::{
    FoundRun, ImportResult, ImportedRun, SourceFormat, TimeBasis, unknown_environment,
};
use hakaru_model::hash::fnv1a;
use hakaru_model::record::{FORMAT, Origin, RunRecord};
use hakaru_report::plain;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::HashMap;

/// A record and its source.
pub(crate) struct Imported {
    pub(crate) record: RunRecord,
    pub(crate) format: SourceFormat,
    /// Whether the record has a name, from its source or from the user; content from a pipe has none.
    pub(crate) named: bool,
    /// Whether the user gave that name.
    pub(crate) asked: bool,
}

/// Number of equal results so far, by a hash of source and ID. Repeats may be printed identically: within one file they
/// are distinguished by order.
#[derive(Debug, Default)]
pub(crate) struct EqualResults(HashMap<u64, u32>);

/// Converts all results to records; `labels` contains the name of each. `alike` counts equal results, also those of
/// earlier parts of the same file.
pub(crate) fn records_of(
    texts: &[ImportText],
    found: &ImportResult,
    labels: &[Label],
    alike: &mut EqualResults,
) -> Vec<Imported> {
    let zone = TimeZone::system();
    let record = |(one, label): (&FoundRun, &Label)| {
        let name = label.name.as_deref();
        let first = id_of(&one.run, name, 0);
        let key = fnv1a(format!("{}:{first}", one.source).as_bytes());
        let before = alike.0.entry(key).or_default();
        let id = match *before {
            0 => first,
            before => id_of(&one.run, name, before),
        };
        *before += 1;
        let record = record_of(&one.run, &texts[one.source], name, id, &zone);
        Imported {
            record,
            format: one.run.format,
            named: name.is_some(),
            asked: label.asked,
        }
    };
    found.runs.iter().zip(labels).map(record).collect()
}

/// Note for a text with local times without a time zone.
pub(crate) fn about_the_clock(found: &ImportResult) -> String {
    if found.runs.iter().all(|one| one.run.clock == TimeBasis::Utc) {
        return String::new();
    }
    let zone = TimeZone::system();
    let offset = Timestamp::now().to_zoned(zone.clone()).offset();
    let unnamed = || {
        if offset.is_zero() {
            "UTC".to_owned()
        } else {
            format!("UTC{offset}")
        }
    };
    let here = zone.iana_name().map_or_else(unnamed, plain);
    both!(
        "note: fio's text output has local times without a time zone; assuming the time zone of \
        this host ({here}); set another with TZ=NAME\n",
        "参考: fioのテキスト出力の時刻には時間帯がないため、このホストの時間帯（{here}）とみなします。変更するにはTZ=NAMEを指定してください\n"
    )
}

/// Converts a time to milliseconds since 1970 UTC. Local times that a clock change skips or repeats are resolved in the
/// compatible way of jiff.
fn moment(ms: i64, clock: TimeBasis, zone: &TimeZone) -> i64 {
    let on_the_wall = || {
        let shown = Timestamp::from_millisecond(ms)
            .ok()?
            .to_zoned(TimeZone::UTC)
            .datetime();
        Some(
            shown
                .to_zoned(zone.clone())
                .ok()?
                .timestamp()
                .as_millisecond(),
        )
    };
    match clock {
        TimeBasis::Utc => ms,
        TimeBasis::Wall => on_the_wall().unwrap_or(ms),
    }
}

fn record_of(
    run: &ImportedRun,
    text: &ImportText,
    label: Option<&str>,
    id: String,
    zone: &TimeZone,
) -> RunRecord {
    let mut phases = run.phases.clone();
    let started = run.started_unix_ms.map(|ms| moment(ms, run.clock, zone));
    if started.is_some() {
        for phase in &mut phases {
            phase.started_unix_ms = moment(phase.started_unix_ms, run.clock, zone);
        }
    }
    let mut reported = run.reported.clone();
    reported.zone_assumed = started.is_some() && run.clock == TimeBasis::Wall;
    RunRecord {
        format: FORMAT,
        series: id.clone(),
        id,
        repeat: 0,
        started_unix_ms: started.unwrap_or(text.changed_unix_ms),
        origin: Origin::Imported {
            program: run.program.clone(),
            source: text.name.clone(),
            reported: Box::new(reported),
        },
        scenario: run.scenario.clone(),
        target: run.identity(label),
        environment: unknown_environment(),
        phases,
        caveats: run.caveats.clone(),
        outcome: run.outcome.clone(),
        overhead: None,
        campaign: None,
    }
}

/// Returns an ID derived from the content, so that the same result is stored once (UUID version 8, RFC 9562). `before`
/// is the number of identical results before it in its text.
fn id_of(run: &ImportedRun, label: Option<&str>, before: u32) -> String {
    let mut name = Name::default();
    let content = (
        label,
        &run.program,
        &run.scenario,
        &run.phases,
        &run.reported,
        run.started_unix_ms,
    );
    // Through a text, as everywhere: each kind of output adds its own copy of the serializer to the program. Imported
    // values can always be serialized.
    let text = serde_json::to_string(&content).unwrap_or_default();
    name.add(text.as_bytes());
    if before > 0 {
        name.add(before.to_string().as_bytes());
    }
    let Name(a, b) = name;
    format!(
        "{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}",
        a >> 32,
        (a >> 16) & 0xffff,
        a & 0xfff,
        0x8000 | (b >> 48) & 0x3fff,
        b & 0xffff_ffff_ffff
    )
}

/// Two FNV-1a hashes with different start values. They identify results, and do not protect against forgery.
struct Name(u64, u64);

impl Default for Name {
    fn default() -> Name {
        Name(0xcbf2_9ce4_8422_2325, 0x9ae1_6a3b_2f90_404f)
    }
}

impl Name {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            self.1 = (self.1 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::moment;
    use hakaru_dialects::import::TimeBasis;
    use jiff::tz::{Offset, TimeZone};

    #[test]
    fn a_clock_on_the_wall_is_that_of_a_time_zone() {
        // 12:30 in Tokyo is 03:30 UTC.
        let (noon, tokyo) = (1_762_345_800_000, TimeZone::fixed(Offset::constant(9)));
        assert_eq!(moment(noon, TimeBasis::Wall, &tokyo), noon - 9 * 3_600_000);
        assert_eq!(moment(noon, TimeBasis::Utc, &tokyo), noon);
        assert_eq!(moment(i64::MAX, TimeBasis::Wall, &tokyo), i64::MAX);
    }
}
