//! What holds for the comparison of any paths: sums and products.

use super::*;
use hakaru_model::rng::Rng;

/// Classes on the device of a random path, with or without times behind others by class.
const CLASSES: [IoClass; 6] = [
    IoClass::Data,
    IoClass::Journal,
    IoClass::Fat1,
    IoClass::Node,
    IoClass::Unknown,
    IoClass::Flush,
];

/// Splits a time among some classes, so that the parts add up to it.
fn split(rng: &mut Rng, nanos: f64) -> Vec<ClassTime> {
    let mut rest = nanos;
    let mut times = Vec::new();
    for class in CLASSES {
        let nanos = (rest * rng.below(1000) as f64 / 1000.0).floor();
        rest -= nanos;
        times.push(ClassTime { class, nanos });
    }
    times.push(ClassTime {
        class: IoClass::Metadata,
        nanos: rest,
    });
    times.retain(|time| time.nanos > 0.0);
    times
}

fn random_operation(rng: &mut Rng, op: Option<Op>, with_sync: bool) -> OperationPath {
    let mut mean = TimeParts::default();
    for part in TimePart::ALL {
        if rng.below(4) > 0 {
            mean.add(part, rng.below(5_000_000) as f64);
        }
    }
    // Some records are older than times by class.
    let device = mean.of(TimePart::Data) + mean.of(TimePart::Metadata);
    let classes = match rng.below(5) {
        0 => Vec::new(),
        _ => split(rng, device),
    };
    let behind = match rng.below(3) {
        0 => Vec::new(),
        _ => split(rng, mean.of(TimePart::WaitingBehind)),
    };
    OperationPath {
        op,
        with_sync,
        count: 1 + rng.below(5000),
        mean,
        classes,
        behind,
        mean_latency: Nanos(mean.total() as u64),
        median: None,
        p99: None,
    }
}

fn random_path(rng: &mut Rng) -> IoPath {
    let classes = CLASSES.map(|class| {
        let op = (class != IoClass::Flush).then_some(Op::Write);
        let bytes = match op {
            Some(_) => 512 * (1 + rng.below(1 << 20)),
            None => 0,
        };
        traffic_of(class, op, 1 + rng.below(9000), bytes, 1 + rng.below(500))
    });
    let busy = 1_000_000 + rng.below(900_000_000);
    let asked = (1 + rng.below(5000), 512 * (1 + rng.below(2048)));
    let mut path = path(busy, asked, classes.to_vec());
    path.flush_only = Nanos(rng.below(busy / 2));
    path.window = Nanos(busy + rng.below(500_000_000));
    path.operations = vec![
        random_operation(rng, Some(Op::Write), true),
        random_operation(rng, Some(Op::Read), false),
    ];
    path
}

fn random_price(rng: &mut Rng) -> PriceModel {
    PriceModel {
        op: Op::Write,
        request: rng.below(900_000) as f64,
        byte: rng.below(100) as f64,
        jump: rng.below(9_000_000) as f64,
        runs: 4,
        misfit: 0.01,
    }
}

#[test]
fn parts_add_up_and_ratios_multiply_for_any_paths() {
    for seed in 0..1000 {
        let mut rng = Rng::new(seed);
        let mut side = || -> Vec<IoPath> {
            let runs = 1 + rng.below(3);
            (0..runs).map(|_| random_path(&mut rng)).collect()
        };
        let (base, other) = (side(), side());
        let price = random_price(&mut rng);
        let base: Vec<&IoPath> = base.iter().collect();
        let other: Vec<&IoPath> = other.iter().collect();
        let comparison = compare_paths(&base, &other, &[price]).expect("both have both kinds");
        assert_eq!(comparison.operations.len(), 2);
        for of in &comparison.operations {
            let near = |a: f64, b: f64| {
                assert!(
                    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e6),
                    "{seed}: {a} {b}"
                );
            };
            let sum: f64 = of.parts.iter().map(|part| part.time.value).sum();
            near(sum, of.total.value);
            near(of.base + of.total.value, of.other);
            near(of.parts.iter().map(|part| part.base).sum(), of.base);
            near(of.parts.iter().map(|part| part.other).sum(), of.other);
            if let Some(split) = of.device {
                let device = of.parts.iter().filter(|part| match part.part {
                    DifferencePart::Device(class) => class != IoClass::Flush,
                    DifferencePart::Time(part) => {
                        matches!(part, TimePart::Data | TimePart::Metadata)
                    }
                    DifferencePart::Behind(_) => false,
                });
                near(split.total(), device.map(|part| part.time.value).sum());
            }
            let known = of.parts.windows(2);
            let mut ordered = known.map(|pair| (pair[0].time.value, pair[1].time.value));
            assert!(ordered.all(|(a, b)| a.abs() >= b.abs()), "{seed}");
        }
        let identity = comparison.identity.expect("both sides moved bytes");
        assert!(
            (identity.product() / identity.time - 1.0).abs() < 1e-9,
            "{seed}"
        );
    }
}
