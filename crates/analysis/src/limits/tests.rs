//! Tests of bottlenecks and of the costs of layers.

use super::*;
use crate::testing::{read_series, suite};
use hakaru_model::facts::{Fact, Filesystem};
use hakaru_model::finding::Verdict;

#[test]
fn ceilings_are_those_of_the_specifications() {
    let usb = |speed| {
        ceiling(&Bus::Usb {
            speed_mbps: Fact::Known(speed),
        })
        .unwrap()
        .0
    };
    assert_eq!((usb(480), usb(5_000)), (53_248_000.0, 500e6));
    assert_eq!((usb(1), usb(12), usb(13)), (1e5, 1.2e6, 53_248_000.0));
    assert_eq!(usb(10_000).round(), 1_212_121_212.0);
    let sata = Bus::Scsi {
        link: Fact::Known("6.0 Gbps".into()),
    };
    assert_eq!(ceiling(&sata).unwrap().0, 600e6);
    let nvme = |text: &str| {
        ceiling(&Bus::Nvme {
            link: Fact::Known(text.into()),
        })
        .map(|c| (c.0 / 1e6).round())
    };
    assert_eq!(nvme("8.0 GT/s PCIe x4"), Some(3938.0));
    assert_eq!(nvme("5.0 GT/s PCIe x4"), Some(2000.0));
    assert_eq!(nvme("2.5 GT/s PCIe x1"), Some(250.0));
    assert_eq!(nvme("nonsense"), None);
    assert_eq!(ceiling(&Bus::Virtio), None);
}

#[test]
fn six_cards_at_the_same_speed_are_held_back_by_the_host() {
    // Sequential reads of six cards on one Raspberry Pi 4, MB/s: a published table.
    let cards: Vec<Summary> = [40.1, 39.9, 41.3, 41.2, 40.9, 40.5]
        .iter()
        .zip(0..)
        .map(|(&mb, i)| read_series(i, mb * 1e6, 0.005))
        .collect();
    let all: Vec<&Summary> = cards.iter().collect();
    let [ref read] = bus_limit(&all)[..] else {
        panic!()
    };
    assert_eq!(
        (read.op, read.limit, read.cards),
        (Op::Read, Bottleneck::Host, 6)
    );
    assert!(read.spread.unwrap() < 0.02 && (read.share.unwrap() - 0.813).abs() < 0.01);
    // A single card near the limit is enough.
    assert_eq!(bus_limit(&all[..1])[0].limit, Bottleneck::Host);
}

#[test]
fn equal_cards_on_several_hosts_say_nothing_of_a_host() {
    let mut cards: Vec<Summary> = (0..3).map(|i| read_series(i, 35e6, 0.005)).collect();
    let limit = |cards: &[Summary]| bus_limit(&cards.iter().collect::<Vec<_>>())[0].limit;
    assert_eq!(limit(&cards), Bottleneck::Host);
    assert_eq!(limit(&cards[..2]), Bottleneck::Unclear);
    cards[2].environment.hostname = "another".to_owned();
    assert_eq!(limit(&cards), Bottleneck::Unclear);
}

/// Regression: three cards at the limit of one host were not judged when another host measured cards as well.
#[test]
fn each_of_several_hosts_is_judged_by_its_own_cards() {
    let mut cards: Vec<Summary> = (0..6)
        .map(|i| read_series(i, if i < 3 { 35e6 } else { 20e6 }, 0.005))
        .collect();
    for card in &mut cards[3..] {
        card.environment.hostname = "another".to_owned();
    }
    let found = bus_limit(&cards.iter().collect::<Vec<_>>());
    let found: Vec<_> = found
        .iter()
        .map(|of| (of.host.as_deref(), of.limit, of.cards))
        .collect();
    assert_eq!(
        found,
        [
            (Some("pi4"), Bottleneck::Host, 3),
            (Some("another"), Bottleneck::Card, 3)
        ]
    );
}

