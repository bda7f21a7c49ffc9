//! Sentences that differ in their figures only, told as one: of many cards each has its own load and its own count.

use std::fmt;

/// Some sentences with the same words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alike {
    /// The words; between each and the next lies a figure.
    words: Vec<String>,
    /// The smallest and the largest of each figure, as they were written.
    figures: Vec<(String, String)>,
}

impl Alike {
    /// One sentence.
    pub(super) fn of(sentence: &str) -> Alike {
        let (words, figures) = parts(sentence);
        Alike {
            words,
            figures: figures
                .into_iter()
                .map(|figure| (figure.clone(), figure))
                .collect(),
        }
    }

    /// Takes a sentence in if it has the same words; says whether it did.
    pub(super) fn takes(&mut self, sentence: &str) -> bool {
        let (words, figures) = parts(sentence);
        if words != self.words {
            return false;
        }
        for ((least, most), figure) in self.figures.iter_mut().zip(figures) {
            if value(&figure) < value(least) {
                least.clone_from(&figure);
            }
            if value(&figure) > value(most) {
                *most = figure;
            }
        }
        true
    }
}

impl fmt::Display for Alike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, words) in self.words.iter().enumerate() {
            f.write_str(words)?;
            match self.figures.get(place) {
                Some((least, most)) if least == most => f.write_str(least)?,
                Some((least, most)) => write!(f, "{least} to {most}")?,
                None => {}
            }
        }
        Ok(())
    }
}

/// A figure stands by itself, with at most a point in it; digits that belong to a name are words.
fn parts(sentence: &str) -> (Vec<String>, Vec<String>) {
    let (mut words, mut figures) = (Vec::new(), Vec::new());
    let mut word = String::new();
    for (place, token) in sentence.split(' ').enumerate() {
        if place > 0 {
            word.push(' ');
        }
        if value(token).is_finite() && token.starts_with(|c: char| c.is_ascii_digit()) {
            words.push(std::mem::take(&mut word));
            figures.push(token.to_owned());
        } else {
            word.push_str(token);
        }
    }
    words.push(word);
    (words, figures)
}

fn value(figure: &str) -> f64 {
    figure.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_ranges_and_words_stay() {
        let mut load = Alike::of("the load of the host was 135 % of a processor as the run began");
        assert!(load.takes("the load of the host was 98 % of a processor as the run began"));
        assert!(load.takes("the load of the host was 200 % of a processor as the run began"));
        assert!(!load.takes("the load of the host was not known"));
        assert_eq!(
            load.to_string(),
            "the load of the host was 98 to 200 % of a processor as the run began"
        );
        let mut few = Alike::of("seq-read: 113 I/Os are too few for the 99th percentile");
        assert!(few.takes("seq-read: 113 I/Os are too few for the 99th percentile"));
        assert!(!few.takes("seq-write: 113 I/Os are too few for the 99th percentile"));
        assert_eq!(
            few.to_string(),
            "seq-read: 113 I/Os are too few for the 99th percentile"
        );
    }

    #[test]
    fn any_sentence_is_told_as_it_was() {
        for sentence in [
            "",
            " ",
            "7",
            "1 2  3",
            "a 1.5 b",
            "inf nan 1e5 0x7",
            "ends in 9",
        ] {
            assert_eq!(Alike::of(sentence).to_string(), sentence);
        }
    }
}
