//! `cargo xtask rig`: tests on simulated cards, in machines whose own MMC stack accesses them.
//!
//! `hakaru-rig` provides guests and cards; this module contains the checks.

mod amplification;
mod anatomy;
mod areas;
mod articles;
mod campaign;
mod cards;
mod checks;
mod fat;
mod faults;
mod figures;
mod fleet;
mod full;
mod guarding;
mod host;
mod identity;
mod jobs;
mod layers;
mod machine;
mod pi;
mod product;
mod questions;
mod ranges;
mod returned;
mod setup;
mod shell;
mod smoke;
mod speed;
mod trace;
mod traced;
mod zoned;

pub(crate) use smoke::step;

use anyhow::{Result, bail};

/// A part of the command: name, description and function.
type Part = (&'static str, &'static str, fn(&[String]) -> Result<()>);

const PARTS: &[Part] = &[
    (
        "setup",
        "download kernel and busybox (once; `setup pi` for the Raspberry Pi)",
        setup::main,
    ),
    (
        "smoke",
        "one card, the four workloads on every layer; three minutes",
        smoke::main,
    ),
    (
        "test",
        "everything: bus, guard, fake cards, pulled cards, power cuts, three cards; ten minutes",
        full::main,
    ),
    (
        "pi",
        "the program as built for a Raspberry Pi, on an emulated one",
        pi::main,
    ),
    (
        "fleet",
        "article E on two emulated Raspberry Pis over a network, one loses its power; ten minutes",
        fleet::main,
    ),
    (
        "articles",
        "published commands exactly as printed, on three cards; a quarter of an hour",
        articles::main,
    ),
    (
        "campaign",
        "a campaign killed twice and resumed; half an hour, less with --repeat N",
        campaign::main,
    ),
    (
        "trace",
        "traced runs against the log of the card; six minutes",
        trace::part,
    ),
    (
        "questions",
        "why FAT32 costs what it costs, and three more questions, answered by traced runs; ten minutes",
        questions::main,
    ),
    (
        "anatomy",
        "anatomies of ten random cards through the MMC stack, compared with the truth; an hour and a half",
        anatomy::main,
    ),
    (
        "run",
        "run a script for sh in a machine with one card",
        shell::main,
    ),
];

/// Runs one part.
///
/// # Errors
/// If it fails or is unknown.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let name = args.first().map_or("", String::as_str);
    let Some((_, _, part)) = PARTS.iter().find(|(known, ..)| *known == name) else {
        for (name, about, _) in PARTS {
            eprintln!("cargo xtask rig {name:<8} {about}");
        }
        bail!("there is no part {name:?} of the rig");
    };
    part(&args[1..])
}