#[test]
fn shares_of_the_limit_are_judged_at_the_marks() {
    for (share, verdict) in [
        (0.0, Bottleneck::Card),
        (0.60, Bottleneck::Card),
        (0.601, Bottleneck::Unclear),
        (0.749, Bottleneck::Unclear),
        (0.75, Bottleneck::Host),
        (1.05, Bottleneck::Host),
        (1.051, Bottleneck::Contradiction),
    ] {
        assert_eq!(of_share(share), verdict, "{share}");
    }
}

/// Regression: three specimens of one model counted as different cards because of their campaign labels, and the
/// host was called the bottleneck because they were equal.
#[test]
fn specimens_of_one_model_are_alike_by_themselves() {
    let labelled = |serial: &dyn Fn(u64) -> String| {
        let mut cards: Vec<Summary> = (0..3).map(|i| read_series(i, 35e6, 0.005)).collect();
        for (i, summary) in (0..).zip(&mut cards) {
            summary.target.label = Some(format!("card {i}"));
            let Fact::Known(device) = &mut summary.target.device else {
                panic!()
            };
            (device.model, device.serial) =
                (Fact::Known("SanDisk SE32G".into()), Fact::Known(serial(i)));
        }
        bus_limit(&cards.iter().collect::<Vec<_>>())[0].limit
    };
    assert_eq!(labelled(&|i| format!("0x{i:08x}")), Bottleneck::Unclear);
    // A serial number shared by all of them belongs to something else, so their labels distinguish them.
    assert_eq!(labelled(&|_| "0x1234".to_owned()), Bottleneck::Host);
}

/// Regression: two variants on buses of 25 and 50 MB/s were pooled, and their mean was 120% of the slower bus
/// limit.
#[test]
fn each_variant_is_judged_by_its_own_bus() {
    let on_bus = |i, mb: f64, ceiling: u64| {
        let mut summary = read_series(i, mb * 1e6, 0.005);
        let Fact::Known(device) = &mut summary.target.device else {
            panic!()
        };
        let Bus::Mmc { ceiling: known, .. } = &mut device.bus else {
            panic!()
        };
        *known = Fact::Known(ceiling);
        summary
    };
    let cards = [
        on_bus(1, 11.0, 12_500_000),
        on_bus(2, 20.0, 50_000_000),
        on_bus(3, 60.0, 50_000_000),
    ];
    let found = bus_limit(&cards.iter().collect::<Vec<_>>());
    let limits: Vec<(Vec<u32>, Bottleneck)> =
        found.iter().map(|l| (l.members.clone(), l.limit)).collect();
    let expected = [
        (vec![0], Bottleneck::Host),
        (vec![1], Bottleneck::Card),
        (vec![2], Bottleneck::Contradiction),
    ];
    assert_eq!(limits, expected);
    assert!((found[0].share.unwrap() - 0.88).abs() < 0.01);
}

#[test]
fn of_simulated_cards_and_unknown_buses_nothing_is_concluded() {
    let mut cards: Vec<Summary> = (0..6).map(|i| read_series(i, 40e6, 0.005)).collect();
    for summary in &mut cards {
        let Fact::Known(device) = &mut summary.target.device else {
            panic!()
        };
        device.bus = Bus::Virtio;
    }
    let found = bus_limit(&cards.iter().collect::<Vec<_>>());
    assert_eq!(
        (found.len(), found[0].limit, found[0].ceiling),
        (1, Bottleneck::Unclear, None)
    );
    cards
        .iter_mut()
        .for_each(|summary| summary.caveats.push(Caveat::Simulated));
    assert_eq!(bus_limit(&cards.iter().collect::<Vec<_>>()), []);
}

#[test]
fn slow_and_unlike_cards_are_their_own_limit() {
    let cards: Vec<Summary> = [22.0, 18.0, 33.0]
        .iter()
        .zip(0..)
        .map(|(&mb, i)| read_series(i, mb * 1e6, 0.005))
        .collect();
    let all: Vec<&Summary> = cards.iter().collect();
    let limits: Vec<(Vec<u32>, Bottleneck)> = bus_limit(&all)
        .into_iter()
        .map(|l| (l.members, l.limit))
        .collect();
    assert_eq!(
        limits,
        [
            (vec![0, 1], Bottleneck::Card),
            (vec![2], Bottleneck::Unclear)
        ]
    );
    assert_eq!(bus_limit(&[]).len(), 0);
}

