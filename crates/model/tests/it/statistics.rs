//! Property tests of counts, sums and distributions: exact in any order of merging.

use crate::cases;
use crate::generate::{intervals, latencies, trace};
use crate::{from_tree, to_tree};
use hakaru_model::campaign::{DeviceSegment, FillContent, PreparedStep, StepKind};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::histogram::{
    BUCKETS, FOLDED_BUCKETS, Histogram, folded_index, folded_middle, index_of, lower_edge,
    upper_edge,
};
use hakaru_model::integrity::{Capacity, IntegrityVerdict, SpeedMap, SpeedPoint};
use hakaru_model::job::Op;
use hakaru_model::measured::{HostPauses, Pause, PauseKind};
use hakaru_model::record::{Interval, Latency, Samples};
use hakaru_model::units::{Bytes, Nanos, Quantile};
use proptest::prelude::*;

fn counted(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values
        .iter()
        .for_each(|&value| histogram.record(Nanos(value)));
    histogram
}

fn sampled(values: &[u64]) -> Samples {
    let mut samples = Samples::default();
    values.iter().for_each(|&value| samples.record(value));
    samples
}

fn timed(values: &[u64], with_histogram: bool) -> Latency {
    let mut latency = if with_histogram {
        Latency::with_histogram()
    } else {
        Latency::default()
    };
    values
        .iter()
        .for_each(|&value| latency.record(Nanos(value)));
    latency
}

fn merged<T: Clone>(parts: &[T], merge: impl Fn(&mut T, &T)) -> T {
    let mut all = parts[0].clone();
    parts[1..].iter().for_each(|part| merge(&mut all, part));
    all
}

fn at(histogram: &Histogram, share: f64) -> u64 {
    let quantile = Quantile::new(share).expect("a share");
    histogram.value_at(quantile).expect("it is not empty").0
}

