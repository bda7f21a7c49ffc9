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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(label: &str, short: &str) -> SeriesLine {
        SeriesLine {
            series: format!("{short}-and-the-rest"),
            label: label.to_owned(),
            scenario: "randread".to_owned(),
            runs: 1,
            short: short.to_owned(),
        }
    }

    #[test]
    fn a_label_of_several_series_is_reported_whole() {
        let series = [line("ssd", "a1"), line("ssd", "b2")];
        assert_eq!(next(&series, None), "Next: `hakaru report ssd`\n");
        // One series, or a label that a shell would split, is named by its ID.
        assert_eq!(next(&series[..1], None), "Next: `hakaru report a1`\n");
        let spaced = [line("my ssd", "a1"), line("my ssd", "b2")];
        assert_eq!(next(&spaced, None), "Next: `hakaru report a1`\n");
        let option = [line("-x", "a1"), line("-x", "b2")];
        assert_eq!(next(&option, None), "Next: `hakaru report a1`\n");
    }

    #[test]
    fn only_different_labels_are_compared() {
        let pair = [line("sd", "a1"), line("ssd", "b2"), line("ssd", "c3")];
        let wanted = "Next: `hakaru report a1`, `hakaru compare a1 ssd`\n";
        assert_eq!(next(&pair, None), wanted);
    }

    #[test]
    fn an_import_without_series_shows_what_it_has() {
        assert_eq!(
            next(&[], Some(&"d4".to_owned())),
            "Next: `hakaru show d4`\n"
        );
        assert_eq!(next(&[], None), "");
    }
}
