//! The performance contests and their bounds.

use super::contest::{self, Contest, Contestant, PerfFigure, PerfSetup, Programs, RatioBound};
use std::path::Path;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Builds the contests one by one; programs that are not installed are left out with their bounds.
struct ContestBuilder<'a> {
    bench: &'a PerfSetup,
    contests: Vec<Contest>,
}

/// A bound, by the names of contestants.
struct BoundSpec {
    name: &'static str,
    ours: &'static str,
    theirs: &'static str,
    figure: PerfFigure,
    at_least: Option<f64>,
    at_most: Option<f64>,
    ceiling: Option<&'static str>,
}

fn least(name: &'static str, ours: &'static str, theirs: &'static str, bound: f64) -> BoundSpec {
    BoundSpec {
        name,
        ours,
        theirs,
        figure: PerfFigure::Iops,
        at_least: Some(bound),
        at_most: None,
        ceiling: None,
    }
}

fn most(
    name: &'static str,
    ours: &'static str,
    theirs: &'static str,
    figure: PerfFigure,
    bound: f64,
) -> BoundSpec {
    BoundSpec {
        figure,
        at_least: None,
        at_most: Some(bound),
        ..least(name, ours, theirs, bound)
    }
}

impl BoundSpec {
    /// Lowers the bound where this bare loop does not reach it.
    fn limited_by(self, bare: &'static str) -> BoundSpec {
        BoundSpec {
            ceiling: Some(bare),
            ..self
        }
    }
}

/// Name of a second fio next to the installed one.
fn newer_name(name: &str) -> String {
    name.replacen("fio", "fio (the other)", 1)
}

