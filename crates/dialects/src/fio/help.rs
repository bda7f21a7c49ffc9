//! Everything that is said of options: `--help`, `--cmdhelp`, `--enghelp`, the manual page, and the page that lists
//! which options of fio are known. All of it comes out of the tables.

use super::VERSION;
use super::cli::{self, CliArity, CliEffect, CliOpt, InfoText};
use super::invocation::FioAction;
use super::options::{self, ENGINES, Engine, FioOption, OptionKind, OptionState, SECTIONS};
use std::fmt::Write as _;

/// What answers a page that was asked for: a text to print with the exit code to leave with, or a test.
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

/// What `--debug=help` prints.
const DEBUG_TYPES: &str = "fio: --debug is not supported: there is no debug output\n";

/// The usage, and the options of the command line.
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

/// One option in full; for a name that is not known, the nearest.
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

/// A state in a word, and what else there is to say.
fn told(state: OptionState) -> (&'static str, String) {
    match state {
        OptionState::Works => ("works", String::new()),
        OptionState::Accepted(because) => ("accepted", because.to_owned()),
        OptionState::With(other) => (
            "with another",
            format!("has an effect only with `{other}`, and its state"),
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

/// Options of one engine, or one of them in full: `libaio`, `libaio,nowait`.
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

/// The page that lists which options of fio are known, and what becomes of them, in Markdown.
pub fn compatibility_markdown() -> String {
    let mut text = String::from(
        "# Which options of fio are known\n\n\
        This page is generated from the option table. A known option is never ignored in silence:\n\n\
        - **works**: does what it does in fio.\n\
        - **accepted**: has no effect, because what it asks for is so anyway.\n\
        - **with another**: has an effect only together with another option, whose state is its own.\n\
        - **refused**: an error that says why, and what to use instead. Values that ask for nothing (`0`, `none`) are fine.\n\n",
    );
    let count = |wanted: &str| {
        options::all()
            .filter(|opt| told(opt.state).0 == wanted)
            .count()
    };
    let states = ["works", "accepted", "with another", "refused"];
    let counts: Vec<String> = states
        .iter()
        .map(|state| format!("{} {state}", count(state)))
        .collect();
    let _ = writeln!(
        text,
        "{} options: {}.",
        options::all().count(),
        counts.join(", ")
    );
    for (title, rows) in SECTIONS {
        let _ = writeln!(
            text,
            "\n## {title}\n\n| Option | State | What it is for |\n| --- | --- | --- |"
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
    text.push_str("\n## Engines\n\n| Engine | State | What it does |\n| --- | --- | --- |\n");
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
    text.push_str("\n## Options of the command line\n\n| Option | State | What it is for |\n| --- | --- | --- |\n");
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
    text + ELSEWHERE
}

/// What is known to be otherwise than in fio, on purpose.
const ELSEWHERE: &str = "
## What is otherwise than in fio, on purpose

- `fdatasync` is counted as a sync. fio counts it as a short read, and `sync_file_range` as a short write; the latter is \
timed and not counted here. Beside `fsync` or `fdatasync` it is counted with those.
- `offset` of more than `100%` is refused: fio takes it for a place far behind the end, and does nothing.
- `offset` in percent is of the size that a file will have, where it is not there yet. fio then begins at its start.
- `offset=100%` is refused, as nothing is left behind it: fio makes the file longer by `size`.
- `rw=trim` and its like on a plain file end with error 25 (ENOTTY) in the result, and status 1, as in fio; the file is \
not laid out first.
- `HAKARU_STORE=1` in the environment stores a run in the database, with a note on standard error; fio has nothing like it.
- SIGHUP ends the run with its result, and status 129, unless the program was started with SIGHUP ignored. It kills fio, \
without a result.
- When a job cannot be started, such as for a missing engine, the other jobs of its group do not run: the result tells \
error 125 (ECANCELED) of them. fio runs them.
- `ioscheduler` and `profile` are refused, with status 1. fio switches the scheduler of the device below, and takes \
nothing for it where it finds none; its profiles are `act` and `tiobench`.
- Blanks around words and parts of lists are no part of them: `rw = randread` in a job file is `rw=randread`, and \
`bs=4k , 8k` is `bs=4k,8k`. fio refuses the first, and reads the second as 4 and 8 bytes.
- The `job options` of the JSON leave out switches that stand without a value, such as `time_based` and \
`group_reporting`, as up to fio 3.33. fio 3.39 lists them with an empty one.
- `; 0 zone resets` ends the lines of trims as those of writes, as in fio 3.39. fio 3.33 prints it for writes only.
- `log_window_value=both` adds the column to logs of latency only: means and maxima of bandwidth and IOPS are the same. \
fio 3.33 knows `log_max_value=0|1` only.
- Names and values in a job file have to be UTF-8, as on the command line. fio takes any bytes.
- `bssplit` whose shares add up to more than 100 draws as fio does, the smallest share first; where sizes have no share \
of their own then, it is refused.
- `bs_is_seq_rand=1` with random I/O goes on until all is done. fio ends such a job at the first offset it draws at which \
the larger size no longer fits.
- `zonemode=strided` with random I/O leaves a last zone alone that is not whole. fio begins it, and ends with the first \
offset it draws behind the end.
- `verify` writes a header of its own in front of its checksums: what fio wrote with one ours cannot check, nor fio what \
ours wrote. `verify=pattern`, which has none, is the same in both.
- `verify_state_load` takes the files of fio 3.33 and 3.39, and fio 3.39 takes ours. Where fio saved one before a random \
job was over it is refused, because fio's random offsets are others than ours.
- `verify_state_save` saves jobs that verify. A trigger of fio saves the others, too, though nothing can be made of that.
- `--trigger` runs its command when the jobs have ended and saved their state, rather than before they end.
- `--trigger-timeout` is kept to its parts of a second. fio cuts it to whole ones, and takes `500ms` for never.
- `--crctest` has no murmur3, jhash and fnv: nothing is checked by them here.
- `--debug` prints no debug output: a warning says so.
- `--eta` of an unknown word is taken for `auto` as in fio, with a warning.
- Jobs that write to a device are refused while it is in use: mounted (in any mount namespace whose table can be \
read), swapped to, part of a mapping, RAID or loop device, or claimed exclusively, as lazily unmounted file systems \
and external journals are; likewise jobs that write to a file behind a loop device in use. fio writes all the same. \
What cannot be known: a program that merely has the device open, a use that begins during the run, a virtual machine \
or another host on the same storage, and mounts that are hidden from this user and claim nothing.
- Writes to a device that is pulled end with error 19 (ENODEV). fio reports what the kernel answers, error 28 \
(ENOSPC), as if it were full.
- Of a job that cannot run beside others, the result tells the error as fio's does, and standard error the cure.
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

/// The manual page of the fio front end, as the source that `man` reads.
pub fn man_page() -> String {
    let mut text = format!(
        ".TH FIO 1 \"\" \"hakaru\" \"{VERSION}\"\n.SH NAME\nfio \\- measure storage, by the command line of fio\n\
        .SH SYNOPSIS\n.B fio\n[\\fIoptions\\fR] [\\fIjob options\\fR] [\\fIjob file\\fR]...\n\
        .SH DESCRIPTION\nThe front end of hakaru that takes the command lines and job files of fio, \
        and prints results as fio prints them.\n.SH OPTIONS\n"
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

/// Text as roff takes it: no line begins with a dot or an apostrophe, since each begins with a word.
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
