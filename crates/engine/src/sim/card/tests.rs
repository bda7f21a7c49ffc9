//! Times and state of simulated cards, without an engine around them.

use super::*;
use hakaru_model::device_model::{Flash, SlcCache, Stalls, Throttle};
use hakaru_model::units::Bytes;

fn card(change: impl FnOnce(&mut DeviceModel)) -> SimCard {
    let mut model = DeviceModel::plain("t", Bytes(1 << 30));
    model.write_overhead = Nanos(0);
    model.write_seek = Nanos(0);
    change(&mut model);
    SimCard::new(model, 1)
}

fn write_all(card: &mut SimCard, block: u64, count: u64) -> Vec<u64> {
    let mut now = Nanos(0);
    let mut times = Vec::new();
    for i in 0..count {
        let service = card.serve(now, Op::Write, i * block, block);
        times.push(service.done_at.0 - now.0);
        now = service.done_at;
    }
    times
}

#[test]
fn a_seek_is_charged_only_when_the_head_moves() {
    let mut card = card(|p| p.read_overhead = Nanos(0));
    let first = card.serve(Nanos(0), Op::Read, 0, 4096).done_at.0;
    let second = card.serve(Nanos(first), Op::Read, 4096, 4096).done_at.0 - first;
    assert_eq!((first - second, second), (300_000, 4096 * 25));
}

#[test]
fn the_cache_makes_a_cliff_at_its_size() {
    let mut card = card(|p| {
        p.cache = Some(SlcCache {
            size: Bytes(10 << 20),
            write_rate: 40_000_000,
            drain_rate: 0,
            drain_delay: Nanos(0),
        })
    });
    let times = write_all(&mut card, 1 << 20, 20);
    let (fast, slow) = (time_for(1 << 20, 40_000_000), time_for(1 << 20, 20_000_000));
    assert!(times[..10].iter().all(|&t| t == fast) && times[10..].iter().all(|&t| t == slow));
}

#[test]
fn an_idle_card_empties_its_cache() {
    let mut card = card(|p| {
        p.cache = Some(SlcCache {
            size: Bytes(1 << 20),
            write_rate: 40_000_000,
            drain_rate: 1 << 20,
            drain_delay: Nanos(0),
        });
    });
    let done = card.serve(Nanos(0), Op::Write, 0, 1 << 20).done_at;
    let later = Nanos(done.0 + 1_000_000_000);
    assert_eq!(
        card.serve(later, Op::Write, 0, 1 << 20).done_at.0 - later.0,
        time_for(1 << 20, 40_000_000)
    );
}

#[test]
fn stalls_come_by_bytes_and_throttling_by_busy_time() {
    let mut stalling = card(|p| {
        p.stalls = Some(Stalls {
            every: Bytes(4 << 20),
            lasts: Nanos(500_000_000),
        })
    });
    let slow = write_all(&mut stalling, 1 << 20, 16)
        .into_iter()
        .filter(|&t| t > 500_000_000)
        .count();
    assert_eq!(slow, 4);
    let mut warm = card(|p| {
        p.throttle = Some(Throttle {
            after: Nanos(200_000_000),
            percent: 200,
            until: None,
        })
    });
    let times = write_all(&mut warm, 1 << 20, 10);
    assert_eq!(times[9], 2 * times[0]);
}

#[test]
fn faults_of_the_model_take_effect() {
    let fault = |offset, kind| Fault {
        offset: Bytes(offset),
        len: Bytes(512),
        kind,
    };
    let mut card = card(|p| {
        p.claimed_capacity = Some(Bytes(2 << 30));
        p.lost_flush = Some(Bytes(8192));
        p.faults = vec![
            fault(0, FaultKind::ReadError),
            fault(8192, FaultKind::DropsWrites),
        ];
    });
    assert_eq!(card.place((1 << 30) + 5), 5);
    for (op, offset, len, effect) in [
        (Op::Read, 0, 4096, Effect::Failed),
        (Op::Write, 0, 4096, Effect::Done),
        (Op::Write, 4096, 8192, Effect::Dropped),
    ] {
        assert_eq!(card.serve(Nanos(0), op, offset, len).effect, effect);
    }
    card.flush(Nanos(0));
    for offset in [1 << 20, 2 << 20] {
        let served = card.serve(Nanos(0), Op::Write, offset, 4096);
        assert_eq!(served.effect, Effect::Done);
    }
    assert_eq!(card.power_cut(), [(2 << 20, 4096), (1 << 20, 4096)]);
    assert_eq!(card.power_cut(), []);
}

