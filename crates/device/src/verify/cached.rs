//! Tests with fake cards whose cache hides missing memory.

use super::content_keeper::restored_sized;
use super::probe::probe_sized;
use super::*;
use crate::testcard::{Cache, Forgets, PastEndWrites, Serves, SparseCard};
use std::ops::ControlFlow;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// 1/256 of the real sizes, so that many cards can be tested.
const SMALL: ScanSizes = ScanSizes {
    chunk: CHUNK / 256,
    segment: 256 << 10,
    cache: 4 << 20,
};

/// For all combinations of cards and caches: the minimum for a missing end of 1 MiB.
const TINY: ScanSizes = ScanSizes {
    chunk: CHUNK / 512,
    segment: 128 << 10,
    cache: 3 << 19,
};

const KIB: u64 = 1 << 10;

fn whole(sizes: ScanSizes, card: &mut SparseCard) -> IntegrityVerdict {
    let size = card.size().0;
    verify_sized(sizes, card, 0..size, 7, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn quick(sizes: ScanSizes, card: &mut SparseCard) -> IntegrityVerdict {
    probe_sized(sizes, card, 7, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Probes a card as `--keep` does, and checks that the whole content is restored.
fn kept(sizes: ScanSizes, card: &mut SparseCard) -> IntegrityVerdict {
    card.fill(3);
    let verdict = restored_sized(sizes, card, 7, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(card.is_as_filled(3), "something is not as it was");
    verdict
}

/// Returns the correct verdict for a card with this real size.
fn truth(real: u64, beyond: PastEndWrites) -> Capacity {
    let real = Bytes(real);
    if beyond == PastEndWrites::Wraps {
        Capacity::Wraps { real }
    } else {
        Capacity::Ends { real }
    }
}

fn caches(bytes: u64) -> Vec<Cache> {
    let kinds = [Forgets::Oldest, Forgets::LeastUsed].into_iter();
    // Without cache memory all kinds of caches are equal.
    kinds
        .take(if bytes == 0 { 1 } else { 2 })
        .flat_map(|forgets| {
            [Serves::Everything, Serves::Beyond].map(|serves| Cache::new(bytes, forgets, serves))
        })
        .collect()
}

const ENDS: [PastEndWrites; 3] = [
    PastEndWrites::Wraps,
    PastEndWrites::Vanishes,
    PastEndWrites::Refuses,
];

/// Cards that passed, or whose capacity was determined between the true and the claimed size.
#[test]
fn real_sizes_are_found_behind_caches() {
    let card = |real, claimed, size, forgets, serves| {
        let cache = Cache::new(size, forgets, serves);
        SparseCard::new(real, claimed, PastEndWrites::Vanishes, Some(cache))
    };
    let (real, claimed) = (8 * GIB, 32 * GIB);
    let mut large = card(real, claimed, 16 * MIB, Forgets::Oldest, Serves::Beyond);
    let found = quick(SIZES, &mut large).capacity;
    assert_eq!(found, truth(real, PastEndWrites::Vanishes));
    // 200 MiB of 1 GiB with a cache of 64 MiB, at 1/16 of the sizes.
    let (real, claimed) = (25 * MIB / 2, 64 * MIB);
    let sizes = ScanSizes {
        chunk: CHUNK / 16,
        segment: 4 * MIB,
        cache: claimed,
    };
    let mut small = card(real, claimed, 4 * MIB, Forgets::Oldest, Serves::Beyond);
    let found = quick(sizes, &mut small).capacity;
    assert_eq!(found, truth(real, PastEndWrites::Vanishes));
    let (forgets, serves) = (Forgets::LeastUsed, Serves::Everything);
    let verdict = whole(sizes, &mut card(real, claimed, 4 * MIB, forgets, serves));
    assert_eq!(verdict.capacity, truth(real, PastEndWrites::Vanishes));
    assert_eq!(
        (verdict.good, verdict.checked()),
        (Bytes(real), Bytes(claimed))
    );
}

/// Caches of 0 to 512 MiB, scaled to the sizes used here, with every type of fake memory.
#[test]
fn no_cache_hides_a_false_capacity() {
    let claimed = 6 * MIB;
    for cache in [0, 32 * KIB, 768 * KIB].into_iter().flat_map(caches) {
        for beyond in ENDS {
            for real in [MIB + 40 * KIB, claimed - 5 * MIB / 4] {
                let told = format!("{cache:?} {beyond:?} {real}");
                let card = || SparseCard::new(real, claimed, beyond, Some(cache.clone()));
                for verdict in [
                    whole(TINY, &mut card()),
                    quick(TINY, &mut card()),
                    kept(TINY, &mut card()),
                ] {
                    assert_eq!(verdict.capacity, truth(real, beyond), "{told}");
                    assert!(!verdict.is_good(), "{told}");
                }
            }
        }
    }
}

/// The missing memory is slightly larger than the cache, which hides most of it in each round, but a different part
/// each time.
#[test]
fn what_a_cache_can_hide_shrinks_with_each_round() {
    for (beyond_end, bytes) in [
        (4 * MIB, 3 * MIB),
        (MIB, 900 * KIB),
        (3 * MIB / 2, 100 * KIB),
    ] {
        for forgets in [Forgets::Oldest, Forgets::LeastUsed] {
            let cache = Cache::new(bytes, forgets, Serves::Beyond);
            let real = 12 * MIB - beyond_end;
            let mut card = SparseCard::new(real, 12 * MIB, PastEndWrites::Vanishes, Some(cache));
            assert_eq!(
                whole(SMALL, &mut card).capacity,
                truth(real, PastEndWrites::Vanishes),
                "{beyond_end} {bytes}"
            );
        }
    }
}

#[test]
fn an_honest_card_with_a_cache_is_good_and_written_little_more_than_once() {
    let size = 64 * MIB;
    for cache in caches(MIB) {
        let card = || SparseCard::new(size, size, PastEndWrites::Vanishes, Some(cache.clone()));
        let mut all = SparseCard::new(size, size, PastEndWrites::Vanishes, Some(cache.clone()));
        let verdict = whole(SMALL, &mut all);
        assert!(
            verdict.is_good() && verdict.good == Bytes(size),
            "{verdict:?}"
        );
        assert_eq!(all.written, size + 4 * MIB);
        assert!(quick(SMALL, &mut card()).is_good() && kept(SMALL, &mut card()).is_good());
    }
}

/// A bad range near the end is not a fake capacity, and is tested only once more.
#[test]
fn dropped_writes_behind_a_cache_are_damage() {
    let size = 16 * MIB;
    let cache = Cache::new(MIB, Forgets::Oldest, Serves::Everything);
    let mut card = SparseCard::new(size, size, PastEndWrites::Vanishes, Some(cache));
    card.drops = size - 2 * MIB..size - MIB;
    let verdict = whole(SMALL, &mut card);
    assert_eq!(
        (verdict.capacity, verdict.bad_bytes),
        (Capacity::AsClaimed, Bytes(MIB))
    );
    assert_eq!(
        verdict.bad,
        [Span {
            offset: Bytes(size - 2 * MIB),
            len: Bytes(MIB),
            state: BlockState::Lost
        }]
    );
    assert_eq!(card.written, size + 4 * MIB - 2 * MIB);
}

#[test]
fn a_stop_in_the_second_round_leaves_the_end_unproven() {
    let size = 16 * MIB;
    for doing in ["writing again", "reading again"] {
        let mut card = SparseCard::new(size, size, PastEndWrites::Vanishes, None);
        let stop = &mut |progress: crate::blockdev::ScanProgress| match progress.doing == doing {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let verdict = verify_sized(SMALL, &mut card, 0..size, 7, stop).unwrap();
        assert_eq!(
            (verdict.checked(), verdict.has_defects()),
            (Bytes(size - 4 * MIB), false)
        );
    }
}
