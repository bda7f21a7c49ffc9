//! Latency over time as a heat map: time to the right, latency upwards on a logarithmic axis, shade by the share of the
//! I/Os that ended at that time.

use super::area::PlotArea;
use super::canvas::{Anchor, Canvas, px, width_of};
use super::paint::Paint;
use super::png::Raster;
use super::scale::Scale;
use super::{Frame, timeline};
use crate::{number, text};
use hakaru_model::finding::LatencyMap;
use hakaru_model::record::{LATENCY_STEPS, latency_step_start};
use hakaru_model::units::Nanos;

/// Number of cells above which a saved chart draws them as a picture of pixels.
const MOST_SHAPES: usize = 5000;
/// The same limit on a page, where every chart is drawn for two widths and the size of the file counts.
const MOST_SHAPES_OF_PAGE: usize = 300;

/// Lower limit of the share of I/Os of each shade, and its opacity.
const SHADES: [(f64, f64); 5] = [
    (0.0, 0.18),
    (0.001, 0.36),
    (0.01, 0.56),
    (0.1, 0.78),
    (0.5, 1.0),
];
/// Start of the first step on the axis, which is logarithmic.
const SHORTEST: f64 = 56.23;

/// A cell of the map.
#[derive(Clone, Copy)]
struct HeatCell {
    /// Index of the column.
    column: usize,
    /// Latency step.
    step: usize,
    /// Index into [`SHADES`]; one more for slow I/Os.
    shade: usize,
}

/// The shade of slow I/Os, which are rare and have a color of their own.
const SLOW: usize = SHADES.len();

/// Draws a heat map.
pub(crate) fn heat(data: &LatencyMap, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let top = legend(&mut canvas, width, data) + 10.0;
    let steps = data.columns.iter().flat_map(|column| column.counts.iter());
    let steps: Vec<usize> = steps.map(|(step, _)| step).collect();
    let (low, high) = (
        steps.iter().min().copied().unwrap_or(0),
        steps.iter().max().copied().unwrap_or(0),
    );
    let grid = TimeGrid::of(data);
    let y_scale = Scale::Log {
        min: edge(low),
        max: edge(high + 1),
    };
    let ticks = y_scale.ticks(0).into_iter();
    let area = PlotArea::new(
        (
            Scale::Linear {
                min: 0.0,
                max: grid.columns as f64 * grid.step,
            },
            y_scale,
        ),
        ticks.map(|v| (v, number::short_latency(v))).collect(),
        (width - timeline::MARGIN, top),
        (width * 0.42).clamp(160.0, 260.0),
    );
    area.grid(&mut canvas);
    timeline::horizontal_axis(&mut canvas, &area, text::axis_seconds());
    let cells = cells(data);
    let most = match frame.alone {
        Some(_) => MOST_SHAPES,
        None => MOST_SHAPES_OF_PAGE,
    };
    match cells.len() > most {
        true => picture(&mut canvas, &area, (data, &cells), (grid, low, high)),
        false => shapes(&mut canvas, &area, data, &cells),
    }
    area.base_line(&mut canvas);
    if let Some(slow) = data.slow {
        let y = area.y(slow.from.0 as f64);
        canvas.line("hk-c", (area.left, y), (area.right, y));
    }
    canvas.finish(frame, area.bottom + 40.0)
}

/// The columns of the map, including those without I/Os.
#[derive(Clone, Copy)]
struct TimeGrid {
    /// Length of a column in seconds; the last one may be shorter.
    step: f64,
    columns: usize,
}

impl TimeGrid {
    fn of(data: &LatencyMap) -> TimeGrid {
        let lengths = data
            .columns
            .iter()
            .map(|column| column.to_s - column.from_s);
        let step = lengths.fold(1e-9, f64::max);
        let end = data.columns.last().map_or(step, |column| column.to_s);
        // Slightly less, so that an end on a border does not add a column.
        let columns = (end / step - 1e-6).ceil().clamp(1.0, 4000.0) as usize;
        TimeGrid { step, columns }
    }
}

/// Start of a step in nanoseconds.
fn edge(step: usize) -> f64 {
    match step {
        0 => SHORTEST,
        LATENCY_STEPS => 1e12,
        step => latency_step_start(step).0 as f64,
    }
}

/// The cells with I/Os.
fn cells(data: &LatencyMap) -> Vec<HeatCell> {
    let is_slow = |step: usize| {
        let from = data.slow.map(|slow| slow.from);
        from.is_some_and(|from| latency_step_start(step) >= from)
    };
    let columns = data.columns.iter().enumerate();
    let of_column = columns.flat_map(|(column, of)| {
        let all = of.counts.count().max(1) as f64;
        of.counts
            .iter()
            .map(move |(step, count)| (column, step, count as f64 / all))
    });
    let cell = |(column, step, share): (usize, usize, f64)| HeatCell {
        column,
        step,
        shade: match is_slow(step) {
            true => SLOW,
            false => SHADES
                .iter()
                .rposition(|(from, _)| share >= *from)
                .unwrap_or(0),
        },
    };
    of_column.map(cell).collect()
}

