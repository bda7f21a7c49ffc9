//! Tests of combinations of options and lines.

use super::*;
use hakaru_model::job::{
    BlockSize, BufferContent, Distribution, ErrorPolicy, Fallocate, IoEngine, Op, PerOp, SizeSpec,
    Target,
};
use hakaru_model::plan::clone_paths;
use hakaru_model::units::{Bytes, Nanos};
use std::path::PathBuf;

#[test]
fn options_before_the_first_job_are_global() {
    let all = jobs(
        "--bs=8k --rw=write --name=a --bs=1k --name=b --name=global --direct=1 --name=c --rw=read",
    );
    let seen = all.iter().map(|job| {
        let (block, writes) = (job.block.read.max().0, job.access.does(Op::Write));
        (job.name.as_str(), block, writes, job.files.direct)
    });
    let wanted = [
        ("a", 1024, true, false),
        ("b", 8192, true, false),
        ("c", 8192, false, true),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), wanted);
    assert_eq!(
        all[0].options,
        [
            ("name".to_owned(), "a".to_owned()),
            ("bs".to_owned(), "1k".to_owned())
        ]
    );
    let globals = run("--bs=8k --name=a").unwrap().global_options;
    assert_eq!(globals, [("bs".to_owned(), "8k".to_owned())]);
}

#[test]
fn groups_and_phases_follow_stonewall() {
    let outline = |command| outline(&run(command).unwrap());
    assert_eq!(outline("--name=a --name=b"), "a0 b0");
    assert_eq!(
        outline("--name=a --stonewall --name=b --stonewall --name=c --new_group --name=d"),
        "a0 | b1 c2 d2"
    );
    assert_eq!(
        outline("--name=a --name=b --stonewall=0 --name=c --new_group=0"),
        "a0 b0 c0"
    );
    assert_eq!(outline("--stonewall --name=a --name=b"), "a0 | b1");
}

#[test]
fn job_files_follow_one_another() {
    let files = [
        ("a.fio", "[global]\nbs=1k\n[a]\n[a2]\n"),
        ("b.fio", "[b]\n[c]\nrw=write\n"),
    ];
    let invocation = with_files(&files, |ctx| {
        parse(&words("--size=1m a.fio b.fio --name=z"), ctx)
    })
    .unwrap();
    assert_eq!(outline(&invocation), "z0 a0 a20 | b1 c1");
    let sizes: Vec<u64> = flat(&invocation.scenario)
        .iter()
        .map(|j| j.block.read.max().0)
        .collect();
    assert_eq!(
        sizes,
        [4096, 1024, 1024, 4096, 4096],
        "a global section ends with its file"
    );
    let sized: Vec<bool> = flat(&invocation.scenario)
        .iter()
        .map(|j| j.extent.size.is_some())
        .collect();
    assert_eq!(sized, [true, true, true, false, false]);
    assert_eq!(
        invocation.warnings,
        ["command-line options apply only to the first job file, as in fio"]
    );
}

#[test]
fn a_global_section_concerns_what_stands_below() {
    let invocation = run_file(
        "",
        "[global]\nbs=1k\n[a]\n[global]\nbs=2k\nname=gg\n[b]\nname=renamed\n[a]\nbs=3k\n",
    )
    .unwrap();
    let seen: Vec<_> = flat(&invocation.scenario)
        .iter()
        .map(|j| (j.name.clone(), j.block.read.max().0))
        .collect();
    assert_eq!(
        seen,
        [
            ("a".to_owned(), 1024),
            ("renamed".to_owned(), 2048),
            ("a".to_owned(), 3072)
        ]
    );
    let names: Vec<_> = invocation
        .global_options
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(names, ["bs=1k", "bs=2k", "name=gg"]);
}

/// fio compares only a prefix of the name, in files and on the command line, and case matters.
#[test]
fn names_that_begin_with_global_are_global() {
    let blocks = |invocation: Invocation| {
        let of = |job: Job| format!("{} {}", job.name, job.block.read.max().0);
        flat(&invocation.scenario)
            .into_iter()
            .map(of)
            .collect::<Vec<_>>()
    };
    let text = "[globals]\nbs=1k\n[a]\n[global2]\nbs=2k\n[glob]\n[Global]\n";
    assert_eq!(
        blocks(run_file("", text).unwrap()),
        ["a 1024", "glob 2048", "Global 2048"]
    );
    assert_eq!(
        blocks(run("--name=globalx --bs=2k --name=b").unwrap()),
        ["b 2048"]
    );
}

