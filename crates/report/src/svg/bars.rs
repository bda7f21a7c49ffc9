//! Horizontal bars: one row for each group, one bar for each series. Every run is a dot, and the value stands behind its
//! bar.

use super::Frame;
use super::canvas::{Anchor, BOLD, Canvas, LARGE, fitted, px, width_of};
use super::legend::{self, LegendSymbol};
use super::paint::Paint;
use super::scale::{Scale, labels_within};
use crate::{number, text};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

/// Data of a bar chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bars {
    /// Unit of the axis.
    pub(crate) unit: String,
    /// Names of the series; a single series has no legend.
    pub(crate) series: Vec<String>,
    /// Groups, from the top.
    pub(crate) groups: Vec<BarGroup>,
    /// Text in the place of a bar without a value.
    pub(crate) missing: &'static str,
}

/// A group of bars.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BarGroup {
    /// Label of the group.
    pub(crate) label: String,
    /// One bar for each series; `None` without a value.
    pub(crate) bars: Vec<Option<Bar>>,
}

/// A bar of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bar {
    /// Length in the unit of the axis.
    pub(crate) value: f64,
    /// Half the length of the error bar, if any.
    pub(crate) deviation: Option<f64>,
    /// The single runs.
    pub(crate) runs: Vec<f64>,
    /// Number of runs; `None` if unknown.
    pub(crate) n: Option<u64>,
    /// The value as text.
    pub(crate) mean: String,
    /// Speed that the maker states, marked beside the bar.
    pub(crate) rated: Option<f64>,
    /// Smallest and largest value behind the mean, marked on the bar.
    pub(crate) range: Option<(f64, f64)>,
    /// The deviation as text; empty if there is none.
    pub(crate) spread: String,
    /// Letters of the compact letter display; empty without a comparison.
    pub(crate) letters: String,
}

impl Bar {
    /// Mean and deviation: `1489 ± 65`.
    pub(crate) fn text(&self) -> String {
        match self.spread.is_empty() {
            true => self.mean.clone(),
            false => format!("{} ± {}", self.mean, self.spread),
        }
    }

    /// The text behind the bar, in parts: mean, deviation, letters.
    fn label(&self) -> [String; 3] {
        let spread = match self.spread.is_empty() {
            true => String::new(),
            false => format!(" ± {}", number::in_groups(&self.spread)),
        };
        let letters = match self.letters.is_empty() {
            true => String::new(),
            false => format!(" {}", self.letters),
        };
        let letters = match self.range {
            Some((low, high)) => {
                let [low, high] = [low, high].map(number::significant);
                format!("  {}", text::span(&low, &high))
            }
            None => letters,
        };
        [number::in_groups(&self.mean), spread, letters]
    }

    /// Width of the text behind the bar.
    fn label_width(&self) -> f64 {
        let [mean, spread, letters] = self.label();
        (width_of(&mean) * BOLD + width_of(&spread) + width_of(&letters)) * LARGE
    }

    /// The measured and the rated speed as texts, if there is room for the first between the bar and the mark.
    fn apart(&self, layout: &BarGeometry) -> Option<(String, String)> {
        let gap = layout.at(self.rated?) - layout.at(self.value);
        let (measured, rated) = self.mean.split_once(" / ")?;
        let [measured, rated] = [measured, rated].map(number::in_groups);
        let needed = width_of(&measured) * BOLD * LARGE + 2.0 * LABEL_GAP;
        let is_bare = self.deviation.is_none() && self.runs.is_empty() && self.range.is_none();
        (is_bare && needed <= gap).then_some((measured, rated))
    }

    /// Largest value that is drawn.
    fn end(&self) -> f64 {
        let whisker = self.value + self.deviation.unwrap_or(0.0);
        let runs = self.runs.iter().copied();
        let marks = self.rated.into_iter().chain(self.range.map(|ends| ends.1));
        let ends = runs.chain([self.value, whisker]).chain(marks);
        ends.filter(|v| v.is_finite()).fold(0.0, f64::max)
    }

