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

impl KnownOption {
    /// Accepts the value behind `=`, if the option takes one.
    fn attached(self, value: &str) -> Result<Option<&str>, FioErrorKind> {
        match self {
            KnownOption::Run(opt) if matches!(opt.takes, CliArity::Nothing) => {
                Err(FioErrorKind::BadValue {
                    option: opt.name.to_owned(),
                    value: value.to_owned(),
                    reason: "it takes no value".to_owned(),
                })
            }
            _ => Ok(Some(value)),
        }
    }

    /// The value of an option without `=`: the next word, if the option needs one. Also returns whether it was used.
    fn detached(self, next: Option<&str>) -> Result<(Option<&str>, bool), FioErrorKind> {
        let expected = match self {
            KnownOption::Job(opt) if opt.kind == OptionKind::Bool => {
                let bit = next.filter(|next| matches!(*next, "0" | "1"));
                return Ok((bit, bit.is_some()));
            }
            KnownOption::Job(opt) if opt.kind.may_stand_alone() => return Ok((None, false)),
            KnownOption::Job(opt) => opt.kind.shape(),
            KnownOption::Run(opt) => match opt.takes {
                CliArity::Nothing | CliArity::Perhaps(_) => return Ok((None, false)),
                CliArity::Value(what) => what.to_owned(),
            },
        };
        match next {
            Some(next) => Ok((Some(next), true)),
            None => Err(FioErrorKind::MissingValue {
                option: self.names()[0].to_owned(),
                hint: format!("expected {expected}"),
            }),
        }
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
    let words = utf8(args)?;
    let (mut tokens, mut index, mut only_files) = (Vec::new(), 0, false);
    while let Some(word) = words.get(index) {
        let span = 0..word.len();
        let at = Location::Arg { index, span };
        index += 1;
        if *word == "--" && !only_files {
            only_files = true;
        } else if only_files || !word.starts_with('-') || *word == "-" {
            tokens.extend(positional(word, at, exists, warnings));
        } else {
            let following = words.get(index).copied();
            let (typed, used_next) = match letters(word, following, &at)? {
                Some(found) => found,
                None => option(word, following, &at).map(|(what, used)| (vec![what], used))?,
            };
            tokens.extend(typed.into_iter().map(|what| FioToken {
                what,
                at: at.clone(),
            }));
            index += usize::from(used_next);
        }
    }
    Ok(tokens)
}

fn utf8(args: &[OsString]) -> Result<Vec<&str>, FioError> {
    let error = |index: usize, arg: &OsString| {
        let kind = FioErrorKind::BadValue {
            option: format!("argument {}", index + 1),
            value: arg.to_string_lossy().into_owned(),
            reason: "it is not UTF-8".to_owned(),
        };
        FioError::at(kind, Location::Arg { index, span: 0..0 })
    };
    let words = args.iter().enumerate();
    words
        .map(|(index, arg)| arg.to_str().ok_or_else(|| error(index, arg)))
        .collect()
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
    let typed = word.split_once('=');
    let typed = typed.and_then(|(name, value)| Some((options::find(name)?, value)));
    let what = match typed.filter(|_| !exists(word)) {
        Some((opt, value)) => {
            warnings.push(format!(
                "`{word}` is not a job file: using it as the option `--{word}`"
            ));
            let value = Some(value.to_owned());
            ParsedWord::Job { opt, value }
        }
        None => ParsedWord::File(word.to_owned()),
    };
    Some(FioToken { what, at })
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
    if !are_letters(body) {
        return Ok(None);
    }
    let mut typed = Vec::new();
    for (start, letter) in body.char_indices().filter(|(_, c)| *c != IGNORED) {
        let end = start + letter.len_utf8();
        let of_letter = |kind| FioError::at(kind, sub_span(at, start + 1..end + 1));
        let opt = known_letter(letter).map_err(of_letter)?;
        let alone = matches!(opt.takes, CliArity::Nothing);
        let (value, used_next) = match &body[end..] {
            rest if !alone && !rest.is_empty() => (Some(rest), false),
            _ => {
                let value = KnownOption::Run(opt).detached(following);
                value.map_err(of_letter)?
            }
        };
        let value = value.map(str::to_owned);
        typed.push(ParsedWord::Run { opt, value });
        if !alone {
            return Ok(Some((typed, used_next)));
        }
    }
    Ok(Some((typed, false)))
}

fn known_letter(letter: char) -> Result<&'static CliOpt, FioErrorKind> {
    let names = known().flat_map(KnownOption::names);
    cli::of_letter(letter).ok_or_else(|| unknown(&letter.to_string(), names))
}

