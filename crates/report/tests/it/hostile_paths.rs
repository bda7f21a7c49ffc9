//! Paths of an I/O with any names and numbers.

use crate::support::paths::{self, traced};
use crate::support::{self, well_formed};
use hakaru_model::finding::Summary;
use hakaru_model::io_path::{IoPath, SizeCount, TimeParts, TraceCost};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_report::{
    comparison_html, csv, html, markdown, path_charts, path_html, path_markdown, path_terminal,
    terminal,
};
use proptest::prelude::*;

fn durable(path: IoPath) -> Summary {
    traced(support::sandisk(), vec![("durable", path)])
}

/// Replaces all numbers of a path.
fn odd(count: u64, nanos: f64, share: f64) -> IoPath {
    let mut path = paths::ext4();
    path.window = Nanos(count);
    path.asked = vec![
        SizeCount {
            op: Op::Write,
            size: Bytes(count),
            count,
        },
        SizeCount {
            op: Op::Write,
            size: Bytes(count / 2),
            count,
        },
    ];
    for class in &mut path.classes {
        (class.requests, class.bytes, class.bios) = (count, Bytes(count), count);
        (class.merges, class.splits) = (count, count);
        class.sizes.iter_mut().for_each(|size| size.count = count);
        class
            .issuers
            .iter_mut()
            .for_each(|issuer| issuer.bytes = Bytes(count));
    }
    for of in &mut path.operations {
        of.mean = TimeParts([nanos; 8]);
        of.median = Some(TimeParts([share, nanos, 0.0, -nanos, 1.0, 2.0, 3.0, 4.0]));
        of.count = count;
    }
    for request in &mut path.sample.requests {
        request.sector = count;
        request.queued = Nanos(count);
    }
    path.layout
        .iter_mut()
        .for_each(|range| (range.sector, range.sectors) = (count, count));
    path.tracer
        .events
        .iter_mut()
        .for_each(|event| (event.counted, event.lost) = (count, count / 3));
    path.cost = Some(TraceCost {
        mean: nanos,
        margin: share,
        pairs: 1,
    });
    path
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_names_stay_text(text in any::<String>()) {
        let text = format!("x{text}<script>\u{1b}[31m|`");
        let summary = durable(paths::hostile_path(&text));
        let page = path_html(&summary);
        prop_assert!(well_formed(&page).is_ok(), "{:?}", well_formed(&page));
        prop_assert!(!page.contains("<script"));
        let shown = path_terminal(&summary, 80, false);
        prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        let article = path_markdown(&summary, None);
        let tame = path_markdown(&durable(paths::hostile_path("x")), None);
        prop_assert_eq!(article.lines().count(), tame.lines().count());
        prop_assert!(!article.contains('<'));
    }

    #[test]
    fn numbers_past_all_sense_draw_nothing_senseless(
        count in prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], nanos: f64, share: f64,
    ) {
        let summary = durable(odd(count, nanos, share));
        for chart in path_charts(&summary) {
            for width in [320, 540] {
                let document = chart.svg(width);
                prop_assert!(well_formed(&document).is_ok());
                let drawn = document.split("</desc>").nth(1).unwrap_or_default();
                prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{}", drawn);
            }
        }
        let both = paths::compared(vec![summary, paths::traced_vfat()]);
        let _ = (html(&both), markdown(&both), csv(&both), terminal(&both[0], 80, true));
        let _ = (path_html(&both[0]), path_terminal(&both[0], 80, true), comparison_html(&both[0], &both[1], &[]));
    }
}
