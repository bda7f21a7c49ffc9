//! Command-line options that apply to the whole run, in a table like that of the job options.

use super::invocation::{EtaMode, IdleProf, OutputFormat, Settings};
use super::values::{TimeUnit, ValueContext};
use std::path::PathBuf;

/// Whether an option of the command line takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CliArity {
    /// No value.
    Nothing,
    /// One value, with its metavariable.
    Value(&'static str),
    /// An optional value.
    Perhaps(&'static str),
}

/// Requests other than running jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CliRequests {
    pub parse_only: bool,
    pub show_command: bool,
    pub warnings_fatal: bool,
    pub max_jobs: Option<u64>,
    pub sections: Vec<String>,
    /// What to print instead of running.
    pub page: Option<InfoText>,
}

/// A text printed instead of running jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InfoText {
    Version,
    Help,
    Command(Option<String>),
    Engine(Option<String>),
    Checksums(Option<String>),
    Clock,
    DebugTypes,
}

/// State that command-line options modify.
pub(crate) struct CliState<'a> {
    pub settings: &'a mut Settings,
    pub requests: &'a mut CliRequests,
    pub warnings: &'a mut Vec<String>,
    pub reading: ValueContext<'a>,
}

type CliSetter = fn(&mut CliState<'_>, Option<&str>) -> Result<(), String>;

/// Effect of a command-line option.
#[derive(Clone, Copy)]
pub(crate) enum CliEffect {
    /// Sets a value.
    Set(CliSetter),
    /// Only adds a warning.
    Warns(CliSetter),
    /// Has no effect, for the given reason.
    Accepted(&'static str),
    /// Rejected: the reason, and the alternative.
    Refused(&'static str, &'static str),
}

/// One command-line option.
#[derive(Clone, Copy)]
pub(crate) struct CliOpt {
    /// Name without dashes.
    pub name: &'static str,
    /// Whether it takes a value.
    pub takes: CliArity,
    /// One-line description.
    pub help: &'static str,
    /// Effect of the option.
    pub does: CliEffect,
}

const fn set(name: &'static str, takes: CliArity, help: &'static str, setter: CliSetter) -> CliOpt {
    CliOpt {
        name,
        takes,
        help,
        does: CliEffect::Set(setter),
    }
}

const fn refused(
    name: &'static str,
    takes: CliArity,
    help: &'static str,
    why: &'static str,
    use_: &'static str,
) -> CliOpt {
    CliOpt {
        name,
        takes,
        help,
        does: CliEffect::Refused(why, use_),
    }
}

const fn accepted(
    name: &'static str,
    takes: CliArity,
    help: &'static str,
    why: &'static str,
) -> CliOpt {
    CliOpt {
        name,
        takes,
        help,
        does: CliEffect::Accepted(why),
    }
}

use CliArity::{Nothing, Perhaps, Value};

/// Error prefix for a valid time that is too short.
pub(crate) const TOO_SHORT: &str = "it is too short";

/// Minimum times of `eta-newline` and `status-interval`.
const NEWLINE_MS: u64 = 1;
const STATUS_MS: u64 = 1;

const NO_SERVER: &str = "client/server mode is not supported";
const FLEET: &str = "run fio on that host, for example with ssh, and read its JSON";

/// All command-line options, in the order of the help.
pub(crate) const TABLE: &[CliOpt] = &[
    set(
        "output",
        Value("file"),
        "Write the result to a file",
        |to, text| {
            to.settings.output = Some(PathBuf::from(text.unwrap_or_default()));
            Ok(())
        },
    ),
    set(
        "output-format",
        Value("type"),
        "Output format: normal, terse, json, json+, or several separated by commas",
        formats,
    ),
    set("minimal", Nothing, "Terse output", |to, _| {
        to.settings.formats = vec![OutputFormat::Terse];
        Ok(())
    }),
    set(
        "append-terse",
        Nothing,
        "Append terse output to the result",
        |to, _| {
            add(&mut to.settings.formats, OutputFormat::Terse);
            Ok(())
        },
    ),
    set(
        "terse-version",
        Value("n"),
        "Version of the terse output: 2, 3 (default), 4 or 5",
        |to, text| {
            to.settings.terse_version = match text.unwrap_or_default().trim() {
                "2" => 2,
                "3" => 3,
                "4" => 4,
                "5" => 5,
                _ => return Err("expected version 2, 3, 4 or 5".to_owned()),
            };
            Ok(())
        },
    ),
    set(
        "bandwidth-log",
        Nothing,
        "Write aggregate throughput logs: agg-read_bw.log and so on",
        |to, _| {
            to.settings.bandwidth_log = true;
            Ok(())
        },
    ),
    set(
        "eta",
        Value("when"),
        "Show progress: always, never or auto",
        |to, text| {
            to.settings.eta = match text.unwrap_or_default() {
                "always" => EtaMode::Always,
                "never" => EtaMode::Never,
                "auto" => EtaMode::Auto,
                other => {
                    to.warnings.push(format!(
                        "--eta={other} is not one of always, never and auto: using \
                    auto, as fio does"
                    ));
                    EtaMode::Auto
                }
            };
            Ok(())
        },
    ),
    set(
        "eta-interval",
        Value("time"),
        "Interval between progress updates, at least 250ms",
        |to, text| {
            to.settings.eta_interval_ms = interval(to, text, 250)?;
            Ok(())
        },
    ),
    set(
        "eta-newline",
        Value("time"),
        "Interval between new progress lines",
        |to, text| {
            to.settings.eta_newline_ms = Some(interval(to, text, NEWLINE_MS)?);
            Ok(())
        },
    ),
    set(
        "status-interval",
        Value("time"),
        "Interval between status reports",
        |to, text| {
            to.settings.status_interval_ms = Some(interval(to, text, STATUS_MS)?);
            Ok(())
        },
    ),
    set(
        "section",
        Value("name"),
        "Run only this section of the job files (repeatable)",
        |to, text| {
            to.requests
                .sections
                .push(text.unwrap_or_default().to_owned());
            Ok(())
        },
    ),
    set(
        "readonly",
        Nothing,
        "Reject jobs that write or trim",
        |to, _| {
            to.settings.read_only = true;
            Ok(())
        },
    ),
    set(
        "max-jobs",
        Value("n"),
        "Maximum number of jobs [default: 4096]",
        |to, text| {
            to.requests.max_jobs =
                Some(to.reading.size(text.unwrap_or_default())?).filter(|n| *n > 0);
            Ok(())
        },
    ),
    set(
        "parse-only",
        Nothing,
        "Parse the jobs without running them",
        |to, _| {
            to.requests.parse_only = true;
            Ok(())
        },
    ),
    set(
        "showcmd",
        Nothing,
        "Print job files as command lines",
        |to, _| {
            to.requests.show_command = true;
            Ok(())
        },
    ),
    set(
        "warnings-fatal",
        Nothing,
        "Treat warnings as errors",
        |to, _| {
            to.requests.warnings_fatal = true;
            Ok(())
        },
    ),
    set(
        "cmdhelp",
        Perhaps("option"),
        "Explain a job option, or list them all",
        |to, text| {
            to.requests.page = Some(InfoText::Command(text.map(str::to_owned)));
            Ok(())
        },
    ),
    set(
        "enghelp",
        Perhaps("engine[,option]"),
        "Explain an engine or its option, or list the engines",
        |to, text| {
            to.requests.page = Some(InfoText::Engine(text.map(str::to_owned)));
            Ok(())
        },
    ),
    set("version", Nothing, "Print the version", |to, _| {
        to.requests.page = Some(InfoText::Version);
        Ok(())
    }),
    set("help", Nothing, "Print this help", |to, _| {
        to.requests.page = Some(InfoText::Help);
        Ok(())
    }),
    set(
        "idle-prof",
        Value("what"),
        "Report CPU idleness: system, percpu, or only calibrate",
        |to, text| {
            to.settings.idle_prof = match text.unwrap_or_default() {
                "system" => Some(IdleProf::System),
                "percpu" => Some(IdleProf::PerCpu),
                "calibrate" => Some(IdleProf::Calibrate),
                _ => return Err("expected system, percpu or calibrate".to_owned()),
            };
            Ok(())
        },
    ),
    set(
        "aux-path",
        Value("path"),
        "Directory for auxiliary files",
        |to, text| {
            to.settings.aux_path = Some(PathBuf::from(text.unwrap_or_default()));
            Ok(())
        },
    ),
    accepted(
        "alloc-size",
        Value("kb"),
        "Size of the shared memory pool",
        "there is no pool: memory is allocated as needed",
    ),
    CliOpt {
        name: "debug",
        takes: Value("types"),
        help: "Print debug output",
        does: CliEffect::Warns(|to, text| {
            match text.unwrap_or_default() {
                "help" => to.requests.page = Some(InfoText::DebugTypes),
                types => to.warnings.push(format!(
                    "--debug={types} is not supported: no debug output is printed"
                )),
            }
            Ok(())
        }),
    },
    refused(
        "latency-log",
        Value("file"),
        "Write a latency log",
        "replaced by job options, as in fio",
        "use the job option write_lat_log",
    ),
    refused(
        "client",
        Value("host"),
        "Run jobs on another host",
        NO_SERVER,
        FLEET,
    ),
    refused(
        "server",
        Perhaps("args"),
        "Run as a server",
        NO_SERVER,
        FLEET,
    ),
    refused(
        "daemonize",
        Value("pidfile"),
        "Run the server in the background",
        NO_SERVER,
        FLEET,
    ),
    refused(
        "remote-config",
        Value("file"),
        "Job file on the remote host",
        NO_SERVER,
        FLEET,
    ),
    set(
        "trigger-file",
        Value("file"),
        "Run the trigger and end all jobs when this file exists",
        |to, text| {
            to.settings.trigger.file = Some(PathBuf::from(text.unwrap_or_default()));
            Ok(())
        },
    ),
    set(
        "trigger-timeout",
        Value("time"),
        "Run the trigger and end all jobs after this time",
        |to, text| {
            let time = to
                .reading
                .time(text.unwrap_or_default(), TimeUnit::Seconds)?;
            to.settings.trigger.timeout = Some(time).filter(|time| time.0 > 0);
            Ok(())
        },
    ),
    set("trigger", Value("cmd"), "Trigger command", |to, text| {
        to.settings.trigger.command = text.map(str::to_owned);
        Ok(())
    }),
    accepted(
        "trigger-remote",
        Value("cmd"),
        "Trigger command on the remote host",
        "remote hosts are not supported",
    ),
    refused(
        "inflate-log",
        Value("log"),
        "Print a compressed log",
        "logs are not compressed",
        "read the log directly",
    ),
    refused(
        "merge-blktrace-only",
        Nothing,
        "Merge traces and exit",
        "merging blktrace files is not supported",
        "merge them with blkparse",
    ),
    set(
        "cpuclock-test",
        Nothing,
        "Test the CPU clocks for consistency",
        |to, _| {
            to.requests.page = Some(InfoText::Clock);
            Ok(())
        },
    ),
    set(
        "crctest",
        Perhaps("type"),
        "Test the speed of checksums: all, or a comma-separated list",
        |to, text| {
            to.requests.page = Some(InfoText::Checksums(text.map(str::to_owned)));
            Ok(())
        },
    ),
    refused(
        "memcpytest",
        Perhaps("type"),
        "Test memory speed",
        "memory tests are not supported",
        "use a memory benchmark",
    ),
    refused(
        "dedupe-size-test",
        Nothing,
        "Test dedupe buffers",
        "dedupe tests are not supported",
        "omit it",
    ),
];

/// Options with a one-letter form, found by running fio 3.33.
const LETTERS: &[(char, &str)] = &[
    ('o', "output"),
    ('F', "output-format"),
    ('m', "minimal"),
    ('V', "terse-version"),
    ('l', "latency-log"),
    ('b', "bandwidth-log"),
    ('e', "eta"),
    ('O', "eta-interval"),
    ('E', "eta-newline"),
    ('L', "status-interval"),
    ('x', "section"),
    ('r', "readonly"),
    ('j', "max-jobs"),
    ('P', "parse-only"),
    ('s', "showcmd"),
    ('w', "warnings-fatal"),
    ('c', "cmdhelp"),
    ('i', "enghelp"),
    ('v', "version"),
    ('h', "help"),
    ('I', "idle-prof"),
    ('K', "aux-path"),
    ('a', "alloc-size"),
    ('d', "debug"),
    ('C', "client"),
    ('S', "server"),
    ('D', "daemonize"),
    ('R', "remote-config"),
    ('W', "trigger-file"),
    ('B', "trigger-timeout"),
    ('H', "trigger"),
    ('J', "trigger-remote"),
    ('X', "inflate-log"),
    ('A', "merge-blktrace-only"),
    ('T', "cpuclock-test"),
    ('G', "crctest"),
    ('M', "memcpytest"),
];

/// Returns the option with this one-letter form.
pub(crate) fn of_letter(letter: char) -> Option<&'static CliOpt> {
    let (_, name) = LETTERS.iter().find(|(known, _)| *known == letter)?;
    TABLE.iter().find(|opt| opt.name == *name)
}

/// Returns the one-letter form of an option.
pub(crate) fn letter_of(name: &str) -> Option<char> {
    LETTERS
        .iter()
        .find(|(_, known)| *known == name)
        .map(|(letter, _)| *letter)
}

/// Parses a time in ms (seconds without a unit), with a minimum.
fn interval(to: &CliState<'_>, text: Option<&str>, least_ms: u64) -> Result<u64, String> {
    let time = to
        .reading
        .time(text.unwrap_or_default(), TimeUnit::Seconds)?
        .as_millis();
    if time < least_ms {
        return Err(format!("{TOO_SHORT}: the minimum is {least_ms} ms"));
    }
    Ok(time)
}

fn add(formats: &mut Vec<OutputFormat>, format: OutputFormat) {
    if !formats.contains(&format) {
        formats.push(format);
    }
    if formats.contains(&OutputFormat::JsonPlus) {
        formats.retain(|format| *format != OutputFormat::Json);
    }
    // fio prints multiple formats in this order, regardless of the order given.
    formats.sort_by_key(|format| match format {
        OutputFormat::Terse => 0,
        OutputFormat::Json => 1,
        OutputFormat::JsonPlus => 2,
        OutputFormat::Normal => 3,
    });
}

fn formats(to: &mut CliState<'_>, text: Option<&str>) -> Result<(), String> {
    let mut formats = Vec::new();
    for word in text
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
    {
        let format = match word {
            "normal" => OutputFormat::Normal,
            "json" => OutputFormat::Json,
            "json+" => OutputFormat::JsonPlus,
            "terse" | "minimal" => OutputFormat::Terse,
            other => {
                return Err(format!(
                    "`{other}` is not one of normal, terse, json and json+"
                ));
            }
        };
        add(&mut formats, format);
    }
    if formats.is_empty() {
        return Err("expected one of normal, terse, json and json+".to_owned());
    }
    to.settings.formats = formats;
    Ok(())
}
