//! Replaces the pictures of pixels in a chart by shapes, because the renderer is built without decoders.

use crate::svg::Raster;
use std::fmt::Write;

/// The document with one path for each color of each picture.
pub(super) fn as_shapes(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find("<image ") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find("/>").map_or(rest.len(), |end| end + 2);
        out.push_str(&shapes(&rest[..end]).unwrap_or_default());
        rest = &rest[end..];
    }
    out + rest
}

/// Shapes of one picture; `None` if it is not one of ours.
fn shapes(image: &str) -> Option<String> {
    let attribute = |name: &str| {
        let (_, from) = image.split_once(&format!(" {name}=\""))?;
        from.split_once('"').map(|(value, _)| value)
    };
    let number = |name: &str| attribute(name)?.parse::<f64>().ok();
    let (left, top) = (number("x")?, number("y")?);
    let (width, height) = (number("width")?, number("height")?);
    let data = attribute("href")?.strip_prefix("data:image/png;base64,")?;
    let (raster, palette) = Raster::from_base64_png(data)?;
    let (across, down) = raster.size();
    let [dx, dy] = [width / across as f64, height / down as f64];
    let mut out = String::new();
    for (color, [red, green, blue, opacity]) in (1..).zip(palette) {
        let mut d = String::new();
        for (row, from, length) in raster.runs(color) {
            let (x, y) = (left + from as f64 * dx, top + row as f64 * dy);
            let wide = length as f64 * dx;
            // Writing to a string cannot fail.
            let _ = write!(d, "M{x:.2} {y:.2}h{wide:.2}v{dy:.2}h-{wide:.2}z");
        }
        if !d.is_empty() {
            let opacity = match opacity {
                u8::MAX => String::new(),
                part => format!(" fill-opacity=\"{:.3}\"", f64::from(part) / 255.0),
            };
            let _ = write!(
                out,
                "<path fill=\"#{red:02x}{green:02x}{blue:02x}\"{opacity} d=\"{d}\"/>"
            );
        }
    }
    Some(out)
}