#[test]
fn sections_can_be_chosen() {
    let text = "[global]\nbs=1k\n[a]\nnonsense=1\n[b]\n[c]\n";
    assert_eq!(
        outline(&run_file("--section=b --section=c", text).unwrap()),
        "b0 c0"
    );
    assert_eq!(
        run_file("--section=d", "[daa]\n").unwrap_err().to_string(),
        "no section `d` in the job files"
    );
    let near = run_file("--section=writes", "[write]\n")
        .unwrap_err()
        .to_string();
    assert_eq!(
        near,
        "no section `writes` in the job files: did you mean `write`?"
    );
}

#[test]
fn values_are_kept_as_typed() {
    let invocation = run_file(
        "",
        "[x]\niodepth = 4\nsize=2*$pagesize\nblocksize=4K\nthread\ntime_based=0\nbs=8K\ndescription=a \"b\"  c # d\n",
    );
    let invocation = invocation.unwrap();
    let typed: Vec<_> = flat(&invocation.scenario)[0]
        .options
        .iter()
        .map(|(n, v)| format!("{n}={v}"))
        .collect();
    assert_eq!(
        typed,
        [
            "iodepth= 4",
            "size=8192",
            "bs=4K",
            "time_based=0",
            "bs=8K",
            "description=a \"b\"  c"
        ]
    );
    assert_eq!(
        invocation.extras[0][0].description.as_deref(),
        Some("a \"b\"  c")
    );
}

#[test]
fn sizes_follow_kb_base() {
    assert_eq!(
        job("--name=a --kb_base=1000 --size=4k").extent.size,
        Some(SizeSpec::Bytes(Bytes(4000)))
    );
    assert_eq!(
        job("--name=a --size=50%").extent.size,
        Some(SizeSpec::Percent(50))
    );
    assert_eq!(
        job("--name=a --size=(4*1k)").extent.size,
        Some(SizeSpec::Bytes(Bytes(4096)))
    );
    let in_file = run_file("", "[a]\nsize=4k\nkb_base=1000\n").unwrap();
    assert_eq!(
        flat(&in_file.scenario)[0].extent.size,
        Some(SizeSpec::Bytes(Bytes(4000))),
        "kb_base is read first"
    );
}

#[test]
fn directions_have_their_forms() {
    let access = |rw: &str| job(&format!("--name=a --rw={rw}")).access;
    assert_eq!(
        access("rw").mix,
        PerOp {
            read: 50,
            write: 50,
            trim: 0
        }
    );
    assert_eq!(
        access("randrw --rwmixwrite=30").mix,
        PerOp {
            read: 70,
            write: 30,
            trim: 0
        }
    );
    assert_eq!(
        access("randrw --rwmixwrite=30 --rwmixread=20%").mix,
        PerOp {
            read: 20,
            write: 80,
            trim: 0
        }
    );
}

#[test]
fn sequences_and_trims_have_their_forms() {
    let access = |rw: &str| job(&format!("--name=a --rw={rw}")).access;
    assert_eq!(
        (access("write:4k").stride, access("read:-8k").stride),
        (4096, -8192)
    );
    let eight = access("randread:8 --rw_sequencer=identical");
    assert_eq!(
        (eight.run_length, eight.run_identical, eight.stride),
        (8, true, 0)
    );
    let trims = access("randtrimwrite");
    assert!(
        trims.trim_before_write && trims.random && trims.does(Op::Write) && trims.does(Op::Trim)
    );
    assert!(access("randtrim").does(Op::Trim));
}

