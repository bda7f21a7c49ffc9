//! Tests of the optional job behavior that fio options set.

use super::*;
use hakaru_model::job::rules::*;
use hakaru_model::job::{DedupeRule, Job, PerOp, SizeSpec};
use hakaru_model::units::{Bytes, Nanos};
use std::path::PathBuf;

/// The job of a valid command.
fn obeyed(options: &str) -> Job {
    job(&format!("--name=a {options}"))
}

fn verify(options: &str) -> Verify {
    obeyed(&format!("--rw=randwrite {options}")).verify.unwrap()
}

#[test]
fn verification_has_methods() {
    assert_eq!(verify("--verify=crc32c"), Verify::by(VerifyMethod::Crc32c));
    for (word, method) in [
        ("crc32c-intel", VerifyMethod::Crc32c),
        ("meta", VerifyMethod::Header),
        ("crc64", VerifyMethod::Crc64),
        ("sha3-384", VerifyMethod::Sha3_384),
        ("null", VerifyMethod::Null),
    ] {
        assert_eq!(verify(&format!("--verify={word}")).method, method);
    }
}

#[test]
fn verification_patterns_come_with_or_without_header() {
    let parts = vec![PatternPart::Bytes(vec![0xff]), PatternPart::Offset];
    assert_eq!(
        verify("--verify=pattern --verify_pattern=0xff%o").method,
        VerifyMethod::Pattern(parts.clone())
    );
    assert_eq!(
        verify("--verify=pattern_hdr --verify_pattern=0xff%o").method,
        VerifyMethod::PatternHeader(parts.clone())
    );
    assert_eq!(verify("--verify=sha1 --verify_pattern=0xff%o").fill, parts);
    // As in fio, a pattern alone follows a header.
    let pattern = vec![PatternPart::Bytes(vec![0xde, 0xad])];
    assert_eq!(
        verify("--verify_pattern=0xdead").method,
        VerifyMethod::PatternHeader(pattern)
    );
    let unchecked = job("--name=a --rw=write --verify=0 --verify_pattern=0xdead");
    assert_eq!(unchecked.verify, None);
    assert_eq!(
        unchecked.buffers.fill,
        hakaru_model::job::BufferContent::Pattern(vec![0xde, 0xad])
    );
}

#[test]
fn verification_options_are_kept() {
    let full = verify(
        "--verify=md5 --do_verify=0 --verify_fatal=1 --verify_dump=1 --verify_async=2 --verify_async_cpus=0-1 \
         --verify_backlog=64 --verify_backlog_batch=8 --verify_interval=4k --verify_offset=64 --verify_state_save=0 \
         --verify_state_load=1 --verify_write_sequence=0 --verify_header_seed=0",
    );
    let wanted = Verify {
        read_back: false,
        fatal: true,
        dump: true,
        async_threads: 2,
        async_cpus: vec![0, 1],
        backlog: 64,
        backlog_batch: 8,
        interval: Some(Bytes(4096)),
        offset: 64,
        save_state: false,
        load_state: true,
        write_sequence: false,
        header_seed: false,
        ..Verify::by(VerifyMethod::Md5)
    };
    assert_eq!(full, wanted);
    assert!(verify("--verify=xxhash --verify_only").only);
    let parsed = run("--aux-path=x --name=a --rw=write --verify=md5").unwrap();
    let verify = flat(&parsed.scenario).remove(0).verify.unwrap();
    assert_eq!(verify.folder, Some("x".into()));
}

#[test]
fn verification_that_cannot_work_is_refused_or_warned_of() {
    insta::assert_snapshot!(fails("--name=a --verify=pattern"), @"job `a`: verify=pattern needs verify_pattern");
    insta::assert_snapshot!(fails("--name=a --verify_only"), @"job `a`: verify_only needs verify");
    let warnings = |options: &str| {
        run(&format!("--name=a --rw=write --verify=md5 {options}"))
            .unwrap()
            .warnings
    };
    assert_eq!(warnings(""), [""; 0]);
    assert!(warnings("--time_based --runtime=1")[0].contains("will never start"));
    assert!(warnings("--numjobs=2 --filename=f")[0].contains("multiple writers"));
}

