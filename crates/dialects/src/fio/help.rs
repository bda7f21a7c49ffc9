//! Help texts generated from the option tables: `--help`, `--cmdhelp`, `--enghelp`, the manual page, and the page of
//! supported options.

use super::VERSION;
use super::cli::{self, CliArity, CliEffect, CliOpt, InfoText};
use super::invocation::FioAction;
use super::options::{self, ENGINES, Engine, FioOption, OptionKind, OptionState, SECTIONS};
use std::fmt::Write as _;

/// Returns the action for a help request: a text to print with its exit code, or a self-test.
pub(crate) fn page(page: &InfoText) -> FioAction {
    let (text, exit_code) = match page {
        InfoText::Checksums(which) => return FioAction::TestChecksums(which.clone()),
        InfoText::Clock => return FioAction::TestClock,
        InfoText::DebugTypes => (DEBUG_TYPES.to_owned(), 0),
        InfoText::Version => (format!("{VERSION}\n"), 0),
        InfoText::Help => (help(), 0),
        InfoText::Command(None) => (commands(), 0),
        InfoText::Command(Some(name)) if name == "all" => (commands(), 0),
        InfoText::Command(Some(name)) => command(name),
        InfoText::Engine(None) => (engines(), 0),
        InfoText::Engine(Some(name)) => engine(name),
    };
    FioAction::Print { text, exit_code }
}

/// Output of `--debug=help`.
const DEBUG_TYPES: &str = "fio: --debug is not supported: there is no debug output\n";

/// Usage and command-line options.
fn help() -> String {
    let mut text = format!("{VERSION}\nfio [options] [job options] <job file(s)>\n");
    for opt in cli::TABLE
        .iter()
        .filter(|opt| !matches!(opt.does, CliEffect::Refused(..)))
    {
        let _ = writeln!(text, "  {:<30}{}", usage(opt), opt.help);
    }
    text + "\nJob options: --cmdhelp lists them, --cmdhelp=OPTION explains one, --enghelp lists the engines.\n"
}

fn usage(opt: &CliOpt) -> String {
    let long = match opt.takes {
        CliArity::Nothing => format!("--{}", opt.name),
        CliArity::Value(what) => format!("--{}={what}", opt.name),
        CliArity::Perhaps(what) => format!("--{}[={what}]", opt.name),
    };
    cli::letter_of(opt.name).map_or(long.clone(), |letter| format!("-{letter}, {long}"))
}

fn commands() -> String {
    options::all().map(summary).collect()
}

fn summary(opt: &FioOption) -> String {
    format!("{:<24}: {}\n", opt.name, opt.help)
}

/// Full help of one option; for an unknown name, the nearest known option.
fn command(name: &str) -> (String, u8) {
    if let Some(opt) = options::find(name) {
        return (explain(opt), 0);
    }
    let near = options::nearest(name, options::all().flat_map(FioOption::names));
    match near.as_deref().and_then(options::find) {
        Some(opt) => (
            format!(
                "No such command: {name} - showing closest match\n{}",
                explain(opt)
            ),
            0,
        ),
        None => (format!("No such command: {name}\n"), 0),
    }
}

fn explain(opt: &FioOption) -> String {
    let mut text = String::new();
    let mut row = |label: &str, what: &str| {
        let _ = writeln!(text, "{label:>20}: {what}");
    };
    row(opt.name, opt.help);
    for alias in opt.aliases {
        row("alias", alias);
    }
    row("type", &opt.kind.shape());
    row(
        "default",
        if opt.default.is_empty() {
            "no default"
        } else {
            opt.default
        },
    );
    if let OptionKind::Choice(words) | OptionKind::Tagged(words) | OptionKind::Numbered(words) =
        opt.kind
    {
        for (index, (word, meaning)) in words.iter().enumerate() {
            row(
                if index == 0 { "valid values" } else { "" },
                &format!("{word:<10} {meaning}"),
            );
        }
    }
    if !opt.engines.is_empty() {
        row("engines", &opt.engines.join(", "));
    }
    let (state, note) = told(opt.state);
    row(
        "state",
        &if note.is_empty() {
            state.to_owned()
        } else {
            format!("{state}: {note}")
        },
    );
    text + "\n"
}

