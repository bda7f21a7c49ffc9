//! Consistency checks of a result: bytes, time, bandwidth, I/Os and block size are redundant.
//!
//! Does not judge the quality of the experiment.

use super::super::units::{Ranged, slip};
use super::sums::{OpSums, ReportSums};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{BlockSize, Job, Op};
use hakaru_model::reported::ReportedBlock;
use hakaru_model::units::{Bytes, BytesPerSec, Iops};

/// Returns the contradictions within a reported job. `job` holds what is known from other sources: block sizes derived
/// from these figures prove nothing.
pub(super) fn contradictions(
    report: &ReportedBlock,
    phase: &str,
    job: Option<&Job>,
) -> Vec<Caveat> {
    let sums = ReportSums::of(report);
    Op::ALL
        .into_iter()
        .flat_map(|op| of_op(&sums, op, report, phase, job))
        .collect()
}

fn of_op(
    sums: &ReportSums,
    op: Op,
    report: &ReportedBlock,
    phase: &str,
    job: Option<&Job>,
) -> Vec<Caveat> {
    let one = &sums.ops[op];
    let time = one.runtime_ms.filter(|&ms| ms > 0).map(|ms| Ranged {
        value: ms as f64 / 1e3,
        slack: 1e-3,
    });
    let over_time = |amount: Option<Ranged>| amount?.over(time?);
    let mut bandwidth = vec![(over_time(one.bytes), "bytes and time".to_owned())];
    if let Some(BlockSize::Fixed(size)) = job.map(|job| &job.block[op]) {
        let iops = one.iops.filter(|_| whole_blocks(one));
        let follows = iops.map(|iops| iops.times(size.0 as f64));
        bandwidth.push((follows, format!("IOPS and block size {size}")));
    }
    let other = report.part(op.name());
    let other = other.and_then(|block| Ranged::of(block.get("BW other")?, sums.kilo));
    bandwidth.push((other, "the value in the other unit".to_owned()));
    let count = one.ios.map(|n| Ranged::exact(n as f64));
    let iops = [(over_time(count), "I/Os and time".to_owned())];
    let check = |stated, follows: &[_], name: &str, unit| {
        let name = format!("{} {name}", op.name());
        contradiction(phase, stated, follows, &name, unit)
    };
    let bandwidth = check(
        one.bandwidth,
        &bandwidth,
        "bandwidth",
        RateUnit::BytesPerSec,
    );
    let iops = check(one.iops, &iops, "rate", RateUnit::Iops);
    bandwidth.into_iter().chain(iops).collect()
}

/// Returns the contradiction of one figure with the values derived from others. One wrong figure counts once, however
/// many others it contradicts.
fn contradiction(
    phase: &str,
    stated: Option<Ranged>,
    follows: &[(Option<Ranged>, String)],
    name: &str,
    unit: RateUnit,
) -> Option<Caveat> {
    let stated = stated?;
    let odd: Vec<(Ranged, &str)> = follows
        .iter()
        .filter_map(|(follows, from)| Some(((*follows)?, from.as_str())))
        .filter(|(follows, _)| !stated.fits(*follows))
        .collect();
    let (first, _) = *odd.first()?;
    let from: Vec<&str> = odd.iter().map(|(_, from)| *from).collect();
    Some(Caveat::Contradiction {
        phase: phase.to_owned(),
        stated: format!("{name} of {}", unit.show(stated.value)),
        follows: format!(
            "{}, computed from {}",
            unit.show(first.value),
            from.join(", and from ")
        ),
        hint: slip(stated.value / first.value)
            .unwrap_or("one of the two is wrong")
            .to_owned(),
    })
}

/// Whether the I/O rate is precise enough to check the bandwidth. A rate of a few IOPS is truncated to an integer and
/// is not.
fn whole_blocks(op: &OpSums) -> bool {
    op.iops.is_some_and(|iops| iops.value >= 2.0)
}

#[derive(Clone, Copy)]
enum RateUnit {
    BytesPerSec,
    Iops,
}

impl RateUnit {
    fn show(self, value: f64) -> String {
        match self {
            RateUnit::BytesPerSec => BytesPerSec(value).to_string(),
            RateUnit::Iops => format!("{} IOPS", Iops(value)),
        }
    }
}

/// Returns the contradiction of a stated bandwidth with a stated IOPS figure of known block size, if any.
pub(in super::super) fn rate_contradiction(
    phase: &str,
    bandwidth: Ranged,
    iops: Ranged,
    block: Bytes,
) -> Option<Caveat> {
    let follows = iops.times(block.0 as f64);
    (!bandwidth.fits(follows)).then(|| Caveat::Contradiction {
        phase: phase.to_owned(),
        stated: format!("bandwidth of {}", BytesPerSec(bandwidth.value)),
        follows: format!(
            "{}, computed from {} IOPS of {block}",
            BytesPerSec(follows.value),
            Iops(iops.value)
        ),
        hint: slip(bandwidth.value / follows.value)
            .unwrap_or("one of the two is wrong")
            .to_owned(),
    })
}