impl ContestBuilder<'_> {
    fn contest(
        &mut self,
        name: &str,
        warm: Option<&Path>,
        contestants: Vec<(&'static str, Contestant)>,
        wanted: Vec<BoundSpec>,
    ) {
        let present = |(_, contestant): &(&str, Contestant)| match contestant {
            Contestant::Fio(_) => self.bench.fio.is_some(),
            Contestant::TIoUring => self.bench.t_io_uring.is_some(),
            _ => true,
        };
        let beside = |(name, contestant): (&'static str, Contestant)| {
            let newer = match &contestant {
                Contestant::Fio(words) if self.bench.newer.is_some() => {
                    Some((newer_name(name), Contestant::Newer(words.clone())))
                }
                _ => None,
            };
            std::iter::once((name.to_owned(), contestant)).chain(newer)
        };
        let contestants: Vec<_> = contestants
            .into_iter()
            .filter(present)
            .flat_map(beside)
            .collect();
        let place = |name: &str| contestants.iter().position(|(known, _)| *known == name);
        let bounds = wanted.into_iter().filter_map(|spec| {
            Some(RatioBound {
                name: spec.name,
                ours: place(spec.ours)?,
                theirs: place(spec.theirs)?,
                figure: spec.figure,
                at_least: spec.at_least,
                at_most: spec.at_most,
                ceiling: spec.ceiling.and_then(place),
            })
        });
        self.contests.push(Contest {
            name: name.to_owned(),
            warm: warm.map(Path::to_owned),
            bounds: bounds.collect(),
            contestants,
            programs: Programs {
                ours: self.bench.ours.clone(),
                bare: self.bench.bare.clone(),
                fio: self.bench.fio.clone(),
                newer: self.bench.newer.clone(),
                t_io_uring: self.bench.t_io_uring.clone(),
                cpu: self.bench.cpu,
            },
        });
    }

    fn null(&mut self) {
        let job = "--name=j --ioengine=null --rw=randread --bs=4k --size=1g";
        self.contest(
            "null, randread 4k, one job",
            None,
            vec![
                ("ours, full recording", Contestant::Ours(words(job))),
                ("fio", Contestant::Fio(words(job))),
                (
                    "fio, leanest",
                    Contestant::Fio(words(&format!("{job} --gtod_reduce=1 --norandommap=1"))),
                ),
                (
                    "bare, one counter read",
                    Contestant::Bare(words("counter1 -")),
                ),
                (
                    "bare, two counter reads",
                    Contestant::Bare(words("counter2 -")),
                ),
                (
                    "bare, counter, histogram, permutation",
                    Contestant::Bare(words("recorded -")),
                ),
                (
                    "bare, two clock_gettime",
                    Contestant::Bare(words("clock2 -")),
                ),
            ],
            vec![
                least("IOPS, ours / fio", "ours, full recording", "fio", 4.0),
                least(
                    "IOPS, ours / fio leanest",
                    "ours, full recording",
                    "fio, leanest",
                    2.2,
                ),
            ],
        );
    }

    /// Mixed I/O compared with reads alone: the extra cost per I/O, in a program that does nothing else.
    fn null_mix(&mut self) {
        let job = |rw: &str| {
            words(&format!(
                "--name=j --ioengine=null --rw={rw} --bs=4k --size=1g"
            ))
        };
        self.contest(
            "null, randrw 4k, one job",
            None,
            vec![
                ("ours, randread", Contestant::Ours(job("randread"))),
                ("ours, randrw", Contestant::Ours(job("randrw"))),
                ("ours, randwrite", Contestant::Ours(job("randwrite"))),
                ("fio, randrw", Contestant::Fio(job("randrw"))),
            ],
            vec![
                most(
                    "time an I/O, randrw / randread",
                    "ours, randrw",
                    "ours, randread",
                    PerfFigure::WallNs,
                    1.3,
                ),
                least("IOPS, ours / fio", "ours, randrw", "fio, randrw", 4.0),
            ],
        );
    }

    fn psync(&mut self, place: &str, path: &Path, direct: bool) {
        let (d, suffix) = if direct { (1, "-direct") } else { (0, "") };
        for (rw, loop_name) in [("randread", "pread"), ("randwrite", "pwrite")] {
            // Direct, or in memory already: dropping the cache first would measure the disk.
            let file = path.display();
            let job = format!(
                "--name=j --ioengine=psync --rw={rw} --bs=4k --size=256m --direct={d} --invalidate=0 --filename={file}"
            );
            let bare = |name: &str| Contestant::Bare(words(&format!("{name}{suffix} {file}")));
            let mut contestants = vec![
                ("ours", Contestant::Ours(words(&job))),
                ("bare", bare(loop_name)),
                ("fio", Contestant::Fio(words(&job))),
            ];
            // For comparison: the bare loop writes one block again and again, which stays in the fastest cache.
            if rw == "randwrite" {
                contestants.push(("bare, 132 KiB of content", bare("pwrite-fresh")));
            }
            self.contest(
                &format!("psync, {rw} 4k, {place}"),
                (!direct).then_some(path),
                contestants,
                vec![
                    least("IOPS, ours / bare", "ours", "bare", 0.95),
                    most(
                        "user time an I/O, ours / fio",
                        "ours",
                        "fio",
                        PerfFigure::UserNs,
                        0.25,
                    ),
                ],
            );
        }
    }

    fn large(&mut self) {
        let file = self.bench.tmpfs.display().to_string();
        for (rw, bare) in [("read", "pread-1m"), ("write", "pwrite-1m")] {
            let job = format!(
                "--name=j --ioengine=psync --rw={rw} --bs=1m --size=256m --invalidate=0 --filename={file}"
            );
            self.contest(
                &format!("psync, {rw} 1m, tmpfs"),
                None,
                vec![
                    ("ours", Contestant::Ours(words(&job))),
                    ("bare", Contestant::Bare(words(&format!("{bare} {file}")))),
                    ("fio", Contestant::Fio(words(&job))),
                ],
                vec![
                    least("bandwidth, ours / bare", "ours", "bare", 0.97),
                    most(
                        "processor time, ours / bare",
                        "ours",
                        "bare",
                        PerfFigure::CpuNs,
                        1.03,
                    ),
                ],
            );
        }
    }

    fn queued(&mut self, place: &str, path: &Path, size: u64, direct: bool) {
        let warm = (!direct).then_some(path);
        let (d, suffix) = if direct { (1, "-direct") } else { (0, "") };
        let file = path.display();
        let job = |engine: &str, more: &str| {
            format!(
                "--name=j --ioengine={engine} --rw=randread --bs=4k --size={size} --direct={d} --invalidate=0 --filename={file} {more}"
            )
        };
        // The same options for all programs: submit all free slots in one call, reap each completion immediately.
        let lean = |depth: u32| {
            format!(
                "--iodepth={depth} --iodepth_batch={depth} --iodepth_batch_complete_min=1 --iodepth_batch_complete_max={depth} --fixedbufs=1 --registerfiles=1"
            )
        };
        let batched = "--iodepth=32 --iodepth_batch=0 --iodepth_batch_complete_max=32";
        for depth in [32, 128] {
            self.contest(
                &format!("io_uring, randread 4k, depth {depth}, {place}"),
                warm,
                vec![
                    (
                        "ours, batched",
                        Contestant::Ours(words(&job("io_uring", &lean(depth)))),
                    ),
                    (
                        "bare, batched",
                        Contestant::Bare(words(&format!("uring-{depth}{suffix} {file}"))),
                    ),
                    (
                        "ours, by one",
                        Contestant::Ours(words(&job("io_uring", &format!("--iodepth={depth}")))),
                    ),
                    (
                        "bare, by one",
                        Contestant::Bare(words(&format!("uring-{depth}-single{suffix} {file}"))),
                    ),
                    (
                        "fio, by one",
                        Contestant::Fio(words(&job("io_uring", &format!("--iodepth={depth}")))),
                    ),
                    (
                        "fio, batched",
                        Contestant::Fio(words(&job("io_uring", &lean(depth)))),
                    ),
                ],
                vec![
                    least("IOPS, ours / bare", "ours, batched", "bare, batched", 0.95),
                    least(
                        "IOPS, ours / fio, both batched",
                        "ours, batched",
                        "fio, batched",
                        2.0,
                    )
                    .limited_by("bare, batched"),
                    least(
                        "IOPS, ours / fio, both by one",
                        "ours, by one",
                        "fio, by one",
                        2.0,
                    )
                    .limited_by("bare, by one"),
                ],
            );
        }
        self.contest(
            &format!("io_uring, randread 4k, depth 1, {place}"),
            warm,
            vec![
                (
                    "ours",
                    Contestant::Ours(words(&job("io_uring", "--iodepth=1"))),
                ),
                (
                    "bare",
                    Contestant::Bare(words(&format!("uring-1{suffix} {file}"))),
                ),
                (
                    "fio",
                    Contestant::Fio(words(&job("io_uring", "--iodepth=1"))),
                ),
            ],
            vec![least("IOPS, ours / fio", "ours", "fio", 1.1)],
        );
        self.contest(
            &format!("libaio, randread 4k, depth 32, {place}"),
            warm,
            vec![
                (
                    "ours, batched",
                    Contestant::Ours(words(&job("libaio", batched))),
                ),
                (
                    "bare, batched",
                    Contestant::Bare(words(&format!("libaio{suffix} {file}"))),
                ),
                (
                    "fio",
                    Contestant::Fio(words(&job("libaio", "--iodepth=32"))),
                ),
            ],
            vec![least("IOPS, ours / fio", "ours, batched", "fio", 1.3)],
        );
    }

    fn nop(&mut self) {
        self.contest(
            "io_uring, no-operations, depth 32",
            None,
            vec![
                ("bare", Contestant::Bare(words("uring-nop -"))),
                ("t/io_uring", Contestant::TIoUring),
            ],
            vec![least(
                "rate, our ring / t/io_uring",
                "bare",
                "t/io_uring",
                1.0,
            )],
        );
    }
}

/// All contests.
pub(crate) fn contests(bench: &PerfSetup) -> Vec<Contest> {
    let mut maker = ContestBuilder {
        bench,
        contests: Vec::new(),
    };
    maker.null();
    maker.null_mix();
    maker.psync("tmpfs", &bench.tmpfs, true);
    maker.psync("page cache", &bench.cached, false);
    maker.large();
    // One target fits in the CPU caches, the other is larger than any: memory speed limits every program equally.
    maker.queued("page cache, 16 MiB", &bench.small, contest::SMALL, false);
    maker.queued("page cache, 1 GiB", &bench.large, contest::LARGE, false);
    if let Some(zram) = &bench.zram {
        maker.queued("zram", zram, contest::FILE, true);
    }
    maker.nop();
    maker.contests
}
