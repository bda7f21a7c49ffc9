//! Charts as PNG files.
//!
//! The caller supplies the fonts. Text becomes outlines first, so that the renderer needs no text shaping: one glyph for
//! each character, from the first font that has it.

mod canvas;
mod draw;
mod outline;
mod pictures;
mod style_rules;
#[cfg(test)]
mod tiny_font;

use crate::chart::{Chart, ChartStyle};
use crate::svg::rgba_png;
use crate::text;
use canvas::Canvas;
use draw::Drawing;
use std::collections::BTreeSet;
use std::fmt;

/// Fonts for the text of PNG charts, in the order of preference.
#[derive(Clone, Debug, Default)]
pub struct ChartFonts {
    regular: Vec<FontFile>,
    bold: Vec<FontFile>,
}

/// A font file in memory, and the index of the font in its collection.
#[derive(Clone, Debug)]
struct FontFile {
    data: Vec<u8>,
    index: u32,
}

impl FontFile {
    /// The parsed font; `None` if the file is damaged.
    fn face(&self) -> Option<ttf_parser::Face<'_>> {
        ttf_parser::Face::parse(&self.data, self.index).ok()
    }
}

impl ChartFonts {
    /// Adds the font with this index in a file; returns whether it can be used.
    pub fn add(&mut self, data: Vec<u8>, index: u32, bold: bool) -> bool {
        let font = FontFile { data, index };
        let usable = font.face().is_some();
        if usable {
            let fonts = if bold {
                &mut self.bold
            } else {
                &mut self.regular
            };
            fonts.push(font);
        }
        usable
    }

    /// Whether there is no font.
    pub fn is_empty(&self) -> bool {
        self.regular.is_empty() && self.bold.is_empty()
    }

    /// Whether some font has this character.
    pub fn has(&self, c: char) -> bool {
        let faces = self.regular.iter().chain(&self.bold);
        faces
            .filter_map(FontFile::face)
            .any(|face| face.glyph_index(c).is_some())
    }

    /// The fonts for regular or bold text; those of the other weight follow.
    fn faces(&self, bold: bool) -> Vec<ttf_parser::Face<'_>> {
        let (first, then) = match bold {
            true => (&self.bold, &self.regular),
            false => (&self.regular, &self.bold),
        };
        first
            .iter()
            .chain(then)
            .filter_map(FontFile::face)
            .collect()
    }
}

/// A chart as PNG.
#[derive(Clone, Debug)]
pub struct PngPicture {
    /// Content of the file.
    pub data: Vec<u8>,
    /// Characters that no font has; they are drawn as empty boxes.
    pub missing: BTreeSet<char>,
}

/// Reason why a chart cannot be rendered as PNG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PngError {
    /// There is no font.
    NoFont,
    /// The picture would have more pixels than are allowed.
    TooLarge {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The renderer refused the chart.
    Render,
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::png_error(*self))
    }
}

impl std::error::Error for PngError {}

/// Pixels for each CSS pixel, so that charts are sharp on dense screens.
const SCALE: f32 = 2.0;
/// Maximum number of pixels: 400 MB of memory.
const MOST_PIXELS: u64 = 100_000_000;

impl Chart {
    /// The chart as PNG with two pixels for each CSS pixel. [`ChartTheme::Auto`](crate::ChartTheme::Auto) is drawn in
    /// the light theme, because a picture has only one.
    ///
    /// # Errors
    /// If there is no font, or the picture would be too large.
    pub fn png(&self, style: &ChartStyle, fonts: &ChartFonts) -> Result<PngPicture, PngError> {
        let style = ChartStyle {
            theme: style.theme.fixed(),
            ..style.clone()
        };
        of_svg(&self.svg_with(&style), fonts)
    }
}

/// An SVG document of this crate as PNG.
pub(crate) fn of_svg(svg: &str, fonts: &ChartFonts) -> Result<PngPicture, PngError> {
    if fonts.is_empty() {
        return Err(PngError::NoFont);
    }
    let (svg, missing) = outline::outlined(svg, fonts);
    let data = rendered(&pictures::as_shapes(&svg))?;
    Ok(PngPicture { data, missing })
}

