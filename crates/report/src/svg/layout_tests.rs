//! Measures the text of charts of generated data: nothing overlaps, leaves the chart, or is under 11 px.

use super::*;
use proptest::prelude::*;

/// A box of a text: left, right, top, bottom.
type TextBox = (f64, f64, f64, f64, String);

/// The boxes of all texts. Widths are estimated for a wide font, so that real text is narrower.
fn boxes(svg: &str) -> Vec<TextBox> {
    let of = |text: &TextElement| {
        let widths = text.runs.iter().map(|run| {
            let bold = if run.bold { canvas::BOLD } else { 1.0 };
            canvas::width_of(&run.text) * run.size / 12.0 * bold
        });
        let width: f64 = widths.sum();
        let left = text.x - width * text.anchor;
        let size = text.runs.iter().map(|run| run.size).fold(0.0, f64::max);
        let shown = text.runs.iter().map(|run| run.text.as_str());
        // Capitals reach about 0.73 em, descenders 0.2 em.
        let (top, bottom) = (text.y - 0.73 * size, text.y + 0.2 * size);
        (left, left + width, top, bottom, shown.collect())
    };
    texts(svg).iter().map(of).collect()
}

fn check(svg: &str, width: f64) -> Result<(), TestCaseError> {
    let boxes = boxes(svg);
    for text in texts(svg) {
        prop_assert!(text.runs.iter().all(|run| run.size >= 11.0));
    }
    for (nth, a) in boxes.iter().enumerate() {
        prop_assert!(
            a.0 >= -1.0 && a.1 <= width + 1.0,
            "outside of {}: {:?}",
            width,
            a
        );
        for b in &boxes[..nth] {
            let apart =
                a.1 <= b.0 + 0.5 || b.1 <= a.0 + 0.5 || a.3 <= b.2 + 0.5 || b.3 <= a.2 + 0.5;
            prop_assert!(apart, "{:?} overlaps {:?}", a, b);
        }
    }
    Ok(())
}

fn frame(width: u32) -> Frame {
    Frame {
        id: "c".to_owned(),
        title: "title".to_owned(),
        description: String::new(),
        width,
        alone: None,
    }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9 <&\"]{1,60}",
        "[測定札書込ーァ-ン]{1,30}",
        "W{1,50}",
        Just("SanDisk MAX ENDURANCE (0x123456789abc)".to_owned()),
        any::<String>(),
    ]
}

/// Figures over twelve orders of magnitude.
fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 1e-3..1e9f64, 1.0..100.0f64, 40.0..41.0f64]
}

fn bar() -> impl Strategy<Value = Option<Bar>> {
    let letters = prop_oneof![Just(String::new()), "[a-f]{1,4}"];
    let values = (figure(), 0.0..1.0f64, 0..40usize, letters, any::<bool>());
    let bar = values.prop_map(|(value, spread, runs, letters, is_rated)| {
        if is_rated {
            return rated_bar(value, value * (1.0 + 3.0 * spread));
        }
        let deviation = value * spread;
        let run = |nth: usize| value + deviation * ((nth * 7 % 11) as f64 / 5.0 - 1.0);
        Bar {
            value,
            deviation: Some(deviation),
            runs: (0..runs).map(run).collect(),
            n: Some(runs as u64),
            mean: crate::number::significant(value),
            spread: crate::number::significant(deviation),
            letters,
            rated: (runs % 3 == 0).then_some(value * 1.7),
            range: (runs % 5 == 1).then_some((value * 0.4, value * 1.9)),
        }
    });
    prop::option::weighted(0.95, bar)
}

/// A measured speed with its rated speed.
fn rated_bar(value: f64, rated: f64) -> Bar {
    let [measured, printed] = [value, rated].map(crate::number::significant);
    Bar {
        value,
        mean: format!("{measured} / {printed}"),
        rated: Some(rated),
        ..Bar::default()
    }
}

fn chart_bars() -> impl Strategy<Value = Bars> {
    (1..9usize, 1..31usize).prop_flat_map(|(series, groups)| {
        let group = (name(), prop::collection::vec(bar(), series));
        let group = group.prop_map(|(label, bars)| BarGroup { label, bars });
        let names = prop::collection::vec(name(), series);
        (names, prop::collection::vec(group, groups)).prop_map(|(series, groups)| Bars {
            unit: "IOPS".to_owned(),
            series,
            groups,
            missing: crate::text::no_bar(),
        })
    })
}

