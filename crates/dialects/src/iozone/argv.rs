//! Splits the command line into options with their values: `-i 0`, `-i0`, `-Rb file`, `-+n`, `-F file file`.

use super::error::{IozoneError, WordLocation};
use super::options::{self, IozoneOption, OptionArity};
use std::ffi::OsString;

/// One option as typed.
#[derive(Clone, Debug)]
pub(super) struct IozoneToken {
    pub opt: &'static IozoneOption,
    /// Its values: none, one, or several for `-F`.
    pub values: Vec<String>,
    /// Location of the value, or of the option if it has no value.
    pub at: WordLocation,
}

/// Splits words into options. Words that are neither option nor value are returned separately, because iozone ignores
/// them.
pub(super) fn lex(args: &[OsString]) -> Result<(Vec<IozoneToken>, Vec<String>), IozoneError> {
    let words = args
        .iter()
        .enumerate()
        .map(utf8)
        .collect::<Result<Vec<String>, _>>()?;
    let mut reader = ArgvReader::of(&words);
    while reader.next < words.len() {
        reader.word()?;
    }
    Ok((reader.tokens, reader.other))
}

/// Splits words into options, and also returns options that are unknown or lack their value.
pub(super) fn lex_known(words: &[String]) -> (Vec<IozoneToken>, Vec<String>) {
    let (mut reader, mut unknown) = (ArgvReader::of(words), Vec::new());
    while reader.next < words.len() {
        if let Err(error) = reader.word() {
            let at = error.at.filter(|at| at.index < words.len());
            unknown.extend(
                at.and_then(|at| words[at.index].get(at.span))
                    .map(|name| format!("-{name}")),
            );
        }
    }
    (reader.tokens, unknown)
}

/// Rejects an argument that is not UTF-8: with its bytes replaced, it would name another file.
fn utf8((index, arg): (usize, &OsString)) -> Result<String, IozoneError> {
    arg.to_str().map(str::to_owned).ok_or_else(|| {
        let shown = arg.to_string_lossy();
        let message = format!(
            "argument {}, `{shown}`, cannot be used: not UTF-8; rename the file",
            index + 1
        );
        IozoneError::at(message, WordLocation { index, span: 0..0 })
    })
}

struct ArgvReader<'a> {
    words: &'a [String],
    next: usize,
    tokens: Vec<IozoneToken>,
    other: Vec<String>,
}

impl<'a> ArgvReader<'a> {
    fn of(words: &'a [String]) -> ArgvReader<'a> {
        ArgvReader {
            words,
            next: 0,
            tokens: Vec::new(),
            other: Vec::new(),
        }
    }

    fn word(&mut self) -> Result<(), IozoneError> {
        let index = self.next;
        let word = &self.words[index];
        self.next += 1;
        if !is_option(word) {
            self.other.push(word.clone());
            return Ok(());
        }
        if word == "--help" || word == "--version" {
            let name = if word == "--help" { "h" } else { "v" };
            return self.option(index, name, 2..word.len(), word.len());
        }
        let mut at = 1;
        while let Some(letter) = word[at..].chars().next() {
            let mut end = at + letter.len_utf8();
            if letter == '+' {
                end += word[end..].chars().next().map_or(0, char::len_utf8);
            }
            let used = self.tokens.len();
            self.option(index, &word[at..end], at..end, end)?;
            if self.tokens[used].opt.takes != OptionArity::Nothing {
                break;
            }
            at = end;
        }
        Ok(())
    }

    /// Parses one option by its letter; its value is the rest of the word, or the next word.
    fn option(
        &mut self,
        index: usize,
        name: &str,
        span: std::ops::Range<usize>,
        rest: usize,
    ) -> Result<(), IozoneError> {
        let here = WordLocation { index, span };
        let Some(opt) = options::find(name) else {
            let message = format!("unknown option `-{name}`; iozone -h lists the options");
            return Err(IozoneError::at(message, here));
        };
        let (mut values, mut at) = (Vec::new(), here);
        if let OptionArity::One(what) | OptionArity::Several(what) = opt.takes {
            let Some((value, value_at)) = self.value(index, rest) else {
                let message = format!("-{name} needs a value ({what}): {}", opt.help);
                return Err(IozoneError::at(message, at));
            };
            values.push(value);
            at = value_at;
        }
        if let OptionArity::Several(_) = opt.takes {
            while let Some(next) = self.words.get(self.next).filter(|word| !is_option(word)) {
                values.push(next.clone());
                self.next += 1;
            }
        }
        self.tokens.push(IozoneToken { opt, values, at });
        Ok(())
    }

    /// The value of an option: the rest of its word, or the next word unless that is an option.
    fn value(&mut self, index: usize, rest: usize) -> Option<(String, WordLocation)> {
        let attached = &self.words[index][rest..];
        if !attached.is_empty() {
            let span = rest..self.words[index].len();
            return Some((attached.to_owned(), WordLocation { index, span }));
        }
        let (index, next) = (self.next, self.words.get(self.next)?);
        if is_option(next) {
            return None;
        }
        self.next += 1;
        let span = 0..next.len();
        Some((next.clone(), WordLocation { index, span }))
    }
}

/// Whether a word starts an option. A single minus does not.
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexed(line: &str) -> Vec<(String, Vec<String>)> {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let (tokens, _) = lex(&args).unwrap();
        tokens
            .into_iter()
            .map(|t| (t.opt.name.to_owned(), t.values))
            .collect()
    }

    #[test]
    fn letters_stand_together_and_values_stick_or_follow() {
        let names = |line: &str| {
            lexed(line)
                .into_iter()
                .map(|(n, v)| n + &v.join(","))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names("-i0 -i 1 -Rb x.xls -azcR"),
            ["i0", "i1", "R", "bx.xls", "a", "z", "c", "R"]
        );
        assert_eq!(
            names("-+n -+p 30 -+p30 -F a b c -I"),
            ["+n", "+p30", "+p30", "Fa,b,c", "I"]
        );
        assert_eq!(names("-t1 /tmp -e"), ["t1", "e"]);
    }

    #[test]
    fn errors_point_at_the_word() {
        let of = |words: &[&str]| {
            lex(&words.iter().map(OsString::from).collect::<Vec<_>>()).unwrap_err()
        };
        let error = of(&["-I", "-Ij"]);
        assert_eq!(
            error.at,
            Some(WordLocation {
                index: 1,
                span: 2..3
            })
        );
        assert!(error.message.contains("needs a value"), "{error}");
        assert!(of(&["-+"]).message.contains("`-+`"));
        assert!(of(&["-é"]).message.contains("`-é`"));
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_text_is_refused() {
        use std::os::unix::ffi::OsStringExt;
        let args = [
            OsString::from("-f"),
            OsString::from_vec(b"/mnt/\xff".to_vec()),
        ];
        let error = lex(&args).unwrap_err();
        assert_eq!(
            error.at,
            Some(WordLocation {
                index: 1,
                span: 0..0
            })
        );
        assert!(
            error.message.contains("argument 2") && error.message.contains("not UTF-8"),
            "{error}"
        );
    }
}
