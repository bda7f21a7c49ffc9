//! Options of measurement and reporting: latencies, percentiles, logs, errors.

use super::kind::{OptionKind, int};
use super::row::{FioOption, opt, put};
use hakaru_model::job::PerOp;
use hakaru_model::job::rules::IgnoredErrors;
use hakaru_model::units::Quantile;

const PLAIN: &str = "logs are text files";
const LOG_NAME: OptionKind = OptionKind::OptionalText("seqread");

const WINDOW_VALUES: OptionKind = OptionKind::Choice(&[
    ("avg", "their mean"),
    ("0", ""),
    ("max", "the largest"),
    ("1", ""),
    ("both", "the mean and, in a separate column, the maximum"),
]);

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "clat_percentiles",
        OptionKind::Bool,
        "Report percentiles of completion latency",
    )
    .default("1")
    .works(put!(|job, value| job.extras.clat_percentiles = value.flag())),
    opt(
        "lat_percentiles",
        OptionKind::Bool,
        "Report percentiles of total latency",
    )
    .default("0")
    .works(put!(|job, value| job.extras.lat_percentiles = value.flag())),
    opt(
        "slat_percentiles",
        OptionKind::Bool,
        "Report percentiles of submission latency",
    )
    .default("0")
    .works(put!(|job, value| job.extras.slat_percentiles = value.flag())),
    opt(
        "percentile_list",
        OptionKind::Floats {
            min: 0.0,
            max: 100.0,
            most: 20,
        },
        "List of percentiles to report",
    )
    .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99")
    .works(put!(|job, value| {
        // fio reports them in ascending order and omits 0.
        let mut percents = value.floats().to_vec();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        let quantiles = percents
            .iter()
            .filter(|p| **p > 0.0)
            .filter_map(|p| Quantile::new(p / 100.0).ok());
        job.job.measure.percentiles = quantiles.collect();
    })),
    opt(
        "significant_figures",
        OptionKind::Int { min: 1, max: 10 },
        "Significant digits in the text result",
    )
    .default("4")
    .works(put!(
        |job, value| job.extras.significant_figures = value.u32()
    )),
    opt(
        "disable_lat",
        OptionKind::Bool,
        "Do not measure total latency",
    )
    .default("0")
    .works(put!(|job, value| job.job.measure.lat = !value.flag())),
    opt(
        "disable_clat",
        OptionKind::Bool,
        "Do not measure completion latency",
    )
    .default("0")
    .works(put!(|job, value| job.job.measure.clat = !value.flag())),
    opt(
        "disable_slat",
        OptionKind::Bool,
        "Do not measure submission latency",
    )
    .default("0")
    .works(put!(|job, value| job.job.measure.slat = !value.flag())),
    opt(
        "disable_bw_measurement",
        OptionKind::Bool,
        "Do not sample throughput",
    )
    .alias(&["disable_bw"])
    .default("0")
    .works(put!(|job, value| job.job.measure.intervals = !value.flag())),
    opt(
        "gtod_reduce",
        OptionKind::Bool,
        "Do not measure latencies and throughput over time",
    )
    .default("0")
    .works(put!(|job, value| job.gtod_reduce = value.flag())),
    opt("stats", OptionKind::Bool, "Include the job in the result")
        .default("1")
        .works(put!(|job, value| job.extras.stats = value.flag())),
    opt(
        "disk_util",
        OptionKind::Bool,
        "Include disk statistics in the result",
    )
    .default("1")
    .works(put!(|job, value| job.extras.disk_util = value.flag())),
    opt("bwavgtime", int(0), "Sampling interval of throughput in ms")
        .default("500")
        .works(put!(|job, value| job.extras.logs.bwavgtime_ms = value.u64())),
    opt("iopsavgtime", int(0), "Sampling interval of IOPS in ms")
        .default("500")
        .works(put!(
            |job, value| job.extras.logs.iopsavgtime_ms = value.u64()
        )),
    opt("write_bw_log", LOG_NAME, "Write a throughput log").works(put!(|job, value| {
        job.extras.logs.bw = Some(value.text().to_owned())
    })),
    opt("write_iops_log", LOG_NAME, "Write an IOPS log").works(put!(|job, value| job
        .extras
        .logs
        .iops =
        Some(value.text().to_owned()))),
    opt("write_lat_log", LOG_NAME, "Write latency logs").works(put!(|job, value| {
        job.extras.logs.lat = Some(value.text().to_owned())
    })),
    opt(
        "write_hist_log",
        LOG_NAME,
        "Write a log of completion latency histograms",
    )
    .works(put!(
        |job, value| job.extras.logs.hist = Some(value.text().to_owned())
    )),
    opt(
        "log_avg_msec",
        int(0),
        "Averaging interval of log entries in ms; 0: log each I/O",
    )
    .default("0")
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.avg_msec = value.u64()),
    ),
    opt(
        "log_hist_msec",
        int(0),
        "Interval between histograms in the log in ms",
    )
    .default("0")
    .with(
        "write_hist_log",
        put!(|job, value| job.extras.logs.hist_msec = value.u64()),
    ),
    opt(
        "log_hist_coarseness",
        OptionKind::Int { min: 0, max: 6 },
        "Coarseness of these histograms: number of halvings of the bins",
    )
    .default("0")
    .with(
        "write_hist_log",
        put!(|job, value| job.extras.logs.hist_coarseness = value.u32()),
    ),
    opt(
        "log_max_value",
        WINDOW_VALUES,
        "Value logged for each log_avg_msec window",
    )
    .alias(&["log_window_value"])
    .default("avg")
    .with(
        "write_lat_log",
        put!(|job, value| {
            job.extras.logs.max_value = matches!(value.word(), "max" | "1");
            job.extras.logs.both_values = value.word() == "both";
        }),
    ),
    opt("log_offset", OptionKind::Bool, "Log the offset of each I/O")
        .default("0")
        .with(
            "write_bw_log",
            put!(|job, value| job.extras.logs.offset = value.flag()),
        ),
    opt("log_prio", OptionKind::Bool, "Log the priority of each I/O")
        .default("0")
        .with(
            "write_bw_log",
            put!(|job, value| job.extras.logs.prio = value.flag()),
        ),
    opt(
        "log_issue_time",
        OptionKind::Bool,
        "Log the issue time of each I/O",
    )
    .default("0")
    .with(
        "write_lat_log",
        put!(|job, value| job.extras.logs.issued = value.flag()),
    ),
    opt(
        "per_job_logs",
        OptionKind::Bool,
        "Add the job number to log file names",
    )
    .default("1")
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.per_job = value.flag()),
    ),
    opt(
        "log_unix_epoch",
        OptionKind::Bool,
        "Use Unix timestamps in logs",
    )
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.unix_epoch = value.flag()),
    ),
    opt(
        "log_alternate_epoch",
        OptionKind::Bool,
        "Use an alternate clock for log timestamps",
    )
    .with(
        "write_bw_log",
        put!(|job, value| job.extras.logs.unix_epoch = value.flag()),
    ),
    opt(
        "log_alternate_epoch_clock_id",
        int(0),
        "Clock for log timestamps",
    )
    .with("log_alternate_epoch", |_, value| match value.int() {
        0 => Ok(()),
        _ => Err("only clock 0 (Unix time) is supported".to_owned()),
    }),
    opt(
        "log_entries",
        OptionKind::Int {
            min: 1024,
            max: 1 << 20,
        },
        "Initial number of log entries in memory",
    )
    .default("1024")
    .accepted("log memory is allocated before the run"),
    opt(
        "log_compression",
        OptionKind::Size { min: 0 },
        "Compress logs in memory",
    )
    .accepted("logs are stored compactly without compression"),
    opt(
        "log_compression_cpus",
        OptionKind::Indices,
        "CPUs that compress logs",
    )
    .goes_with("log_compression"),
    opt(
        "log_store_compressed",
        OptionKind::Bool,
        "Compress log files",
    )
    .harmless(&["0"])
    .refused(PLAIN, "compress them after the run"),
    opt(
        "block_error_percentiles",
        OptionKind::Bool,
        "Report after how many trims blocks fail",
    )
    .default("0")
    .harmless(&["0"])
    .refused(
        "errors are listed individually",
        "read the errors of the stored run",
    ),
    opt(
        "continue_on_error",
        ERRORS,
        "Continue after errors of these operations",
    )
    .default("none")
    .works(put!(|job, value| {
        let (read, write, trim) = match value.word() {
            "read" => (true, false, false),
            "write" => (false, true, false),
            "io" | "all" | "1" => (true, true, true),
            _ => (false, false, false),
        };
        job.job.errors.continue_on = PerOp { read, write, trim };
        job.job.errors.continue_on_mismatch = matches!(value.word(), "verify" | "all" | "1");
    })),
    opt("ignore_error", OptionKind::Errors, "Errors to ignore").works(put!(|job, value| {
        let [read, write, verify] = value.errors();
        job.job.errors.ignored = IgnoredErrors {
            read,
            write,
            verify,
        };
    })),
    opt("error_dump", OptionKind::Bool, "Print each ignored error")
        .default("0")
        .accepted("the first errors of each job are always printed and recorded"),
];

const ERRORS: OptionKind = OptionKind::Choice(&[
    ("none", "no"),
    ("read", "of reads"),
    ("write", "of writes"),
    ("io", "of all"),
    ("verify", "of verification"),
    ("all", "all operations, including verification"),
    ("0", "as none"),
    ("1", "as all"),
]);
