//! Bandwidth over time, or along a device; the axis starts at zero, so that drops are in proportion.

use super::area::PlotArea;
use super::canvas::{Anchor, BOLD, Canvas, LARGE, fitted, px, width_of};
use super::legend::{self, LegendSymbol};
use super::paint::Paint;
use super::png::Raster;
use super::scale::{Scale, without_overlaps};
use super::{Frame, style};
use crate::number;

/// Data of a chart over time or along addresses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Timeline {
    /// Unit of the vertical axis.
    pub(crate) unit: String,
    /// Label of the horizontal axis: `seconds`.
    pub(crate) axis: String,
    /// Names of the series.
    pub(crate) series: Vec<String>,
    /// Lines; several may belong to one series.
    pub(crate) lines: Vec<TimelineLine>,
    /// Marked events.
    pub(crate) marks: Vec<TimelineMark>,
    /// Minimum end of the horizontal axis; `None` ends it with the data.
    pub(crate) until: Option<f64>,
    /// Bands below the lines.
    pub(crate) bands: Vec<Band>,
    /// Levels between permanent drops.
    pub(crate) levels: Vec<SpeedLevel>,
}

/// A level of a quantity over a range.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpeedLevel {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) value: f64,
    /// Label above the line.
    pub(crate) text: String,
}

/// A highlighted range.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Band {
    /// Start of the range.
    pub(crate) from: f64,
    /// End of the range.
    pub(crate) to: f64,
    /// Tooltip.
    pub(crate) text: String,
}

/// A line of the chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimelineLine {
    /// Index into [`Timeline::series`].
    pub(crate) series: usize,
    /// Positions on the horizontal axis with their values, ascending.
    pub(crate) points: Vec<(f64, f64)>,
    /// Weight of the stroke.
    pub(crate) weight: LineWeight,
}

/// Weight of the stroke of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LineWeight {
    /// Thin if the chart has more lines than series.
    #[default]
    Usual,
    /// Thin and pale: one of the runs behind a median.
    Pale,
}

impl TimelineLine {
    /// One line for each series.
    pub(crate) fn each(lines: impl IntoIterator<Item = Vec<(f64, f64)>>) -> Vec<TimelineLine> {
        let lines = lines.into_iter().enumerate();
        lines
            .map(|(series, points)| TimelineLine {
                series,
                points,
                weight: LineWeight::Usual,
            })
            .collect()
    }
}

/// A marked event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimelineMark {
    /// Position on the horizontal axis.
    pub(crate) at: f64,
    /// Description of the event.
    pub(crate) text: String,
}

/// Margin to the right of the plot in pixels.
pub(super) const MARGIN: f64 = 12.0;
/// Number of lines from which their columns are wider than a pixel, and the widest column in pixels.
const LINES_PER_PIXEL: f64 = 4.0;
const WIDEST_COLUMN: f64 = 4.0;
/// Height of the bands in pixels.
const BAND: f64 = 7.0;

/// Draws a chart over time.
pub(crate) fn timeline(data: &Timeline, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let names: Vec<(usize, &str)> = data.series.iter().map(String::as_str).enumerate().collect();
    let top = legend::draw(&mut canvas, width, &names, LegendSymbol::Line) + 26.0;
    let points = || data.lines.iter().flat_map(|line| line.points.iter());
    let times = points().map(|p| p.0).chain(data.until);
    let max = times.filter(|t| t.is_finite()).fold(1e-3, f64::max);
    let values = points().map(|p| p.1).filter(|v| v.is_finite());
    let y_scale = Scale::from_zero(values.fold(0.0, f64::max));
    let ticks = y_scale.ticks(5).into_iter();
    let area = PlotArea::new(
        (Scale::Linear { min: 0.0, max }, y_scale),
        ticks
            .map(|v| (v, number::in_groups(&number::exact(v, 6))))
            .collect(),
        (width - MARGIN, top),
        (width * 0.36).clamp(160.0, 260.0),
    );
    area.grid(&mut canvas);
    for band in &data.bands {
        draw_band(&mut canvas, &area, band);
    }
    horizontal_axis(&mut canvas, &area, &data.axis);
    canvas.text((0.0, top - 12.0), Anchor::Start, "hk-m", &data.unit);
    area.base_line(&mut canvas);
    let usual = data
        .lines
        .iter()
        .filter(|line| line.weight == LineWeight::Usual);
    let crowded = usual.count() > data.series.len().max(1);
    // Many lines hide one another's details, and would make most of a page.
    let column = (data.lines.len() as f64 / LINES_PER_PIXEL).clamp(1.0, WIDEST_COLUMN);
    let placed = data.lines.iter().map(|line| {
        let points = line.points.iter();
        let places: Vec<(f64, f64)> = points.map(|&(t, v)| (area.x(t), area.y(v))).collect();
        let column = match line.weight {
            LineWeight::Pale => column,
            LineWeight::Usual if crowded => column,
            LineWeight::Usual => 1.0,
        };
        (line, thinned(&places, column))
    });
    let (pictured, drawn) = too_many(placed.collect());
    picture(&mut canvas, &area, &pictured);
    for (line, points) in drawn {
        let class = match line.weight {
            LineWeight::Pale => format!("hk-l hk-s{} hk-pale", line.series % PICTURE_COLORS),
            LineWeight::Usual if crowded => style::line(line.series) + " hk-thin",
            LineWeight::Usual => style::line(line.series),
        };
        canvas.polyline(&class, &points);
    }
    draw_levels(&mut canvas, &area, &data.levels);
    for mark in &data.marks {
        draw_mark(&mut canvas, &area, mark, &data.unit);
    }
    canvas.finish(frame, area.bottom + 40.0)
}

