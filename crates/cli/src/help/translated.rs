//! Help and usage errors in the language of the thread.

use super::ja;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use hakaru_model::units::SizeError;
use hakaru_report::text::{self, MessagePrefix, language};
use hakaru_report::{Language, wrapped};
use std::error::Error;
use std::num::{IntErrorKind, ParseIntError};

/// Translates the help of a command and of all below it.
pub(crate) fn localized(mut command: Command) -> Command {
    match language() {
        Language::English => command,
        Language::Japanese => {
            // Adds the options that clap supplies, so that they are translated too.
            command.build();
            // Lines are broken after they are assembled: Japanese has no blanks to break at.
            translated(command, "").term_width(0)
        }
    }
}

/// The Japanese text for an English one.
fn japanese(english: &str) -> Option<&'static str> {
    let mut texts = ja::TEXTS.iter();
    texts
        .find(|(known, _)| *known == english)
        .map(|(_, text)| *text)
}

fn translated(command: Command, path: &str) -> Command {
    let text = |styled: Option<&StyledStr>| japanese(&styled?.to_string());
    let about = text(command.get_about());
    let mut command = match about {
        Some(about) => command.about(about).long_about(None),
        None => command,
    };
    let after = ja::AFTER.iter().find(|(known, _)| *known == path);
    if let Some((_, after)) = after.filter(|_| command.get_after_help().is_some()) {
        command = command.after_help(*after);
    }
    let argument = |arg: Arg| match text(arg.get_help()) {
        Some(help) => arg.help(help).long_help(None),
        None => arg,
    };
    let below = |sub: Command| {
        let name = sub.get_name();
        let path = match path.is_empty() {
            true => name.to_owned(),
            false => format!("{path} {name}"),
        };
        translated(sub, &path).term_width(0)
    };
    command.mut_args(argument).mut_subcommands(below)
}

/// Words of clap in its help and usage, and the Japanese ones.
const WORDS: &[(&str, &str)] = &[
    ("Usage:", "使い方:"),
    ("Arguments:", "引数:"),
    ("Options:", "オプション:"),
    ("Commands:", "コマンド:"),
    ("Names:", "名前:"),
    ("Possible values:", "指定できる値:"),
    ("[OPTIONS]", "[オプション]"),
    ("[COMMAND]", "[コマンド]"),
    ("<COMMAND>", "<コマンド>"),
    ("[default: ", "[既定値: "),
    ("[possible values: ", "[指定できる値: "),
    ("[aliases: ", "[別名: "),
    ("[env: ", "[環境変数: "),
];

/// Replaces the words of clap, and breaks lines.
fn with_japanese_words(help: &str, width: usize) -> String {
    let mut out = String::new();
    for line in help.lines() {
        let value = line.trim_start().strip_prefix("- ");
        let described = value.and_then(|value| value.split_once(": "));
        let known = described.and_then(|(_, english)| Some((english, japanese(english.trim())?)));
        let mut line = match known {
            Some((english, japanese)) => line.replace(english.trim(), japanese),
            None => line.to_owned(),
        };
        for (english, japanese) in WORDS {
            line = line.replace(english, japanese);
        }
        out += &broken(&line, width);
        out.push('\n');
    }
    out
}

/// Breaks a line at the width; what follows a gap stays in its column.
fn broken(line: &str, width: usize) -> String {
    if hakaru_report::columns_of(line) <= width {
        return line.to_owned();
    }
    let begin = line.len() - line.trim_start().len();
    let gap = line[begin..].find("  ").map(|gap| begin + gap);
    let text = gap.map_or(begin, |gap| line.len() - line[gap..].trim_start().len());
    let (lead, text) = line.split_at(text);
    wrapped(lead, text.trim_end(), width)
}

/// Prints help, or an error of the command line.
pub(crate) fn print_clap(error: &clap::Error) {
    let text = match language() {
        Language::English => None,
        Language::Japanese => Some(message(error, crate::cmd::width().min(100))),
    };
    match text {
        // Ignored: standard output may be a closed pipe.
        None => drop(error.print()),
        Some(text) if error.use_stderr() => anstream::eprint!("{text}"),
        Some(text) => drop(crate::cmd::print(&text)),
    }
}

/// Help, or an error with its usage, in Japanese.
fn message(error: &clap::Error, width: usize) -> String {
    let rendered = || with_japanese_words(&error.render().to_string(), width);
    let Some(what) = usage_error(error) else {
        return rendered();
    };
    let mut lines = vec![format!("{}: {what}", text::prefix(MessagePrefix::Error))];
    if let Some(because) = error.source() {
        let because = cause(because);
        lines.push(format!(
            "  {}: {because}",
            text::prefix(MessagePrefix::Cause)
        ));
    }
    let near = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ];
    let near = near.into_iter().find_map(|kind| value(error, kind));
    let help = text::prefix(MessagePrefix::Help);
    lines.extend(near.map(|near| format!("  {help}: 「{near}」ではありませんか")));
    if let Some(usage) = value(error, ContextKind::Usage) {
        lines.extend([String::new(), usage]);
    }
    lines.extend([String::new(), "詳細は--helpで確認してください".to_owned()]);
    with_japanese_words(&lines.join("\n"), width)
}

