//! Commands of published benchmarks, as typed: each parses to the scenario its author intended.

use super::*;
use hakaru_model::job::{Access, IoEngine, Op, SizeSpec, Target};
use hakaru_model::units::{Bytes, Nanos, Quantile};

/// A job with fio's defaults, for one named file.
fn plain(name: &str, path: &str, access: Access, block: u64, size: u64) -> Job {
    let mut job = Job::new(name, Target::Paths(vec![path.into()]), access).with_block(Bytes(block));
    job.queue.batch_submit = 1;
    job.queue.batch_complete_max = 1;
    job.queue.separate_submit = true;
    job.files.reserve_unflushed = true;
    job.files.empties_reserved = true;
    job.files.begin_refused = true;
    job.files.direct = true;
    job.extent.size = Some(SizeSpec::Bytes(Bytes(size)));
    job.termination.exit.phases_after_error = true;
    job
}

/// Compares without the seed and the typed options.
fn check(command: &str, mut wanted: Job) -> Invocation {
    let invocation = run(command).unwrap_or_else(|e| panic!("{command}: {e}"));
    let mut jobs = flat(&invocation.scenario);
    assert_eq!(jobs.len(), 1, "{command}");
    assert_eq!(invocation.action, FioAction::Run);
    let got = &mut jobs[0];
    (wanted.seed, wanted.options) = (got.seed, std::mem::take(&mut got.options));
    got.options.clone_from(&wanted.options);
    assert_eq!(got, &wanted, "{command}");
    invocation
}

const MIB: u64 = 1 << 20;

#[test]
fn ext4_against_f2fs_on_a_pi_3() {
    let mut job = plain(
        "file1",
        "./testtmp",
        Access::only(Op::Write, true),
        4096,
        1000 * MIB,
    );
    job.numjobs = 16;
    job.group_reporting = true;
    job.timing.runtime = Some(Nanos::from_secs(20));
    // The log was published four times: twice on ext4, twice on F2FS.
    let command = "$ sudo fio -filename=./testtmp -direct=1 -rw=randwrite -bs=4k -size=1000M -numjobs=16 -runtime=20 -group_reporting -name=file1";
    let invocation = check(command, job);
    assert_eq!(invocation.warnings, [""; 0]);
    // Options before the first job are global, so the job itself has only its name.
    assert_eq!(
        invocation.global_options[0],
        ("filename".to_owned(), "./testtmp".to_owned())
    );
    assert_eq!(
        flat(&invocation.scenario)[0].options,
        [("name".to_owned(), "file1".to_owned())]
    );
}

#[test]
fn one_bit_against_four_bit_bus() {
    let job = plain(
        "file1",
        "/mnt/sdcard/test1g",
        Access::only(Op::Write, false),
        4096,
        1 << 30,
    );
    check(
        "$ sudo fio -filename=/mnt/sdcard/test1g -direct=1 -rw=write -bs=4k -size=1G -name=file1",
        job.clone(),
    );
    check(
        "$ fio -filename=/mnt/sdcard/test1g -direct=1 -rw=write -bs=4k -size=1G -name=file1",
        job,
    );
}

#[test]
fn mixed_sequential_on_a_pi_5() {
    let mut job = plain(
        "sdtest",
        "/root/fiotest.tmp",
        Access::mixed(50, false),
        MIB,
        200 * MIB,
    );
    // A mixed workload reads unwritten data, so its file is laid out.
    job.files.overwrite = true;
    let command = "$ fio --name=sdtest --filename=~/fiotest.tmp --size=200M --bs=1M --rw=readwrite --direct=1 --numjobs=1";
    let invocation = check(command, job);
    assert_eq!(
        invocation.warnings,
        ["filename=~/fiotest.tmp: `~/` is expanded to /root/fiotest.tmp"]
    );
    assert_eq!(
        flat(&invocation.scenario)[0].options[1].1,
        "~/fiotest.tmp",
        "typed as it was typed"
    );
}

fn random_reads() -> Job {
    let mut job = plain(
        "latp",
        "/root/latp.tmp",
        Access::only(Op::Read, true),
        4096,
        1 << 30,
    );
    job.timing.runtime = Some(Nanos::from_secs(30));
    job.timing.time_based = true;
    job.measure.lat_histogram = true;
    job.measure.percentiles = [0.95, 0.99, 0.999]
        .map(|q| Quantile::new(q).unwrap())
        .to_vec();
    job
}

