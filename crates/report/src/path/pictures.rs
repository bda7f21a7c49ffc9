//! The charts of the path of an I/O.

use super::figures::{self, GroupSum};
use super::zoom::AddressWindow;
use super::{PathPhase, PathSide};
use crate::chart::{Chart, Plot, Section, slug};
use crate::number;
use crate::svg::{
    AddressMark, AddressPlot, FlowBand, FlowPicture, FlowStage, LayoutArea, Paint, ShareBar,
    SharePart, Shares, SizeBars, SizeRow,
};
use crate::table::{self, DataTable};
use crate::text::{self, PathLabel};
use hakaru_model::io_path::{ClassGroup, IoPath, OperationPath, SizeCount};
use hakaru_model::units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Name of a chart: the kind, the phase and the side.
pub(super) fn chart_name(kind: &str, phase: &PathPhase<'_>, side: &str) -> String {
    let parts = [kind, &slug(&phase.id), &slug(side)];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("path-{}", parts.join("-"))
}

/// The side at the end of a title; empty if there is only one.
pub(super) fn of_side(side: &PathSide<'_>) -> String {
    text::on_side(&side.name)
}

/// The flow of bytes from the application to the device; `full` is the widest picture of the page.
pub(super) fn flow(phase: &PathPhase<'_>, side: &PathSide<'_>, full: f64) -> Chart {
    let path = side.path();
    let groups = figures::groups(path);
    let several = groups.iter().any(|sum| sum.op != groups[0].op);
    let data_from = usize::from(figures::asked_bytes(path, None) <= 0.0);
    let band = |sum: &GroupSum| {
        let name = text::class_group(sum.group);
        FlowBand {
            paint: Paint::from(sum.group),
            name: match several {
                true => text::class_of_op(name, sum.op),
                false => name.to_owned(),
            },
            width: figures::per_asked_byte(path, sum.bytes as f64),
            from: match sum.group {
                ClassGroup::Data => data_from,
                _ => 1,
            },
            changed: text::changed_bios(sum.merges, sum.splits),
            label: format!("{} · {}", Bytes(sum.bytes), number::grouped(sum.requests)),
        }
    };
    let flushes = figures::flushes(path);
    let moved = Bytes(figures::moved(path) as u64);
    let ratio = figures::per_asked_byte(path, figures::moved(path));
    Chart {
        name: chart_name("flow", phase, &side.name),
        section: Section::Path,
        title: text::flow_title(&side.title(), ratio),
        note: text::flow_note().to_owned(),
        table: flow_table(path, &groups, several),
        plot: Plot::Flow(FlowPicture {
            stages: stages(side),
            bands: groups.iter().map(band).collect(),
            flushes: (flushes > 0).then(|| {
                let name = text::class_group(ClassGroup::Flush);
                (name.to_owned(), text::without_bytes(flushes))
            }),
            full,
            foot: text::flow_foot(moved, ratio),
        }),
    }
}

/// The layers that the bytes pass.
fn stages(side: &PathSide<'_>) -> Vec<FlowStage> {
    let path = side.path();
    let stage = |name: &str, note: String| FlowStage {
        name: name.to_owned(),
        notes: vec![note],
    };
    let asked = figures::asked_ops(path).into_iter().map(|op| {
        let count = figures::asked_count(path, op);
        text::asked_ios(op, count, figures::only_size(path, op))
    });
    let asked: Vec<String> = asked.collect();
    let sums = figures::groups(path);
    let total = |of: fn(&GroupSum) -> u64| figures::sum(sums.iter().map(of));
    let (bios, requests) = (total(|s| s.bios), total(|s| s.requests));
    let mut all = vec![FlowStage {
        name: PathLabel::Application.text().to_owned(),
        notes: asked,
    }];
    let bios = text::counted_bios(bios);
    if let Some(layer) = side.layer() {
        all.push(stage(&layer, bios));
    }
    if !path.disk.bio_based {
        all.push(stage(
            PathLabel::BlockLayer.text(),
            text::counted_requests(requests),
        ));
    }
    let commands = path
        .classes
        .iter()
        .filter_map(|class| class.commands.as_ref());
    let commands = figures::sum(commands.map(|commands| commands.commands));
    let moved = Bytes(figures::moved(path) as u64);
    let at_device = match commands {
        0 => moved.to_string(),
        commands => text::counted_commands(commands),
    };
    let disk = crate::escape::plain(&path.disk.name);
    all.push(stage(&disk, at_device));
    all
}

