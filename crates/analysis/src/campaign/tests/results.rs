//! Joined workloads, rankings of several phases, and the order for uses.

use super::*;
use hakaru_model::advice::Criterion;
use hakaru_model::finding::Figure;

#[test]
fn joined_workloads_have_each_caveat_once() {
    let few = |runs| Caveat::FewRuns { runs };
    let series = read_series(1, 30e6, 0.01);
    let part = |caveats: &[Caveat]| Summary {
        caveats: caveats.to_vec(),
        ..series.clone()
    };
    let joined = join(vec![
        part(&[Caveat::Simulated, few(2)]),
        part(&[few(2), Caveat::Buffered]),
        part(&[few(3), Caveat::Simulated, Caveat::Buffered]),
    ]);
    // In order of appearance; a caveat with another number is another one.
    let expected = [Caveat::Simulated, few(2), Caveat::Buffered, few(3)];
    assert_eq!(joined.unwrap().caveats, expected);
}

/// Ranks cards through one layer.
fn ranked(cards: &[Summary]) -> Vec<Ranking> {
    rank(&[("raw".to_owned(), (0..).zip(cards).collect())])
}

/// A card that reads at these speeds: name of the phase, operation and bytes per second.
fn card(phases: &[(&str, Op, f64)]) -> Summary {
    let phase = |(seed, &(name, op, speed)): (u64, &(&str, Op, f64))| PhaseSummary {
        phase: name.to_owned(),
        op,
        ..read_series(seed, speed, 0.005).phases.remove(0)
    };
    Summary {
        phases: (1..).zip(phases).map(phase).collect(),
        ..read_series(1, 30e6, 0.005)
    }
}

