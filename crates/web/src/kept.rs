//! Answers that are costly to build, kept compressed until the database changes.

use crate::context::Stamp;
use crate::frame::Content;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec;
use std::sync::Arc;

/// Maximum size of the kept answers, in bytes. Pages compress to about a tenth.
const MOST_BYTES: usize = 1 << 20;

/// Level of compression: most of the gain for the least time.
const LEVEL: u8 = 1;

/// An answer that is costly to build, and is therefore kept.
pub(crate) trait CostlyAnswer: Sized {
    /// Returns the texts that it consists of.
    fn parts(&self) -> Vec<&str>;

    /// Returns an answer of these texts; `None` if they are those of another kind.
    fn of_parts(parts: Vec<String>) -> Option<Self>;
}

impl CostlyAnswer for Arc<Content> {
    fn parts(&self) -> Vec<&str> {
        Content::parts(self).to_vec()
    }

    fn of_parts(parts: Vec<String>) -> Option<Self> {
        let parts: [String; 3] = parts.try_into().ok()?;
        Some(Arc::new(Content::of_parts(parts)))
    }
}

impl CostlyAnswer for String {
    fn parts(&self) -> Vec<&str> {
        vec![self]
    }

    fn of_parts(parts: Vec<String>) -> Option<Self> {
        let [text]: [String; 1] = parts.try_into().ok()?;
        Some(text)
    }
}

/// The compressed texts of an answer.
#[derive(Clone, Debug)]
pub(crate) struct PackedAnswer {
    /// Length of each text in bytes.
    lengths: Arc<[usize]>,
    /// All texts, one after another.
    packed: Arc<[u8]>,
}

impl PackedAnswer {
    pub(crate) fn of(parts: &[&str]) -> PackedAnswer {
        PackedAnswer {
            lengths: parts.iter().map(|part| part.len()).collect(),
            packed: compress_to_vec(parts.concat().as_bytes(), LEVEL).into(),
        }
    }

    /// Returns the texts.
    pub(crate) fn unpacked(&self) -> Option<Vec<String>> {
        let bytes = decompress_to_vec(&self.packed).ok()?;
        let mut rest = &bytes[..];
        let mut parts = Vec::with_capacity(self.lengths.len());
        for length in self.lengths.iter() {
            let (part, after) = rest.split_at_checked(*length)?;
            parts.push(std::str::from_utf8(part).ok()?.to_owned());
            rest = after;
        }
        Some(parts)
    }
}

/// Answers that are costly to compute, as long as the database does not change.
#[derive(Default)]
pub(crate) struct AnswerCache {
    stamp: Stamp,
    /// Keys with answers, the last used last.
    answers: Vec<(String, PackedAnswer)>,
    bytes: usize,
}

impl AnswerCache {
    pub(crate) fn get(&mut self, stamp: Stamp, key: &str) -> Option<PackedAnswer> {
        if stamp != self.stamp {
            *self = AnswerCache {
                stamp,
                ..AnswerCache::default()
            };
        }
        let at = self.answers.iter().position(|(known, _)| known == key)?;
        let found = self.answers.remove(at);
        let answer = found.1.clone();
        self.answers.push(found);
        Some(answer)
    }

    pub(crate) fn put(&mut self, stamp: Stamp, key: String, answer: PackedAnswer) {
        let size = answer.packed.len() + key.len();
        // Another worker may have computed the same meanwhile.
        let is_known = self.answers.iter().any(|(known, _)| *known == key);
        if stamp != self.stamp || is_known || size > MOST_BYTES / 2 {
            return;
        }
        while self.bytes + size > MOST_BYTES && !self.answers.is_empty() {
            let (key, oldest) = self.answers.remove(0);
            self.bytes -= oldest.packed.len() + key.len();
        }
        self.bytes += size;
        self.answers.push((key, answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::Html;

    /// An answer that does not get smaller by compression.
    fn incompressible(size: usize) -> PackedAnswer {
        PackedAnswer {
            lengths: Arc::new([size]),
            packed: vec![0; size].into(),
        }
    }

    #[test]
    fn the_cache_has_a_bound_and_forgets_pages_of_another_state() {
        let (old, new) = (Stamp([[1; 4]; 3]), Stamp([[2; 4]; 3]));
        let mut cache = AnswerCache::default();
        assert!(cache.get(old, "a").is_none());
        for n in 0..20 {
            cache.put(old, n.to_string(), incompressible(MOST_BYTES / 8));
        }
        let bytes = cache.bytes;
        cache.put(old, "19".to_owned(), incompressible(5));
        assert_eq!(cache.bytes, bytes);
        assert!(cache.bytes <= MOST_BYTES && cache.get(old, "19").is_some());
        assert!(cache.get(old, "0").is_none());
        cache.put(old, "huge".to_owned(), incompressible(MOST_BYTES));
        assert!(cache.get(old, "huge").is_none());
        assert!(cache.get(new, "19").is_none() && cache.bytes == 0);
    }

    #[test]
    fn answers_come_back_as_they_were() {
        let mut main = Html::new();
        main.text(&"測る <b> ".repeat(1000));
        let page = Arc::new(Content::own("Ø", &Html::new(), &main));
        let packed = PackedAnswer::of(&CostlyAnswer::parts(&page));
        assert!(packed.packed.len() < page.parts().concat().len() / 4);
        let again: Arc<Content> = CostlyAnswer::of_parts(packed.unpacked().unwrap()).unwrap();
        assert_eq!(again.parts(), page.parts());
        assert!(String::of_parts(packed.unpacked().unwrap()).is_none());
        for text in ["", "x", "測る"] {
            let packed = PackedAnswer::of(&[text]);
            let again = String::of_parts(packed.unpacked().unwrap());
            assert_eq!(again.as_deref(), Some(text));
            assert!(Arc::<Content>::of_parts(packed.unpacked().unwrap()).is_none());
        }
    }
}