/// One word for the state of an option, and the remaining details.
fn told(state: OptionState) -> (&'static str, String) {
    match state {
        OptionState::Works => ("works", String::new()),
        OptionState::Accepted(because) => ("accepted", because.to_owned()),
        OptionState::With(other) => (
            "with another",
            format!("takes effect only with `{other}`; see there"),
        ),
        OptionState::Refused { reason, instead } => ("refused", format!("{reason}; {instead}")),
    }
}

fn engines() -> String {
    let names = ENGINES
        .iter()
        .filter(|engine| engine.ours.is_ok())
        .map(|engine| engine.names[0]);
    names.fold("Available IO engines:\n".to_owned(), |text, name| {
        text + "\t" + name + "\n"
    })
}

/// Options of one engine, or full help of one of them: `libaio`, `libaio,nowait`.
fn engine(asked: &str) -> (String, u8) {
    let (name, option) = match asked.split_once(',') {
        None => (asked, None),
        Some((name, option)) => (name, Some(option)),
    };
    let known = ENGINES.iter().find(|engine| engine.names.contains(&name));
    let Some(Engine {
        ours: Ok(ours),
        help,
        ..
    }) = known
    else {
        let why = match known {
            Some(Engine {
                ours: Err(instead), ..
            }) => format!("is not built in: {instead}"),
            _ => "not found".to_owned(),
        };
        return (format!("IO engine {name} {why}\n"), 1);
    };
    let own: Vec<&FioOption> = options::all()
        .filter(|opt| opt.engines.contains(&ours.name()))
        .collect();
    match option {
        None if own.is_empty() => (format!("IO engine {name} ({help}) has no options\n"), 0),
        None => (own.into_iter().map(summary).collect(), 0),
        Some(option) => match own.into_iter().find(|opt| opt.is_called(option)) {
            Some(opt) => (explain(opt), 0),
            None => (format!("No such command: {option}\n"), 1),
        },
    }
}

/// The page of supported fio options, in Markdown.
pub fn compatibility_markdown() -> String {
    let mut text = String::from(
        "# fio options\n\n\
        This page is generated from the option tables. A known option is never silently ignored:\n\n\
        - **works**: does the same as in fio.\n\
        - **accepted**: has no effect; the description says why.\n\
        - **with another**: takes effect only together with another option, and depends on the state of that option.\n\
        - **refused**: an error that gives the reason and an alternative. Values that mean \"off\" (`0`, `none`) are \
        accepted.\n\n",
    );
    let count = |wanted: &str| {
        options::all()
            .filter(|opt| told(opt.state).0 == wanted)
            .count()
    };
    let states = ["works", "accepted", "with another", "refused"];
    let counts: Vec<String> = states
        .iter()
        .map(|state| format!("{state}: {}", count(state)))
        .collect();
    let _ = writeln!(
        text,
        "{} options ({}).",
        options::all().count(),
        counts.join(", ")
    );
    for (title, rows) in SECTIONS {
        let _ = writeln!(
            text,
            "\n## {title}\n\n| Option | State | Purpose |\n| --- | --- | --- |"
        );
        for opt in *rows {
            let names: Vec<String> = opt.names().map(|name| format!("`{name}`")).collect();
            let (state, note) = told(opt.state);
            let note = if note.is_empty() {
                String::new()
            } else {
                format!(". {}{}.", capital(&note), at_engines(opt))
            };
            let _ = writeln!(
                text,
                "| {} | {state} | {}{} |",
                names.join(", "),
                opt.help,
                note.replace('|', "\\|")
            );
        }
    }
    text + &engine_table() + &command_line_table() + DIFFERENCES
}

/// The table of engines, in Markdown.
fn engine_table() -> String {
    let mut text =
        String::from("\n## Engines\n\n| Engine | State | Purpose |\n| --- | --- | --- |\n");
    for engine in ENGINES {
        let names: Vec<String> = engine
            .names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let (state, note) = match engine.ours {
            Ok(_) => ("works", String::new()),
            Err(instead) => ("refused", format!(". {}.", capital(instead))),
        };
        let _ = writeln!(
            text,
            "| {} | {state} | {}{note} |",
            names.join(", "),
            engine.help
        );
    }
    text
}