#[test]
fn some_reads_run_in_parallel_and_writes_do_not() {
    let mut card = card(|p| {
        p.parallel_reads = 4;
        p.read_seek = Nanos(0);
    });
    let read = |card: &mut SimCard, n: u64| card.serve(Nanos(0), Op::Read, n << 20, 4096).done_at.0;
    let one = 100_000 + 4096 * 25;
    let reads: Vec<u64> = (0..9).map(|n| read(&mut card, n) / one).collect();
    assert_eq!(reads, [1, 1, 1, 1, 2, 2, 2, 2, 3]);
    let write = card.serve(Nanos(0), Op::Write, 0, 4096).done_at.0;
    assert_eq!(write, 3 * one + 4096 * 50, "it waits for all reads");
    assert_eq!(read(&mut card, 20), write + one);
}

#[test]
fn a_change_of_direction_costs_extra() {
    let mut card = card(|p| {
        (p.read_overhead, p.read_seek) = (Nanos(0), Nanos(0));
        (p.write_to_read, p.read_to_write) = (Nanos(7), Nanos(11));
        (p.read_rate, p.write_rate) = (1_000_000_000, 1_000_000_000);
    });
    let mut now = Nanos(0);
    let mut cost = |op| {
        let done = card.serve(now, op, 0, 512).done_at;
        done.0 - std::mem::replace(&mut now, done).0
    };
    let costs = [Op::Read, Op::Read, Op::Write, Op::Write, Op::Read].map(&mut cost);
    assert_eq!(costs, [512, 512, 523, 512, 519]);
}

#[test]
fn a_throttled_card_returns_when_it_has_cooled_down() {
    let mut card = card(|p| {
        p.throttle = Some(Throttle {
            after: Nanos(1_000_000_000),
            percent: 200,
            until: Some(Nanos(400_000_000)),
        })
    });
    let block = 1 << 20;
    let usual = time_for(block, 20_000_000);
    let mut now = write_all(&mut card, block, 40).iter().sum::<u64>();
    let mut after = |idle: u64| {
        let begin = now + idle;
        now = card.serve(Nanos(begin), Op::Write, 0, block).done_at.0;
        now - begin
    };
    assert_eq!(after(0), 2 * usual);
    assert_eq!(after(1_000_000_000), 2 * usual, "it is not cool yet");
    assert_eq!(after(10_000_000_000), usual);
}

#[test]
fn waiting_for_the_host_inside_of_a_command_cools_no_card() {
    let slows_down = |waits: fn(&mut SimCard, Nanos)| {
        let mut card = card(|p| {
            p.throttle = Some(Throttle {
                after: Nanos(1_000_000_000),
                percent: 200,
                until: None,
            })
        });
        let block = 1 << 20;
        let usual = time_for(block, 20_000_000);
        let mut now = Nanos(0);
        let mut took = 0;
        for _ in 0..40 {
            // The host is as slow as the card.
            let at = Nanos(now.0 + usual);
            waits(&mut card, at);
            now = card.serve(at, Op::Write, 0, block).done_at;
            took = now.0 - at.0;
        }
        took == 2 * usual
    };
    assert!(slows_down(SimCard::stays_busy_until));
    assert!(!slows_down(|_, _| ()));
}

#[test]
fn a_cache_waits_before_it_empties() {
    let mut card = card(|p| {
        p.cache = Some(SlcCache {
            size: Bytes(1 << 20),
            write_rate: 40_000_000,
            drain_rate: 1 << 20,
            drain_delay: Nanos(2_000_000_000),
        });
    });
    let (fast, slow) = (time_for(1 << 20, 40_000_000), time_for(1 << 20, 20_000_000));
    let mut now = 0;
    let mut after = |idle: u64| {
        let begin = now + idle;
        now = card.serve(Nanos(begin), Op::Write, 0, 1 << 20).done_at.0;
        now - begin
    };
    let costs = [0, 2_000_000_000, 3_000_000_000].map(&mut after);
    assert_eq!(costs, [fast, slow, fast]);
}

