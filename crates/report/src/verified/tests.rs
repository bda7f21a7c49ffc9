//! Tests of the verdicts.

use super::page::{
    verification_charts, verification_html, verification_markdown, verification_terminal,
};
use super::*;
use crate::escape::columns_of;
use hakaru_model::annotation::Annotations;
use hakaru_model::facts::{Environment, Fact, Identity, TargetKind, UnknownReason};
use hakaru_model::integrity::{
    BlockState, Capacity, FORMAT, IntegrityVerdict, Span, SpeedMap, SpeedPoint,
};
use hakaru_model::units::Nanos;

fn span(offset: u64, len: u64, state: BlockState) -> Span {
    Span {
        offset: Bytes(offset),
        len: Bytes(len),
        state,
    }
}

/// A map of 64 segments with decreasing speed, as on the inner tracks of a disk.
fn map(of: Bytes, nanos_per_byte: u64) -> SpeedMap {
    let len = of.0 / 64;
    let point = |n: u64| {
        let elapsed = Nanos(len * nanos_per_byte * (64 + n / 2) / 64);
        SpeedPoint {
            offset: Bytes(n * len),
            len: Bytes(len),
            elapsed,
        }
    };
    SpeedMap {
        points: (0..64).map(point).collect(),
    }
}

fn verification(scope: Scope, capacity: Capacity, bad: Vec<Span>) -> Verification {
    let claimed = Bytes(64 << 30);
    let bad_bytes = Bytes(bad.iter().map(|span| span.len.0).sum());
    Verification {
        format: FORMAT,
        id: "019b8d5e-0000-7001-8000-000000000001".to_owned(),
        version: "0.1.0".to_owned(),
        started_unix_ms: 1_767_607_200_000,
        elapsed: Nanos::from_secs(5_400),
        target: Identity {
            path: "/dev/sdz".into(),
            kind: TargetKind::BlockDevice,
            filesystem: None,
            device: Fact::Unknown(UnknownReason::Text("it is not there any more".to_owned())),
            system_disk: false,
            label: None,
        },
        environment: Environment {
            hostname: "raspberrypi".to_owned(),
            ..Environment::default()
        },
        scope,
        seed: 1,
        completed: true,
        verdict: IntegrityVerdict {
            claimed,
            capacity,
            good: Bytes(claimed.0 - bad_bytes.0),
            bad,
            bad_bytes,
            write_speed: map(claimed, 50),
            read_speed: map(claimed, 25),
        },
    }
}

fn shown(verification: &Verification) -> String {
    let text = verification_terminal(verification, &Annotations::default(), 80, false);
    assert!(text.lines().all(|line| columns_of(line) <= 80), "{text}");
    text
}

#[test]
fn a_good_card() {
    insta::assert_snapshot!(shown(&verification(
        Scope::Whole { restored: false },
        Capacity::AsClaimed,
        Vec::new()
    )));
}

#[test]
fn a_card_that_wraps_around() {
    let distance = Bytes(8 << 30);
    let bad = vec![span(0, 56 << 30, BlockState::Overwritten { distance })];
    insta::assert_snapshot!(shown(&verification(
        Scope::Whole { restored: false },
        Capacity::Wraps { real: distance },
        bad
    )));
}

/// Regression: the strip of the page marked the beginning, where the data of the end was found, as bad.
#[test]
fn the_chart_marks_the_range_without_memory() {
    let distance = Bytes(8 << 30);
    let bad = vec![
        span(0, 56 << 30, BlockState::Overwritten { distance }),
        span(60 << 30, 512, BlockState::Unreadable),
    ];
    let real = Capacity::Wraps { real: distance };
    let mut found = verification(Scope::Whole { restored: false }, real, bad);
    // What has no memory has no speed: 20 MB/s are those of the part that exists.
    let missing = |point: &&mut SpeedPoint| point.offset >= distance;
    for point in found.verdict.write_speed.points.iter_mut().filter(missing) {
        point.elapsed.0 *= 4;
    }
    let all: Vec<(Bytes, Bytes)> = super::page::bad_ranges(&found)
        .iter()
        .map(|range| (range.offset, range.len))
        .collect();
    let end = found.verdict.claimed.0 - distance.0;
    assert_eq!(all, [(distance, Bytes(end))]);
    let charts = verification_charts(&found);
    let [capacity, map] = &charts[..] else {
        panic!("a bar of the capacity and a map of the speed")
    };
    assert!(
        map.title.contains("20") && !map.title.contains("5.0"),
        "{}",
        map.title
    );
    let svg = map.svg(800);
    assert!(svg.contains("from 8 GiB: no memory"), "{svg}");
    let svg = capacity.svg(800);
    let share = distance.0 as f64 / found.verdict.claimed.0 as f64;
    let percent = crate::number::significant(share * 100.0);
    assert!(
        svg.contains(&format!("Only {percent}% of the claimed")),
        "{svg}"
    );
    assert!(svg.contains("8 GiB exist"), "{svg}");
}

#[test]
fn a_worn_out_card_lists_the_first_places() {
    let states = [
        BlockState::Lost,
        BlockState::Damaged,
        BlockState::Unreadable,
        BlockState::Unwritable,
    ];
    let bad = (0..12)
        .map(|n| span(n << 30, 512, states[n as usize % 4]))
        .collect();
    insta::assert_snapshot!(shown(&verification(
        Scope::Whole { restored: false },
        Capacity::AsClaimed,
        bad
    )));
}

