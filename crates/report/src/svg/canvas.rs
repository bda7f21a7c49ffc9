//! Writes SVG elements with escaped text and short numbers.

use super::paint::{PATTERNS, Paint};
use super::{Caption, Frame, MARGIN, style};
use crate::escape::markup;
use std::fmt::Write;

/// An SVG document during rendering.
pub(super) struct Canvas {
    out: String,
    /// Whether a shape has a fill of [`Paint`], which needs its patterns.
    painted: bool,
    /// Class of the lines that end the document so far; further ones of this class become part of the same path.
    lines: Option<String>,
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
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// End of a path element without content.
const PATH_END: &str = "\"/>\n";

/// A coordinate in tenths of a pixel, within the limits of [`px`].
fn tenths(value: f64) -> i64 {
    match value.is_finite() {
        true => (value.clamp(-1e6, 1e6) * 10.0).round() as i64,
        false => 0,
    }
}

/// Formats tenths of a pixel without zeros that the syntax of paths does not need: `-.5`.
fn shortest(tenths: i64) -> String {
    let (sign, tenths) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, part) => format!("{sign}.{part}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

impl Canvas {
    pub(super) fn new() -> Canvas {
        Canvas {
            out: String::new(),
            painted: false,
            lines: None,
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

    /// Adds a filled rectangle with a tooltip.
    pub(super) fn bar(
        &mut self,
        paint: Paint,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        hover: &str,
    ) {
        let [left, right, top, bottom] = [x, x + width, y, y + height].map(px);
        self.painted = true;
        let d = format!("M{left} {top}H{right}V{bottom}H{left}z");
        self.path(&paint.class(), &d, hover);
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

    /// Adds a picture of one pixel a cell, whose cells fill the area with sharp edges.
    pub(super) fn cells(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), png: &[u8]) {
        let [x, y, width, height] = [x, y, width, height].map(px);
        let data = super::png::base64(png);
        self.put(format_args!(
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
             image-rendering=\"pixelated\" href=\"data:image/png;base64,{data}\"/>"
        ));
    }

    /// Adds a filled path with an opacity.
    pub(super) fn shade(&mut self, class: &str, opacity: f64, d: &str) {
        self.put(format_args!(
            "<path class=\"{class}\" fill-opacity=\"{opacity}\" d=\"{d}\"/>"
        ));
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        // The name of a bar or a series may be empty.
        if text.trim().is_empty() {
            return;
        }
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

    /// Adds a text whose parts have CSS classes of their own; those without one have that of the text.
    pub(super) fn rich(&mut self, (x, y): (f64, f64), class: &str, parts: &[(&str, &str)]) {
        let parts = parts.iter().filter(|(_, text)| !text.is_empty());
        let parts: Vec<&(&str, &str)> = parts.collect();
        let whole: String = parts.iter().map(|(_, text)| *text).collect();
        if whole.trim().is_empty() {
            return;
        }
        // Otherwise the renderer removes spaces at the ends and repeated ones.
        let space = match whole.trim() != whole || whole.contains("  ") {
            true => " xml:space=\"preserve\"",
            false => "",
        };
        let parts: Vec<String> = parts
            .iter()
            .map(|(class, text)| match *class {
                "" => markup(text),
                class => format!("<tspan class=\"{class}\">{}</tspan>", markup(text)),
            })
            .collect();
        self.put(format_args!(
            "<text x=\"{}\" y=\"{}\" class=\"{class}\"{space}>{}</text>",
            px(x),
            px(y),
            parts.concat()
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

    /// Adds a straight line; neighboring lines of one class are one path.
    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let (x1, y1, x2, y2) = (px(x1), px(y1), px(x2), px(y2));
        let d = match (x1 == x2, y1 == y2) {
            (_, true) => format!("M{x1} {y1}H{x2}"),
            (true, false) => format!("M{x1} {y1}V{y2}"),
            (false, false) => format!("M{x1} {y1}L{x2} {y2}"),
        };
        let open = self.out.strip_suffix(PATH_END).map(str::len);
        match open.filter(|_| self.lines.as_deref() == Some(class)) {
            Some(open) => {
                self.out.truncate(open);
                self.out += &d;
                self.out += PATH_END;
            }
            None => self.put(format_args!(
                "<path class=\"{class}\" d=\"{d}{}",
                PATH_END.trim_end()
            )),
        }
        self.lines = Some(class.to_owned());
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
        let [first, rest @ ..] = points else {
            return;
        };
        if rest.is_empty() {
            return;
        }
        let (mut x, mut y) = (tenths(first.0), tenths(first.1));
        let mut d = format!("M{} {}l", shortest(x), shortest(y));
        for (nth, point) in rest.iter().enumerate() {
            let to = (tenths(point.0), tenths(point.1));
            for (place, step) in [to.0 - x, to.1 - y].into_iter().enumerate() {
                let step = shortest(step);
                // A sign separates numbers as well as a space does.
                if (nth, place) != (0, 0) && !step.starts_with('-') {
                    d.push(' ');
                }
                d += &step;
            }
            (x, y) = to;
        }
        self.path(class, &d, "");
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        self.lines = None;
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(element);
        self.out.push('\n');
    }

    /// Returns the complete SVG document, or the element of a page.
    pub(super) fn finish(self, frame: &Frame, height: f64) -> String {
        let (title, description) = (markup(&frame.title), markup(&frame.description));
        let Some(caption) = &frame.alone else {
            let (width, height) = (px(frame.room()), px(height.ceil()));
            let label = match description.is_empty() {
                true => title,
                false => format!("{title}; {description}"),
            };
            return format!(
                "<svg class=\"hk\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
                 aria-label=\"{label}\">\n{}</svg>\n",
                self.out
            );
        };
        let id = frame.id.chars();
        let id: String = id
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect();
        let around = Surround::of(&frame.title, caption, frame.room(), self.painted);
        let (left, top) = (px(-MARGIN), px(-around.above));
        let width = px(frame.room() + 2.0 * MARGIN);
        let below = height.ceil();
        let foot = around.foot(below);
        let height = px(below + around.above + around.below());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"hk\" viewBox=\"{left} {top} {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
             <title id=\"{id}-t\">{title}</title>\n<desc id=\"{id}-d\">{description}</desc>\n{}\
             <rect class=\"hk-bg\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>\n{}{}{foot}</svg>\n",
            around.rules, around.head, self.out
        )
    }
}

/// Text and rules around the drawing of a standalone chart.
struct Surround {
    rules: String,
    head: String,
    /// Height of the title and subtitle with their margins.
    above: f64,
    source: Vec<String>,
}

/// Maximum number of lines of a title, subtitle or source.
const MOST_LINES: usize = 5;

impl Surround {
    fn of(title: &str, caption: &Caption, room: f64, painted: bool) -> Surround {
        // Bold 16 px text is about half again as wide as text of 12 px.
        let titles = wrapped(title, room / TITLE_SCALE);
        let subtitles = wrapped(&caption.subtitle, room / SUBTITLE_SCALE);
        let source = wrapped(&caption.source, room);
        let above = MARGIN + titles.len() as f64 * 21.0 + subtitles.len() as f64 * 18.0 + 10.0;
        let mut head = Canvas::new();
        let mut y = 12.0 + MARGIN - above;
        for line in &titles {
            head.text((0.0, y), Anchor::Start, "hk-t hk-title", line);
            y += 21.0;
        }
        for line in &subtitles {
            head.text((0.0, y), Anchor::Start, "hk-m hk-sub", line);
            y += 18.0;
        }
        let patterns = if painted { PATTERNS } else { "" };
        let rules = style::rules(caption.theme, painted);
        Surround {
            rules: format!("<style>{rules}</style>{patterns}\n"),
            head: head.out,
            above,
            source,
        }
    }

    /// Height of the lines below the drawing, with their margins.
    fn below(&self) -> f64 {
        match self.source.len() {
            0 => MARGIN,
            lines => 10.0 + lines as f64 * 16.0 + MARGIN,
        }
    }

    /// The lines below a drawing that ends at `bottom`.
    fn foot(&self, bottom: f64) -> String {
        let mut foot = Canvas::new();
        for (nth, line) in self.source.iter().enumerate() {
            let y = bottom + 20.0 + nth as f64 * 16.0;
            foot.text((0.0, y), Anchor::Start, "hk-m", line);
        }
        foot.out
    }
}

/// Width of a title compared with text of 12 px: larger and bold.
const TITLE_SCALE: f64 = 16.0 / 12.0 * BOLD;
const SUBTITLE_SCALE: f64 = 13.0 / 12.0;
/// Width of bold text compared with regular text.
pub(super) const BOLD: f64 = 1.12;
/// Width of the names and values of bars compared with text of 12 px.
pub(super) const LARGE: f64 = 13.0 / 12.0;

/// Breaks a text into lines of at most `room` pixels at 12 px: at spaces, and anywhere in scripts without spaces and in
/// words that are longer than a line.
pub(super) fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for piece in pieces(text) {
        let fits = width_of(&line) + width_of(piece.trim_end()) <= room;
        if !fits && !line.is_empty() {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        for c in piece.chars() {
            if width_of(&line) + width_of(c.encode_utf8(&mut [0; 4])) > room && c != ' ' {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line.trim_end().to_owned());
    lines.retain(|line| !line.is_empty());
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        if let Some(last) = lines.last_mut() {
            *last = fitted(&format!("{last}…"), room);
        }
    }
    lines
}

/// The parts of a text between which a line may end: words with their space, and single wide characters.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        // A closing mark stays with the character before it.
        let closes =
            next.is_some_and(|n| matches!(n, '、' | '。' | '」' | '）' | '，' | '．' | ' '));
        if (c == ' ' || is_wide(c) || next.is_some_and(is_wide)) && !closes {
            pieces.push(&text[from..end]);
            from = end;
        }
    }
    pieces.push(&text[from..]);
    pieces
}

fn is_wide(c: char) -> bool {
    (c as u32) >= 0x1100
}

/// Estimated width of a text at the charts' font size of 12 px; slightly too wide, because fonts differ.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | '|' | '\'' | 'I' | 't' | 'f' | ' ' | '(' | ')' => {
                4.4
            }
            'W' => 12.0,
            'm' | 'w' | 'M' | '…' | '±' | '<' | '>' | '=' | '+' | '−' | '≥' | '≤' => 10.8,
            'A'..='Z' => 8.6,
            c if !is_wide(c) => 7.3,
            _ => 12.5,
        })
        .sum()
}

/// Shortens a text to the available width, with an ellipsis if needed.
pub(super) fn fitted(text: &str, room: f64) -> String {
    // Layouts compute the room from the text by scaling it back and forth.
    if text.is_empty() || width_of(text) <= room + 0.01 {
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
