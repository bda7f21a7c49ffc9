//! What to type after an import.

use super::SeriesLine;

/// Returns the line that names the next commands: a report of everything under the only label, or a comparison of two
/// labels. `other` is the ID of a verification or an anatomy, for an import without series.
pub(super) fn next(series: &[SeriesLine], other: Option<&String>) -> String {
    let Some(first) = series.first() else {
        return other.map_or_else(String::new, |id| {
            both!("Next: `hakaru show {id}`\n", "次: hakaru show {id}\n")
        });
    };
    let differs = |line: &&SeriesLine| line.label != first.label;
    let a = name(first, series);
    match series.iter().find(differs) {
        None => both!("Next: `hakaru report {a}`\n", "次: hakaru report {a}\n"),
        Some(second) => {
            let b = name(second, series);
            both!(
                "Next: `hakaru report {a}`, `hakaru compare {a} {b}`\n",
                "次: hakaru report {a}、hakaru compare {a} {b}\n"
            )
        }
    }
}

/// Returns the label if it stands for several of these series and a shell needs no quotes for it, or the short ID.
fn name(of: &SeriesLine, all: &[SeriesLine]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_word = of.label.chars().all(is_plain) && !of.label.starts_with('-');
    let count = all.iter().filter(|line| line.label == of.label).count();
    match is_word && !of.label.is_empty() && count > 1 {
        true => of.label.clone(),
        false => of.short.clone(),
    }
}
