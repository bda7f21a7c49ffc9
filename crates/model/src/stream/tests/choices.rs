//! Tests of the choice of files, free blocks and skewed blocks.

use super::*;
use crate::job::AbsoluteZone;
use crate::rng::Rng;
use crate::stream::random_map::RandomMap;
use crate::stream::skew::Skew;
use crate::stream::turns::Turns;

#[test]
fn round_robin_skips_a_file_that_was_closed_before_its_turn() {
    for run_length in 1..4 {
        let rules = FileTurns {
            run_length,
            ..FileTurns::default()
        };
        for files in 3..7 {
            for current in 1..files - 1 {
                for closed in 0..current {
                    let (mut turns, mut rng) = (Turns::new(&rules, files, 1), Rng::new(1));
                    let mut draw = |turns: &mut Turns| turns.draw(&mut rng);
                    while draw(&mut turns) != current {}
                    assert!(!turns.close(closed));
                    for _ in 1..run_length {
                        assert_eq!(draw(&mut turns), current, "its run goes on");
                    }
                    let others = (current + 1..files).chain((0..=current).filter(|&f| f != closed));
                    for next in others {
                        for _ in 0..run_length {
                            assert_eq!(draw(&mut turns), next, "{closed} of {files} closed");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_block_that_was_accessed_gives_way_to_the_next_one_left() {
    const BLOCKS: u64 = 192;
    for left in [100, 128, 190] {
        let seeds = 400;
        let mut times = 0;
        for seed in 0..seeds {
            let mut map = RandomMap::new(BLOCKS * 512, 512, Rng::new(seed)).unwrap();
            for block in (1..BLOCKS).filter(|&block| block != left) {
                map.take(block * 512, 512);
            }
            let drawn = map.draw().unwrap() / 512;
            assert!([0, left].contains(&drawn), "{drawn}");
            times += u64::from(drawn == left);
        }
        // It replaces each of the blocks from 1 on; block 0 replaces those after it.
        let (share, wanted) = (times as f64 / seeds as f64, left as f64 / BLOCKS as f64);
        assert!((share - wanted).abs() < 0.1, "{share} instead of {wanted}");
    }
}

#[test]
fn zones_beyond_the_end_of_a_file_draw_its_last_block() {
    for (n, first, second) in [(16, 32, 0), (16, 8, 100), (1, 4, 4)] {
        let zone = |blocks: u64| AbsoluteZone {
            access_percent: 50.0,
            size: Bytes(blocks * 4096),
        };
        let zones = Distribution::ZonedAbs(vec![zone(first), zone(second)]);
        let mut rng = Rng::new(7);
        let skew = Skew::new(&zones, None, n, 4096, &mut rng);
        let drawn: Vec<u64> = (0..200).map(|_| skew.draw(n, &mut rng)).collect();
        assert!(drawn.iter().all(|&block| block < n), "{drawn:?}");
        assert!(drawn.contains(&(n - 1)));
    }
}