#[test]
fn blocks_have_their_forms() {
    let block = |options: &str| {
        let block = job(&format!("--name=a {options}")).block;
        [block.read, block.write, block.trim]
    };
    let fixed = |sizes: [u64; 3]| sizes.map(|size| BlockSize::Fixed(Bytes(size)));
    assert_eq!(block(""), fixed([4096; 3]));
    assert_eq!(block("--bs=8k,32k,"), fixed([8192, 32_768, 4096]));
    assert_eq!(block("--bs=,2k"), fixed([4096, 2048, 2048]));
    let range = BlockSize::Range {
        min: Bytes(1024),
        max: Bytes(2048),
    };
    assert_eq!(
        block("--bsrange=1k-2k --bs=4k"),
        [range.clone(), range.clone(), range.clone()]
    );
    assert_eq!(block("--bsrange=1k-2k,4k-4k")[1..], fixed([4096; 3])[1..]);
    let split = BlockSize::Split(vec![(Bytes(1024), 10), (Bytes(2048), 90)]);
    assert_eq!(
        block("--bs=4k --bssplit=1k/10:2k/,4k"),
        [
            split,
            fixed([4096; 3])[1].clone(),
            fixed([4096; 3])[2].clone()
        ]
    );
}

#[test]
fn only_random_offsets_are_aligned() {
    assert_eq!(
        job("--name=a --rw=randread --ba=8k").block_align,
        Some(Bytes(8192))
    );
    assert!(
        !job("--name=a --rw=randread --ba=8k")
            .access
            .every_block_once
    );
    assert_eq!(
        job("--name=a --rw=read --ba=8k").block_align,
        None,
        "only random I/O is aligned"
    );
}

#[test]
fn files_are_named_or_made_up() {
    let paths = |options: &str| match job(&format!("--name=a {options}")).target {
        Target::Paths(paths) => paths,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        paths(r"--filename=x:/dev/b\\:c"),
        [PathBuf::from("x"), PathBuf::from("/dev/b:c")]
    );
    assert_eq!(
        paths("--directory=e:f --filename=x"),
        [PathBuf::from("e/x")],
        "named files go to the first directory"
    );
    assert_eq!(
        paths("--directory=e --filename=/tmp/x"),
        [PathBuf::from("e/tmp/x")],
        "joined as text, as fio does it"
    );
}

#[test]
fn files_without_names_have_a_format() {
    let made_up =
        job("--name=a --directory=e:f --nrfiles=3 --filename_format=q/$jobname.$filenum").target;
    let wanted = Target::Formatted {
        directories: vec!["e".into(), "f".into()],
        format: "q/$jobname.$filenum".to_owned(),
        nrfiles: 3,
    };
    assert_eq!(made_up, wanted);
    assert_eq!(
        job("--name=a --ioengine=null --filename=x").target,
        Target::Nothing
    );
}

#[test]
fn generated_files_stay_in_their_directory() {
    let refused = |options: &str| match run(options) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{options} is accepted"),
    };
    for options in [
        "--name=../x --directory=d",
        "--name=a/../../x --directory=d",
        "--name=/../x --directory=d",
        "--name=a --directory=d --filename_format=../$jobname.$filenum",
    ] {
        let message = refused(&format!("{options} --size=4k"));
        assert!(
            message.contains("outside of the given directory"),
            "{message}"
        );
        assert!(message.contains("filename"), "{message}");
    }
    for (options, path) in [
        ("--name=a/../x --directory=d", "d/a/../x.0.0"),
        ("--name=/x --directory=d", "d/x.0.0"),
        ("--name=x..y --directory=d", "d/x..y.0.0"),
        // Without a directory, the name is relative to the current one, as in fio.
        ("--name=../x", "../x.0.0"),
    ] {
        let paths = clone_paths(&job(options), 0);
        assert_eq!(paths, [PathBuf::from(path)], "{options}");
    }
    // A file that is named is where it was asked to be.
    let named = job("--name=a --directory=d --filename=../x").target;
    assert_eq!(named, Target::Paths(vec!["d/../x".into()]));
}

#[test]
fn queues_are_filled_one_by_one_as_fio_does_it() {
    let queue = |options: &str| {
        let queue = job(&format!("--name=a --ioengine=libaio {options}")).queue;
        (
            queue.iodepth,
            queue.batch_submit,
            queue.batch_complete_min,
            queue.batch_complete_max,
            queue.low_mark,
        )
    };
    assert_eq!(queue(""), (1, 1, 1, 1, 0));
    assert_eq!(
        queue("--iodepth=32 --iodepth_batch=8 --iodepth_batch_complete=4 --iodepth_low=16"),
        (32, 8, 4, 4, 16)
    );
    assert_eq!(
        queue("--iodepth=8 --iodepth_batch_complete_min=0 --iodepth_batch_complete_max=8"),
        (8, 1, 0, 8, 0)
    );
    assert_eq!(queue("--iodepth=4 --iodepth_low=9"), (4, 1, 1, 1, 4));
}