/// One path for each shade; cells of a shade that touch in a column are one rectangle.
fn shapes(canvas: &mut Canvas, area: &PlotArea, data: &LatencyMap, cells: &[HeatCell]) {
    for shade in 0..=SLOW {
        let of_shade: Vec<&HeatCell> = cells.iter().filter(|cell| cell.shade == shade).collect();
        let joined = of_shade
            .chunk_by(|a, b| a.column == b.column && a.step + 1 == b.step)
            .filter_map(|cells| Some((cells.first()?, cells.last()?)));
        let rectangle = |(first, last): (&&HeatCell, &&HeatCell)| {
            let column = &data.columns[first.column];
            let [left, right] = [column.from_s, column.to_s].map(|s| px(area.x(s)));
            let [low, high] = [first.step, last.step + 1].map(|step| px(area.y(edge(step))));
            format!("M{left} {low}H{right}V{high}H{left}z")
        };
        let d: String = joined.map(rectangle).collect();
        if !d.is_empty() {
            let (class, opacity) = fill(shade);
            canvas.shade(class, opacity, &d);
        }
    }
}

/// Class and opacity of a shade.
fn fill(shade: usize) -> (&'static str, f64) {
    match SHADES.get(shade) {
        Some((_, opacity)) => ("hk-f0", *opacity),
        None => ("hk-f3", 1.0),
    }
}

/// All cells as a picture of one pixel a cell. Its colors are transparent, so that they suit both themes.
fn picture(
    canvas: &mut Canvas,
    area: &PlotArea,
    (data, cells): (&LatencyMap, &[HeatCell]),
    (grid, low, high): (TimeGrid, usize, usize),
) {
    let mut raster = Raster::new(grid.columns, high - low + 1);
    for cell in cells {
        let column = (data.columns[cell.column].from_s / grid.step).round() as i64;
        let row = (high - cell.step) as i64;
        raster.set(column, row, cell.shade as u8 + 1);
    }
    let color = |shade: usize| {
        let paint = if shade == SLOW {
            Paint::Horizontal
        } else {
            Paint::Solid
        };
        let [red, green, blue] = paint.rgb();
        [red, green, blue, (fill(shade).1 * 255.0).round() as u8]
    };
    let colors: Vec<[u8; 4]> = (0..=SLOW).map(color).collect();
    let size = (area.right - area.left, area.bottom - area.top);
    canvas.cells((area.left, area.top), size, &raster.png(&colors));
}

/// A sample of each shade with its share, in rows from the top; returns the height.
fn legend(canvas: &mut Canvas, width: f64, data: &LatencyMap) -> f64 {
    let slow: Option<Nanos> = data.slow.map(|slow| slow.from);
    let shares = text::heat_shares().into_iter().map(str::to_owned);
    let slow = slow.map(|from| text::latency_from(&number::short_latency(from.0 as f64)));
    let names = shares.enumerate().chain(slow.map(|name| (SLOW, name)));
    let (mut x, mut y) = (0.0, 10.0);
    for (shade, name) in names {
        let wide = 28.0 + width_of(&name);
        if x > 0.0 && x + wide > width {
            (x, y) = (0.0, y + 20.0);
        }
        let (class, opacity) = fill(shade);
        let [left, right, high, low] = [x, x + 22.0, y - 5.0, y + 5.0].map(px);
        canvas.shade(
            class,
            opacity,
            &format!("M{left} {low}H{right}V{high}H{left}z"),
        );
        canvas.text((x + 28.0, y + 4.0), Anchor::Start, "hk-t", &name);
        x += wide + 14.0;
    }
    y + 14.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Caption;
    use hakaru_model::finding::{LatencyMapColumn, SlowIos, SlowWhen};
    use hakaru_model::record::LatencyStepCounts;

    fn map(columns: usize, steps: usize) -> LatencyMap {
        let column = |nth: usize| LatencyMapColumn {
            from_s: nth as f64,
            to_s: nth as f64 + 1.0,
            counts: LatencyStepCounts::of((8..8 + steps).map(|step| (step, 1 + step as u64 % 3))),
        };
        LatencyMap {
            runs: 1,
            columns: (0..columns).map(column).collect(),
            limit: None,
            slow: Some(SlowIos {
                from: latency_step_start(28),
                count: 5,
                when: SlowWhen::Throughout,
            }),
        }
    }

    fn drawn(data: &LatencyMap, alone: bool) -> String {
        heat(
            data,
            &Frame {
                id: "c".to_owned(),
                title: String::new(),
                description: String::new(),
                width: 720,
                alone: alone.then(Caption::default),
            },
        )
    }

    #[test]
    fn more_than_5000_cells_are_a_picture() {
        let (few, many) = (drawn(&map(250, 20), true), drawn(&map(250, 21), true));
        assert!(!few.contains("<image"), "5,000 cells are shapes");
        assert!(many.contains("<image"), "5,250 cells are a picture");
        assert!(
            drawn(&map(20, 20), false).contains("<image"),
            "pages have little room"
        );
        assert!(!drawn(&map(10, 20), false).contains("<image"));
    }

    #[test]
    fn the_picture_has_a_pixel_for_each_cell() {
        let mut data = map(300, 24);
        data.columns.remove(7);
        let svg = drawn(&data, true);
        let from = svg.find("base64,").unwrap() + 7;
        let text = &svg[from..from + svg[from..].find('"').unwrap()];
        let (raster, palette) = Raster::from_base64_png(text).unwrap();
        assert_eq!(raster.size(), (300, 24));
        let pixels = |color: u8| -> usize { raster.runs(color).iter().map(|run| run.2).sum() };
        assert_eq!((1..=6).map(pixels).sum::<usize>(), 299 * 24);
        // Steps 28 to 31 are slow: a second and longer.
        assert_eq!((pixels(6), palette.len()), (299 * 4, 6));
        assert!(palette[0][3] < palette[4][3]);
    }

    #[test]
    fn shapes_of_one_shade_are_joined() {
        let svg = drawn(&map(4, 4), true);
        assert_eq!(
            svg.matches("fill-opacity").count(),
            6 + 1,
            "legend and one shade"
        );
    }
}
