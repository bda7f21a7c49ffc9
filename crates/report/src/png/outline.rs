//! Replaces the text of a chart by the outlines of its glyphs.

use super::ChartFonts;
use crate::svg::{TextElement, texts};
use std::collections::BTreeSet;
use std::fmt::Write;
use ttf_parser::{Face, OutlineBuilder};

/// The document with outlines instead of text, and the characters that no font has.
pub(super) fn outlined(svg: &str, fonts: &ChartFonts) -> (String, BTreeSet<char>) {
    let regular = fonts.faces(false);
    let bold = fonts.faces(true);
    let mut out = String::with_capacity(svg.len() * 4);
    let mut missing = BTreeSet::new();
    let mut rest = 0;
    for text in texts(svg) {
        out.push_str(&svg[rest..text.range.start]);
        rest = text.range.end;
        let faces = |bold_run: bool| if bold_run { &bold } else { &regular };
        let width = |(run, size): (&str, f64), faces: &[Face<'_>]| -> f64 {
            run.chars().map(|c| advance(c, size, faces)).sum()
        };
        let runs = || text.runs.iter();
        let total: f64 = runs()
            .map(|run| width((&run.text, run.size), faces(run.bold)))
            .sum();
        let mut x = text.x - total * text.anchor;
        for run in runs() {
            let mut glyphs = GlyphPath {
                d: String::new(),
                x,
                y: text.y,
                scale: 1.0,
            };
            for c in run.text.chars() {
                glyphs.add(c, run.size, faces(run.bold), &mut missing);
            }
            x = glyphs.x;
            if !glyphs.d.is_empty() {
                let (class, d) = (class_of(&text, &run.class), glyphs.d);
                // Writing to a string cannot fail.
                let _ = write!(out, "<path class=\"{class}\" d=\"{d}\"/>");
            }
        }
    }
    out.push_str(&svg[rest..]);
    (out, missing)
}

fn class_of(text: &TextElement, run: &str) -> String {
    format!("{} {run}", text.class).trim().to_owned()
}

/// Width of a character without a glyph, in ems.
const MISSING_WIDTH: f64 = 0.6;

/// The first font that has a character.
fn face_of<'f, 'd>(c: char, faces: &'f [Face<'d>]) -> Option<&'f Face<'d>> {
    faces.iter().find(|face| face.glyph_index(c).is_some())
}

/// Width of a character in pixels.
fn advance(c: char, size: f64, faces: &[Face<'_>]) -> f64 {
    let found = face_of(c, faces).and_then(|face| {
        let advance = face.glyph_hor_advance(face.glyph_index(c)?)?;
        Some(f64::from(advance) / f64::from(face.units_per_em()))
    });
    found.unwrap_or(MISSING_WIDTH) * size
}

/// Collects glyph outlines as SVG path data.
struct GlyphPath {
    d: String,
    /// Position of the next glyph.
    x: f64,
    y: f64,
    /// Pixels per font unit.
    scale: f64,
}

impl GlyphPath {
    fn add(&mut self, c: char, size: f64, faces: &[Face<'_>], missing: &mut BTreeSet<char>) {
        let found = face_of(c, faces);
        if let Some((face, glyph)) = found.and_then(|face| Some((face, face.glyph_index(c)?))) {
            self.scale = size / f64::from(face.units_per_em());
            face.outline_glyph(glyph, self);
        } else if !c.is_whitespace() {
            missing.insert(c);
            let (left, right) = (self.x + 0.08 * size, self.x + 0.52 * size);
            let (top, bottom) = (self.y - 0.7 * size, self.y);
            let thin = 0.06 * size;
            self.rect((left, top), (right, bottom));
            self.rect_inside((left + thin, top + thin), (right - thin, bottom - thin));
        }
        self.x += advance(c, size, faces);
    }

    fn rect(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64)) {
        let _ = write!(
            self.d,
            "M{left:.2} {top:.2}H{right:.2}V{bottom:.2}H{left:.2}z"
        );
    }

    /// A rectangle in the opposite direction, which is left empty.
    fn rect_inside(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64)) {
        let _ = write!(
            self.d,
            "M{left:.2} {top:.2}V{bottom:.2}H{right:.2}V{top:.2}z"
        );
    }

    fn put(&mut self, command: char, points: &[(f32, f32)]) {
        self.d.push(command);
        for (nth, (x, y)) in points.iter().enumerate() {
            let gap = if nth == 0 { "" } else { " " };
            let x = self.x + f64::from(*x) * self.scale;
            let y = self.y - f64::from(*y) * self.scale;
            let _ = write!(self.d, "{gap}{x:.2} {y:.2}");
        }
    }
}

impl OutlineBuilder for GlyphPath {
    fn move_to(&mut self, x: f32, y: f32) {
        self.put('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.put('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.put('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.put('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.d.push('z');
    }
}
