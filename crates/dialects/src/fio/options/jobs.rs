//! Options of jobs as a whole: names, clones, groups, scheduling and CPU placement.

use super::kind::{OptionKind, OptionValue, int};
use super::row::{FioOption, opt, put};
use crate::fio::lists::indices;
use crate::fio::spec::JobSpec;
use crate::fio::values::TimeUnit::Seconds;
use hakaru_model::job::rules::{ExitScope, MemoryMode, MemoryPolicy};
use hakaru_model::units::Nanos;

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "name",
        OptionKind::Text("seqread"),
        "Name of the job; on the command line it starts a new job",
    )
    .works(put!(
        |job, value| job.job.name = value.text().trim().to_owned()
    )),
    opt(
        "description",
        OptionKind::Text("nightly run"),
        "Description of the job, shown in the result",
    )
    .works(put!(
        |job, value| job.extras.description = Some(value.text().to_owned())
    )),
    opt("loops", int(0), "Number of times to repeat the job")
        .default("1")
        .works(put!(|job, value| job.job.extent.loops = value.u32().max(1))),
    opt("numjobs", int(1), "Number of clones of the job")
        .default("1")
        .works(put!(|job, value| job.job.numjobs = value.u32())),
    opt(
        "runtime",
        OptionKind::TimeOrNever(Seconds),
        "Maximum run time of the job; -1: unlimited",
    )
    .alias(&["timeout"])
    .default("0")
    .works(put!(
        |job, value| job.job.timing.runtime = Some(value.time()).filter(|time| time.0 > 0)
    )),
    opt(
        "time_based",
        OptionKind::Flag,
        "Repeat the workload until runtime has elapsed",
    )
    .works(put!(|job, value| job.job.timing.time_based = value.flag())),
    opt(
        "ramp_time",
        OptionKind::Time(Seconds),
        "Ramp time before the measurement starts",
    )
    .works(put!(|job, value| job.job.timing.ramp_time = value.time())),
    opt(
        "startdelay",
        OptionKind::TimeOrRange,
        "Delay before the job starts",
    )
    .default("0")
    .works(|job, value| {
        match value.time_range() {
            (min, max) if min == max => {
                (job.job.timing.startdelay, job.job.timing.startdelay_max) = (min, Nanos(0))
            }
            (min, max) => (job.job.timing.startdelay, job.job.timing.startdelay_max) = (min, max),
        }
        Ok(())
    }),
    opt(
        "stonewall",
        OptionKind::Flag,
        "Wait for all previous jobs to finish, and start a new group",
    )
    .alias(&["wait_for_previous"])
    .works(put!(|job, value| job.stonewall = value.flag())),
    opt("new_group", OptionKind::Flag, "Start a new reporting group")
        .works(put!(|job, value| job.new_group = value.flag())),
    opt(
        "group_reporting",
        OptionKind::Flag,
        "Report the jobs of a group together",
    )
    .works(put!(|job, value| job.job.group_reporting = value.flag())),
    opt(
        "wait_for",
        OptionKind::Text("writers"),
        "Wait until all clones of the named job have finished",
    )
    .works(put!(
        |job, value| job.job.timing.wait_for = Some(value.text().trim().to_owned())
    )),
    opt(
        "exitall",
        OptionKind::Flag,
        "End the other jobs when one job of the group finishes",
    )
    .works(put!(|job, value| job.exitall = value.flag())),
    opt(
        "exit_what",
        OptionKind::Choice(&[
            ("group", "the jobs of the group"),
            (
                "stonewall",
                "all running jobs; then continue after the next stonewall",
            ),
            ("all", "all jobs"),
        ]),
        "Which jobs exitall stops",
    )
    .default("group")
    .with(
        "exitall",
        put!(|job, value| job.exit_what = match value.word() {
            "stonewall" => ExitScope::Phase,
            "all" => ExitScope::All,
            _ => ExitScope::Group,
        }),
    ),
    opt(
        "exitall_on_error",
        OptionKind::Flag,
        "End the other jobs when one fails",
    )
    .works(put!(
        |job, value| job.job.termination.exit.on_error = value.flag()
    )),
    opt(
        "thread",
        OptionKind::Flag,
        "Run jobs as threads instead of processes",
    )
    .alias(&["threads"])
    .accepted("jobs are always threads")
    .checked(put!(|job, value| job.extras.thread = value.flag())),
    opt("clocksource", CLOCKS, "Clock source for timestamps")
        .accepted("the best clock of the host is used, and named in the record"),
    opt("gtod_cpu", int(0), "CPU dedicated to reading the clock").refused(
        "each job reads the clock itself",
        "use gtod_reduce=1 for fewer clock reads",
    ),
    opt("job_start_clock_id", int(0), "Clock for the job start time")
        .harmless(&["0"])
        .refused("start times use the wall clock", "omit it"),
    opt(
        "nice",
        OptionKind::Int { min: -20, max: 19 },
        "Nice value of the job threads",
    )
    .default("0")
    .works(put!(|job, value| {
        job.job.placement.priority.nice = value.int() as i32
    })),
    opt(
        "prio",
        OptionKind::Int { min: 0, max: 7 },
        "I/O priority level of the job, 0 is the highest",
    )
    .works(put!(
        |job, value| job.job.placement.priority.io_level = Some(value.u32())
    )),
    opt(
        "prioclass",
        OptionKind::Int { min: 0, max: 3 },
        "I/O priority class of the job",
    )
    .works(put!(|job, value| job.job.placement.priority.io_class =
        Some(value.u32()).filter(|class| *class > 0))),
    opt(
        "cpus_allowed",
        OptionKind::Indices,
        "CPUs that the job may use",
    )
    .works(put!(
        |job, value| job.job.placement.cpus_allowed = value.indices()
    )),
    opt(
        "cpumask",
        OptionKind::Int {
            min: 1,
            max: i64::MAX,
        },
        "CPUs that the job may use, as a bit mask",
    )
    .works(put!(|job, value| {
        let mask = value.u64();
        job.job.placement.cpus_allowed = (0..64).filter(|bit| mask >> bit & 1 == 1).collect();
    })),
    opt(
        "cpus_allowed_policy",
        POLICIES,
        "Whether clones share these CPUs",
    )
    .default("shared")
    .works(put!(
        |job, value| job.job.placement.split_cpus = value.word() == "split"
    )),
    opt(
        "numa_cpu_nodes",
        OptionKind::Indices,
        "NUMA nodes whose CPUs the job may use",
    )
    .works(put!(
        |job, value| job.job.placement.numa_cpu_nodes = value.indices()
    )),
    opt("numa_mem_policy", MEMORY, "NUMA memory policy of the job").works(memory),
    opt(
        "lockmem",
        OptionKind::Size { min: 0 },
        "Lock this much memory, to simulate a smaller host",
    )
    .default("0")
    .harmless(&["0"])
    .refused(
        "memory is not locked",
        "use direct=1 to keep the page cache out, or limit memory by a cgroup",
    ),
    opt(
        "ioscheduler",
        OptionKind::Text("none"),
        "Switch the I/O scheduler of the device",
    )
    .refused(
        "device settings are never changed",
        "write to /sys/block/DEVICE/queue/scheduler",
    ),
    opt(
        "exec_prerun",
        OptionKind::Text("sync"),
        "Run a command before the job; output in JOB.prerun.txt",
    )
    .works(put!(
        |job, value| job.job.commands.before = Some(value.text().to_owned())
    )),
    opt(
        "exec_postrun",
        OptionKind::Text("sync"),
        "Run a command after the job; output in JOB.postrun.txt",
    )
    .works(put!(
        |job, value| job.job.commands.after = Some(value.text().to_owned())
    )),
    opt("uid", int(0), "User ID of the job").refused(
        "jobs are threads of one process, with one user ID",
        "start fio itself as that user",
    ),
    opt("gid", int(0), "Group ID of the job").refused(
        "jobs are threads of one process, with one group ID",
        "start fio itself as that group",
    ),
    opt(
        "cgroup",
        OptionKind::Text("slow"),
        "Control group of the job",
    )
    .refused(
        "control groups are not created",
        "start fio in a control group, for example with systemd-run",
    ),
    opt(
        "cgroup_weight",
        OptionKind::Int {
            min: 100,
            max: 1000,
        },
        "Weight of that control group",
    )
    .goes_with("cgroup"),
    opt(
        "cgroup_nodelete",
        OptionKind::Bool,
        "Keep the control group after the job",
    )
    .default("0")
    .goes_with("cgroup"),
    // In old versions the sign set the direction in which a job moved its flow counter.
    opt(
        "flow",
        OptionKind::Int {
            min: -1000,
            max: 1000,
        },
        "Weight of the job in its flow",
    )
    .default("0")
    .works(put!(
        |job, value| job.flow.weight = value.int().unsigned_abs() as u32
    )),
    opt("flow_id", int(0), "ID of the flow that the job belongs to")
        .default("0")
        .with("flow", put!(|job, value| job.flow.id = value.u32())),
    opt(
        "flow_sleep",
        int(0),
        "Time in µs that a job waits when it exceeds its share of the flow",
    )
    .default("0")
    .with(
        "flow",
        put!(|job, value| job.flow.sleep = Nanos(u64::from(value.u32()) * 1000)),
    ),
    opt("flow_watermark", int(0), "Former flow limit").goes_with("flow"),
    opt("profile", OptionKind::Text("act"), "A built-in workload").refused(
        "the profiles `act` and `tiobench` are not supported",
        "write the jobs in a job file",
    ),
    opt(
        "kb_base",
        OptionKind::Choice(&[
            ("1024", "4k is 4096 and 4KiB is 4000"),
            ("1000", "4k is 4000 and 4KiB is 4096"),
        ]),
        "Meaning of size suffixes",
    )
    .default("1024")
    .works(put!(
        |job, value| job.extras.kb_base = if value.word() == "1000" { 1000 } else { 1024 }
    )),
    opt("unit_base", UNITS, "Unit of throughput in the result")
        .default("0")
        .works(put!(|job, value| {
            job.extras.unit_base = match value.word() {
                "8" => 8,
                "1" => 1,
                _ => 0,
            }
        })),
];

