//! Every typed value has a sentence of one line, with the consequence first and no unfilled placeholder.

use hakaru_model::caveat::Caveat;
use hakaru_model::job::Op;
use hakaru_model::lint::LintWarning;
use hakaru_model::record::{FailureKind, IoError};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use hakaru_report::text;
use std::collections::BTreeSet;

mod campaigns;
mod claims;
mod commands;
mod findings;
mod history;
mod japanese;
mod links;

use japanese::in_both;

const SEC: u64 = 1_000_000_000;
const GIB: Bytes = Bytes(1 << 30);

/// Checks the rules for all sentences.
fn check(said: &str) {
    assert!(!said.is_empty());
    for wrong in ["{", "}", "  ", " %", "‰", "(s)", "Some(", "..", "\n"] {
        assert!(!said.contains(wrong), "{wrong:?} in: {said}");
    }
    assert!(!said.ends_with(['.', ' ', ':', ';']), "{said}");
    assert!(said.chars().count() < 260, "{said}");
}

fn begins_with_a_capital(said: &str) {
    let option = said
        .split(' ')
        .next()
        .is_some_and(|word| word.contains('='));
    assert!(
        option || said.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()),
        "{said}"
    );
}

fn number_of_warning(warning: &LintWarning) -> usize {
    match warning {
        LintWarning::DepthIgnored { .. } => 0,
        LintWarning::DepthBuffered { .. } => 1,
        LintWarning::Buffered { .. } => 2,
        LintWarning::ReadAhead => 3,
        LintWarning::FitsInMemory { .. } => 4,
        LintWarning::NotFlushed => 5,
        LintWarning::SmallFile { .. } => 6,
        LintWarning::Short { .. } => 7,
        LintWarning::EndsEarly { .. } => 8,
        LintWarning::NoRamp => 9,
        LintWarning::OneRun => 10,
        LintWarning::ReadsBack { .. } => 11,
        LintWarning::SameBlocks { .. } => 12,
        LintWarning::Compressible => 13,
        LintWarning::Unit { .. } => 14,
        LintWarning::Misread { .. } => 15,
        LintWarning::Found { .. } => 16,
    }
}

#[test]
fn every_lint_warning_has_its_sentence_and_its_help() {
    let s = str::to_owned;
    let all = [
        LintWarning::DepthIgnored {
            ioengine: s("psync"),
            asked: 8,
        },
        LintWarning::DepthBuffered { asked: 8 },
        LintWarning::Buffered {
            odd_block: Some(Bytes(2300)),
        },
        LintWarning::ReadAhead,
        LintWarning::FitsInMemory {
            size: GIB,
            memory: Bytes(4 << 30),
            odd_block: None,
        },
        LintWarning::NotFlushed,
        LintWarning::SmallFile { size: GIB },
        LintWarning::Short {
            runtime: Nanos(SEC),
            wanted: Nanos(10 * SEC),
        },
        LintWarning::EndsEarly {
            runtime: Nanos(60 * SEC),
            size: GIB,
        },
        LintWarning::NoRamp,
        LintWarning::OneRun,
        LintWarning::ReadsBack { writer: s("w") },
        LintWarning::SameBlocks { clones: 4 },
        LintWarning::Compressible,
        LintWarning::Unit {
            option: s("bs"),
            typed: s("4KiB"),
            means: 4000,
        },
        LintWarning::Misread {
            warning: s("A warning of the parser"),
        },
        LintWarning::Found {
            caveat: Caveat::SystemDisk,
        },
    ];
    let numbers: BTreeSet<usize> = all.iter().map(number_of_warning).collect();
    assert_eq!(numbers, (0..17).collect());
    for warning in &all {
        let said = in_both(&[], || text::lint(warning));
        let help = text::lint_help(warning);
        check(&said);
        begins_with_a_capital(&said);
        let explains_itself = matches!(
            warning,
            LintWarning::Misread { .. } | LintWarning::Found { .. }
        );
        assert_eq!(help.is_empty(), explains_itself, "{said}");
        if !explains_itself {
            check(&in_both(&[], || text::lint_help(warning)));
        }
    }
    assert_eq!(text::lint(&all[14]), "bs=4KiB is 4000 bytes here");
    assert!(text::lint_help(&all[14]).starts_with("type 4K for"));
    assert!(text::lint_help(&all[2]).contains("bs=2560"));
}

#[test]
fn a_failure_names_the_rule_or_the_io() {
    let failure = |kind| {
        let error = IoError {
            action: "read".to_owned(),
            op: Some(Op::Read),
            kind,
            file: "f".to_owned(),
            offset: Bytes(512),
            len: Bytes(4096),
            errno: 5,
            at: Nanos(0),
            mismatches: Vec::new(),
        };
        in_both(&[], || text::failure(&error))
    };
    let slow = |latency, max| {
        let (latency, max) = (Nanos(latency), Nanos(max));
        failure(FailureKind::TooSlow { latency, max })
    };
    let (wanted, got) = (10, 9);
    let texts = [
        slow(12_300_000, 10_000_000),
        // Rounded values would look equal.
        slow(10_000_001, 10_000_000),
        slow(2_000_000, 1_500_000),
        failure(FailureKind::RateMissed { wanted, got }),
        failure(FailureKind::IopsMissed { wanted, got }),
        failure(FailureKind::Io),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    max_latency=10ms: read took 12.3 ms
    max_latency=10ms: read took 10000001 ns
    max_latency=1500us: read took 2 ms
    rate_min=10: read reached only 9 B/s
    rate_iops_min=10: read reached only 9 IOPS
    read of 4 KiB at byte 512 of f: Input/output error (os error 5)
    ");
}