/// A line with its points on the page.
type PlacedLine<'a> = (&'a TimelineLine, Vec<(f64, f64)>);

/// Number of points above which lines are a picture of pixels: first those behind a median, then all.
const MOST_POINTS: usize = 5000;

/// The lines that are drawn as a picture, and the others.
fn too_many(lines: Vec<PlacedLine<'_>>) -> (Vec<PlacedLine<'_>>, Vec<PlacedLine<'_>>) {
    let count = |wanted: &dyn Fn(&PlacedLine<'_>) -> bool| -> usize {
        let of = lines.iter().filter(|line| wanted(line));
        of.map(|(_, points)| points.len()).sum()
    };
    let is_pale = |line: &PlacedLine<'_>| line.0.weight == LineWeight::Pale;
    if count(&|_| true) <= MOST_POINTS {
        return (Vec::new(), lines);
    }
    match count(&|line| !is_pale(line)) <= MOST_POINTS {
        true => lines.into_iter().partition(is_pale),
        false => (lines, Vec::new()),
    }
}

/// Pixels of a picture for each pixel of the page.
const PICTURE_SCALE: f64 = 2.0;

/// Lines as a picture of pixels.
fn picture(canvas: &mut Canvas, area: &PlotArea, lines: &[PlacedLine<'_>]) {
    if lines.is_empty() {
        return;
    }
    let (width, height) = (area.right - area.left, area.bottom - area.top);
    let side = |length: f64| (length * PICTURE_SCALE).ceil() as usize;
    let mut raster = Raster::new(side(width), side(height));
    for (line, points) in lines {
        let color = (line.series % PICTURE_COLORS) as u8 + 1;
        let at =
            |(x, y): (f64, f64)| [x - area.left, y - area.top].map(|length| length * PICTURE_SCALE);
        for pair in points.windows(2) {
            raster.line(at(pair[0]), at(pair[1]), color);
        }
    }
    let color = |series: usize| {
        let [red, green, blue] = Paint::of_series(series).rgb();
        [red, green, blue, u8::MAX]
    };
    let colors: Vec<[u8; 4]> = (0..PICTURE_COLORS).map(color).collect();
    canvas.picture((area.left, area.top), (width, height), &raster.png(&colors));
}

/// Number of colors of the lines of a picture.
const PICTURE_COLORS: usize = 6;

fn draw_band(canvas: &mut Canvas, area: &PlotArea, band: &Band) {
    let from = area.x(band.from);
    // Narrow bands are widened to stay visible.
    let to = area.x(band.to).max(from + 1.5);
    let [from, to, low, high] = [from, to, area.bottom, area.bottom - BAND].map(px);
    let d = format!("M{from} {low}V{high}H{to}V{low}z");
    canvas.path("hk-f3", &d, &band.text);
}

/// Dashed lines with their labels above; a label that would overlap the one before is omitted.
fn draw_levels(canvas: &mut Canvas, area: &PlotArea, levels: &[SpeedLevel]) {
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for level in levels {
        let (from, to, y) = (area.x(level.from), area.x(level.to), area.y(level.value));
        canvas.line("hk-c", (from, y), (to, y));
        let half = width_of(&level.text) * LARGE * BOLD / 2.0 + 4.0;
        if half * 2.0 > area.right - area.left {
            continue;
        }
        let middle = ((from + to) / 2.0).clamp(area.left + half, area.right - half);
        let base = if y - 10.0 > area.top + 12.0 {
            y - 10.0
        } else {
            y + 22.0
        };
        let free = |(x, base_of, half_of): &(f64, f64, f64)| {
            (x - middle).abs() >= half + half_of || (base_of - base).abs() >= 16.0
        };
        if taken.iter().all(free) {
            taken.push((middle, base, half));
            canvas.text(
                (middle, base),
                Anchor::Middle,
                "hk-halo-text hk-name",
                &level.text,
            );
        }
    }
}

fn draw_mark(canvas: &mut Canvas, area: &PlotArea, mark: &TimelineMark, unit: &str) {
    let x = area.x(mark.at);
    canvas.line("hk-c", (x, area.top - 6.0), (x, area.bottom));
    // The unit of the axis is at the left end of the same line.
    let from = width_of(unit) + 10.0;
    let text = fitted(&mark.text, area.right - from);
    let half = width_of(&text) / 2.0;
    let most = area.right - half;
    let place = (x.clamp((from + half).min(most), most), area.top - 12.0);
    canvas.text(place, Anchor::Middle, "hk-t", &text);
}

pub(super) fn horizontal_axis(canvas: &mut Canvas, area: &PlotArea, name: &str) {
    let PlotArea { right, bottom, .. } = *area;
    let wanted = ((right - area.left) / 70.0).clamp(2.0, 8.0) as u32;
    let ticks = area.x_scale.ticks(wanted).into_iter();
    let labels = ticks.map(|t| (area.x(t), number::in_groups(&number::exact(t, 3))));
    let labels = without_overlaps(labels.collect());
    for (x, _) in &labels {
        canvas.line("hk-a", (*x, bottom), (*x, bottom + 4.0));
    }
    for (x, text) in labels {
        canvas.centered((x, bottom + 17.0), right + MARGIN, "hk-m", &text);
    }
    canvas.text((right, bottom + 32.0), Anchor::End, "hk-m", name);
}

/// Reduces the points in each column of `width` pixels to the first, lowest, highest and last, in their order; in wide
/// columns, to the lowest and the highest. The line looks the same, all peaks remain, and the size of the document is
/// bounded.
fn thinned(points: &[(f64, f64)], width: f64) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    let place = |point: &(f64, f64)| (point.0 / width).floor();
    for column in points.chunk_by(|a, b| place(a) == place(b)) {
        let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let lowest = column.iter().min_by(by_height);
        let highest = column.iter().max_by(by_height);
        let ends = [column.first(), column.last()].map(|end| end.filter(|_| width <= 1.0));
        let wanted = [ends[0], lowest, highest, ends[1]];
        kept.extend(
            column
                .iter()
                .filter(|p| wanted.iter().flatten().any(|w| std::ptr::eq(*w, *p))),
        );
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize, points: usize, weight: LineWeight) -> Timeline {
        let point = |nth: usize| (nth as f64, (nth * 7 % 11) as f64);
        let line = |series| TimelineLine {
            series,
            points: (0..points).map(point).collect(),
            weight,
        };
        Timeline {
            lines: (0..count).map(line).collect(),
            ..Timeline::default()
        }
    }

    fn drawn(data: &Timeline) -> String {
        let frame = Frame {
            id: "c".to_owned(),
            title: String::new(),
            description: String::new(),
            width: 720,
            alone: None,
        };
        timeline(data, &frame)
    }

    #[test]
    fn axes_group_thousands() {
        let mut data = lines(1, 2_501, LineWeight::Usual);
        for (_, value) in &mut data.lines[0].points {
            *value *= 15_000.0;
        }
        let drawn = drawn(&data);
        for label in [">150,000<", ">2,000<"] {
            assert!(drawn.contains(label), "{label} in {drawn}");
        }
    }

    #[test]
    fn the_legend_has_the_strokes_of_the_lines_and_no_markers() {
        let mut data = lines(2, 20, LineWeight::Usual);
        data.series = ["writing", "reading"].map(str::to_owned).to_vec();
        let drawn = drawn(&data);
        assert!(drawn.contains(">reading<"), "{drawn}");
        assert_eq!(drawn.matches("hk-l hk-s1").count(), 2, "{drawn}");
        assert!(!drawn.contains("hk-f1"), "{drawn}");
    }

    #[test]
    fn more_than_5000_points_are_a_picture() {
        let pictures = |data: &Timeline| drawn(data).matches("<image").count();
        let limit = lines(4, 1250, LineWeight::Usual);
        assert_eq!(pictures(&limit), 0);
        let mut over = limit.clone();
        over.lines[3].points.push((1250.0, 1.0));
        assert_eq!(pictures(&over), 1);
        assert!(drawn(&over).len() < drawn(&limit).len());
    }

    #[test]
    fn the_median_of_many_runs_stays_a_line() {
        let line = |data: &Timeline| drawn(data).matches("hk-l hk-s0").count();
        let mut data = lines(24, 600, LineWeight::Pale);
        data.lines.truncate(24);
        data.lines.extend(lines(1, 600, LineWeight::Usual).lines);
        assert_eq!(
            (line(&data), drawn(&data).matches("hk-pale").count()),
            (1, 0)
        );
        assert!(drawn(&data).contains("<image"));
    }

    #[test]
    fn thinning_keeps_peaks_and_ends() {
        let points: Vec<(f64, f64)> = (0..10_000)
            .map(|i| {
                (
                    f64::from(i) / 100.0,
                    if i == 5050 { 99.0 } else { f64::from(i % 7) },
                )
            })
            .collect();
        let kept = thinned(&points, 1.0);
        assert!(kept.len() <= 400, "{}", kept.len());
        assert!(kept.contains(&(50.5, 99.0)));
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
        let few = thinned(&points, 4.0);
        assert!(few.len() <= 50, "{}", few.len());
        assert!(few.contains(&(50.5, 99.0)));
    }
}