#[test]
fn what_is_written_stays_what_was_asked_for() {
    let buffers = |options: &str| {
        let buffers = job(&format!("--name=a --rw=write {options}")).buffers;
        (buffers.fill, buffers.refill, buffers.scramble)
    };
    use BufferContent::*;
    assert_eq!(buffers(""), (Random, false, true));
    assert_eq!(buffers("--refill_buffers"), (Random, true, false));
    assert_eq!(buffers("--zero_buffers"), (Zero, false, false));
    assert_eq!(
        buffers("--zero_buffers --zero_buffers=0"),
        (Random, false, true)
    );
    assert_eq!(
        buffers("--buffer_pattern=0xdead"),
        (Pattern(vec![0xde, 0xad]), false, false)
    );
    assert_eq!(
        buffers("--buffer_compress_percentage=60"),
        (Compressible(60), true, false)
    );
    assert_eq!(buffers("--scramble_buffers=0"), (Random, false, false));
}

#[test]
fn rates_and_pauses() {
    let rate = job(
        "--name=a --rw=rw --rate=1m,2m --rate_iops=,100 --rate_process=poisson --thinktime=2ms",
    )
    .rate;
    let bytes_per_s = Op::ALL.map(|op| rate.bytes_per_s[op]);
    assert_eq!(bytes_per_s, [1 << 20, 2 << 20, 2 << 20].map(Some));
    let iops = Op::ALL.map(|op| rate.iops[op]);
    assert_eq!(iops, [None, Some(100), Some(100)]);
    assert_eq!(
        (rate.poisson, rate.thinktime, rate.thinktime_blocks),
        (true, Nanos::from_millis(2), 1)
    );
    assert_eq!(
        job("--name=a --thinktime=10 --thinktime_blocks=8")
            .rate
            .thinktime,
        Nanos(10_000)
    );
}

#[test]
fn measuring_is_reduced_step_by_step() {
    let measure = |options: &str| job(&format!("--name=a {options}")).measure;
    assert!(!measure("--disable_lat=1").lat && measure("--disable_lat=1").clat);
    assert!(!measure("--disable_bw=1").intervals);
    assert!(!measure("--gtod_reduce=1 --lat_percentiles=1").lat_histogram);
    assert!(measure("--slat_percentiles=1").slat_histogram);
    assert_eq!(measure("--bwavgtime=100").tick, Nanos::from_millis(100));
    assert_eq!(
        measure("--bwavgtime=0 --iopsavgtime=0").tick,
        Nanos::from_millis(500)
    );
}

#[test]
fn durability_and_file_options_are_kept() {
    let job = job(
        "--name=a --rw=randrw --sync=dsync --fdatasync=4 --end_fsync=1 --fallocate=keep --pre_read=1 --unlink=1 \
         --overwrite=1 --allow_file_create=0 --nrfiles=2",
    );
    assert!(job.durability.dsync && !job.durability.sync && job.durability.end_fsync);
    assert_eq!(job.durability.fdatasync_every, 4);
    let files = job.files;
    assert_eq!(files.fallocate, Fallocate::Keep);
    assert!(files.pre_read && files.unlink && files.overwrite && !files.allow_create);
    assert!(!files.invalidate, "data of pre_read is not dropped");
}

#[test]
fn extent_and_time_options_are_kept() {
    let job = job(
        "--name=a --rw=randrw --random_distribution=zipf:1.2 --loops=3 --number_ios=99 --offset=1m \
         --offset_increment=10% --io_size=8m --startdelay=2 --ramp_time=1m --numjobs=2",
    );
    let access = job.access;
    assert_eq!(access.distribution, Distribution::Zipf(1.2));
    assert_eq!(access.centre, None);
    assert!(!access.every_block_once, "skewed offsets repeat");
    let extent = job.extent;
    assert_eq!((extent.loops, extent.number_ios), (3, Some(99)));
    assert_eq!(extent.offset, SizeSpec::Bytes(Bytes(1 << 20)));
    assert_eq!(extent.offset_increment, SizeSpec::Percent(10));
    assert_eq!(job.timing.startdelay, Nanos::from_secs(2));
    assert_eq!(job.timing.ramp_time, Nanos::from_secs(60));
}

