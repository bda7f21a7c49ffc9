//! The report of a verification: verdict, figures, speed map, bad blocks, limits, environment.

use super::{Grade, VerdictText, begins_at, headline, place, verdict_text};
use crate::chart::{Chart, Plot, Section};
use crate::document::{
    ChartParts, Document, DocumentBlock, Pair, TableStyle, Tile, VerdictBlock, VerdictTone, part,
};
use crate::escape::plain;
use crate::run::target_device_and_host;
use crate::strips::{AddressStrips, FoundStrip, LevelStrip};
use crate::svg::{Band, CardPicture, CardRow, CardShape, Timeline, TimelineLine};
use crate::table::DataTable;
use crate::text::{self, Head, PagePart, VerificationLabel as Label};
use crate::{facts, number, time};
use hakaru_model::annotation::Annotations;
use hakaru_model::integrity::{
    BlockState, IntegrityVerdict, Span, SpeedMap, SpeedPoint, Verification,
};
use hakaru_model::units::Bytes;

/// Maximum number of bad segments on a page; the record has up to 1000.
const MOST_ROWS: usize = 200;
/// Maximum number of bad segments on a terminal.
const FEW_ROWS: usize = 8;

/// Renders a verification as one HTML page, with the title and the note of its annotations.
pub fn verification_html(verification: &Verification, annotations: &Annotations) -> String {
    document(verification, annotations).html()
}

/// Renders a verification as Markdown.
pub fn verification_markdown(verification: &Verification, annotations: &Annotations) -> String {
    document(verification, annotations).markdown(None)
}

/// Renders a verification for a terminal of `width` columns; `color` allows ANSI styles.
pub fn verification_terminal(
    verification: &Verification,
    annotations: &Annotations,
    width: usize,
    color: bool,
) -> String {
    brief(verification, annotations).terminal(width, color)
}

fn document(verification: &Verification, annotations: &Annotations) -> Document {
    let limits = verdict_text(verification).limits.into_iter();
    let limits = limits.map(|limit| (String::new(), limit.to_owned()));
    let lines = facts::surroundings(&verification.target, &verification.environment);
    let id = Pair::from((Label::Id.into(), verification.id.clone()));
    let pairs = lines.into_iter().map(Pair::from).chain([id]).collect();
    let circumstances = target_device_and_host(vec![DocumentBlock::Pairs(pairs)], false);
    let map: Vec<Chart> = speed_map(verification).into_iter().collect();
    let mut blocks = head(verification);
    let capacity = capacity_bar(verification).into_iter().collect();
    blocks.push(DocumentBlock::Charts(capacity));
    let sections = ChartParts {
        charts: &map,
        key: None,
        level: text::charts_of_even_phases(),
        tables: Vec::new(),
        rates_shown: false,
        layer_cost: Vec::new(),
        path: Vec::new(),
        collapsed: false,
        amplification_told: false,
    };
    blocks.extend(sections.blocks());
    // The bar of the capacity shows the range without memory.
    if !found_only_missing_memory(verification) {
        blocks.extend(bad_places(verification, MOST_ROWS));
    }
    let limits = DocumentBlock::Limits(limits.collect());
    blocks.extend(part(
        text::page_part(PagePart::Limits),
        vec![limits, circumstances],
    ));
    whole(verification, annotations, blocks)
}

/// The short form of the report.
fn brief(verification: &Verification, annotations: &Annotations) -> Document {
    let limits = verdict_text(verification).limits.into_iter();
    let limits = limits.map(|limit| (String::new(), limit.to_owned()));
    let lines = facts::surroundings(&verification.target, &verification.environment);
    let id = (Label::Id.into(), verification.id.clone());
    let pairs = facts::brief_of(&lines).into_iter();
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value));
    let map = speed_map(verification).into_iter().collect();
    let mut blocks = head(verification);
    blocks.push(DocumentBlock::Charts(map));
    blocks.extend(bad_places(verification, FEW_ROWS));
    blocks.push(DocumentBlock::Caveats(limits.collect()));
    blocks.push(DocumentBlock::Pairs(
        pairs.chain([id]).map(Pair::from).collect(),
    ));
    whole(verification, annotations, blocks)
}

