//! Sentences about the path of an I/O: every variant in both languages.

use super::*;
use hakaru_model::claim::Bottleneck;
use hakaru_model::io_path::{
    BusUse, ClassGroup, DeviceSplit, DifferencePart, IoClass, IssuerKind, NoTraceCost, PathLimit,
    PathRefusal, PriceRefusal, TimeDifference, TimePart, TraceCost,
};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};

#[path = "../../tests/it/sentences/japanese.rs"]
mod japanese;

use japanese::in_both;

/// Checks a text in both languages, and returns the English one.
fn said(text: impl Fn() -> String) -> String {
    let english = in_both(&[], text);
    for wrong in ["{", "}", "  ", " %", "‰", "Some(", ".."] {
        assert!(!english.contains(wrong), "{wrong:?} in: {english}");
    }
    assert!(!english.ends_with(['.', ' ', ':', ';']), "{english}");
    english
}

#[test]
fn every_class_and_part_has_its_name() {
    for class in IoClass::ALL {
        said(|| io_class_title(class));
        for part in [DifferencePart::Device(class), DifferencePart::Behind(class)] {
            said(|| difference_part(part, true));
        }
    }
    for group in ClassGroup::ALL {
        if group != ClassGroup::Fat {
            said(|| class_group(group).to_owned());
        }
        said(|| class_of_op(class_group(group), Op::Read));
    }
    for (part, journal) in TimePart::ALL
        .into_iter()
        .flat_map(|it| [(it, true), (it, false)])
    {
        said(|| time_part(part, journal).to_owned());
        let operation = || traced_operation(Some(Op::Write), true);
        said(|| {
            time_went(
                &operation(),
                PathLabel::Median.text(),
                &[(part, 0.56)],
                journal,
            )
        });
    }
}

#[test]
fn says_what_an_io_became() {
    let became = |layer, requests: f64, classes: Vec<(IoClass, f64)>| {
        said(|| {
            became(&BecameText {
                layer,
                op: Op::Write,
                size: Some(Bytes(4096)),
                requests,
                bytes: 4096.0 * requests,
                classes: classes.clone(),
            })
        })
    };
    let fat = vec![
        (IoClass::Data, 1.0),
        (IoClass::Fat1, 0.25),
        (IoClass::Journal, 2.0),
        (IoClass::Bitmap, 0.05),
        (IoClass::InodeTable, 0.04),
    ];
    assert_eq!(
        became(Some("ext4"), 3.34, fat),
        "On ext4, each 4 KiB write became 3.3 requests and 13.4 KiB at the device: the data, the first FAT (0.25 per I/O), \
         the journal twice and occasionally the bitmaps or the inode tables"
    );
    let joined = vec![(IoClass::Data, 0.0625), (IoClass::Unknown, 0.2)];
    became(None, 0.26, joined);
    became(None, 2.5, vec![(IoClass::Data, 2.5)]);
}

#[test]
fn every_limit_of_the_speed_has_its_sentence() {
    for limit in [PathLimit::Device, PathLimit::Host, PathLimit::Both] {
        said(|| path_limit(limit, 0.93, 1, false));
        said(|| path_limit(limit, 0.93, 3, true));
        said(|| path_limit_name(limit).to_owned());
    }
    let used = |limit| {
        said(|| {
            bus_use(
                &BusUse {
                    speed: BytesPerSec(2.89e6),
                    ceiling: BytesPerSec(3.125e6),
                    limit,
                },
                0.925,
            )
        })
    };
    assert_eq!(
        used(Bottleneck::Host),
        "The bus is the limit: it carried 2.89 MB/s, 92% of its maximum 3.12 MB/s"
    );
    for limit in [
        Bottleneck::Card,
        Bottleneck::Unclear,
        Bottleneck::Contradiction,
    ] {
        used(limit);
    }
    said(|| {
        waited_behind(
            &traced_operation(Some(Op::Read), false),
            3e6,
            &[(IoClass::Data, 3e6)],
        )
    });
    said(|| no_flushes("mmcblk0"));
    for op in Op::ALL {
        said(|| host_amplification(op, 1.39));
        said(|| counters_differ(op, Bytes(4096), Bytes(8192)));
    }
}

