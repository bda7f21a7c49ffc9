//! A TrueType font with one glyph, for tests: 測 as a filled square.

/// The character that the font has.
pub(super) const KANJI: char = '測';

const UNITS_PER_EM: u16 = 1000;

/// The font file, after the OpenType specification: <https://learn.microsoft.com/typography/opentype/spec/otff>.
pub(super) fn font() -> Vec<u8> {
    let tables: [(&[u8; 4], Vec<u8>); 7] = [
        (b"cmap", cmap()),
        (b"glyf", square()),
        (b"head", head()),
        (b"hhea", hhea()),
        // The advance of all glyphs, and the left side bearings of both.
        (b"hmtx", words(&[UNITS_PER_EM, 0, 0])),
        // Halves of the offsets of both glyphs in `glyf`, of which the first is empty, and of its end.
        (b"loca", words(&[0, 0, square().len() as u16 / 2])),
        // Version 0.5, two glyphs.
        (b"maxp", words(&[0, 0x5000, 2])),
    ];
    let mut file = words(&[1, 0, tables.len() as u16, 0, 0, 0]);
    let mut offset = file.len() + 16 * tables.len();
    for (tag, table) in &tables {
        file.extend(*tag);
        for number in [0, offset, table.len()] {
            file.extend((number as u32).to_be_bytes());
        }
        offset += table.len();
    }
    file.extend(tables.into_iter().flat_map(|(_, table)| table));
    file
}

fn words(values: &[u16]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect()
}

/// Format 12: one group of one character, which is glyph 1.
fn cmap() -> Vec<u8> {
    let mut table = words(&[0, 1, 3, 10]);
    table.extend(12_u32.to_be_bytes());
    table.extend(words(&[12, 0]));
    let kanji = u32::from(KANJI);
    for number in [28, 0, 1, kanji, kanji, 1] {
        table.extend(number.to_be_bytes());
    }
    table
}

/// One contour of four points on the curve: their flags, and the differences of their coordinates.
fn square() -> Vec<u8> {
    const BACK: u16 = 0_u16.wrapping_sub(800);
    let mut glyph = words(&[1, 100, 0, 900, 800, 3, 0]);
    glyph.extend([1; 4]);
    glyph.extend(words(&[100, 800, 0, BACK, 0, 0, 800, 0]));
    glyph
}

fn head() -> Vec<u8> {
    let mut table = words(&[1, 0, 1, 0, 0, 0, 0x5f0f, 0x3cf5, 0, UNITS_PER_EM]);
    // Dates, extent, style, smallest size, direction, short offsets in `loca`, format.
    table.extend([0; 34]);
    table
}

fn hhea() -> Vec<u8> {
    let mut table = words(&[1, 0, 880, 0, 0, UNITS_PER_EM]);
    table.extend([0; 22]);
    table.extend(words(&[1]));
    table
}