#[test]
fn exit_options_end_other_jobs() {
    let exit = |options: &str| obeyed(options).termination.exit;
    assert!(exit("").phases_after_error, "as fio does");
    assert_eq!(exit("--exitall").ends, Some(ExitScope::Group));
    let all = exit("--exitall --exit_what=all").ends;
    assert_eq!(all, Some(ExitScope::All));
    let phase = exit("--exit_what=stonewall --exitall=1").ends;
    assert_eq!(phase, Some(ExitScope::Phase));
    assert!(exit("--exitall_on_error").on_error);
}

#[test]
fn limits_of_latency_and_rate() {
    assert_eq!(
        obeyed("--max_latency=20ms,,").termination.max_latency.read,
        Some(Nanos::from_millis(20))
    );
    let rate = obeyed("--rate_min=1m --rate_cycle=500")
        .termination
        .minimum_rate;
    assert_eq!(
        (rate.bytes_per_s, rate.cycle),
        (PerOp::all(Some(1 << 20)), Nanos::from_millis(500))
    );
    assert!(fails("--name=a --rate=1m --rate_min=2m").contains("minimum rate exceeds rate"));
    assert!(fails("--name=a --rate=2m,4m --rate_min=1m,5m").contains("rate_min for writes"));
    assert!(
        fails("--name=a --rate_iops=10 --rate_iops_min=100").contains("minimum rate exceeds rate")
    );
    assert!(
        run("--name=a --rate_iops=10 --rate_min=5m --rate=5m").is_ok(),
        "bytes are not compared with I/Os"
    );
}

#[test]
fn a_job_waits_for_an_earlier_one() {
    let jobs = flat(
        &run("--name=writers --name=a --wait_for=writers")
            .unwrap()
            .scenario,
    );
    assert_eq!(jobs[1].timing.wait_for.as_deref(), Some("writers"));
    assert!(
        fails("--name=a --wait_for=b --name=b")
            .contains("waitee job b unknown; define it before this job")
    );
    assert!(
        fails("--name=b --name=b --name=a --wait_for=b").contains("several jobs have that name")
    );
}

#[test]
fn ignored_errors_are_listed_by_operation() {
    let ignored = obeyed("--ignore_error=EIO,ENOSPC:122").errors.ignored;
    assert_eq!(
        ignored,
        IgnoredErrors {
            read: vec![5],
            write: vec![28, 122],
            verify: vec![]
        }
    );
}

#[test]
fn searching_for_a_state() {
    let steady = obeyed("--steadystate=iops_slope:0.3% --ss_dur=30 --ss_ramp=10")
        .termination
        .steady
        .unwrap();
    let wanted = SteadyStateRule {
        iops: true,
        slope: true,
        limit: SteadyLimit::Percent(0.3),
        window: Nanos::from_secs(30),
        ramp: Nanos::from_secs(10),
        interval: Nanos::SECOND,
        together: false,
    };
    assert_eq!(steady, wanted);
}

#[test]
fn steady_states_have_limits_and_a_duration() {
    assert!(
        obeyed("--ss=iops:5 --ss_dur=9 --group_reporting")
            .termination
            .steady
            .unwrap()
            .together
    );
    assert_eq!(
        obeyed("--steadystate=bw:1m").termination.steady,
        None,
        "no duration, no detection"
    );
    assert_eq!(
        obeyed("--ss=bw:1m --ss_dur=5")
            .termination
            .steady
            .unwrap()
            .limit,
        SteadyLimit::Absolute(1_048_576.0)
    );
}

#[test]
fn a_latency_target_has_window_and_percentile() {
    let target =
        obeyed("--latency_target=5ms --latency_window=10s --latency_percentile=99 --latency_run=1")
            .rate
            .latency_target;
    let (target, keep) = (target.unwrap(), true);
    assert_eq!(
        (target.target, target.window),
        (Nanos::from_millis(5), Nanos::from_secs(10))
    );
    assert_eq!((target.percentile, target.keep_running), (99.0, keep));
}