/// The table of command-line options, in Markdown.
fn command_line_table() -> String {
    let mut text = String::from(
        "\n## Command line options\n\n| Option | State | Purpose |\n| --- | --- | --- |\n",
    );
    for opt in cli::TABLE {
        let (state, note) = match opt.does {
            CliEffect::Set(_) => ("works", String::new()),
            CliEffect::Accepted(because) => ("accepted", format!(". {}.", capital(because))),
            CliEffect::Refused(reason, instead) => {
                ("refused", format!(". {}; {instead}.", capital(reason)))
            }
            CliEffect::Warns(_) => ("accepted", ". Not supported; a warning says so.".to_owned()),
        };
        let _ = writeln!(text, "| `{}` | {state} | {}{note} |", usage(opt), opt.help);
    }
    text
}

/// Intentional differences from fio.
const DIFFERENCES: &str = "
## Intentional differences from fio

- If `sync_file_range` and `fsync` or `fdatasync` are due after the same write, both are counted. fio counts only \
the flush.
- `offset` above `100%` is refused. fio uses an offset far beyond the end and does no I/O.
- `offset=100%` is refused, because nothing remains after it. fio extends the file by `size`.
- `offset` in percent of a file that does not exist yet refers to its future size. fio then starts at offset 0.
- `HAKARU_STORE=1` in the environment stores a run in the database and prints a note on standard error. fio has no such \
function.
- SIGHUP ends the run, prints the result and exits with status 129, unless the program was started with SIGHUP \
ignored. It kills fio without a result.
- If a job cannot start, for example because its engine is missing, the other jobs of its group do not run: the \
result contains error 125 (ECANCELED) for them. fio runs them.
- `ioscheduler` and `profile` are refused with exit status 1. fio switches the scheduler of the underlying device, \
and ignores `ioscheduler` if it finds none; its profiles are `act` and `tiobench`.
- Spaces around names, values and list items are ignored: `rw = randread` in a job file means `rw=randread`, and \
`bs=4k , 8k` means `bs=4k,8k`. fio refuses the first and reads the second as 4 and 8 bytes.
- `job options` in the JSON output leaves out switches without a value, such as `time_based` and `group_reporting`, \
as fio does up to 3.33. fio 3.39 lists them with an empty value.
- `; 0 zone resets` ends the lines of trims as well as those of writes, as in fio 3.39. fio 3.33 prints it for \
writes only.
- `log_window_value=both` adds the column to latency logs only, because mean and maximum are the same for bandwidth \
and IOPS. fio 3.33 knows only `log_max_value=0|1`.
- Names and values in a job file must be UTF-8, as on the command line. fio accepts any bytes.
- `bssplit` with percentages that add up to more than 100 draws sizes as fio does, the smallest percentage first. If \
it also has sizes without a percentage, it is refused.
- `bs_is_seq_rand=1` with random I/O continues until all work is done. fio ends such a job at the first random \
offset at which the larger size no longer fits.
- `zonemode=strided` with random I/O does not use an incomplete last zone. fio starts it, and ends at the first \
random offset beyond the end.
- `verify` writes its own header before its checksums: neither program can verify what the other wrote. \
`verify=pattern` has no header and is the same in both.
- `verify_state_load` reads files of fio 3.33 and 3.39, and fio 3.39 reads those of hakaru. A file that fio saved \
before a random job ended is refused, because fio's random offsets differ.
- `verify_state_save` saves the state of jobs that verify. A trigger in fio also saves that of other jobs, which has \
no use.
- `--trigger` runs its command after the jobs have ended and saved their state, not before they end.
- `--trigger-timeout` keeps fractions of a second. fio truncates it to whole seconds, and takes `500ms` as \"never\".
- `--crctest` has no murmur3, jhash and fnv, because they are not used for verification.
- `--debug` prints a warning and no debug output.
- `--eta` with an unknown word means `auto`, as in fio, with a warning.
- Jobs that write to a device in use are refused. In use means: mounted (in any mount namespace whose table can be \
read), used as swap, part of a mapping, RAID or loop device, or claimed exclusively, as by a lazily unmounted file \
system or an external journal. Jobs that write to a file behind a loop device in use are refused too. fio writes in \
all these cases. Not detected: a program that only has the device open, a use that starts during the run, a virtual \
machine or another host on the same storage, and mounts that are hidden from this user and claim nothing.
- Writes to a device that was pulled end with error 19 (ENODEV). fio reports the kernel's answer, error 28 (ENOSPC), \
as if the device were full.
- If a job cannot run together with the others, the result contains the error, as in fio, and standard error \
contains the advice.
";

