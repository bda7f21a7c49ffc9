//! Sentences about campaigns: weaknesses of the design, preparation steps.

use super::*;
use hakaru_model::campaign::{Circumstance, FillContent, StepKind, Weakness};

/// The number of a variant; a new variant does not compile until it is listed here.
fn number_of_weakness(weakness: &Weakness) -> usize {
    match weakness {
        Weakness::Unfinished { .. } => 0,
        Weakness::FewRepeats { .. } => 1,
        Weakness::OneSpecimen => 2,
        Weakness::Blocked => 3,
        Weakness::CardsInSequence => 4,
        Weakness::Drifted { .. } => 5,
        Weakness::DriftUndecided { .. } => 6,
        Weakness::Unprepared => 7,
        Weakness::Changed { .. } => 8,
        Weakness::MeansOnly { .. } => 9,
        Weakness::OptionalStopping { .. } => 10,
        Weakness::DifferentSettings { .. } => 11,
        Weakness::Spans { .. } => 12,
    }
}

fn some_weaknesses() -> Vec<(Weakness, &'static str)> {
    let s = str::to_owned;
    vec![
        (
            Weakness::Unfinished {
                runs: 60,
                planned: 64,
            },
            "60 of 64 planned runs done: the ranking may still change",
        ),
        (
            Weakness::FewRepeats {
                points: 2,
                of: 9,
                wanted: 5,
            },
            "2 of 9 test points have fewer than 5 runs: their variation is poorly known",
        ),
        (
            Weakness::OptionalStopping { coverage: Some(91) },
            "Repeats stopped once the means were known, which favors samples that happen to be narrow: with runs that \
             scatter as these do, 95% intervals cover the true mean in 91% of campaigns (simulated)",
        ),
        (
            Weakness::OptionalStopping { coverage: None },
            "Repeats stopped once the means were known, which favors samples that happen to be narrow: 95% intervals of \
             normally distributed runs then cover the true mean in 90% to 95% of campaigns; too few runs here show how \
             these scatter",
        ),
        (
            Weakness::OneSpecimen,
            "One card of each model: variation between cards of a model is unknown",
        ),
        (
            Weakness::Blocked,
            "Repeats ran back to back: drift is confounded with differences between workloads and layers; set \
             order = \"shuffled\" in the campaign file",
        ),
        (
            Weakness::CardsInSequence,
            "Cards ran one after another: drift of the host is confounded with differences between cards; use card-order \
             = \"interleaved\", \"abba\" or \"shuffled\" where all cards can be present together, else recheck = true",
        ),
        (
            Weakness::Drifted {
                card: s("a"),
                layer: s("raw"),
                phases: vec![s("seq-write 0.97×")],
            },
            "Drift of the host or card is confounded with differences between cards: a through raw changed between its \
             measurement and its recheck (seq-write 0.97×)",
        ),
        (
            Weakness::DriftUndecided {
                card: s("a"),
                layer: s("raw"),
                undecided: 1,
                of: 4,
            },
            "Drift is not ruled out: the recheck of a through raw is inconclusive in 1 of 4 figures; use more repeats",
        ),
    ]
}

