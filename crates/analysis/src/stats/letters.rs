//! Compact letter display: shows which items differ.

/// Returns letters for each of `n` items, in order: two items share a letter exactly if they do not differ.
///
/// Sets of items that do not differ are split wherever a pair differs, and subsets of other sets are dropped ("insert
/// and absorb"). The sets get their letters in the order of their first members. Source: Piepho (2004).
pub(crate) fn letters(n: usize, differ: impl Fn(usize, usize) -> bool) -> Vec<String> {
    let mut sets: Vec<Vec<bool>> = vec![vec![true; n]];
    for (i, j) in (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .filter(|&(i, j)| differ(i, j))
    {
        let (both, mut rest): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| set[i] && set[j]);
        for set in both {
            for out in [i, j] {
                let mut less = set.clone();
                less[out] = false;
                rest.push(less);
            }
        }
        sets = absorbed(rest);
    }
    sets.sort_by_key(|set| (0..n).filter(|&i| set[i]).collect::<Vec<_>>());
    let letters_of = |i: usize| {
        let of_item = (0..sets.len()).filter(|&nth| sets[nth][i]);
        of_item.map(letter).collect()
    };
    (0..n).map(letters_of).collect()
}

/// Removes subsets of other sets.
fn absorbed(sets: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    let within = |a: &[bool], b: &[bool]| a.iter().zip(b).all(|(a, b)| !a || *b);
    let mut kept: Vec<Vec<bool>> = Vec::with_capacity(sets.len());
    for set in sets {
        if kept.iter().any(|known| within(&set, known)) {
            continue;
        }
        kept.retain(|known| !within(known, &set));
        kept.push(set);
    }
    kept
}

/// Returns the name of the n-th letter: `a` to `z`, then `a1`, `b1` and so on.
fn letter(nth: usize) -> String {
    let letter = char::from(b'a' + (nth % 26) as u8);
    if nth < 26 {
        letter.to_string()
    } else {
        format!("{letter}{}", nth / 26)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::rng::Rng;

    #[test]
    fn the_display_is_the_known_one() {
        // Items 0 to 3 in order; 0 differs from 2 and 3, 1 from 3: 0 a, 1 ab, 2 bc, 3 c.
        let differ = |i: usize, j: usize| matches!((i, j), (0, 2) | (0, 3) | (1, 3));
        assert_eq!(letters(4, differ), ["a", "ab", "bc", "c"]);
        assert_eq!(letters(3, |_, _| true), ["a", "b", "c"]);
        assert_eq!(letters(3, |_, _| false), ["a", "a", "a"]);
        assert_eq!(letters(0, |_, _| true), Vec::<String>::new());
        assert_eq!(letters(28, |_, _| true)[26], "a1");
    }

    /// Regression: ranks shared with the best of a group did not show differences between the others.
    #[test]
    fn sharing_a_letter_means_not_differing_and_nothing_else() {
        let mut rng = Rng::new(8);
        for trial in 0..400 {
            let n = 2 + trial % 8;
            let share = [0.2, 0.5, 0.8][trial % 3];
            let table: Vec<bool> = (0..n * n).map(|_| rng.unit() < share).collect();
            let differ = |i: usize, j: usize| table[i.min(j) * n + i.max(j)];
            let given = letters(n, differ);
            for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
                let shared = given[i].chars().any(|letter| given[j].contains(letter));
                assert_eq!(shared, !differ(i, j), "{given:?} {i} {j}");
            }
            assert!(given.iter().all(|letters| !letters.is_empty()));
        }
    }
}
