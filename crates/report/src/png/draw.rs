//! Draws the SVG documents of this crate: the elements that charts have after their texts and pictures became shapes.
//!
//! A renderer for all of SVG would be a tenth of the program. A test compares this one with such a renderer.

use super::canvas::{Canvas, Paint};
use super::style_rules::{Fill, ShapeStyle, StyleRules};
use std::collections::HashMap;
use zeno::{Angle, Cap, Command, Join, PathBuilder, PathData, Stroke, Transform};

/// A document that is ready to be drawn.
pub(super) struct Drawing<'s> {
    /// Width and height in CSS pixels.
    pub(super) size: (f64, f64),
    /// Upper left corner of the coordinates.
    origin: (f64, f64),
    rules: StyleRules<'s>,
    patterns: HashMap<&'s str, FillPattern<'s>>,
    shapes: Vec<Element<'s>>,
}

/// The content of a pattern, which is repeated.
struct FillPattern<'s> {
    size: (f64, f64),
    transform: Transform,
    shapes: Vec<Element<'s>>,
}

/// The start of an element.
#[derive(Clone, Copy)]
struct Element<'s> {
    name: &'s str,
    attributes: &'s str,
}

impl<'s> Element<'s> {
    fn attribute(&self, name: &str) -> Option<&'s str> {
        let (_, from) = self.attributes.split_once(&format!(" {name}=\""))?;
        from.split_once('"').map(|(value, _)| value)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.attribute(name)?.parse().ok()
    }

    /// The outline of a shape; nothing for other elements.
    fn path(&self) -> Vec<Command> {
        let number = |name: &str| self.number(name).unwrap_or(0.0) as f32;
        let mut path = Vec::new();
        match self.name {
            "path" => path.extend(self.attribute("d").unwrap_or_default().commands()),
            "rect" => {
                let (width, height) = (number("width"), number("height"));
                if width > 0.0 && height > 0.0 {
                    path.add_rect((number("x"), number("y")), width, height);
                }
            }
            "circle" if number("r") > 0.0 => {
                path.add_circle((number("cx"), number("cy")), number("r"));
            }
            _ => {}
        }
        path
    }
}

