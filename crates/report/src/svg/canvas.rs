//! Writes SVG elements with escaped text and short numbers.

use super::paint::{PAINT_CSS, PATTERNS, Paint};
use super::{Frame, MARGIN, TITLE, style};
use crate::escape::markup;
use std::fmt::Write;

/// An SVG document during rendering.
pub(super) struct Canvas {
    out: String,
    /// Whether a shape has a fill of [`Paint`], which needs its patterns.
    painted: bool,
}

/// Alignment of a text at its position.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Formats a number with at most one decimal place, which is precise enough for pixels. Never `NaN` or `inf`.
pub(super) fn px(value: f64) -> String {
    let value = if value.is_finite() {
        value.clamp(-1e6, 1e6)
    } else {
        0.0
    };
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl Canvas {
    pub(super) fn new() -> Canvas {
        Canvas {
            out: String::new(),
            painted: false,
        }
    }

    /// Adds a filled rectangle; `through` draws it faintly.
    pub(super) fn rect(
        &mut self,
        paint: Paint,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        through: bool,
    ) {
        let [x, y, width, height] = [x, y, width, height].map(px);
        let through = if through { " hk-thru" } else { "" };
        let class = paint.class();
        self.painted = true;
        self.put(format_args!(
            "<rect class=\"{class}{through}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    /// Adds a filled area.
    pub(super) fn area(&mut self, paint: Paint, d: &str) {
        self.painted = true;
        let class = paint.class();
        self.put(format_args!("<path class=\"{class}\" d=\"{d}\"/>"));
    }

    /// Adds strokes; `more` are further CSS classes.
    pub(super) fn strokes(&mut self, paint: Paint, more: &str, d: &str) {
        self.painted = true;
        let class = paint.stroke();
        self.put(format_args!("<path class=\"{class}{more}\" d=\"{d}\"/>"));
    }

    /// Adds a picture made of pixels, as PNG.
    pub(super) fn picture(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), png: &[u8]) {
        let [x, y, width, height] = [x, y, width, height].map(px);
        let data = super::png::base64(png);
        self.put(format_args!(
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" href=\"data:image/png;base64,{data}\"/>"
        ));
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        self.put(format_args!(
            "<text x=\"{}\" y=\"{}\" class=\"{class}\"{anchor}>{}</text>",
            px(x),
            px(y),
            markup(text)
        ));
    }

    /// Adds a centered text, moved as needed to stay within `width`.
    pub(super) fn centered(&mut self, (x, y): (f64, f64), width: f64, class: &str, text: &str) {
        let half = (width_of(text) / 2.0).min(width / 2.0);
        self.text(
            (x.clamp(half, width - half), y),
            Anchor::Middle,
            class,
            text,
        );
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let (x1, y1, x2, y2) = (px(x1), px(y1), px(x2), px(y2));
        self.put(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    /// Adds a path; `hover` is its tooltip.
    pub(super) fn path(&mut self, class: &str, d: &str, hover: &str) {
        if hover.is_empty() {
            self.put(format_args!("<path class=\"{class}\" d=\"{d}\"/>"));
        } else {
            self.put(format_args!(
                "<path class=\"{class}\" d=\"{d}\"><title>{}</title></path>",
                markup(hover)
            ));
        }
    }

    /// Adds a line through points.
    pub(super) fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        if points.len() < 2 {
            return;
        }
        let list: Vec<String> = points
            .iter()
            .map(|&(x, y)| format!("{},{}", px(x), px(y)))
            .collect();
        self.put(format_args!(
            "<polyline class=\"{class}\" points=\"{}\"/>",
            list.join(" ")
        ));
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(element);
        self.out.push('\n');
    }

    /// Returns the complete SVG document.
    pub(super) fn finish(self, frame: &Frame, height: f64) -> String {
        let id = frame.id.chars();
        let id: String = id
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect();
        let (margin, above, head) = match frame.alone {
            true => {
                let head = head(&frame.title, frame.room(), self.painted);
                (MARGIN, MARGIN + TITLE, head)
            }
            false => (0.0, 0.0, String::new()),
        };
        let (left, top) = (px(-margin), px(-above));
        let width = px(frame.room() + 2.0 * margin);
        let height = px(height.ceil() + above + margin);
        let (title, description) = (markup(&frame.title), markup(&frame.description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"hk\" viewBox=\"{left} {top} {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
             <title id=\"{id}-t\">{title}</title>\n<desc id=\"{id}-d\">{description}</desc>\n\
             <rect class=\"hk-bg\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>\n{head}{}</svg>\n",
            self.out
        )
    }
}

/// Style rules and a visible title, for a standalone document.
fn head(title: &str, room: f64, painted: bool) -> String {
    // The title is larger and bold, so that about 20% less text fits.
    let title = markup(&fitted(title, room * 0.8));
    let (rules, patterns) = match painted {
        true => (PAINT_CSS, PATTERNS),
        false => ("", ""),
    };
    format!(
        "<style>{}{rules}</style>{patterns}\n<text class=\"hk-t hk-title\" x=\"0\" y=\"-16\">{title}</text>\n",
        style::CSS
    )
}

/// Estimated width of a text at the charts' font size of 12 px; slightly too wide, because fonts differ.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | '|' | '\'' | 'I' | 't' | 'f' | ' ' | '(' | ')'
            | '\u{202f}' => 4.4,
            'm' | 'w' | 'M' | 'W' | '…' | '±' => 10.8,
            'A'..='Z' => 8.6,
            c if (c as u32) < 0x1100 => 7.3,
            _ => 12.5,
        })
        .sum()
}

/// Shortens a text to the available width, with an ellipsis if needed.
pub(super) fn fitted(text: &str, room: f64) -> String {
    if width_of(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if width_of(&kept) + width_of(c.encode_utf8(&mut [0; 4])) + 10.8 > room {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}