#[test]
fn every_weakness_of_a_trace_has_its_sentence() {
    let all = [
        None,
        Some(NoTraceCost::Short {
            expected: Nanos::from_secs(1),
            needed: Nanos::from_millis(2400),
        }),
        Some(NoTraceCost::UnknownLength),
        Some(NoTraceCost::FewIos),
        Some(NoTraceCost::Ended),
        Some(NoTraceCost::Whole),
        Some(NoTraceCost::NotSwitched),
        Some(NoTraceCost::SlowSwitching),
    ];
    let number = |because: &Option<NoTraceCost>| match because {
        None => 0,
        Some(NoTraceCost::Short { .. }) => 1,
        Some(NoTraceCost::UnknownLength) => 2,
        Some(NoTraceCost::FewIos) => 3,
        Some(NoTraceCost::Ended) => 4,
        Some(NoTraceCost::Whole) => 5,
        Some(NoTraceCost::NotSwitched) => 6,
        Some(NoTraceCost::SlowSwitching) => 7,
    };
    assert!(all.iter().map(number).eq(0..8));
    for because in all {
        said(|| trace_cost_unknown(because));
    }
    for margin in [0.006, 0.2] {
        let (mean, pairs) = (0.011, 8);
        let cost = TraceCost {
            mean,
            margin,
            pairs,
        };
        said(|| trace_cost(&cost));
    }
    said(|| events_lost(0.025, 3133, 125_706));
    said(|| events_complete(0, 125_706, false));
    said(|| events_complete(0, 125_706, true));
    said(|| traced_run().to_owned());
    said(|| foreign_threads().to_owned());
    said(|| recorded_by_ftrace().to_owned());
    said(|| classified_early(5120));
    said(|| operations_limited(1_000_000));
    said(|| unmatched(241, 17));
    said(|| bio_device("zram0"));
    said(|| device_on_host("loop0"));
    said(|| shown_of_traced(2, 3));
    for kind in [
        IssuerKind::Kernel,
        IssuerKind::OwnProcess,
        IssuerKind::OtherProcess,
    ] {
        said(|| other_issuers(kind, Bytes(4096), &["kworker"]).unwrap_or_default());
    }
    said(|| merged_bios(451, 13_161));
    said(|| split_bios(12));
    said(|| reached_and_asked(11_395, 4096));
    let (nothing, help) = not_traced();
    assert_ne!(nothing, help);
    said(|| not_traced().0.to_owned());
    said(|| from_counters().to_owned());
}

#[test]
fn every_difference_has_its_sentence() {
    for refusal in [
        PathRefusal::NotTraced,
        PathRefusal::OneSideTraced,
        PathRefusal::EventsLost,
        PathRefusal::NoCommonOperation,
        PathRefusal::NotRepresentative {
            traced: 9.0,
            measured: 2.5,
        },
    ] {
        said(|| path_refusal(refusal));
    }
    let parts = [
        (DifferencePart::Device(IoClass::Fat1), 3e6),
        (DifferencePart::Behind(IoClass::Unknown), 1e6),
        (DifferencePart::Time(TimePart::WakeUp), -1e6),
    ];
    let operation = || traced_operation(Some(Op::Write), true);
    for (shares, ends) in [(true, None), (false, Some((1e6, 5e6)))] {
        said(|| {
            takes_longer(&LongerText {
                operation: &operation(),
                names: ("vfat", "raw"),
                difference: 3e6,
                ends,
                parts: &parts,
                shares,
                journal: false,
            })
        });
    }
    let zero = TimeDifference {
        value: 1e5,
        ci95: Some((-1e6, 2e6)),
    };
    said(|| no_difference_of_times(&operation(), ("raw", "vfat"), &zero, (3, 4)));
    said(|| takes_the_same(&operation(), ("raw", "vfat"), 3e6));
}

#[test]
fn every_price_and_traffic_has_its_sentence() {
    let split = DeviceSplit {
        requests: 59e3,
        bytes: 12e3,
        jumps: 20e3,
        remainder: 9e3,
        runs: 5,
        misfit: 0.021,
    };
    for (op, shares) in [(Op::Write, true), (Op::Read, false), (Op::Trim, true)] {
        let names = ("vfat", "raw");
        said(|| {
            device_split(&DeviceSplitText {
                op,
                names,
                split,
                shares,
            })
        });
    }
    for refusal in [
        PriceRefusal::TooFewRuns { runs: 1, needed: 4 },
        PriceRefusal::Indistinct,
        PriceRefusal::Misfit { misfit: 0.12 },
    ] {
        said(|| price_refusal(Op::Write, refusal));
    }
    let side = |name, bytes, requests| SideTraffic {
        name,
        bytes,
        requests,
    };
    for slow in [(2.0, 2.0), (0.5, 2.0), (1.0, 2.0)] {
        let (slow, fast) = (side("vfat", slow.0, slow.1), side("raw", 1.0, 1.0));
        said(|| traffic_differs(&slow, &fast).unwrap_or_default());
    }
}

#[test]
fn sentences_end_with_the_full_stop_of_their_language() {
    let both = || as_sentences(&[traced_run().to_owned(), no_flushes("sda")]);
    assert!(both().contains(". The kernel") && both().ends_with('.'));
    let japanese = with_language(Language::Japanese, both);
    assert!(
        japanese.ends_with('。') && !japanese.contains("。。"),
        "{japanese}"
    );
}
