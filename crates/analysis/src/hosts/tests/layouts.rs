//! Tables of hosts and cards: which of them they have, their contrasts, and the parts of the variation.

use super::*;
use hakaru_model::facts::Fact;

/// Returns a card on a host whose runs have these rates.
fn measured(template: &Summary, (card, host): (usize, usize), rates: &[f64]) -> CardSummary {
    let mut summary = template.clone();
    let estimate = crate::estimate(rates).unwrap();
    summary.phases[0].iops = estimate.clone();
    summary.phases[0].bandwidth = estimate;
    card_summary(card, host, summary)
}

/// Returns cards that were measured on these hosts each.
fn measured_on(template: &Summary, hosts: &[Vec<usize>]) -> Vec<CardSummary> {
    let places = hosts
        .iter()
        .enumerate()
        .flat_map(|(card, hosts)| hosts.iter().map(move |&host| (card, host)));
    places
        .map(|place| measured(template, place, &[4e7, 4.1e7]))
        .collect()
}

/// Checks that each card of a comparison was measured on each of its hosts, of which there are at least two.
fn assert_complete(found: &HostComparison, cards: &[CardSummary]) {
    assert!(
        found.hosts.len() > 1 && !found.cards.is_empty(),
        "{found:?}"
    );
    assert_eq!(found.cells.len(), found.cards.len());
    for row in &found.cells {
        let of = row.iter().map(|cell| &cards[cell.card as usize]);
        let (hosts, keys): (Vec<&String>, BTreeSet<&str>) =
            of.map(|card| (&card.host, own_key(card))).unzip();
        assert!(hosts.into_iter().eq(&found.hosts), "{found:?}");
        assert_eq!(keys.len(), 1, "{found:?}");
    }
}

