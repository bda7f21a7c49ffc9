//! Tests of the whole dialect: from command lines to plans, and from records to columns.

use super::output::{self, HeadView, Results, TableRow};
use super::*;
use hakaru_model::facts::{TargetFacts, TargetKind};
use hakaru_model::job::rules::{ExitScope, TraversalOrder};
use hakaru_model::job::{IoEngine, Job, Op, SizeSpec, Target};
use hakaru_model::plan::{Facts, Plan};
use hakaru_model::record::{PhaseRecord, WorkerRecord};
use hakaru_model::units::{Bytes, Nanos};
use proptest::prelude::*;
use std::ffi::OsString;
use std::path::Path;

fn parsed(line: &str) -> Result<IozoneAction, IozoneError> {
    parse(
        &line
            .split_whitespace()
            .map(OsString::from)
            .collect::<Vec<_>>(),
    )
}

fn request(line: &str) -> IozoneRequest {
    match parsed(line) {
        Ok(IozoneAction::Run(request)) => *request,
        other => panic!("{line}: {other:?}"),
    }
}

fn error(line: &str) -> String {
    parsed(line).expect_err(line).to_string()
}

/// Jobs of the first row or group by test.
fn jobs(line: &str) -> Vec<(IozoneTest, Vec<Job>)> {
    let request = request(line);
    let scenario = request.scenario(request.cells()[0], 4);
    request
        .kinds
        .iter()
        .copied()
        .zip(scenario.phases.into_iter().map(|phase| phase.jobs))
        .collect()
}

fn absent(path: &Path) -> TargetFacts {
    TargetFacts {
        path: path.to_owned(),
        kind: TargetKind::Absent,
        size: Bytes(0),
        free: Some(Bytes(1 << 40)),
        logical_block: 512,
        direct_io: Some(true),
        writable: true,
    }
}

fn facts(request: &IozoneRequest, change: impl Fn(&mut TargetFacts)) -> Facts {
    let paths = request
        .cells()
        .into_iter()
        .flat_map(|cell| request.scenario(cell, 4).paths());
    let look = |path: std::path::PathBuf| {
        let mut facts = absent(&path);
        change(&mut facts);
        (path, facts)
    };
    paths.map(look).collect()
}

#[test]
fn the_published_command_means_four_files_of_256_mib() {
    let line = "-T -t 4 -s 256m -r 4k -I -i0 -i1 -i2";
    let request = request(line);
    let cell = IozoneStep {
        children: 4,
        size_kb: 262_144,
        record_kb: 4,
    };
    assert_eq!(request.cells(), [cell]);
    use IozoneTest::*;
    let kinds = [Write, Rewrite, Read, Reread, RandomRead, RandomWrite];
    assert_eq!(request.kinds, kinds);
    for (kind, jobs) in jobs(line) {
        let [job] = &jobs[..] else {
            panic!("one job with clones")
        };
        assert_eq!((job.numjobs, job.ioengine), (4, IoEngine::Sync));
        assert!(job.files.direct && job.access.does(kind.op()));
        let exit = &job.termination.exit;
        assert_eq!(exit.ends, Some(ExitScope::Phase));
        assert_eq!(exit.finish_writing, kind == Write);
    }
    let scenario = request.scenario(request.cells()[0], 4);
    assert_eq!(scenario.paths()[3], Path::new("iozone.DUMMY.3"));
    let plan = Plan::resolve(&scenario, &facts(&request, |_| {})).unwrap();
    let workers = plan.phases.iter().map(|phase| phase.workers.len());
    assert_eq!(workers.sum::<usize>(), 24);
    let limit = plan.phases[2].workers[3].stream.limit_bytes;
    assert_eq!(limit, Some(256 << 20));
}

/// Every row truncates its file before a test that creates it, and no row pauses before its first test.
#[test]
fn all_rows_are_one_plan_with_their_pauses_and_emptied_files() {
    let request = request("-a -n 64 -g 128 -y 4 -q 8 -i 0 -i 1 -+q 3");
    let scenario = request.whole_scenario(1);
    let (rows, tests) = (request.cells().len(), request.kinds.len());
    assert!(rows > 2 && scenario.phases.len() == rows * tests);
    let plan = Plan::resolve(&scenario, &facts(&request, |_| {})).unwrap();
    for (index, phase) in plan.phases.iter().enumerate() {
        let kind = request.kinds[index % tests];
        let pause = Nanos::from_secs(if index % tests == 0 { 0 } else { 3 });
        assert_eq!(phase.pause, pause, "{}", phase.name);
        let empties = request.empties_files() && kind.makes_file();
        assert_eq!(phase.files[0].empty_first, empties, "{}", phase.name);
    }
}

