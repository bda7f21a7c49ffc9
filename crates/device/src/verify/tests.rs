//! Verifying cards that are played in memory, with every kind of fault.

use super::*;
use crate::testcard::{Beyond, Card};
use proptest::prelude::*;
use std::ops::ControlFlow;

fn run(card: &mut Card) -> Verdict {
    verify(card, 7, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn span(offset: u64, len: u64, state: BlockState) -> Span {
    Span { offset: Bytes(offset), len: Bytes(len), state }
}

#[test]
fn an_honest_card_passes_with_its_speed() {
    let mut card = Card::honest(10 << 20);
    let verdict = run(&mut card);
    assert!(verdict.is_good() && verdict.bad.is_empty());
    assert_eq!((verdict.capacity, verdict.good), (Capacity::AsClaimed, Bytes(10 << 20)));
    // 50 ns a byte written, 25 ns a byte read.
    assert_eq!(verdict.write_speed.whole().rate().unwrap().0, 20e6);
    assert_eq!(verdict.read_speed.whole().rate().unwrap().0, 40e6);
    assert_eq!(card.flushes, 1);
}

#[test]
fn memory_that_wraps_is_found_out_with_its_true_size() {
    for (real, claimed) in [(4 << 20, 16 << 20), (5 << 20, 16 << 20), (7 << 20, 10 << 20), (3_000_832, 20_000_768)] {
        let verdict = run(&mut Card::false_capacity(real, claimed, Beyond::Wraps));
        assert_eq!(verdict.capacity, Capacity::Wraps { real: Bytes(real) }, "{real} of {claimed}");
        assert_eq!((verdict.good, verdict.bad_bytes), (Bytes(real), Bytes(claimed - real)));
    }
}

#[test]
fn memory_that_ends_is_found_out_with_its_true_size() {
    let verdict = run(&mut Card::false_capacity(6 << 20, 16 << 20, Beyond::Vanishes));
    assert_eq!(verdict.capacity, Capacity::Ends { real: Bytes(6 << 20) });
    assert_eq!(verdict.bad, [span(6 << 20, 10 << 20, BlockState::Lost)]);
}

#[test]
fn dropped_writes_and_rot_are_found_where_they_are() {
    let mut card = Card::honest(8 << 20);
    card.content.fill(0xee);
    card.drops = 1_048_576..1_050_624;
    card.rot = Some(5_000_000);
    let verdict = run(&mut card);
    let rotten = 5_000_000 / 512 * 512;
    let expected = [span(1_048_576, 2048, BlockState::Lost), span(rotten, 512, BlockState::Damaged)];
    assert_eq!((verdict.bad.as_slice(), verdict.capacity), (&expected[..], Capacity::AsClaimed));
}

#[test]
fn rot_in_the_address_is_damage_and_not_another_block() {
    let mut card = Card::honest(1 << 20);
    card.rot = Some(512 * 9 + 17);
    assert_eq!(run(&mut card).bad, [span(512 * 9, 512, BlockState::Damaged)]);
}

#[test]
fn blocks_that_fail_are_findings_and_the_rest_goes_on() {
    let mut card = Card::honest(8 << 20);
    card.write_error = Some(1 << 20);
    card.read_error = Some(5 << 20);
    let verdict = run(&mut card);
    let expected = [span(1 << 20, 512, BlockState::Unwritable), span(5 << 20, 512, BlockState::Unreadable)];
    assert_eq!(verdict.bad, expected);
    assert_eq!(verdict.good, Bytes((8 << 20) - 1024));
}

#[test]
fn only_the_range_is_touched() {
    let mut card = Card::honest(8 << 20);
    card.content.fill(0x5a);
    let range = 1 << 20..3 << 20;
    let verdict = verify_range(&mut card, range.clone(), 7, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(verdict.is_good() && verdict.claimed == Bytes(2 << 20));
    let outside = |at: usize| !(range.start as usize..range.end as usize).contains(&at);
    assert!(card.content.iter().enumerate().filter(|(at, _)| outside(*at)).all(|(_, byte)| *byte == 0x5a));
    let backwards = Range { start: 512, end: 0 };
    for bad in [1..512, backwards, 0..(8 << 20) + 512] {
        let refused = verify_range(&mut card, bad, 7, &mut |_| ControlFlow::Continue(()));
        assert!(matches!(refused, Err(VerifyError::Range { .. })));
    }
}

#[test]
fn an_old_run_is_not_taken_for_this_one() {
    let mut card = Card::honest(4 << 20);
    run(&mut card);
    card.drops = 0..4 << 20;
    let verdict = verify(&mut card, 8, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verdict.bad, [span(0, 4 << 20, BlockState::Lost)]);
}

#[test]
fn a_stop_is_obeyed() {
    let stopped = verify(&mut Card::honest(16 << 20), 7, &mut |progress| {
        if progress.doing == "reading" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(VerifyError::Interrupted { doing: "reading", at: Bytes(at) }) if at == 4 << 20));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_false_capacity_is_found(real in 64u64..4096, more in 2200u64..8192, wraps: bool) {
        let (real, claimed) = (real * 512, (real + more) * 512);
        let beyond = if wraps { Beyond::Wraps } else { Beyond::Vanishes };
        let verdict = run(&mut Card::false_capacity(real, claimed, beyond));
        let real = Bytes(real);
        prop_assert_eq!(verdict.capacity, if wraps { Capacity::Wraps { real } } else { Capacity::Ends { real } });
        prop_assert_eq!(verdict.good, real);
    }
}