#[test]
fn file_options_are_kept() {
    assert!(obeyed("--create_on_open=1").files.create_on_open);
    assert!(obeyed("--fill_device=1 --rw=write").files.fill_device);
    assert!(obeyed("--fill_device=1 --rw=randread").files.fill_device);
    assert!(
        fails("--name=a --fill_device=1 --rw=randwrite --size=1m")
            .contains("rw=write and fill_device=1")
    );
    assert_eq!(
        obeyed("--lockfile=readwrite").files.lock,
        FileLock::ReadWrite
    );
    let read = run("--name=a --fill_device=1 --rw=read --size=1m").unwrap();
    assert_eq!(
        read.warnings,
        ["job `a`: fill_device has no effect on reads with a size"]
    );
    assert!(!flat(&read.scenario)[0].files.fill_device);
    assert!(
        obeyed("--file_append=1").files.append
            && obeyed("--unlink_each_loop=1").files.unlink_each_loop
    );
    assert_eq!(
        obeyed("--fadvise_hint=random").files.advice,
        AccessAdvice::Random
    );
}

#[test]
fn files_take_turns() {
    let turns = obeyed("--file_service_type=random:8 --openfiles=4")
        .files
        .turns;
    assert_eq!(
        turns,
        FileTurns {
            order: FileOrder::Random,
            run_length: 8,
            open_files: Some(4)
        }
    );
    assert_eq!(
        obeyed("--file_service_type=zipf:1.3").files.turns.order,
        FileOrder::Zipf(1.3)
    );
    assert_eq!(
        obeyed("--file_service_type=gauss:20").files.turns.order,
        FileOrder::Normal(20.0)
    );
}

/// Regression: all of these were accepted.
#[test]
fn invalid_file_service_types_are_refused() {
    for wrong in [
        "zipf:nan",
        "zipf:-3",
        "zipf:1",
        "pareto:1.5",
        "normal:inf",
        "normal:-1",
        "random:0",
        "sequential:x",
    ] {
        let error = fails(&format!("--name=a --file_service_type={wrong}"));
        assert!(
            error.starts_with(&format!("file_service_type={wrong} cannot be used")),
            "{error}"
        );
    }
}

#[test]
fn zones_are_strided_or_of_the_device() {
    let strided = obeyed("--zonemode=strided --zonesize=1m --zonerange=4m --zoneskip=2m")
        .access
        .zones;
    assert_eq!(
        strided,
        Zones::Strided {
            range: Bytes(4 << 20),
            size: Bytes(1 << 20),
            skip: Bytes(2 << 20)
        }
    );
}

#[test]
fn zones_of_the_device_have_limits_and_resets() {
    let device = obeyed("--zonemode=zbd --max_open_zones=8 --ignore_zone_limits=1")
        .access
        .zones;
    let ignores = matches!(
        device,
        Zones::Device {
            size: None,
            max_open: 8,
            ignore_limits: true,
            resets: None,
            ..
        }
    );
    assert!(ignores, "{device:?}");
    let device = obeyed("--zonemode=zbd --zone_reset_threshold=0.5 --zone_reset_frequency=0.1")
        .access
        .zones;
    let wanted = ZoneResets {
        threshold_millionths: 500_000,
        every: 10,
    };
    assert!(
        matches!(device, Zones::Device { resets: Some(resets), .. } if resets == wanted),
        "{device:?}"
    );
}

/// Regression: zone options without `zonemode` were ignored.
#[test]
fn zones_need_a_mode() {
    for mode in ["", "--zonemode=none"] {
        let error = fails(&format!(
            "--name=a --size=64m --zonesize=1m --zoneskip=7m {mode}"
        ));
        assert!(
            error.contains(
                "--zonemode=none and --zonesize are not compatible: add zonemode=strided"
            ),
            "{error}"
        );
    }
    let warnings = run("--name=a --size=64m --zoneskip=7m --zonerange=1m")
        .unwrap()
        .warnings;
    let no_effect = [
        "job `a`: zoneskip has no effect without zonemode",
        "job `a`: zonerange has no effect without zonemode",
    ];
    assert_eq!(warnings, no_effect);
}

/// Regression: sizes in zones were rejected.
#[test]
fn sizes_may_be_counted_in_zones() {
    let counted = job(
        "--name=a --zonemode=strided --zonesize=1m --size=4z --io_size=2z --offset=3z --offset_increment=1z --zoneskip=2z",
    );
    let written = job(
        "--name=a --zonemode=strided --zonesize=1m --size=4m --io_size=2m --offset=3m --offset_increment=1m --zoneskip=2m",
    );
    assert_eq!(
        (counted.extent, counted.access.zones),
        (written.extent, written.access.zones)
    );
    assert!(fails("--name=a --size=2z").contains("there are no zones: add zonemode"));
    assert!(fails("--name=a --size=2z --zonemode=zbd").contains("needs zonesize"));
    assert!(fails("--name=a --zonesize=1z --zonemode=strided").contains("`1z`"));
    assert_eq!(
        job("--name=a --zonemode=strided --zonesize=1m --size=4z --size=1m")
            .extent
            .size,
        Some(SizeSpec::Bytes(Bytes(1 << 20)))
    );
}

