//! Signs in registers, SMART data and records, and the caveats of a history.

use super::*;
use hakaru_model::record::ErrorRecord;

/// Health of the card in the first and in the newest of five steady series, with good verification.
fn with_health(first: Health, last: Health) -> CardHistory {
    let mut records = steady();
    device(&mut records[0]).health = Fact::Known(first);
    device(&mut records[4]).health = Fact::Known(last);
    history(&records, &[verification(0)], &[])
}

/// Sets one count of defects.
type SetCount = fn(&mut Health, u64);

/// Defects that could not be corrected lose data; reallocated and pending sectors are wear.
#[test]
fn counts_of_defects_are_signs_unless_the_newest_is_zero() {
    let kinds: [(DefectKind, SetCount, Outlook); 3] = [
        (
            DefectKind::MediaErrors,
            |health, count| health.media_errors = Some(count),
            Outlook::Failing,
        ),
        (
            DefectKind::Reallocated,
            |health, count| health.reallocated_sectors = Some(count),
            Outlook::Wearing,
        ),
        (
            DefectKind::Pending,
            |health, count| health.pending_sectors = Some(count),
            Outlook::Wearing,
        ),
    ];
    for (kind, set, outlook) in kinds {
        for (first, last) in [(0, 0), (0, 1), (3, 7), (5, 0), (2, 2)] {
            let health = |count| {
                let mut health = Health::default();
                set(&mut health, count);
                health
            };
            let found = with_health(health(first), health(last));
            let (signs, outlook) = match last {
                0 => (vec![], Outlook::NoSign),
                _ => (vec![WearSign::Defects { kind, first, last }], outlook),
            };
            assert_eq!(found.signs, signs, "{kind:?} {first} {last}");
            assert_eq!(found.outlook, outlook, "{kind:?} {first} {last}");
        }
    }
}

/// Only the newest state counts; a warning of the disk itself says that it fails.
#[test]
fn life_used_and_warnings_are_those_of_the_newest_run() {
    let health = |percent: u64, warnings: &[&str]| Health {
        percent_used: Some(percent),
        warnings: warnings.iter().map(|&text| text.to_owned()).collect(),
        ..Health::default()
    };
    for (first, last, outlook) in [
        (3, 79, Outlook::NoSign),
        (3, 80, Outlook::Wearing),
        (3, 99, Outlook::Wearing),
        (3, 100, Outlook::Failing),
        (3, 130, Outlook::Failing),
        (90, 10, Outlook::NoSign),
    ] {
        let found = with_health(health(first, &["old"]), health(last, &[]));
        let signs = match last {
            80.. => vec![WearSign::LifeUsed { percent: last }],
            _ => vec![],
        };
        assert_eq!((found.signs, found.outlook), (signs, outlook), "{last}");
    }
    let found = with_health(health(1, &[]), health(1, &["spare is low", "read-only"]));
    let signs = ["spare is low", "read-only"];
    let signs = signs.map(|text| WearSign::Warning { text: text.into() });
    assert_eq!(
        (found.signs, found.outlook),
        (signs.to_vec(), Outlook::Failing)
    );
}

#[test]
fn failed_ios_of_all_runs_are_a_sign() {
    for counts in [[0, 0], [1, 0], [2, 3]] {
        let mut records = steady();
        for (record, total) in records[1..].iter_mut().zip(counts) {
            record.phases[0].workers[0].errors = ErrorRecord {
                total,
                ..ErrorRecord::default()
            };
        }
        let found = history(&records, &[verification(0)], &[]);
        let count = counts.iter().sum();
        let (signs, outlook) = match count {
            0 => (vec![], Outlook::NoSign),
            _ => (vec![WearSign::IoErrors { count }], Outlook::Failing),
        };
        assert_eq!((found.signs, found.outlook), (signs, outlook), "{counts:?}");
    }
}

/// IDs of all runs in order of time, each once; the name is that of the newest run.
#[test]
fn a_card_has_the_ids_of_all_its_runs() {
    let mut records = steady();
    let serials = [
        None,
        Some("0x7a22"),
        Some("0x7a21"),
        Some("0x7a22"),
        Some("0x7a23"),
    ];
    for (record, serial) in records.iter_mut().zip(serials) {
        if let Some(serial) = serial {
            device(record).serial = Fact::Known(serial.to_owned());
        }
    }
    let shuffled: Vec<RunRecord> = [4, 2, 0, 1, 3].map(|i| records[i].clone()).to_vec();
    let found = history(&shuffled, &[], &[]);
    assert_eq!(found.ids, ["0x7a22", "0x7a21", "0x7a23"]);
    assert_eq!(found.name, "SD32G (0x7a23)");
    assert_eq!((found.runs, found.series), (5, 5));
    assert!(!found.caveats.contains(&HistoryCaveat::ByLabel));
    let without = history(&records[..1], &[], &[]);
    assert_eq!(without.ids, [""; 0]);
    assert_eq!(without.caveats, [HistoryCaveat::ByLabel]);
    let empty = history(&[], &[], &[]);
    assert_eq!((empty.ids.len(), empty.caveats.len()), (0, 0));
    assert_eq!((empty.runs, empty.outlook), (0, Outlook::Unknown));
}

