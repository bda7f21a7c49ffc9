//! Invocations of fio by other programs.

use super::*;
use hakaru_model::job::{IoEngine, Op, SizeSpec};
use hakaru_model::units::Bytes;

#[test]
fn kdiskmark_makes_its_file_then_measures() {
    let make = run(
        "--output-format=json --create_only=1 --rw=read --filename=/tmp/k.tmp --size=1024m --name=prepare",
    );
    let make = make.unwrap();
    assert!(make.scenario.phases[0].jobs[0].files.create_only);
    assert_eq!(make.settings.formats, [OutputFormat::Json]);
    let job = job(
        "--output-format=json --ioengine=libaio --randrepeat=0 --refill_buffers=0 --end_fsync=1 --direct=1 \
         --rwmixread=70 --filename=/tmp/k.tmp --name=SEQ1M --size=1024m --loops=1 --bs=1m --rw=read --iodepth=8 \
         --numjobs=1 --group_reporting --runtime=5",
    );
    assert_eq!((job.ioengine, job.queue.iodepth), (IoEngine::Libaio, 8));
    assert_eq!(
        job.seed, None,
        "the edge draws the seed of a run that is not to repeat"
    );
    assert!(job.durability.end_fsync && !job.buffers.refill && job.group_reporting);
}

#[test]
fn raspberry_pi_diagnostics_reads_terse_lines() {
    let text = "[global]\nioengine=libaio\nfilename=/tmp/sd.dat\nsize=256m\ndirect=1\nend_fsync=1\niodepth=32\n\
        [seq-write]\nrw=write\nbs=512k\n[rand-4k-write]\nstonewall\nrw=randwrite\nbs=4k\n\
        [rand-4k-read]\nstonewall\nrw=randread\nbs=4k\n[seq-read]\nstonewall\nrw=read\nbs=512k\n[last]\nstonewall\nrw=rw\n";
    // fio runs more jobs than --max-jobs expects.
    let invocation = run_file("--output-format=terse --max-jobs=4", text).unwrap();
    assert_eq!(
        outline(&invocation),
        "seq-write0 | rand-4k-write1 | rand-4k-read2 | seq-read3 | last4"
    );
    assert_eq!(invocation.settings.formats, [OutputFormat::Terse]);
    let job = &flat(&invocation.scenario)[1];
    assert_eq!(
        (
            job.access.random,
            job.access.does(Op::Write),
            job.queue.iodepth
        ),
        (true, true, 32)
    );
    assert_eq!(job.extent.size, Some(SizeSpec::Bytes(Bytes(256 << 20))));
}

#[test]
fn kbench_includes_its_common_part() {
    let files = [
        (
            "bench/iops.fio",
            "[global]\nbs=4K\n[iops]\ninclude common.fio\nrw=randread\nrate_iops=1000\nioengine=${ENGINE}\n",
        ),
        (
            "bench/common.fio",
            "direct=1\niodepth=128\nnumjobs=4\nrandrepeat=0\nnorandommap\ngroup_reporting\n",
        ),
    ];
    let parsed = with_files(&files, |ctx| {
        let engine = |name: &str| (name == "ENGINE").then(|| "libaio".to_owned());
        let ctx = ParseContext {
            env: &engine,
            ..*ctx
        };
        parse(
            &words(
                "--idle-prof=percpu --output-format=json --output=/tmp/o.json --size=30G bench/iops.fio",
            ),
            &ctx,
        )
    });
    let invocation = parsed.unwrap();
    assert_eq!(invocation.settings.idle_prof, Some(IdleProf::PerCpu));
    let job = &flat(&invocation.scenario)[0];
    assert_eq!(
        (job.numjobs, job.rate.iops.read, job.access.every_block_once),
        (4, Some(1000), false)
    );
    assert_eq!(
        invocation.global_options,
        [
            ("size".to_owned(), "30G".to_owned()),
            ("bs".to_owned(), "4K".to_owned())
        ]
    );
}

#[test]
fn scripts_use_the_shortest_of_forms() {
    let invocation = run(
        "--minimal --gtod_reduce=1 --randrepeat=1 --ioengine=libaio --direct=1 --name=test --filename=test --bs=4k \
         --iodepth=64 --size=4G --readwrite=randrw --rwmixread=75 --eta=never --status-interval=1",
    )
    .unwrap();
    let job = &flat(&invocation.scenario)[0];
    assert_eq!(job.access.mix.read, 75);
    assert!(!job.measure.clat && !job.measure.lat && !job.measure.slat && !job.measure.intervals);
    assert_eq!(
        (
            invocation.settings.eta,
            invocation.settings.status_interval_ms
        ),
        (EtaMode::Never, Some(1000))
    );
}