#[test]
fn engine_and_error_options_are_kept() {
    let job = job(
        "--name=a --rw=randrw --cpumask=0x5 --continue_on_error=read --randseed=7 --ioengine=io_uring --hipri \
         --fixedbufs --registerfiles --sqthread_poll=1 --nowait=1",
    );
    assert_eq!(job.placement.cpus_allowed, [0, 2]);
    let mut errors = ErrorPolicy::default();
    errors.continue_on.read = true;
    // Reads of a queue behind the end of a file complete without data, as in fio.
    errors.accept_empty_reads = true;
    assert_eq!(job.errors, errors);
    assert_eq!(job.ioengine, IoEngine::IoUring);
    let engine = job.engine;
    assert!(engine.hipri && engine.fixedbufs && engine.registerfiles);
    assert!(engine.sqthread_poll && engine.nowait);
}

#[test]
fn seeds_repeat_by_default() {
    let seeds = |command| jobs(command).iter().map(|job| job.seed).collect::<Vec<_>>();
    let two = seeds("--name=a --name=b");
    assert_eq!(two, seeds("--name=a --name=b"));
    assert!(
        two[0].is_some() && two[0] != two[1],
        "jobs draw differently"
    );
    assert_eq!(seeds("--randrepeat=0 --name=a"), [None]);
    // Regression: all jobs with a user-defined seed used the same offsets.
    let given = seeds("--randseed=42 --name=a --name=b");
    assert!(
        given[0].is_some() && given[0] != given[1] && given[0] != two[0],
        "{given:?}"
    );
    assert_eq!(
        given,
        seeds("--randseed=42 --randrepeat=0 --name=a --name=b")
    );
    assert_eq!(
        seeds("--randrepeat=0 --name=a --allrandrepeat=1"),
        seeds("--name=a")
    );
    // With an own seed or none, the passes of a job differ from one another.
    let anew = |command| jobs(command)[0].extent.draws_anew;
    assert!(anew("--randrepeat=0 --name=a") && anew("--randseed=42 --name=a"));
    assert!(!anew("--name=a") && !anew("--randrepeat=1 --name=a"));
}

#[test]
fn options_without_effect_are_warned_of() {
    let warnings = |command| run(command).unwrap().warnings;
    assert_eq!(
        warnings("--name=a --time_based"),
        ["job `a`: time_based has no effect without runtime"]
    );
    assert_eq!(
        warnings("--name=a --hipri"),
        ["job `a`: hipri applies to io_uring, pvsync2, and has no effect with psync"]
    );
    assert_eq!(
        warnings(
            "--name=a --thread --verify=0 --exitall=0 --mem=malloc --clocksource=cpu --size=1m"
        ),
        [""; 0]
    );
    let fatal = fails("--warnings-fatal --name=a --time_based");
    assert_eq!(
        fatal,
        "job `a`: time_based has no effect without runtime (and --warnings-fatal makes that an error)"
    );
}

#[test]
fn settings_of_the_whole_run() {
    let of = |options: &str| run(&format!("{options} --name=a")).unwrap().settings;
    assert_eq!(
        of("--output-format=normal,json"),
        Settings {
            formats: vec![OutputFormat::Json, OutputFormat::Normal],
            ..Settings::default()
        }
    );
    assert_eq!(
        of("--output-format=json,json+").formats,
        [OutputFormat::JsonPlus]
    );
    assert_eq!(
        of("--append-terse --terse-version=5 --output=o").terse_version,
        5
    );
    assert_eq!(
        of("--append-terse").formats,
        [OutputFormat::Terse, OutputFormat::Normal]
    );
}

#[test]
fn times_of_the_run_have_units() {
    let of = |options: &str| run(&format!("{options} --name=a")).unwrap().settings;
    assert_eq!(
        of("--eta-newline=500ms --eta-interval=10").eta_newline_ms,
        Some(500)
    );
    // A number without a unit is in seconds, as in fio; too short times are rejected.
    assert_eq!(
        (
            of("--eta-interval=10").eta_interval_ms,
            of("--eta-interval=250ms").eta_interval_ms
        ),
        (10_000, 250)
    );
    assert_eq!(
        of("--aux-path=/tmp").aux_path.as_deref(),
        Some(std::path::Path::new("/tmp"))
    );
}

