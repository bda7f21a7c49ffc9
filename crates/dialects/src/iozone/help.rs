//! Help texts generated from the option table: `-h`, the manual page, and the page of supported options.

use super::VERSION;
use super::options::{IozoneOption, IozoneOptionState, OptionArity, SECTIONS, all};
use std::fmt::Write as _;

/// Output of `-v`.
pub(super) fn version() -> String {
    super::output::title(env!("CARGO_PKG_VERSION"))
}

/// Output of `-h`.
pub fn usage() -> String {
    let mut text = String::from(
        "Usage: iozone -a [options]                 a table over sizes of files and records\n       \
         iozone -s SIZE -r RECORD -i 0 [options]  one row of it\n       \
         iozone -t CHILDREN [options]             several children at the same time\n",
    );
    for (title, rows) in SECTIONS {
        let known: Vec<&IozoneOption> = rows
            .iter()
            .filter(|opt| !matches!(opt.state, IozoneOptionState::Refused { .. }))
            .collect();
        if known.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{title}:");
        for opt in known {
            let _ = writeln!(text, "  {:<24}{}", typed(opt), opt.help);
        }
    }
    text
}

fn typed(opt: &IozoneOption) -> String {
    match opt.takes {
        OptionArity::Nothing => format!("-{}", opt.name),
        OptionArity::One(what) => format!("-{} {}", opt.name, short(what)),
        OptionArity::Several(what) => format!("-{} {what}...", opt.name),
    }
}

/// The first words of a value's description, for a narrow column.
fn short(what: &str) -> &str {
    what.split(',').next().unwrap_or(what)
}

/// One word for the state of an option, and the remaining details.
fn told(state: IozoneOptionState) -> (&'static str, String) {
    match state {
        IozoneOptionState::Works => ("works", String::new()),
        IozoneOptionState::Accepted(because) => (
            "accepted",
            format!(". No effect, with a warning: {because}."),
        ),
        IozoneOptionState::Refused { reason, instead } => {
            ("refused", format!(". {}; {instead}.", capital(reason)))
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + chars.as_str()
    })
}

/// The section of the compatibility page that lists the known iozone options, in Markdown.
pub fn compatibility_markdown() -> String {
    let mut text = format!(
        "# iozone options\n\n\
         Options of `hakaru iozone`, or of a link to hakaru named `iozone`, in the format of iozone {VERSION}. This part is \
         generated from the option table. A known option is never silently ignored:\n\n\
         - **works**: does the same as in iozone.\n\
         - **accepted**: has no effect; a warning on standard error says why.\n\
         - **refused**: an error that gives the reason and an alternative.\n\n\
         Differences from iozone:\n\n\
         - Written data does not compress.\n\
         - Random tests visit each record once per pass.\n\
         - A child that another child ended writes the rest of its new file without measuring it.\n\
         - The parent's time is that from the first start to the last end.\n\
         - A row of `-i 4` needs `-i 0` before it. Neither `-i 4` nor the retests of `-i 9` to `-i 12` run with children.\n\
         - With `HAKARU_STORE=1` in the environment, a run is stored like any other run of hakaru.\n\n",
    );
    let count = |wanted: &str| all().filter(|opt| told(opt.state).0 == wanted).count();
    let counts: Vec<String> = ["works", "accepted", "refused"]
        .iter()
        .map(|state| format!("{state}: {}", count(state)))
        .collect();
    let _ = writeln!(text, "{} options ({}).", all().count(), counts.join(", "));
    for (title, rows) in SECTIONS {
        let _ = writeln!(
            text,
            "\n## {title}\n\n| Option | State | Purpose |\n| --- | --- | --- |"
        );
        for opt in *rows {
            let (state, note) = told(opt.state);
            let _ = writeln!(
                text,
                "| `{}` | {state} | {}{} |",
                typed(opt),
                opt.help,
                note.replace('|', "\\|")
            );
        }
    }
    text
}

/// The manual page of the iozone front end, as roff source.
pub fn man_page() -> String {
    let roff = |text: &str| text.replace('\\', "\\e").replace('-', "\\-");
    let mut text = format!(
        ".TH IOZONE 1 \"\" \"hakaru\" \"{VERSION}\"\n.SH NAME\niozone \\- benchmark a file system with the command line of \
         iozone\n.SH SYNOPSIS\n.B iozone\n[\\fIoptions\\fR]\n.SH DESCRIPTION\nRuns command lines of \
         iozone on the I/O engine of hakaru, and prints results in the format of iozone.\n",
    );
    for (title, rows) in SECTIONS {
        let known: Vec<&IozoneOption> = rows
            .iter()
            .filter(|opt| !matches!(opt.state, IozoneOptionState::Refused { .. }))
            .collect();
        if known.is_empty() {
            continue;
        }
        let _ = writeln!(text, ".SH {}", title.to_uppercase());
        for opt in known {
            let (_, note) = told(opt.state);
            let note = if note.is_empty() {
                ".".to_owned()
            } else {
                roff(&note)
            };
            let _ = writeln!(
                text,
                ".TP\n.B {}\n{}{note}",
                roff(&typed(opt)),
                roff(opt.help)
            );
        }
    }
    text
}