/// One row; the number of a test follows.
const ROW: &str = "-s 1m -r 64k -i 0 -i";

#[test]
fn tests_set_the_order_and_extent_of_a_job() {
    let of = |line: &str| jobs(line).pop().unwrap().1.remove(0);
    let row = ROW;
    assert_eq!(
        of(&format!("{row} 3")).access.order,
        TraversalOrder::Backward
    );
    assert_eq!(
        of(&format!("{row} 5 -j 5")).access.order,
        TraversalOrder::Interleaved {
            step: Bytes(5 << 16)
        }
    );
    let spot = of(&format!("{row} 4"));
    let sizes = [spot.extent.size, spot.extent.io_size];
    assert_eq!(
        sizes,
        [Bytes(1 << 16), Bytes(1 << 20)].map(|size| Some(SizeSpec::Bytes(size)))
    );
}

#[test]
fn tests_set_the_engine_and_flushes_of_a_job() {
    let of = |line: &str| jobs(line).pop().unwrap().1.remove(0);
    let row = ROW;
    let stream = of(&format!("{row} 6 -I -B"));
    assert_eq!(
        (stream.ioengine, stream.files.direct),
        (IoEngine::Stdio, false)
    );
    assert_eq!(of(&format!("-t1 {row} 9")).ioengine, IoEngine::Psync);
    assert_eq!(of(&format!("-t1 {row} 12")).ioengine, IoEngine::Pvsync);
    assert_eq!(of(&format!("{row} 1 -B -G -e")).ioengine, IoEngine::Mmap);
    let deep = of(&format!("{row} 1 -k 8"));
    assert_eq!((deep.ioengine, deep.queue.iodepth), (IoEngine::Posixaio, 8));
    let flushed = of(&format!("{row} 2 -e -c -o -+D"));
    assert!(flushed.durability.end_fsync && flushed.durability.sync && flushed.durability.dsync);
    assert!(flushed.files.time_close);
}

#[test]
fn children_may_differ() {
    let mix = |line: &str| jobs(line).remove(0).1;
    let reads = |line: &str| {
        mix(line)
            .iter()
            .filter(|job| job.access.does(Op::Read))
            .count()
    };
    assert_eq!(
        [reads("-t5 -i8"), reads("-t5 -i8 -+p 20"), reads("-t1 -i8")],
        [3, 1, 1]
    );
    let placed = mix("-t 3 -i 0 -P 3 -d 10 -F a b c");
    assert_eq!(placed[2].target, Target::Paths(vec!["c".into()]));
    assert_eq!(
        (
            placed[1].placement.cpus_allowed.clone(),
            placed[2].timing.startdelay
        ),
        (vec![0], Nanos(20_000))
    );
}

/// File and record size of each row in kB.
fn rows(line: &str) -> Vec<(u64, u64)> {
    let cells = request(line).cells();
    cells.iter().map(|c| (c.size_kb, c.record_kb)).collect()
}

#[test]
fn auto_mode_skips_small_records_of_large_files() {
    let auto = rows("-a");
    assert_eq!(
        (auto[0], auto[4], auto[5], auto.last()),
        ((64, 4), (64, 64), (128, 4), Some(&(524_288, 16_384)))
    );
    assert!(
        !auto.contains(&(32_768, 32))
            && auto.contains(&(32_768, 64))
            && auto.contains(&(16_384, 4))
    );
    assert!(rows("-az").contains(&(524_288, 4)) && rows("-A").contains(&(524_288, 4)));
}

#[test]
fn rows_follow_sizes_and_bounds() {
    assert_eq!(
        rows("-a -s 80M -r 4k -r 1024k"),
        [(81_920, 4), (81_920, 1024)]
    );
    assert_eq!(
        rows("-a -n 64 -g 256 -y 64 -q 128"),
        [(64, 64), (128, 64), (128, 128), (256, 64), (256, 128)]
    );
    assert_eq!(
        rows("-a -r 4k -s 1G -g 4G"),
        [(1 << 20, 4), (2 << 20, 4), (4 << 20, 4)]
    );
    assert_eq!(rows("-i 0"), [(512, 4)]);
    assert_eq!(rows("-a -s 1m -r 8").len(), 1);
}

