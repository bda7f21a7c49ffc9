//! The page of a verification: verdict, speed map, bad places, circumstances.

use super::{Grade, VerdictText, begins_at, duration, headline, place, state, told};
use crate::chart::{Chart, Plot, Section};
use crate::escape::{markup, plain};
use crate::html::{charts, shell};
use crate::svg::{Band, Timeline, TimelineLine};
use crate::table::DataTable;
use crate::{facts, number, time};
use hakaru_model::integrity::{SpeedMap, Verification};
use hakaru_model::units::Bytes;

/// Rows of the table of bad places; the record has up to a thousand.
const MOST_ROWS: usize = 200;

/// Renders a verification as one HTML page.
pub fn verification_html(verification: &Verification) -> String {
    let under = [
        format!("hakaru {}", plain(&verification.version)),
        time::utc(verification.started_unix_ms),
        duration(verification.elapsed),
    ];
    let under = format!("<p class=\"quiet\">{}</p>\n", markup(&under.join(" · ")));
    let body = [
        verdict(verification),
        tiles(verification),
        speed_map(verification),
        bad_places(verification),
        limits(verification),
        circumstances(verification),
    ];
    shell(&headline(verification), &under, &body.concat())
}

fn verdict(verification: &Verification) -> String {
    let VerdictText {
        grade,
        verdict,
        advice,
        ..
    } = told(verification);
    let text = format!(
        "<p><b>{}</b></p>\n<p>{}</p>\n",
        markup(&verdict),
        markup(&advice)
    );
    let text = text.replace("<p></p>\n", "");
    if grade == Grade::Good {
        text
    } else {
        format!("<div class=\"caveats\">\n{text}</div>\n")
    }
}

fn tiles(verification: &Verification) -> String {
    let found = &verification.verdict;
    let speed = |name: &str, map: &SpeedMap| {
        let (Some(mean), Some((slowest, fastest))) = (map.whole().rate(), map.extremes()) else {
            return String::new();
        };
        let mb = |rate: f64| number::significant(rate / 1e6);
        let range = format!("{} to {} along it", mb(slowest.0), mb(fastest.0));
        format!(
            "<li>{name}<b>{} <span>MB/s</span></b><small>{range}</small></li>\n",
            mb(mean.0)
        )
    };
    let amount = |name: &str, bytes: Bytes, small: String| {
        let (figure, unit) = bytes.figure_and_unit();
        format!("<li>{name}<b>{figure} <span>{unit}</span></b><small>{small}</small></li>\n")
    };
    let bad = amount(
        "Not as written",
        found.bad_bytes,
        format!("of {} looked at", found.checked()),
    );
    format!(
        "<ul class=\"tiles\">\n{}{}{}{}</ul>\n",
        amount(
            "Claimed",
            found.claimed,
            found
                .capacity
                .real()
                .map_or(String::new(), |real| format!("holds {real}"))
        ),
        bad,
        speed("Writing", &found.write_speed),
        speed("Reading", &found.read_speed)
    )
}