    /// How the single runs are drawn.
    fn marks(&self, crowded: bool) -> RunMarks {
        match self.runs.len() {
            0 | 1 => RunMarks::None,
            n if n <= MOST_DOTS && !crowded => RunMarks::Dots,
            _ => RunMarks::Box,
        }
    }
}

/// Form of the single runs of a bar.
#[derive(Clone, Copy, PartialEq)]
enum RunMarks {
    None,
    Dots,
    /// A box from the first to the third quartile, with the median, and whiskers to the extremes.
    Box,
}

/// Number of runs above which a box replaces their dots.
pub(crate) const MOST_DOTS: usize = 30;
/// Number of marks above which boxes replace all dots of a chart.
const MOST_MARKS: usize = 5000;

/// Layout of the chart.
struct BarGeometry {
    width: f64,
    /// Horizontal range of the bars, together with `right`.
    left: f64,
    right: f64,
    /// Whether labels are next to their bars instead of above them.
    beside: bool,
    /// Whether each bar has the name of its series before it, because there are more series than patterns.
    named: bool,
    /// Height of one bar including its gap.
    pitch: f64,
    scale: Scale,
    /// Whether there are too many runs to draw each.
    crowded: bool,
}

const THICK: f64 = 14.0;
const GAP: f64 = 14.0;
const LABEL: f64 = 19.0;
/// Number of series with patterns of their own.
const PATTERNED: usize = 6;

impl BarGeometry {
    fn of(data: &Bars, width: f64) -> BarGeometry {
        let all = || data.groups.iter().flat_map(|group| &group.bars).flatten();
        let named = data.series.len() > PATTERNED;
        let beside = width >= 480.0 && !named;
        let names: Vec<&String> = match (named, beside) {
            (true, _) => data.series.iter().collect(),
            (false, true) => data.groups.iter().map(|group| &group.label).collect(),
            (false, false) => Vec::new(),
        };
        let name = names.iter().map(|name| name_width(name, named));
        let name = name.fold(0.0, f64::max).min(width * 0.34);
        let left = if name > 0.0 { name + 10.0 } else { 2.0 };
        let largest = all().map(Bar::end).fold(0.0, f64::max);
        let largest = if (1e-9..1e30).contains(&largest) {
            largest
        } else {
            1.0
        };
        // The axis ends where each label still fits behind its bar, but leaves the bars a third of the width.
        let right = all().map(|bar| {
            let share = (bar.end() / largest).clamp(1e-6, 1.0);
            left + (width - left - LABEL_GAP - bar.label_width()) / share
        });
        let right = right.fold(width - 14.0, f64::min);
        BarGeometry {
            width,
            left,
            right: right.max(left + (width - left) * 0.34),
            beside,
            named,
            pitch: THICK + if data.series.len() > 1 { 3.0 } else { 0.0 },
            scale: Scale::Linear {
                min: 0.0,
                max: largest,
            },
            crowded: all().map(|bar| bar.runs.len()).sum::<usize>() > MOST_MARKS,
        }
    }

    fn at(&self, value: f64) -> f64 {
        self.left + self.scale.place(value) * (self.right - self.left)
    }

    fn ticks(&self) -> Vec<f64> {
        let wanted = ((self.right - self.left) / 90.0).clamp(2.0, 4.0) as u32;
        // An axis has at least three ticks.
        let mut tries = (wanted..=8).map(|wanted| self.scale.ticks(wanted));
        let enough = tries.find(|ticks| ticks.len() >= 3);
        enough.unwrap_or_else(|| self.scale.ticks(wanted))
    }

    /// Vertical position of the first bar of a group, below its label if the label is above.
    fn first_bar(&self, top: f64) -> f64 {
        top + GAP / 2.0 + if self.beside { 0.0 } else { LABEL }
    }

    fn height(&self, group: &BarGroup) -> f64 {
        let label = if self.beside { 0.0 } else { LABEL };
        label + group.bars.len().max(1) as f64 * self.pitch + GAP
    }
}

/// Space between the last mark of a bar and its text.
const LABEL_GAP: f64 = 10.0;

