//! The language of hakaru's own output: `--lang`, then `HAKARU_LANG`, then the locale.
//!
//! It is needed before the command line is parsed, because errors of the parser are printed in it.

use hakaru_report::Language;
use std::ffi::OsString;

/// Values of `--lang`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LanguageArg {
    /// By the locale (LC_ALL, LC_MESSAGES, LANG)
    Auto,
    /// English
    En,
    /// Japanese
    Ja,
}

/// Returns the language for a command line and an environment; output for programs (`--json`) is in English.
pub(crate) fn chosen(argv: &[OsString], variable: impl Fn(&str) -> Option<String>) -> Language {
    if argv
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| word == "--json")
    {
        return Language::English;
    }
    let asked = option(argv).or_else(|| variable("HAKARU_LANG"));
    asked
        .and_then(|tag| Language::of_tag(&tag))
        .unwrap_or_else(|| Language::of_environment(variable))
}

/// Returns the last value of `--lang`, which may stand anywhere before `--`.
fn option(argv: &[OsString]) -> Option<String> {
    let words: Vec<&str> = argv
        .iter()
        .skip(1)
        .map(|word| word.to_str().unwrap_or_default())
        .take_while(|word| *word != "--")
        .collect();
    let value = |(at, word): (usize, &&str)| match word.strip_prefix("--lang")? {
        "" => words.get(at + 1).map(|value| (*value).to_owned()),
        value => value.strip_prefix('=').map(str::to_owned),
    };
    words.iter().enumerate().rev().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_precedes_the_variable_and_the_locale() {
        let of = |line: &str, variables: &[(&str, &str)]| {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            chosen(&argv, |name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        use Language::{English, Japanese};
        let locale = ("LANG", "ja_JP.UTF-8");
        assert_eq!(of("hakaru list", &[]), English);
        assert_eq!(of("hakaru list", &[locale]), Japanese);
        assert_eq!(of("hakaru list --lang=en", &[locale]), English);
        assert_eq!(of("hakaru --lang ja list", &[("TERM", "linux")]), Japanese);
        assert_eq!(of("hakaru --lang auto list", &[locale]), Japanese);
        assert_eq!(of("hakaru list", &[("HAKARU_LANG", "ja")]), Japanese);
        assert_eq!(of("hakaru list", &[("HAKARU_LANG", ""), locale]), Japanese);
        assert_eq!(of("hakaru list -- --lang=ja", &[]), English);
        assert_eq!(of("hakaru --lang=en --lang=ja list", &[]), Japanese);
        assert_eq!(of("hakaru list --lang", &[]), English);
        assert_eq!(of("hakaru list --json --lang=ja", &[locale]), English);
    }
}
