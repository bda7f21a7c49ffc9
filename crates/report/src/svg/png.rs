//! PNG encoders for pictures of a few colors and for drawings, and base64 for embedding them.
//!
//! Source: W3C, "Portable Network Graphics (PNG) Specification", third edition; RFC 4648, section 4.

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, compress_to_output, create_comp_flags_from_zip_params,
};

/// A picture with a palette of up to 256 colors; color 0 is transparent.
pub(crate) struct Raster {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Raster {
    /// A transparent picture; sizes are limited to 4,000 pixels.
    pub(super) fn new(width: usize, height: usize) -> Raster {
        let (width, height) = (width.clamp(1, 4000), height.clamp(1, 4000));
        Raster {
            width,
            height,
            pixels: vec![0; width * height],
        }
    }

    /// Sets a pixel to a color of the palette; pixels outside the picture are ignored.
    pub(super) fn set(&mut self, x: i64, y: i64, color: u8) {
        let inside = |at: i64, size: usize| usize::try_from(at).ok().filter(|&at| at < size);
        if let (Some(x), Some(y)) = (inside(x, self.width), inside(y, self.height)) {
            self.pixels[y * self.width + x] = color;
        }
    }

    /// Draws a line between two places, two pixels wide; those outside the picture are ignored.
    pub(super) fn line(&mut self, [x, y]: [f64; 2], [to_x, to_y]: [f64; 2], color: u8) {
        let (across, down) = (to_x - x, to_y - y);
        // Places of a chart are inside it; a damaged one must not take forever.
        let steps = across.abs().max(down.abs()).ceil().clamp(1.0, 10_000.0) as u32;
        for step in 0..=steps {
            let share = f64::from(step) / f64::from(steps);
            let (x, y) = ((x + across * share) as i64, (y + down * share) as i64);
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                self.set(x + dx, y + dy, color);
            }
        }
    }

    /// Encodes the picture; `palette` are the colors from 1 on: red, green, blue and opacity.
    pub(super) fn png(&self, palette: &[[u8; 4]]) -> Vec<u8> {
        let header = header(self.width as u32, self.height as u32, PALETTE);
        let all = || std::iter::once(&[0; 4]).chain(palette);
        let colors: Vec<u8> = all().flat_map(|color| &color[..3]).copied().collect();
        let opacities: Vec<u8> = all().map(|color| color[3]).collect();
        // Each row begins with its filter: none.
        let rows = self.pixels.chunks(self.width);
        let rows: Vec<u8> = rows
            .flat_map(|row| std::iter::once(&0).chain(row))
            .copied()
            .collect();
        let data = miniz_oxide::deflate::compress_to_vec_zlib(&rows, 9);
        file(&[
            (b"IHDR", &header),
            (b"PLTE", &colors),
            (b"tRNS", &opacities),
            (b"IDAT", &data),
            (b"IEND", &[]),
        ])
    }
}

/// Color types.
const PALETTE: u8 = 3;
const RGBA: u8 = 6;

/// Encodes a picture of red, green, blue and opacity, row by row.
pub(crate) fn rgba_png(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let zlib = create_comp_flags_from_zip_params(6, 1, 0);
    let mut compressor = CompressorOxide::new(zlib);
    let mut data = Vec::new();
    let mut compress = |bytes: &[u8], flush| {
        // The callback accepts everything, so that all input is used.
        compress_to_output(&mut compressor, bytes, flush, |out| {
            data.extend_from_slice(out);
            true
        })
    };
    for row in pixels.chunks(width as usize * 4) {
        // Each row begins with its filter: none.
        compress(&[0], TDEFLFlush::None);
        compress(row, TDEFLFlush::None);
    }
    compress(&[], TDEFLFlush::Finish);
    file(&[
        (b"IHDR", &header(width, height, RGBA)),
        (b"IDAT", &data),
        (b"IEND", &[]),
    ])
}

/// Depth 8, deflate, adaptive filters, not interlaced.
fn header(width: u32, height: u32, color_type: u8) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    [&size[..], &[8, color_type, 0, 0, 0]].concat()
}

/// A file of chunks.
fn file(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in chunks {
        chunk(&mut out, kind, data);
    }
    out
}