#[test]
fn what_cannot_be_is_said_with_its_cure() {
    for (line, words) in [
        (
            "-t 4 -i 13",
            "-i 13 cannot be used: expected a value between 0 and 12",
        ),
        ("-s 4kb", "expected k, m, g or t"),
        ("-s 0", "minimum is 1 kB"),
        ("-r 8g -s 16g", "maximum record size is 1 GiB"),
        ("-t 2 -s 4k -r 8k", "use a smaller -r or a larger -s"),
        ("-s 4k -r 8k", "use a smaller -r or a larger -s"),
        ("-t 3 -F a b", "names 2 files for 3 children"),
        ("-l 3 -u 2", "-l 3 is more than -u 2"),
        ("-a -t 2", "use one of them"),
        ("-i 9", "add -t 1"),
        ("-t 1 -i 4", "omit -t, -l and -u"),
        ("-N -t 1", "with children use -O"),
        ("-O -N", "contradict"),
        ("-U /mnt -a", "use -I"),
        ("-+m hosts -t 2", "start it on each host"),
        ("-y 8m -q 4m -a", "minimum size is larger than the maximum"),
        ("-t", "needs a value"),
        ("-t -4", "needs a value"),
        ("-t 2 -r 4 -r 8", "a single size"),
        ("-?", "unknown option"),
    ] {
        assert!(error(line).contains(words), "{line}: {}", error(line));
    }
}

/// The error of the check of the files of the first row or group.
fn check(line: &str, change: &dyn Fn(&mut TargetFacts)) -> Result<(), String> {
    let request = request(line);
    let scenario = request.scenario(request.cells()[0], 4);
    check_files(&scenario, &facts(&request, change)).map_err(|error| error.to_string())
}

#[test]
fn missing_and_short_files_are_refused_before_the_run() {
    let file = |size: u64| {
        move |facts: &mut TargetFacts| (facts.kind, facts.size) = (TargetKind::File, Bytes(size))
    };
    let missing = check("-i 1 -s 1m", &|_| {}).unwrap_err();
    assert!(missing.contains("add -i 0"), "{missing}");
    let short = check("-i 1 -s 1m", &file(1000)).unwrap_err();
    assert!(short.contains("has 1000 B"), "{short}");
    assert_eq!(check("-i 1 -s 1m", &file(1 << 20)), Ok(()));
    assert_eq!(check("-t 2 -i 9 -i 10", &|_| {}), Ok(()));
}

#[test]
fn files_without_direct_io_are_refused_before_the_run() {
    let no_direct = |facts: &mut TargetFacts| facts.direct_io = Some(false);
    let error = check("-i 0 -I", &no_direct).unwrap_err();
    assert!(error.contains("omit -I"), "{error}");
    assert_eq!(check("-i 0", &no_direct), Ok(()));
}

#[test]
fn errors_of_the_plan_name_the_options_of_iozone() {
    let error = |line: &str, change: &dyn Fn(&mut TargetFacts)| {
        let request = request(line);
        let scenario = request.scenario(request.cells()[0], 4);
        let plan = Plan::resolve(&scenario, &facts(&request, change));
        cure(&plan.expect_err(line))
    };
    let full = error("-i 0 -s 1g", &|f| f.free = Some(Bytes(9)));
    assert!(full.contains("smaller -s"), "{full}");
    let read_only = error("-i 0", &|f| f.writable = false);
    assert!(read_only.contains("in a writable directory"), "{read_only}");
    let misaligned = error("-i 0 -r 1 -I", &|f| f.logical_block = 4096);
    assert!(misaligned.contains("larger -r"), "{misaligned}");
}

/// A phase of workers with the given kB and ms each.
fn phase(workers: &[(u64, u64)], elapsed_ms: u64) -> PhaseRecord {
    let worker = |&(kb, ms): &(u64, u64)| {
        let mut worker = WorkerRecord {
            runtime: Nanos::from_millis(ms),
            ..WorkerRecord::default()
        };
        worker.ops[Op::Write].bytes = kb << 10;
        worker
    };
    PhaseRecord {
        name: "write".to_owned(),
        started_unix_ms: 0,
        elapsed: Nanos::from_millis(elapsed_ms),
        workers: workers.iter().map(worker).collect(),
        ..PhaseRecord::default()
    }
}