impl<'s> Drawing<'s> {
    /// Reads a document; `None` if it has no size.
    pub(super) fn read(svg: &'s str) -> Option<Drawing<'s>> {
        let mut rules = StyleRules::default();
        let mut patterns: HashMap<&str, FillPattern<'_>> = HashMap::new();
        let (mut root, mut pattern, mut shapes) = (None, None, Vec::new());
        for part in svg.split('<').skip(1) {
            let (tag, content) = part.split_once('>')?;
            let end = tag
                .find(|c: char| c.is_ascii_whitespace())
                .unwrap_or(tag.len());
            let (name, attributes) = tag.split_at(end);
            let element = Element { name, attributes };
            match name {
                "svg" if root.is_none() => root = Some(element),
                "style" => rules = StyleRules::of(content),
                "pattern" => {
                    let size = (element.number("width")?, element.number("height")?);
                    let id = element.attribute("id")?;
                    let transform = rotation(element.attribute("patternTransform"));
                    let shapes = Vec::new();
                    patterns.insert(
                        id,
                        FillPattern {
                            size,
                            transform,
                            shapes,
                        },
                    );
                    pattern = Some(id);
                }
                "/pattern" => pattern = None,
                "path" | "rect" | "circle" => match pattern.and_then(|id| patterns.get_mut(id)) {
                    Some(pattern) => pattern.shapes.push(element),
                    None => shapes.push(element),
                },
                _ => {}
            }
        }
        let root = root?;
        let corner = root.attribute("viewBox").unwrap_or("0 0");
        let mut corner = corner.split(' ').map_while(|number| number.parse().ok());
        Some(Drawing {
            size: (root.number("width")?, root.number("height")?),
            origin: (corner.next()?, corner.next()?),
            rules,
            patterns,
            shapes,
        })
    }

    /// Draws the document, whose CSS pixels are `scale` pixels of the picture.
    pub(super) fn draw(&self, scale: f32, canvas: &mut Canvas) {
        let corner = Transform::translation(-self.origin.0 as f32, -self.origin.1 as f32);
        let transform = corner.then_scale(scale, scale);
        let tiles = self.patterns.iter().filter_map(|(id, pattern)| {
            let tile = self.tile(pattern, scale)?;
            let of_tile = Transform::scale(1.0 / scale, 1.0 / scale).then(&pattern.transform);
            Some((*id, (tile, of_tile.then(&transform).invert()?)))
        });
        let tiles = tiles.collect();
        for shape in &self.shapes {
            self.shape(*shape, &tiles, transform, canvas);
        }
    }

    fn tile(&self, pattern: &FillPattern<'s>, scale: f32) -> Option<Canvas> {
        let side = |length: f64| (length as f32 * scale).round() as u32;
        let mut tile = Canvas::new(side(pattern.size.0), side(pattern.size.1))?;
        let transform = Transform::scale(scale, scale);
        for shape in &pattern.shapes {
            self.shape(*shape, &HashMap::new(), transform, &mut tile);
        }
        Some(tile)
    }

    fn style(&self, shape: Element<'s>) -> ShapeStyle<'s> {
        let mut style = ShapeStyle::default();
        for name in ["fill", "fill-opacity", "opacity", "stroke-width"] {
            if let Some(value) = shape.attribute(name) {
                style.set(name, value);
            }
        }
        // Rules override attributes.
        let classes = shape.attribute("class").unwrap_or_default();
        self.rules.apply(classes, &mut style);
        style
    }

    fn shape(
        &self,
        shape: Element<'s>,
        tiles: &HashMap<&str, (Canvas, Transform)>,
        transform: Transform,
        canvas: &mut Canvas,
    ) {
        let path = shape.path();
        let style = self.style(shape);
        let filled = |canvas: &mut Canvas| {
            if let Some(paint) = fill_paint(&style, tiles) {
                canvas.draw(&path, zeno::Fill::NonZero, transform, &paint);
            }
        };
        if !style.stroke_first {
            filled(canvas);
        }
        if let Some(color) = style.stroke {
            let paint = Paint::color(color, style.opacity);
            // An odd number of lengths counts twice.
            let dashes = style.dashes.repeat(1 + style.dashes.len() % 2);
            canvas.draw(&path, stroke(&style, &dashes), transform, &paint);
            if style.round_caps {
                let dots = dots(&path, style.stroke_width / 2.0);
                canvas.draw(&dots, zeno::Fill::NonZero, transform, &paint);
            }
        }
        if style.stroke_first {
            filled(canvas);
        }
    }
}

/// The `patternTransform` of a pattern: a rotation in degrees, or none.
fn rotation(attribute: Option<&str>) -> Transform {
    let degrees = attribute.and_then(|value| value.strip_prefix("rotate(")?.strip_suffix(')'));
    let degrees = degrees.and_then(|degrees| degrees.parse().ok());
    degrees.map_or(Transform::IDENTITY, |degrees| {
        Transform::rotation(Angle::from_degrees(degrees))
    })
}

/// The paint of a fill. The opacity of a shape is that of its fill and of its stroke: no chart has a shape with an
/// opacity and both.
fn fill_paint<'t>(
    style: &ShapeStyle<'_>,
    tiles: &'t HashMap<&str, (Canvas, Transform)>,
) -> Option<Paint<'t>> {
    let opacity = style.opacity * style.fill_opacity;
    match style.fill {
        Fill::None => None,
        Fill::Color(color) => Some(Paint::color(color, opacity)),
        Fill::Pattern(id) => {
            let (tile, transform) = tiles.get(id)?;
            Some(Paint::Tile(tile, opacity, *transform))
        }
    }
}

fn stroke<'d>(style: &ShapeStyle<'_>, dashes: &'d [f32]) -> Stroke<'d> {
    let cap = match style.round_caps {
        true => Cap::Round,
        false => Cap::Butt,
    };
    Stroke {
        width: style.stroke_width,
        start_cap: cap,
        end_cap: cap,
        join: match style.round_joins {
            true => Join::Round,
            false => Join::Miter,
        },
        dashes,
        ..Stroke::default()
    }
}

/// Lines shorter than this are left out by the renderer of strokes.
const SHORTEST: f32 = 0.01;