/// Hosts of each card, and the numbers of hosts and cards in the largest complete table.
type Coverage<'a> = (&'a [&'a [usize]], (usize, usize));

#[test]
fn a_table_has_the_hosts_with_the_most_cells() {
    let template = read_series(1, 4e7, 0.0);
    let cases: [Coverage<'_>; 6] = [
        (&[&[0, 1, 2], &[0, 1, 2]], (3, 2)),
        (&[&[0, 1, 2], &[0, 1]], (2, 2)),
        (&[&[0, 1, 2], &[0, 1], &[0, 1]], (2, 3)),
        // Six cells either way: then no host is left out.
        (&[&[0, 1, 2], &[0, 1, 2], &[0, 1]], (3, 2)),
        // Cards that only one host has measured do not count for it.
        (&[&[0, 1], &[0, 1], &[1, 2], &[2], &[2], &[2]], (2, 2)),
        // A host with three cards alone is no comparison.
        (&[&[0, 1], &[1, 2], &[1, 3]], (2, 1)),
    ];
    for (hosts, (columns, rows)) in cases {
        let hosts: Vec<Vec<usize>> = hosts.iter().map(|hosts| hosts.to_vec()).collect();
        let cards = measured_on(&template, &hosts);
        let found = compare(&cards);
        assert_eq!(found.len(), 1, "{hosts:?}");
        assert_complete(&found[0], &cards);
        let size = (found[0].hosts.len(), found[0].cards.len());
        assert_eq!(size, (columns, rows), "{hosts:?}");
    }
}

/// Number of cells in the largest complete table, by trying all sets of up to six hosts.
fn largest_table(of_cards: &[Vec<usize>]) -> usize {
    let cells = |set: usize| {
        let hosts: Vec<usize> = (0..6).filter(|host| set >> host & 1 == 1).collect();
        let has_all = |of: &&Vec<usize>| hosts.iter().all(|host| of.contains(host));
        let is_comparison = usize::from(hosts.len() > 1);
        of_cards.iter().filter(has_all).count() * hosts.len() * is_comparison
    };
    (0..64).map(cells).max().unwrap()
}

/// Whichever cards the hosts share, a table has no empty cell, and none has more cells.
#[test]
fn tables_are_the_largest_complete_ones() {
    let template = read_series(1, 4e7, 0.0);
    let mut rng = Rng::new(41);
    let mut all: Vec<Vec<Vec<usize>>> = vec![
        vec![vec![0, 3], vec![1, 2]],
        vec![vec![0, 2], vec![0, 3], vec![1, 4], vec![1, 5]],
    ];
    all.extend((0..100).map(|trial| {
        let mut hosts = |_| (0..2 + trial % 4).filter(|_| rng.unit() < 0.6).collect();
        (0..1 + trial % 5).map(&mut hosts).collect()
    }));
    let mut compared = 0;
    for hosts in all {
        let cards = measured_on(&template, &hosts);
        let found = compare(&cards);
        found.iter().for_each(|of| assert_complete(of, &cards));
        let cells: Vec<usize> = found
            .iter()
            .map(|of| of.hosts.len() * of.cards.len())
            .collect();
        let largest = Some(largest_table(&hosts)).filter(|cells| *cells > 0);
        assert_eq!(cells, Vec::from_iter(largest), "{hosts:?}");
        compared += found.len();
    }
    assert!(compared > 50, "{compared}");
}

/// Each card lacks another host: 2^24 sets of hosts have a card in common.
#[test]
fn a_campaign_with_many_gaps_is_compared_in_time() {
    let template = read_series(1, 4e7, 0.0);
    let without = |gap: usize| (0..24).filter(|host| *host != gap).collect();
    let hosts: Vec<Vec<usize>> = (0..24).map(without).collect();
    let cards = measured_on(&template, &hosts);
    let found = compare(&cards);
    assert_eq!(found.len(), 1);
    assert_complete(&found[0], &cards);
    // Of 24 hosts and cards, 12 of each form the largest table.
    assert!(found[0].hosts.len() * found[0].cards.len() > 72);
}

#[test]
fn phases_and_operations_have_tables_of_their_own() {
    let template = read_series(1, 4e7, 0.0);
    let phases = [
        ("mixed", Op::Read),
        ("other", Op::Read),
        ("mixed", Op::Write),
    ];
    let rate = |phase: usize, host: usize| 1e7 * (phase + 1) as f64 * (host + 1) as f64;
    let cards: Vec<CardSummary> = (0..2)
        .map(|host| {
            let mut summary = template.clone();
            let phase = |(i, &(name, op)): (usize, &(&str, Op))| {
                let mut phase = template.phases[0].clone();
                (phase.phase, phase.op) = (name.to_owned(), op);
                phase.bandwidth = crate::estimate(&[rate(i, host); 2]).unwrap();
                phase.iops = phase.bandwidth.clone();
                phase
            };
            summary.phases = phases.iter().enumerate().map(phase).collect();
            card_summary(0, host, summary)
        })
        .collect();
    let found = compare(&cards);
    let names: Vec<(&str, Op)> = found.iter().map(|of| (of.phase.as_str(), of.op)).collect();
    assert_eq!(names, phases);
    for (i, of) in found.iter().enumerate() {
        let means: Vec<f64> = of.cells[0].iter().map(|cell| cell.mean).collect();
        assert_eq!(means, [rate(i, 0), rate(i, 1)]);
    }
}

/// A card has another label on each host: its device names it, if that is known and tells the cards apart.
#[test]
fn cards_are_named_after_their_devices() {
    let template = read_series(1, 4e7, 0.0);
    assert!(template.target.label.is_some());
    let named = |serials: &[Option<&str>], label: Option<&str>| {
        let mut cards = measured_on(&template, &vec![vec![0, 1]; serials.len()]);
        for (i, card) in cards.iter_mut().enumerate() {
            let target = &mut card.layers[0].summary.target;
            if let (Fact::Known(device), Some(serial)) = (&mut target.device, serials[i / 2]) {
                device.serial = Fact::Known(serial.to_owned());
            }
            if let Some(label) = label {
                card.name = format!("{label} {}", i / 2);
            }
        }
        compare(&cards).remove(0).cards
    };
    assert_eq!(named(&[None], None), ["SD32G"]);
    let serials = [Some("0x7a21"), Some("0x7a22")];
    let names = ["SD32G (0x7a21)", "SD32G (0x7a22)"];
    assert_eq!(named(&serials, None), names);
    assert_eq!(named(&[None, None], None), ["0x0", "0x1"]);
    assert_eq!(named(&[None, None], Some("card")), ["card 0", "card 1"]);
}

/// The mean of the logarithms of 1.1 and 1/1.1 times a rate is the logarithm of that rate.
#[test]
fn cells_have_the_figures_of_their_runs() {
    let template = read_series(1, 4e7, 0.0);
    let rate = |card: usize, host: usize| 1e7 * (1 + card) as f64 * (2 + host) as f64;
    let places = (0..3).flat_map(|host| (0..2).map(move |card| (card, host)));
    let cards: Vec<CardSummary> = places
        .map(|(card, host)| {
            let rate = rate(card, host);
            measured(&template, (card, host), &[rate * 1.1, rate / 1.1])
        })
        .collect();
    let found = compare(&cards).remove(0);
    assert_complete(&found, &cards);
    assert_eq!((found.cells.len(), found.hosts.len()), (2, 3));
    let close = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 1e-12);
    for (card, row) in found.cells.iter().enumerate() {
        for (host, cell) in row.iter().enumerate() {
            assert_eq!((cell.card as usize, cell.runs), (2 * host + card, 2));
            let runs = [rate(card, host) * 1.1, rate(card, host) / 1.1];
            close(cell.mean, (runs[0] + runs[1]) / 2.0);
            let deviation = (runs[0] - runs[1]) / std::f64::consts::SQRT_2;
            close(cell.deviation.unwrap(), deviation);
        }
    }
    let ratios: Vec<f64> = found.host_ratios.iter().map(|of| of.ratio).collect();
    for (found, wanted) in ratios.into_iter().zip([1.0, 1.5, 2.0]) {
        close(found, wanted);
    }
    close(found.card_ratios[1].ratio, 2.0);
}