/// Phases of one name with two operations, and phases of one operation with two names, are not mixed.
#[test]
fn each_phase_and_operation_has_its_own_ranking() {
    let (mix, plain) = ("mix", "plain");
    let cards = [
        card(&[
            (mix, Op::Read, 30e6),
            (mix, Op::Write, 50e6),
            (plain, Op::Read, 70e6),
        ]),
        card(&[(mix, Op::Write, 20e6), (mix, Op::Read, 60e6)]),
        card(&[(plain, Op::Read, 80e6), (mix, Op::Read, 40e6)]),
    ];
    let found = ranked(&cards);
    let found = found.iter().map(|of| {
        let places = of.places.iter().map(|place| place.card);
        let pairs = of.pairs.iter().map(|pair| (pair.a, pair.b));
        let (places, pairs): (Vec<u32>, Vec<_>) = (places.collect(), pairs.collect());
        (of.phase.as_str(), of.op, places, pairs)
    });
    let expected = [
        (mix, Op::Read, vec![1, 2, 0], vec![(0, 1), (0, 2), (1, 2)]),
        (mix, Op::Write, vec![0, 1], vec![(0, 1)]),
        (plain, Op::Read, vec![2, 0], vec![(0, 2)]),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// A rate that is neither measured nor published has no rank.
#[test]
fn cards_without_a_rate_are_not_ranked() {
    let mut cards = [30e6, 40e6, 50e6].map(|speed| card(&[("x", Op::Read, speed)]));
    let places = |cards: &[Summary]| {
        let rankings = ranked(cards);
        let places = rankings.iter().flat_map(|of| &of.places);
        places.map(|place| place.card).collect::<Vec<_>>()
    };
    assert_eq!(places(&cards), [2, 1, 0]);
    cards[2].phases[0].iops.values.clear();
    assert_eq!(places(&cards), [1, 0]);
    cards[1].phases[0].bandwidth.values.clear();
    assert_eq!(places(&cards), [0]);
    cards[1].phases[0].detail.stated_runs = Some(5);
    assert_eq!(places(&cards), [1, 0]);
}

/// A large campaign has hundreds of thousands of pairs, which must not each hold a copy.
#[test]
fn pairs_of_a_ranking_share_texts_and_estimates() {
    let cards = [30e6, 31e6, 40e6, 50e6].map(|speed| card(&[("x", Op::Read, speed)]));
    let [ref ranking] = ranked(&cards)[..] else {
        panic!("one phase");
    };
    let mut known: BTreeMap<u32, &Arc<Estimate>> = BTreeMap::new();
    let first = &ranking.pairs[0].comparison;
    for pair in &ranking.pairs {
        let of = &pair.comparison;
        assert!(Arc::ptr_eq(&of.quantity, &first.quantity));
        assert!(Arc::ptr_eq(&of.unit, &first.unit));
        for (card, estimate) in [(pair.a, &of.a), (pair.b, &of.b)] {
            let shared = known.entry(card).or_insert(estimate);
            assert!(Arc::ptr_eq(shared, estimate), "card {card}");
            let measured = &cards[card as usize].phases[0].bandwidth;
            assert_eq!(**estimate, *measured, "card {card}");
        }
    }
    assert_eq!((ranking.pairs.len(), known.len()), (6, 4));
}

/// Bandwidth only if it represents both phases: a card then has another estimate in each of its pairs.
#[test]
fn pairs_of_different_rates_keep_their_own_estimates() {
    let mut cards = [30e6, 35e6, 40e6].map(|speed| card(&[("x", Op::Read, speed)]));
    cards[2].phases[0].detail.headline = HeadlineRate::Iops;
    let [ref ranking] = ranked(&cards)[..] else {
        panic!("one phase");
    };
    assert_eq!(ranking.pairs.len(), 3);
    for pair in &ranking.pairs {
        let (rate, quantity, unit) = match pair.b {
            2 => (HeadlineRate::Iops, "x read IOPS", "1/s"),
            _ => (HeadlineRate::Bandwidth, "x read bandwidth", "B/s"),
        };
        let of = &pair.comparison;
        assert_eq!((&*of.quantity, &*of.unit), (quantity, unit));
        for (card, estimate) in [(pair.a, &of.a), (pair.b, &of.b)] {
            let measured = rate.of(&cards[card as usize].phases[0]);
            assert_eq!(**estimate, *measured, "card {card} of {pair:?}");
        }
    }
}

/// A use that needs sequential reads of 40 MB/s, or 10 MB/s with care.
fn reading(id: &str) -> UseRule {
    UseRule {
        id: id.to_owned(),
        title: "reading".to_owned(),
        criteria: vec![Criterion {
            figure: Figure::SequentialRead,
            fits: 40.0,
            care: 10.0,
            why: String::new(),
        }],
        needs_permissions: false,
    }
}

/// Cards with their ranks and letters.
type Order<'a> = Vec<(u32, Option<u32>, &'a str)>;

/// The order for each use.
fn uses(summary: &CampaignSummary) -> Vec<(&str, Order<'_>)> {
    let uses = summary.uses.iter().map(|of| {
        let places = of.places.iter();
        let places = places.map(|of| (of.card, of.rank, of.letters.as_str()));
        (of.id.as_str(), places.collect())
    });
    uses.collect()
}

#[test]
fn cards_are_in_order_for_each_use() {
    let speeds = [(1, 30e6), (2, 31e6), (3, 45e6)];
    let card = |(seed, speed)| vec![("raw", read_series(seed, speed, 0.005))];
    let mut summary = campaign(speeds.map(card).to_vec());
    summary.layers = vec!["raw".to_owned()];
    conclude(&mut summary, &[reading("play")]);
    let order = |letters: [&'static str; 3]| {
        let [a, b, c] = letters;
        vec![(2, Some(1), a), (1, Some(2), b), (0, Some(3), c)]
    };
    assert_eq!(uses(&summary), [("play", order(["a", "b", "c"]))]);
    assert_eq!(summary.uses[0].layer, "raw");
    // The rules may be replaced later.
    advise_all(&mut summary, &[reading("copy"), reading("show")]);
    let expected = ["copy", "show"].map(|id| (id, order(["a", "b", "c"])));
    assert_eq!(uses(&summary), expected);
    // Uses count at least as many tests as the workloads, so that fewer orders are proven if there are many of these.
    let pair = &mut summary.rankings[0].pairs[1];
    pair.comparison.family = u32::MAX;
    advise_all(&mut summary, &[reading("play")]);
    let (_, places) = &uses(&summary)[0];
    let [second, third] = [places[1].2, places[2].2];
    assert!(second.chars().any(|of| third.contains(of)), "{places:?}");
    conclude(&mut summary, &[]);
    assert_eq!(uses(&summary), []);
}

#[test]
fn runs_of_several_versions_are_a_change() {
    let Summary {
        target,
        environment,
        ..
    } = read_series(1, 30e6, 0.01);
    let mut seen = Circumstances::default();
    seen.note("photos", &target, &environment);
    for version in ["0.1.0", "0.1.0", ""] {
        seen.note_version(version);
        assert_eq!(seen.clone().changes(), [], "{version}");
    }
    seen.note_version("0.2.0");
    seen.note_version("0.1.0");
    let changed = |what, values: [&str; 2]| Weakness::Changed {
        what,
        values: values.map(str::to_owned).to_vec(),
    };
    let versions = || changed(Circumstance::Version, ["0.1.0", "0.2.0"]);
    assert_eq!(seen.clone().changes(), [versions()]);
    // Changes of the host come before it.
    let host = environment.hostname.clone();
    let moved = Environment {
        hostname: "pi5".to_owned(),
        ..environment
    };
    seen.note("photos", &target, &moved);
    let hosts = changed(Circumstance::Host, [&host, "pi5"]);
    assert_eq!(seen.changes(), [hosts, versions()]);
}