#[test]
fn distributions_have_a_middle_and_zones_a_size() {
    use hakaru_model::job::{AbsoluteZone, Distribution};
    let of = |value: &str| {
        let access = job(&format!(
            "--name=a --rw=randread --random_distribution={value}"
        ))
        .access;
        (access.distribution, access.centre)
    };
    assert_eq!(of("zipf:1.2:0.25"), (Distribution::Zipf(1.2), Some(0.25)));
    assert_eq!(of("pareto:0.2:0"), (Distribution::Pareto(0.2), Some(0.0)));
    assert_eq!(of("normal:10:1"), (Distribution::Normal(10.0), Some(1.0)));
    assert_eq!(of("zipf:1.2:-1"), (Distribution::Zipf(1.2), None));
    let zones = [(60.0, 1 << 20), (40.0, 2 << 20)].map(|(access_percent, size)| AbsoluteZone {
        access_percent,
        size: Bytes(size),
    });
    assert_eq!(
        of("zoned_abs:60/1m:40/2m"),
        (Distribution::ZonedAbs(zones.to_vec()), None)
    );
}

#[test]
fn invalid_distributions_are_refused() {
    for wrong in [
        "zipf:1.2:1.5",
        "zipf:1.2:x",
        "zipf:1.2:",
        "zoned_abs:60/1m:30/1m",
        "zoned_abs:60/1m:40/",
        "zoned:60/10:40/90,50/50:50/50",
    ] {
        let error = fails(&format!(
            "--name=a --rw=randread --random_distribution={wrong}"
        ));
        assert!(
            error.starts_with(&format!("random_distribution={wrong} cannot be used")),
            "{error}"
        );
    }
}

#[test]
fn random_share_and_duplicates() {
    assert_eq!(
        obeyed("--percentage_random=80,20").access.percentage_random,
        Some(PerOp {
            read: 80,
            write: 20,
            trim: 20
        })
    );
    for (all, is_default) in [("100", true), ("100,100", true), ("100,99", false)] {
        let share = obeyed(&format!("--percentage_random={all}"))
            .access
            .percentage_random;
        assert_eq!(share.is_none(), is_default, "{all}");
    }
}

#[test]
fn duplicates_come_from_a_share_of_the_buffers() {
    let repeats = |options: &str| {
        job(&format!("--name=a --rw=write {options}"))
            .buffers
            .repeats
    };
    assert_eq!(
        repeats("--dedupe_percentage=30"),
        DedupeRule {
            percent: 30,
            ..DedupeRule::default()
        }
    );
    let set = repeats(
        "--dedupe_percentage=30 --dedupe_mode=working_set --dedupe_working_set_percentage=9",
    );
    assert_eq!(
        set,
        DedupeRule {
            percent: 30,
            working_set_percent: Some(9),
            ..DedupeRule::default()
        }
    );
}

#[test]
fn queue_and_placement_options_are_kept() {
    assert!(obeyed("--io_submit_mode=offload").queue.offload);
    assert!(
        obeyed("--atomic=1 --ioengine=pvsync2 --direct=1")
            .files
            .atomic
    );
    assert!(fails("--name=a --atomic=1").contains("pvsync2"));
    let priority = obeyed("--nice=5 --prio=3 --prioclass=2").placement.priority;
    assert_eq!(
        priority,
        Priority {
            nice: 5,
            io_class: Some(2),
            io_level: Some(3)
        }
    );
    assert_eq!(
        obeyed("--numa_cpu_nodes=0-1").placement.numa_cpu_nodes,
        [0, 1]
    );
}