fn flow_table(path: &IoPath, groups: &[GroupSum], several: bool) -> DataTable {
    let row = |sum: &GroupSum| {
        let name = match several {
            true => text::class_of_op(text::class_group(sum.group), sum.op),
            false => text::class_group(sum.group).to_owned(),
        };
        let cells = [
            Bytes(sum.bytes).to_string(),
            number::significant(figures::per_asked_byte(path, sum.bytes as f64)),
            number::grouped(sum.bios),
            number::grouped(sum.merges),
            number::grouped(sum.splits),
            number::grouped(sum.requests),
        ];
        table::row(name, cells)
    };
    let flushes = figures::flushes(path);
    let flush = (flushes > 0).then(|| {
        let none = || "–".to_owned();
        let cells = [
            none(),
            none(),
            none(),
            none(),
            none(),
            number::grouped(flushes),
        ];
        table::row(text::class_group(ClassGroup::Flush), cells)
    });
    let head = [
        PathLabel::Class,
        PathLabel::Bytes,
        PathLabel::PerByteAsked,
        PathLabel::Bios,
        PathLabel::Merged,
        PathLabel::Split,
        PathLabel::Requests,
    ];
    DataTable::new(head, groups.iter().map(row).chain(flush))
}

/// Bars whose times differ by more are drawn at full width.
const ONE_AXIS: f64 = 8.0;

/// Where the time of the operations of all sides went; `None` without critical paths.
pub(super) fn shares(phase: &PathPhase<'_>) -> Option<Chart> {
    let mut sides = phase.sides.iter();
    let journal = sides.any(|side| figures::has_journal(side.path()));
    let mut bars = Vec::new();
    for side in &phase.sides {
        let operations = figures::shown_operations(side.path());
        let several = operations.len() > 1;
        for of in operations {
            bars.extend(share_bars(side, of, several, journal));
        }
    }
    let times = || {
        bars.iter()
            .map(|bar: &ShareBar| bar.parts.iter().map(|part| part.nanos).sum::<f64>())
    };
    let longest = times().fold(0.0, f64::max);
    let shortest = times().fold(f64::MAX, f64::min);
    let full = longest > ONE_AXIS * shortest;
    let title = match &phase.sides[..] {
        [only] => shares_title(only),
        _ => None,
    };
    (!bars.is_empty()).then(|| Chart {
        name: chart_name("time", phase, ""),
        section: Section::Path,
        title: title.unwrap_or_else(|| text::shares_title().to_owned()),
        note: text::shares_note(full),
        table: shares_table(&bars),
        plot: Plot::Shares(Shares { bars, full }),
    })
}

/// Bars of the percentiles of an operation.
fn share_bars(
    side: &PathSide<'_>,
    of: &OperationPath,
    several: bool,
    journal: bool,
) -> Vec<ShareBar> {
    let operation = text::traced_operation(of.op, of.with_sync);
    let bar = |percentile: &figures::PercentileParts<'_>| {
        let time = number::nanos(percentile.parts.total());
        let mut words: Vec<&str> = Vec::new();
        if !side.name.is_empty() {
            words.push(&side.name);
        }
        if several {
            words.push(&operation);
        }
        words.extend([percentile.name, &time]);
        let parts = figures::chart_parts(percentile.parts).into_iter();
        let part = |(part, nanos)| SharePart {
            paint: Paint::from(part),
            name: text::time_part(part, journal),
            nanos,
        };
        ShareBar {
            // The name of a side keeps its spelling.
            label: match side.name.is_empty() {
                true => text::capital(&text::enumerated(&words)),
                false => text::enumerated(&words),
            },
            parts: parts.map(part).collect(),
        }
    };
    figures::percentiles(of).iter().map(bar).collect()
}

/// The finding of the median of the main operation: its largest part.
fn shares_title(side: &PathSide<'_>) -> Option<String> {
    let of = figures::main_operation(side.path())?;
    let percentiles = figures::percentiles(of);
    let first = percentiles.first()?;
    let parts = figures::chart_parts(first.parts);
    let largest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let operation = text::traced_operation(of.op, of.with_sync);
    let share = (largest.0, largest.1 / first.parts.total());
    Some(text::time_went(
        &operation,
        first.name,
        &[share],
        figures::has_journal(side.path()),
    ))
}

