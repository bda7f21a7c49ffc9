//! Fonts of the system for PNG charts.

use fontdb::{Database, Family, ID, Query, Weight};
use hakaru_report::ChartFonts;

/// Families for Latin text, best first.
const LATIN: [&str; 9] = [
    "Noto Sans",
    "DejaVu Sans",
    "Liberation Sans",
    "Roboto",
    "Ubuntu",
    "Cantarell",
    "FreeSans",
    "Arial",
    "Helvetica",
];

/// Families for Japanese text, best first.
const JAPANESE: [&str; 9] = [
    "Noto Sans CJK JP",
    "Noto Sans JP",
    "Source Han Sans JP",
    "IPAexGothic",
    "IPAGothic",
    "VL Gothic",
    "TakaoGothic",
    "Hiragino Sans",
    "Droid Sans Fallback",
];

/// A character that a font for Japanese has.
const KANJI: char = '測';

/// The fonts of the system for charts; empty if there is none.
pub(crate) fn for_charts() -> ChartFonts {
    let mut database = Database::new();
    database.load_system_fonts();
    chosen(&database)
}

/// Fonts for Latin and Japanese text; any font if none of the known families is there.
fn chosen(database: &Database) -> ChartFonts {
    let mut fonts = ChartFonts::default();
    for families in [LATIN, JAPANESE] {
        for (bold, weight) in [(false, Weight::NORMAL), (true, Weight::BOLD)] {
            let found = families.iter().find_map(|family| {
                let families = &[Family::Name(family)];
                let query = Query {
                    families,
                    weight,
                    ..Query::default()
                };
                database.query(&query)
            });
            if let Some(id) = found {
                add(&mut fonts, database, id, bold);
            }
        }
    }
    // Any font is better than none, and any font with kanji better than empty boxes.
    for wanted in ['a', KANJI] {
        if !fonts.has(wanted) {
            let other = database.faces().find(|face| has(database, face.id, wanted));
            if let Some(face) = other {
                add(&mut fonts, database, face.id, false);
            }
        }
    }
    fonts
}

fn add(fonts: &mut ChartFonts, database: &Database, id: ID, bold: bool) {
    database.with_face_data(id, |data, index| fonts.add(data.to_vec(), index, bold));
}

/// Whether a font has a character.
fn has(database: &Database, id: ID, c: char) -> bool {
    let with = database.with_face_data(id, |data, index| {
        let mut one = ChartFonts::default();
        one.add(data.to_vec(), index, false) && one.has(c)
    });
    with.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_font_is_no_panic() {
        assert!(chosen(&Database::new()).is_empty());
    }
}