fn ratio_plot() -> impl Strategy<Value = RatioPlot> {
    let row = (name(), 0.0..300.0f64, 0.0..1.0f64, any::<bool>());
    let row = row.prop_map(|(label, ratio, spread, differs)| RatioRow {
        label,
        ratio,
        interval: Some((ratio * (1.0 - spread), ratio * (1.0 + spread))),
        differs,
        verdict: String::new(),
        text: format!("{}×", crate::number::significant(ratio)),
    });
    prop::collection::vec(row, 1..31).prop_map(|rows| RatioPlot { rows })
}

fn sweep_plot() -> impl Strategy<Value = SweepPlot> {
    let lines = prop::collection::vec((name(), prop::collection::vec(figure(), 12)), 1..13);
    (lines, any::<bool>(), any::<bool>(), 3..12usize).prop_map(|(lines, log, latency, points)| {
        let x = |nth: usize| {
            if log {
                f64::powi(2.0, nth as i32)
            } else {
                nth as f64
            }
        };
        let point = |(nth, y): (usize, &f64)| SweepPoint {
            x: x(nth),
            y: *y,
            interval: Some((y * 0.9, y * 1.1)),
        };
        let line = |(name, ys): &(String, Vec<f64>)| SweepLine {
            name: name.clone(),
            points: ys.iter().take(points).enumerate().map(point).collect(),
        };
        SweepPlot {
            unit: if latency { "" } else { "MB/s" }.to_owned(),
            axis: "Block size".to_owned(),
            log,
            ticks: (0..points)
                .map(|nth| (x(nth), format!("{} KiB", x(nth))))
                .collect(),
            log_y: points % 2 == 0,
            window: lines[0]
                .1
                .first()
                .filter(|_| !log && !latency)
                .map(|mean| WindowLines {
                    from: x(points / 2),
                    to: x(points - 1),
                    mean: *mean,
                    band: 0.1,
                    fit: (mean * 1.04, mean * 0.96),
                    name: "mean".to_owned(),
                }),
            lines: lines.iter().map(line).collect(),
        }
    })
}

fn latencies() -> impl Strategy<Value = LatencyChart> {
    let line = (name(), 1..10_000_000u64, 1e3..1e9f64);
    let line = line.prop_map(|(name, count, typical)| {
        let value = |q: f64| hakaru_model::units::Nanos((typical * (1.0 + q * 9.0)) as u64);
        let shares = [0.1, 0.5, 0.9, 0.99, 0.999, 1.0];
        let marked =
            [0.5, 0.9, 0.99].map(|q| (hakaru_model::units::Quantile::new(q).unwrap(), value(q)));
        LatencyLine {
            name,
            count,
            curve: shares.map(|q| (q, value(q))).to_vec(),
            marked: marked.to_vec(),
        }
    });
    prop::collection::vec(line, 1..13).prop_map(|lines| LatencyChart { lines })
}

fn timelines() -> impl Strategy<Value = Timeline> {
    let lines = prop::collection::vec((name(), prop::collection::vec(figure(), 4..60)), 1..13);
    (
        lines,
        name(),
        prop::collection::vec((0.0..1.0f64, figure()), 0..4),
    )
        .prop_map(|(lines, mark, levels)| {
            let points =
                |ys: &Vec<f64>| ys.iter().enumerate().map(|(x, y)| (x as f64, *y)).collect();
            let level = |(at, value): &(f64, f64)| SpeedLevel {
                from: at * 20.0,
                to: at * 20.0 + 10.0,
                value: *value,
                text: format!("{} MB/s", crate::number::significant(*value)),
            };
            Timeline {
                unit: "MB/s".to_owned(),
                axis: "GB written".to_owned(),
                series: lines.iter().map(|(name, _)| name.clone()).collect(),
                lines: TimelineLine::each(lines.iter().map(|(_, ys)| points(ys))),
                marks: vec![TimelineMark {
                    at: 2.0,
                    text: mark,
                }],
                levels: levels.iter().map(level).collect(),
                ..Timeline::default()
            }
        })
}