fn shares_table(bars: &[ShareBar]) -> DataTable {
    let parts = crate::naming::distinct(
        bars.iter()
            .flat_map(|bar| bar.parts.iter().map(|part| part.name)),
    );
    let rows = bars.iter().map(|bar| {
        let total: f64 = bar.parts.iter().map(|part| part.nanos).sum();
        let cell = |name: &&str| {
            let found = bar.parts.iter().find(|part| part.name == *name);
            found.map_or("–".to_owned(), |part| {
                let share = number::percent(part.nanos / total);
                format!("{} ({share}%)", number::nanos(part.nanos))
            })
        };
        table::row(&bar.label, parts.iter().map(cell))
    });
    DataTable::new(
        table::row(
            PathLabel::Operation,
            parts.iter().map(|part| (*part).to_owned()),
        ),
        rows,
    )
}

/// All addresses and the whole time of the sampled requests; `None` without requests.
pub(super) fn whole(side: &PathSide<'_>) -> Option<AddressWindow> {
    let path = side.path();
    let places = address_marks(path).map(|mark| mark.address);
    let (first, last) = places.fold((f64::MAX, 0f64), |(low, high), address| {
        (low.min(address), high.max(address))
    });
    let pad = ((last - first) * 0.04).max(32768.0);
    let bytes = (
        (first - pad).max(0.0),
        (last + pad).min((path.disk.size.0 as f64).max(last + 4096.0)),
    );
    let seconds = (0.0, path.window.as_secs_f64());
    (first < f64::MAX).then_some(AddressWindow { seconds, bytes })
}

fn address_marks(path: &IoPath) -> impl Iterator<Item = AddressMark> + '_ {
    let requests = path.sample.requests.iter();
    let sampled = requests.filter(|request| request.op.is_some());
    sampled.map(|request| AddressMark {
        at_s: request.queued.as_secs_f64(),
        address: request.sector as f64 * 512.0,
        paint: Paint::from(request.class.group()),
    })
}

/// Addresses of the sampled requests over time; `None` without requests.
pub(super) fn addresses(phase: &PathPhase<'_>, side: &PathSide<'_>) -> Option<Chart> {
    let mut chart = addresses_within(phase, side, &whole(side)?);
    // The picture of bytes by layer names the same fills.
    if let Plot::Addresses(plot) = &mut chart.plot {
        plot.legend.clear();
    }
    Some(chart)
}

/// Addresses of the sampled requests within a window.
pub(super) fn addresses_within(
    phase: &PathPhase<'_>,
    side: &PathSide<'_>,
    window: &AddressWindow,
) -> Chart {
    let path = side.path();
    let AddressWindow { seconds, bytes } = *window;
    let is_within = |value: f64, (low, high): (f64, f64)| (low..=high).contains(&value);
    // A request may be queued after the end of the phase, and belongs to the whole picture.
    let shows_all = whole(side).is_some_and(|whole| whole == *window);
    let marks = address_marks(path).filter(|mark| {
        shows_all || is_within(mark.at_s, seconds) && is_within(mark.address, bytes)
    });
    let marks: Vec<AddressMark> = marks.collect();
    let drawn = marks.len() as u64;
    Chart {
        name: chart_name("addresses", phase, &side.name),
        section: Section::Path,
        title: text::addresses_title(&side.name),
        note: text::addresses_note(drawn, path.sample.drawn_from),
        table: address_table(path),
        plot: Plot::Addresses(AddressPlot {
            seconds,
            layout: layout(path, bytes),
            range: bytes,
            marks,
            legend: legend(path),
        }),
    }
}

/// Fills of all requests of a trace with their names, so that each part of the picture has the same legend.
fn legend(path: &IoPath) -> Vec<(Paint, &'static str)> {
    let requests = path.sample.requests.iter();
    let groups = requests.filter(|request| request.op.is_some());
    let groups: BTreeSet<ClassGroup> = groups.map(|request| request.class.group()).collect();
    let named = |group| (Paint::from(group), group_name(group));
    groups.into_iter().map(named).collect()
}

