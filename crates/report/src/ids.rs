//! Identifiers of verdicts, claims and bottlenecks in CSV and Parquet.
//!
//! They never change, are listed in docs/FORMAT.md, and are independent of the displayed text.

use hakaru_model::advice::{AdviceVerdict, Fitness};
use hakaru_model::finding::{
    Bottleneck, Claim, ClaimVerdict, Comparison, IntervalCaveat, SummaryOrigin, Verdict,
};
use hakaru_model::io_path::{DifferencePart, IoClass, PathLimit, TimePart};

/// Where the figures of a series come from, in JSON: `hakaru 0.1.0`, `fio-3.39 (imported)`, `published: figures.csv`.
pub fn origin_id(origin: &SummaryOrigin) -> String {
    match origin {
        SummaryOrigin::Unknown => String::new(),
        SummaryOrigin::Measured { version } => format!("hakaru {version}"),
        SummaryOrigin::Imported { program, .. } => format!("{program} (imported)"),
        SummaryOrigin::Published { source } => format!("published: {source}"),
    }
}

/// Whether storage is suitable for a use, and how certain that is.
pub(crate) fn advice(verdict: AdviceVerdict) -> &'static str {
    use AdviceVerdict::*;
    match verdict {
        Firm(Fitness::Fits) => "fits",
        Firm(Fitness::WithCare) => "with_care",
        Firm(Fitness::DoesNot) => "does_not",
        Probable(Fitness::Fits) => "probably_fits",
        Probable(Fitness::WithCare) => "probably_with_care",
        Probable(Fitness::DoesNot) => "probably_does_not",
        Inconclusive => "inconclusive",
        NotMeasured => "not_measured",
        NotPossible => "not_possible",
    }
}

/// Identifier of a claim: `C10`, `U3`, `V30`, `A1`, `read_up_to_100_MB/s`.
pub(crate) fn claim(claim: Claim) -> String {
    match claim {
        Claim::SpeedClass(n) => format!("C{n}"),
        Claim::UhsGrade(n) => format!("U{n}"),
        Claim::VideoClass(n) => format!("V{n}"),
        Claim::AppClass(n) => format!("A{n}"),
        Claim::ReadSpeed(mb) => format!("read_up_to_{mb}_MB/s"),
        Claim::WriteSpeed(mb) => format!("write_up_to_{mb}_MB/s"),
    }
}

/// Verdict on a claim.
pub(crate) fn claim_verdict(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Kept => "kept",
        ClaimVerdict::Missed => "missed",
        ClaimVerdict::NotShown => "not_shown",
        ClaimVerdict::Unclear => "unclear",
        ClaimVerdict::NotMeasured => "not_measured",
    }
}

/// The bottleneck of the throughput.
pub(crate) fn bottleneck(limit: Bottleneck) -> &'static str {
    match limit {
        Bottleneck::Host => "host",
        Bottleneck::Card => "card",
        Bottleneck::Unclear => "unclear",
        Bottleneck::Contradiction => "contradiction",
    }
}

/// Reason why an interval may be narrower than its confidence level implies.
pub(crate) fn interval_caveat(caveat: IntervalCaveat) -> &'static str {
    match caveat {
        IntervalCaveat::FewRuns => "few_runs",
        IntervalCaveat::Dependent => "dependent",
        IntervalCaveat::Skewed => "skewed",
        IntervalCaveat::TwoModes => "two_modes",
    }
}

/// Verdict of a comparison on the second side.
pub(crate) fn comparison(comparison: &Comparison) -> &'static str {
    compared(comparison.verdict, comparison.ratio)
}

fn compared(verdict: Verdict, ratio: f64) -> &'static str {
    match verdict {
        Verdict::Different if ratio > 1.0 => "higher",
        Verdict::Different if ratio < 1.0 => "lower",
        Verdict::Different => "different",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided { .. } => "undecided",
    }
}

/// Class of block requests, in the names of figures.
pub(crate) fn io_class(class: IoClass) -> &'static str {
    match class {
        IoClass::Data => "data",
        IoClass::Journal => "journal",
        IoClass::Fat1 => "fat1",
        IoClass::Fat2 => "fat2",
        IoClass::Directory => "directory",
        IoClass::FsInfo => "fs_info",
        IoClass::Superblock => "superblock",
        IoClass::GroupDescriptors => "group_descriptors",
        IoClass::Bitmap => "bitmap",
        IoClass::InodeTable => "inode_table",
        IoClass::Checkpoint => "checkpoint",
        IoClass::SegmentTable => "segment_table",
        IoClass::NodeAddressTable => "node_address_table",
        IoClass::SegmentSummary => "segment_summary",
        IoClass::Node => "node",
        IoClass::Metadata => "metadata",
        IoClass::AllocatedSince => "allocated_since",
        IoClass::OtherPartition => "other_partition",
        IoClass::Unknown => "unknown",
        IoClass::Flush => "flush",
    }
}

/// Part of a difference of times, in the names of figures.
pub(crate) fn difference_part(part: DifferencePart) -> String {
    match part {
        DifferencePart::Device(class) => format!("device_{}", io_class(class)),
        DifferencePart::Behind(class) => format!("behind_{}", io_class(class)),
        DifferencePart::Time(part) => time_part(part).to_owned(),
    }
}

/// What limits the speed of a traced phase.
pub(crate) fn path_limit(limit: PathLimit) -> &'static str {
    match limit {
        PathLimit::Device => "device",
        PathLimit::Host => "host",
        PathLimit::Both => "both",
    }
}