/// Returns a table of these mean logarithms, a row for each card, whose cells have this variance.
fn layout<'a>(
    phase: &'a PhaseSummary,
    log_variance: Option<(f64, f64)>,
    rows: &[Vec<f64>],
) -> TwoWayLayout<'a> {
    let cell = |&log_mean: &f64| LayoutCell {
        card: 0,
        phase,
        log_mean,
        log_variance,
    };
    let cells = rows.iter().map(|row| row.iter().map(cell).collect());
    TwoWayLayout {
        layer: "raw",
        phase: "seq-read",
        op: Op::Read,
        rate: HeadlineRate::Bandwidth,
        hosts: vec!["pi"; rows[0].len()],
        names: vec!["card".to_owned(); rows.len()],
        cells: cells.collect(),
    }
}

/// A combination is the cell minus the means of its row and its column, plus the mean of all cells. With one cell of 12
/// among zeroes, these are 4, 6 and 2. Effects of hosts and cards do not change it.
#[test]
fn a_combination_is_what_hosts_and_cards_do_not_explain() {
    let summary = read_series(1, 4e7, 0.0);
    let table = |cards: [f64; 2], hosts: [f64; 3]| {
        let mut rows = cards.map(|card| hosts.map(|host| card + host).to_vec());
        rows[0][0] += 12.0;
        rows
    };
    for (cards, hosts) in [
        ([0.0; 2], [0.0; 3]),
        ([7.0, -3.0], [0.0; 3]),
        ([0.0; 2], [1.0, 2.0, 5.0]),
        ([7.0, -3.0], [1.0, 2.0, 5.0]),
    ] {
        let rows = table(cards, hosts);
        let layout = layout(&summary.phases[0], Some((0.01, 4.0)), &rows);
        let wanted = [[4.0, -2.0, -2.0], [-4.0, 2.0, 2.0]];
        for (card, row) in wanted.iter().enumerate() {
            for (host, wanted) in row.iter().enumerate() {
                let found = layout.combination((card, host));
                assert!((found.estimate - wanted).abs() < 1e-12, "{card} {host}");
                // The weights are 1/2 · 2/3 or 1/2 · 1/3 for two and four cells: their squares add up to 1/3.
                let (variance, _) = found.variance.unwrap();
                assert!((variance - 0.01 / 3.0).abs() < 1e-12, "{variance}");
            }
        }
    }
}