#[test]
fn a_layer_is_compared_workload_by_workload() {
    let raw = suite(5);
    let mut layer = suite(5);
    layer.target.filesystem = Some(Filesystem {
        fs_type: "vfat".into(),
        ..Filesystem::default()
    });
    let random = layer
        .phases
        .iter_mut()
        .find(|p| p.phase == "rand-write")
        .unwrap();
    random.iops.values.iter_mut().for_each(|v| *v /= 5.0);
    random.amplification = crate::estimate(&[4.0; 5]);
    let costs = layer_cost(&raw, &layer);
    assert_eq!(costs.len(), raw.phases.len());
    let random = costs
        .iter()
        .find(|c| c.comparison.quantity.contains("rand-write"))
        .unwrap();
    assert_eq!(
        (random.layer.as_str(), random.comparison.verdict),
        ("vfat", Verdict::Different)
    );
    assert!((random.comparison.ratio - 0.2).abs() < 1e-9);
    assert_eq!(random.amplification_layer, Some(4.0));
    let same = costs
        .iter()
        .filter(|c| c.comparison.verdict == Verdict::Equivalent)
        .count();
    assert_eq!(same, costs.len() - 1);
}

/// A speed of 0 is no speed, and neither is one without end.
#[test]
fn a_bus_without_a_known_speed_has_no_limit() {
    let Fact::Known(device) = crate::testing::card().device else {
        panic!()
    };
    let on_sd = |bytes: u64| {
        let mut bus = device.bus.clone();
        let Bus::Mmc { ceiling: known, .. } = &mut bus else {
            panic!()
        };
        *known = Fact::Known(bytes);
        ceiling(&bus).map(|of| of.0)
    };
    assert_eq!((on_sd(0), on_sd(1)), (None, Some(1.0)));
    let endless = "9".repeat(400);
    let known = |text: &str| Fact::Known(text.to_owned());
    for speed in ["0", "0.0", "0.0 Gbps", "", "unknown", "-6.0 Gbps", &endless] {
        let link = known(speed);
        assert_eq!(ceiling(&Bus::Scsi { link }), None, "{speed}");
        let link = known(&format!("{speed} GT/s PCIe x4"));
        assert_eq!(ceiling(&Bus::Nvme { link }), None, "{speed}");
        let link = known(&format!("8.0 GT/s PCIe x{speed}"));
        assert_eq!(ceiling(&Bus::Nvme { link }), None, "{speed} lanes");
    }
    let speed_mbps = Fact::Known(0);
    assert_eq!(ceiling(&Bus::Usb { speed_mbps }), None);
}

/// The costs of the other workloads keep their names.
#[test]
fn workloads_without_a_value_on_a_side_have_no_cost() {
    let whole = suite(3);
    let names: Vec<&str> = whole.phases.iter().map(|of| of.phase.as_str()).collect();
    for (missing, name) in names.iter().enumerate() {
        for (on_raw, on_layer) in [(true, false), (false, true), (true, true)] {
            let without = |is_missing: bool| {
                let mut side = whole.clone();
                if is_missing {
                    let phase = &mut side.phases[missing];
                    phase.bandwidth.values.clear();
                    phase.iops.values.clear();
                }
                side
            };
            let costs = layer_cost(&without(on_raw), &without(on_layer));
            let found: Vec<&str> = costs.iter().map(|of| of.phase.as_str()).collect();
            let others: Vec<&str> = names.iter().copied().filter(|of| of != name).collect();
            assert_eq!(found, others, "{on_raw} {on_layer}");
            let is_named = |of: &LayerCost| {
                let name = format!("{} {} ", of.phase, of.op.name());
                of.comparison.quantity.starts_with(&name)
            };
            assert!(costs.iter().all(is_named), "{costs:?}");
        }
    }
}