impl Raster {
    /// Decodes a picture that [`Raster::png`] encoded and [`base64`] wrote, with its palette from color 1 on. `None` for
    /// any other picture.
    pub(crate) fn from_base64_png(text: &str) -> Option<(Raster, Vec<[u8; 4]>)> {
        let bytes = from_base64(text)?;
        let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
        let (mut size, mut data) = (None, Vec::new());
        let mut palette: Vec<[u8; 4]> = Vec::new();
        while rest.len() >= 12 {
            let length = u32::from_be_bytes(rest[..4].try_into().ok()?) as usize;
            let content = rest.get(8..8 + length)?;
            match &rest[4..8] {
                b"IHDR" => {
                    let side = |at: usize| {
                        Some(u32::from_be_bytes(content.get(at..at + 4)?.try_into().ok()?) as usize)
                    };
                    size = Some((side(0)?, side(4)?));
                }
                b"PLTE" => {
                    palette = content
                        .chunks_exact(3)
                        .skip(1)
                        .map(|c| [c[0], c[1], c[2], 255])
                        .collect()
                }
                b"tRNS" => {
                    let opacities = content.iter().skip(1);
                    palette
                        .iter_mut()
                        .zip(opacities)
                        .for_each(|(c, a)| c[3] = *a);
                }
                b"IDAT" => data = miniz_oxide::inflate::decompress_to_vec_zlib(content).ok()?,
                _ => {}
            }
            rest = rest.get(12 + length..)?;
        }
        let (width, height) = size?;
        let rows = data.chunks_exact(width + 1).flat_map(|row| &row[1..]);
        let pixels: Vec<u8> = rows.copied().collect();
        (pixels.len() == width * height).then_some((
            Raster {
                width,
                height,
                pixels,
            },
            palette,
        ))
    }

    /// Width and height in pixels.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Horizontal runs of a color: row, first pixel, number of pixels.
    pub(crate) fn runs(&self, color: u8) -> Vec<(usize, usize, usize)> {
        let mut runs = Vec::new();
        for (row, pixels) in self.pixels.chunks(self.width).enumerate() {
            let mut at = 0;
            for same in pixels.chunk_by(|a, b| a == b) {
                if same[0] == color {
                    runs.push((row, at, same.len()));
                }
                at += same.len();
            }
        }
        runs
    }
}

/// Decodes base64; `None` if it has other characters.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group
            .iter()
            .try_fold(0u32, |bits, &c| Some(bits << 6 | u32::from(value(c)?)))?;
        let bits = bits << (6 * (4 - group.len()));
        out.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(out)
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    let from = out.len();
    out.extend(kind);
    out.extend(data);
    let sum = crc32fast::hash(&out[from..]);
    out.extend(sum.to_be_bytes());
}

/// Encodes bytes as base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= group.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // RFC 4648, section 10.
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }

    /// The chunks of a PNG file: type and content, after checking the sums.
    fn chunks(png: &[u8]) -> Vec<(String, Vec<u8>)> {
        let (signature, mut rest) = png.split_at(8);
        assert_eq!(signature, b"\x89PNG\r\n\x1a\n");
        let mut found = Vec::new();
        while !rest.is_empty() {
            let number = |at: usize| u32::from_be_bytes(rest[at..at + 4].try_into().unwrap());
            let len = number(0) as usize;
            assert_eq!(number(8 + len), crc32fast::hash(&rest[4..8 + len]));
            let kind = String::from_utf8(rest[4..8].to_vec()).unwrap();
            found.push((kind, rest[8..8 + len].to_vec()));
            rest = &rest[12 + len..];
        }
        found
    }

    #[test]
    fn a_png_contains_its_pixels() {
        let mut raster = Raster::new(5, 3);
        raster.set(0, 0, 1);
        raster.set(4, 2, 2);
        raster.set(5, 0, 9);
        raster.set(-1, 0, 9);
        let png = raster.png(&[[1, 2, 3, 255], [4, 5, 6, 128]]);
        let (again, palette) = Raster::from_base64_png(&base64(&png)).unwrap();
        assert_eq!(
            (again.pixels, palette),
            (raster.pixels.clone(), vec![[1, 2, 3, 255], [4, 5, 6, 128]])
        );
        assert_eq!(
            (raster.runs(1), raster.runs(2)),
            (vec![(0, 0, 1)], vec![(2, 4, 1)])
        );
        assert!(Raster::from_base64_png("no picture").is_none());
        let chunks = chunks(&raster.png(&[[1, 2, 3, 255], [4, 5, 6, 128]]));
        let kinds: Vec<&str> = chunks.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
        assert_eq!(chunks[0].1, [0, 0, 0, 5, 0, 0, 0, 3, 8, 3, 0, 0, 0]);
        assert_eq!(chunks[1].1, [0, 0, 0, 1, 2, 3, 4, 5, 6]);
        let rows = miniz_oxide::inflate::decompress_to_vec_zlib(&chunks[3].1).unwrap();
        assert_eq!(
            rows,
            [[0, 1, 0, 0, 0, 0], [0; 6], [0, 0, 0, 0, 0, 2]].concat()
        );
    }

    #[test]
    fn a_drawing_is_compressed_row_by_row() {
        let pixels: Vec<u8> = (0..3 * 2 * 4).collect();
        let chunks = chunks(&rgba_png(3, 2, &pixels));
        let kinds: Vec<&str> = chunks.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["IHDR", "IDAT", "IEND"]);
        assert_eq!(chunks[0].1, [0, 0, 0, 3, 0, 0, 0, 2, 8, 6, 0, 0, 0]);
        let rows = miniz_oxide::inflate::decompress_to_vec_zlib(&chunks[1].1).unwrap();
        assert_eq!(rows, [&[0], &pixels[..12], &[0], &pixels[12..]].concat());
    }
}