/// The main sentence of the report.
fn verdict(verification: &Verification) -> String {
    verdict_text(verification).verdict
}

#[test]
fn every_scope_says_what_was_looked_at() {
    let good = |scope| verdict(&verification(scope, Capacity::AsClaimed, Vec::new()));
    insta::assert_snapshot!(good(Scope::Samples { restored: true }), @"Good: it holds the 64 GiB that it claims, according to samples of 64 GiB.");
    insta::assert_snapshot!(good(Scope::FreeSpace { folder: "/mnt".into() }), @"Good: all 64 GiB of free space came back as written.");
    insta::assert_snapshot!(good(Scope::Range { start: Bytes(1 << 20), end: Bytes(64 << 30), of: Bytes(1 << 40) }), @"Good: all from 1 MiB to 64 GiB came back as written.");
    let ends = verification(
        Scope::Whole { restored: false },
        Capacity::Ends {
            real: Bytes(31 << 30),
        },
        Vec::new(),
    );
    insta::assert_snapshot!(verdict(&ends), @"False capacity: it claims 64 GiB and holds 31 GiB. Writes beyond that are lost.");
}

#[test]
fn what_was_ended_early_is_no_verdict() {
    let mut early = verification(
        Scope::Whole { restored: false },
        Capacity::AsClaimed,
        Vec::new(),
    );
    early.completed = false;
    early.verdict.good = Bytes(10 << 30);
    early.verdict.read_speed.points.truncate(10);
    insta::assert_snapshot!(verdict(&early), @"Ended early: no defect in the first 10 GiB of 64 GiB.");
    early.verdict.bad_bytes = Bytes(512);
    early.verdict.bad = vec![span(0, 512, BlockState::Damaged)];
    insta::assert_snapshot!(verdict(&early), @"Defective: 512 B of the 10.0 GiB checked did not come back as written (ended early).");
    early.verdict = IntegrityVerdict {
        good: Bytes(0),
        bad_bytes: Bytes(0),
        bad: Vec::new(),
        ..early.verdict
    };
    early.verdict.read_speed = SpeedMap::default();
    insta::assert_snapshot!(verdict(&early), @"Ended before anything was read back: no verdict yet.");
    assert!(shown(&early).contains("Written at") && !shown(&early).contains("Read at"));
}

#[test]
fn the_page_has_the_map_and_no_foreign_markup() {
    let mut hostile = verification(
        Scope::FreeSpace {
            folder: "/mnt/<script>".into(),
        },
        Capacity::AsClaimed,
        vec![span(1 << 30, 4096, BlockState::Lost)],
    );
    hostile.target.path = "/mnt/\u{1b}[31m<script>".into();
    let page = verification_html(&hostile, &Annotations::default());
    assert!(
        page.contains("<figure id=\"speed-map\">")
            && page.contains("GiB from the beginning")
            && page.contains("4 KiB from 1 GiB")
    );
    assert!(!page.contains("<script") && !page.contains('\u{1b}'));
    assert_eq!(page, verification_html(&hostile, &Annotations::default()));
    // Without writes there is no map, but the page must still be complete.
    hostile.verdict.write_speed = SpeedMap::default();
    hostile.verdict.read_speed = SpeedMap::default();
    assert!(!verification_html(&hostile, &Annotations::default()).contains("<svg"));
}

#[test]
fn every_form_has_the_title_and_the_note() {
    let of = verification(
        Scope::Whole { restored: false },
        Capacity::AsClaimed,
        Vec::new(),
    );
    let named = Annotations {
        title: Some("The card of the <kitchen> Pi".to_owned()),
        note: Some("bought in May".to_owned()),
        ..Annotations::default()
    };
    let page = verification_html(&of, &named);
    assert!(
        page.contains("<h1>The card of the &lt;kitchen&gt; Pi</h1>"),
        "{page}"
    );
    let terminal = verification_terminal(&of, &named, 80, false);
    for form in [&page, &verification_markdown(&of, &named), &terminal] {
        assert!(form.contains("bought in May"), "{form}");
        assert!(form.contains("/dev/sdz"), "{form}");
    }
    assert!(terminal.starts_with("The card of the <kitchen> Pi\n"));
    let unnamed = verification_html(&of, &Annotations::default());
    assert!(unnamed.contains("/dev/sdz</h1>"), "{unnamed}");
}

#[test]
fn rows_are_for_programs() {
    let text = verification_csv(&verification(
        Scope::Whole { restored: false },
        Capacity::AsClaimed,
        Vec::new(),
    ));
    assert_eq!(text.lines().count(), 129);
    insta::assert_snapshot!(text.lines().take(2).collect::<Vec<_>>().join("\n"), @r"
    way,offset_bytes,length_bytes,elapsed_ns,bytes_per_s
    write,0,1073741824,53687091200,20000000
    ");
}

#[test]
fn odd_sizes_do_not_panic() {
    for claimed in [0, 1, 511, u64::MAX] {
        let mut odd = verification(
            Scope::Whole { restored: false },
            Capacity::Ends { real: Bytes(1) },
            vec![],
        );
        odd.verdict.claimed = Bytes(claimed);
        odd.verdict.bad = vec![span(u64::MAX / 2, 7, BlockState::Lost)];
        for width in [0, 60, 400] {
            let _ = (
                verification_terminal(&odd, &Annotations::default(), width, true),
                verification_html(&odd, &Annotations::default()),
                verification_csv(&odd),
            );
        }
    }
}
