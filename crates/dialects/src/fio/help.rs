//! Help texts generated from the option tables: `--help`, `--cmdhelp`, `--enghelp`, the manual page, and the page of
//! supported options.

use super::VERSION;
use super::cli::{self, CliArity, CliEffect, CliOpt, InfoText};
use super::invocation::FioAction;
use super::options::{self, ENGINES, Engine, FioOption, OptionKind, OptionState, SECTIONS};
use super::spelling::nearest;
use crate::markup::{capital, roff};
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

/// The command-line options that are not refused.
fn supported_run_options() -> impl Iterator<Item = &'static CliOpt> {
    let refused = |opt: &&CliOpt| matches!(opt.does, CliEffect::Refused(..));
    cli::TABLE.iter().filter(move |opt| !refused(opt))
}

/// Usage and command-line options.
fn help() -> String {
    let mut text = format!("{VERSION}\nfio [options] [job options] <job file(s)>\n");
    for opt in supported_run_options() {
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
    let near = nearest(name, options::all().flat_map(FioOption::names));
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
    let mut rows = vec![(opt.name, opt.help.to_owned())];
    rows.extend(
        opt.aliases
            .iter()
            .map(|alias| ("alias", (*alias).to_owned())),
    );
    rows.push(("type", opt.kind.shape()));
    let default = Some(opt.default).filter(|default| !default.is_empty());
    rows.push(("default", default.unwrap_or("no default").to_owned()));
    if let OptionKind::Choice(words) | OptionKind::Tagged(words) | OptionKind::Numbered(words) =
        opt.kind
    {
        let labels = std::iter::once("valid values").chain(std::iter::repeat(""));
        let words = words.iter();
        rows.extend(labels.zip(words.map(|(word, meaning)| format!("{word:<10} {meaning}"))));
    }
    if !opt.engines.is_empty() {
        rows.push(("engines", opt.engines.join(", ")));
    }
    let (state, note) = state_word(opt.state);
    rows.push(match note.is_empty() {
        true => ("state", state.to_owned()),
        false => ("state", format!("{state}: {note}")),
    });
    let line = |(label, what): (&str, String)| format!("{label:>20}: {what}\n");
    rows.into_iter().map(line).collect::<String>() + "\n"
}

/// One word for the state of an option, and the remaining details.
fn state_word(state: OptionState) -> (&'static str, String) {
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
    let Some(Engine { ours, help, .. }) = ENGINES.iter().find(|e| e.names.contains(&name)) else {
        return (format!("IO engine {name} not found\n"), 1);
    };
    let ours = match ours {
        Ok(ours) => ours.name(),
        Err(instead) => return (format!("IO engine {name} is not built in: {instead}\n"), 1),
    };
    let own: Vec<&FioOption> = options::all()
        .filter(|opt| opt.engines.contains(&ours))
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
    let mut text = compatibility_head();
    for (title, rows) in SECTIONS {
        text += &table_head(title, "Option");
        for opt in *rows {
            let (state, note) = state_word(opt.state);
            let note = if note.is_empty() {
                String::new()
            } else {
                format!(". {}{}.", capital(&note), at_engines(opt))
            };
            let (names, note) = (code_list(opt.names()), note.replace('|', "\\|"));
            let _ = writeln!(text, "| {names} | {state} | {}{note} |", opt.help);
        }
    }
    text + &engine_table() + &command_line_table() + DIFFERENCES
}

/// Introduction of the page, with the number of options by state.
fn compatibility_head() -> String {
    let count = |wanted: &&str| {
        options::all()
            .filter(|opt| state_word(opt.state).0 == *wanted)
            .count()
    };
    let counts: Vec<String> = ["works", "accepted", "with another", "refused"]
        .iter()
        .map(|state| format!("{state}: {}", count(state)))
        .collect();
    format!(
        "# fio options\n\n\
        This page is generated from the option tables. A known option is never silently ignored:\n\n\
        - **works**: does the same as in fio.\n\
        - **accepted**: has no effect; the description says why.\n\
        - **with another**: takes effect only together with another option, and depends on the state of that option.\n\
        - **refused**: an error that gives the reason and an alternative. Values that mean \"off\" (`0`, `none`) are \
        accepted.\n\n\
        {} options ({}).\n",
        options::all().count(),
        counts.join(", ")
    )
}

/// Title and header of a table, in Markdown.
fn table_head(title: &str, first: &str) -> String {
    format!("\n## {title}\n\n| {first} | State | Purpose |\n| --- | --- | --- |\n")
}

/// Names in code style, separated by commas.
fn code_list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The table of engines, in Markdown.
fn engine_table() -> String {
    let mut text = table_head("Engines", "Engine");
    for engine in ENGINES {
        let names = code_list(engine.names.iter().copied());
        let (state, note) = match engine.ours {
            Ok(_) => ("works", String::new()),
            Err(instead) => ("refused", format!(". {}.", capital(instead))),
        };
        let _ = writeln!(text, "| {names} | {state} | {}{note} |", engine.help);
    }
    text
}

/// The table of command-line options, in Markdown.
fn command_line_table() -> String {
    let mut text = table_head("Command line options", "Option");
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
- `hakaru fio` typed on a terminal stores the run in the database and prints one line about it on standard error. \
`--hakaru-store`, `--hakaru-label=NAME`, `--hakaru-title=TEXT`, `--hakaru-note=TEXT` and `HAKARU_STORE=1` in the \
environment ask for it, also of a link named `fio`, which stores nothing otherwise. `HAKARU_STORE=0` forbids it. \
Standard output is unchanged.
- `hakaru fio --hakaru-trace` also traces the path of each I/O and stores the run; it measures the cost of tracing first, \
and `--hakaru-trace=whole` traces all of it instead. It is an option of hakaru, which a \
link named `fio` refuses.
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
- Files that a job does not name stay in its `directory`: a job name or `filename_format` that leads out of it \
with `..` is refused. \
fio writes outside. Without `directory`, and with `filename`, both do what is asked.
- Names and values in a job file must be UTF-8, as on the command line. fio accepts any bytes.
- Sizes and rates may have a decimal point: `1.5m` is 1.5 MiB. fio ignores the point and what follows, even the \
unit: 1 byte.
- Each pass of a random job with a map of its blocks, as with `loops` or `io_size`, has a new order. fio 3.33 repeats \
that of the first pass.
- Offsets differ from those of fio 3.33 where these options meet: \
a negative gap (`rw=read:-8k`) with `loops` and a synchronous engine (fio continues where the loop ended); \
a negative gap with `zonemode=strided` (fio continues in the next zone); \
`zonemode=strided` with several files, some of them shorter than two zones; \
`loops` with `file_append=1` (fio appends once); \
`verify` with `loops` and a `size` below `filesize`; \
`rw=randread:4` with `loops`, `offset` and a queue; \
`ioengine=null` with a `size` above `filesize`, and zones or an offset in percent; \
a time-based mix on files of different sizes.
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

/// The manual page of the fio front end, as roff source.
pub fn man_page() -> String {
    let mut text = format!(
        ".TH HAKARU\\-FIO 1 \"\" \"hakaru\" \"{VERSION}\"\n.SH NAME\nhakaru\\-fio \\- benchmark storage with the command \
        line of fio\n.SH SYNOPSIS\n.B hakaru fio\n[\\fIoptions\\fR] [\\fIjob options\\fR] [\\fIjob file\\fR]...\n\
        .SH DESCRIPTION\nRuns command lines and job files of fio on the I/O engine of hakaru, \
        and prints results in the formats of fio. \
        A link to hakaru named fio does the same; hakaru\\-link(1) creates one.\n.SH OPTIONS\n"
    );
    for opt in supported_run_options() {
        let _ = writeln!(text, ".TP\n.B {}\n{}.", roff(&usage(opt)), roff(opt.help));
    }
    text.push_str(".SH JOB OPTIONS\n");
    for (title, rows) in SECTIONS {
        let refused = |opt: &&FioOption| matches!(opt.state, OptionState::Refused { .. });
        let known: String = rows
            .iter()
            .filter(|opt| !refused(opt))
            .map(man_entry)
            .collect();
        if !known.is_empty() {
            let _ = write!(text, ".SS {title}\n{known}");
        }
    }
    text
}

/// The entry of a job option in the manual page.
fn man_entry(opt: &FioOption) -> String {
    let names: Vec<&str> = opt.names().collect();
    let [names, help, shape] = [&names.join(", "), opt.help, &opt.kind.shape()].map(roff);
    let mut text = format!(".TP\n.B {names}\n{help}. Takes {shape}.");
    if !opt.default.is_empty() {
        let _ = write!(text, " Default: {}.", roff(opt.default));
    }
    let (state, note) = state_word(opt.state);
    if !note.is_empty() {
        let _ = write!(text, " {}: {}.", capital(state), roff(&note));
    }
    text + "\n"
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
        assert!(page.starts_with(".TH HAKARU\\-FIO 1"));
        assert!(page.contains(".TP\n.B bs, blocksize\n"), "{page}");
        assert!(
            page.lines()
                .all(|line| !line.starts_with('\'') && !line.is_empty())
        );
    }
}
