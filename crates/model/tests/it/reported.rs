//! Figures of imported results: decimal numbers, nested blocks and details of workers.

use hakaru_model::job::Op;
use hakaru_model::reported::{
    Decimal, OpReport, Percentile, Reported, ReportedBlock, ReportedFigure, StatedRate,
    WorkerReport, op_named,
};
use hakaru_model::units::{Nanos, Quantile};

#[test]
fn decimals_have_a_value_and_a_precision() {
    for (text, value, step, whole, decimals) in [
        ("0", 0.0, 1.0, Some(0), 0),
        ("37", 37.0, 1.0, Some(37), 0),
        ("37.0", 37.0, 0.1, None, 1),
        ("3.75", 3.75, 0.01, None, 2),
        ("0.000000000000000007", 7e-18, 1e-18, None, 18),
    ] {
        let decimal: Decimal = text.parse().unwrap();
        assert!((decimal.value() - value).abs() <= value * 1e-15, "{text}");
        assert!((decimal.step() / step - 1.0).abs() < 1e-12, "{text}");
        assert_eq!(
            (decimal.as_whole(), decimal.decimals()),
            (whole, decimals),
            "{text}"
        );
        assert_eq!(
            (decimal.to_string(), String::from(decimal)),
            (text.into(), text.into())
        );
        assert_eq!(Decimal::try_from(text.to_owned()), Ok(decimal));
    }
    assert_eq!(Decimal::whole(37), "37".parse().unwrap());
    assert!(
        "0.0000000000000000007".parse::<Decimal>().is_err(),
        "19 decimal places"
    );
}

/// Returns a block with figures at two levels, and two nested blocks of one name.
fn block() -> ReportedBlock {
    let mut block = ReportedBlock::new("clat");
    block.word("unit", "usec").word("note", "fast");
    block
        .figure("min", Decimal::whole(3), "k")
        .figure("max", "1532.3".parse().unwrap(), "k");
    block.figure("max", Decimal::whole(5), "");
    for (name, figures) in [("a", 1), ("b", 2), ("a", 4)] {
        let mut part = ReportedBlock::new(name);
        for number in 0..figures {
            part.figure("n", Decimal::whole(10 + number), "");
        }
        block.blocks.push(part);
    }
    block
}

#[test]
fn blocks_find_words_figures_and_parts_by_name() {
    let block = block();
    assert_eq!(
        (block.words_of("unit"), block.words_of("note")),
        (Some("usec"), Some("fast"))
    );
    assert_eq!(block.words_of("max"), None);
    let max = ReportedFigure {
        name: "max".into(),
        value: "1532.3".parse().unwrap(),
        unit: "k".into(),
    };
    assert_eq!(block.get("max"), Some(&max));
    assert_eq!(
        (max.to_string(), format!("{max:>8}|")),
        ("1532.3k".into(), " 1532.3k|".into())
    );
    assert_eq!(block.get("unit"), None);
    let whole = ["min", "max", "n"].map(|name| block.whole(name));
    assert_eq!(whole, [Some(3), None, None]);
    assert_eq!(block.part("b").unwrap().whole("n"), Some(10));
    assert_eq!(block.part("a").unwrap().figures.len(), 1);
    assert_eq!(block.part("clat"), None);
    let figures: Vec<_> = block.parts("a").map(|part| part.figures.len()).collect();
    assert_eq!(figures, [1, 4]);
    assert_eq!(block.parts("c").count(), 0);
}

#[test]
fn counts_of_figures_include_nested_blocks() {
    let mut block = block();
    // 3 of its own, and 1, 2 and 4 of its parts.
    assert_eq!(block.count(), 10);
    assert_eq!(ReportedBlock::new("empty").count(), 0);
    block.blocks[1].blocks.push(ReportedBlock::new("empty"));
    let part = block.blocks[1].clone();
    block.blocks[2].blocks.push(part);
    assert_eq!(block.count(), 12);
}

#[test]
fn workers_are_found_by_phase_and_number() {
    let report = |phase, worker| WorkerReport {
        phase,
        worker,
        members: 10 * phase + worker,
        ..Default::default()
    };
    let reported = Reported {
        workers: vec![report(0, 1), report(1, 0), report(1, 2)],
        ..Reported::default()
    };
    let members = |phase, worker| reported.worker(phase, worker).map(|found| found.members);
    for (phase, worker, found) in [
        (0, 1, Some(1)),
        (1, 0, Some(10)),
        (1, 2, Some(12)),
        (0, 0, None),
        (1, 1, None),
        (2, 2, None),
    ] {
        assert_eq!(members(phase, worker), found, "{phase} {worker}");
    }
}

#[test]
fn operations_without_details_have_no_rate() {
    let rate = Some(StatedRate::once(2.5));
    assert_eq!(
        rate,
        Some(StatedRate {
            mean: 2.5,
            deviation: None,
            runs: 1
        })
    );
    let empty = OpReport::default();
    let bandwidth = OpReport {
        bytes_per_s: rate,
        ..OpReport::default()
    };
    let iops = OpReport {
        iops: rate,
        ..OpReport::default()
    };
    let percentile = Percentile {
        share: Quantile::P99,
        value: Nanos(7),
    };
    let latency = OpReport {
        clat: vec![percentile],
        ..OpReport::default()
    };
    let found =
        [empty, bandwidth, iops, latency].map(|report| (report.is_empty(), report.has_rate()));
    assert_eq!(
        found,
        [(true, false), (false, true), (false, true), (false, false)]
    );
}

#[test]
fn operations_are_named_in_any_case() {
    let named = ["read", "WRITE", "Trim", "sync", ""].map(op_named);
    assert_eq!(
        named,
        [Some(Op::Read), Some(Op::Write), Some(Op::Trim), None, None]
    );
}
