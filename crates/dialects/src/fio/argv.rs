//! Splits the command line into tokens in order; each token is interpreted on its own.
//!
//! Options are matched as in `getopt_long_only`: `--opt=value`, `--opt value`, one dash or two, any unambiguous prefix.
//! After one dash, a word that is no prefix may be short options: `-o FILE`, `-oFILE`, `-mV5`.

use super::cli::{self, CliArity, CliOpt};
use super::error::{FioError, FioErrorKind, Location};
use super::options::{self, FioOption, OptionKind};
use super::spelling::nearest;
use std::ffi::OsString;

/// One word of the command line, parsed on its own.
#[derive(Clone)]
pub(crate) struct FioToken {
    /// Kind and content of the word.
    pub what: ParsedWord,
    /// Location of the word.
    pub at: Location,
}

/// Kind of a command-line word.
#[derive(Clone)]
pub(crate) enum ParsedWord {
    /// A job option.
    Job {
        opt: &'static FioOption,
        value: Option<String>,
    },
    /// An option that applies to the whole run.
    Run {
        opt: &'static CliOpt,
        value: Option<String>,
    },
    /// A job file.
    File(String),
}

/// A job option or a run option.
#[derive(Clone, Copy)]
enum KnownOption {
    Job(&'static FioOption),
    Run(&'static CliOpt),
}

impl KnownOption {
    fn names(self) -> Vec<&'static str> {
        match self {
            KnownOption::Job(opt) => opt.names().collect(),
            KnownOption::Run(opt) => vec![opt.name],
        }
    }

    fn is_same(self, other: KnownOption) -> bool {
        self.names() == other.names()
    }

    /// Whether the option belongs to specific engines. Such options have lower priority when a prefix is ambiguous.
    fn is_private(self) -> bool {
        matches!(self, KnownOption::Job(opt) if !opt.engines.is_empty() || is_foreign(opt))
    }
}

fn is_foreign(opt: &FioOption) -> bool {
    options::SECTIONS
        .last()
        .is_some_and(|(_, rows)| rows.iter().any(|row| row.name == opt.name))
}

fn known() -> impl Iterator<Item = KnownOption> {
    options::all()
        .map(KnownOption::Job)
        .chain(cli::TABLE.iter().map(KnownOption::Run))
}

/// Splits a command line into tokens. `exists` reports whether a job file with that name exists.
pub(crate) fn lex(
    args: &[OsString],
    exists: &dyn Fn(&str) -> bool,
    warnings: &mut Vec<String>,
) -> Result<Vec<FioToken>, FioError> {
    let words: Vec<&str> = args
        .iter()
        .enumerate()
        .map(utf8)
        .collect::<Result<_, _>>()?;
    let mut tokens = Vec::new();
    let mut index = 0;
    let mut only_files = false;
    while let Some(word) = words.get(index) {
        let whole = Location::Arg {
            index,
            span: 0..word.len(),
        };
        if *word == "--" && !only_files {
            only_files = true;
        } else if only_files || !word.starts_with('-') || *word == "-" {
            tokens.extend(positional(word, whole, exists, warnings));
        } else {
            let following = words.get(index + 1).copied();
            let (typed, used_next) = match letters(word, following, &whole)? {
                Some(found) => found,
                None => option(word, following, &whole)
                    .map(|(what, used_next)| (vec![what], used_next))?,
            };
            tokens.extend(typed.into_iter().map(|what| FioToken {
                what,
                at: whole.clone(),
            }));
            index += usize::from(used_next);
        }
        index += 1;
    }
    Ok(tokens)
}

fn utf8((index, arg): (usize, &OsString)) -> Result<&str, FioError> {
    arg.to_str().ok_or_else(|| {
        let (option, value) = (
            format!("argument {}", index + 1),
            arg.to_string_lossy().into_owned(),
        );
        let kind = FioErrorKind::BadValue {
            option,
            value,
            reason: "it is not UTF-8".to_owned(),
        };
        FioError::at(kind, Location::Arg { index, span: 0..0 })
    })
}

/// Parses a word without dashes: a job file, or an option whose dashes are missing.
fn positional(
    word: &str,
    at: Location,
    exists: &dyn Fn(&str) -> bool,
    warnings: &mut Vec<String>,
) -> Option<FioToken> {
    if word.trim().is_empty() {
        warnings.push(
            "ignored an argument that consists of spaces (a backslash before a space at the end \
            of a line?)"
                .to_owned(),
        );
        return None;
    }
    if let Some((name, value)) = word.split_once('=')
        && let Some(opt) = options::find(name)
        && !exists(word)
    {
        warnings.push(format!(
            "`{word}` is not a job file: using it as the option `--{word}`"
        ));
        return Some(FioToken {
            what: ParsedWord::Job {
                opt,
                value: Some(value.to_owned()),
            },
            at,
        });
    }
    Some(FioToken {
        what: ParsedWord::File(word.to_owned()),
        at,
    })
}

/// Parses short options after one dash, the last with its value in the same word or the next.
/// `None` if the word is a name: an exact short option takes precedence over names with that
/// prefix, names over several letters.
fn letters(
    word: &str,
    following: Option<&str>,
    at: &Location,
) -> Result<Option<(Vec<ParsedWord>, bool)>, FioError> {
    let body = &word[1..];
    let Some(first) = body.chars().next().filter(|first| is_letter(*first)) else {
        return Ok(None);
    };
    let name = body.split('=').next().unwrap_or(body);
    let is_name = || !matches!(resolve(name), Err(FioErrorKind::UnknownOption { .. }));
    if body.len() > first.len_utf8() && is_name() {
        return Ok(None);
    }
    let mut typed = Vec::new();
    for (start, letter) in body.char_indices() {
        if letter == IGNORED {
            continue;
        }
        let rest = &body[start + letter.len_utf8()..];
        let here = || sub_span(at, start + 1..start + 1 + letter.len_utf8());
        let Some(opt) = cli::of_letter(letter) else {
            return Err(FioError::at(
                unknown(&letter.to_string(), known().flat_map(KnownOption::names)),
                here(),
            ));
        };
        let (value, used_next) = match (opt.takes, rest.is_empty()) {
            (CliArity::Nothing, _) => {
                typed.push(ParsedWord::Run { opt, value: None });
                continue;
            }
            (CliArity::Value(what), true) => {
                let missing = || {
                    let (option, hint) = (opt.name.to_owned(), format!("expected {what}"));
                    FioError::at(FioErrorKind::MissingValue { option, hint }, here())
                };
                (Some(following.ok_or_else(missing)?), true)
            }
            (CliArity::Perhaps(_), true) => (None, false),
            (CliArity::Value(_) | CliArity::Perhaps(_), false) => (Some(rest), false),
        };
        typed.push(ParsedWord::Run {
            opt,
            value: value.map(str::to_owned),
        });
        return Ok(Some((typed, used_next)));
    }
    Ok(Some((typed, false)))
}

/// Short option that fio accepts without visible effect.
const IGNORED: char = 'f';

fn is_letter(letter: char) -> bool {
    letter == IGNORED || cli::of_letter(letter).is_some()
}

/// Parses an option, and takes the next word as its value if it needs one.
fn option(
    word: &str,
    following: Option<&str>,
    at: &Location,
) -> Result<(ParsedWord, bool), FioError> {
    let body = word.strip_prefix("--").unwrap_or(&word[1..]);
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let dashes = word.len() - body.len();
    let of_name = |kind| FioError::at(kind, sub_span(at, dashes..dashes + name.len()));
    let found = resolve(name).map_err(of_name)?;
    let missing = |hint: String| {
        of_name(FioErrorKind::MissingValue {
            option: found.names()[0].to_owned(),
            hint: format!("expected {hint}"),
        })
    };
    // The next word is the value of an option that needs one, unless it looks like another option.
    let next = following.filter(|next| !next.starts_with("--"));
    let (value, used_next) = match (value, found) {
        (Some(value), _) => (Some(value), false),
        (None, KnownOption::Job(opt)) if opt.kind == OptionKind::Bool => {
            let bit = next.filter(|next| matches!(*next, "0" | "1"));
            (bit, bit.is_some())
        }
        (None, KnownOption::Job(opt)) if opt.kind.may_stand_alone() => (None, false),
        (None, KnownOption::Job(opt)) => {
            (Some(next.ok_or_else(|| missing(opt.kind.shape()))?), true)
        }
        (None, KnownOption::Run(opt)) => match opt.takes {
            CliArity::Nothing | CliArity::Perhaps(_) => (None, false),
            CliArity::Value(what) => (Some(next.ok_or_else(|| missing(what.to_owned()))?), true),
        },
    };
    let value = value.map(str::to_owned);
    if let (
        KnownOption::Run(CliOpt {
            takes: CliArity::Nothing,
            name,
            ..
        }),
        Some(value),
    ) = (found, &value)
    {
        let (option, value, reason) = (
            (*name).to_owned(),
            value.clone(),
            "it takes no value".to_owned(),
        );
        return Err(of_name(FioErrorKind::BadValue {
            option,
            value,
            reason,
        }));
    }
    let typed = match found {
        KnownOption::Job(opt) => ParsedWord::Job { opt, value },
        KnownOption::Run(opt) => ParsedWord::Run { opt, value },
    };
    Ok((typed, used_next))
}

fn sub_span(at: &Location, span: std::ops::Range<usize>) -> Location {
    match at {
        Location::Arg { index, .. } => Location::Arg {
            index: *index,
            span,
        },
        other => other.clone(),
    }
}

/// Returns the option with this name or unique prefix.
fn resolve(name: &str) -> Result<KnownOption, FioErrorKind> {
    if let Some(exact) = known().find(|option| option.names().contains(&name)) {
        return Ok(exact);
    }
    let mut candidates: Vec<(&'static str, KnownOption)> = Vec::new();
    if !name.is_empty() {
        for option in known() {
            candidates.extend(
                option
                    .names()
                    .into_iter()
                    .filter(|n| n.starts_with(name))
                    .map(|n| (n, option)),
            );
        }
    }
    let public: Vec<_> = candidates
        .iter()
        .copied()
        .filter(|(_, option)| !option.is_private())
        .collect();
    let candidates = if public.is_empty() {
        candidates
    } else {
        public
    };
    match candidates.first() {
        Some((_, first)) if candidates.iter().all(|(_, other)| other.is_same(*first)) => Ok(*first),
        Some(_) => {
            let candidates = candidates
                .iter()
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            Err(FioErrorKind::AmbiguousOption {
                name: name.to_owned(),
                candidates,
            })
        }
        None => Err(unknown(name, known().flat_map(KnownOption::names))),
    }
}

/// Returns the error for an unknown name, with the nearest known one as a hint.
pub(crate) fn unknown<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> FioErrorKind {
    FioErrorKind::UnknownOption {
        name: name.to_owned(),
        nearest: nearest(name, names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(args: &[&str]) -> Result<(Vec<String>, Vec<String>), String> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let mut warnings = Vec::new();
        let tokens =
            lex(&args, &|path| path == "exists=1", &mut warnings).map_err(|e| e.to_string())?;
        let text = |token: &FioToken| match &token.what {
            ParsedWord::Job { opt, value } => {
                format!("{}={}", opt.name, value.as_deref().unwrap_or("-"))
            }
            ParsedWord::Run { opt, value } => {
                format!("run {}={}", opt.name, value.as_deref().unwrap_or("-"))
            }
            ParsedWord::File(path) => format!("file {path}"),
        };
        Ok((tokens.iter().map(text).collect(), warnings))
    }

    fn plain(args: &[&str]) -> Vec<String> {
        let (tokens, warnings) = show(args).unwrap();
        assert_eq!(warnings, [""; 0]);
        tokens
    }

    #[test]
    fn options_come_in_many_forms() {
        assert_eq!(
            plain(&[
                "--rw=read",
                "--bs",
                "4k",
                "-size=1m",
                "-iodepth",
                "4",
                "-numjob=2",
                "-readw=randread"
            ]),
            [
                "rw=read",
                "bs=4k",
                "size=1m",
                "iodepth=4",
                "numjobs=2",
                "rw=randread"
            ]
        );
        assert_eq!(
            plain(&["--direct", "--time_based", "--direct", "1", "--unlink=0"]),
            ["direct=-", "time_based=-", "direct=1", "unlink=0"]
        );
        assert_eq!(
            plain(&["--thread", "a.fio", "-", "--", "--b"]),
            ["thread=-", "file a.fio", "file -", "file --b"]
        );
        assert_eq!(
            plain(&["--nice", "-5", "-v", "-h"]),
            ["nice=-5", "run version=-", "run help=-"]
        );
        assert_eq!(
            plain(&["--output-f=json", "--minimal", "--cmdhelp", "--eta=never"]),
            [
                "run output-format=json",
                "run minimal=-",
                "run cmdhelp=-",
                "run eta=never"
            ]
        );
    }

    /// Parsed like fio 3.33.
    #[test]
    fn one_letter_stands_for_an_option_of_the_run() {
        assert_eq!(
            plain(&["-o", "FILE", "-oFILE"]),
            ["run output=FILE", "run output=FILE"]
        );
        assert_eq!(
            plain(&["-o", "--minimal"]),
            ["run output=--minimal"],
            "whatever comes next is the value"
        );
        assert_eq!(
            plain(&["-mV5", "-f", "j.fio"]),
            ["run minimal=-", "run terse-version=5", "file j.fio"]
        );
        assert_eq!(
            plain(&["-cbs", "-c", "-i"]),
            ["run cmdhelp=bs", "run cmdhelp=-", "run enghelp=-"]
        );
        assert_eq!(plain(&["-hx", "a"]), ["run help=-", "run section=a"]);
        assert_eq!(
            plain(&["-minim", "-rw=read", "-k", "1000"]),
            ["run minimal=-", "rw=read", "kb_base=1000"]
        );
        let each = "o F V e O E L x j I K a d W B H J";
        for letter in each.split(' ') {
            let tokens = plain(&[&format!("-{letter}"), "4"]);
            assert!(
                tokens.len() == 1 && tokens[0].ends_with("=4"),
                "-{letter}: {tokens:?}"
            );
        }
        let error = |args: &[&str]| show(args).unwrap_err();
        assert!(
            error(&["-out=x"]).contains("`output`, `output-format`"),
            "a beginning of names is no letters"
        );
        assert!(
            error(&["-o=x"]).contains("is ambiguous"),
            "nor is one with its value"
        );
        assert!(
            error(&["-t"]).contains("is ambiguous"),
            "no option has that letter"
        );
        assert!(error(&["-mq"]).contains("unknown option `q`"));
        assert!(error(&["-o"]).contains("`output` needs a value"));
    }

    #[test]
    fn slips_are_forgiven_with_a_warning() {
        let (tokens, warnings) =
            show(&["--name=x", "numjobs=1", "exists=1", " ", "unknown=1"]).unwrap();
        assert_eq!(
            tokens,
            ["name=x", "numjobs=1", "file exists=1", "file unknown=1"]
        );
        insta::assert_snapshot!(warnings.join("\n"), @"
        `numjobs=1` is not a job file: using it as the option `--numjobs=1`
        ignored an argument that consists of spaces (a backslash before a space at the end of a line?)
        ");
    }

    #[test]
    fn what_is_not_known_gets_the_nearest_name() {
        let error = |args: &[&str]| show(args).unwrap_err();
        insta::assert_snapshot!(error(&["--iodpeth=2"]), @"unknown option `iodpeth`: did you mean `iodepth`?");
        insta::assert_snapshot!(error(&["--xyzzy"]), @"unknown option `xyzzy`");
        insta::assert_snapshot!(error(&["--rwmix=3"]), @"option `rwmix` is ambiguous (`rwmixread`, `rwmixwrite`): use the full name");
        insta::assert_snapshot!(error(&["--bs"]), @"option `bs` needs a value: expected up to three whole numbers such as 4k, for reads, writes and trims");
        insta::assert_snapshot!(error(&["--size", "--bs=4k"]), @"option `size` needs a value: expected a size such as 64m, or a percentage such as 50%");
        insta::assert_snapshot!(error(&["--minimal=1"]), @"minimal=1 cannot be used: it takes no value");
        insta::assert_snapshot!(error(&["--=4"]), @"unknown option ``");
    }
}
