//! Tests with iozone outputs as strings, and the runs parsed from them.

use super::super::lines::lines;
use super::*;
use hakaru_model::job::Op;
use hakaru_model::record::PhaseRecord;

fn rates(text: &str) -> Vec<(String, f64)> {
    let (run, _) = read(&lines(text), None).unwrap();
    let phase = |(index, phase): (usize, &PhaseRecord)| {
        let worker = &phase.workers[0];
        let op = Op::ALL.into_iter().find(|&op| worker.ops[op].bytes > 0);
        let by_count = op.map(|op| worker.ops[op].bytes as f64 / worker.runtime.as_secs_f64());
        let report = run.reported.worker(index, 0).unwrap();
        let stated = Op::ALL
            .into_iter()
            .find_map(|op| report.ops[op].bytes_per_s)
            .map(|rate| rate.mean);
        (
            phase.name.clone(),
            (by_count.or(stated).unwrap() / KB).round(),
        )
    };
    run.phases.iter().enumerate().map(phase).collect()
}

const HEAD: &str = "                                                              random    random     bkwd    record    stride                                    \n              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread\n";

#[test]
fn a_table_with_tests_left_out_is_read_by_place() {
    let all = format!(
        "{HEAD}           16384       4    55907    68813    43361    42502    34044    64746    33578     61774     30137   235263   233180  3905668  3824589\n\niozone test complete.\n"
    );
    assert_eq!(rates(&all).len(), 13);
    assert_eq!(rates(&all)[7], ("record rewrite".to_owned(), 61774.0));
    let some = format!(
        "{HEAD}          102400    1024   379304   383401                     375988   383204                                                                \n\niozone test complete.\n"
    );
    let names: Vec<String> = rates(&some).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["write", "rewrite", "random read", "random write"]);
}

#[test]
fn throughput_mode_states_rates() {
    let text = "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.471 $\n\n\tO_DIRECT feature enabled\n\tCommand line used: iozone -T -t 4 -s 256m -r 4k -I -i0\n\tEach thread writes a 262144 kByte file in 4 kByte records\n\n\tChildren see throughput for  4 initial writers \t=  174754.01 kB/sec\n\tParent sees throughput for  4 initial writers \t=   83428.39 kB/sec\n\tMin throughput per thread \t\t\t=   17818.75 kB/sec \n\tMax throughput per thread \t\t\t=   52980.82 kB/sec\n\tAvg throughput per thread \t\t\t=   43688.50 kB/sec\n\tMin xfer \t\t\t\t\t=    1392.00 kB\n\n\n\niozone test complete.\n";
    let (run, _) = read(&lines(text), None).unwrap();
    assert_eq!(
        (run.program.as_str(), run.format, run.figures),
        ("iozone 3.471", SourceFormat::IozoneThroughput, 7)
    );
    let report = run.reported.worker(0, 0).unwrap();
    assert_eq!(
        (report.members, report.ops.write.iops.unwrap().mean.round()),
        (4, 43689.0)
    );
    assert_eq!(run.caveats, []);
    assert_eq!(rates(text), [("write".to_owned(), 174_754.0)]);
}

#[test]
fn spreadsheet_reports_are_read_once() {
    let report = "\"Writer report\"\n        \"4\"  \"8\"\n\"64\"   173944 0\n\"128\"   235549 245000\n\n\"Re-Reader report\"\n\"4\"\n\"64\"  99\n";
    let names: Vec<String> = rates(report).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "write 4 KiB of 64 KiB",
            "write 4 KiB of 128 KiB",
            "write 8 KiB of 128 KiB",
            "reread 4 KiB of 64 KiB"
        ]
    );
    let both = "\tChildren see throughput for 5 re-readers \t= 2055142.27 KB/sec\n\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n\"Record size = 4 Kbytes \"\n\"Output is in Kbytes/sec\"\n\n\"        Re-read \" 2055142.27 \n";
    assert_eq!(rates(both), [("reread".to_owned(), 2_055_142.0)]);
}

#[test]
fn children_are_read_one_by_one() {
    let text = "\tChildren see throughput for  2 initial writers \t=   20.00 kB/sec\n\tMin xfer \t\t\t\t\t=    4.00 kB\n\tChild[0] xfer count =       4.00 kB, Throughput =      12.00 kB/sec\n\tChild[1] xfer count =       8.00 kB, Throughput =       8.00 kB/sec\n\nPurge Mode On\n\niozone test complete.\n";
    let (run, _) = read(&lines(text), None).unwrap();
    let block = &run.reported.blocks[0];
    assert_eq!(block.get("child 1 xfer").unwrap().to_string(), "8.00kB");
    assert_eq!(
        block.get("child 0 rate").unwrap().to_string(),
        "12.00kB/sec"
    );
    assert_eq!(run.unread.len(), 1, "{:?}", run.unread);
}