const CLOCKS: OptionKind = OptionKind::Choice(&[
    ("clock_gettime", "the kernel's monotonic clock"),
    ("cpu", "the CPU time-stamp counter"),
    ("gettimeofday", "the wall clock"),
]);
const MEMORY: OptionKind = OptionKind::Tagged(&[
    ("default", "system default"),
    ("prefer", "from this node if possible"),
    ("bind", "from these nodes only"),
    ("interleave", "interleaved over these nodes"),
    ("local", "from the node of the job's CPU"),
]);
const POLICIES: OptionKind = OptionKind::Choice(&[
    ("shared", "all clones use all of them"),
    ("split", "one CPU per clone"),
]);
const UNITS: OptionKind = OptionKind::Choice(&[("0", "bytes"), ("8", "bytes"), ("1", "bits")]);

fn memory(job: &mut JobSpec, value: &OptionValue) -> Result<(), String> {
    let mode = match value.word() {
        "prefer" => MemoryMode::Prefer,
        "bind" => MemoryMode::Bind,
        "interleave" => MemoryMode::Interleave,
        "local" => MemoryMode::Local,
        _ => MemoryMode::Default,
    };
    let needs = matches!(
        mode,
        MemoryMode::Prefer | MemoryMode::Bind | MemoryMode::Interleave
    );
    let nodes = match value.tag().filter(|tag| !tag.is_empty()) {
        None if needs => return Err("missing node; for example bind:0".to_owned()),
        Some(_) if !needs => return Err(format!("{} takes no node list", value.word())),
        None => Vec::new(),
        Some(tag) => indices(tag)?,
    };
    if mode == MemoryMode::Prefer && nodes.len() != 1 {
        return Err("prefer takes one node".to_owned());
    }
    job.job.placement.memory = Some(MemoryPolicy { mode, nodes });
    Ok(())
}