fn more_weaknesses() -> Vec<(Weakness, &'static str)> {
    let changed = |what| Weakness::Changed {
        what,
        values: ["6.12", "6.13"].map(str::to_owned).to_vec(),
    };
    let card = "a".to_owned();
    vec![
        (
            Weakness::Spans {
                layers: vec![
                    ("raw".into(), Bytes(16 << 30)),
                    ("vfat".into(), Bytes(4 << 30)),
                ],
            },
            "Random I/O is spread over 16 GiB on the raw device and 4 GiB on vfat: cards can be faster in a smaller span, so \
             vfat may cost more than shown, and an apparent gain may come from the span",
        ),
        (
            Weakness::Unprepared,
            "No preparation is recorded: results depend on what was written to each card before",
        ),
        (
            changed(Circumstance::Kernel),
            "The kernel differed between test points: 6.12; 6.13",
        ),
        (
            changed(Circumstance::Host),
            "The host differed between test points: 6.12; 6.13",
        ),
        (
            changed(Circumstance::Board),
            "The board differed between test points: 6.12; 6.13",
        ),
        (
            changed(Circumstance::Governor),
            "The CPU governor differed between test points: 6.12; 6.13",
        ),
        (
            changed(Circumstance::Version),
            "The version of hakaru differed between test points: 6.12; 6.13",
        ),
        (
            changed(Circumstance::Device { card }),
            "The device measured as a differed between test points: 6.12; 6.13",
        ),
        (
            Weakness::MeansOnly { points: 3, of: 9 },
            "3 of 9 test points are published means: no percentiles, no single runs",
        ),
        (
            Weakness::DifferentSettings {
                phases: vec!["seq-read".to_owned(), "mixed".to_owned()],
            },
            "Cards were measured with different settings (Sequential reads, Mixed): their order may be that of the settings",
        ),
    ]
}

#[test]
fn every_weakness_of_a_campaign_has_its_sentence() {
    let all = [some_weaknesses(), more_weaknesses()].concat();
    let numbers: BTreeSet<usize> = all.iter().map(|(one, _)| number_of_weakness(one)).collect();
    assert_eq!(numbers, (0..13).collect());
    for (weakness, wanted) in all {
        assert_eq!(in_both(&[], || text::weakness(&weakness)), wanted);
        check(wanted);
        begins_with_a_capital(wanted);
    }
}

fn number_of_step(step: &StepKind) -> usize {
    match step {
        StepKind::Filled { .. } => 0,
        StepKind::Discarded { .. } => 1,
        StepKind::Verified => 2,
        StepKind::Partitioned => 3,
        StepKind::Formatted { .. } => 4,
        StepKind::Mounted { .. } => 5,
        StepKind::DirectoryCreated { .. } => 6,
        StepKind::SpaceFilled { .. } => 7,
        StepKind::CachesDropped => 8,
        StepKind::Described { .. } => 9,
        StepKind::ImageWritten { .. } => 10,
    }
}

#[test]
fn every_preparation_step_has_its_phrase() {
    let s = str::to_owned;
    let filled = |with| StepKind::Filled { with };
    let all = [
        (filled(FillContent::Ones), "filled with 0xff"),
        (filled(FillContent::Zeroes), "filled with 0x00"),
        (filled(FillContent::Random), "filled with random data"),
        (StepKind::Discarded { secure: false }, "discarded (TRIM)"),
        (StepKind::Discarded { secure: true }, "discarded securely"),
        (StepKind::Verified, "verified"),
        (
            StepKind::ImageWritten {
                image: s("pi.img"),
                size: Bytes(2 << 30),
            },
            "image pi.img (2 GiB) written and verified",
        ),
        (StepKind::Partitioned, "partition table written"),
        (
            StepKind::Formatted {
                command: vec![s("mkfs.vfat"), s("/dev/sdX")],
            },
            "mkfs.vfat /dev/sdX",
        ),
        (
            StepKind::Mounted {
                fs_type: s("ext4"),
                options: s("noatime"),
            },
            "mounted as ext4 with noatime",
        ),
        (
            StepKind::Mounted {
                fs_type: s("vfat"),
                options: s(""),
            },
            "mounted as vfat",
        ),
        (
            StepKind::DirectoryCreated { path: s("/run/x") },
            "directory /run/x created",
        ),
        (
            StepKind::SpaceFilled { size: GIB },
            "1 GiB of the file system filled with random data",
        ),
        (StepKind::CachesDropped, "page cache dropped"),
        (
            StepKind::Described {
                what: s("as it was"),
            },
            "as it was",
        ),
    ];
    let numbers: BTreeSet<usize> = all.iter().map(|(one, _)| number_of_step(one)).collect();
    assert_eq!(numbers, (0..11).collect());
    for (step, wanted) in all {
        assert_eq!(in_both(&[], || text::step(&step)), wanted);
        check(wanted);
    }
}
