//! A picture in memory, on which shapes are drawn one over another.

use zeno::{Command, Mask, Style, Transform, Vector};

/// A picture of pixels with red, green, blue and opacity; the colors are multiplied by the opacity.
pub(super) struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 4]>,
}

/// What a shape is filled with.
pub(super) enum Paint<'t> {
    /// One color, multiplied by its opacity.
    Color([u8; 4]),
    /// A picture that repeats, the opacity it is drawn with, and the way from pixels of the canvas to its own.
    Tile(&'t Canvas, f32, Transform),
}

impl Paint<'_> {
    /// A color with an opacity from 0 to 1.
    pub(super) fn color([red, green, blue]: [u8; 3], opacity: f32) -> Paint<'static> {
        let alpha = (opacity * 255.0).round() as u8;
        let [red, green, blue] = [red, green, blue].map(|part| times(part, alpha));
        Paint::Color([red, green, blue, alpha])
    }

    /// The color at the center of a pixel.
    fn at(&self, x: u32, y: u32) -> [u8; 4] {
        match self {
            Paint::Color(color) => *color,
            Paint::Tile(tile, opacity, transform) => {
                let center = Vector::new(x as f32 + 0.5, y as f32 + 0.5);
                let place = transform.transform_point(center);
                tile.between(place.x - 0.5, place.y - 0.5)
                    .map(|part| (part * opacity).round() as u8)
            }
        }
    }
}

/// Product of two numbers that stand for 0 to 1.
fn times(a: u8, b: u8) -> u8 {
    ((u32::from(a) * u32::from(b) + 127) / 255) as u8
}

impl Canvas {
    /// A transparent picture; `None` without pixels.
    pub(super) fn new(width: u32, height: u32) -> Option<Canvas> {
        let pixels = vec![[0; 4]; width as usize * height as usize];
        (!pixels.is_empty()).then_some(Canvas {
            width,
            height,
            pixels,
        })
    }

    /// Width in pixels.
    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub(super) fn height(&self) -> u32 {
        self.height
    }

    /// Draws a path, filled or stroked.
    pub(super) fn draw<'a>(
        &mut self,
        path: &[Command],
        style: impl Into<Style<'a>>,
        transform: Transform,
        paint: &Paint<'_>,
    ) {
        let style = style.into();
        let bounds = zeno::bounds(path, style, Some(transform));
        let (left, top) = (bounds.min.x.floor().max(0.0), bounds.min.y.floor().max(0.0));
        let right = bounds.max.x.ceil().min(self.width as f32);
        let bottom = bounds.max.y.ceil().min(self.height as f32);
        if !(left < right && top < bottom) {
            return;
        }
        let [width, height] = [right - left, bottom - top].map(|side| side as u32);
        let mut coverage = vec![0; width as usize * height as usize];
        Mask::new(path)
            .style(style)
            .transform(Some(transform))
            .offset((-left, -top))
            .size(width, height)
            .render_into(&mut coverage, None);
        for (y, row) in (top as u32..).zip(coverage.chunks_exact(width as usize)) {
            for (x, covered) in (left as u32..).zip(row) {
                if *covered > 0 {
                    self.cover(x, y, paint.at(x, y), *covered);
                }
            }
        }
    }

    /// Draws a color over a part of a pixel.
    fn cover(&mut self, x: u32, y: u32, color: [u8; 4], covered: u8) {
        let pixel = &mut self.pixels[y as usize * self.width as usize + x as usize];
        let over = color.map(|part| times(part, covered));
        let under = u8::MAX - over[3];
        *pixel = std::array::from_fn(|part| over[part].saturating_add(times(pixel[part], under)));
    }

    /// The color between four pixels of a picture that repeats.
    fn between(&self, x: f32, y: f32) -> [f32; 4] {
        let pixel = |dx: f32, dy: f32| {
            let wrapped = |place: f32, length: u32| place.rem_euclid(length as f32) as u32 % length;
            let column = wrapped(x.floor() + dx, self.width) as usize;
            let row = wrapped(y.floor() + dy, self.height) as usize;
            self.pixels[row * self.width as usize + column].map(f32::from)
        };
        let mixed = |a: [f32; 4], b: [f32; 4], share: f32| -> [f32; 4] {
            std::array::from_fn(|part| a[part] + (b[part] - a[part]) * share)
        };
        let (right, down) = (x - x.floor(), y - y.floor());
        mixed(
            mixed(pixel(0.0, 0.0), pixel(1.0, 0.0), right),
            mixed(pixel(0.0, 1.0), pixel(1.0, 1.0), right),
            down,
        )
    }

    /// All pixels, row by row, with colors that are not multiplied by the opacity.
    pub(super) fn into_rgba(self) -> Vec<u8> {
        let divided = |[red, green, blue, alpha]: [u8; 4]| {
            let part = |part: u8| match u32::from(alpha) {
                0 => 0,
                alpha => ((u32::from(part) * 255 + alpha / 2) / alpha).min(255) as u8,
            };
            [part(red), part(green), part(blue), alpha]
        };
        self.pixels.into_iter().flat_map(divided).collect()
    }
}