/// Round caps of lines that are left out.
fn dots(path: &[Command], radius: f32) -> Vec<Command> {
    let mut dots = Vec::new();
    for pair in path.windows(2) {
        if let [Command::MoveTo(from), Command::LineTo(to)] = pair
            && from.nearly_eq_by(*to, SHORTEST)
        {
            dots.add_circle(*from, radius);
        }
    }
    dots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{self, Bar, BarGroup, Bars, Caption, ChartTheme, Frame};
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg;
    use std::collections::BTreeSet;

    #[test]
    fn shapes_of_patterns_are_not_drawn_by_themselves() {
        let svg = "<svg width=\"4\" height=\"4\" viewBox=\"-2 -2 4 4\"><style>.n{fill:#0f0}.p{fill:url(#a)}</style>\
                   <defs><pattern id=\"a\" width=\"2\" height=\"2\"><rect width=\"2\" height=\"2\" class=\"n\"/></pattern></defs>\
                   <rect class=\"p\" x=\"-2\" y=\"0\" width=\"4\" height=\"2\"/></svg>";
        let drawing = Drawing::read(svg).unwrap();
        assert_eq!((drawing.size, drawing.shapes.len()), ((4.0, 4.0), 1));
        let mut canvas = Canvas::new(8, 8).unwrap();
        drawing.draw(2.0, &mut canvas);
        let pixels = canvas.into_rgba();
        let color = |x: usize, y: usize| &pixels[(y * 8 + x) * 4..][..4];
        assert_eq!(color(1, 1), [0, 0, 0, 0]);
        assert_eq!(color(3, 6), [0, 255, 0, 255]);
    }

    /// A standalone chart with bars of every fill, in a theme; `shapes` are drawn on top.
    fn document(theme: ChartTheme, shapes: &str) -> String {
        let bar = |nth: usize| Bar {
            value: 3.0 + nth as f64,
            mean: "3".to_owned(),
            deviation: Some(0.5),
            runs: vec![2.5, 3.5],
            rated: Some(9.0),
            range: Some((1.0, 11.0)),
            ..Bar::default()
        };
        let bars = Bars {
            unit: "MB/s".to_owned(),
            series: (0..7).map(|nth| format!("s{nth}")).collect(),
            groups: vec![BarGroup {
                label: "g".to_owned(),
                bars: (0..7).map(|nth| Some(bar(nth))).collect(),
            }],
            missing: "",
        };
        let caption = Caption {
            theme,
            ..Caption::default()
        };
        let frame = Frame {
            id: "c".to_owned(),
            title: String::new(),
            description: String::new(),
            width: 420,
            alone: Some(caption),
        };
        let svg = svg::bars(&bars, &frame);
        svg.replace("</svg>", &format!("{shapes}</svg>"))
    }

    /// Strokes, markers and glyphs as other charts have them.
    const SHAPES: &str = "<path class=\"hk-l hk-s0 hk-d1\" d=\"M10 10l30 25 40-13.5.5 20\"/>\
        <path class=\"hk-l hk-s3 hk-d2\" d=\"M10 40l90 5\"/><path class=\"hk-l hk-s4 hk-d3\" d=\"M10 50l90 5\"/>\
        <path class=\"hk-l hk-s1 hk-pale\" d=\"M10 60q50-30 90 5\"/><path class=\"hk-c\" d=\"M10 70H99\"/>\
        <path class=\"hk-f2\" d=\"M120 23.8a3.8 3.8 0 1 1 .01 0z\"/><path class=\"hk-run\" d=\"M130 20h.01\"/>\
        <path class=\"hk-r6 hk-beads\" d=\"M120 40H200\"/><path class=\"hk-r2 hk-dot\" d=\"M120 50h0M130 50h0\"/>\
        <path class=\"hk-o\" d=\"M120 80C130 60 150 60 160 80zM132 78L148 78L140 70z\"/>\
        <rect class=\"hk-k3 hk-thru\" x=\"170\" y=\"60\" width=\"40\" height=\"20.5\"/><path class=\"hk-halo\" d=\"M170 90h50\"/>\
        <path class=\"hk-f0\" fill-opacity=\"0.4\" d=\"M230 60h40v30h-40z\"/><path fill=\"#12ab34\" fill-opacity=\"0.251\" d=\"M235 65h9v9h-9z\"/>\
        <path class=\"hk-box\" d=\"M280 60H300V80H280z\"/><path class=\"hk-ring\" d=\"M310 73.8a3.8 3.8 0 1 1 .01 0z\"/>";

    #[test]
    fn draws_what_a_renderer_for_all_of_svg_draws() {
        for theme in [ChartTheme::Light, ChartTheme::Dark] {
            let svg = document(theme, SHAPES);
            let ours = crate::png::drawn(&svg).unwrap();
            let (width, height) = (ours.width(), ours.height());
            let ours = ours.into_rgba();
            let tree = usvg::Tree::from_str(&svg, &usvg::Options::default()).unwrap();
            let mut theirs = Pixmap::new(width, height).unwrap();
            resvg::render(&tree, Transform::from_scale(2.0, 2.0), &mut theirs.as_mut());
            let theirs = theirs.take_demultiplied();
            let difference = |(a, b): (&u8, &u8)| a.abs_diff(*b);
            let differences: Vec<u8> = ours.iter().zip(&theirs).map(difference).collect();
            let sum: f64 = differences.iter().map(|part| f64::from(*part)).sum();
            let visible = |at: &usize| differences[*at] > 40;
            let visible = (0..differences.len()).filter(visible);
            let place = |at: usize| (at / 4 % width as usize, at / 4 / width as usize);
            let places: BTreeSet<(usize, usize)> = visible.map(place).collect();
            // The edges of shapes may differ: that renderer samples sixteen places of a pixel.
            let mean = sum / differences.len() as f64;
            assert!(
                mean < 0.2 && places.len() < 9,
                "{mean} on average, visible at {places:?}"
            );
        }
    }
}
