//! Draws the SVG documents of this crate: the elements that charts have after their texts and pictures became shapes.
//!
//! A renderer for all of SVG would be a tenth of the program. A test compares this one with such a renderer.

use super::path_data;
use super::style_rules::{Fill, ShapeStyle, StyleRules};
use std::collections::HashMap;
use tiny_skia::{
    FillRule, FilterQuality, LineCap, LineJoin, Paint, Path, PathBuilder, Pattern, Pixmap,
    PixmapMut, Rect, SpreadMode, Stroke, StrokeDash, Transform,
};

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

    /// The outline of a shape; `None` for other elements.
    fn path(&self) -> Option<Path> {
        let number = |name: &str| self.number(name).unwrap_or(0.0) as f32;
        match self.name {
            "path" => path_data::path(self.attribute("d")?),
            "rect" => {
                let size = (number("width"), number("height"));
                let rect = Rect::from_xywh(number("x"), number("y"), size.0, size.1)?;
                Some(PathBuilder::from_rect(rect))
            }
            "circle" => PathBuilder::from_circle(number("cx"), number("cy"), number("r")),
            _ => None,
        }
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
    pub(super) fn draw(&self, scale: f32, pixels: &mut Pixmap) {
        let corner = Transform::from_translate(-self.origin.0 as f32, -self.origin.1 as f32);
        let tiles = self.patterns.iter().filter_map(|(id, pattern)| {
            let tile = self.tile(pattern, scale)?;
            let back = Transform::from_scale(1.0 / scale, 1.0 / scale);
            Some((*id, (tile, pattern.transform.pre_concat(back))))
        });
        let tiles = tiles.collect();
        let transform = corner.post_scale(scale, scale);
        for shape in &self.shapes {
            self.shape(*shape, &tiles, transform, &mut pixels.as_mut());
        }
    }

    fn tile(&self, pattern: &FillPattern<'s>, scale: f32) -> Option<Pixmap> {
        let side = |length: f64| (length as f32 * scale).round() as u32;
        let mut tile = Pixmap::new(side(pattern.size.0), side(pattern.size.1))?;
        let transform = Transform::from_scale(scale, scale);
        for shape in &pattern.shapes {
            self.shape(*shape, &HashMap::new(), transform, &mut tile.as_mut());
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
        tiles: &HashMap<&str, (Pixmap, Transform)>,
        transform: Transform,
        pixels: &mut PixmapMut<'_>,
    ) {
        let Some(path) = shape.path() else {
            return;
        };
        let style = self.style(shape);
        let filled = |pixels: &mut PixmapMut<'_>| {
            if let Some(paint) = fill_paint(&style, tiles) {
                pixels.fill_path(&path, &paint, FillRule::Winding, transform, None);
            }
        };
        if !style.stroke_first {
            filled(pixels);
        }
        if let Some(color) = style.stroke {
            let paint = solid(color, style.opacity);
            pixels.stroke_path(&path, &paint, &stroke(&style), transform, None);
        }
        if style.stroke_first {
            filled(pixels);
        }
    }
}

/// The `patternTransform` of a pattern: a rotation in degrees, or none.
fn rotation(attribute: Option<&str>) -> Transform {
    let degrees = attribute.and_then(|value| value.strip_prefix("rotate(")?.strip_suffix(')'));
    let degrees = degrees.and_then(|degrees| degrees.parse().ok());
    degrees.map_or_else(Transform::identity, Transform::from_rotate)
}

fn solid(color: [u8; 3], opacity: f32) -> Paint<'static> {
    let [red, green, blue] = color;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint
}

/// The paint of a fill. The opacity of a shape is that of its fill and of its stroke: no chart has a shape with an
/// opacity and both.
fn fill_paint<'t>(
    style: &ShapeStyle<'_>,
    tiles: &'t HashMap<&str, (Pixmap, Transform)>,
) -> Option<Paint<'t>> {
    let opacity = style.opacity * style.fill_opacity;
    match style.fill {
        Fill::None => None,
        Fill::Color(color) => Some(solid(color, opacity)),
        Fill::Pattern(id) => {
            let (tile, transform) = tiles.get(id)?;
            Some(Paint {
                shader: Pattern::new(
                    tile.as_ref(),
                    SpreadMode::Repeat,
                    FilterQuality::Bicubic,
                    opacity,
                    *transform,
                ),
                ..Paint::default()
            })
        }
    }
}

fn stroke(style: &ShapeStyle<'_>) -> Stroke {
    // An odd number of lengths counts twice.
    let dashes = match style.dashes.len() % 2 {
        0 => style.dashes.clone(),
        _ => [&style.dashes[..], &style.dashes[..]].concat(),
    };
    Stroke {
        width: style.stroke_width,
        line_cap: match style.round_caps {
            true => LineCap::Round,
            false => LineCap::Butt,
        },
        line_join: match style.round_joins {
            true => LineJoin::Round,
            false => LineJoin::Miter,
        },
        dash: StrokeDash::new(dashes, 0.0),
        ..Stroke::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{self, Bar, BarGroup, Bars, Caption, ChartTheme, Frame};
    use resvg::usvg;
    use std::collections::BTreeSet;

    #[test]
    fn shapes_of_patterns_are_not_drawn_by_themselves() {
        let svg = "<svg width=\"4\" height=\"4\" viewBox=\"-2 -2 4 4\"><style>.n{fill:#0f0}.p{fill:url(#a)}</style>\
                   <defs><pattern id=\"a\" width=\"2\" height=\"2\"><rect width=\"2\" height=\"2\" class=\"n\"/></pattern></defs>\
                   <rect class=\"p\" x=\"-2\" y=\"0\" width=\"4\" height=\"2\"/></svg>";
        let drawing = Drawing::read(svg).unwrap();
        assert_eq!((drawing.size, drawing.shapes.len()), ((4.0, 4.0), 1));
        let mut pixels = Pixmap::new(8, 8).unwrap();
        drawing.draw(2.0, &mut pixels);
        let colors = |x, y| {
            let pixel = pixels.pixel(x, y).unwrap().demultiply();
            (pixel.red(), pixel.green(), pixel.blue(), pixel.alpha())
        };
        assert_eq!(colors(1, 1), (0, 0, 0, 0));
        assert_eq!(colors(3, 6), (0, 255, 0, 255));
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
            let tree = usvg::Tree::from_str(&svg, &usvg::Options::default()).unwrap();
            let mut theirs = Pixmap::new(ours.width(), ours.height()).unwrap();
            let scale = Transform::from_scale(2.0, 2.0);
            resvg::render(&tree, scale, &mut theirs.as_mut());
            let difference = |(a, b): (&u8, &u8)| a.abs_diff(*b);
            let pairs = ours.data().iter().zip(theirs.data());
            let differences: Vec<u8> = pairs.map(difference).collect();
            let worst = differences.iter().max().unwrap();
            let visible = |at: &usize| differences[*at] > 12;
            let visible: Vec<usize> = (0..differences.len()).filter(visible).collect();
            let place = |at: &usize| {
                (
                    at / 4 % ours.width() as usize,
                    at / 4 / ours.width() as usize,
                )
            };
            let places: BTreeSet<(usize, usize)> = visible.iter().map(place).collect();
            // Pixels at the edges of round markers may differ: circles are divided into other curves.
            assert!(
                *worst < 4 && places.len() < 9,
                "up to {worst} at {places:?}"
            );
        }
    }
}
