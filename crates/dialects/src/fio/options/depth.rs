//! Options of engine, depth, rate and latency.

use super::engine;
use super::kind::{OptionKind, OptionValue, int};
use super::row::{FioOption, opt, put};
use crate::fio::spec::JobSpec;
use crate::fio::values::TimeUnit::{Micros, Seconds};

const AMOUNT: OptionKind = OptionKind::PerOpInt {
    min: 0,
    max: u64::MAX,
};

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "ioengine",
        OptionKind::Text("libaio"),
        "I/O engine; --enghelp lists the engines",
    )
    .default("psync")
    .works(|job, value| {
        job.job.ioengine = engine::find(value.text().trim())?;
        Ok(())
    }),
    opt(
        "iodepth",
        int(1),
        "Number of I/Os that each job keeps in flight",
    )
    .default("1")
    .works(put!(|job, value| job.job.queue.iodepth = value.u32())),
    opt(
        "iodepth_batch",
        int(0),
        "I/Os submitted per batch; 0 means iodepth",
    )
    .alias(&["iodepth_batch_submit"])
    .default("1")
    .works(put!(|job, value| job.job.queue.batch_submit = value.u32())),
    opt(
        "iodepth_batch_complete_min",
        int(0),
        "Minimum number of completions to wait for",
    )
    .alias(&["iodepth_batch_complete"])
    .default("1")
    .works(put!(
        |job, value| job.job.queue.batch_complete_min = value.u32()
    )),
    opt(
        "iodepth_batch_complete_max",
        int(0),
        "Maximum number of completions to fetch [default: the minimum]",
    )
    .works(put!(|job, value| job.complete_max = Some(value.u32()))),
    opt(
        "iodepth_low",
        int(0),
        "Low-water mark: let a full queue drain to this depth before submitting more",
    )
    .works(put!(|job, value| job.job.queue.low_mark = value.u32())),
    opt(
        "serialize_overlap",
        OptionKind::Bool,
        "Never keep overlapping I/Os in flight at the same time",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.queue.serialize_overlap = value.flag()
    )),
    opt(
        "io_submit_mode",
        OptionKind::Choice(&[
            ("inline", "by the job thread"),
            ("offload", "by a pool of threads"),
        ]),
        "Which threads submit I/Os",
    )
    .default("inline")
    .works(put!(
        |job, value| job.job.queue.offload = value.word() == "offload"
    )),
    opt(
        "rate",
        AMOUNT,
        "Limit throughput in bytes/s: for all, or for reads, writes and trims",
    )
    .works(put!(
        |job, value| job.job.rate.bytes_per_s = value.ints().map(some)
    )),
    opt(
        "rate_iops",
        AMOUNT,
        "Limit IOPS: for all, or for reads, writes and trims",
    )
    .works(put!(|job, value| job.job.rate.iops = value.ints().map(some))),
    opt(
        "rate_min",
        AMOUNT,
        "End the job if its throughput falls below this many bytes/s",
    )
    .alias(&["ratemin"])
    .works(put!(|job, value| job
        .job
        .termination
        .minimum_rate
        .bytes_per_s = value.ints().map(some))),
    opt(
        "rate_iops_min",
        AMOUNT,
        "End the job if it falls below this many IOPS",
    )
    .works(put!(
        |job, value| job.job.termination.minimum_rate.iops = value.ints().map(some)
    )),
    opt(
        "rate_cycle",
        int(0),
        "Averaging time in ms for rate_min and rate_iops_min",
    )
    .alias(&["ratecycle"])
    .default("1000")
    .with(
        "rate_min",
        put!(|job, value| {
            job.job.termination.minimum_rate.cycle =
                hakaru_model::units::Nanos::from_millis(u64::from(value.u32()))
        }),
    ),
    opt(
        "rate_process",
        OptionKind::Choice(&[("linear", "evenly spaced"), ("poisson", "Poisson process")]),
        "Distribution of the arrival times under a rate limit",
    )
    .default("linear")
    .works(put!(
        |job, value| job.job.rate.poisson = value.word() == "poisson"
    )),
    opt(
        "rate_ignore_thinktime",
        OptionKind::Bool,
        "Do not make up for thinktime",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.rate.ignore_thinktime = value.flag()
    )),
    opt(
        "thinktime",
        OptionKind::Time(Micros),
        "Pause after I/Os (µs without a unit)",
    )
    .default("0")
    .works(put!(|job, value| job.job.rate.thinktime = value.time())),
    opt("thinktime_blocks", int(0), "Number of I/Os between pauses")
        .default("1")
        .works(put!(
            |job, value| job.job.rate.thinktime_blocks = value.u32()
        )),
    opt(
        "thinktime_blocks_type",
        OptionKind::Choice(&[("complete", "completed ones"), ("issue", "issued ones")]),
        "Which I/Os count: completed or issued",
    )
    .default("complete")
    .works(put!(
        |job, value| job.job.rate.thinktime_on_issue = value.word() == "issue"
    )),
    opt(
        "thinktime_spin",
        OptionKind::Time(Micros),
        "Part of the pause spent busy on the CPU",
    )
    .default("0")
    .works(put!(|job, value| job.job.rate.thinktime_spin = value.time())),
    opt(
        "thinktime_iotime",
        OptionKind::Time(Seconds),
        "Interval between pauses",
    )
    .default("0")
    .works(put!(
        |job, value| job.job.rate.thinktime_iotime = value.time()
    )),
    opt(
        "max_latency",
        OptionKind::PerOpTime(Micros),
        "End the job at the first I/O with a higher latency",
    )
    .works(put!(|job, value| job.job.termination.max_latency =
        value.times().map(|time| time.filter(|t| t.0 > 0)))),
    opt(
        "latency_target",
        OptionKind::Time(Micros),
        "Find the deepest queue that meets this latency",
    )
    .works(put!(
        |job, value| job.latency.target = Some(value.time()).filter(|time| time.0 > 0)
    )),
    opt(
        "latency_window",
        OptionKind::Time(Micros),
        "Time to test each queue depth",
    )
    .with(
        "latency_target",
        put!(|job, value| job.latency.window = value.time()),
    ),
    opt(
        "latency_percentile",
        OptionKind::Floats {
            min: 0.0,
            max: 100.0,
            most: 1,
        },
        "Percentage of I/Os that must meet the latency target",
    )
    .default("100")
    .with(
        "latency_target",
        put!(|job, value| job.latency.percentile = value.floats()[0]),
    ),
    opt(
        "latency_run",
        OptionKind::Bool,
        "Continue with the queue depth found",
    )
    .default("0")
    .with(
        "latency_target",
        put!(|job, value| job.latency.keep_running = value.flag()),
    ),
    opt("steadystate", CRITERIA, "End the job in steady state")
        .alias(&["ss"])
        .works(steady),
    opt(
        "steadystate_duration",
        OptionKind::Time(Seconds),
        "Steady state window; 0 disables it",
    )
    .alias(&["ss_dur"])
    .default("0")
    .with(
        "steadystate",
        put!(|job, value| job.steady.duration = value.time()),
    ),
    opt(
        "steadystate_ramp_time",
        OptionKind::Time(Seconds),
        "Time before the first steady state window",
    )
    .alias(&["ss_ramp"])
    .default("0")
    .with(
        "steadystate",
        put!(|job, value| job.steady.ramp = value.time()),
    ),
    opt(
        "steadystate_check_interval",
        OptionKind::Time(Seconds),
        "Interval between samples",
    )
    .alias(&["ss_interval"])
    .default("1")
    .with(
        "steadystate",
        put!(|job, value| job.steady.interval = value.time()),
    ),
];

const CRITERIA: OptionKind = OptionKind::Tagged(&[
    ("iops", "maximum deviation of the IOPS from their mean"),
    ("iops_slope", "slope of the IOPS"),
    ("bw", "maximum deviation of the throughput from its mean"),
    ("bw_slope", "slope of the throughput"),
]);

/// Treats a rate of 0 as no limit.
fn some(rate: &Option<u64>) -> Option<u64> {
    rate.filter(|rate| *rate > 0)
}

fn steady(job: &mut JobSpec, value: &OptionValue) -> Result<(), String> {
    use hakaru_model::job::rules::SteadyLimit;
    use hakaru_model::units::{SizeSuffixes, parse_size};
    let text = value
        .tag()
        .ok_or("missing limit; for example iops_slope:0.3%")?;
    let limit = match text.trim().strip_suffix('%') {
        Some(percent) => {
            SteadyLimit::Percent(crate::fio::lists::floats(percent, 0.0, 100.0, 1)?[0])
        }
        None => SteadyLimit::Absolute(
            parse_size(text, SizeSuffixes::Fio1024)
                .map_err(|e| e.to_string())?
                .0 as f64,
        ),
    };
    job.steady.criterion = Some((value.word(), limit));
    Ok(())
}
