//! The flow of bytes from the application to the device: bands as wide as their bytes.

use super::super::Frame;
use super::super::canvas::{Anchor, Canvas, fitted, px, width_of};
use super::super::paint::Paint;
use crate::text;

/// Data of a flow picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FlowPicture {
    /// From the application to the device; at least two.
    pub(crate) stages: Vec<FlowStage>,
    /// Bands with bytes, from the top.
    pub(crate) bands: Vec<FlowBand>,
    /// Flushes, which have no bytes: their label.
    pub(crate) flushes: Option<(String, String)>,
    /// Largest sum of widths in all pictures of the page, which share their scale.
    pub(crate) full: f64,
    /// Statement below the picture: bytes at the device.
    pub(crate) foot: String,
}

/// A layer that the bytes pass.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FlowStage {
    pub(crate) name: String,
    /// Lines below the name.
    pub(crate) notes: Vec<String>,
}

/// A band of the picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FlowBand {
    pub(crate) paint: Paint,
    pub(crate) name: String,
    /// Bytes per byte of the application.
    pub(crate) width: f64,
    /// Index of the stage where it begins.
    pub(crate) from: usize,
    /// What the block layer did: `409 merged`; may be empty.
    pub(crate) changed: String,
    /// Bytes and requests at the device.
    pub(crate) label: String,
}

/// Minimum width of a band in pixels.
const LEAST: f64 = 2.5;
/// Height of a line of notes in pixels.
const LINE: f64 = 16.0;
/// Narrower pictures are drawn from top to bottom.
const SIDEWAYS: f64 = 460.0;

/// Draws a flow picture.
pub(crate) fn flow(data: &FlowPicture, frame: &Frame) -> String {
    match frame.room() >= SIDEWAYS {
        true => sideways(data, frame),
        false => downwards(data, frame),
    }
}

/// Pixels for a width.
fn pixels(width: f64, scale: f64) -> f64 {
    (width * scale).max(LEAST)
}

/// The picture from left to right, with a column for each stage.
fn sideways(data: &FlowPicture, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let columns = Columns::of(data, width);
    let scale = (132.0 / data.full.max(1e-9)).min(38.0);
    let mut y = columns.heads(&mut canvas, data);
    for band in &data.bands {
        let height = pixels(band.width, scale);
        let room = height.max(15.0);
        let top = y + (room - height) / 2.0;
        columns.band(&mut canvas, band, top, height);
        y += room + 7.0;
    }
    if let Some((name, text)) = &data.flushes {
        columns.flushes(&mut canvas, &format!("{name}: {text}"), y);
        y += 22.0;
    }
    canvas.text((0.0, y + 12.0), Anchor::Start, "hk-t hk-b", &data.foot);
    canvas.finish(frame, y + 20.0)
}

/// Positions of the stages.
struct Columns {
    count: usize,
    /// Distance from one stage to the next.
    step: f64,
    /// Width of a stage.
    node: f64,
    width: f64,
}

impl Columns {
    fn of(data: &FlowPicture, width: f64) -> Columns {
        let count = data.stages.len().max(2);
        let node = width * 0.125;
        Columns {
            count,
            step: (width - node) / (count - 1) as f64,
            node,
            width,
        }
    }

    fn x(&self, stage: usize) -> f64 {
        stage as f64 * self.step
    }

    /// Draws the names of the stages with their notes, and returns the height used.
    fn heads(&self, canvas: &mut Canvas, data: &FlowPicture) -> f64 {
        for (i, stage) in data.stages.iter().enumerate() {
            let last = i + 1 == self.count;
            let (x, anchor) = match last {
                true => (self.width, Anchor::End),
                false => (self.x(i), Anchor::Start),
            };
            let name = fitted(&stage.name, self.step - 8.0);
            canvas.text((x, 13.0), anchor, "hk-t hk-b", &name);
            let room = self.room_of_note(i, data);
            for (line, note) in stage.notes.iter().enumerate() {
                let y = 30.0 + LINE * line as f64;
                canvas.text((x, y), anchor, "hk-m", &fitted(note, room));
            }
        }
        let lines = data.stages.iter().map(|stage| stage.notes.len()).max();
        30.0 + LINE * lines.unwrap_or(0).max(1) as f64
    }

    /// Width for the notes of a stage: those of the last one are right-aligned, so that it shares its gap with the one
    /// before.
    fn room_of_note(&self, stage: usize, data: &FlowPicture) -> f64 {
        let last = self.count - 1;
        let of_last = data.stages.last().into_iter().flat_map(|of| &of.notes);
        let of_last = of_last.map(|note| width_of(note)).fold(0.0, f64::max);
        match stage {
            stage if stage == last => self.step,
            stage if stage + 1 == last => (self.width - self.x(stage) - of_last - 10.0).max(60.0),
            _ => self.step - 8.0,
        }
    }