fn name_width(name: &str, regular: bool) -> f64 {
    width_of(name) * if regular { 1.0 } else { LARGE * BOLD }
}

/// Number of groups that are drawn of the highest ones, and of the lowest ones; the table has all.
pub(crate) const DRAWN_ENDS: usize = 16;

/// Returns the groups between the highest and the lowest ones, if there are many.
pub(crate) fn between_extremes(groups: usize) -> Option<Range<usize>> {
    let between = DRAWN_ENDS..groups.saturating_sub(DRAWN_ENDS);
    // A single group takes no more place than the line that counts it.
    (between.len() > 1).then_some(between)
}

/// Which of many groups are drawn: those whose bar is among the highest or the lowest ones of any series, because a title
/// may name the extremes of each series.
fn are_drawn(groups: &[BarGroup]) -> Vec<bool> {
    let series = groups.iter().map(|group| group.bars.len()).max();
    let mut from_top = vec![usize::MAX; groups.len()];
    let mut from_bottom = from_top.clone();
    for series in 0..series.unwrap_or(0) {
        let value = |at: &usize| Some(groups[*at].bars.get(series)?.as_ref()?.value);
        let mut ranked: Vec<usize> = (0..groups.len()).filter(|at| value(at).is_some()).collect();
        ranked.sort_by(|a, b| value(b).partial_cmp(&value(a)).unwrap_or(Ordering::Equal));
        for (rank, &at) in ranked.iter().enumerate() {
            from_top[at] = from_top[at].min(rank);
            from_bottom[at] = from_bottom[at].min(ranked.len() - 1 - rank);
        }
    }
    // With more series than there is room for, the extremes of each are drawn nevertheless.
    let mut drawn: Vec<bool> = from_top
        .iter()
        .zip(&from_bottom)
        .map(|(&top, &bottom)| top == 0 || bottom == 0)
        .collect();
    let mut all: Vec<usize> = (0..groups.len()).collect();
    all.sort_by_key(|&at| from_top[at]);
    all.iter().take(DRAWN_ENDS).for_each(|&at| drawn[at] = true);
    all.sort_by_key(|&at| (from_bottom[at], std::cmp::Reverse(at)));
    all.iter().take(DRAWN_ENDS).for_each(|&at| drawn[at] = true);
    // A single group takes no more place than the line that counts it.
    for at in 0..drawn.len() {
        let (before, after) = (at.checked_sub(1), drawn.get(at + 1));
        drawn[at] |= before.is_none_or(|at| drawn[at]) && after.is_none_or(|&after| after);
    }
    drawn
}

/// Number of groups that are drawn; `None` if all are.
pub(crate) fn number_drawn(groups: &[BarGroup]) -> Option<usize> {
    between_extremes(groups.len())?;
    let drawn = are_drawn(groups).into_iter().filter(|drawn| *drawn).count();
    (drawn < groups.len()).then_some(drawn)
}

/// The data with a line in place of the groups that are not drawn.
fn drawn(data: &Bars) -> Cow<'_, Bars> {
    if between_extremes(data.groups.len()).is_none() {
        return Cow::Borrowed(data);
    }
    let drawn = are_drawn(&data.groups);
    let mut groups: Vec<BarGroup> = Vec::new();
    let mut rest = &data.groups[..];
    for part in drawn.chunk_by(|a, b| a == b) {
        let (these, others) = rest.split_at(part.len());
        rest = others;
        match part[0] {
            true => groups.extend_from_slice(these),
            false => groups.push(BarGroup {
                label: text::groups_between(these.len()),
                bars: Vec::new(),
            }),
        }
    }
    Cow::Owned(Bars {
        unit: data.unit.clone(),
        series: data.series.clone(),
        groups,
        missing: data.missing,
    })
}

