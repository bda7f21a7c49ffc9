//! Help texts generated from the option table: `-h`, the manual page, and the page of supported options.

use super::VERSION;
use super::options::{IozoneOption, IozoneOptionState, OptionArity, SECTIONS, all};
use crate::markup::{capital, roff};
use std::fmt::Write as _;

/// Name and version at the top of every output.
pub(super) fn title(hakaru: &str) -> String {
    let bits = usize::BITS;
    format!(
        "\tIozone: Performance Test of File I/O\n\t        Version $Revision: {VERSION} $\n\
         \t\tCompiled for {bits} bit mode.\n\t\tBuild: linux hakaru {hakaru} \n\n"
    )
}

/// Output of `-v`.
pub(super) fn version() -> String {
    title(env!("CARGO_PKG_VERSION"))
}

/// Output of `-h`.
pub fn usage() -> String {
    let mut text = String::from(
        "Usage: iozone -a [options]                 a table over sizes of files and records\n       \
         iozone -s SIZE -r RECORD -i 0 [options]  one row of it\n       \
         iozone -t CHILDREN [options]             several children at the same time\n",
    );
    for (title, known) in sections_that_work() {
        let _ = writeln!(text, "\n{title}:");
        for opt in known {
            let _ = writeln!(text, "  {:<24}{}", typed(opt), opt.help);
        }
    }
    text
}

/// The sections with their options that are not refused; sections without such options are left out.
fn sections_that_work() -> impl Iterator<Item = (&'static str, Vec<&'static IozoneOption>)> {
    let works = |opt: &&IozoneOption| !matches!(opt.state, IozoneOptionState::Refused { .. });
    SECTIONS
        .iter()
        .map(move |(title, rows)| (*title, rows.iter().filter(works).collect::<Vec<_>>()))
        .filter(|(_, known)| !known.is_empty())
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
fn state_word(state: IozoneOptionState) -> (&'static str, String) {
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

/// The section of the compatibility page that lists the known iozone options, in Markdown.
pub fn compatibility_markdown() -> String {
    let mut text = compatibility_head();
    for (title, rows) in SECTIONS {
        let _ = writeln!(
            text,
            "\n## {title}\n\n| Option | State | Purpose |\n| --- | --- | --- |"
        );
        for opt in *rows {
            let (state, note) = state_word(opt.state);
            let (typed, note) = (typed(opt), note.replace('|', "\\|"));
            let _ = writeln!(text, "| `{typed}` | {state} | {}{note} |", opt.help);
        }
    }
    text
}

/// Introduction of the page, with the number of options by state.
fn compatibility_head() -> String {
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
         - `hakaru iozone` typed on a terminal is stored like any other run of hakaru; so is a run with `--hakaru-store` or with `HAKARU_STORE=1` in the environment.\n\n",
    );
    let count = |wanted: &str| {
        all()
            .filter(|opt| state_word(opt.state).0 == wanted)
            .count()
    };
    let counts: Vec<String> = ["works", "accepted", "refused"]
        .iter()
        .map(|state| format!("{state}: {}", count(state)))
        .collect();
    let _ = writeln!(text, "{} options ({}).", all().count(), counts.join(", "));
    text
}

/// The manual page of the iozone front end, as roff source.
pub fn man_page() -> String {
    let mut text = format!(
        ".TH HAKARU\\-IOZONE 1 \"\" \"hakaru\" \"{VERSION}\"\n.SH NAME\nhakaru\\-iozone \\- benchmark a file system with \
         the command line of iozone\n.SH SYNOPSIS\n.B hakaru iozone\n[\\fIoptions\\fR]\n.SH DESCRIPTION\nRuns command lines of \
         iozone on the I/O engine of hakaru, and prints results in the format of iozone. \
         A link to hakaru named iozone does the same; hakaru\\-link(1) creates one.\n",
    );
    for (title, known) in sections_that_work() {
        let _ = writeln!(text, ".SH {}", title.to_uppercase());
        for opt in known {
            let (_, note) = state_word(opt.state);
            let note = if note.is_empty() { "." } else { &note };
            let [typed, help, note] = [&typed(opt), opt.help, note].map(roff);
            let _ = writeln!(text, ".TP\n.B {typed}\n{help}{note}");
        }
    }
    text
}