fn at_engines(opt: &FioOption) -> String {
    if opt.engines.is_empty() {
        String::new()
    } else {
        format!(" ({})", opt.engines.join(", "))
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + chars.as_str()
    })
}

/// The manual page of the fio front end, as roff source.
pub fn man_page() -> String {
    let mut text = format!(
        ".TH FIO 1 \"\" \"hakaru\" \"{VERSION}\"\n.SH NAME\nfio \\- benchmark storage with the command line of fio\n\
        .SH SYNOPSIS\n.B fio\n[\\fIoptions\\fR] [\\fIjob options\\fR] [\\fIjob file\\fR]...\n\
        .SH DESCRIPTION\nRuns command lines and job files of fio on the I/O engine of hakaru, \
        and prints results in the formats of fio.\n.SH OPTIONS\n"
    );
    for opt in cli::TABLE
        .iter()
        .filter(|opt| !matches!(opt.does, CliEffect::Refused(..)))
    {
        let _ = writeln!(text, ".TP\n.B {}\n{}.", roff(&usage(opt)), roff(opt.help));
    }
    text.push_str(".SH JOB OPTIONS\n");
    for (title, rows) in SECTIONS {
        let known: Vec<&FioOption> = rows
            .iter()
            .filter(|opt| !matches!(opt.state, OptionState::Refused { .. }))
            .collect();
        if known.is_empty() {
            continue;
        }
        let _ = writeln!(text, ".SS {title}");
        for opt in known {
            let names: Vec<&str> = opt.names().collect();
            let _ = writeln!(text, ".TP\n.B {}", roff(&names.join(", ")));
            let _ = write!(
                text,
                "{}. Takes {}.",
                roff(opt.help),
                roff(&opt.kind.shape())
            );
            if !opt.default.is_empty() {
                let _ = write!(text, " Default: {}.", roff(opt.default));
            }
            let (state, note) = told(opt.state);
            if !note.is_empty() {
                let _ = write!(text, " {}: {}.", capital(state), roff(&note));
            }
            text.push('\n');
        }
    }
    text
}

/// Escapes text for roff. Each line begins with a word, so none begins with a dot or an apostrophe.
fn roff(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_explained_as_fio_does_it() {
        let pages =
            ["readwrite", "direct", "numjob", "verify", "hipri"].map(|name| command(name).0);
        insta::assert_snapshot!("options_explained", pages.concat());
        assert_eq!(
            command("bananas"),
            ("No such command: bananas\n".to_owned(), 0)
        );
    }

    #[test]
    fn engines_are_listed_and_explained() {
        let pages = ["libaio", "psync", "io_uring,hipri", "rbd"].map(|name| engine(name).0);
        insta::assert_snapshot!("engines_explained", engines() + "\n" + &pages.join("\n"));
        assert_eq!(
            engine("bananas"),
            ("IO engine bananas not found\n".to_owned(), 1)
        );
    }

    #[test]
    fn the_version_is_one_line() {
        assert_eq!(
            page(&InfoText::Version),
            FioAction::Print {
                text: "fio-3.39\n".to_owned(),
                exit_code: 0
            }
        );
    }

    #[test]
    fn the_help_page() {
        insta::assert_snapshot!("help", help());
    }

    #[test]
    fn the_list_of_options_has_them_all() {
        let text = commands();
        assert_eq!(text.lines().count(), options::all().count());
        insta::assert_snapshot!("compatibility", compatibility_markdown());
    }

    #[test]
    fn the_manual_page_is_roff() {
        let page = man_page();
        assert!(page.starts_with(".TH FIO 1"));
        assert!(page.contains(".TP\n.B bs, blocksize\n"), "{page}");
        assert!(
            page.lines()
                .all(|line| !line.starts_with('\'') && !line.is_empty())
        );
    }
}