fn whole(
    verification: &Verification,
    annotations: &Annotations,
    blocks: Vec<DocumentBlock>,
) -> Document {
    let what = headline(verification);
    let title = annotations.title.as_deref().map(plain);
    // Below a title, what was verified comes first.
    let below = title.is_some().then(|| what.clone());
    let circumstances = [
        format!("hakaru {}", verification.version),
        time::utc(verification.started_unix_ms),
        text::duration(verification.elapsed),
    ];
    let note = annotations.note.as_deref().map(plain);
    let under = below.into_iter().chain(circumstances).chain(note);
    let under: Vec<String> = under.collect();
    Document {
        title: title.unwrap_or(what),
        under: vec![(String::new(), under.join(" · "))],
        blocks,
    }
}

/// The verdict and the key figures.
fn head(verification: &Verification) -> Vec<DocumentBlock> {
    let VerdictText {
        grade,
        verdict,
        advice,
        limits: _,
    } = verdict_text(verification);
    let verdict = VerdictBlock {
        sign: match grade {
            Grade::Good => "✓",
            Grade::Bad => "✗",
            Grade::Open => "–",
        },
        tone: match grade {
            Grade::Good => VerdictTone::Good,
            Grade::Bad => VerdictTone::Bad,
            Grade::Open => VerdictTone::Open,
        },
        text: verdict,
        advice,
    };
    vec![
        DocumentBlock::Verdict(verdict),
        DocumentBlock::Tiles(tiles(verification)),
    ]
}

fn tiles(verification: &Verification) -> Vec<Tile> {
    let found = &verification.verdict;
    let tile = |name: Label, (figure, unit): (String, &str), note: String| Tile {
        name: name.into(),
        figure,
        unit: unit.to_owned(),
        note,
    };
    let size = |bytes: Bytes| match bytes {
        Bytes(0) => ("0".to_owned(), "B"),
        bytes => bytes.figure_and_unit(),
    };
    let speed = |name: Label, map: &SpeedMap| {
        let (mean, (slowest, fastest)) = (map.whole().rate()?, map.extremes()?);
        let [mean, slowest, fastest] = [mean, slowest, fastest].map(megabytes);
        let note = text::speeds_along(&slowest, &fastest);
        Some(tile(name, (mean, "MB/s"), note))
    };
    let holds = found.capacity.real().map(text::holds);
    let of = text::of_checked(found.checked());
    let mut tiles = vec![
        tile(
            Label::Claimed,
            size(found.claimed),
            holds.unwrap_or_default(),
        ),
        tile(Label::NotAsWritten, size(found.bad_bytes), of),
    ];
    let (written, read) = (
        of_memory(found, &found.write_speed),
        of_memory(found, &found.read_speed),
    );
    tiles.extend(speed(Label::WrittenAt, &written));
    tiles.extend(speed(Label::ReadAt, &read));
    tiles
}

fn megabytes(rate: hakaru_model::units::BytesPerSec) -> String {
    number::significant(rate.0 / 1e6)
}

