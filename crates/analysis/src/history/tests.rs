//! Histories of cards that stay well, wear out, or fail.

mod evidence;
mod trends;

use super::*;
use crate::io_path::tests::{path, traffic_of};
use crate::testing::{Fake, card, run_of};
use hakaru_model::facts::{CardRegisters, Environment, Fact};
use hakaru_model::integrity::{Capacity, IntegrityVerdict, Scope, SpeedMap};
use hakaru_model::io_path::{CommandTraffic, IoClass};
use hakaru_model::units::{Bytes, Nanos};

/// Series of writes with these IOPS, a month apart.
fn monthly(iops: &[f64]) -> Vec<RunRecord> {
    let record = |(month, &iops): (usize, &f64)| {
        let phase = Fake {
            name: "rand-write",
            op: Op::Write,
            random: true,
            block: 4096,
            iops,
            seconds: 2,
            sync_ms: None,
        };
        let mut record = run_of(0, &[phase]);
        record.id = format!("run-{month}");
        record.series = format!("series-{month}");
        record.started_unix_ms = 1_700_000_000_000 + month as i64 * 30 * DAY_MS;
        record
    };
    iops.iter().enumerate().map(record).collect()
}

#[test]
fn gives_no_verdict_from_two_or_three_series() {
    for iops in [&[900.0, 300.0][..], &[900.0, 600.0, 300.0]] {
        let found = history(&monthly(iops), &[], &[]);
        assert_eq!(found.trends[0].comparison, None);
        assert_eq!((found.outlook, found.signs.len()), (Outlook::Unknown, 0));
        let series = MissingProof::Series {
            have: iops.len() as u32,
            needed: 4,
        };
        let all = [
            series,
            MissingProof::Verification,
            MissingProof::WearData,
            MissingProof::Retries { have: 0 },
        ];
        assert_eq!(found.missing, all);
    }
}

#[test]
fn slower_writes_over_months_are_a_sign_of_wear() {
    let found = history(
        &monthly(&[900.0, 905.0, 895.0, 600.0, 604.0, 598.0]),
        &[],
        &[],
    );
    let comparison = found.trends[0].comparison.as_ref().unwrap();
    let (low, high) = comparison.ratio_ci95.unwrap();
    assert!(low < 0.667 && 0.667 < high && high < 0.7, "{low} {high}");
    assert_eq!(found.signs, [WearSign::SlowerWrites { trend: 0 }]);
    assert_eq!(found.outlook, Outlook::Wearing);
}

#[test]
fn a_slowdown_too_small_to_matter_is_no_sign_of_wear() {
    let found = history(
        &monthly(&[900.0, 900.2, 899.8, 882.0, 882.2, 881.8]),
        &[],
        &[],
    );
    let comparison = found.trends[0].comparison.as_ref().unwrap();
    assert_eq!(comparison.verdict, Verdict::Different);
    assert_eq!((found.outlook, found.signs.len()), (Outlook::Unknown, 0));
}

#[test]
fn steady_writes_alone_do_not_prove_health() {
    let found = history(
        &monthly(&[900.0, 905.0, 895.0, 900.0, 904.0, 898.0]),
        &[],
        &[],
    );
    assert_eq!((found.outlook, found.signs.len()), (Outlook::Unknown, 0));
    assert!(found.missing.contains(&MissingProof::Verification));
}

#[test]
fn faster_reads_or_other_hosts_are_trends_of_their_own() {
    let mut records = monthly(&[900.0, 900.0, 900.0, 300.0, 300.0, 300.0]);
    for record in &mut records[3..] {
        record.environment.hostname = "pi5".to_owned();
    }
    let found = history(&records, &[], &[]);
    assert_eq!((found.trends.len(), found.outlook), (2, Outlook::Unknown));
    let names = vec!["pi4".to_owned(), "pi5".to_owned()];
    assert!(found.caveats.contains(&HistoryCaveat::Hosts { names }));
}

#[test]
fn the_largest_number_of_a_life_time_is_its_upper_end() {
    assert_eq!(largest_number("0-10 % and 10-20 %"), Some(20));
    assert_eq!(largest_number("normal"), None);
}

/// Five monthly series of steady writes.
fn steady() -> Vec<RunRecord> {
    monthly(&[900.0, 905.0, 895.0, 901.0, 899.0])
}

/// Adds a path of an I/O with this many retries of 1,000 commands.
fn trace(record: &mut RunRecord, retries: u64) {
    let mut class = traffic_of(IoClass::Data, Some(Op::Write), 1_000, 4_096_000, 1_000);
    class.commands = Some(CommandTraffic {
        commands: 1_000,
        retries,
        ..CommandTraffic::default()
    });
    record.phases[0].paths = vec![path(1, (1_000, 4096), vec![class])];
}

/// A verification of the card with these bad bytes.
fn verification(bad: u64) -> Verification {
    Verification {
        format: 1,
        id: "verification".to_owned(),
        version: "0.1.0".to_owned(),
        started_unix_ms: 1_710_000_000_000,
        elapsed: Nanos(1),
        target: card(),
        environment: Environment::default(),
        scope: Scope::Whole { restored: false },
        seed: 1,
        completed: true,
        verdict: IntegrityVerdict {
            claimed: Bytes(1 << 30),
            capacity: Capacity::AsClaimed,
            good: Bytes((1 << 30) - bad),
            bad: Vec::new(),
            bad_bytes: Bytes(bad),
            write_speed: SpeedMap::default(),
            read_speed: SpeedMap::default(),
        },
    }
}