#[test]
fn a_log_is_replayed() {
    assert!(fails("--name=a --read_iolog=a.log").contains("read_iolog=a.log"));
    let log = "fio version 3 iolog\n1 x add\n2 x write 0 4096\n9 x read 8192 512\n";
    let replay = |options: &str| {
        let args = words(&format!("--name=a --read_iolog=a.log {options}"));
        let parsed = with_files(&[("a.log", log)], |ctx| parse(&args, ctx)).unwrap();
        flat(&parsed.scenario).remove(0)
    };
    let job = replay("--replay_no_stall=1 --replay_redirect=/dev/sdb");
    assert_eq!(
        job.target,
        hakaru_model::job::Target::Paths(vec![PathBuf::from("/dev/sdb")])
    );
    assert_eq!(
        (job.access.mix, job.replay.traces[0].steps.len()),
        (
            PerOp {
                read: 50,
                write: 50,
                trim: 0
            },
            2
        )
    );
    assert_eq!(replay("--replay_skip=write,sync").access.mix.read, 100);
    assert!(fails("--name=a --replay_align=3").contains("power of 2"));
    assert!(fails("--name=a --replay_skip=x").contains("not one of read, write"));
}

const LOG_OPTIONS: &str = "--name=a --write_bw_log --write_lat_log=lat --log_avg_msec=100 --per_job_logs=0 --log_offset=1 \
        --write_hist_log=h --log_hist_msec=1000 --log_hist_coarseness=2 --log_unix_epoch=1";

#[test]
fn log_options_are_kept() {
    let invocation = run(LOG_OPTIONS).unwrap();
    let wanted = LogPlan {
        bw: Some(String::new()),
        lat: Some("lat".to_owned()),
        hist: Some("h".to_owned()),
        avg_msec: 100,
        hist_msec: 1000,
        hist_coarseness: 2,
        per_job: false,
        offset: true,
        unix_epoch: true,
        ..LogPlan::default()
    };
    assert_eq!(invocation.extras[0][0].logs, wanted);
}

#[test]
fn logs_set_what_is_recorded() {
    let job = flat(&run(LOG_OPTIONS).unwrap().scenario).remove(0);
    assert_eq!(job.measure.tick, Nanos::from_millis(100));
    let wanted = Logs {
        samples: true,
        window: Some(Nanos::from_millis(100)),
        max_value: false,
        both_values: false,
        histogram: Some(Nanos::SECOND),
        coarseness: 2,
    };
    assert_eq!(job.measure.logs, wanted);
    assert!(
        !obeyed("--write_hist_log=h").measure.logs.any(),
        "no histogram without log_hist_msec"
    );
}

#[test]
fn pauses_and_delays() {
    let rate =
        job("--name=a --thinktime=1s --thinktime_spin=1ms --thinktime_iotime=9 --thinktime_blocks_type=issue").rate;
    assert_eq!(
        (rate.thinktime_blocks, rate.thinktime_iotime),
        (0, Nanos::from_secs(9))
    );
    assert_eq!(
        (rate.thinktime_spin, rate.thinktime_on_issue),
        (Nanos::from_millis(1), true)
    );
    assert!(
        job("--name=a --rate=1m --rate_ignore_thinktime=1")
            .rate
            .ignore_thinktime
    );
    let timing = job("--name=a --startdelay=2-5").timing;
    assert_eq!(
        (timing.startdelay, timing.startdelay_max),
        (Nanos::from_secs(2), Nanos::from_secs(5))
    );
}

#[test]
fn flows_and_commands() {
    let flow = obeyed("--flow=3 --flow_id=2 --flow_sleep=50").rate.flow;
    assert_eq!(
        flow,
        Some(FlowShare {
            id: 2,
            weight: 3,
            sleep: Nanos(50_000)
        })
    );
    assert_eq!(obeyed("--flow=0").rate.flow, None);
    let commands = obeyed("--exec_prerun=sync --exec_postrun=date").commands;
    assert_eq!(
        (commands.before.as_deref(), commands.after.as_deref()),
        (Some("sync"), Some("date"))
    );
    assert!(
        obeyed("--cpus_allowed=0-1 --cpus_allowed_policy=split")
            .placement
            .split_cpus
    );
    assert!(obeyed("--serialize_overlap=1").queue.serialize_overlap);
}