#[test]
fn random_reads_on_a_pi_5() {
    let command = "$ fio --name=latp --filename=~/latp.tmp --size=1G --bs=4k --rw=randread \\\n    --iodepth=1 --direct=1 --time_based=1 --runtime=30 \\\n    --lat_percentiles=1 --percentile_list=95:99:99.9";
    let invocation = check(command, random_reads());
    assert!(invocation.extras[0][0].lat_percentiles && invocation.extras[0][0].clat_percentiles);
}

/// In the second log a blank follows the backslash, which makes a word of one blank.
#[test]
fn a_blank_after_the_backslash_is_forgiven() {
    let command = "$ fio --name=latp --filename=~/latp.tmp --size=1G --bs=4k --rw=randread \\ \n    --iodepth=1 --direct=1 --time_based=1 --runtime=30 \\\n    --lat_percentiles=1 --percentile_list=95:99:99.9";
    let invocation = check(command, random_reads());
    assert!(
        invocation.warnings[0].starts_with("ignored an argument"),
        "{:?}",
        invocation.warnings
    );
}

#[test]
fn durable_writes_on_a_pi_5() {
    let mut job = plain(
        "fsync",
        "/root/fsync.tmp",
        Access::only(Op::Write, false),
        4096,
        256 * MIB,
    );
    job.durability.fsync_every = 1;
    job.timing.runtime = Some(Nanos::from_secs(30));
    job.timing.time_based = true;
    check(
        "$ fio --name=fsync --filename=~/fsync.tmp --size=256M --bs=4k --rw=write \\\n    --direct=1 --iodepth=1 --fsync=1 --runtime=30 --time_based=1",
        job,
    );
}

#[test]
fn sustained_writes_on_a_pi_5() {
    let mut job = plain(
        "sustain",
        "/root/sustain.tmp",
        Access::only(Op::Write, false),
        MIB,
        3 << 30,
    );
    job.queue.iodepth = 2;
    job.timing.runtime = Some(Nanos::from_secs(120));
    job.timing.time_based = true;
    check(
        "$ fio --name=sustain --filename=~/sustain.tmp --size=3G --bs=1M \\\n    --rw=write --direct=1 --time_based=1 --runtime=120 --iodepth=2",
        job,
    );
}

fn six_cards(target: Target, filesize: u64, access: Access, block: u64) -> Job {
    let mut job = plain("write_bandwidth_test", "", access, block, 0);
    job.target = target;
    job.extent.size = None;
    job.extent.filesize = Some(Bytes(filesize));
    job.ioengine = IoEngine::Sync;
    job.durability.fsync_on_close = true;
    job.timing.ramp_time = Nanos::from_secs(2);
    job.timing.runtime = Some(Nanos::from_secs(60));
    job.timing.time_based = true;
    job
}

/// The author omitted the dashes of `numjobs`.
#[test]
fn six_cards_raw_and_on_vfat() {
    let runs = [
        ("1M", "write", MIB, Access::only(Op::Write, false)),
        ("1M", "read", MIB, Access::only(Op::Read, false)),
        ("4K", "randwrite", 4096, Access::only(Op::Write, true)),
        ("4K", "randread", 4096, Access::only(Op::Read, true)),
    ];
    for (bs, rw, block, access) in runs {
        let command = |place: &str| {
            format!(
                "fio --name=write_bandwidth_test {place} --time_based --ramp_time=2s --runtime=60 \\\n --ioengine=sync --direct=1 --bs={bs} --iodepth=1 numjobs=1 --rw={rw} --fsync_on_close=1 --invalidate=1"
            )
        };
        let raw = Target::Paths(vec!["/dev/mmcblk0".into()]);
        let raw = six_cards(raw, 16 << 30, access.clone(), block);
        let invocation = check(&command("--filename=/dev/mmcblk0 --filesize=16G"), raw);
        assert_eq!(
            invocation.warnings,
            ["`numjobs=1` is not a job file: using it as the option `--numjobs=1`"]
        );
        let vfat = Target::Formatted {
            directories: vec!["/mnt/card".into()],
            format: "$jobname.$jobnum.$filenum".to_owned(),
            nrfiles: 1,
        };
        let vfat = six_cards(vfat, 4095 * MIB, access, block);
        check(&command("--directory=/mnt/card --filesize=4095M"), vfat);
    }
}
