//! Languages of the texts, and the language of the current thread.

use std::cell::Cell;
use std::fmt;

/// A language of reports and messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Japanese.
    Japanese,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 2] = [Language::English, Language::Japanese];

    /// The identifier of the language (BCP 47), as for the attribute `lang` of a page.
    pub const fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Japanese => "ja",
        }
    }

    /// The language with this identifier.
    pub fn of_tag(tag: &str) -> Option<Language> {
        Language::ALL
            .into_iter()
            .find(|language| language.tag() == tag)
    }

    /// The language of an environment: the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set.
    ///
    /// Japanese requires UTF-8. The text console of Linux (`TERM=linux`) has no Japanese glyphs and gets English.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Language {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        if set("TERM").as_deref() == Some("linux") {
            return Language::English;
        }
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set);
        match locale {
            Some(locale) if is_japanese(&locale) => Language::Japanese,
            _ => Language::English,
        }
    }
}

/// Whether a locale is Japanese in UTF-8: `ja_JP.UTF-8`, `ja.utf8`.
fn is_japanese(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    let (place, encoding) = locale.split_once('.').unwrap_or((&locale, ""));
    let language = place.split(['_', '@']).next();
    let encoding = encoding.split('@').next().unwrap_or_default();
    language == Some("ja") && matches!(encoding, "utf-8" | "utf8")
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tag())
    }
}

thread_local! {
    static CURRENT: Cell<Language> = const { Cell::new(Language::English) };
}

/// Restores the previous language, also after a panic.
struct RestoreLanguage(Language);

impl Drop for RestoreLanguage {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Runs `print` with the texts of this thread in a language. Other threads keep theirs.
pub fn with_language<T>(language: Language, print: impl FnOnce() -> T) -> T {
    let _restore = RestoreLanguage(CURRENT.replace(language));
    print()
}

/// The language of the texts of this thread; English unless inside [`with_language`].
pub fn language() -> Language {
    CURRENT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_that_of_its_scope_and_thread() {
        let inner = with_language(Language::Japanese, || {
            let other = std::thread::spawn(language).join().unwrap();
            let nested = with_language(Language::English, language);
            [language(), other, nested, language()]
        });
        use Language::{English, Japanese};
        assert_eq!(inner, [Japanese, English, English, Japanese]);
        assert_eq!(language(), English);
        let panicked = std::panic::catch_unwind(|| with_language(Japanese, || panic!("expected")));
        assert!(panicked.is_err());
        assert_eq!(language(), English);
    }

    #[test]
    fn the_environment_selects_the_language() {
        let of = |variables: &[(&str, &str)]| {
            Language::of_environment(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        use Language::{English, Japanese};
        for (variables, language) in [
            (&[("LANG", "ja_JP.UTF-8")][..], Japanese),
            (&[("LANG", "ja_JP.utf8@modifier")], Japanese),
            (&[("LANG", "ja.UTF-8")], Japanese),
            (&[("LANG", "ja_JP.eucJP")], English),
            (&[("LANG", "jam_JM.UTF-8")], English),
            (&[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "C")], English),
            (&[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "")], Japanese),
            (&[("LANG", "C"), ("LC_MESSAGES", "ja_JP.UTF-8")], Japanese),
            (&[("LANG", "ja_JP.UTF-8"), ("TERM", "linux")], English),
            (&[("LANG", "ja_JP.UTF-8"), ("TERM", "xterm")], Japanese),
            (&[], English),
        ] {
            assert_eq!(of(variables), language, "{variables:?}");
        }
        assert_eq!(Language::of_tag("ja"), Some(Japanese));
        assert_eq!(Language::of_tag("fr"), None);
    }
}