/// Fill levels of more than 10 points apart change the speed of writes.
#[test]
fn different_fill_levels_are_a_caveat() {
    for (used, caveat) in [
        ([20, 20], None),
        ([20, 30], None),
        ([20, 31], Some((20, 31))),
        ([95, 5], Some((5, 95))),
    ] {
        let mut records = monthly(&[900.0, 900.0]);
        for (record, used) in records.iter_mut().zip(used) {
            record.target.filesystem = Some(Filesystem {
                fs_type: "ext4".to_owned(),
                mount_point: "/mnt".into(),
                source: "/dev/mmcblk0p1".to_owned(),
                options: String::new(),
                size: Bytes(1_000_000),
                free: Bytes(1_000_000 - 10_000 * used),
            });
        }
        let found = history(&records, &[], &[]);
        let levels = found.trends[0].points.iter().map(|p| p.used_percent);
        assert!(levels.eq(used.map(|used| Some(used as u32))));
        let found = found.caveats.iter().find_map(|caveat| match caveat {
            HistoryCaveat::FillLevels { low, high } => Some((*low, *high)),
            _ => None,
        });
        assert_eq!(found, caveat, "{used:?}");
    }
}

#[test]
fn series_of_one_day_and_other_kernels_are_caveats() {
    let mut records = monthly(&[900.0, 900.0, 900.0, 900.0]);
    let same_day = |records: &[RunRecord]| {
        let caveats = history(records, &[], &[]).caveats;
        caveats.into_iter().find_map(|caveat| match caveat {
            HistoryCaveat::SameDay { series } => Some(series),
            _ => None,
        })
    };
    assert_eq!(same_day(&records), None);
    let midnight = 20_000 * DAY_MS;
    let times = [midnight - 1, midnight, midnight + 1, midnight + DAY_MS - 1];
    for (record, at) in records.iter_mut().zip(times) {
        record.started_unix_ms = at;
    }
    assert_eq!(same_day(&records), Some(3));
    assert_eq!(same_day(&records[..2]), None);
    assert_eq!(same_day(&records[1..3]), Some(2));
    for (record, kernel) in records.iter_mut().zip(["6.12", "", "6.6", "6.12"]) {
        record.environment.kernel = kernel.to_owned();
    }
    let names = vec!["6.12".to_owned(), "6.6".to_owned()];
    let kernels = HistoryCaveat::Kernels { names };
    let has_kernels = |records: &[RunRecord]| history(records, &[], &[]).caveats.contains(&kernels);
    assert!(has_kernels(&records));
    assert!(
        !has_kernels(&records[..2]),
        "an unknown kernel is no other one"
    );
}

/// The newest bad verification is reported, and the newest one decides whether the card is well.
#[test]
fn the_newest_verification_counts() {
    let at = |bad: u64, day: i64| {
        let mut verification = verification(bad);
        verification.started_unix_ms += day * DAY_MS;
        verification.id = format!("v{day}");
        verification
    };
    let found = history(&steady(), &[at(0, 3), at(512, 2), at(4096, 1)], &[]);
    let bad = WearSign::BadBlocks {
        at_unix_ms: 1_710_000_000_000 + 2 * DAY_MS,
        bytes: Bytes(512),
    };
    assert_eq!(found.signs, [bad]);
    let bytes: Vec<u64> = found.verifications.iter().map(|v| v.bad.0).collect();
    assert_eq!(bytes, [4096, 512, 0]);
    assert_eq!(
        history(&steady(), &[at(0, 1)], &[]).outlook,
        Outlook::NoSign
    );
    assert_eq!(history(&steady(), &[], &[]).outlook, Outlook::Unknown);
}

/// A newer state replaces an older one.
#[test]
fn reserve_blocks_and_life_time_are_the_newest_known() {
    let card = |life: &str, reserve: &str| CardRegisters {
        life_time: Fact::Known(life.to_owned()),
        pre_eol: Fact::Known(reserve.to_owned()),
        ..CardRegisters::default()
    };
    let reserve = |state: &str| WearSign::Reserve {
        state: state.to_owned(),
    };
    for (first, last, signs) in [
        (card("0-10 %", "normal"), card("0-10 %", "normal"), vec![]),
        (
            card("0-10 %", "normal"),
            card("0-10 %", "warning: 80 % of the reserve is used"),
            vec![reserve("warning: 80 % of the reserve is used")],
        ),
        (
            card("0-10 %", "normal"),
            card("70-80 % and 80-90 %", "urgent: 90 %"),
            vec![reserve("urgent: 90 %"), WearSign::LifeUsed { percent: 90 }],
        ),
        (card("80-90 %", "urgent"), card("0-10 %", "normal"), vec![]),
    ] {
        let mut records = steady();
        device(&mut records[0]).card = Some(first);
        device(&mut records[4]).card = Some(last);
        let found = history(&records, &[verification(0)], &[]);
        assert_eq!(found.signs, signs);
    }
}