#[test]
fn blocks_may_be_unaligned_or_by_order() {
    use hakaru_model::job::BlockSize;
    assert!(
        obeyed("--bsrange=1k-8k --bs_unaligned")
            .block_rules
            .unaligned
    );
    let (small, large) = (
        BlockSize::Fixed(Bytes(4096)),
        BlockSize::Fixed(Bytes(16384)),
    );
    let random = obeyed("--rw=randrw --bs=16k,4k --bs_is_seq_rand=1");
    assert_eq!(
        (random.block, random.block_rules.in_line),
        (PerOp::all(small), Some(large.clone()))
    );
    let in_line = obeyed("--rw=rw --bs=16k,4k --bs_is_seq_rand=1");
    assert_eq!(
        (in_line.block, in_line.block_rules.in_line),
        (PerOp::all(large), None)
    );
}

#[test]
fn extents_and_flushes_of_ranges() {
    let extent = obeyed("--filesize=1k-4k --offset=33% --offset_align=1m --size=1m").extent;
    assert_eq!(
        (extent.filesize, extent.filesize_max),
        (Some(Bytes(1024)), Some(Bytes(4096)))
    );
    assert_eq!(
        (extent.offset, extent.offset_align),
        (SizeSpec::Percent(33), 1 << 20)
    );
    let sync = obeyed("--rw=write --sync_file_range=wait_before,write:8")
        .durability
        .range_sync;
    assert_eq!(
        sync,
        Some(RangeSync {
            every: 8,
            wait_before: true,
            write: true,
            wait_after: false
        })
    );
    assert!(fails("--name=a --sync_file_range=write").contains("write:8"));
    assert!(fails("--name=a --sync_file_range=rite:8").contains("`rite`"));
}

#[test]
fn engine_and_memory_options() {
    assert_eq!(obeyed("--write_hint=long").files.lifetime, Lifetime::Long);
    let engine =
        obeyed("--ioengine=io_uring --sqthread_poll --sqthread_poll_cpu=1 --force_async=4").engine;
    assert_eq!((engine.sqthread_poll_cpu, engine.force_async), (Some(1), 4));
    assert_eq!(
        obeyed("--ioengine=pvsync2 --hipri --hipri_percentage=30")
            .engine
            .hipri_percentage,
        Some(30)
    );
}

#[test]
fn memory_comes_from_nodes() {
    let memory = |text: &str| {
        obeyed(&format!("--numa_mem_policy={text}"))
            .placement
            .memory
            .unwrap()
    };
    assert_eq!(
        memory("interleave:0-1"),
        MemoryPolicy {
            mode: MemoryMode::Interleave,
            nodes: vec![0, 1]
        }
    );
    assert_eq!(
        memory("local"),
        MemoryPolicy {
            mode: MemoryMode::Local,
            nodes: vec![]
        }
    );
    assert!(fails("--name=a --numa_mem_policy=bind").contains("bind:0"));
    assert!(fails("--name=a --numa_mem_policy=prefer:0-1").contains("one node"));
}

#[test]
fn options_that_need_others_are_refused_without_them() {
    let set = "--rw=write --dedupe_percentage=30 --dedupe_global=1";
    assert!(
        obeyed(&format!("{set} --dedupe_mode=working_set"))
            .buffers
            .repeats
            .shared
    );
    assert!(fails(&format!("--name=a {set}")).contains("working_set"));
    assert!(fails("--name=a --log_issue_time=1 --write_lat_log=x").contains("log_offset"));
    let parsed = run("--name=a --log_issue_time=1 --write_lat_log=x --log_offset=1").unwrap();
    assert!(parsed.extras[0][0].logs.issued);
}

#[test]
fn what_a_mix_without_writes_reads_is_not_checked() {
    for mix in ["--rwmixread=100", "--rwmixwrite=0"] {
        for rw in ["rw", "randrw"] {
            assert_eq!(
                obeyed(&format!("--rw={rw} {mix} --verify=crc32c")).verify,
                None,
                "{rw} {mix}"
            );
        }
    }
    assert!(
        obeyed("--rw=rw --rwmixread=99 --verify=crc32c")
            .verify
            .is_some()
    );
    assert!(obeyed("--rw=read --verify=crc32c").verify.is_some());
}

#[test]
fn a_shift_register_comes_to_each_block_once() {
    let once = |options: &str| {
        let read = run(&format!("--name=a --rw=randread --size=1m {options}")).unwrap();
        flat(&read.scenario)[0].access.every_block_once
    };
    assert!(
        once("--norandommap --random_generator=lfsr")
            && once("--random_generator=lfsr --norandommap")
    );
    assert!(!once("--norandommap --random_generator=tausworthe64"));
}
