//! Small text tables: the data of a chart, and tables of a page.

use crate::escape;

/// A table; the first column contains the names of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DataTable {
    /// Names of the columns.
    pub(crate) head: Vec<String>,
    /// Rows, each with as many cells as `head`.
    pub(crate) rows: Vec<Vec<String>>,
}

/// A row of a table: its name, then the cells.
pub(crate) fn row(name: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(name.into()).chain(cells).collect()
}

impl DataTable {
    /// A table with these column names and rows.
    pub(crate) fn new<Name: Into<String>>(
        head: impl IntoIterator<Item = Name>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> DataTable {
        DataTable {
            head: head.into_iter().map(Into::into).collect(),
            rows: rows.into_iter().collect(),
        }
    }

    /// The table, unless it has no rows.
    pub(crate) fn nonempty(self) -> Option<DataTable> {
        (!self.rows.is_empty()).then_some(self)
    }

    /// Removes empty columns, except the first.
    pub(crate) fn without_empty_columns(mut self) -> DataTable {
        let kept: Vec<bool> = (0..self.head.len())
            .map(|column| {
                column == 0
                    || self
                        .rows
                        .iter()
                        .any(|row| row.get(column).is_some_and(|c| !c.is_empty()))
            })
            .collect();
        for cells in self.rows.iter_mut().chain([&mut self.head]) {
            let mut keep = kept.iter();
            cells.retain(|_| *keep.next().unwrap_or(&false));
        }
        self
    }

    /// Whether a column contains figures: the first one contains names, and text begins with a letter, which the sign
    /// of a verdict may precede. Japanese text may begin with a figure, but then has particles.
    pub(crate) fn has_figures(&self, column: usize) -> bool {
        let is_particle = |c: char| matches!(c, 'の' | 'に' | 'を' | 'は' | 'が');
        let of_words = |row: &Vec<String>| {
            let cell = row.get(column).map_or("", String::as_str);
            let said = cell.trim_start_matches(['✓', '✗', '~', '?', ' ']);
            said.starts_with(char::is_alphabetic) || cell.contains(is_particle)
        };
        column > 0 && !self.rows.iter().any(of_words)
    }

    /// Renders the table as HTML. With the class `cards`, each cell has the name of its column, so that narrow pages can
    /// show a row as a list.
    pub(crate) fn html(&self, class: &str) -> String {
        let classes: Vec<&str> = (0..self.head.len())
            .map(|column| match column == 0 || self.has_figures(column) {
                true => "",
                false => " class=\"words\"",
            })
            .collect();
        let head = self.head.iter().zip(&classes);
        let head: String = head
            .map(|(name, class)| match name.is_empty() {
                // A heading without text would be announced as one.
                true => "<td></td>".to_owned(),
                false => format!("<th scope=\"col\"{class}>{}</th>", escape::markup(name)),
            })
            .collect();
        let as_list = class.split(' ').any(|class| class == "cards");
        let row = |row: &Vec<String>| {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let class = classes.get(column).copied().unwrap_or_default();
                self.cell(column, class, cell, as_list)
            });
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        let rows: String = self.rows.iter().map(row).collect();
        format!("<table class=\"{class}\">\n<thead><tr>{head}</tr></thead>\n{rows}</table>\n")
    }

    /// Renders the table as HTML that scrolls if it is wider than the page; it is labeled and accessible by keyboard.
    pub(crate) fn scrolling(&self, class: &str, name: &str) -> String {
        let name = escape::markup(name);
        let table = self.html(class);
        format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{name}\">\n{table}</div>\n"
        )
    }

    fn cell(&self, column: usize, class: &str, cell: &str, as_list: bool) -> String {
        let lines: Vec<String> = cell.split('\n').map(escape::with_commands).collect();
        let shown = match lines.split_first() {
            Some((first, more)) if !more.is_empty() => {
                format!("{first}<small>{}</small>", more.join(" "))
            }
            _ => lines.concat(),
        };
        // A short text needs no element of its own beside its name.
        let needs_one = shown.contains('<') || shown.len() > MOST_UNWRAPPED;
        let shown = match as_list && needs_one {
            true => format!("<span>{shown}</span>"),
            false => shown,
        };
        match column {
            0 => format!("<th scope=\"row\">{shown}</th>"),
            _ if !as_list => format!("<td{class}>{shown}</td>"),
            _ => {
                let name = self.head.get(column).map_or("", String::as_str);
                let name = escape::markup(name);
                format!("<td{class} data-name=\"{name}\">{shown}</td>")
            }
        }
    }
}

/// Longest content of a cell, in bytes, that fits beside the name of its column on a phone.
const MOST_UNWRAPPED: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a finding of a verification was aligned as a figure, in Japanese only.
    #[test]
    fn japanese_that_begins_with_a_figure_is_text() {
        let column = |cell: &str| DataTable::new(["", "x"], [row("a", [cell.to_owned()])]);
        assert!(!column("8 GiB先のデータで上書き").has_figures(1));
        assert!(!column("overwritten").has_figures(1));
        assert!(!column("? 条件不成立").has_figures(1));
        assert!(!column("? test conditions not met").has_figures(1));
        let ratio = "0.124倍 [0.0500, 0.210]（回数不足）: 低い (p < 0.001)";
        for figure in ["33.6 ± 0.2", "3回", "1時間30分", "15組中12組", ratio, "–"] {
            assert!(column(figure).has_figures(1), "{figure}");
        }
    }

    #[test]
    fn only_tables_that_become_lists_name_their_cells() {
        let table = DataTable::new(["", "MB/s"], [row("a", ["1\n95%".to_owned()])]);
        let plain = table.html("numbers");
        assert!(plain.contains("<tr><td></td><th scope=\"col\">MB/s</th></tr>"));
        assert!(plain.contains("<th scope=\"row\">a</th><td>1<small>95%</small></td>"));
        let list = table.html("numbers cards wide");
        assert!(list.contains("<td data-name=\"MB/s\"><span>1<small>95%</small></span></td>"));
        let short = DataTable::new(["", "MB/s"], [row("a", ["33.6 ± 0.2".to_owned()])]);
        let list = short.html("numbers cards wide");
        assert!(list.contains("<td data-name=\"MB/s\">33.6 ± 0.2</td>"));
    }
}
