//! Tests the access frequency of each block of skewed jobs against the formula of the distribution.
//!
//! Ranks are spread over the file by multiplication with an odd number, which can be inverted if the number of blocks
//! is a power of two.

use crate::cases;
use crate::generate::plan_of;
use hakaru_model::job::{AbsoluteZone, Access, BlockSize, Distribution, Op, PerOp, RelativeZone};
use hakaru_model::stream::StreamPlan;
use hakaru_model::units::Bytes;
use proptest::prelude::*;

const BLOCK: u64 = 512;
const DRAWS: u64 = 20_000;
/// Five standard deviations of a fraction with this number of draws.
const CHANCE: f64 = 0.018;

fn plan(distribution: Distribution, centre: Option<f64>, blocks: u64, seed: u64) -> StreamPlan {
    let mut access = Access::only(Op::Read, true);
    access.every_block_once = false;
    (access.distribution, access.centre) = (distribution, centre);
    let block = PerOp::all(BlockSize::Fixed(Bytes(BLOCK)));
    let mut plan = plan_of(access, block, BLOCK, &[blocks * BLOCK], None);
    (plan.limit_ios, plan.seed) = (Some(DRAWS), seed);
    plan
}

/// Returns the fraction of draws of each block.
fn shares(plan: &StreamPlan) -> Vec<f64> {
    let blocks = plan.regions[0].len / BLOCK;
    let mut shares = vec![0.0; blocks as usize];
    for request in plan.requests() {
        assert_eq!(request.offset % BLOCK, 0);
        shares[(request.offset / BLOCK) as usize] += 1.0 / DRAWS as f64;
    }
    shares
}

/// Returns the inverse of the golden ratio multiplier in 64 bits (Newton's iteration doubles the digits).
fn inverse_of_golden() -> u64 {
    let golden = 0x61c8_8646_80b5_83ebu64;
    (0..6).fold(golden, |inverse, _| {
        inverse.wrapping_mul(2u64.wrapping_sub(golden.wrapping_mul(inverse)))
    })
}

/// Returns the fractions by rank, with rank 0 at this block.
fn by_rank(shares: &[f64], favorite: u64) -> Vec<f64> {
    let (n, undo) = (shares.len() as u64, inverse_of_golden());
    let mut ranks = vec![0.0; shares.len()];
    for (block, share) in shares.iter().enumerate() {
        let rank = (block as u64 + n - favorite).wrapping_mul(undo) % n;
        ranks[rank as usize] = *share;
    }
    ranks
}