#[test]
fn noise_has_its_median_its_spread_and_its_stalls() {
    let noise = |change: fn(&mut Noise)| {
        let mut card = card(|p| {
            let mut noise = Noise::default();
            change(&mut noise);
            p.noise = Some(noise);
        });
        write_all(&mut card, 4096, 20_000)
    };
    let plain = time_for(4096, 20_000_000) as f64;
    let mut logs: Vec<f64> = noise(|n| n.sigma_permille = 100)
        .into_iter()
        .map(|cost| (cost as f64 / plain).ln())
        .collect();
    logs.sort_by(f64::total_cmp);
    let quantile = |part: f64| logs[(part * 20_000.0) as usize];
    assert!(quantile(0.5).abs() < 0.005);
    assert!((quantile(0.8413) - 0.1).abs() < 0.005 && (quantile(0.1587) + 0.1).abs() < 0.005);
    let stalled = noise(|n| (n.stalls_per_million, n.stall_mean) = (10_000, Nanos(5_000_000)));
    let long: Vec<f64> = stalled
        .iter()
        .map(|&cost| cost as f64 - plain)
        .filter(|&extra| extra > 0.5)
        .collect();
    assert!((150..250).contains(&long.len()), "{}", long.len());
    let mean = long.iter().sum::<f64>() / long.len() as f64;
    assert!((3.5e6..6.5e6).contains(&mean), "{mean}");
    let drifting = noise(|n| (n.drift_permille, n.drift_period) = (150, Nanos(1_000_000_000)));
    let (least, most) = (drifting.iter().min(), drifting.iter().max());
    let factor = |cost: Option<&u64>| cost.map_or(0.0, |&cost| cost as f64 / plain);
    assert!((factor(least) - 0.85).abs() < 0.001 && (factor(most) - 1.15).abs() < 0.001);
}

#[test]
fn a_card_of_flash_charges_its_mechanics() {
    let flash = Flash {
        page: Bytes(16 << 10),
        sense: Nanos(50_000),
        gathers_writes: true,
        unit: Bytes(4 << 20),
        open: Nanos(700_000),
        unit_crossing: Nanos(30_000),
        open_units: 2,
        random_units: 0,
        random_write: Nanos(0),
        collection_rate: 20_000_000,
        fat_units: 0,
        mapping: None,
        discard: Nanos(5_000),
        discard_frees: false,
    };
    let mut card = card(|p| {
        p.flash = Some(flash);
        (p.read_overhead, p.read_seek) = (Nanos(100_000), Nanos(0));
    });
    let mut now = Nanos(0);
    let mut cost = |op, offset, len| {
        let done = card.serve(now, op, offset, len).done_at;
        done.0 - std::mem::replace(&mut now, done).0
    };
    let block = 64 << 10;
    let program = time_for(block, 20_000_000);
    assert_eq!(cost(Op::Write, 0, block), 700_000 + program);
    assert_eq!(cost(Op::Write, block, block), program);
    assert_eq!(cost(Op::Write, 40 << 20, block), 700_000 + program);
    let rest = time_for((4 << 20) - 2 * block, 20_000_000);
    assert_eq!(cost(Op::Write, 80 << 20, block), 700_000 + rest + program);
    assert_eq!(cost(Op::Read, 0, 512), 150_000 + 512 * 25);
    assert_eq!(cost(Op::Read, 512, 512), 100_000 + 512 * 25);
    assert_eq!(cost(Op::Trim, 0, 4 << 20), 5_000);
}

#[test]
fn jitter_is_seeded_and_centred() {
    let run = |seed| {
        let mut model = DeviceModel::plain("t", Bytes(1 << 30));
        model.jitter_permille = 50;
        let mut card = SimCard::new(model, seed);
        write_all(&mut card, 4096, 2000)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let plain = write_all(
        &mut SimCard::new(DeviceModel::plain("t", Bytes(1 << 30)), 1),
        4096,
        2000,
    );
    let ratio = run(3).iter().sum::<u64>() as f64 / plain.iter().sum::<u64>() as f64;
    assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
}
