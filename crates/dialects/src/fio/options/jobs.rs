//! Options of jobs as a whole: names, clones, groups, when they run and where.

use super::kind::{OptionKind, int};
use super::{FioOption, OptionValue, opt, put};
use crate::fio::lists::indices;
use crate::fio::spec::JobSpec;
use crate::fio::values::TimeUnit::Seconds;
use hakaru_model::job::rules::{ExitScope, MemoryMode, MemoryPolicy};
use hakaru_model::units::Nanos;

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "name",
        OptionKind::Text("seqread"),
        "Name of the job; on the command line it begins a new one",
    )
    .works(put!(
        |job, value| job.job.name = value.text().trim().to_owned()
    )),
    opt(
        "description",
        OptionKind::Text("nightly run"),
        "Text about the job, repeated in the result",
    )
    .works(put!(
        |job, value| job.extras.description = Some(value.text().to_owned())
    )),
    opt("loops", int(0), "How often the job does all it has to do")
        .default("1")
        .works(put!(|job, value| job.job.extent.loops = value.u32().max(1))),
    opt(
        "numjobs",
        int(1),
        "Clones of the job that run at the same time",
    )
    .default("1")
    .works(put!(|job, value| job.job.numjobs = value.u32())),
    opt(
        "runtime",
        OptionKind::TimeOrNever(Seconds),
        "Ends the job after this time; -1 is never",
    )
    .alias(&["timeout"])
    .default("0")
    .works(put!(
        |job, value| job.job.timing.runtime = Some(value.time()).filter(|time| time.0 > 0)
    )),
    opt(
        "time_based",
        OptionKind::Flag,
        "Begins again when all is done, until runtime is over",
    )
    .works(put!(|job, value| job.job.timing.time_based = value.flag())),
    opt(
        "ramp_time",
        OptionKind::Time(Seconds),
        "Time at the beginning that is not measured",
    )
    .works(put!(|job, value| job.job.timing.ramp_time = value.time())),
    opt(
        "startdelay",
        OptionKind::TimeOrRange,
        "Time the job waits before it begins",
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
        "Waits until all jobs before it have ended, and begins a group",
    )
    .alias(&["wait_for_previous"])
    .works(put!(|job, value| job.stonewall = value.flag())),
    opt(
        "new_group",
        OptionKind::Flag,
        "Begins a new group of jobs to report",
    )
    .works(put!(|job, value| job.new_group = value.flag())),
    opt(
        "group_reporting",
        OptionKind::Flag,
        "Reports the jobs of a group as one",
    )
    .works(put!(|job, value| job.job.group_reporting = value.flag())),
    opt(
        "wait_for",
        OptionKind::Text("writers"),
        "Waits until all clones of the job of this name have ended",
    )
    .works(put!(
        |job, value| job.job.timing.wait_for = Some(value.text().trim().to_owned())
    )),
    opt(
        "exitall",
        OptionKind::Flag,
        "Ends the other jobs when one of the group ends",
    )
    .works(put!(|job, value| job.exitall = value.flag())),
    opt(
        "exit_what",
        OptionKind::Choice(&[
            ("group", "the jobs of its group"),
            ("stonewall", "all jobs that run; the next stonewall follows"),
            ("all", "all jobs"),
        ]),
        "Which jobs exitall ends",
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
        "Ends the other jobs when one ends with an error",
    )
    .works(put!(
        |job, value| job.job.termination.exit.on_error = value.flag()
    )),
    opt(
        "thread",
        OptionKind::Flag,
        "Runs jobs as threads rather than processes",
    )
    .alias(&["threads"])
    .accepted("each worker is a thread always")
    .checked(put!(|job, value| job.extras.thread = value.flag())),
    opt("clocksource", CLOCKS, "Clock that times are taken from")
        .accepted("the best clock of the host is used, and the record says which"),
    opt(
        "gtod_cpu",
        int(0),
        "Processor that only tells the time to the others",
    )
    .refused(
        "times are taken by each worker itself",
        "use gtod_reduce=1 to take fewer of them",
    ),
    opt(
        "job_start_clock_id",
        int(0),
        "Clock in which the start of the job is told",
    )
    .harmless(&["0"])
    .refused("starts are told by the wall clock", "leave it out"),
    opt(
        "nice",
        OptionKind::Int { min: -20, max: 19 },
        "Niceness of the workers' processor time",
    )
    .default("0")
    .works(put!(|job, value| {
        job.job.placement.priority.nice = value.int() as i32
    })),
    opt(
        "prio",
        OptionKind::Int { min: 0, max: 7 },
        "Level of the workers' I/O priority, 0 being the highest",
    )
    .works(put!(
        |job, value| job.job.placement.priority.io_level = Some(value.u32())
    )),
    opt(
        "prioclass",
        OptionKind::Int { min: 0, max: 3 },
        "Class of the workers' I/O priority",
    )
    .works(put!(|job, value| job.job.placement.priority.io_class =
        Some(value.u32()).filter(|class| *class > 0))),
    opt(
        "cpus_allowed",
        OptionKind::Indices,
        "Processors the workers may run on",
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
        "Processors the workers may run on, as bits of a number",
    )
    .works(put!(|job, value| {
        let mask = value.u64();
        job.job.placement.cpus_allowed = (0..64).filter(|bit| mask >> bit & 1 == 1).collect();
    })),
    opt(
        "cpus_allowed_policy",
        POLICIES,
        "Whether clones share these processors",
    )
    .default("shared")
    .works(put!(
        |job, value| job.job.placement.split_cpus = value.word() == "split"
    )),
    opt(
        "numa_cpu_nodes",
        OptionKind::Indices,
        "NUMA nodes whose processors the workers may use",
    )
    .works(put!(
        |job, value| job.job.placement.numa_cpu_nodes = value.indices()
    )),
    opt("numa_mem_policy", MEMORY, "NUMA nodes memory is taken from").works(memory),
    opt(
        "lockmem",
        OptionKind::Size { min: 0 },
        "Locks so much memory, as if the host had less",
    )
    .default("0")
    .harmless(&["0"])
    .refused(
        "no memory is locked away",
        "use direct=1 to keep the page cache out, or limit memory by a cgroup",
    ),
    opt(
        "ioscheduler",
        OptionKind::Text("none"),
        "Switches the scheduler of the device",
    )
    .refused(
        "settings of the device are not changed behind your back",
        "write to /sys/block/DEVICE/queue/scheduler",
    ),
    opt(
        "exec_prerun",
        OptionKind::Text("sync"),
        "Runs a command before the job; its output goes to JOB.prerun.txt",
    )
    .works(put!(
        |job, value| job.job.commands.before = Some(value.text().to_owned())
    )),
    opt(
        "exec_postrun",
        OptionKind::Text("sync"),
        "Runs a command after the job; its output goes to JOB.postrun.txt",
    )
    .works(put!(
        |job, value| job.job.commands.after = Some(value.text().to_owned())
    )),
    opt("uid", int(0), "User the workers run as").refused(
        "workers are threads of one process, with one user",
        "start fio itself as that user",
    ),
    opt("gid", int(0), "Group the workers run as").refused(
        "workers are threads of one process, with one group",
        "start fio itself as that group",
    ),
    opt(
        "cgroup",
        OptionKind::Text("slow"),
        "Control group the job runs in",
    )
    .refused(
        "control groups are not made",
        "start fio itself within one, as by systemd-run",
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
        "Keeps that control group afterwards",
    )
    .default("0")
    .goes_with("cgroup"),
    // A sign told, long ago, which way a job moved the counter of its flow.
    opt(
        "flow",
        OptionKind::Int {
            min: -1000,
            max: 1000,
        },
        "Weight of the job among those of its flow",
    )
    .default("0")
    .works(put!(
        |job, value| job.flow.weight = value.int().unsigned_abs() as u32
    )),
    opt("flow_id", int(0), "Flow the job belongs to")
        .default("0")
        .with("flow", put!(|job, value| job.flow.id = value.u32())),
    opt(
        "flow_sleep",
        int(0),
        "Microseconds a job waits that is ahead of its flow",
    )
    .default("0")
    .with(
        "flow",
        put!(|job, value| job.flow.sleep = Nanos(u64::from(value.u32()) * 1000)),
    ),
    opt("flow_watermark", int(0), "Older limit of a flow").goes_with("flow"),
    opt("profile", OptionKind::Text("act"), "A built-in workload").refused(
        "fio's profiles `act` and `tiobench` are not built in",
        "write their jobs into a job file",
    ),
    opt(
        "kb_base",
        OptionKind::Choice(&[
            ("1024", "4k is 4096 and 4KiB is 4000"),
            ("1000", "4k is 4000 and 4KiB is 4096"),
        ]),
        "What prefixes of sizes mean",
    )
    .default("1024")
    .works(put!(
        |job, value| job.extras.kb_base = if value.word() == "1000" { 1000 } else { 1024 }
    )),
    opt("unit_base", UNITS, "Unit of the bandwidths in the result")
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
    ("cpu", "the processor's counter"),
    ("gettimeofday", "the wall clock"),
]);
const MEMORY: OptionKind = OptionKind::Tagged(&[
    ("default", "as the system does"),
    ("prefer", "from this node while it has any"),
    ("bind", "from these nodes only"),
    ("interleave", "from each of these nodes in turn"),
    ("local", "from the node the worker runs on"),
]);
const POLICIES: OptionKind = OptionKind::Choice(&[
    ("shared", "all use all of them"),
    ("split", "each has one of its own"),
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
        None if needs => return Err("a node is missing: write for example bind:0".to_owned()),
        Some(_) if !needs => return Err(format!("{} takes no nodes", value.word())),
        None => Vec::new(),
        Some(tag) => indices(tag)?,
    };
    if mode == MemoryMode::Prefer && nodes.len() != 1 {
        return Err("prefer takes one node".to_owned());
    }
    job.job.placement.memory = Some(MemoryPolicy { mode, nodes });
    Ok(())
}
