//! Verification of simulated cards with every type of fault.

use super::*;
use crate::testcard::{FakeCard, PastEndWrites};
use proptest::prelude::*;
use std::io;
use std::ops::ControlFlow;

fn run(card: &mut FakeCard) -> IntegrityVerdict {
    verify(card, 7, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn span(offset: u64, len: u64, state: BlockState) -> Span {
    Span {
        offset: Bytes(offset),
        len: Bytes(len),
        state,
    }
}

#[test]
fn an_honest_card_passes_with_its_speed() {
    let mut card = FakeCard::honest(10 << 20);
    let verdict = run(&mut card);
    assert!(verdict.is_good() && verdict.bad.is_empty());
    assert_eq!(
        (verdict.capacity, verdict.good),
        (Capacity::AsClaimed, Bytes(10 << 20))
    );
    // The simulated card takes 50 ns per byte written and 25 ns per byte read.
    assert_eq!(verdict.write_speed.whole().rate().unwrap().0, 20e6);
    assert_eq!(verdict.read_speed.whole().rate().unwrap().0, 40e6);
    // One flush per round.
    assert_eq!(card.flushes, 2);
}

#[test]
fn memory_that_wraps_is_found_out_with_its_true_size() {
    for (real, claimed) in [
        (4 << 20, 16 << 20),
        (5 << 20, 16 << 20),
        (7 << 20, 10 << 20),
        (3_000_832, 20_000_768),
    ] {
        let verdict = run(&mut FakeCard::false_capacity(
            real,
            claimed,
            PastEndWrites::Wraps,
        ));
        assert_eq!(
            verdict.capacity,
            Capacity::Wraps { real: Bytes(real) },
            "{real} of {claimed}"
        );
        assert_eq!(
            (verdict.good, verdict.bad_bytes),
            (Bytes(real), Bytes(claimed - real))
        );
    }
}

#[test]
fn memory_that_ends_is_found_out_with_its_true_size() {
    let verdict = run(&mut FakeCard::false_capacity(
        6 << 20,
        16 << 20,
        PastEndWrites::Vanishes,
    ));
    assert_eq!(
        verdict.capacity,
        Capacity::Ends {
            real: Bytes(6 << 20)
        }
    );
    assert_eq!(verdict.bad, [span(6 << 20, 10 << 20, BlockState::Lost)]);
}

#[test]
fn dropped_writes_and_rot_are_found_where_they_are() {
    let mut card = FakeCard::honest(8 << 20);
    card.content.fill(0xee);
    card.drops = 1_048_576..1_050_624;
    card.rot = Some(5_000_000);
    let verdict = run(&mut card);
    let rotten = 5_000_000 / 512 * 512;
    let expected = [
        span(1_048_576, 2048, BlockState::Lost),
        span(rotten, 512, BlockState::Damaged),
    ];
    assert_eq!(
        (verdict.bad.as_slice(), verdict.capacity),
        (&expected[..], Capacity::AsClaimed)
    );
}

#[test]
fn rot_in_the_address_is_damage_and_not_another_block() {
    let mut card = FakeCard::honest(1 << 20);
    card.rot = Some(512 * 9 + 17);
    assert_eq!(
        run(&mut card).bad,
        [span(512 * 9, 512, BlockState::Damaged)]
    );
}

#[test]
fn blocks_that_fail_are_findings_and_the_rest_goes_on() {
    let mut card = FakeCard::honest(8 << 20);
    card.write_error = Some(1 << 20);
    card.read_error = Some(5 << 20);
    let verdict = run(&mut card);
    let expected = [
        span(1 << 20, 512, BlockState::Unwritable),
        span(5 << 20, 512, BlockState::Unreadable),
    ];
    assert_eq!(verdict.bad, expected);
    assert_eq!(verdict.good, Bytes((8 << 20) - 1024));
}

#[test]
fn only_the_range_is_touched() {
    let mut card = FakeCard::honest(8 << 20);
    card.content.fill(0x5a);
    let range = 1 << 20..3 << 20;
    let verdict = verify_range(&mut card, range.clone(), 7, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(verdict.is_good() && verdict.claimed == Bytes(2 << 20));
    let outside = |at: usize| !(range.start as usize..range.end as usize).contains(&at);
    assert!(
        card.content
            .iter()
            .enumerate()
            .filter(|(at, _)| outside(*at))
            .all(|(_, byte)| *byte == 0x5a)
    );
    let backwards = Range { start: 512, end: 0 };
    for bad in [1..512, backwards, 0..(8 << 20) + 512] {
        let refused = verify_range(&mut card, bad, 7, &mut |_| ControlFlow::Continue(()));
        assert!(matches!(refused, Err(VerifyError::Range { .. })));
    }
}

#[test]
fn an_old_run_is_not_taken_for_this_one() {
    let mut card = FakeCard::honest(4 << 20);
    run(&mut card);
    card.drops = 0..4 << 20;
    let verdict = verify(&mut card, 8, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(verdict.bad, [span(0, 4 << 20, BlockState::Lost)]);
}

#[test]
fn a_stop_is_obeyed_and_what_was_read_until_then_counts() {
    let stop_while = |doing: &'static str| {
        let mut card = FakeCard::honest(16 << 20);
        card.read_error = Some(1 << 20);
        verify(&mut card, 7, &mut |progress| {
            if progress.doing == doing {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
    };
    let stopped = stop_while("writing").unwrap();
    assert_eq!(
        (stopped.checked(), stopped.write_speed.whole().len),
        (Bytes(0), Bytes(4 << 20))
    );
    assert!(!stopped.is_good() && !stopped.has_defects());
    let part = stop_while("reading").unwrap();
    assert_eq!(
        (part.checked(), part.claimed),
        (Bytes(4 << 20), Bytes(16 << 20))
    );
    assert_eq!(part.bad, [span(1 << 20, 512, BlockState::Unreadable)]);
}

#[test]
fn memory_that_ends_with_errors_is_found_out_without_trying_each_block() {
    let (real, claimed) = ((70 << 20) + 512, 600 << 20);
    let mut card = FakeCard::false_capacity(real, claimed, PastEndWrites::Refuses);
    let verdict = run(&mut card);
    assert_eq!(verdict.capacity, Capacity::Ends { real: Bytes(real) });
    assert_eq!(
        (verdict.good, verdict.bad_bytes),
        (Bytes(real), Bytes(claimed - real))
    );
    assert_eq!(
        verdict.bad,
        [span(real, claimed - real, BlockState::Unwritable)]
    );
    // The chunk where memory ends is tried block by block; all others are skipped soon.
    assert!(card.requests < 20_000, "{}", card.requests);
}

#[test]
fn what_could_not_be_written_before_a_stop_is_kept() {
    let mut card = FakeCard::honest(16 << 20);
    card.write_error = Some(1 << 20);
    let stopped = verify(&mut card, 7, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!(stopped.bad, [span(1 << 20, 512, BlockState::Unwritable)]);
    assert!(stopped.has_defects());
}

/// Free space that another program uses up meanwhile.
struct ShrinkingSpace(FakeCard, u64, bool);

impl BlockDev for ShrinkingSpace {
    fn size(&self) -> Bytes {
        self.0.size()
    }
    fn block(&self) -> u32 {
        self.0.block()
    }
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        if offset + data.len() as u64 > self.1 {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        self.0.write_at(offset, data)
    }
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, buffer)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
    fn now(&self) -> hakaru_model::units::Nanos {
        self.0.now()
    }
    fn may_shrink(&self) -> bool {
        self.2
    }
}

#[test]
fn space_that_others_use_up_is_no_defect() {
    let go_on = &mut |_| ControlFlow::Continue(());
    let verdict = verify(
        &mut ShrinkingSpace(FakeCard::honest(32 << 20), 13 << 20, true),
        7,
        go_on,
    )
    .unwrap();
    assert!(verdict.is_good(), "{verdict:?}");
    assert_eq!(
        (verdict.claimed, verdict.checked()),
        (Bytes(12 << 20), Bytes(12 << 20))
    );
    for (end, may_shrink) in [(13 << 20, false), (1 << 20, true)] {
        let full = verify(
            &mut ShrinkingSpace(FakeCard::honest(32 << 20), end, may_shrink),
            7,
            go_on,
        );
        assert!(matches!(full, Err(VerifyError::Full { .. })), "{full:?}");
    }
    let sampled = probe(
        &mut ShrinkingSpace(FakeCard::honest(300 << 20), 100 << 20, false),
        7,
        go_on,
    );
    assert!(
        matches!(sampled, Err(VerifyError::Full { .. })),
        "{sampled:?}"
    );
}

#[test]
fn a_card_that_is_pulled_is_no_finding() {
    let mut card = FakeCard::honest(400 << 20);
    card.pulled = true;
    let verdict = verify(&mut card, 7, &mut |_| ControlFlow::Continue(()));
    assert!(
        matches!(verdict, Err(VerifyError::Gone { .. })),
        "{verdict:?}"
    );
}

/// The kernel reports a removed disk as full; a loop device over nothing simulates one.
#[test]
fn a_disk_that_is_pulled_is_not_full() {
    use crate::blockdev::OpenDevice;
    use crate::guard::{Confirmation, check};
    let name = "a_disk_that_is_pulled_is_not_full";
    for way in ["writing", "reading", "filling"] {
        let Some(device) = crate::testloop::LoopDevice::new(name, 24, &[]) else {
            return;
        };
        let erasable = check(
            &device.node,
            &Confirmation::Serial(device.id()),
            &crate::Roots::live(),
        )
        .unwrap();
        let mut open = OpenDevice::open(&erasable).unwrap();
        let mut pull = |progress: crate::blockdev::ScanProgress| {
            if progress.doing == "reading" || way != "reading" {
                std::fs::File::options()
                    .write(true)
                    .open(device.file())
                    .unwrap()
                    .set_len(0)
                    .unwrap();
                let set = std::process::Command::new("losetup")
                    .arg("--set-capacity")
                    .arg(&device.node)
                    .status();
                assert!(set.unwrap().success());
            }
            ControlFlow::Continue(())
        };
        let told = match way {
            "filling" => {
                let filled =
                    crate::prepare::fill(&mut open, crate::prepare::FillPattern::Ones, &mut pull);
                assert!(
                    matches!(filled, Err(crate::prepare::FillError::Pulled { .. })),
                    "{filled:?}"
                );
                filled.unwrap_err().to_string()
            }
            _ => {
                let verified = verify(&mut open, 7, &mut pull);
                assert!(
                    matches!(verified, Err(VerifyError::Pulled { .. })),
                    "{verified:?}"
                );
                verified.unwrap_err().to_string()
            }
        };
        assert!(
            told.contains("was removed") && !told.contains("space"),
            "{told}"
        );
        assert!(hakaru_sys::block::is_pulled(&device.node));
    }
}

fn sample(card: &mut FakeCard) -> IntegrityVerdict {
    probe(card, 7, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn samples_pass_a_good_card_and_show_its_speed() {
    let mut card = FakeCard::honest(300 << 20);
    let verdict = sample(&mut card);
    assert!(verdict.is_good() && verdict.claimed == Bytes(300 << 20));
    assert!(verdict.checked() < Bytes(90 << 20), "{}", verdict.checked());
    let offsets: Vec<u64> = verdict
        .read_speed
        .points
        .iter()
        .map(|point| point.offset.0)
        .collect();
    assert!(
        offsets.is_sorted() && offsets.last() >= Some(&(192 << 20)),
        "{offsets:?}"
    );
    assert_eq!(verdict.write_speed.points.len(), offsets.len());
    assert_eq!(verdict.write_speed.whole().rate().unwrap().0, 20e6);
}

#[test]
fn samples_find_every_kind_of_false_capacity() {
    let claimed = 300 << 20;
    for real in [
        32 << 20,
        64 << 20,
        128 << 20,
        (100 << 20) + 512,
        claimed - 4096,
        claimed - (1 << 20),
    ] {
        let verdict = sample(&mut FakeCard::false_capacity(
            real,
            claimed,
            PastEndWrites::Wraps,
        ));
        assert_eq!(
            verdict.capacity,
            Capacity::Wraps { real: Bytes(real) },
            "{real}"
        );
        assert!(!verdict.is_good());
    }
    for (real, beyond) in [
        (32 << 20, PastEndWrites::Vanishes),
        (100 << 20, PastEndWrites::Vanishes),
        (100 << 20, PastEndWrites::Refuses),
    ] {
        let verdict = sample(&mut FakeCard::false_capacity(real, claimed, beyond));
        assert_eq!(verdict.capacity, Capacity::Ends { real: Bytes(real) });
    }
}

/// Regression: the last sample was further from the previous one than the segment is long, so a
/// size in between was taken as real.
#[test]
fn a_size_that_ends_just_before_the_end_is_found() {
    let (real, claimed) = (401_408 * 512, 534_597 * 512);
    let verdict = sample(&mut FakeCard::false_capacity(
        real,
        claimed,
        PastEndWrites::Wraps,
    ));
    assert_eq!(verdict.capacity, Capacity::Wraps { real: Bytes(real) });
}

#[test]
fn a_small_device_is_verified_as_a_whole() {
    let verdict = sample(&mut FakeCard::honest(9 << 20));
    assert_eq!(
        (verdict.checked(), verdict.is_good()),
        (Bytes(9 << 20), true)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_false_capacity_is_found(real in 64u64..4096, more in 2200u64..8192, wraps: bool) {
        let (real, claimed) = (real * 512, (real + more) * 512);
        let beyond = if wraps { PastEndWrites::Wraps } else { PastEndWrites::Vanishes };
        let verdict = run(&mut FakeCard::false_capacity(real, claimed, beyond));
        let real = Bytes(real);
        prop_assert_eq!(verdict.capacity, if wraps { Capacity::Wraps { real } } else { Capacity::Ends { real } });
        prop_assert_eq!(verdict.good, real);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn samples_find_any_size_that_wraps(real in 8u64 << 11..300 << 11, more in 8u64..400 << 11) {
        let (real, claimed) = (real * 512, (real + more).max(260 << 11) * 512);
        let verdict = sample(&mut FakeCard::false_capacity(real, claimed, PastEndWrites::Wraps));
        if claimed == real {
            prop_assert!(verdict.is_good());
        } else {
            prop_assert_eq!(verdict.capacity, Capacity::Wraps { real: Bytes(real) });
        }
    }
}