    fn band(&self, canvas: &mut Canvas, band: &FlowBand, top: f64, height: f64) {
        let last = self.count - 1;
        for stage in band.from..last {
            let from = self.x(stage) + self.node;
            let size = (self.step - self.node, height);
            canvas.rect(band.paint, (from, top), size, true);
        }
        for stage in band.from..=last {
            canvas.rect(band.paint, (self.x(stage), top), (self.node, height), false);
        }
        let middle = top + height / 2.0 + 4.0;
        let link = |stage: usize| self.x(stage) + (self.node + self.step) / 2.0;
        let named = match band.changed.is_empty() {
            true => band.name.clone(),
            false => text::enumerated(&[&band.name, &band.changed]),
        };
        // The name is between the first stages of the band, the figures before the device.
        if band.from + 1 < last {
            let first = (band.from).max(1).min(last - 2);
            canvas.text((link(first), middle), Anchor::Middle, "hk-o", &named);
            canvas.text(
                (link(last - 1), middle),
                Anchor::Middle,
                "hk-o",
                &band.label,
            );
        } else {
            let text = format!("{named}: {}", band.label);
            canvas.text((link(last - 1), middle), Anchor::Middle, "hk-o", &text);
        }
    }

    fn flushes(&self, canvas: &mut Canvas, label: &str, y: f64) {
        let from = self.x(1.min(self.count - 2));
        let to = self.x(self.count - 1) + self.node;
        let middle = y + 8.0;
        let d = format!("M{} {}H{}", px(from), px(middle), px(to - 7.0));
        canvas.strokes(Paint::Horizontal, " hk-beads", &d);
        let arrow = format!("M{} {}l-7 -4v8z", px(to), px(middle));
        canvas.path("hk-n6", &arrow, "");
        let at = (from + to) / 2.0;
        canvas.text((at, middle + 4.0), Anchor::Middle, "hk-o", label);
    }
}

/// The picture from top to bottom, with a row for each stage and the names below.
fn downwards(data: &FlowPicture, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let beads = if data.flushes.is_some() { 16.0 } else { 0.0 };
    let gaps = 3.0 * data.bands.len() as f64;
    // Bands that are widened to stay visible need room too.
    let widened = LEAST * data.bands.len() as f64;
    let scale = ((width - beads - gaps - widened) / data.full.max(1e-9)).min(60.0);
    let (node, link) = (20.0, 16.0);
    let row = 20.0 + node + link;
    let last = data.stages.len().saturating_sub(1);
    let (mut top, mut second) = (0.0, row);
    for (i, stage) in data.stages.iter().enumerate() {
        top += head(&mut canvas, stage, top, width - beads);
        let mut x = 0.0;
        for band in &data.bands {
            let wide = pixels(band.width, scale);
            if i >= band.from {
                canvas.rect(band.paint, (x, top + 20.0), (wide, node), false);
                if i < last {
                    let place = (x, top + 20.0 + node);
                    canvas.rect(band.paint, place, (wide, link), true);
                }
            }
            x += wide + 3.0;
        }
        top += row;
        if i == 0 {
            second = top;
        }
    }
    let mut y = top - link + 10.0;
    if data.flushes.is_some() {
        let (from, to) = (second + 4.0, y - 10.0);
        let d = format!("M{} {}V{}", px(width - 6.0), px(from), px(to - 7.0));
        canvas.strokes(Paint::Horizontal, " hk-beads", &d);
        let arrow = format!("M{} {}l-4 -7h8z", px(width - 6.0), px(to));
        canvas.path("hk-n6", &arrow, "");
    }
    let flush = data
        .flushes
        .iter()
        .map(|(name, text)| (Paint::Horizontal, format!("{name}: {text}")));
    let bands = data.bands.iter().map(|band| (band.paint, named(band)));
    for (paint, text) in bands.chain(flush) {
        canvas.rect(paint, (0.5, y + 0.5), (18.0, 11.0), false);
        canvas.text(
            (26.0, y + 10.5),
            Anchor::Start,
            "hk-t",
            &fitted(&text, width - 26.0),
        );
        y += 19.0;
    }
    canvas.text(
        (0.0, y + 14.0),
        Anchor::Start,
        "hk-t hk-b",
        &fitted(&data.foot, width * 0.85),
    );
    canvas.finish(frame, y + 22.0)
}

/// Draws the name of a stage with its notes beside it, one below the other if they do not fit a line, and returns the
/// height of further lines.
fn head(canvas: &mut Canvas, stage: &FlowStage, top: f64, width: f64) -> f64 {
    let name = width_of(&stage.name) * 1.12 + 8.0;
    canvas.text((0.0, top + 13.0), Anchor::Start, "hk-t hk-b", &stage.name);
    let room = width - name;
    let joined = text::enumerated(&stage.notes);
    let lines = match width_of(&joined) <= room {
        true => vec![joined],
        false => stage.notes.clone(),
    };
    for (line, note) in lines.iter().enumerate() {
        let y = top + 13.0 + LINE * line as f64;
        canvas.text((name, y), Anchor::Start, "hk-m", &fitted(note, room));
    }
    LINE * lines.len().saturating_sub(1) as f64
}

fn named(band: &FlowBand) -> String {
    match band.changed.is_empty() {
        true => format!("{}: {}", band.name, band.label),
        false => format!("{}: {}, {}", band.name, band.label, band.changed),
    }
}
