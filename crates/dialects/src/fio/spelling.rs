//! Finds the known name that a misspelled one probably means.

/// Returns the known name nearest to an unknown one, if it is close enough to be a typo.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let wanted = name.replace('-', "_").to_ascii_lowercase();
    let allowed = (wanted.chars().count() / 3).max(1);
    let scored = names.map(|known| (distance(&wanted, &known.replace('-', "_")), known));
    let best = scored.min_by_key(|(far, known)| (*far, known.len()))?;
    (best.0 <= allowed).then(|| best.1.to_owned())
}

/// Edit distance: insertions, deletions, substitutions and adjacent swaps (restricted Damerau-Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}