/// Draws a bar chart.
pub(crate) fn bars(data: &Bars, frame: &Frame) -> String {
    let data = &*drawn(data);
    let layout = BarGeometry::of(data, frame.room());
    let mut canvas = Canvas::new();
    let names = data.series.iter().map(String::as_str).enumerate();
    let names: Vec<(usize, &str)> = names.filter(|_| !layout.named).collect();
    let top = legend::draw(&mut canvas, layout.width, &names, LegendSymbol::Fill);
    let heights = data.groups.iter().map(|group| layout.height(group));
    let bottom = top + heights.sum::<f64>();
    axis(&mut canvas, &layout, bottom, &data.unit);
    if layout.beside {
        grid(&mut canvas, &layout, top, bottom);
    }
    let mut y = top;
    for group in &data.groups {
        draw_group(&mut canvas, &layout, data, group, y);
        y += layout.height(group);
    }
    canvas.finish(frame, bottom + 36.0)
}

fn axis(canvas: &mut Canvas, layout: &BarGeometry, bottom: f64, unit: &str) {
    let labels = layout
        .ticks()
        .into_iter()
        .map(|t| (layout.at(t), number::in_groups(&number::exact(t, 6))))
        .collect();
    for (x, text) in labels_within(labels, layout.width) {
        canvas.centered((x, bottom + 16.0), layout.width, "hk-m", &text);
    }
    canvas.text((layout.right, bottom + 32.0), Anchor::End, "hk-m", unit);
}

fn draw_group(canvas: &mut Canvas, layout: &BarGeometry, data: &Bars, group: &BarGroup, top: f64) {
    let first = layout.first_bar(top);
    if layout.beside {
        let middle = first + group.bars.len().max(1) as f64 * layout.pitch / 2.0;
        let room = (layout.left - 10.0) / LARGE / BOLD;
        let place = (layout.left - 8.0, middle + 4.5);
        let label = fitted(&group.label, room);
        canvas.text(place, Anchor::End, "hk-t hk-name", &label);
    } else {
        // The lines do not cross the labels.
        grid(canvas, layout, first - 2.0, top + layout.height(group));
        let label = fitted(&group.label, layout.width / LARGE / BOLD);
        canvas.text((0.0, first - 5.0), Anchor::Start, "hk-t hk-name", &label);
    }
    let several = data.series.len() > 1;
    for (series, bar) in group.bars.iter().enumerate() {
        let y = first + series as f64 * layout.pitch;
        let name = data.series.get(series).filter(|_| several);
        if let Some(name) = name.filter(|_| layout.named) {
            let place = (layout.left - 8.0, y + 11.5);
            let name = fitted(name, layout.left - 10.0);
            canvas.text(place, Anchor::End, "hk-t", &name);
        }
        let Some(bar) = bar else {
            let place = (layout.left + 6.0, y + 11.5);
            canvas.text(place, Anchor::Start, "hk-m", data.missing);
            continue;
        };
        let name = name.map(|name| format!(", {name}")).unwrap_or_default();
        let hover = format!("{}{name}: {} {}", group.label, bar.text(), data.unit);
        let paint = Paint::of_series(if layout.named { 0 } else { series });
        draw_bar(canvas, layout, bar, (paint, &hover), y);
    }
}

/// Grid lines and the zero line behind bars.
fn grid(canvas: &mut Canvas, layout: &BarGeometry, top: f64, bottom: f64) {
    for tick in layout.ticks() {
        canvas.line("hk-g", (layout.at(tick), top), (layout.at(tick), bottom));
    }
    canvas.line("hk-a", (layout.left, top), (layout.left, bottom));
}