/// Of the sum of squares of 120, the hosts have 2 · (4² + 2² + 2²) = 48, the cards 3 · (2² + 2²) = 24, and the
/// combination of both 2 · 4² + 4 · 2² = 48. Scaling the logarithms keeps the shares.
#[test]
fn shares_are_parts_of_the_sum_of_squares() {
    let template = read_series(1, 4e7, 0.0);
    let cards: Vec<CardSummary> = (0..3)
        .flat_map(|host| (0..2).map(move |card| (card, host)))
        .map(|place| {
            let log: f64 = if place == (0, 0) { 1.2 } else { 0.0 };
            measured(&template, place, &[4e7 * log.exp(); 3])
        })
        .collect();
    let shares = compare(&cards)[0].shares.unwrap();
    let found = [shares.host, shares.card, shares.combination];
    for (found, wanted) in found.into_iter().zip([0.4, 0.2, 0.4]) {
        assert!((found - wanted).abs() < 1e-9, "{shares:?}");
    }
}

/// Rounding leaves sums of squares up to 1e-24, the square of a difference of 1e-12.
#[test]
fn cells_that_differ_by_rounding_have_no_shares() {
    let summary = read_series(1, 4e7, 0.0);
    // Two cells at a distance of 2 d have a sum of squares of 2 d².
    let limit = 5e-25_f64.sqrt();
    assert_eq!(limit * limit + limit * limit, 1e-24);
    for (distance, varies) in [
        (0.0, false),
        (limit * 0.999, false),
        (limit, false),
        (limit * 1.001, true),
        (1.0, true),
    ] {
        let rows = [vec![0.0, 2.0 * distance]];
        let layout = layout(&summary.phases[0], None, &rows);
        let shares = layout.comparison(LEVEL).shares;
        let found = shares.map(|shares| [shares.host, shares.card, shares.combination]);
        assert_eq!(found, varies.then_some([1.0, 0.0, 0.0]), "{distance}");
    }
}

/// Without variation between runs, an effect is exact; with it, the interval must exclude 0.
#[test]
fn an_effect_is_proven_if_it_exceeds_rounding_and_noise() {
    let exact = Some((0.0, f64::INFINITY));
    // The 97.5% quantile of Student's t with four degrees of freedom is 2.776.
    let noisy = Some((1.0, 4.0));
    for (estimate, variance, proven) in [
        (0.0, exact, false),
        (1e-12, exact, false),
        (1.01e-12, exact, true),
        (0.5, exact, true),
        (2.77, noisy, false),
        (2.78, noisy, true),
        (5.0, None, false),
    ] {
        for estimate in [estimate, -estimate] {
            let contrast = Contrast { estimate, variance };
            assert_eq!(contrast.is_proven(LEVEL), proven, "{estimate}");
        }
    }
}

/// Means of equal runs are exact: their variance is 0. For two equal variances, the degrees of freedom of Satterthwaite
/// are the sum of both.
#[test]
fn contrasts_have_the_variance_and_freedom_of_their_cells() {
    let summary = read_series(1, 4e7, 0.0);
    let rows = [vec![17.0, 17.5]];
    for (cell, contrast) in [
        (None, None),
        (Some((0.0, 4.0)), Some((0.0, f64::INFINITY))),
        (Some((0.25, 4.0)), Some((0.5, 8.0))),
    ] {
        let layout = layout(&summary.phases[0], cell, &rows);
        let found = layout.hosts(0, 1);
        assert_eq!((found.estimate, found.variance), (0.5, contrast));
    }
}