#[test]
fn overlaps_and_long_texts_are_found() {
    let text =
        |x: u32, text: &str| format!("<text x=\"{x}\" y=\"20\" class=\"hk-t\">{text}</text>\n");
    assert!(check(&(text(0, "one") + &text(40, "two")), 100.0).is_ok());
    assert!(check(&(text(0, "one") + &text(10, "two")), 100.0).is_err());
    assert!(check(&text(90, "three"), 100.0).is_err());
}

#[test]
fn a_group_without_a_name_has_no_label() {
    let bars_of = |label: &str| Bars {
        unit: "IOPS".to_owned(),
        series: vec!["a".to_owned()],
        groups: vec![BarGroup {
            label: label.to_owned(),
            bars: vec![None],
        }],
        missing: "not measured",
    };
    assert!(!bars(&bars_of(""), &frame(720)).contains('…'));
}

#[test]
fn the_extremes_of_every_series_are_drawn_and_the_others_counted() {
    const SERIES: usize = 20;
    // The fastest and the slowest group of each series lie between the ends of the first one.
    let value = |group: usize, series: usize| match group {
        group if group == 20 + series => 1e6,
        group if group == 60 + series => 1e-6,
        group => 100.0 - group as f64,
    };
    let group = |group: usize| BarGroup {
        label: format!("group {group}."),
        bars: (0..SERIES)
            .map(|series| {
                Some(Bar {
                    value: value(group, series),
                    ..Bar::default()
                })
            })
            .collect(),
    };
    let groups: Vec<BarGroup> = (0..100).map(group).collect();
    let drawn = number_drawn(&groups).unwrap();
    assert!((2 * SERIES..100).contains(&drawn), "{drawn}");
    let svg = bars(
        &Bars {
            unit: "IOPS".to_owned(),
            series: (0..SERIES).map(|series| format!("s{series}")).collect(),
            groups,
            missing: "not measured",
        },
        &frame(720),
    );
    for group in (20..20 + SERIES).chain(60..60 + SERIES) {
        assert!(svg.contains(&format!(">group {group}.<")), "{group}");
    }
    let counted = svg.split(" more<").filter_map(|part| {
        let (_, number) = part.rsplit_once('>')?;
        number.parse::<usize>().ok()
    });
    assert_eq!(counted.sum::<usize>(), 100 - drawn);
}

/// Regression: the empty name of a bar was written to the left of the chart.
#[test]
fn an_empty_name_is_no_text() {
    let data = Bars {
        unit: "IOPS".to_owned(),
        series: vec!["a".to_owned()],
        groups: vec![BarGroup {
            label: String::new(),
            bars: vec![None],
        }],
        missing: "not measured",
    };
    for width in WIDTHS {
        let drawn = bars(&data, &frame(width));
        assert!(!texts(&drawn).is_empty());
        let shown = boxes(&drawn).into_iter().map(|found| found.4);
        assert!(
            shown.into_iter().all(|text| !text.trim().is_empty()),
            "{drawn}"
        );
    }
}

/// Width on a desk, and on a phone.
const WIDTHS: [u32; 3] = [720, 540, 332];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_of_bars_does_not_overlap(data in chart_bars()) {
        for width in WIDTHS {
            check(&bars(&data, &frame(width)), f64::from(width))?;
        }
    }

    #[test]
    fn text_of_ratios_does_not_overlap(data in ratio_plot()) {
        for width in WIDTHS {
            check(&ratios(&data, &frame(width)), f64::from(width))?;
        }
    }

    #[test]
    fn text_of_sweeps_does_not_overlap(data in sweep_plot()) {
        for width in WIDTHS {
            check(&sweep(&data, &frame(width)), f64::from(width))?;
        }
    }

    #[test]
    fn text_of_latencies_does_not_overlap(data in latencies()) {
        for width in WIDTHS {
            check(&latency(&data, &frame(width)), f64::from(width))?;
        }
    }

    #[test]
    fn text_of_timelines_does_not_overlap(data in timelines()) {
        for width in WIDTHS {
            check(&timeline(&data, &frame(width)), f64::from(width))?;
        }
    }

    #[test]
    fn text_around_a_chart_does_not_overlap(title in name(), subtitle in name(), source in name(), data in chart_bars()) {
        for width in WIDTHS {
            let caption = Caption {
                subtitle: subtitle.clone(),
                source: source.clone(),
                theme: ChartTheme::Light,
            };
            let frame = Frame { title: title.clone(), alone: Some(caption), ..frame(width) };
            check(&bars(&data, &frame), frame.room())?;
        }
    }
}
