//! Converts the path data of an SVG document to a path.
//!
//! Source: W3C, "Scalable Vector Graphics (SVG) 2", section 9.3 and appendix B.2.4 (arcs).

use tiny_skia::{Path, PathBuilder};

/// The path of a `d` attribute, up to the first part that is not path data; `None` if it draws nothing.
///
/// Smooth curves (`S`, `T`) are not supported: no chart has them.
pub(super) fn path(d: &str) -> Option<Path> {
    let mut reader = PathReader { rest: d };
    let mut pen = Pen::default();
    let mut command = ' ';
    loop {
        match reader.command() {
            Some(next) => command = next,
            None if reader.rest.is_empty() || command.eq_ignore_ascii_case(&'z') => break,
            // Further points of a start of a subpath are lines.
            None if command == 'M' => command = 'L',
            None if command == 'm' => command = 'l',
            None => {}
        }
        if pen.draw(command, &mut reader).is_none() {
            break;
        }
    }
    pen.path.finish()
}

/// Reads commands and numbers.
struct PathReader<'d> {
    rest: &'d str,
}

impl PathReader<'_> {
    fn skip_space(&mut self) {
        self.rest = self
            .rest
            .trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
    }

    fn command(&mut self) -> Option<char> {
        self.skip_space();
        let next = self.rest.chars().next().filter(char::is_ascii_alphabetic)?;
        self.rest = &self.rest[1..];
        Some(next)
    }

    fn number(&mut self) -> Option<f64> {
        self.skip_space();
        let (mut digits, mut point) = (false, false);
        let ends = |(at, c): (usize, char)| match c {
            '-' | '+' if at == 0 => None,
            '.' if !point => {
                point = true;
                None
            }
            '0'..='9' => {
                digits = true;
                None
            }
            _ => Some(at),
        };
        let end = self.rest.char_indices().find_map(ends);
        let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        number.parse().ok().filter(|_| digits)
    }
}

/// Draws commands, which may be relative to the current point.
#[derive(Default)]
struct Pen {
    path: PathBuilder,
    x: f64,
    y: f64,
    /// Start of the subpath.
    start: (f64, f64),
}

