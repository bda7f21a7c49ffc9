//! Drawing of a card: its pages and units, which of them are open, its cache, and the reach of its mapping.

use super::canvas::{Anchor, Canvas, fitted, px};
use super::{Frame, Paint};
use crate::escape::{columns_of, padded};

/// Data of the drawing. Texts are formatted; an empty one means that nothing is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CardPicture {
    /// Label and text of each row, and what it draws.
    pub(crate) rows: Vec<CardRow>,
}

/// A row of the drawing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CardRow {
    pub(crate) label: String,
    pub(crate) text: String,
    pub(crate) shape: CardShape,
}

/// What a row draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CardShape {
    /// Nothing: the value is unknown.
    Unknown,
    /// A unit, divided into pages; the number of pages, if both are known.
    Pages(Option<u64>),
    /// So many boxes: the first are always open, the next may be written in any order, the others only in order.
    Units { fat: u64, random: u64, linear: u64 },
    /// A bar of which a fraction is filled.
    Share(f64),
    /// A bar of which a fraction exists; the remainder is crossed out.
    Real(f64),
}

/// Height of a row, of its shape, and width of a box in pixels.
const PITCH: f64 = 58.0;
const SHAPE: f64 = 22.0;
const BOX: f64 = 26.0;
/// Most boxes that are drawn.
const MOST: u64 = 16;
/// Most pages that are drawn as such.
const PAGES: u64 = 64;

/// Draws a card.
pub(crate) fn card_picture(data: &CardPicture, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    for (nth, row) in data.rows.iter().enumerate() {
        let top = nth as f64 * PITCH;
        let name = fitted(&row.label, width * 0.42);
        canvas.text((0.0, top + 14.0), Anchor::Start, "hk-t hk-name", &name);
        let text = fitted(&row.text, width * 0.55);
        canvas.text((width - 1.0, top + 14.0), Anchor::End, "hk-t", &text);
        shape(&mut canvas, row.shape, (top + 22.0, width));
    }
    canvas.finish(frame, data.rows.len() as f64 * PITCH)
}

fn outline(canvas: &mut Canvas, (x, y): (f64, f64), width: f64) {
    let [left, right, top, bottom] = [x + 0.5, x + width - 0.5, y + 0.5, y + SHAPE - 0.5].map(px);
    let d = format!("M{left} {top}H{right}V{bottom}H{left}z");
    canvas.path("hk-a", &d, "");
}

fn shape(canvas: &mut Canvas, shape: CardShape, (y, width): (f64, f64)) {
    match shape {
        CardShape::Unknown => {
            let middle = y + SHAPE / 2.0;
            canvas.line("hk-c", (0.0, middle), (width, middle));
        }
        CardShape::Pages(pages) => {
            let shown = pages.unwrap_or(1).clamp(1, PAGES);
            let step = width / shown as f64;
            canvas.rect(Paint::of_series(0), (0.0, y), (width, SHAPE), true);
            for n in 1..shown {
                let x = n as f64 * step;
                canvas.line("hk-g", (x, y), (x, y + SHAPE));
            }
            outline(canvas, (0.0, y), width);
        }
        CardShape::Units {
            fat,
            random,
            linear,
        } => {
            let kinds = [(fat, 2), (random, 0), (linear, 1)];
            let boxes = kinds
                .into_iter()
                .flat_map(|(count, paint)| std::iter::repeat_n(paint, count.min(MOST) as usize));
            for (n, paint) in boxes.enumerate() {
                let x = n as f64 * (BOX + 5.0);
                if x + BOX > width {
                    break;
                }
                canvas.rect(Paint::of_series(paint), (x, y), (BOX, SHAPE), false);
                outline(canvas, (x, y), BOX);
            }
        }
        CardShape::Share(share) => {
            let filled = (share.clamp(0.0, 1.0) * width).max(2.0);
            canvas.rect(Paint::of_series(0), (0.0, y), (filled, SHAPE), false);
            outline(canvas, (0.0, y), width);
        }
        CardShape::Real(share) => {
            let real = (share.clamp(0.0, 1.0) * width).max(2.0);
            canvas.rect(Paint::Solid, (0.0, y), (real, SHAPE), false);
            let missing = (width - real).max(0.0);
            canvas.rect(Paint::Horizontal, (real, y), (missing, SHAPE), true);
            outline(canvas, (0.0, y), width);
        }
    }
}

impl CardPicture {
    /// The drawing as lines of text.
    pub(crate) fn lines(&self) -> String {
        const WIDTH: usize = 32;
        let widest = self.rows.iter().map(|row| columns_of(&row.label)).max();
        let line = |row: &CardRow| {
            let drawn = match row.shape {
                CardShape::Unknown => "?".to_owned(),
                CardShape::Pages(_) => "▏".repeat(WIDTH / 2),
                CardShape::Units {
                    fat,
                    random,
                    linear,
                } => {
                    let boxes = [("▣", fat), ("■", random), ("□", linear)];
                    let boxes = boxes.map(|(shape, n)| shape.repeat(n.min(MOST) as usize));
                    boxes.concat()
                }
                CardShape::Share(share) | CardShape::Real(share) => {
                    let filled = (share.clamp(0.0, 1.0) * WIDTH as f64).round() as usize;
                    "█".repeat(filled) + &"░".repeat(WIDTH - filled)
                }
            };
            let label = padded(&row.label, widest.unwrap_or(0) + 2);
            let drawn = padded(&drawn, WIDTH + 2);
            format!("{label}{drawn}{}\n", row.text)
        };
        self.rows.iter().map(line).collect()
    }
}
