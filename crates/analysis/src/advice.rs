//! Suitability of storage for typical uses: a table of rules applied to the figures of a summary.
//!
//! Each rule lists figures with two thresholds: `fits` means good, `care` means with care. The
//! worst figure decides. The rules follow experiments with single-board computers: sequential speed
//! and random reads determine how a system feels, the tail of `fsync` matters for databases, random
//! and sustained speed for containers, sequential and sustained speed for archives; sensors need
//! little. The thresholds are judgments: users can replace a rule by its ID.

use crate::figures::{figure, is_brief, is_of_mix, slowest_by_extremes};
use hakaru_model::advice::{Advice, Criterion, Decision, Fitness, UseRule};
use hakaru_model::campaign::LayerSummary;
use hakaru_model::finding::{Figure, MeasuredFigure, Summary};

/// One row of the table: figure, `fits`, `care`, reason.
type Requirement = (Figure, f64, f64, &'static str);

/// One use of the table: id, title, rows.
type UseCase = (&'static str, &'static str, &'static [Requirement]);

/// The built-in rules. MB/s, IOPS and ms as in [`Figure::unit`].
const TABLE: &[UseCase] = &[
    (
        "os",
        "OS boot and packages",
        &[
            (
                Figure::RandomRead,
                1_500.0,
                500.0,
                "programs start with many small reads; class A1 requires 1500",
            ),
            (
                Figure::RandomWrite,
                500.0,
                100.0,
                "package managers write many small files; class A1 requires 500",
            ),
            (
                Figure::SequentialRead,
                20.0,
                10.0,
                "kernel and libraries are read in large pieces at boot",
            ),
            (
                Figure::SequentialWrite,
                10.0,
                5.0,
                "unpacking packages; class A1 requires 10 MB/s",
            ),
        ],
    ),
    (
        "database",
        "database and logs",
        &[
            (
                Figure::SyncP99,
                10.0,
                50.0,
                "each commit waits for an fsync; 10 ms is about one rotation of a hard disk",
            ),
            (
                Figure::SyncP999,
                50.0,
                250.0,
                "one commit in a thousand; beyond 250 ms users notice and timeouts come near",
            ),
            (
                Figure::RandomWrite,
                500.0,
                100.0,
                "pages are written back at random offsets",
            ),
            (
                Figure::RandomRead,
                1_500.0,
                500.0,
                "an index is read at random offsets",
            ),
        ],
    ),
    (
        "docker",
        "Docker and web services",
        &[
            (
                Figure::SequentialRead,
                40.0,
                20.0,
                "images are loaded in large pieces",
            ),
            (
                Figure::RandomRead,
                2_000.0,
                1_000.0,
                "several services read small files at the same time",
            ),
            (
                Figure::RandomWrite,
                1_000.0,
                300.0,
                "layers, logs and small databases write at random offsets at the same time",
            ),
            (
                Figure::SustainedWrite,
                20.0,
                10.0,
                "pulling and unpacking images exceeds the cache of a card",
            ),
        ],
    ),
    (
        "nas",
        "NAS and photo archive",
        &[
            (
                Figure::SequentialRead,
                100.0,
                25.0,
                "100 MB/s fill a gigabit network, 25 MB/s are about a raw photo a second",
            ),
            (Figure::SequentialWrite, 100.0, 25.0, "the same for writing"),
            (
                Figure::SustainedWrite,
                60.0,
                20.0,
                "a copy of many gigabytes exceeds the cache of a card",
            ),
        ],
    ),
    (
        "sensors",
        "sensors and small scripts",
        &[
            (
                Figure::RandomWrite,
                20.0,
                5.0,
                "some small records per second",
            ),
            (
                Figure::SyncP99,
                250.0,
                1_000.0,
                "a record should be safe before the next one arrives",
            ),
        ],
    ),
    (
        "camera",
        "camera recording",
        &[
            (
                Figure::SlowestWrite,
                30.0,
                10.0,
                "a slow second loses a second of video: 4K needs class V30, full HD V10",
            ),
            (
                Figure::SustainedWrite,
                30.0,
                10.0,
                "a recording exceeds the cache of a card",
            ),
        ],
    ),
    (
        "games",
        "game and emulator storage",
        &[
            (
                Figure::RandomRead,
                1_500.0,
                500.0,
                "levels are loaded from many small pieces",
            ),
            (
                Figure::SequentialRead,
                40.0,
                20.0,
                "large images are loaded while the player waits",
            ),
            (
                Figure::RandomReadP99,
                5.0,
                20.0,
                "a late read causes a stutter; a frame at 60 Hz lasts 16.7 ms",
            ),
        ],
    ),
];

/// Built-in uses that need a file system with Unix owners, permissions and symbolic links: the root of Linux, and the
/// layers of container images.
const NEED_PERMISSIONS: [&str; 2] = ["os", "docker"];

/// Types of file systems that store neither owners nor permissions. Source: mount(8), options of fat and exfat.
const WITHOUT_PERMISSIONS: [&str; 3] = ["vfat", "msdos", "exfat"];

/// Returns the built-in rules.
pub fn default_rules() -> Vec<UseRule> {
    let criterion = |&(figure, fits, care, why): &Requirement| Criterion {
        figure,
        fits,
        care,
        why: why.to_owned(),
    };
    let rule = |&(id, title, rows): &UseCase| UseRule {
        id: id.to_owned(),
        title: title.to_owned(),
        criteria: rows.iter().map(criterion).collect(),
        needs_permissions: NEED_PERMISSIONS.contains(&id),
    };
    TABLE.iter().map(rule).collect()
}

/// Returns the built-in rules, with those of the user in place of rules with the same ID, and new
/// ones at the end.
pub fn rules_with(own: &[UseRule]) -> Vec<UseRule> {
    let mut rules = default_rules();
    for rule in own {
        match rules.iter_mut().find(|known| known.id == rule.id) {
            Some(known) => *known = rule.clone(),
            None => rules.push(rule.clone()),
        }
    }
    rules
}

/// Evaluates a summary by each rule, in order.
pub fn advise(summary: &Summary, rules: &[UseRule]) -> Vec<Advice> {
    let file_system = summary.target.filesystem.as_ref();
    let file_system = file_system.map_or("", |file_system| &file_system.fs_type);
    advise_on(summary, rules, file_system)
}

/// Evaluates a layer of a campaign by each rule, in order. Published results know the file system by the name of the
/// layer only.
pub fn advise_layer(of: &LayerSummary, rules: &[UseRule]) -> Vec<Advice> {
    let file_system = of.summary.target.filesystem.as_ref();
    let file_system = file_system.map_or(&of.layer, |file_system| &file_system.fs_type);
    advise_on(&of.summary, rules, file_system)
}

fn advise_on(summary: &Summary, rules: &[UseRule], file_system: &str) -> Vec<Advice> {
    let rules = rules.iter();
    rules
        .map(|rule| advise_one(summary, rule, file_system))
        .collect()
}

fn advise_one(summary: &Summary, rule: &UseRule, file_system: &str) -> Advice {
    let mut decided_by = Vec::new();
    let mut not_measured = Vec::new();
    for criterion in &rule.criteria {
        let measured = figure(summary, criterion.figure);
        let by_extremes = || match criterion.figure {
            Figure::SlowestWrite => slowest_by_extremes(summary),
            _ => None,
        };
        match measured.or_else(by_extremes) {
            // Alone, an operation is at least as fast as its part of a mix; of a brief mix, not even that is known.
            Some(measured)
                if is_of_mix(summary, criterion.figure)
                    && (criterion.rate(measured.value) != Fitness::Fits
                        || is_brief(summary, criterion.figure)) =>
            {
                not_measured.push(criterion.clone());
            }
            Some(measured) => decided_by.push(decide(criterion, measured)),
            None => not_measured.push(criterion.clone()),
        }
    }
    // Worst first; among equals the one furthest from its next threshold, because it limits
    // longest.
    decided_by.sort_by(|a, b| {
        a.fitness
            .cmp(&b.fitness)
            .then(shortfall(b).total_cmp(&shortfall(a)))
    });
    // Missing figures could only make the verdict worse, so only "not suitable" is final without
    // them.
    let worst = decided_by.first().map(|worst| worst.fitness);
    let fitness = worst.filter(|&worst| not_measured.is_empty() || worst == Fitness::DoesNot);
    let is_impossible = rule.needs_permissions && WITHOUT_PERMISSIONS.contains(&file_system);
    Advice {
        id: rule.id.clone(),
        title: rule.title.clone(),
        fitness: fitness.filter(|_| !is_impossible),
        decided_by,
        not_measured,
        impossible_on: is_impossible.then(|| file_system.to_owned()),
    }
}

fn decide(criterion: &Criterion, measured: MeasuredFigure) -> Decision {
    let fitness = criterion.rate(measured.value);
    let firm = measured.ci95.is_some_and(|(low, high)| {
        criterion.rate(low) == fitness && criterion.rate(high) == fitness
    });
    let better_from = match fitness {
        Fitness::Fits => None,
        Fitness::WithCare => Some(criterion.fits),
        Fitness::DoesNot => Some(criterion.care),
    };
    Decision {
        criterion: criterion.clone(),
        measured,
        fitness,
        firm,
        better_from,
    }
}

/// Returns the factor by which a figure misses its next threshold; at most 1 if it does not.
fn shortfall(decision: &Decision) -> f64 {
    let mark = decision.better_from.unwrap_or(decision.criterion.fits);
    let value = decision.measured.value;
    let factor = if decision.criterion.figure.more_is_better() {
        mark / value
    } else {
        value / mark
    };
    if factor.is_nan() { 1.0 } else { factor }
}

#[cfg(test)]
mod tests;