fn device(record: &mut RunRecord) -> &mut DeviceIdentity {
    match &mut record.target.device {
        Fact::Known(device) => device,
        Fact::Unknown(why) => panic!("{why}"),
    }
}

/// With every kind of evidence and no sign, the card is well and nothing is missing.
#[test]
fn a_card_is_well_if_all_evidence_is_there() {
    let mut records = steady();
    trace(&mut records[0], 2);
    trace(&mut records[4], 2);
    device(&mut records[4]).health = Fact::Known(Health {
        percent_used: Some(3),
        ..Health::default()
    });
    let found = history(&records, &[verification(0)], &[]);
    assert_eq!((found.signs.len(), found.missing.len()), (0, 0));
    assert_eq!(found.outlook, Outlook::NoSign);
}

#[test]
fn more_retries_are_a_sign_of_wear_and_fewer_are_none() {
    for (retries, signs) in [
        ([1, 40], vec![(1_000.0, 40_000.0)]),
        ([40, 1], vec![]),
        ([3, 3], vec![]),
    ] {
        let mut records = steady();
        trace(&mut records[0], retries[0]);
        trace(&mut records[4], retries[1]);
        let found = history(&records, &[verification(0)], &[]);
        let wanted = signs.iter();
        let wanted = wanted.map(|&(first, last)| WearSign::MoreRetries { first, last });
        assert_eq!(found.signs, wanted.collect::<Vec<_>>(), "{retries:?}");
        assert_eq!(found.missing, [MissingProof::WearData]);
    }
}

/// Chance, or another host with another reader, is no sign.
#[test]
fn retries_count_only_if_more_are_proven_on_one_host() {
    for (retries, other_host) in [([1, 2], false), ([0, 5], false), ([1, 40], true)] {
        let mut records = steady();
        records.push(steady().remove(4));
        records[5].series = "of-another-host".to_owned();
        records[5].started_unix_ms += DAY_MS;
        if other_host {
            records[5].environment.hostname = "pi5".to_owned();
        }
        trace(&mut records[0], retries[0]);
        trace(&mut records[5], retries[1]);
        let found = history(&records, &[verification(0)], &[]);
        assert_eq!(found.signs, [], "{retries:?}");
        let alone = found.missing.contains(&MissingProof::Retries { have: 1 });
        assert_eq!(alone, other_host, "{retries:?}");
    }
}

/// Two against two series do not prove even a fall to 40%, which is no sign of health.
#[test]
fn a_fall_that_is_not_proven_is_not_called_well() {
    let records = monthly(&[30.0, 28.0, 20.0, 12.0]);
    let found = history(&records, &[verification(0)], &[]);
    assert_eq!((found.outlook, found.signs.len()), (Outlook::Unknown, 0));
    assert_eq!(found.missing[0], MissingProof::MoreSeries { have: 4 });
    let found = history(
        &monthly(&[900.0, 901.0, 900.0, 1_400.0]),
        &[verification(0)],
        &[],
    );
    assert_eq!(found.outlook, Outlook::Unknown, "faster, but open");
}

/// One steady workload says nothing about another one.
#[test]
fn all_writes_must_keep_up_for_a_card_to_be_well() {
    let mut records = steady();
    for (record, iops) in records.iter_mut().zip([400.0, 390.0, 300.0, 250.0, 160.0]) {
        let phase = Fake {
            name: "seq-write",
            op: Op::Write,
            random: false,
            block: 4096,
            iops,
            seconds: 2,
            sync_ms: None,
        };
        let mut other = run_of(0, &[phase]);
        record.phases.append(&mut other.phases);
    }
    let found = history(&records, &[verification(0)], &[]);
    assert_eq!(found.trends.len(), 2);
    assert_eq!((found.outlook, found.signs.len()), (Outlook::Unknown, 0));
    assert_eq!(found.missing[0], MissingProof::MoreSeries { have: 5 });
}

#[test]
fn one_traced_series_does_not_show_a_change_of_retries() {
    let mut records = steady();
    trace(&mut records[2], 900);
    let found = history(&records, &[verification(0)], &[]);
    assert!(found.missing.contains(&MissingProof::Retries { have: 1 }));
    assert_eq!(found.signs, []);
}

#[test]
fn bad_blocks_outweigh_everything_else() {
    let found = history(&steady(), &[verification(4096)], &[]);
    let bad = WearSign::BadBlocks {
        at_unix_ms: 1_710_000_000_000,
        bytes: Bytes(4096),
    };
    assert_eq!((found.signs, found.outlook), (vec![bad], Outlook::Failing));
}

#[test]
fn registers_of_life_time_are_read() {
    for (percent, pre_eol, outlook) in [
        (79, "normal", Outlook::NoSign),
        (80, "normal", Outlook::Wearing),
        (100, "normal", Outlook::Failing),
        (10, "warning", Outlook::Wearing),
        (10, "urgent", Outlook::Failing),
    ] {
        let mut records = steady();
        device(&mut records[4]).card = Some(CardRegisters {
            life_time: Fact::Known(format!("0-10 % and {}-{percent} %", percent - 10)),
            pre_eol: Fact::Known(pre_eol.to_owned()),
            ..CardRegisters::default()
        });
        let found = history(&records, &[verification(0)], &[]);
        assert_eq!(found.outlook, outlook, "{percent} {pre_eol}: {found:?}");
        assert!(!found.missing.contains(&MissingProof::WearData));
    }
}