/// The largest unit of which there are at least two.
fn unit(size: Bytes) -> (f64, &'static str) {
    let units = [
        (1u64 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    let found = units.into_iter().find(|(unit, _)| size.0 >= 2 * unit);
    found.map_or((1.0, "bytes"), |(unit, name)| (unit as f64, name))
}

fn speed_map(verification: &Verification) -> String {
    let found = &verification.verdict;
    let end = Bytes(begins_at(verification).0 + found.claimed.0);
    let (scale, name) = unit(end);
    let points = |map: &SpeedMap| -> Vec<(f64, f64)> {
        let middle = |point: &hakaru_model::integrity::SpeedPoint| {
            let at = (point.offset.0 as f64 + point.len.0 as f64 / 2.0) / scale;
            point.rate().map(|rate| (at, rate.0 / 1e6))
        };
        map.points.iter().filter_map(middle).collect()
    };
    let (write, read) = (points(&found.write_speed), points(&found.read_speed));
    if write.is_empty() && read.is_empty() {
        return String::new();
    }
    let bands = found.bad.iter().map(|span| Band {
        from: span.offset.0 as f64 / scale,
        to: (span.offset.0 + span.len.0) as f64 / scale,
        text: format!("{} from {}: {}", span.len, span.offset, state(span.state)),
    });
    let bands: Vec<Band> = bands.collect();
    let note = match bands.is_empty() {
        true => "Mean speed of each stretch, from the beginning to the end.",
        false => {
            "Mean speed of each stretch, from the beginning to the end. The strip below marks bad places."
        }
    };
    let timeline = Timeline {
        unit: "MB/s".to_owned(),
        axis: format!("{name} from the beginning"),
        until: Some(end.0 as f64 / scale),
        series: vec!["writing".to_owned(), "reading".to_owned()],
        lines: vec![
            TimelineLine {
                series: 0,
                points: write,
            },
            TimelineLine {
                series: 1,
                points: read,
            },
        ],
        marks: Vec::new(),
        bands,
    };
    let chart = Chart {
        name: "speed-map".to_owned(),
        section: Section::Speed,
        title: "Speed along the addresses".to_owned(),
        note: note.to_owned(),
        plot: Plot::Timeline(timeline),
        table: table(verification),
    };
    format!("<h2>Speed map</h2>\n{}", charts(&[chart]))
}

fn table(verification: &Verification) -> DataTable {
    let found = &verification.verdict;
    let head = ["From", "Length", "Writing, MB/s", "Reading, MB/s"]
        .map(str::to_owned)
        .to_vec();
    let longest = if found.write_speed.points.len() >= found.read_speed.points.len() {
        &found.write_speed
    } else {
        &found.read_speed
    };
    let step = longest.points.len().div_ceil(MOST_ROWS).max(1);
    let rate = |map: &SpeedMap, offset: Bytes| {
        let at = map
            .points
            .partition_point(|point| point.offset.0 <= offset.0);
        let point = map.points[..at]
            .last()
            .filter(|point| offset.0 < point.offset.0 + point.len.0);
        let rate = point.and_then(hakaru_model::integrity::SpeedPoint::rate);
        rate.map_or("–".to_owned(), |rate| number::significant(rate.0 / 1e6))
    };
    let rows = longest.points.iter().step_by(step).map(|point| {
        let speeds = [&found.write_speed, &found.read_speed].map(|map| rate(map, point.offset));
        [
            vec![place(point.offset), point.len.to_string()],
            speeds.to_vec(),
        ]
        .concat()
    });
    DataTable {
        head,
        rows: rows.collect(),
    }
}

fn bad_places(verification: &Verification) -> String {
    let bad = &verification.verdict.bad;
    if bad.is_empty() {
        return String::new();
    }
    let row = |span: &hakaru_model::integrity::Span| {
        vec![
            place(span.offset),
            span.offset.0.to_string(),
            span.len.to_string(),
            state(span.state),
        ]
    };
    let head = ["At", "Byte", "Length", "What was found"]
        .map(str::to_owned)
        .to_vec();
    let table = DataTable {
        head,
        rows: bad.iter().take(MOST_ROWS).map(row).collect(),
    };
    let more = match bad.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        n => format!(
            "<p class=\"quiet\">and {} more; the record has them</p>\n",
            number::count(n as u64)
        ),
    };
    format!(
        "<h2>Bad places</h2>\n{}{more}",
        table.scrolling("cards wide", "Bad places")
    )
}

fn limits(verification: &Verification) -> String {
    let items: String = told(verification)
        .limits
        .iter()
        .map(|limit| format!("<li>{}</li>\n", markup(limit)))
        .collect();
    format!("<h2>What this cannot tell</h2>\n<ul class=\"facts\">\n{items}</ul>\n")
}

fn circumstances(verification: &Verification) -> String {
    let mut rows = String::new();
    for line in facts::surroundings(&verification.target, &verification.environment) {
        let class = if line.known { "" } else { " class=\"quiet\"" };
        let value = markup(&line.value);
        rows += &format!(
            "<tr><th scope=\"row\">{}</th><td{class}>{value}</td></tr>\n",
            line.name()
        );
    }
    rows += &format!(
        "<tr><th scope=\"row\">Id</th><td>{}</td></tr>\n",
        markup(&verification.id)
    );
    format!(
        "<h2>Circumstances</h2>\n<details open><summary>Target, device and host</summary>\n\
         <table class=\"pairs wide\"><tbody>\n{rows}</tbody></table></details>\n"
    )
}