#[test]
fn invalid_times_of_the_run_are_refused_as_by_fio() {
    for (wrong, theirs) in [
        (
            "--eta-interval=249ms",
            "fio: eta interval time too short (250msec min)",
        ),
        ("--eta-interval=x", "fio: failed parsing eta interval x"),
        ("--eta-newline=0", "fio: eta new line time too short"),
        ("--eta-newline=x", "fio: failed parsing eta time x"),
        ("--status-interval=0", "fio: status interval too small"),
        ("--status-interval=x", "fio: failed parsing time x"),
    ] {
        let error = run(&format!("{wrong} --name=a")).unwrap_err();
        assert_eq!(
            error.words(|_| Some(wrong.to_owned())).as_deref(),
            Some(theirs)
        );
    }
}

#[test]
fn parse_only_and_version_run_nothing() {
    assert_eq!(
        run("--parse-only --name=a").unwrap().action,
        FioAction::ParseOnly
    );
    assert_eq!(
        run("--parse-only").unwrap().action,
        FioAction::ParseOnly,
        "fio has nothing against it"
    );
    let FioAction::Print { text, exit_code: 0 } = run("--version").unwrap().action else {
        panic!()
    };
    assert_eq!(text, "fio-3.39\n");
}

#[test]
fn a_read_only_run_writes_nothing() {
    assert!(job("--readonly --name=a --rw=read").files.read_only);
    assert!(fails("--readonly --name=a --rw=randtrim").contains("which --readonly forbids"));
}

/// Regression: the log of `write_bw_log = out` had a name with a leading space.
#[test]
fn blanks_around_the_text_of_a_job_file_belong_to_no_name() {
    let text = "[a]\nsize=1m\nwrite_bw_log = out\ndescription = two words \nwrite_iolog = l\n";
    let invocation = run_file("", text).unwrap();
    let (job, extras) = invocation.jobs().next().unwrap();
    assert_eq!(
        (extras.logs.bw.as_deref(), extras.description.as_deref()),
        (Some("out"), Some("two words"))
    );
    assert_eq!(job.replay.write.as_deref(), Some(std::path::Path::new("l")));
}

#[test]
fn a_job_file_comes_from_standard_input() {
    let parsed = with_files(&[("-", "[a]\nsize=1m\n")], |ctx| {
        parse(&words("fio -"), ctx)
    });
    assert_eq!(outline(&parsed.unwrap()), "a0");
}

#[test]
fn messages_name_the_value_the_cause_and_the_cure() {
    let wrong = [
        "--name=a --bs=4q",
        "--name=a --bs=0",
        "--name=a --direct=2",
        "--name=a --rw=raed",
        "--name=a --rw=read:x",
        "--name=a --ioengine=io_uring_cmd",
        "--name=a --ioengine=libiao",
        "--name=a --trim_percentage=5",
        "--name=a --size=",
        "--name=a --uid=1000",
        "--name=a --cpuload=50",
        "--name=a --filesize=1k-4x",
        "--name=a --rwmixread=101",
        "--name=a --runtime=5w",
        "--name=a --client=host",
        "--name=a --output-format=yaml",
        "--name=a nowhere.fio",
        "--name=a --numjobs=9999",
        "--name=a --filename=-",
        "--size=1m",
        "--direct=1 --nmae=a",
    ];
    let messages: Vec<String> = wrong
        .iter()
        .map(|command| format!("{command}\n    {}", fails(command)))
        .collect();
    insta::assert_snapshot!("messages", messages.join("\n"));
}

#[test]
fn errors_point_at_the_word() {
    let error = run("--name=a --iodpeth=3").unwrap_err();
    assert_eq!(
        error.at,
        Some(Location::Arg {
            index: 1,
            span: 2..9
        })
    );
    let Location::File {
        path,
        line,
        text,
        span,
    } = run_file("", "[a]\n  bs=4q ; no\n").unwrap_err().at.unwrap()
    else {
        panic!("the error is in the file")
    };
    assert_eq!((path, line, &text[span]), ("job.fio".into(), 2, "bs=4q"));
    let missing = run("--name=a x.fio").unwrap_err();
    assert_eq!(
        missing.at,
        Some(Location::Arg {
            index: 1,
            span: 0..5
        })
    );
}

