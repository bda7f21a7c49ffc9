//! The rate card as a picture: one row for each kind of workload, reads beside writes, a bar below each figure.

use super::canvas::{Anchor, Canvas, fitted};
use super::{Caption, ChartTheme, Frame, Paint};
use crate::rate_card::{RateCard, RateCell};
use crate::text;

/// Width of the picture in CSS pixels.
const WIDTH: u32 = 640;
/// Width of the column of names.
const NAMES: f64 = 176.0;
/// Height of a row.
const ROW: f64 = 74.0;
/// Height of a bar.
const BAR: f64 = 7.0;
/// Space between the columns.
const GAP: f64 = 16.0;

/// Draws a rate card with this title; `facts` is the line below.
pub(crate) fn rate_card(card: &RateCard, title: String, facts: String) -> String {
    let frame = Frame {
        id: "card".to_owned(),
        description: description(card),
        title,
        width: WIDTH,
        alone: Some(Caption {
            subtitle: card.about.clone(),
            source: format!("{facts} · {}", text::card_key()),
            theme: ChartTheme::Light,
        }),
    };
    let mut canvas = Canvas::new();
    let column = (frame.room() - NAMES) / 2.0;
    let [_, read, write] = text::rate_card_head();
    for (nth, head) in [read, write].into_iter().enumerate() {
        let x = NAMES + nth as f64 * column;
        canvas.text((x, 12.0), Anchor::Start, "hk-m hk-sub", head);
    }
    for (nth, row) in card.rows.iter().enumerate() {
        let top = 24.0 + nth as f64 * ROW;
        canvas.line("hk-g", (0.0, top), (frame.room(), top));
        let name = fitted(&row.name, NAMES - GAP);
        canvas.text((0.0, top + 24.0), Anchor::Start, "hk-t hk-name", &name);
        let shape = fitted(&row.shape, NAMES - GAP);
        canvas.text((0.0, top + 42.0), Anchor::Start, "hk-m", &shape);
        let cells = [(&row.read, Paint::Solid), (&row.write, Paint::Horizontal)];
        for (nth, (cell, paint)) in cells.into_iter().enumerate() {
            let x = NAMES + nth as f64 * column;
            match cell {
                Some(cell) => draw(&mut canvas, cell, paint, (x, top), column - GAP),
                None => canvas.text((x, top + 26.0), Anchor::Start, "hk-m hk-title", "–"),
            }
        }
    }
    let bottom = 24.0 + card.rows.len() as f64 * ROW;
    canvas.line("hk-g", (0.0, bottom), (frame.room(), bottom));
    canvas.finish(&frame, bottom + 4.0)
}

/// Draws one figure with its bar and notes.
fn draw(canvas: &mut Canvas, cell: &RateCell, paint: Paint, (x, top): (f64, f64), room: f64) {
    let deviation = cell.deviation.as_ref().map(|d| format!(" ± {d}"));
    canvas.text(
        (x, top + 24.0),
        Anchor::Start,
        "hk-t hk-title",
        &cell.figure,
    );
    if let Some(deviation) = deviation {
        // The width of figures of 16 px, bold.
        let after = x + 10.5 * cell.figure.chars().count() as f64;
        canvas.text(
            (after, top + 24.0),
            Anchor::Start,
            "hk-m hk-sub",
            &deviation,
        );
    }
    let wide = (room * f64::from(cell.percent) / 100.0).max(2.0);
    canvas.bar(paint, (x, top + 32.0), (wide, BAR), "");
    let notes = fitted(&cell.notes.join(", "), room);
    canvas.text((x, top + 57.0), Anchor::Start, "hk-m", &notes);
}

/// All rows as text.
fn description(card: &RateCard) -> String {
    let rows = card.table().rows;
    let rows: Vec<String> = rows.iter().map(|row| row.join("; ")).collect();
    rows.join(". ").replace('\n', ", ")
}