/// Returns mean and standard deviation in two passes over the values, by the textbook formula.
fn two_pass(values: &[u64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().map(|&v| v as f64).sum::<f64>() / n;
    let scatter: f64 = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum();
    (mean, (scatter / (n - 1.0).max(1.0)).sqrt())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_bucket_holds_what_is_counted_in_it(value: u64, bits in 0u32..64) {
        let value = value >> bits;
        let index = index_of(value);
        prop_assert!(index < BUCKETS);
        prop_assert!(lower_edge(index) <= value);
        prop_assert!(value <= upper_edge(index) || index == BUCKETS - 1);
        prop_assert!(upper_edge(index) - lower_edge(index) <= lower_edge(index) / 128);
        prop_assert!(index_of(value.saturating_sub(1)) <= index);
        prop_assert_eq!(index_of(lower_edge(index)), index);
        prop_assert_eq!(index_of(upper_edge(index)), index);
    }

    #[test]
    fn percentiles_rise_with_their_share(values in latencies(), mut shares in prop::collection::vec(0.0f64..=1.0, 2..20)) {
        let histogram = counted(&values);
        shares.sort_by(f64::total_cmp);
        let found: Vec<u64> = shares.iter().map(|&share| at(&histogram, share)).collect();
        prop_assert!(found.is_sorted(), "{:?}", found);
    }

    #[test]
    fn percentiles_lie_between_the_extremes(values in latencies(), share in 0.0f64..=1.0) {
        let histogram = counted(&values);
        let (least, most) = (values.iter().min().unwrap(), values.iter().max().unwrap());
        let found = at(&histogram, share);
        prop_assert!(found >= *least && found <= most + most / 128);
        prop_assert!(at(&histogram, 1.0) >= *most);
        prop_assert!(at(&histogram, 0.0) <= least + least / 128);
    }

    #[test]
    fn a_percentile_is_exceeded_by_no_more_than_the_rest(values in latencies(), share in 0.0f64..=1.0) {
        let histogram = counted(&values);
        let found = at(&histogram, share);
        let up_to = histogram.count_up_to(Nanos(found));
        let rank = (values.len() as f64 * Quantile::new(share).unwrap().share()).ceil() as u64;
        prop_assert!(up_to >= rank.max(1), "{up_to} of {rank} up to {found}");
        let below = histogram.buckets().take_while(|&(index, _)| upper_edge(index) < found);
        let below: u64 = below.map(|(_, n)| n).sum();
        prop_assert!(below < rank.max(1), "{below} of {rank} below {found}");
    }

    #[test]
    fn the_share_up_to_a_limit_rises_to_all(values in latencies(), mut limits in prop::collection::vec(0u64..1 << 43, 2..10)) {
        let histogram = counted(&values);
        limits.sort_unstable();
        limits.push(u64::MAX);
        let counts: Vec<u64> = limits.iter().map(|&limit| histogram.count_up_to(Nanos(limit))).collect();
        prop_assert!(counts.is_sorted());
        prop_assert_eq!(counts.last(), Some(&(values.len() as u64)));
        for (&limit, &count) in limits.iter().zip(&counts) {
            let exact = values.iter().filter(|&&value| value <= limit).count() as u64;
            prop_assert!(count >= exact);
        }
    }

    #[test]
    fn histograms_merge_in_any_grouping(a in latencies(), b in latencies(), c in latencies()) {
        let [ha, hb, hc] = [&a, &b, &c].map(|values| counted(values));
        let merge = |x: &mut Histogram, y: &Histogram| x.merge(y);
        let left = merged(&[merged(&[ha.clone(), hb.clone()], merge), hc.clone()], merge);
        let right = merged(&[ha.clone(), merged(&[hb.clone(), hc.clone()], merge)], merge);
        let turned = merged(&[hc, ha.clone(), hb], merge);
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(&left, &turned);
        prop_assert_eq!(left, counted(&[a, b, c].concat()));
        prop_assert_eq!(merged(&[ha.clone(), Histogram::new()], merge), ha);
    }

    #[test]
    fn a_value_counted_often_is_counted_as_often(value: u64, times in 0u64..200) {
        let mut at_once = Histogram::new();
        at_once.record_n(Nanos(value), times);
        let one_by_one = counted(&vec![value; times as usize]);
        prop_assert_eq!(&at_once, &one_by_one);
        prop_assert_eq!(at_once.count(), times);
        let mut by_index = Histogram::new();
        by_index.add_bucket(index_of(value), times);
        by_index.add_bucket(BUCKETS, 7);
        prop_assert_eq!(&at_once, &by_index);
        at_once.clear();
        prop_assert_eq!(at_once, Histogram::default());
    }

    #[test]
    fn buckets_are_listed_in_order_and_never_empty(values in latencies()) {
        let histogram = counted(&values);
        let listed: Vec<(usize, u64)> = histogram.buckets().collect();
        prop_assert!(listed.windows(2).all(|pair| pair[0].0 < pair[1].0));
        prop_assert!(listed.iter().all(|&(_, n)| n > 0));
        prop_assert_eq!(listed.iter().map(|(_, n)| n).sum::<u64>(), values.len() as u64);
        let stored: Vec<u64> = from_tree(to_tree(&histogram).unwrap()).unwrap();
        prop_assert_eq!(stored.len(), 2 * listed.len());
        let indices = stored.chunks(2).scan(0, |at, pair| { *at += pair[0] as usize; Some((*at, pair[1])) });
        prop_assert_eq!(indices.collect::<Vec<_>>(), listed);
    }

    #[test]
    fn a_folded_bucket_is_shown_by_its_middle(value in 0u64..1 << 34) {
        let index = folded_index(value);
        prop_assert!(index < FOLDED_BUCKETS);
        prop_assert!(folded_middle(index).abs_diff(value) <= value / 64);
        prop_assert_eq!(counted(&[value]).fold()[index], 1);
    }

    #[test]
    fn samples_merge_in_any_grouping(a in latencies(), b in latencies(), c in latencies()) {
        let [sa, sb, sc] = [&a, &b, &c].map(|values| sampled(values));
        let merge = |x: &mut Samples, y: &Samples| x.merge(y);
        let left = merged(&[merged(&[sa, sb], merge), sc], merge);
        prop_assert_eq!(left, merged(&[sa, merged(&[sb, sc], merge)], merge));
        prop_assert_eq!(left, merged(&[sc, sb, sa], merge));
        prop_assert_eq!(left, sampled(&[a, b, c].concat()));
        prop_assert_eq!(merged(&[Samples::default(), sa], merge), sa);
        prop_assert_eq!(merged(&[sa, Samples::default()], merge), sa);
    }

    #[test]
    fn mean_and_deviation_are_those_of_two_passes(values in latencies()) {
        let samples = sampled(&values);
        let (mean, deviation) = two_pass(&values);
        let near = |found: f64, wanted: f64| (found - wanted).abs() <= 1e-6 * mean.max(1.0);
        prop_assert!(near(samples.mean().unwrap(), mean), "{:?} {mean}", samples.mean());
        prop_assert!(near(samples.deviation().unwrap(), deviation), "{:?} {deviation}", samples.deviation());
        prop_assert_eq!(samples.min, *values.iter().min().unwrap());
        prop_assert_eq!(samples.max, *values.iter().max().unwrap());
    }

    #[test]
    fn the_deviation_does_not_depend_on_the_origin(values in prop::collection::vec(0u64..1 << 30, 2..100), shift in 0u64..1 << 40) {
        let shifted: Vec<u64> = values.iter().map(|value| value + shift).collect();
        let (a, b) = (sampled(&values).deviation().unwrap(), sampled(&shifted).deviation().unwrap());
        prop_assert!((a - b).abs() <= 1e-6 * a.max(1.0), "{a} {b}");
        let equal = sampled(&vec![shift; values.len()]);
        prop_assert_eq!(equal.deviation(), Some(0.0));
    }

    #[test]
    fn damaged_samples_never_panic(count: u64, sum in any::<u128>(), sum_sq in any::<u128>(), value: u64) {
        let damaged = Samples { count, min: value, max: value, sum, sum_sq };
        let mut twice = damaged;
        twice.merge(&damaged);
        prop_assert!(twice.count >= damaged.count && twice.sum >= damaged.sum);
        for samples in [damaged, twice] {
            prop_assert!(samples.deviation().is_none_or(|deviation| deviation >= 0.0));
            prop_assert_eq!(samples.mean().is_some(), samples.count > 0);
        }
    }

    #[test]
    fn latencies_merge_to_what_both_recorded(a in latencies(), b in latencies(), kept: [bool; 2]) {
        let (one, other) = (timed(&a, kept[0]), timed(&b, kept[1]));
        let merge = |x: &mut Latency, y: &Latency| x.merge(y);
        let both = merged(&[one.clone(), other.clone()], merge);
        let all = [a, b].concat();
        prop_assert_eq!(both.stat, sampled(&all));
        prop_assert_eq!(both.histogram.is_some(), kept[0] && kept[1]);
        if let Some(histogram) = &both.histogram {
            prop_assert_eq!(histogram, &counted(&all));
        }
        prop_assert_eq!(&both, &merged(&[other, one.clone()], merge));
        prop_assert_eq!(merged(&[one.clone(), Latency::default()], merge), one);
    }

    #[test]
    fn joined_intervals_keep_all_that_completed(parts in intervals(12)) {
        let mut whole = parts[0];
        parts[1..].iter().for_each(|part| whole.join(part));
        let last = parts.last().unwrap();
        prop_assert_eq!(whole.at, last.at);
        let sum = |of: &dyn Fn(&Interval) -> u64| parts.iter().map(of).sum::<u64>();
        prop_assert_eq!(whole.length.0, sum(&|part| part.length.0));
        for op in Op::ALL {
            prop_assert_eq!(whole.ops[op].ios, sum(&|part| part.ops[op].ios));
            prop_assert_eq!(whole.ops[op].bytes, sum(&|part| part.ops[op].bytes));
            prop_assert_eq!(whole.ops[op].clat_sum.0, sum(&|part| part.ops[op].clat_sum.0));
        }
    }

    #[test]
    fn joining_in_two_steps_is_joining_at_once(parts in intervals(6), cut in 1usize..6) {
        let join = |parts: &[Interval]| merged(parts, |all: &mut Interval, part| all.join(part));
        let cut = cut.min(parts.len() - 1).max(1);
        prop_assume!(cut < parts.len());
        let (first, rest) = parts.split_at(cut);
        let mut both = join(first);
        both.join(&join(rest));
        prop_assert_eq!(both, join(&parts));
        let most = Interval { length: Nanos(u64::MAX), ..parts[0] };
        let mut saturated = most;
        saturated.join(&most);
        prop_assert_eq!(saturated.length.0, u64::MAX);
    }

    #[test]
    fn a_speed_map_loses_no_byte_and_no_time(chunks in 1u64..3000, len in 1u64..1 << 20, times in prop::collection::vec(1u64..1000, 1..50)) {
        let mut map = SpeedMap::default();
        let total = Bytes(chunks * len);
        let mut elapsed = 0;
        for chunk in 0..chunks {
            let time = times[chunk as usize % times.len()];
            elapsed += time;
            map.add(SpeedPoint { offset: Bytes(chunk * len), len: Bytes(len), elapsed: Nanos(time) }, total);
        }
        let whole = map.whole();
        prop_assert_eq!((whole.offset, whole.len, whole.elapsed), (Bytes(0), total, Nanos(elapsed)));
        prop_assert!(map.points.len() <= 1024 && map.points.len() as u64 <= chunks);
        prop_assert!(map.points.windows(2).all(|pair| pair[0].offset.0 + pair[0].len.0 == pair[1].offset.0));
        let (slowest, fastest) = map.extremes().unwrap();
        let mean = whole.rate().unwrap();
        prop_assert!(slowest.0 <= mean.0 * (1.0 + 1e-9) && mean.0 <= fastest.0 * (1.0 + 1e-9));
    }

    #[test]
    fn a_verdict_is_good_only_where_all_came_back(good: u64, bad: u64, real in prop::option::of(any::<u64>()), wraps: bool) {
        let capacity = match real {
            None => Capacity::AsClaimed,
            Some(real) if wraps => Capacity::Wraps { real: Bytes(real) },
            Some(real) => Capacity::Ends { real: Bytes(real) },
        };
        let verdict = IntegrityVerdict {
            claimed: Bytes(u64::MAX), capacity, good: Bytes(good), bad: Vec::new(), bad_bytes: Bytes(bad),
            write_speed: SpeedMap::default(), read_speed: SpeedMap::default(),
        };
        prop_assert_eq!(verdict.is_good(), good > 0 && bad == 0 && real.is_none());
        prop_assert_eq!(verdict.has_defects(), bad > 0 || real.is_some());
        prop_assert_eq!(verdict.checked().0, good.saturating_add(bad));
        prop_assert_eq!(capacity.real(), real.map(Bytes));
    }

    #[test]
    fn pauses_count_by_kind_and_touch_what_they_meet(
        pauses in prop::collection::vec((0u64..1000, 1u64..100, any::<bool>()), 0..8), from in 0u64..1100, length in 1u64..200,
    ) {
        let kind = |stopped| if stopped { PauseKind::Stopped } else { PauseKind::Suspended };
        let listed = pauses.iter().map(|&(at, length, stopped)| Pause { at: Nanos(at), length: Nanos(length), kind: kind(stopped) });
        let host = HostPauses { pauses: listed.collect(), stolen: Nanos(0), processors: 4 };
        for stopped in [true, false] {
            let exact: u64 = pauses.iter().filter(|pause| pause.2 == stopped).map(|pause| pause.1).sum();
            prop_assert_eq!(host.total(kind(stopped)).0, exact);
        }
        let to = from + length;
        let meets = pauses.iter().any(|&(at, length, _)| (at..at + length).any(|moment| (from..to).contains(&moment)));
        prop_assert_eq!(host.touches(Nanos(from), Nanos(to)), meets);
    }

    #[test]
    fn a_trace_ends_where_its_last_io_does(trace in trace()) {
        for file in 0..trace.files.len() as u32 {
            let of_file = || trace.requests().filter(|request| request.region == file);
            let end = trace.end_of(file);
            prop_assert!(of_file().all(|request| request.offset + u64::from(request.len) <= end));
            prop_assert!(end == 0 || of_file().any(|request| request.offset + u64::from(request.len) == end));
        }
        let sizes = trace.sizes();
        for op in Op::ALL {
            let lens = || trace.requests().filter(|request| request.op == op).map(|request| request.len);
            prop_assert_eq!(sizes[op], lens().min().zip(lens().max()));
        }
        let writes = trace.requests().any(|request| request.op != Op::Read);
        prop_assert_eq!(trace.destroys(), writes);
        prop_assert_eq!(trace.syncs(), trace.requests().count() < trace.steps.len());
    }

    #[test]
    fn a_step_wrote_what_its_segments_and_it_say(written: u64, lens in prop::collection::vec(any::<u64>(), 0..5)) {
        let segment = |&len: &u64| DeviceSegment { offset: Bytes(0), len: Bytes(len), elapsed: Nanos(1) };
        let step = PreparedStep {
            step: StepKind::Filled { with: FillContent::Random },
            elapsed: Nanos(3),
            speed: lens.iter().map(segment).collect(),
            written: Bytes(written),
        };
        let exact = lens.iter().fold(written, |sum, len| sum.saturating_add(*len));
        prop_assert_eq!(step.bytes_written().0, exact);
        let again = step.clone().without_measurements();
        prop_assert_eq!((again.bytes_written().0, again.step, again.elapsed), (0, step.step, step.elapsed));
    }

    #[test]
    fn a_device_model_is_checked_before_it_is_used(capacity: u64, rates: [u64; 2], block: u32, jitter in 0u32..2000, claimed in prop::option::of(any::<u64>())) {
        let mut model = DeviceModel::plain("card", Bytes(capacity));
        (model.read_rate, model.write_rate, model.block_size, model.jitter_permille) = (rates[0], rates[1], block, jitter);
        model.claimed_capacity = claimed.map(Bytes);
        let fits = capacity > 0 && rates[0] > 0 && rates[1] > 0 && block > 0 && jitter <= 1000;
        prop_assert_eq!(model.check().is_ok(), fits);
        prop_assert_eq!(model.announced().0, claimed.unwrap_or(capacity));
    }
}