#[test]
fn a_run_without_end_is_so_only_where_it_is_based_on_time() {
    let runtime = |words: &str| {
        jobs(&format!("--name=a --size=1m --runtime=-1 {words}"))[0]
            .timing
            .runtime
    };
    assert_eq!(runtime(""), None);
    assert!(runtime("--time_based").is_some_and(|time| time > Nanos::from_secs(86_400 * 365)));
    assert!(fails("--name=a --runtime=-x").contains("-x"));
}

#[test]
fn what_ends_and_shows_a_run_is_kept_for_the_edge() {
    let of = |words: &str| run(&format!("{words} --name=a")).unwrap();
    let Settings {
        trigger,
        bandwidth_log,
        ..
    } = of(
        "--bandwidth-log --trigger-file=f --trigger-timeout=1m --trigger=true --trigger-remote=x",
    )
    .settings;
    assert_eq!(
        (trigger.file, trigger.timeout),
        (Some(PathBuf::from("f")), Some(Nanos::from_secs(60)))
    );
    assert_eq!(
        (trigger.command.as_deref(), bandwidth_log),
        (Some("true"), true)
    );
    assert!(!of("--trigger-timeout=0").settings.trigger.may_fire());
    assert_eq!(
        of("--trigger=true").warnings,
        ["--trigger has no effect without --trigger-file or --trigger-timeout"]
    );
}

#[test]
fn checksum_and_clock_tests_are_actions() {
    let eta = run("--eta=sometimes --name=a").unwrap();
    assert_eq!((eta.settings.eta, eta.warnings.len()), (EtaMode::Auto, 1));
    assert_eq!(
        run("--crctest=md5").unwrap().action,
        FioAction::TestChecksums(Some("md5".to_owned()))
    );
    assert_eq!(run("--cpuclock-test").unwrap().action, FioAction::TestClock);
}

#[test]
fn sizes_may_be_those_of_sequential_and_random_ios() {
    let of =
        |words: &str| jobs(&format!("--name=a --bs=16k,4k --bs_is_seq_rand=1 {words}")).remove(0);
    let (line, random, mixed) = (of("--rw=write"), of("--rw=randread"), of("--rw=randrw"));
    assert_eq!(
        (line.block.write.max(), line.block_align),
        (Bytes(16_384), None)
    );
    assert_eq!(
        (random.block.read.max(), random.block_align),
        (Bytes(4096), Some(Bytes(16_384)))
    );
    assert!(random.access.every_block_once);
    assert_eq!(
        (
            mixed.block.read.max(),
            mixed.block.write.max(),
            mixed.block_align
        ),
        (Bytes(4096), Bytes(4096), None)
    );
}

#[test]
fn files_of_a_mix_are_laid_out_in_full_even_without_reads() {
    assert!(
        job("--name=a --rw=randrw:3 --rwmixread=0 --size=64k")
            .files
            .overwrite
    );
    assert!(!job("--name=a --rw=randwrite --size=64k").files.overwrite);
}

#[test]
fn jobs_that_trim_before_they_write_do_not_flush_between_writes() {
    assert_eq!(
        job("--name=a --rw=trimwrite --fsync=7 --filename=/dev/loop9")
            .durability
            .fsync_every,
        0
    );
    assert_eq!(
        job("--name=a --rw=write --fsync=7 --size=64k")
            .durability
            .fsync_every,
        7
    );
}

#[test]
fn files_that_null_never_opens_have_names() {
    let names = |command| jobs(command)[0].files.unopened.clone();
    assert!(names("--name=a --ioengine=null --size=1m").is_empty());
    assert!(names("--name=a --ioengine=psync --size=1m --nrfiles=2").is_empty());
    assert_eq!(
        names("--name=a --ioengine=null --size=1m --nrfiles=2"),
        ["$jobname.$jobnum.0", "$jobname.$jobnum.1"]
    );
    assert_eq!(
        names("--name=a --ioengine=null --size=1m --filename=x:y"),
        ["x", "y"]
    );
}
