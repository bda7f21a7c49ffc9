//! A PNG encoder for pictures of a few colors, and base64 for embedding them.
//!
//! Source: W3C, "Portable Network Graphics (PNG) Specification", third edition; RFC 4648, section 4.

/// A picture with a palette of up to 256 colors; color 0 is transparent.
pub(super) struct Raster {
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

    /// Encodes the picture; `palette` are the colors from 1 on.
    pub(super) fn png(&self, palette: &[[u8; 3]]) -> Vec<u8> {
        let mut header = Vec::new();
        header.extend((self.width as u32).to_be_bytes());
        header.extend((self.height as u32).to_be_bytes());
        // Depth 8, palette, deflate, adaptive filters, not interlaced.
        header.extend([8, 3, 0, 0, 0]);
        let colors: Vec<u8> = std::iter::once(&[0; 3])
            .chain(palette)
            .flatten()
            .copied()
            .collect();
        // Each row begins with its filter: none.
        let rows = self.pixels.chunks(self.width);
        let rows: Vec<u8> = rows
            .flat_map(|row| std::iter::once(&0).chain(row))
            .copied()
            .collect();
        let data = miniz_oxide::deflate::compress_to_vec_zlib(&rows, 9);
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, data) in [
            (b"IHDR", &header),
            (b"PLTE", &colors),
            (b"tRNS", &vec![0]),
            (b"IDAT", &data),
            (b"IEND", &Vec::new()),
        ] {
            chunk(&mut out, kind, data);
        }
        out
    }
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
        let chunks = chunks(&raster.png(&[[1, 2, 3], [4, 5, 6]]));
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
}