/// A complete output with made-up figures.
fn whole(line: &str) -> String {
    let request = request(line);
    let command = format!("iozone {line}");
    let view = HeadView {
        hakaru: "0.1.0",
        began: "Sat Nov 21 20:42:19 2026",
        command: &command,
        machine: "Linux host 6.1",
    };
    let mut text = output::head(&request, &view);
    let mut results = Results::default();
    for (cell, nth) in request.cells().into_iter().zip(0..) {
        let table = matches!(request.mode, IozoneMode::Table { .. });
        let (begin, mut row) = TableRow::begin(cell);
        text += &match table {
            true => begin,
            false => output::group_head(&request, cell),
        };
        for (&kind, place) in request.kinds.iter().zip(0..) {
            let figures = made_up(&request, cell, 1000 + 100 * place + nth);
            text += &match table {
                true => row.value(kind, figures.in_table(request.unit)),
                false => output::group_block(&request, kind, cell, &figures),
            };
            results.all.push((cell, kind, figures));
        }
        text += &if table { row.end() } else { String::new() };
    }
    text + &output::tail(&request, &results)
}

/// Figures of children that ran for `ms`, each with one record less than the one before.
fn made_up(request: &IozoneRequest, cell: IozoneStep, ms: u64) -> TestFigures {
    let share = |child: u64| (cell.size_kb - child * cell.record_kb, ms);
    let workers: Vec<(u64, u64)> = (0..u64::from(cell.children)).map(share).collect();
    let phase = phase(&workers, 4000);
    TestFigures::of(&phase, cell.record_kb, request.unit, request.delay())
}

#[test]
fn throughput_mode_to_the_column() {
    insta::assert_snapshot!(
        "throughput",
        whole("-T -t 4 -s 256m -r 4k -I -i0 -i1 -i2 -C")
    );
    insta::assert_snapshot!(
        "throughput_all",
        whole("-l 1 -u 2 -s 1m -e -c -w -+n -O -R -i0 -i1 -i3 -i5 -i6 -i7 -i8 -i9 -i10 -i11 -i12")
    );
}

