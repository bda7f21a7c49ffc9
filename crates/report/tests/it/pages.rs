//! Snapshots of the rendered reports.

use crate::support::{self, well_formed};
use hakaru_model::campaign::{PreparedStep, StepKind};
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::Summary;
use hakaru_model::job::Op;
use hakaru_model::measured::{LeftOutReason, LeftOutRun};
use hakaru_model::record::FailureKind;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_report::{
    Section, campaign_charts, campaign_html, campaign_markdown, charts, comparison_html,
    comparison_markdown, csv, csv_with, html, html_with, markdown, markdown_with, terminal,
    terminal_with,
};
use std::collections::BTreeSet;

#[test]
fn a_terminal_of_80_columns() {
    let text = terminal(&support::sandisk(), 80, false);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_terminal_of_120_columns() {
    insta::assert_snapshot!(terminal(&support::sandisk(), 120, false));
}

#[test]
fn a_wide_terminal_has_room_for_the_workload() {
    insta::assert_snapshot!(terminal(&support::kioxia(), 160, false));
}

#[test]
fn colours_change_nothing_but_colours() {
    let text = terminal(&support::sandisk(), 100, true);
    let mut plain = String::new();
    for part in text.split('\x1b') {
        plain.push_str(
            part.strip_prefix('[')
                .and_then(|p| p.split_once('m'))
                .map_or(part, |(_, rest)| rest),
        );
    }
    assert_eq!(plain, terminal(&support::sandisk(), 100, false));
}

#[test]
fn any_width_will_do() {
    for width in [0, 1, 40, 61, 79, 1000, usize::MAX] {
        assert!(terminal(&support::sandisk(), width, true).contains("Sequential"));
    }
}

#[test]
fn markdown_for_an_article() {
    insta::assert_snapshot!(markdown(&[support::small()]));
}

/// Regression: the page of one run of a campaign said that no preparation was recorded.
#[test]
fn the_preparation_of_a_campaign_is_on_the_page_of_a_run() {
    let mut summary = support::small();
    let step = |step| PreparedStep {
        step,
        elapsed: Nanos::from_secs(3),
        speed: Vec::new(),
        written: Bytes(0),
    };
    summary.prepared = vec![
        step(StepKind::Discarded { secure: false }),
        step(StepKind::CachesDropped),
    ];
    let page = markdown(&[summary]);
    assert!(
        page.contains("| Preparation | discarded (TRIM), in 3 s, page cache dropped, in 3 s |"),
        "{page}"
    );
    assert!(!page.contains("none recorded here"), "{page}");
}

#[test]
fn csv_for_a_spreadsheet() {
    let text = csv(&[support::small()]);
    let columns = |line: &str| line.matches(',').count();
    assert!(
        text.lines().all(|line| columns(line) == 18),
        "no field of this one holds a comma"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn comparisons_in_words() {
    insta::assert_snapshot!(
        "comparison_terminal",
        support::compared(&support::sandisk(), &support::sandisk_vfat(), 100)
    );
    let (a, b) = (support::sandisk(), support::sandisk_vfat());
    let page = comparison_markdown(&a, &b, &support::comparisons());
    insta::assert_snapshot!(
        "comparison_markdown",
        page.split("## Sustained")
            .next()
            .unwrap()
            .split("## Limits and method")
            .next()
            .unwrap()
    );
}

#[test]
fn conclusions_on_a_terminal() {
    let text = terminal_with(&support::small(), &support::findings(), 80, false);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let conclusions = text
        .split("Suitability")
        .nth(1)
        .unwrap()
        .split("Target ")
        .next()
        .unwrap();
    insta::assert_snapshot!(format!("Suitability{}", conclusions.trim_end()));
}

#[test]
fn conclusions_in_markdown_and_csv() {
    let page = markdown_with(&[support::small()], &[support::findings()], None);
    let conclusions = page
        .split("## Suitability")
        .nth(1)
        .unwrap()
        .split("## Limits and method")
        .next()
        .unwrap();
    insta::assert_snapshot!(
        "conclusions_markdown",
        format!("## Suitability{conclusions}")
    );
    let lines = csv_with(&[support::small()], &[support::findings()]);
    assert!(lines.lines().all(|line| line.matches(',').count() == 18));
    let conclusions: Vec<&str> = lines
        .lines()
        .skip(csv(&[support::small()]).lines().count())
        .collect();
    insta::assert_snapshot!("conclusions_csv", conclusions.join("\n"));
}

#[test]
fn conclusions_on_a_page() {
    let one = html_with(&[support::small()], &[support::findings()]);
    well_formed(&one).unwrap();
    assert!(
        one.contains("Suitability")
            && one.contains("✗ not suitable")
            && one.contains("Rated vs. measured")
    );
    let two = html_with(
        &[support::sandisk(), support::sandisk_vfat()],
        &[support::findings(), Default::default()],
    );
    well_formed(&two).unwrap();
    assert!(two.contains("<td>–"));
    // Without conclusions, the page has no section for them.
    assert_eq!(
        html_with(&[support::small()], &[Default::default()]),
        html(&[support::small()])
    );
}

#[test]
fn each_kind_of_chart_by_itself() {
    for chart in charts(&[support::small()]) {
        let document = chart.svg(480);
        well_formed(&document).unwrap();
        insta::assert_snapshot!(format!("svg_{}", chart.name), document);
    }
}

#[test]
fn a_page_of_one_series() {
    let page = html(&[support::small()]);
    well_formed(&page).unwrap();
    insta::assert_snapshot!(page);
}

#[test]
fn pages_of_several_series_are_sound() {
    let three = [
        support::sandisk(),
        support::sandisk_vfat(),
        support::kioxia(),
    ];
    well_formed(&html(&three)).unwrap();
    well_formed(&comparison_html(
        &three[0],
        &three[1],
        &support::comparisons(),
    ))
    .unwrap();
    let names: BTreeSet<String> = charts(&three).into_iter().map(|chart| chart.name).collect();
    assert_eq!(names.len(), charts(&three).len());
}

#[test]
fn ids_on_a_page_are_unique_and_charts_are_described() {
    let page = html(&[support::sandisk(), support::sandisk_vfat()]);
    let ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let unique: BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(ids.len(), unique.len());
    let figures = page.matches("<figure").count();
    // For wide and for narrow screens; collapsed charts are drawn once.
    let drawn = figures + page.matches("<div class=\"wide-chart\">").count();
    assert!(drawn > figures);
    assert_eq!(page.matches("role=\"img\" aria-label=\"").count(), drawn);
    assert_eq!(page.matches("Chart data").count(), figures);
}

#[test]
fn a_page_needs_nothing_from_outside() {
    let page = html(&[support::sandisk()]);
    assert!(page.contains("default-src 'none'"));
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    // Patterns of the page itself.
    let outside = outside.replace("url(#hk-p", "");
    for word in [
        "http:", "https:", "<script", "@import", "url(", "src=", "<link",
    ] {
        assert!(!outside.contains(word), "{word}");
    }
    // Programs other than browsers render these as black.
    assert!(!page.contains("var(--") && !page.contains("light-dark("));
}

#[test]
fn the_same_findings_give_the_same_bytes() {
    let all = || [support::sandisk(), support::sandisk_vfat()];
    assert_eq!(html(&all()), html(&all()));
    assert_eq!(
        (markdown(&all()), csv(&all())),
        (markdown(&all()), csv(&all()))
    );
}

#[test]
fn nothing_to_report_is_said() {
    assert!(html(&[]).contains("nothing to report"));
    assert!(markdown(&[]).contains("nothing to report"));
    assert_eq!(csv(&[]).lines().count(), 1);
    let mut bare = support::small();
    bare.phases.clear();
    bare.runs.clear();
    assert!(charts(&[bare.clone()]).is_empty());
    well_formed(&html(std::slice::from_ref(&bare))).unwrap();
    assert!(terminal(&bare, 80, false).contains("SanDisk"));
}

#[test]
fn thousands_of_runs_stay_a_page() {
    let mut many = support::sandisk();
    let line = many.phases[7].timelines[0].clone();
    for phase in &mut many.phases {
        let value = phase.iops.values[0];
        phase.iops.values = vec![value; 10_000];
        phase.bandwidth.values = vec![value * 4096.0; 10_000];
        phase.timelines = vec![line.clone(); 10_000];
    }
    many.runs = (0..10_000).map(|i| format!("run-{i}")).collect();
    let page = html(&[many]);
    assert!(page.len() < 4_000_000, "{}", page.len());
    assert!(page.contains("24 of 10,000 runs are drawn") && page.contains("and 9,980 more"));
}

/// Regression: a chart whose section was not listed was silently omitted.
#[test]
fn every_chart_is_on_every_page() {
    let three = [
        support::sandisk(),
        support::sandisk_vfat(),
        support::kioxia(),
    ];
    let of_runs = |summaries: &[Summary]| {
        let article = markdown_with(summaries, &[], Some("svg"));
        (charts(summaries), html(summaries), article)
    };
    let campaign = support::paths::traced_campaign();
    let article = campaign_markdown(&campaign, Some("svg"));
    let of_campaign = (
        campaign_charts(&campaign),
        campaign_html(&campaign),
        article,
    );
    let traced = [support::paths::traced_ext4(), support::paths::traced_vfat()];
    let of_one = of_runs(&[support::paths::traced_suite()]);
    let all = [
        of_runs(&three),
        of_runs(&three[..1]),
        of_runs(&traced),
        of_one,
        of_campaign,
    ];
    let mut sections = BTreeSet::new();
    for (charts, page, article) in all {
        assert!(!charts.is_empty());
        for chart in charts {
            let (name, title) = (&chart.name, chart.section.title());
            assert!(page.contains(&format!("<figure id=\"{name}\">")), "{name}");
            assert!(page.contains(&format!(">{title}</h2>")), "{title}");
            assert!(article.contains(&format!("(<svg/{name}.svg>)")), "{name}");
            sections.insert(chart.section);
        }
    }
    assert_eq!(sections.len(), Section::ALL.len());
}

/// Regression: a page printed "1 I/Os failed" for a missed rate, and omitted runs that do not count.
#[test]
fn every_report_names_missed_limits_and_runs_left_out() {
    let mut summary = support::small();
    for phase in &mut summary.phases {
        (phase.errors, phase.detail.limits_missed) = (0, 1);
    }
    let because = LeftOutReason::Unfinished;
    summary.caveats.extend([
        Caveat::RuleBroken {
            phase: "rand-write".into(),
            op: Some(Op::Write),
            kind: FailureKind::RateMissed {
                wanted: 1000,
                got: 900,
            },
        },
        Caveat::LeftOut {
            phase: "durable".into(),
            runs: vec![LeftOutRun { run: 2, because }],
            of: 2,
        },
    ]);
    let one = std::slice::from_ref(&summary);
    for report in [html(one), markdown(one), terminal(&summary, 200, false)] {
        let unescaped = report.replace('\\', "").replace('\u{a0}', " ");
        assert!(unescaped.contains("Ended early by rate_min=1000: write reached only 900 B/s"));
        assert!(report.contains("only 1 of 2 runs counts; left out: run 2"));
        assert!(!report.contains("I/Os failed"));
    }
    assert!(csv(one).contains(",limits_missed,1,,1,"));
}