/// Part of the time of an operation, in the names of figures.
pub(crate) fn time_part(part: TimePart) -> &'static str {
    match part {
        TimePart::Flush => "flush",
        TimePart::Data => "data",
        TimePart::Metadata => "metadata",
        TimePart::WaitingBehind => "waiting_behind",
        TimePart::BlockQueue => "block_queue",
        TimePart::WakeUp => "wake_up",
        TimePart::JournalCommit => "journal_commit",
        TimePart::FileSystem => "file_system",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The identifiers in a row of docs/FORMAT.md, in order.
    fn documented(figure: &str) -> Vec<String> {
        let format = include_str!("../../../docs/FORMAT.md");
        let row = format
            .lines()
            .find(|line| line.starts_with(&format!("| `{figure}`")))
            .unwrap_or_else(|| panic!("docs/FORMAT.md has no row for {figure}"));
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        cell.split(", ")
            .map(|id| id.trim_matches('`').to_owned())
            .collect()
    }

    const VERDICTS: [AdviceVerdict; 9] = [
        AdviceVerdict::Firm(Fitness::Fits),
        AdviceVerdict::Firm(Fitness::WithCare),
        AdviceVerdict::Firm(Fitness::DoesNot),
        AdviceVerdict::NotMeasured,
        AdviceVerdict::Inconclusive,
        AdviceVerdict::Probable(Fitness::Fits),
        AdviceVerdict::Probable(Fitness::WithCare),
        AdviceVerdict::Probable(Fitness::DoesNot),
        AdviceVerdict::NotPossible,
    ];

    /// Regression: the CSV had `with_care` where the page had "inconclusive".
    #[test]
    fn identifiers_separate_what_pages_separate() {
        for a in VERDICTS {
            for b in VERDICTS {
                let same = crate::text::advice(a) == crate::text::advice(b);
                assert_eq!(advice(a) == advice(b), same, "{a:?} {b:?}");
            }
        }
    }

    /// Scripts read these identifiers, so changing one breaks them. If this test fails, add a new identifier instead
    /// of changing the expectation.
    #[test]
    fn identifiers_are_frozen_and_documented() {
        let advice = VERDICTS.map(advice);
        assert_eq!(
            advice,
            [
                "fits",
                "with_care",
                "does_not",
                "not_measured",
                "inconclusive",
                "probably_fits",
                "probably_with_care",
                "probably_does_not",
                "not_possible"
            ]
        );
        assert_eq!(documented("advice_"), advice);
        let claims = [
            ClaimVerdict::Kept,
            ClaimVerdict::Missed,
            ClaimVerdict::NotShown,
            ClaimVerdict::Unclear,
            ClaimVerdict::NotMeasured,
        ]
        .map(claim_verdict);
        assert_eq!(
            claims,
            ["kept", "missed", "not_shown", "unclear", "not_measured"]
        );
        assert_eq!(documented("claim_"), claims);
        let limits = [
            Bottleneck::Host,
            Bottleneck::Card,
            Bottleneck::Unclear,
            Bottleneck::Contradiction,
        ]
        .map(bottleneck);
        assert_eq!(limits, ["host", "card", "unclear", "contradiction"]);
        assert_eq!(documented("limit_read"), limits);
        let intervals = [
            IntervalCaveat::FewRuns,
            IntervalCaveat::Dependent,
            IntervalCaveat::Skewed,
            IntervalCaveat::TwoModes,
        ]
        .map(interval_caveat);
        assert_eq!(intervals, ["few_runs", "dependent", "skewed", "two_modes"]);
        assert_eq!(documented("interval_caveats"), intervals);
        let comparisons = [
            compared(Verdict::Different, 2.0),
            compared(Verdict::Different, 0.5),
            compared(Verdict::Different, f64::NAN),
            compared(Verdict::Equivalent, 1.0),
            compared(Verdict::Undecided { needed: None }, 1.0),
        ];
        assert_eq!(
            comparisons,
            ["higher", "lower", "different", "equivalent", "undecided"]
        );
        assert_eq!(documented("ratio_to_card"), comparisons);
    }

    #[test]
    fn claims_have_their_identifiers() {
        let all = [
            Claim::SpeedClass(10),
            Claim::UhsGrade(3),
            Claim::VideoClass(30),
            Claim::AppClass(1),
            Claim::ReadSpeed(100.0),
            Claim::WriteSpeed(12.5),
        ];
        let wanted = [
            "C10",
            "U3",
            "V30",
            "A1",
            "read_up_to_100_MB/s",
            "write_up_to_12.5_MB/s",
        ];
        assert_eq!(all.map(claim), wanted);
    }

    /// The names of figures about traced runs are those of the record.
    #[test]
    fn classes_and_parts_are_named_as_in_a_record() {
        let stored = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let classes = IoClass::ALL.map(io_class);
        let of_record = IoClass::ALL.map(|class| stored(serde_json::to_value(class).unwrap()));
        assert_eq!(classes.map(str::to_owned), of_record);
        assert_eq!(documented("path_CLASS_"), classes);
        let parts = TimePart::ALL.map(time_part);
        let of_record = TimePart::ALL.map(|part| stored(serde_json::to_value(part).unwrap()));
        assert_eq!(parts.map(str::to_owned), of_record);
        assert_eq!(documented("path_time_PART"), parts);
    }
}