#[test]
fn the_lines_of_a_block_are_those_that_iozone_prints() {
    let text = whole("-T -t 4 -s 4m -r 4k -i0 -i1 -i6 -i 10");
    for line in [
        "\tRun began: Sat Nov 21 20:42:19 2026\n\n\tFile size set to 4096 kB\n\tRecord Size 4 kB\n\tCommand line used: iozone -T",
        "\tOutput is in kBytes/sec\n\tTime Resolution = 0.000001 seconds.\n\tProcessor cache size set to 1024 kBytes.\n",
        "\tThroughput test with 4 threads\n\tEach thread writes a 4096 kByte file in 4 kByte records\n\n\tChildren",
        "\n\tChildren see throughput for  4 initial writers \t=   16360.00 kB/sec\n",
        "\tParent sees throughput for  4 initial writers \t=    4090.00 kB/sec\n",
        "\tMin throughput per thread \t\t\t=    4084.00 kB/sec \n\tMax throughput per thread \t\t\t=    4096.00 kB/sec\n",
        "\tAvg throughput per thread \t\t\t=    4090.00 kB/sec\n\tMin xfer \t\t\t\t\t=    4084.00 kB\n",
        "\tChildren see throughput for  4 readers \t\t= ",
        "\tParent sees throughput for  4 readers \t\t= ",
        "\tChildren see throughput for 4 re-readers \t= ",
        "\tChildren see throughput for 4 pread readers \t= ",
        "\tChildren see throughput for  4 fwriters \t= ",
        "\tParent sees throughput for  4 fwriters \t\t= ",
        " kB\n\n\n\niozone test complete.\n",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
}

#[test]
fn the_table_to_the_column() {
    let text = whole("-a -e -I -i 0 -i 1 -i 2 -s 80M -r 4k -r 1024k");
    insta::assert_snapshot!("table", text);
    let all = whole("-a -n 64 -g 128 -y 32 -R");
    insta::assert_snapshot!("table_all", all);
    let row = all
        .lines()
        .find(|line| line.trim_start().starts_with("64 "))
        .unwrap();
    assert_eq!(row.len(), 143);
}

/// A row with the values of some tests.
fn row(size_kb: u64, record_kb: u64, values: &[(IozoneTest, u64)]) -> String {
    let (mut text, mut row) = TableRow::begin(IozoneStep {
        children: 1,
        size_kb,
        record_kb,
    });
    for &(kind, value) in values {
        text += &row.value(kind, value);
    }
    text + &row.end()
}

/// Rows printed by iozone 3.49, from public repositories, including trailing blanks.
#[test]
fn rows_are_those_that_iozone_prints() {
    let blanks = " ".repeat(64);
    let values = [
        1_196_302, 1_346_933, 3_014_114, 3_743_865, 3_303_309, 1_642_308,
    ];
    let first_six: Vec<(IozoneTest, u64)> = IozoneTest::all().zip(values).collect();
    assert_eq!(
        row(4096, 4, &first_six),
        format!(
            "            4096       4  1196302  1346933  3014114  3743865  3303309  1642308{blanks}\n"
        )
    );
    let left_out = [
        (IozoneTest::Write, 360_823),
        (IozoneTest::Rewrite, 362_512),
        (IozoneTest::RandomRead, 378_122),
        (IozoneTest::RandomWrite, 364_339),
    ];
    assert_eq!(
        row(102_400, 1024, &left_out),
        format!(
            "          102400    1024   360823   362512                     378122   364339{blanks}\n"
        )
    );
}

/// A row printed by iozone 3.49.
#[test]
fn a_full_row_is_that_which_iozone_prints() {
    let values = [
        55907, 68813, 43361, 42502, 34044, 64746, 33578, 61774, 30137, 235_263, 233_180, 3_905_668,
        3_824_589,
    ];
    let full: Vec<(IozoneTest, u64)> = IozoneTest::all().zip(values).collect();
    assert_eq!(
        row(16384, 4, &full).trim_end(),
        "           16384       4    55907    68813    43361    42502    34044    64746    33578     61774     30137   \
         235263   233180  3905668  3824589"
    );
}

#[test]
fn clients_that_cut_columns_or_words_find_them() {
    let text = whole("-a -e -I -i 0 -i 1 -i 2 -s 8M -r 4k");
    let lines: Vec<&str> = text.lines().collect();
    let [.., row, empty, end] = &lines[..] else {
        panic!("{text}")
    };
    assert_eq!((*empty, *end), ("", "iozone test complete."));
    let words: Vec<u64> = row
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    assert_eq!(words, [8192, 4, 8192, 7447, 6827, 6302, 5851, 5461]);
    let cut: String = row.chars().skip(6).take(94).collect();
    assert!(
        cut.starts_with("      8192       4     8192     7447"),
        "{cut:?}"
    );
    assert_eq!((row.len(), row.trim_end().len()), (142, 78));
}

#[test]
fn tests_that_were_skipped_leave_blanks() {
    let only_random = whole("-i 0 -i 2 -+n -s 100M");
    let row = only_random
        .lines()
        .find(|line| line.contains("102400       4"))
        .unwrap();
    assert_eq!(row.trim_end().len(), 78);
    assert!(
        row.contains("                             "),
        "tests that were left out are blanks"
    );
    let micros = whole("-i 0 -s 1m -N");
    assert!(
        micros.contains("Microseconds/op Mode.")
            && micros.contains("            1024       4     3906"),
        "{micros}"
    );
}

#[test]
fn help_lists_every_option_that_works() {
    insta::assert_snapshot!("help", usage());
    assert!(man_page().starts_with(".TH HAKARU\\-IOZONE 1"));
    assert!(compatibility_markdown().contains("| `-U mount point` | refused |"));
    for line in ["-h", "-v", "--help", "-ah"] {
        assert!(matches!(parsed(line), Ok(IozoneAction::Print(_))), "{line}");
    }
    assert!(matches!(parsed(""), Ok(IozoneAction::Print(text)) if text.contains("Usage")));
}

#[test]
fn words_that_are_no_options_are_warned_of() {
    let warnings = request("-e -t1 -i0 -i2 -r1k -s1g -p /tmp").warnings;
    assert!(
        warnings[0].contains("-p has no effect") && warnings[1].contains("`/tmp`"),
        "{warnings:?}"
    );
}

/// Regression: each of these was ignored silently, and the wrong file was measured.
#[test]
fn options_without_effect_are_warned_of() {
    for (line, expected) in [
        (
            "-t2 -f x",
            "-f has no effect with children: name a file for each of them with -F",
        ),
        (
            "-i0 -F a b",
            "-F has no effect in table mode: name the file with -f, or use -t for children",
        ),
        (
            "-i0 -n 4m",
            "-n has no effect without -a or -g: set the file size with -s",
        ),
        (
            "-a -n 4m -s 8m",
            "-n has no effect together with -s: sizes start at -s",
        ),
        (
            "-t2 -g 1g",
            "-g has no effect with children: set their sizes with -s and -r",
        ),
        ("-i0 -z", "-z has no effect without -a or -g"),
        ("-i0 -G", "-G has no effect without -B"),
    ] {
        assert_eq!(request(line).warnings, [expected], "{line}");
    }
    for line in ["-a -n 4m -f x", "-g 1g -n 1m -z", "-t2 -F a b", "-i0 -B -G"] {
        assert_eq!(request(line).warnings, [""; 0], "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn no_command_line_makes_us_panic(words in prop::collection::vec(word(), 0..12)) {
        let Ok(IozoneAction::Run(request)) = parse(&words.into_iter().map(OsString::from).collect::<Vec<_>>()) else {
            return Ok(());
        };
        for cell in request.cells().into_iter().take(4) {
            let scenario = request.scenario(cell, 3);
            let facts: Facts = scenario.paths().into_iter().take(64).map(|p| (p.clone(), absent(&p))).collect();
            let _ = check_files(&scenario, &facts);
            if let Ok(plan) = Plan::resolve(&scenario, &facts) {
                prop_assert_eq!(plan.phases.len(), request.kinds.len());
            }
        }
    }
}

/// Options with and without values, and invalid words.
fn word() -> impl Strategy<Value = String> {
    let names: Vec<&str> = options::all().map(|opt| opt.name).collect();
    prop_oneof![
        prop::sample::select(names.clone()).prop_map(|name| format!("-{name}")),
        (prop::sample::select(names), "[0-9]{1,9}[kmgtKMG]?")
            .prop_map(|(name, value)| format!("-{name}{value}")),
        "[0-9]{1,20}[kmgt]?",
        "[1-9]",
        "-[a-zA-Z+]{1,4}",
        "\\PC{0,8}",
    ]
}

/// Regression: `-d` delays each child and the parent waits for the last one, but the parent's time did not include the
/// delay.
#[test]
fn the_parent_sees_its_own_time() {
    let request = request("-t 4 -s 4m -r 4k -i 0 -d 300000");
    let workers = [(4096, 100); 4];
    let of = |delay| TestFigures::of(&phase(&workers, 100), 4, request.unit, delay);
    let (together, apart) = (of(hakaru_model::units::Nanos(0)), of(request.delay()));
    assert_eq!(apart.children, together.children);
    // 16 MiB in 0.1 s, and in 1 s.
    assert!((together.parent - 163_840.0).abs() < 1.0, "{together:?}");
    assert!((apart.parent - 16_384.0).abs() < 1.0, "{apart:?}");
}

/// Regression: `-+u` was rejected, although network file system benchmarks use it.
#[test]
fn processor_use_stands_behind_each_block() {
    let text = whole("-M -+u -i0 -i1 -s1g -r256k -t12 -I");
    assert!(
        text.contains(
            "\tCPU utilization Resolution = 0.000 seconds.\n\tCPU utilization Excel chart enabled\n"
        ),
        "{text}"
    );
    let line = "CPU time    0.000    CPU utilization   0.00 %\n";
    assert!(
        text.contains("\tCPU Utilization: Wall time ")
            && text.contains("\tCPU utilization: Wall time "),
        "{text}"
    );
    assert_eq!(text.matches(line).count(), 4, "{text}");
}

#[test]
fn processor_use_is_reported_and_imported() {
    let table = whole("-a -s 64k -r 4k -i 0 -R -+u");
    assert!(
        table.contains("\"Writer report\"") && table.contains("\"Writer CPU utilization report\""),
        "{table}"
    );
    let text = whole("-M -+u -i0 -i1 -s1g -r256k -t12 -I");
    let source = crate::import::SourceText {
        name: "x",
        text: &text,
    };
    let found = crate::import::import(&[source]);
    let run = &found.runs[0].run;
    assert_eq!(run.unread, []);
    assert!(
        run.reported.blocks[0].get("wall").is_some(),
        "{:?}",
        run.reported.blocks[0]
    );
}
