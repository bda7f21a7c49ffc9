//! A table of figures whose shades and letters show which values are the best, and which differ.

use crate::number::MeanText;
use crate::table::{self, DataTable};
use crate::text;

/// A heat table: one row for each card or series, one column for each workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matrix {
    /// What all rows have in common: the layer.
    pub(crate) caption: String,
    /// What the figures are, after the caption.
    pub(crate) about: String,
    /// Heading of the rows.
    pub(crate) corner: String,
    pub(crate) columns: Vec<MatrixColumn>,
    pub(crate) rows: Vec<MatrixRow>,
    /// Whether the rows are cards.
    pub(crate) of_cards: bool,
    /// What the frame of a cell means.
    pub(crate) framed: &'static str,
}

/// A column of a matrix.
#[derive(Clone, Debug)]
pub(crate) struct MatrixColumn {
    pub(crate) name: String,
    /// Unit of its figures.
    pub(crate) unit: String,
}

/// A row of a matrix; cells without a figure are `None`.
#[derive(Clone, Debug)]
pub(crate) struct MatrixRow {
    pub(crate) name: String,
    pub(crate) cells: Vec<Option<MatrixCell>>,
}

/// A figure of a matrix.
#[derive(Clone, Debug)]
pub(crate) struct MatrixCell {
    pub(crate) figure: String,
    /// Deviation with its sign, or interval.
    pub(crate) note: Option<String>,
    /// Letters of the compact letter display; empty if nothing was compared.
    pub(crate) letters: String,
    /// Shade from 0 to 5: the share of the best value of the column.
    pub(crate) shade: u8,
    /// Whether it is the best figure, or not proven to be worse.
    pub(crate) best: bool,
}

/// Verdicts as marks: one row for each card, one column for each use or claim.
#[derive(Clone, Debug)]
pub(crate) struct MarkTable {
    /// What all rows have in common.
    pub(crate) caption: String,
    /// Heading of the rows.
    pub(crate) corner: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<MarkRow>,
}

/// A row of marks; cells without a verdict are `None`.
#[derive(Clone, Debug)]
pub(crate) struct MarkRow {
    pub(crate) name: String,
    /// What else is known about it, such as the product; may be empty.
    pub(crate) detail: String,
    pub(crate) cells: Vec<Option<Mark>>,
}

/// A verdict as a symbol and a word.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) sign: &'static str,
    pub(crate) word: String,
    /// What was measured, such as a multiple of what is required; may be empty.
    pub(crate) figure: String,
}

impl MarkTable {
    /// The symbols of all verdicts.
    pub(crate) fn signs(&self) -> impl Iterator<Item = &'static str> {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.flatten().map(|mark| mark.sign)
    }

    /// The same verdicts as a table of text.
    pub(crate) fn table(&self) -> DataTable {
        let cell = |mark: &Option<Mark>| match mark {
            Some(mark) => {
                let figure = Some(&mark.figure).filter(|figure| !figure.is_empty());
                let parts = std::iter::once(&mark.word).chain(figure);
                format!(
                    "{} {}",
                    mark.sign,
                    text::enumerated(&parts.collect::<Vec<_>>())
                )
            }
            None => "–".to_owned(),
        };
        let rows = self.rows.iter();
        let name = |row: &MarkRow| match row.detail.is_empty() {
            true => row.name.clone(),
            false => text::enumerated(&[&row.name, &row.detail]),
        };
        let rows = rows.map(|row| table::row(name(row), row.cells.iter().map(cell)));
        DataTable::new(table::row(&self.corner, self.columns.iter().cloned()), rows)
    }
}

/// Lower limits of the shades from 1 to 5, as a share of the best value.
const SHADES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 0.95];

/// Shade of a value, given the best value of its column. Never from minimum to maximum, so that nearly equal values
/// look alike.
pub(crate) fn shade(value: f64, best: f64) -> u8 {
    let share = value / best;
    SHADES.iter().filter(|limit| share >= **limit).count() as u8
}

impl MatrixCell {
    /// A cell from mean and deviation.
    pub(crate) fn of(spread: &MeanText, shade: u8) -> MatrixCell {
        MatrixCell {
            figure: crate::number::in_groups(&spread.mean),
            note: spread.deviation.as_ref().map(|d| format!("± {d}")),
            letters: String::new(),
            shade,
            best: false,
        }
    }

    /// The cell as plain text: `1,489 ± 65 (a)`.
    fn text(&self) -> String {
        let note = self.note.as_ref();
        let note = note.map_or(String::new(), |note| format!(" {note}"));
        match self.letters.is_empty() {
            true => format!("{}{note}", self.figure),
            false => format!("{}{note} ({})", self.figure, self.letters),
        }
    }
}

impl Matrix {
    /// Whether any cell has letters.
    pub(crate) fn has_letters(&self) -> bool {
        let cells = self.rows.iter().flat_map(|row| row.cells.iter().flatten());
        cells.into_iter().any(|cell| !cell.letters.is_empty())
    }

    /// The same figures as a table of text.
    pub(crate) fn table(&self) -> DataTable {
        let names = self.columns.iter();
        let names = names.map(|column| match column.unit.is_empty() {
            true => column.name.clone(),
            false => text::with_unit(&column.name, &column.unit),
        });
        let rows = self.rows.iter().map(|row| {
            let cells = row.cells.iter();
            let cells = cells.map(|cell| cell.as_ref().map_or("–".to_owned(), MatrixCell::text));
            table::row(&row.name, cells)
        });
        DataTable::new(table::row(&self.corner, names), rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_equal_values_look_alike() {
        let shades = [41.3, 40.1, 39.4].map(|value| shade(value, 41.3));
        assert_eq!(shades, [5, 5, 5]);
        let shades = [1489.0, 947.0, 571.0, 254.0, 0.3, f64::NAN].map(|v| shade(v, 1489.0));
        assert_eq!(shades, [5, 3, 1, 0, 0, 0]);
    }
}
