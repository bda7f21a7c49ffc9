//! Everything that is said of options: `-h`, the manual page, and the page that lists which options of iozone are known.

use super::VERSION;
use super::options::{IozoneOption, IozoneOptionState, OptionArity, SECTIONS, all};
use std::fmt::Write as _;

/// The text of `-v`.
pub(super) fn version() -> String {
    super::output::title(env!("CARGO_PKG_VERSION"))
}

/// The text of `-h`.
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

/// The first words of what a value is, for a narrow column.
fn short(what: &str) -> &str {
    what.split(',').next().unwrap_or(what)
}

/// A state in a word, and what else there is to say.
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

/// The part of the page of compatibility that lists which options of iozone are known, in Markdown.
pub fn compatibility_markdown() -> String {
    let mut text = format!(
        "# Which options of iozone are known\n\n\
         As `hakaru iozone`, or by a link named `iozone`, in the form of version {VERSION}. This part is generated from \
         the option table. A known option is never ignored in silence:\n\n\
         - **works**: does what it does in iozone.\n\
         - **accepted**: has no effect, and a warning on standard error says why.\n\
         - **refused**: an error that says why, and what to use instead.\n\n\
         Where it differs from iozone: what is written does not compress; random tests come to each record once a \
         pass; a child that was ended by another completes its new file unmeasured; the parent's time goes from the \
         first start to the last end; a row of `-i 4` needs `-i 0` before it, and neither 4 nor retests of 9 to 12 \
         run with children. With `HAKARU_STORE=1` in the environment a run is kept like any other of hakaru.\n\n",
    );
    let count = |wanted: &str| all().filter(|opt| told(opt.state).0 == wanted).count();
    let counts: Vec<String> = ["works", "accepted", "refused"]
        .iter()
        .map(|state| format!("{} {state}", count(state)))
        .collect();
    let _ = writeln!(text, "{} options: {}.", all().count(), counts.join(", "));
    for (title, rows) in SECTIONS {
        let _ = writeln!(
            text,
            "\n## {title}\n\n| Option | State | What it is for |\n| --- | --- | --- |"
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

/// The manual page of the iozone front end, as the source that `man` reads.
pub fn man_page() -> String {
    let roff = |text: &str| text.replace('\\', "\\e").replace('-', "\\-");
    let mut text = format!(
        ".TH IOZONE 1 \"\" \"hakaru\" \"{VERSION}\"\n.SH NAME\niozone \\- measure a file system, by the command line of \
         iozone\n.SH SYNOPSIS\n.B iozone\n[\\fIoptions\\fR]\n.SH DESCRIPTION\nThe front end of hakaru that takes the \
         command lines of iozone, and prints results as iozone prints them.\n",
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