impl Pen {
    /// Draws one command; `None` if it is unknown or its numbers are missing.
    fn draw(&mut self, command: char, reader: &mut PathReader<'_>) -> Option<()> {
        let from = match command.is_ascii_lowercase() {
            true => (self.x, self.y),
            false => (0.0, 0.0),
        };
        let point = |reader: &mut PathReader<'_>| {
            Some((from.0 + reader.number()?, from.1 + reader.number()?))
        };
        match command.to_ascii_uppercase() {
            'M' => {
                let to = point(reader)?;
                self.path.move_to(to.0 as f32, to.1 as f32);
                (self.x, self.y) = to;
                self.start = to;
            }
            'L' => {
                let to = point(reader)?;
                self.line_to(to);
            }
            'H' => {
                let x = from.0 + reader.number()?;
                self.line_to((x, self.y));
            }
            'V' => {
                let y = from.1 + reader.number()?;
                self.line_to((self.x, y));
            }
            'Q' => {
                let (by, to) = (point(reader)?, point(reader)?);
                let [x1, y1, x, y] = [by.0, by.1, to.0, to.1].map(|n| n as f32);
                self.path.quad_to(x1, y1, x, y);
                (self.x, self.y) = to;
            }
            'C' => {
                let (by, then, to) = (point(reader)?, point(reader)?, point(reader)?);
                self.curve_to(by, then, to);
            }
            'A' => {
                let radii = (reader.number()?, reader.number()?);
                let angle = reader.number()?;
                let flags = (reader.number()? != 0.0, reader.number()? != 0.0);
                let to = point(reader)?;
                self.arc(radii, angle, flags, to);
            }
            'Z' => {
                self.path.close();
                (self.x, self.y) = self.start;
            }
            _ => return None,
        }
        Some(())
    }

    fn line_to(&mut self, to: (f64, f64)) {
        self.path.line_to(to.0 as f32, to.1 as f32);
        (self.x, self.y) = to;
    }

    fn curve_to(&mut self, by: (f64, f64), then: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2, x, y] =
            [by.0, by.1, then.0, then.1, to.0, to.1].map(|number| number as f32);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
        (self.x, self.y) = to;
    }

    /// Draws an elliptical arc as curves of at most a quarter of a turn. The names are those of the specification.
    fn arc(
        &mut self,
        (rx, ry): (f64, f64),
        angle: f64,
        (large, sweep): (bool, bool),
        to: (f64, f64),
    ) {
        let (mut rx, mut ry) = (rx.abs(), ry.abs());
        if rx == 0.0 || ry == 0.0 || to == (self.x, self.y) {
            return self.line_to(to);
        }
        let (sin, cos) = angle.to_radians().sin_cos();
        let half = ((self.x - to.0) / 2.0, (self.y - to.1) / 2.0);
        let x1 = cos * half.0 + sin * half.1;
        let y1 = cos * half.1 - sin * half.0;
        let scale = ((x1 / rx).powi(2) + (y1 / ry).powi(2)).sqrt().max(1.0);
        (rx, ry) = (rx * scale, ry * scale);
        let below = (rx * y1).powi(2) + (ry * x1).powi(2);
        let root = (((rx * ry).powi(2) - below) / below).max(0.0).sqrt();
        let root = if large == sweep { -root } else { root };
        let (cx1, cy1) = (root * rx * y1 / ry, -root * ry * x1 / rx);
        let middle = ((self.x + to.0) / 2.0, (self.y + to.1) / 2.0);
        let center = (
            cos * cx1 - sin * cy1 + middle.0,
            sin * cx1 + cos * cy1 + middle.1,
        );
        let first = ((y1 - cy1) / ry).atan2((x1 - cx1) / rx);
        let last = ((-y1 - cy1) / ry).atan2((-x1 - cx1) / rx);
        let turn = std::f64::consts::TAU;
        let turned = match sweep {
            true => (last - first).rem_euclid(turn),
            false => (last - first).rem_euclid(turn) - turn,
        };
        let parts = (turned.abs() / (turn / 4.0)).ceil().max(1.0);
        let step = turned / parts;
        let bend = 4.0 / 3.0 * (step / 4.0).tan();
        let place = |(x, y): (f64, f64)| {
            let (x, y) = (rx * x, ry * y);
            (cos * x - sin * y + center.0, sin * x + cos * y + center.1)
        };
        for part in 0..parts as u32 {
            let at = first + step * f64::from(part);
            let ((sin1, cos1), (sin2, cos2)) = (at.sin_cos(), (at + step).sin_cos());
            self.curve_to(
                place((cos1 - bend * sin1, sin1 + bend * cos1)),
                place((cos2 + bend * sin2, sin2 - bend * cos2)),
                place((cos2, sin2)),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(d: &str) -> String {
        path(d).map_or_else(String::new, |path| {
            format!("{:?}", path.segments().collect::<Vec<_>>())
        })
    }

    #[test]
    fn relative_commands_and_short_numbers_are_those_of_the_absolute_form() {
        for (short, long) in [
            ("M1 2l2-4 2 4z", "M1 2L3 -2L5 2Z"),
            ("M.5-.5h4v.5H0V9", "M0.5 -0.5L4.5 -0.5L4.5 0L0 0L0 9"),
            ("m1 1 2 2m1,1 2 2", "M1 1L3 3M4 4L6 6"),
            ("M1 1h2zl3 3", "M1 1L3 1ZL4 4"),
            ("M0 0q1 1 2 0c1 1 2 2 3 0", "M0 0Q1 1 2 0C3 1 4 2 5 0"),
        ] {
            assert_eq!(shown(short), shown(long), "{short}");
            assert!(!shown(short).is_empty());
        }
    }

    #[test]
    fn what_is_no_path_data_ends_the_path() {
        assert!(path("").is_none());
        assert!(path("no path").is_none());
        assert_eq!(shown("M0 0L1 1 ?"), shown("M0 0L1 1"));
        assert_eq!(shown("M0 0L1 1L2"), shown("M0 0L1 1"));
    }

    #[test]
    fn an_almost_full_arc_is_a_circle() {
        let circle = path("M10 13.8a3.8 3.8 0 1 1 .01 0z").unwrap().bounds();
        for (side, expected) in [
            (circle.left(), 6.2),
            (circle.right(), 13.8),
            (circle.top(), 6.2),
            (circle.bottom(), 13.8),
        ] {
            assert!((side - expected).abs() < 0.02, "{circle:?}");
        }
        let quarter = path("M1 0A1 1 0 0 1 0 1").unwrap().bounds();
        assert!((quarter.right() - 1.0).abs() < 1e-3 && quarter.left().abs() < 1e-3);
    }
}
