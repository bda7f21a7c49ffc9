//! Output before a run: jobs, version, number of processes, files being laid out, and notes.

use super::number::Style;
use super::view::StartView;
use crate::fio::JobExtras;
use hakaru_model::job::{Access, BlockSize, Job, Op};

/// Note on a queue depth that a synchronous engine cannot reach.
pub const DEPTH_NOTE: &str = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n";

/// Notes, after `fio: `, about a verification that will not run, and about one that other jobs invalidate.
pub const VERIFY_NOTES: [&str; 2] = [
    "verification read phase will never start because write phase uses all of runtime",
    "multiple writers may overwrite blocks that belong to other jobs. This can cause verification failures.",
];

/// Formats one line per job, `...` for its clones, the version, and the number of processes. Ends with a newline.
pub fn banner(view: &StartView<'_>) -> String {
    let mut text = String::new();
    let (mut threads, mut processes) = (0, 0);
    for (job, extras) in &view.jobs {
        text += &job_line(job, extras);
        if job.numjobs > 1 {
            text += "...\n";
        }
        let count = if extras.thread {
            &mut threads
        } else {
            &mut processes
        };
        *count += job.numjobs;
    }
    let counted = |count: u32, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    };
    let threads = counted(threads, "thread", "threads");
    let processes = counted(processes, "process", "processes");
    let started: Vec<String> = threads.into_iter().chain(processes).collect();
    format!(
        "{text}{}\nStarting {}\n",
        view.version,
        started.join(" and ")
    )
}

/// Formats the line printed when files are written before a job: `a: Laying out IO file (1 file / 1024MiB)`.
pub fn laying_out(job: &str, files: u64, bytes: u64) -> String {
    let mib = bytes >> 20;
    match files {
        1 => format!("{job}: Laying out IO file (1 file / {mib}MiB)\n"),
        _ => format!("{job}: Laying out IO files ({files} files / total {mib}MiB)\n"),
    }
}

/// Returns the line with the output file of a `prerun` or `postrun` command.
pub fn command_ran(job: &str, when: &str) -> String {
    format!("{job} : Saving output of {when} in {job}.{when}.txt\n")
}

/// Formats `a: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1`.
fn job_line(job: &Job, extras: &JobExtras) -> String {
    let style = Style::of(extras);
    let range = |block: &BlockSize| {
        let (min, max) = (style.size(block.min().0), style.size(block.max().0));
        format!("{min}-{max}")
    };
    let sizes = match &extras.by_order {
        Some((in_line, random)) => {
            let (in_line, random) = (range(in_line), range(random));
            format!("(R) {in_line}, (W) {random}, bs_is_seq_rand")
        }
        None => {
            let [read, write, trim] = Op::ALL.map(|op| range(&job.block[op]));
            format!("(R) {read}, (W) {write}, (T) {trim}")
        }
    };
    // A mix with 100% reads is printed as the requested mix.
    let usual = || rw_name(&job.access);
    let rw = extras.rw.map_or_else(usual, str::to_owned);
    let (name, group) = (&job.name, job.group);
    let (engine, depth) = (job.ioengine.name(), job.queue.iodepth);
    format!("{name}: (g={group}): rw={rw}, bs={sizes}, ioengine={engine}, iodepth={depth}\n")
}

/// Returns fio's name of an access pattern, such as `randrw`.
pub(super) fn rw_name(access: &Access) -> String {
    let (read, write, trim) = (
        access.does(Op::Read),
        access.does(Op::Write),
        access.does(Op::Trim),
    );
    let what = match (read, write, trim) {
        (_, true, true) | (true, _, true) => "trimwrite",
        (true, true, false) => "rw",
        (false, true, false) => "write",
        (false, false, true) => "trim",
        (_, false, false) => "read",
    };
    format!("{}{what}", if access.random { "rand" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::Target;
    use hakaru_model::units::Bytes;

    fn job(name: &str, access: Access) -> Job {
        Job::new(name, Target::Nothing, access)
    }

    #[test]
    fn the_lines_before_a_run() {
        let plain = JobExtras::default();
        let decimal = JobExtras {
            kb_base: 1000,
            thread: true,
            ..JobExtras::default()
        };
        let sizes = [16_384, 4096].map(|bytes| BlockSize::Fixed(Bytes(bytes)));
        let by_order = JobExtras {
            by_order: Some(sizes.into()),
            ..JobExtras::default()
        };
        let mut a = job("a", Access::only(Op::Write, false));
        a.numjobs = 2;
        let mut b = job("b", Access::mixed(50, true)).with_block(Bytes(500_000));
        b.group = 1;
        let mut c = job("c", Access::mixed(50, false));
        let (min, max) = (Bytes(4096), Bytes(65_536));
        c.block.read = BlockSize::Range { min, max };
        c.block.write = BlockSize::Split(vec![(Bytes(2048), 50), (Bytes(512), 50)]);
        c.block.trim = BlockSize::Fixed(Bytes(10 << 20));
        let d = job("d", Access::only(Op::Read, true));
        let view = StartView {
            version: "fio-3.39",
            jobs: vec![(&a, &plain), (&b, &decimal), (&c, &plain), (&d, &by_order)],
            global_options: &[],
        };
        insta::assert_snapshot!(banner(&view), @r"
        a: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
        ...
        b: (g=1): rw=randrw, bs=(R) 500kB-500kB, (W) 500kB-500kB, (T) 500kB-500kB, ioengine=psync, iodepth=1
        c: (g=0): rw=rw, bs=(R) 4096B-64.0KiB, (W) 512B-2048B, (T) 10.0MiB-10.0MiB, ioengine=psync, iodepth=1
        d: (g=0): rw=randread, bs=(R) 16.0KiB-16.0KiB, (W) 4096B-4096B, bs_is_seq_rand, ioengine=psync, iodepth=1
        fio-3.39
        Starting 1 thread and 4 processes
        ");
    }

    #[test]
    fn one_file_or_several() {
        assert_eq!(
            laying_out("fsync", 1, 256 << 20),
            "fsync: Laying out IO file (1 file / 256MiB)\n"
        );
        assert_eq!(
            laying_out("q", 2, 2_560_000),
            "q: Laying out IO files (2 files / total 2MiB)\n"
        );
    }

    #[test]
    fn accesses_have_their_names() {
        let mut trimwrite = Access::only(Op::Write, true);
        trimwrite.trim_before_write = true;
        assert_eq!(rw_name(&trimwrite), "randtrimwrite");
        assert_eq!(rw_name(&Access::only(Op::Trim, true)), "randtrim");
        assert_eq!(rw_name(&Access::only(Op::Read, false)), "read");
    }
}