/// Whether a word after one dash consists of short options rather than being the beginning of a name.
fn are_letters(body: &str) -> bool {
    let name = body.split('=').next().unwrap_or(body);
    let is_name = || !matches!(resolve(name), Err(FioErrorKind::UnknownOption { .. }));
    match body.chars().next().filter(|first| is_letter(*first)) {
        None => false,
        Some(first) => body.len() == first.len_utf8() || !is_name(),
    }
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
    // The next word is the value of an option that needs one, unless it looks like another option.
    let next = following.filter(|next| !next.starts_with("--"));
    let (value, used_next) = match value {
        Some(value) => (found.attached(value).map_err(of_name)?, false),
        None => found.detached(next).map_err(of_name)?,
    };
    let value = value.map(str::to_owned);
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
    for option in known().filter(|_| !name.is_empty()) {
        let names = option.names().into_iter();
        let names = names.filter(|known| known.starts_with(name));
        candidates.extend(names.map(|known| (known, option)));
    }
    if candidates.iter().any(|(_, option)| !option.is_private()) {
        candidates.retain(|(_, option)| !option.is_private());
    }
    match candidates.first() {
        Some((_, first)) if candidates.iter().all(|(_, other)| other.is_same(*first)) => Ok(*first),
        Some(_) => Err(FioErrorKind::AmbiguousOption {
            name: name.to_owned(),
            candidates: candidates.iter().map(|(n, _)| format!("`{n}`")).collect(),
        }),
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

    /// Each command line is parsed to these words.
    fn check(cases: &[(&str, &str)]) {
        for (line, parsed) in cases {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(plain(&words).join(", "), *parsed, "{line}");
        }
    }

    #[test]
    fn options_come_in_many_forms() {
        check(&[
            ("--rw=read --bs 4k -size=1m", "rw=read, bs=4k, size=1m"),
            (
                "-iodepth 4 -numjob=2 -readw=randread",
                "iodepth=4, numjobs=2, rw=randread",
            ),
            (
                "--direct --time_based --direct 1 --unlink=0",
                "direct=-, time_based=-, direct=1, unlink=0",
            ),
            (
                "--thread a.fio - -- --b",
                "thread=-, file a.fio, file -, file --b",
            ),
            ("--nice -5 -v -h", "nice=-5, run version=-, run help=-"),
            (
                "--output-f=json --minimal --cmdhelp --eta=never",
                "run output-format=json, run minimal=-, run cmdhelp=-, run eta=never",
            ),
        ]);
    }

    /// Parsed like fio 3.33.
    #[test]
    fn one_letter_stands_for_an_option_of_the_run() {
        check(&[
            ("-o FILE -oFILE", "run output=FILE, run output=FILE"),
            // Whatever comes next is the value.
            ("-o --minimal", "run output=--minimal"),
            (
                "-mV5 -f j.fio",
                "run minimal=-, run terse-version=5, file j.fio",
            ),
            ("-cbs -c -i", "run cmdhelp=bs, run cmdhelp=-, run enghelp=-"),
            ("-hx a", "run help=-, run section=a"),
            (
                "-minim -rw=read -k 1000",
                "run minimal=-, rw=read, kb_base=1000",
            ),
        ]);
        for letter in "o F V e O E L x j I K a d W B H J".split(' ') {
            let tokens = plain(&[&format!("-{letter}"), "4"]);
            assert!(
                tokens.len() == 1 && tokens[0].ends_with("=4"),
                "-{letter}: {tokens:?}"
            );
        }
    }

    #[test]
    fn the_beginning_of_a_name_is_no_letter() {
        for (word, expected) in [
            ("-out=x", "`output`, `output-format`"),
            ("-o=x", "is ambiguous"),
            // No option has this letter.
            ("-t", "is ambiguous"),
            ("-mq", "unknown option `q`"),
            ("-o", "`output` needs a value"),
        ] {
            let error = show(&[word]).unwrap_err();
            assert!(error.contains(expected), "{word}: {error}");
        }
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