/// A value of an error as text.
fn value(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(all) => Some(all.join("、")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        ContextValue::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The error in Japanese; `None` for help, and for kinds of errors that this program does not cause.
fn usage_error(error: &clap::Error) -> Option<String> {
    let of = |kind| value(error, kind).unwrap_or_default();
    let arg = of(ContextKind::InvalidArg);
    let given = of(ContextKind::InvalidValue);
    let said = match error.kind() {
        ErrorKind::InvalidValue if given.is_empty() => format!("{arg}に値が必要です"),
        ErrorKind::InvalidValue => match of(ContextKind::ValidValue) {
            valid if valid.is_empty() => format!("{arg}の値「{given}」は無効です"),
            valid => format!("{arg}の値「{given}」は無効です（指定できる値: {valid}）"),
        },
        ErrorKind::ValueValidation => format!("{arg}の値「{given}」は無効です"),
        ErrorKind::UnknownArgument => format!("不明な引数「{arg}」"),
        ErrorKind::InvalidSubcommand => {
            format!("不明なコマンド「{}」", of(ContextKind::InvalidSubcommand))
        }
        ErrorKind::NoEquals => format!("{arg}の値は「=」に続けて指定してください"),
        ErrorKind::TooManyValues => format!("{arg}の値「{given}」は余分です"),
        ErrorKind::TooFewValues => {
            let least = of(ContextKind::MinValues);
            format!("{arg}には{least}個以上の値が必要です")
        }
        ErrorKind::WrongNumberOfValues => {
            let wanted = of(ContextKind::ExpectedNumValues);
            format!("{arg}には{wanted}個の値が必要です")
        }
        ErrorKind::ArgumentConflict => match of(ContextKind::PriorArg) {
            prior if prior == arg || prior.is_empty() => {
                format!("{arg}は1回だけ指定できます")
            }
            prior => format!("{arg}は{prior}と同時に指定できません"),
        },
        ErrorKind::MissingRequiredArgument => format!("必要な引数がありません: {arg}"),
        ErrorKind::MissingSubcommand => "コマンドが必要です".to_owned(),
        ErrorKind::InvalidUtf8 => "引数がUTF-8ではありません".to_owned(),
        _ => return None,
    };
    Some(said)
}

/// Why a value is refused.
fn cause(because: &(dyn Error + 'static)) -> String {
    if let Some(error) = because.downcast_ref::<ParseIntError>() {
        return match error.kind() {
            IntErrorKind::Empty => "数値がありません".to_owned(),
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                "数値の範囲を超えています".to_owned()
            }
            _ => "整数ではありません".to_owned(),
        };
    }
    match because.downcast_ref::<SizeError>() {
        Some(error) => size_error(error),
        None => range_error(&because.to_string()),
    }
}

fn size_error(error: &SizeError) -> String {
    match error {
        SizeError::NoNumber(text) => {
            format!("「{text}」はサイズではありません。64MiBのように数値と単位を指定してください")
        }
        SizeError::UnknownUnit { text, unit } => format!(
            "「{text}」の単位「{unit}」は不明です。B、KiB、MiB、GiB、TiB、kB、MB、GB、TBのいずれかを指定してください"
        ),
        SizeError::Ambiguous {
            text,
            number,
            si,
            iec,
            unit_si,
            unit_iec,
        } => format!(
            "「{text}」は{si}バイトとも{iec}バイトとも読めます。{number}{unit_si}または{number}{unit_iec}と指定してください"
        ),
        SizeError::TooLarge(text) => format!("「{text}」は16 EiBを超えています"),
    }
}

/// The error of a number outside its range in Japanese; other causes are texts of this program.
fn range_error(because: &str) -> String {
    match because.split_once(" is not in ") {
        Some((number, range)) => format!("{number}は範囲{range}の外です"),
        None => because.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;
    use hakaru_report::with_language;
    use std::collections::BTreeSet;

    /// Every help text of a command tree, and the commands with a text after their options.
    fn walk(
        command: &Command,
        path: &str,
        texts: &mut BTreeSet<String>,
        after: &mut BTreeSet<String>,
    ) {
        texts.extend(command.get_about().map(StyledStr::to_string));
        after.extend(command.get_after_help().map(|_| path.to_owned()));
        for arg in command.get_arguments() {
            texts.extend(arg.get_help().map(StyledStr::to_string));
            let values = arg.get_possible_values();
            let helps = values.iter().filter_map(|value| value.get_help());
            texts.extend(helps.map(StyledStr::to_string));
        }
        for sub in command.get_subcommands() {
            let name = sub.get_name();
            // Its copies of all commands have the same texts.
            if name == "help" {
                texts.extend(sub.get_about().map(StyledStr::to_string));
                continue;
            }
            let path = if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path} {name}")
            };
            walk(sub, &path, texts, after);
        }
    }

    #[test]
    fn every_help_text_has_a_japanese_one() {
        let mut command = Cli::command();
        command.build();
        let (mut texts, mut after) = (BTreeSet::new(), BTreeSet::new());
        walk(&command, "", &mut texts, &mut after);
        let missing: Vec<&String> = texts
            .iter()
            .filter(|text| japanese(text).is_none())
            .collect();
        assert!(missing.is_empty(), "add to help/ja.rs: {missing:#?}");
        let unused: Vec<&str> = ja::TEXTS
            .iter()
            .map(|(english, _)| *english)
            .filter(|e| !texts.contains(*e))
            .collect();
        assert!(unused.is_empty(), "remove from help/ja.rs: {unused:#?}");
        let known: BTreeSet<String> = ja::AFTER
            .iter()
            .map(|(path, _)| (*path).to_owned())
            .collect();
        assert_eq!(known, after, "texts after the options");
    }

    #[test]
    fn japanese_help_is_japanese() {
        let exempt = ["0x00", "GPT"];
        for (english, japanese) in ja::TEXTS.iter().chain(ja::AFTER) {
            let is_japanese = japanese
                .chars()
                .any(|c| ('\u{3040}'..'\u{a000}').contains(&c));
            assert!(
                is_japanese || exempt.contains(japanese),
                "{english}: {japanese}"
            );
            for wrong in ["読み取り", "計測", "レイヤー", "：", "％", "下さい", "全て"]
            {
                assert!(!japanese.contains(wrong), "{wrong} in {japanese}");
            }
        }
    }

    /// The help of a command line, or its error, as a terminal of 80 columns shows it.
    fn shown(line: &[&str]) -> String {
        with_language(Language::Japanese, || {
            let mut command = super::super::grouped(localized(Cli::command()));
            let error = command.try_get_matches_from_mut(line).unwrap_err();
            message(&error, 80)
        })
    }

    #[test]
    fn help_has_no_english_words_and_fits_the_width() {
        for line in [
            vec!["hakaru", "--help"],
            vec!["hakaru", "bench", "--help"],
            vec!["hakaru", "campaign", "--help"],
            vec!["hakaru", "campaign", "report", "--help"],
            vec!["hakaru", "prepare", "-h"],
        ] {
            let help = shown(&line);
            assert!(help.contains("使い方: hakaru"), "{help}");
            for (english, _) in WORDS {
                assert!(!help.contains(english), "{english} in\n{help}");
            }
            for english in ["Print ", "Permit ", "default", "Measure"] {
                assert!(!help.contains(english), "{english} in\n{help}");
            }
            for line in help.lines() {
                assert!(hakaru_report::columns_of(line) <= 80, "{line}");
            }
        }
    }

    #[test]
    fn usage_errors_are_japanese() {
        for (line, said) in [
            (vec!["hakaru", "bech"], "不明なコマンド「bech」"),
            (vec!["hakaru", "bench", "--sped"], "不明な引数「--sped」"),
            (
                vec!["hakaru", "bench", "--ioengine=x"],
                "指定できる値: psync",
            ),
            (
                vec!["hakaru", "bench", "--repeat=0"],
                "0は範囲1..=1000の外です",
            ),
            (vec!["hakaru", "bench", "--repeat=x"], "整数ではありません"),
            (vec!["hakaru", "bench", "--repeat="], "数値がありません"),
            (vec!["hakaru", "bench", "--size=12q"], "単位「q」は不明です"),
            (
                vec!["hakaru", "bench", "--size=big"],
                "サイズではありません",
            ),
            (
                vec!["hakaru", "bench", "--quick", "--standard"],
                "同時に指定できません",
            ),
            (vec!["hakaru", "show"], "必要な引数がありません: <RUN>"),
            (vec!["hakaru", "bench", "--label"], "値が必要です"),
            (vec!["hakaru", "compare", "one"], "2個以上の値が必要です"),
        ] {
            let error = shown(&line);
            assert!(
                error.starts_with("エラー: ") && error.contains(said),
                "{error}"
            );
            assert!(error.contains("--help"), "{error}");
            assert!(
                !error.contains("Usage") && !error.contains("tip:"),
                "{error}"
            );
        }
    }
}
