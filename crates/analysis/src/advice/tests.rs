//! Suitability: verdicts of the built-in rules, missing figures, mixes, and file systems that cannot serve a use.

use super::*;
use crate::testing::suite;
use hakaru_model::advice::AdviceVerdict;
use hakaru_model::facts::Filesystem;
use hakaru_model::finding::PhaseSummary;
use hakaru_model::units::{BytesPerSec, Nanos, Quantile};

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
    let database = |summary: &Summary| fitness_of(&advise(summary, &default_rules()), "database");
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

/// Regression: a card through vfat was "best for OS boot", although Linux cannot keep its root on vfat.
#[test]
fn a_file_system_without_permissions_holds_no_root() {
    let through = |fs_type: &str| {
        let mut summary = suite(5);
        summary.target.filesystem = Some(Filesystem {
            fs_type: fs_type.to_owned(),
            ..Filesystem::default()
        });
        advise(&summary, &default_rules())
    };
    let impossible = |advice: &[Advice]| {
        let found = advice.iter().filter(|a| a.impossible_on.is_some());
        found.map(|a| a.id.clone()).collect::<Vec<_>>()
    };
    for fs_type in ["vfat", "exfat"] {
        let advice = through(fs_type);
        assert_eq!(impossible(&advice), ["os", "docker"], "{fs_type}");
        assert_eq!(advice[0].verdict(), AdviceVerdict::NotPossible);
        assert_eq!(advice[0].fitness, None);
    }
    assert_eq!(impossible(&through("ext4")), Vec::<String>::new());
    // A rule of the user says for itself what it needs.
    let mut own = default_rules();
    own[0].needs_permissions = false;
    let mut summary = suite(5);
    summary.target.filesystem = Some(Filesystem {
        fs_type: "vfat".to_owned(),
        ..Filesystem::default()
    });
    assert_eq!(impossible(&advise(&summary, &own)), ["docker"]);
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
        needs_permissions: false,
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

/// The worst rating comes first. Among equal ratings, the first is the one that misses its next threshold by the largest
/// factor, because it limits longest.
#[test]
fn decisions_are_in_order_of_rating_and_shortfall() {
    let mut summary = suite(5);
    for phase in &mut summary.phases {
        if phase.phase == "rand-write" {
            phase.iops.mean = 600.0;
        }
        if let Some(sync) = &mut phase.sync {
            let times = [(Quantile::P99, 9), (Quantile::P999, 20)];
            sync.quantiles = times.map(|(q, ms)| (q, Nanos::from_millis(ms))).to_vec();
        }
    }
    // 600 IOPS, 9 ms and 20 ms against `fits` and `care`; the first of two is the one that should decide.
    let (write, p99, p999) = (Figure::RandomWrite, Figure::SyncP99, Figure::SyncP999);
    for expected in [
        // With care, by the factor to "good": 4.5 and 2.5, 4 and 1.5, 3 and 2, 4.5 and 3.
        [(p99, 2.0, 100.0), (p999, 8.0, 100.0)],
        [(p999, 5.0, 100.0), (p99, 6.0, 100.0)],
        [(write, 1800.0, 100.0), (p99, 4.5, 100.0)],
        [(p99, 2.0, 100.0), (write, 1800.0, 100.0)],
        // Not suitable, by the factor to "with care": 3 and 2, 2.5 and 2.
        [(p99, 1.0, 3.0), (p999, 1.0, 10.0)],
        [(p999, 4.0, 8.0), (write, 9000.0, 1200.0)],
        // Good, by the reserve: 0.8 and 0.5, 0.75 and 0.5.
        [(p999, 25.0, 50.0), (p99, 18.0, 50.0)],
        [(p99, 12.0, 50.0), (write, 300.0, 100.0)],
        // Not suitable by little is worse than with care by much.
        [(p99, 1.0, 8.0), (p999, 1.0, 21.0)],
        [(p99, 8.0, 10.0), (p999, 21.0, 30.0)],
    ] {
        let criteria = expected.map(|(figure, fits, care)| Criterion {
            figure,
            fits,
            care,
            why: String::new(),
        });
        let mut rule = UseRule {
            id: "own".into(),
            title: "mine".into(),
            criteria: criteria.to_vec(),
            needs_permissions: false,
        };
        for _ in 0..2 {
            rule.criteria.reverse();
            let advice = &advise(&summary, std::slice::from_ref(&rule))[0];
            let order = advice.decided_by.iter().map(|of| of.criterion.figure);
            let order: Vec<Figure> = order.collect();
            assert_eq!(order, expected.map(|(figure, ..)| figure), "{expected:?}");
        }
    }
}