/// The name of a class of requests in the picture of addresses.
fn group_name(group: ClassGroup) -> &'static str {
    match group {
        ClassGroup::Data => PathLabel::TestData.text(),
        group => text::class_group(group),
    }
}

/// Areas of the layout within a range of addresses.
fn layout(path: &IoPath, (low, high): (f64, f64)) -> Vec<LayoutArea> {
    let area = |range: &hakaru_model::io_path::LayoutRange| {
        let from = range.sector as f64 * 512.0;
        let to = from + range.sectors as f64 * 512.0;
        (to > low && from < high).then(|| LayoutArea {
            from: from.max(low),
            to: to.min(high),
            paint: Paint::from(range.class.group()),
            name: group_name(range.class.group()),
        })
    };
    path.layout.iter().filter_map(area).collect()
}

fn address_table(path: &IoPath) -> DataTable {
    let mut classes: BTreeMap<_, (u64, u64, u64)> = BTreeMap::new();
    for request in path
        .sample
        .requests
        .iter()
        .filter(|request| request.op.is_some())
    {
        let end = request.sector.saturating_add(u64::from(request.sectors));
        let entry = classes.entry(request.class).or_insert((0, u64::MAX, 0));
        *entry = (entry.0 + 1, entry.1.min(request.sector), entry.2.max(end));
    }
    let rows = classes.into_iter().map(|(class, (count, first, last))| {
        let place = |sector: u64| Bytes(sector.saturating_mul(512)).to_string();
        let cells = [number::grouped(count), place(first), place(last)];
        table::row(text::io_class_title(class), cells)
    });
    let head = [
        PathLabel::Class,
        PathLabel::RequestsDrawn,
        PathLabel::From,
        PathLabel::To,
    ];
    DataTable::new(head, rows)
}

/// Maximum number of sizes with a row of their own.
const MOST_SIZES: usize = 8;

/// Sizes as asked and as they reached the device; `None` without any.
pub(super) fn sizes(phase: &PathPhase<'_>, side: &PathSide<'_>) -> Option<Chart> {
    let path = side.path();
    let reached: Vec<&SizeCount> = path.classes.iter().flat_map(|class| &class.sizes).collect();
    let mut counts: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for size in &path.asked {
        let asked = &mut counts.entry(size.size.0).or_default().0;
        *asked = asked.saturating_add(size.count);
    }
    for size in &reached {
        let reached = &mut counts.entry(size.size.0).or_default().1;
        *reached = reached.saturating_add(size.count);
    }
    counts.remove(&0);
    let rows = match counts.len() > MOST_SIZES {
        true => by_doubling(&counts),
        false => counts
            .iter()
            .map(|(&size, &(asked, reached))| SizeRow {
                label: Bytes(size).to_string(),
                asked,
                reached,
            })
            .collect(),
    };
    let all = figures::sum(rows.iter().map(|row| row.reached));
    let most = rows.iter().max_by_key(|row| row.reached)?;
    let share = most.reached as f64 / all.max(1) as f64;
    let title = text::sizes_title(share, &of_side(side), &most.label);
    let cells = |row: &SizeRow| {
        table::row(
            &row.label,
            [number::grouped(row.asked), number::grouped(row.reached)],
        )
    };
    (all > 0).then(|| Chart {
        name: chart_name("sizes", phase, &side.name),
        section: Section::Path,
        title,
        note: text::sizes_note().to_owned(),
        table: DataTable::new(
            [PathLabel::Size, PathLabel::Asked, PathLabel::AtDevice],
            rows.iter().map(cells),
        ),
        plot: Plot::Sizes(SizeBars { rows }),
    })
}

/// Sizes joined up to the next power of two.
fn by_doubling(counts: &BTreeMap<u64, (u64, u64)>) -> Vec<SizeRow> {
    let mut joined: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (size, (asked, reached)) in counts {
        let up_to = size.checked_next_power_of_two().unwrap_or(u64::MAX);
        let row = joined.entry(up_to).or_default();
        *row = (row.0.saturating_add(*asked), row.1.saturating_add(*reached));
    }
    let row = |(size, (asked, reached))| SizeRow {
        label: text::up_to(Bytes(size)),
        asked,
        reached,
    };
    joined.into_iter().map(row).collect()
}