fn draw_bar(
    canvas: &mut Canvas,
    layout: &BarGeometry,
    bar: &Bar,
    (paint, hover): (Paint, &str),
    y: f64,
) {
    let length = layout.at(bar.value) - layout.left;
    let label_fits = bar.label_width() <= layout.width - layout.at(bar.end()) - LABEL_GAP + 0.5;
    // A tooltip repeats what stands beside the bar.
    let hover = if label_fits { "" } else { hover };
    canvas.bar(paint, (layout.left, y), (length.max(0.5), THICK), hover);
    let middle = y + THICK / 2.0;
    let marks = bar.marks(layout.crowded);
    if let Some(range) = bar.range {
        draw_range(canvas, layout, range, middle);
    }
    if let Some(deviation) = bar.deviation.filter(|d| d.is_finite() && *d > 0.0) {
        let ends = [bar.value - deviation, bar.value + deviation];
        let [low, high] = ends.map(|end| px(layout.at(end)));
        let d = format!("M{low} {0}H{high}", px(middle));
        if marks != RunMarks::Box {
            canvas.path("hk-h", &d, "");
            canvas.path("hk-w", &d, "");
        }
    }
    match marks {
        RunMarks::None => {}
        RunMarks::Dots => dots(canvas, layout, &bar.runs, middle),
        RunMarks::Box => quartile_box(canvas, layout, &bar.runs, middle),
    }
    if let Some(rated) = bar.rated {
        let [x, top, bottom] = [layout.at(rated), y - 1.0, y + THICK + 1.0].map(px);
        let d = format!("M{x} {top}V{bottom}");
        canvas.path("hk-h", &d, "");
        canvas.path("hk-rated", &d, "");
    }
    let [mean, spread, letters] = bar.label();
    let x = layout.at(bar.end()) + LABEL_GAP;
    let room = layout.width - x;
    let place = (x, y + 11.5);
    if let Some((measured, rated)) = bar.apart(layout).filter(|_| label_fits) {
        let behind_bar = (layout.at(bar.value) + LABEL_GAP, y + 11.5);
        canvas.rich(behind_bar, "hk-value hk-t", &[("hk-y", &measured)]);
        canvas.rich(place, "hk-value hk-t", &[("hk-m", &rated)]);
        return;
    }
    match label_fits {
        true => {
            let parts = [("hk-y", &mean[..]), ("", &spread), ("hk-m", &letters)];
            canvas.rich(place, "hk-value hk-t", &parts);
        }
        false => {
            let text = fitted(&mean, room / LARGE / BOLD);
            canvas.rich(place, "hk-value hk-t", &[("hk-y", &text)]);
        }
    }
}

/// A line from the smallest to the largest value, with an end at each.
fn draw_range(canvas: &mut Canvas, layout: &BarGeometry, (low, high): (f64, f64), middle: f64) {
    let [low, high] = [low, high].map(|end| px(layout.at(end)));
    let [middle, top, bottom] = [middle, middle - 6.0, middle + 6.0].map(px);
    let d = format!("M{low} {middle}H{high}M{low} {top}V{bottom}M{high} {top}V{bottom}");
    canvas.path("hk-h", &d, "");
    canvas.path("hk-a", &d, "");
}

/// One dot for each run, moved vertically so that equal runs remain visible.
fn dots(canvas: &mut Canvas, layout: &BarGeometry, runs: &[f64], middle: f64) {
    const OFFSETS: [f64; 5] = [0.0, -3.2, 3.2, -1.6, 1.6];
    let dot = |(nth, run): (usize, &f64)| {
        let y = middle + OFFSETS[nth % OFFSETS.len()];
        format!("M{} {}h.01", px(layout.at(*run)), px(y))
    };
    let finite = runs.iter().filter(|run| run.is_finite());
    let d: String = finite.enumerate().map(dot).collect();
    canvas.path("hk-halo", &d, "");
    canvas.path("hk-run", &d, "");
}

/// A box from the first to the third quartile, with the median, and lines to the extremes.
fn quartile_box(canvas: &mut Canvas, layout: &BarGeometry, runs: &[f64], middle: f64) {
    let mut sorted: Vec<f64> = runs.iter().copied().filter(|run| run.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return;
    };
    let at = |share: f64| px(layout.at(sorted[(share * last as f64).round() as usize]));
    let [least, low, median, high, most] = [0.0, 0.25, 0.5, 0.75, 1.0].map(at);
    let [top, bottom] = [middle - 4.0, middle + 4.0].map(px);
    let middle = px(middle);
    let d = format!("M{least} {middle}H{low}M{high} {middle}H{most}");
    canvas.path("hk-h", &d, "");
    canvas.path("hk-w", &d, "");
    canvas.path(
        "hk-box",
        &format!("M{low} {top}H{high}V{bottom}H{low}z"),
        "",
    );
    canvas.path("hk-w", &format!("M{median} {top}V{bottom}"), "");
}