fn rendered(svg: &str) -> Result<Vec<u8>, PngError> {
    let pixels = drawn(svg)?;
    let (width, height) = (pixels.width(), pixels.height());
    Ok(rgba_png(width, height, &pixels.into_rgba()))
}

fn drawn(svg: &str) -> Result<Canvas, PngError> {
    let drawing = Drawing::read(svg).ok_or(PngError::Render)?;
    let (width, height) = drawing.size;
    let [width, height] = [width, height].map(|side| (side as f32 * SCALE).ceil() as u32);
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(PngError::TooLarge { width, height });
    }
    let mut pixels = Canvas::new(width, height).ok_or(PngError::TooLarge { width, height })?;
    drawing.draw(SCALE, &mut pixels);
    Ok(pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Plot, Section};
    use crate::svg::{Bar, BarGroup, Bars};
    use crate::table::DataTable;

    fn chart(label: &str) -> Chart {
        let bar = Bar {
            value: 3.0,
            mean: "3".to_owned(),
            ..Bar::default()
        };
        let groups = vec![BarGroup {
            label: label.to_owned(),
            bars: vec![Some(bar)],
        }];
        Chart {
            name: "c".to_owned(),
            section: Section::Speed,
            title: "Title".to_owned(),
            note: String::new(),
            plot: Plot::Bars(Bars {
                unit: "MB/s".to_owned(),
                series: vec!["s".to_owned()],
                groups,
                missing: "",
            }),
            table: DataTable::default(),
        }
    }

    #[test]
    fn png_needs_a_usable_font() {
        let mut fonts = ChartFonts::default();
        assert!(!fonts.add(b"no font".to_vec(), 0, false));
        let found = chart("a").png(&ChartStyle::default(), &fonts);
        assert_eq!(found.unwrap_err(), PngError::NoFont);
    }

    #[test]
    fn glyphs_of_a_font_are_drawn_and_missing_ones_reported() {
        let mut fonts = ChartFonts::default();
        assert!(fonts.add(tiny_font::font(), 0, false));
        assert!(fonts.has(tiny_font::KANJI) && !fonts.has('T'));
        let drawn = |label: &str| {
            let picture = chart(label).png(&ChartStyle::default(), &fonts);
            picture.unwrap()
        };
        let (known, unknown) = (drawn("測"), drawn("密"));
        assert!(known.data != unknown.data, "a box in place of a glyph");
        assert!(!known.missing.contains(&'測'), "{:?}", known.missing);
        assert!(known.missing.contains(&'T') && unknown.missing.contains(&'密'));
        // The square of the glyph, and the way back to its first point.
        let (svg, _) = outline::outlined(&chart("測").svg(300), &fonts);
        let path = |line: &str| line.contains("hk-name") && line.matches('L').count() == 4;
        assert!(svg.split('<').any(path), "{svg}");
    }

    /// Shapes need no font: without text, the renderer draws the bar in the color of the first series.
    #[test]
    fn renders_shapes_at_twice_the_size() {
        let svg = chart("a").svg(300);
        let text = regex_free_text(&svg);
        let pixels = drawn(&text).unwrap();
        assert_eq!(pixels.width(), 600);
        let pixels = pixels.into_rgba();
        let blue = |pixel: &&[u8]| pixel[..3] == [0x00, 0x72, 0xb2];
        assert!(pixels.chunks_exact(4).filter(blue).count() > 5000);
    }

    /// The document without its text elements.
    fn regex_free_text(svg: &str) -> String {
        let lines = svg.lines().filter(|line| !line.starts_with("<text"));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn refuses_pictures_of_too_many_pixels() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9000\" height=\"9000\"/>";
        let (width, height) = (18_000, 18_000);
        assert_eq!(
            rendered(svg).unwrap_err(),
            PngError::TooLarge { width, height }
        );
        assert_eq!(rendered("<svg").unwrap_err(), PngError::Render);
    }
}