fn first(shares: &[f64], ranks: usize) -> f64 {
    shares[..ranks].iter().sum()
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn zipf_gives_each_rank_its_power(bits in 6u32..12, theta in 0.3f64..2.0, centre in 0.0f64..1.0, seed: u64) {
        prop_assume!((theta - 1.0).abs() > 0.05);
        let n = 1u64 << bits;
        let shares = shares(&plan(Distribution::Zipf(theta), Some(centre), n, seed));
        let ranks = by_rank(&shares, (centre * n as f64) as u64 % n);
        let zeta: f64 = (1..=n).map(|i| (i as f64).powf(-theta)).sum();
        prop_assert!((ranks[0] - 1.0 / zeta).abs() < CHANCE, "{} of {}", ranks[0], 1.0 / zeta);
        let second = 0.5f64.powf(theta) / zeta;
        prop_assert!((ranks[1] - second).abs() < CHANCE, "{} of {second}", ranks[1]);
        // The approximation is by Gray et al.: between the first ranks and all of them, its error is a few percent.
        for part in [n / 8, n / 2] {
            let exact: f64 = (1..=part).map(|i| (i as f64).powf(-theta)).sum::<f64>() / zeta;
            let found = first(&ranks, part as usize);
            prop_assert!((found - exact).abs() < CHANCE + 0.03, "{found} of {exact} up to {part} of {n}");
        }
    }

    #[test]
    fn pareto_gives_a_share_of_blocks_the_rest_of_accesses(bits in 6u32..12, power in 0.05f64..0.45, centre in 0.0f64..1.0, seed: u64) {
        let n = 1u64 << bits;
        let shares = shares(&plan(Distribution::Pareto(power), Some(centre), n, seed));
        let ranks = by_rank(&shares, (centre * n as f64) as u64 % n);
        // The first fraction x of the blocks gets x^(log(1-h)/log(h)) of the accesses; at x = h that is 1-h.
        let exponent = (1.0 - power).ln() / power.ln();
        for part in [(power * n as f64).ceil() as usize, n as usize / 4, n as usize / 2] {
            let exact = (part as f64 / n as f64).powf(exponent);
            let found = first(&ranks, part);
            prop_assert!((found - exact).abs() < CHANCE, "{found} of {exact} up to {part} of {n}");
        }
    }

    #[test]
    fn normal_has_its_middle_and_its_width(bits in 8u32..12, percent in 0.0f64..80.0, centre in prop::option::of(0.0f64..1.0), seed: u64) {
        let n = 1u64 << bits;
        let shares = shares(&plan(Distribution::Normal(percent), centre, n, seed));
        let favorite = ((centre.unwrap_or(0.5) + 0.5) * n as f64) as u64 % n;
        let ranks = by_rank(&shares, favorite);
        let at = |rank: usize| (rank as f64 + 0.5) / n as f64;
        let mean: f64 = ranks.iter().enumerate().map(|(rank, share)| at(rank) * share).sum();
        let scatter: f64 = ranks.iter().enumerate().map(|(rank, share)| (at(rank) - mean).powi(2) * share).sum();
        // The mean of twelve uniform numbers has a variance of 1/144; a uniform number with half the percentage adds
        // w²/12, at most 0.5.
        let wider = (percent / 100.0).min(0.5);
        let exact = 1.0 / 144.0 + wider * wider / 12.0;
        prop_assert!((mean - 0.5).abs() < 0.01, "{mean}");
        prop_assert!((scatter / exact - 1.0).abs() < 0.08, "{scatter} of {exact}");
    }

    #[test]
    fn uniform_prefers_no_block(bits in 3u32..8, seed: u64) {
        let n = 1u64 << bits;
        let shares = shares(&plan(Distribution::Uniform, None, n, seed));
        let even = 1.0 / n as f64;
        let chance = 5.0 * (even / DRAWS as f64).sqrt();
        prop_assert!(shares.iter().all(|share| (share - even).abs() < chance), "{shares:?}");
    }

    #[test]
    fn relative_zones_get_their_accesses(cuts in prop::array::uniform3(1u32..30), sizes in prop::array::uniform3(1u32..30), seed: u64) {
        let n = 1000u64;
        let rest = |parts: [u32; 3]| [parts[0], parts[1], parts[2], 100 - parts.iter().sum::<u32>()];
        let (access, size) = (rest(cuts), rest(sizes));
        let zone = |(access, size): (u32, u32)| RelativeZone { access_percent: f64::from(access), size_percent: f64::from(size) };
        let zones: Vec<RelativeZone> = access.into_iter().zip(size).map(zone).collect();
        let shares = shares(&plan(Distribution::Zoned(zones), None, n, seed));
        let mut begin = 0;
        for (access, size) in access.into_iter().zip(size) {
            let end = begin + size as usize * 10;
            let found: f64 = shares[begin..end].iter().sum();
            prop_assert!((found - f64::from(access) / 100.0).abs() < CHANCE, "{found} of {access}% in {begin}..{end}");
            begin = end;
        }
    }

    #[test]
    fn absolute_zones_leave_the_rest_alone(access in 1u32..100, sizes in prop::array::uniform2(1u64..200), seed: u64) {
        let zone = |(percent, blocks): (u32, u64)| AbsoluteZone { access_percent: f64::from(percent), size: Bytes(blocks * BLOCK) };
        let zones = vec![zone((access, sizes[0])), zone((100 - access, sizes[1]))];
        let shares = shares(&plan(Distribution::ZonedAbs(zones), None, 1000, seed));
        let (first, rest) = shares.split_at(sizes[0] as usize);
        let (second, behind) = rest.split_at(sizes[1] as usize);
        prop_assert!((first.iter().sum::<f64>() - f64::from(access) / 100.0).abs() < CHANCE);
        prop_assert!((second.iter().sum::<f64>() - f64::from(100 - access) / 100.0).abs() < CHANCE);
        prop_assert!(behind.iter().all(|share| *share == 0.0));
    }

    #[test]
    fn any_distribution_stays_on_the_file(kind in 0usize..4, parameter in 0.0f64..100.0, centre in prop::option::of(0.0f64..2.0), n in 1u64..5000, seed: u64) {
        let distribution = match kind {
            0 => Distribution::Zipf(parameter / 25.0),
            1 => Distribution::Pareto(parameter / 100.0),
            2 => Distribution::Normal(parameter),
            _ => Distribution::Uniform,
        };
        let mut plan = plan(distribution, centre, n, seed);
        plan.limit_ios = Some(500);
        let requests: Vec<_> = plan.requests().collect();
        prop_assert_eq!(requests.len(), 500);
        prop_assert!(requests.iter().all(|request| request.offset + u64::from(request.len) <= n * BLOCK));
    }
}