/// The largest unit in which the size is at least 2.
fn unit(size: Bytes) -> (f64, &'static str) {
    let units = [
        (1u64 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    let found = units.into_iter().find(|(unit, _)| size.0 >= 2 * unit);
    found.map_or((1.0, Label::Bytes.text()), |(unit, name)| {
        (unit as f64, name)
    })
}

/// End of the tested range.
fn end(verification: &Verification) -> Bytes {
    Bytes(
        begins_at(verification)
            .0
            .saturating_add(verification.verdict.claimed.0),
    )
}

/// The charts of a verification, to be saved individually.
pub fn verification_charts(verification: &Verification) -> Vec<Chart> {
    let charts = [capacity_bar(verification), speed_map(verification)];
    charts.into_iter().flatten().collect()
}

/// The real capacity as a part of the claimed one; `None` if the device holds what it claims.
fn capacity_bar(verification: &Verification) -> Option<Chart> {
    let found = &verification.verdict;
    let real = found.capacity.real()?;
    let missing = Bytes(found.claimed.0.saturating_sub(real.0));
    let share = real.0 as f64 / found.claimed.0.max(1) as f64;
    let row = CardRow {
        label: text::exists(real),
        text: text::does_not_exist(missing),
        shape: CardShape::Real(share),
    };
    let about = text::missing_memory(found.capacity);
    let length = |from: Bytes, len: Bytes, what| vec![place(from), len.to_string(), what];
    Some(Chart {
        name: "capacity".to_owned(),
        section: Section::Map,
        title: text::real_share(&number::significant(share * 100.0)),
        note: text::claimed_addresses(found.claimed),
        plot: Plot::Card(CardPicture { rows: vec![row] }),
        table: DataTable {
            head: [Head::From, Head::Length, Head::WhatWasFound]
                .map(String::from)
                .to_vec(),
            rows: vec![
                length(begins_at(verification), real, text::exists(real)),
                length(real, missing, about),
            ],
        },
    })
}

fn speed_map(verification: &Verification) -> Option<Chart> {
    let found = &verification.verdict;
    let (scale, name) = unit(end(verification));
    // Reads have the first color on every page.
    let speeds = [&found.read_speed, &found.write_speed].map(|map| points(map, scale));
    if speeds.iter().all(Vec::is_empty) {
        return None;
    }
    let bands = bad_ranges(verification).into_iter().map(|range| Band {
        from: range.offset.0 as f64 / scale,
        to: (range.offset.0 as f64 + range.len.0 as f64) / scale,
        text: text::bad_range(range.offset, range.len, &range.what),
    });
    let timeline = Timeline {
        unit: "MB/s".to_owned(),
        axis: text::from_beginning(name),
        until: Some(end(verification).0 as f64 / scale),
        series: vec![Label::ReadingLine.into(), Label::WritingLine.into()],
        lines: TimelineLine::each(speeds),
        bands: bands.collect(),
        ..Timeline::default()
    };
    Some(Chart {
        name: "speed-map".to_owned(),
        section: Section::Map,
        title: map_title(&verification.verdict),
        note: text::segments_note(!found.bad.is_empty()).to_owned(),
        plot: Plot::Along(timeline, strips(verification)),
        table: table(verification),
    })
}

/// The part of a map that has memory behind it; all of it if the device holds what it claims.
fn of_memory(found: &IntegrityVerdict, map: &SpeedMap) -> SpeedMap {
    let real = found.capacity.real();
    let exists = |point: &&SpeedPoint| real.is_none_or(|real| point.offset < real);
    SpeedMap {
        points: map.points.iter().filter(exists).cloned().collect(),
    }
}

/// The range of the speeds along the device.
fn map_title(found: &IntegrityVerdict) -> String {
    let range = |what: Label, map: &SpeedMap| {
        let (slowest, fastest) = map.extremes()?;
        let [slowest, fastest] = [slowest, fastest].map(megabytes);
        Some(text::speed_range(what.text(), &slowest, &fastest))
    };
    let write = range(Label::Writing, &of_memory(found, &found.write_speed));
    let read = match write {
        Some(_) => Label::ReadingLine,
        None => Label::Reading,
    };
    let ranges = write
        .into_iter()
        .chain(range(read, &of_memory(found, &found.read_speed)));
    match &ranges.collect::<Vec<_>>()[..] {
        [] => Label::Map.into(),
        ranges => text::enumerated(ranges),
    }
}

/// The center of each segment in units of `scale` bytes, with its speed in MB/s.
fn points(map: &SpeedMap, scale: f64) -> Vec<(f64, f64)> {
    let center = |point: &SpeedPoint| {
        let at = (point.offset.0 as f64 + point.len.0 as f64 / 2.0) / scale;
        point.rate().map(|rate| (at, rate.0 / 1e6))
    };
    map.points.iter().filter_map(center).collect()
}

/// A part of a device that cannot be used.
pub(super) struct BadRange {
    pub(super) offset: Bytes,
    pub(super) len: Bytes,
    what: String,
}

/// The parts of the device that cannot be used, in order.
///
/// On a device that wraps around, the last write wins: its beginning reads as overwritten, and the end of the claimed
/// range as written. It is the range beyond the real capacity that has no memory.
pub(super) fn bad_ranges(verification: &Verification) -> Vec<BadRange> {
    let found = &verification.verdict;
    let real = found.capacity.real();
    let explained = |span: &&Span| match (real, span.state) {
        (None, _) => false,
        (Some(_), BlockState::Overwritten { .. }) => true,
        (Some(real), _) => span.offset >= real,
    };
    let others = found.bad.iter().filter(|span| !explained(span));
    let others = others.map(|span| BadRange {
        offset: span.offset,
        len: span.len,
        what: text::block_state(span.state),
    });
    let missing = real.map(|real| BadRange {
        offset: real,
        len: Bytes(end(verification).0.saturating_sub(real.0)),
        what: text::missing_memory(found.capacity),
    });
    let mut all: Vec<BadRange> = others.chain(missing).collect();
    all.sort_by_key(|range| range.offset);
    all
}

fn found_only_missing_memory(verification: &Verification) -> bool {
    verification.verdict.capacity.real().is_some() && bad_ranges(verification).len() == 1
}

/// Defects and speeds along the device, for a terminal.
fn strips(verification: &Verification) -> AddressStrips {
    let found = &verification.verdict;
    let from = begins_at(verification);
    let segment = |range: &BadRange| (range.offset.0, range.offset.0.saturating_add(range.len.0));
    let bad = bad_ranges(verification).iter().map(segment).collect();
    let looked_until = match verification.completed {
        true => u64::MAX,
        false => from.0.saturating_add(found.checked().0),
    };
    let level = |name, map: &SpeedMap| LevelStrip {
        name,
        points: map.points.clone(),
    };
    AddressStrips {
        from,
        to: end(verification),
        found: FoundStrip { bad, looked_until },
        levels: vec![
            level(Label::Writing.text(), &found.write_speed),
            level(Label::Reading.text(), &found.read_speed),
        ],
    }
}

/// Maximum number of rows of the speed map; a longer map shows every nth row.
const MOST_SEGMENTS: usize = 200;

fn table(verification: &Verification) -> DataTable {
    let found = &verification.verdict;
    let longest = if found.write_speed.points.len() >= found.read_speed.points.len() {
        &found.write_speed
    } else {
        &found.read_speed
    };
    let step = longest.points.len().div_ceil(MOST_SEGMENTS).max(1);
    let rate = |map: &SpeedMap, offset: Bytes| {
        let at = map
            .points
            .partition_point(|point| point.offset.0 <= offset.0);
        let point = map.points[..at]
            .last()
            .filter(|point| offset.0 < point.offset.0.saturating_add(point.len.0));
        let rate = point.and_then(SpeedPoint::rate);
        rate.map_or("–".to_owned(), megabytes)
    };
    let rows = longest.points.iter().step_by(step).map(|point| {
        let [write, read] =
            [&found.write_speed, &found.read_speed].map(|map| rate(map, point.offset));
        vec![place(point.offset), point.len.to_string(), write, read]
    });
    let head = [
        Head::From,
        Head::Length,
        Head::WritingRate,
        Head::ReadingRate,
    ];
    DataTable {
        head: head.map(String::from).to_vec(),
        rows: rows.collect(),
    }
}

/// The first bad segments.
fn bad_places(verification: &Verification, most: usize) -> Vec<DocumentBlock> {
    let bad = bad_ranges(verification);
    let row = |range: &BadRange| {
        vec![
            place(range.offset),
            range.offset.0.to_string(),
            range.len.to_string(),
            range.what.clone(),
        ]
    };
    let head = [Head::At, Head::Byte, Head::Length, Head::WhatWasFound];
    let table = DataTable {
        head: head.map(String::from).to_vec(),
        rows: bad.iter().take(most).map(row).collect(),
    };
    let mut blocks = match bad.is_empty() {
        true => Vec::new(),
        false => vec![DocumentBlock::Table(TableStyle::Numbers, table)],
    };
    if let more @ 1.. = bad.len().saturating_sub(most) {
        let more = text::more_in_record(more as u64);
        blocks.push(DocumentBlock::Quiet(more));
    }
    part(text::page_part(PagePart::BadPlaces), blocks)
}
