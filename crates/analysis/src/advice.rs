//! Suitability of storage for typical uses: a table of rules applied to the figures of a summary.
//!
//! Each rule lists figures with two thresholds: `fits` means good, `care` means with care. The
//! worst figure decides. The rules follow experiments with single-board computers: sequential speed
//! and random reads determine how a system feels, the tail of `fsync` matters for databases, random
//! and sustained speed for containers, sequential and sustained speed for archives; sensors need
//! little. The thresholds are judgments: users can replace a rule by its ID.

use crate::figures::{figure, is_brief, is_of_mix, slowest_by_extremes};
use hakaru_model::advice::{Advice, Criterion, Decision, Fitness, UseRule};
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
    rules.iter().map(|rule| advise_one(summary, rule)).collect()
}

fn advise_one(summary: &Summary, rule: &UseRule) -> Advice {
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
    Advice {
        id: rule.id.clone(),
        title: rule.title.clone(),
        fitness,
        decided_by,
        not_measured,
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
mod tests {
    use super::*;
    use crate::testing::suite;
    use hakaru_model::advice::AdviceVerdict;
    use hakaru_model::finding::PhaseSummary;
    use hakaru_model::units::{BytesPerSec, Nanos};

    fn fitness_of(advice: &[Advice], id: &str) -> Option<Fitness> {
        advice.iter().find(|a| a.id == id).unwrap().fitness
    }

    #[test]
    fn marks_of_the_table_are_in_order() {
        for rule in default_rules() {
            for c in &rule.criteria {
                assert_eq!(
                    c.fits > c.care,
                    c.figure.more_is_better(),
                    "{} {:?}",
                    rule.id,
                    c.figure
                );
                assert!(!c.why.is_empty());
            }
        }
        assert_eq!(default_rules().len(), 7);
    }

    #[test]
    fn what_was_not_measured_is_not_vouched_for() {
        let mut summary = suite(5);
        summary.phases.retain(|phase| phase.sync.is_none());
        let database =
            |summary: &Summary| fitness_of(&advise(summary, &default_rules()), "database");
        assert_eq!(
            database(&summary),
            None,
            "random speed alone does not make a database"
        );
        for phase in &mut summary.phases {
            phase.iops.mean /= 1000.0;
        }
        assert_eq!(database(&summary), Some(Fitness::DoesNot));
    }

    /// Regression: the reads of a mix, 23.8 MB/s beside as many writes, were judged as sequential reads of 23.8 MB/s.
    #[test]
    fn a_part_of_a_mix_can_only_reach_a_limit() {
        let nas_with_reads = |rate: f64| {
            let mut summary = suite(5);
            let reads = |phase: &&mut PhaseSummary| phase.phase == "seq-read";
            for phase in summary.phases.iter_mut().filter(reads) {
                phase.detail.shape.as_mut().unwrap().read_percent = 50;
                let scale = rate / phase.bandwidth.mean;
                phase.bandwidth.mean = rate;
                phase.bandwidth.ci95 = phase.bandwidth.ci95.map(|(a, b)| (a * scale, b * scale));
            }
            let advice = advise(&summary, &default_rules());
            advice.into_iter().find(|a| a.id == "nas").unwrap()
        };
        let is_read = |criterion: &Criterion| criterion.figure == Figure::SequentialRead;
        let slow = nas_with_reads(10e6);
        assert!(slow.not_measured.iter().any(is_read), "{slow:?}");
        assert_ne!(slow.fitness, Some(Fitness::DoesNot));
        let fast = nas_with_reads(500e6);
        assert!(fast.not_measured.is_empty(), "{fast:?}");
        // Regression: 0.7 s of a mix made a disk good for an archive.
        let mut brief = suite(5);
        for phase in brief
            .phases
            .iter_mut()
            .filter(|phase| phase.phase == "seq-read")
        {
            phase.detail.shape.as_mut().unwrap().read_percent = 50;
            phase.bandwidth.mean = 500e6;
            phase.detail.measured = Nanos(700_000_000);
        }
        let advice = advise(&brief, &default_rules());
        let nas = advice.iter().find(|a| a.id == "nas").unwrap();
        assert!(nas.not_measured.iter().any(is_read), "{nas:?}");
    }

    #[test]
    fn a_card_of_class_a1_boots_and_does_not_serve_an_archive_in_full() {
        // 30/40 MB/s, 600/2000 IOPS, fsync 8 ms, 28 MB/s sustained.
        let advice = advise(&suite(5), &default_rules());
        assert_eq!(fitness_of(&advice, "os"), Some(Fitness::Fits));
        assert_eq!(fitness_of(&advice, "database"), Some(Fitness::Fits));
        assert_eq!(fitness_of(&advice, "docker"), Some(Fitness::WithCare));
        assert_eq!(fitness_of(&advice, "nas"), Some(Fitness::WithCare));
        assert_eq!(fitness_of(&advice, "sensors"), Some(Fitness::Fits));
        assert_eq!(fitness_of(&advice, "camera"), Some(Fitness::WithCare));
        let docker = advice.iter().find(|a| a.id == "docker").unwrap();
        assert_eq!(docker.decided_by[0].criterion.figure, Figure::RandomWrite);
        assert_eq!(
            (docker.decided_by[0].better_from, docker.decided_by[0].firm),
            (Some(1_000.0), true)
        );
        let nas = advice.iter().find(|a| a.id == "nas").unwrap();
        assert_eq!(nas.decided_by[0].criterion.figure, Figure::SequentialWrite);
    }

    /// Regression: fio printed 6.29 MB/s for the slowest interval, and the disk was "good so far" for a camera.
    #[test]
    fn extremes_of_intervals_limit_the_slowest_second() {
        let camera_with = |min: f64, max: f64| {
            let mut summary = suite(5);
            for phase in &mut summary.phases {
                phase.timelines.clear();
                if let Some(found) = &mut phase.sustained {
                    (found.min, found.max) = (BytesPerSec(min * 1e6), BytesPerSec(max * 1e6));
                    found.falls.clear();
                    phase.bandwidth.mean = 200e6;
                    phase.bandwidth.ci95 = None;
                }
            }
            let advice = advise(&summary, &default_rules());
            advice.into_iter().find(|a| a.id == "camera").unwrap()
        };
        let steady = camera_with(60.0, 70.0);
        assert_eq!(steady.verdict(), AdviceVerdict::Probable(Fitness::Fits));
        let open = camera_with(6.29, 340.0);
        assert_eq!(open.verdict(), AdviceVerdict::Inconclusive);
        assert_eq!(open.decided_by[0].crossed_limit(), Some(10.0));
        let slow = camera_with(1.0, 9.0);
        assert_eq!(slow.verdict(), AdviceVerdict::Probable(Fitness::DoesNot));
    }

    #[test]
    fn what_was_not_measured_is_named() {
        let mut summary = suite(5);
        summary.phases.retain(|p| p.phase == "seq-read");
        let advice = advise(&summary, &default_rules());
        assert_eq!(fitness_of(&advice, "database"), None);
        let os = advice.iter().find(|a| a.id == "os").unwrap();
        assert_eq!(
            (os.fitness, os.decided_by.len(), os.not_measured.len()),
            (None, 1, 3)
        );
    }

    #[test]
    fn users_replace_rules_by_id_and_add_their_own() {
        let own = |id: &str| UseRule {
            id: id.into(),
            title: "mine".into(),
            criteria: vec![Criterion {
                figure: Figure::SequentialRead,
                fits: 41.0,
                care: 39.0,
                why: "because".into(),
            }],
        };
        let rules = rules_with(&[own("nas"), own("tape")]);
        assert_eq!(rules.len(), 8);
        let advice = advise(&suite(5), &rules);
        assert_eq!(fitness_of(&advice, "nas"), Some(Fitness::WithCare));
        assert_eq!(fitness_of(&advice, "tape"), Some(Fitness::WithCare));
        assert_eq!(advice[3].title, "mine");
    }

    #[test]
    fn a_verdict_within_the_interval_of_its_mark_is_not_firm() {
        let criterion = Criterion {
            figure: Figure::RandomWrite,
            fits: 500.0,
            care: 100.0,
            why: String::new(),
        };
        let measured = |ci95| MeasuredFigure {
            phase: "x".into(),
            value: 505.0,
            ci95,
            bounds: None,
            stalls: None,
            runs: 3,
        };
        assert!(!decide(&criterion, measured(Some((480.0, 530.0)))).firm);
        assert!(decide(&criterion, measured(Some((501.0, 509.0)))).firm);
        assert!(!decide(&criterion, measured(None)).firm);
    }
}
