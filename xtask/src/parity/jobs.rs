//! The jobs of the comparison: one row per job, ordered by feature.
//!
//! Each runs in an empty directory for about a second. Placeholders: `{dir}` is the directory, `{job}` the job file of
//! the row, `{held}` the rate-limited file, `{loop}` a loop device of 16 MiB.

use super::compare::OutputDifference;
use MatchRule::{Chance, Counts, Form, Held, Rate};

/// What must match besides the form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchRule {
    /// All counts.
    Counts,
    /// All counts within random variation, because the job makes random choices with a new seed in each run.
    Chance,
    /// Bandwidth and IOPS too, because the job limits its rate.
    Rate,
    /// Bandwidth, IOPS and latencies too, because the target limits its speed.
    Held,
    /// Nothing else.
    Form,
}

/// One job of the comparison.
#[derive(Debug)]
pub(super) struct ParityRow {
    pub(super) feature: &'static str,
    pub(super) name: &'static str,
    pub(super) judge: MatchRule,
    /// Arguments separated by spaces. A missing name and the job file are added.
    pub(super) args: &'static str,
    /// Content of the job file; empty for none.
    pub(super) file: &'static str,
    /// Arguments of a preceding run of the same program in the same directory; empty for none.
    pub(super) before: &'static str,
    /// An additional file in the directory, as name and content.
    pub(super) beside: Option<(&'static str, &'static str)>,
}

const fn job(
    feature: &'static str,
    name: &'static str,
    judge: MatchRule,
    args: &'static str,
) -> ParityRow {
    ParityRow {
        feature,
        name,
        judge,
        args,
        file: "",
        before: "",
        beside: None,
    }
}

impl ParityRow {
    const fn file(self, file: &'static str) -> ParityRow {
        ParityRow { file, ..self }
    }

    const fn after(self, before: &'static str) -> ParityRow {
        ParityRow { before, ..self }
    }

    const fn beside(self, name: &'static str, text: &'static str) -> ParityRow {
        ParityRow {
            beside: Some((name, text)),
            ..self
        }
    }

    /// Whether the row uses this placeholder.
    pub(super) fn needs(&self, placeholder: &str) -> bool {
        [self.args, self.file, self.before]
            .iter()
            .any(|text| text.contains(placeholder))
    }

    /// Whether the row selects its own output format.
    pub(super) fn has_own_format(&self) -> bool {
        [
            "--output-format",
            "--minimal",
            "--parse-only",
            "--showcmd",
            "--version",
        ]
        .iter()
        .any(|o| self.args.contains(o))
    }
}

impl ParityRow {
    /// Whether the output in the row's own format is compared as a tree instead of as text.
    pub(super) fn is_tree(&self) -> bool {
        [
            "--output-format=json+",
            "--output-format=terse",
            "--minimal",
        ]
        .iter()
        .any(|o| self.args.contains(o))
    }
}

/// All rows.
#[rustfmt::skip]
pub(super) const JOBS: &[ParityRow] = &[
    job("access", "seq-read", Counts, "--rw=read --bs=64k --size=4m"),
    job("access", "seq-write", Counts, "--rw=write --bs=64k --size=4m"),
    job("access", "rand-read", Counts, "--rw=randread --bs=4k --size=2m"),
    job("access", "rand-write", Counts, "--rw=randwrite --bs=4k --size=2m"),
    job("access", "seq-mixed", Chance, "--rw=readwrite --bs=4k --size=2m --randrepeat=0"),
    job("access", "rand-mixed", Chance, "--rw=randrw --rwmixread=70 --bs=4k --size=2m --randrepeat=0"),
    job("access", "rand-mixed-writes", Chance, "--rw=randrw --rwmixwrite=80 --bs=4k --size=2m --randrepeat=0"),
    job("access", "seq-with-holes", Counts, "--rw=read:4k --bs=4k --size=2m"),
    job("access", "runs-of-eight", Counts, "--rw=randread:8 --bs=4k --size=2m"),
    job("access", "sequencer-identical", Counts, "--rw=randwrite:4 --rw_sequencer=identical --bs=4k --size=1m"),
    job("access", "sequencer-sequential", Counts, "--rw=randread:4 --rw_sequencer=sequential --bs=4k --size=1m"),
    job("access", "percentage-random", Counts, "--rw=randread --percentage_random=50 --bs=4k --size=2m"),
    job("access", "norandommap", Counts, "--rw=randwrite --norandommap --bs=4k --size=2m"),
    job("access", "trim", Counts, "--rw=trim --bs=64k --size=4m --filename={loop}"),
    job("access", "rand-trim", Counts, "--rw=randtrim --bs=64k --size=4m --filename={loop}"),
    job("access", "trim-write", Counts, "--rw=trimwrite --bs=64k --size=4m --filename={loop}"),
    job("access", "device", Counts, "--rw=write --bs=64k --direct=1 --filename={loop}"),

    job("distribution", "lfsr", Counts, "--rw=randread --random_generator=lfsr --bs=4k --size=2m"),
    job("distribution", "tausworthe64", Counts, "--rw=randread --random_generator=tausworthe64 --bs=4k --size=2m"),
    job("distribution", "zipf", Counts, "--rw=randread --random_distribution=zipf:1.2 --bs=4k --size=2m"),
    job("distribution", "pareto", Counts, "--rw=randread --random_distribution=pareto:0.2 --bs=4k --size=2m"),
    job("distribution", "normal", Counts, "--rw=randread --random_distribution=normal:20 --bs=4k --size=2m"),
    job("distribution", "zipf-centre", Counts, "--rw=randread --random_distribution=zipf:1.2:0.25 --bs=4k --size=2m"),
    job("distribution", "normal-centre", Counts, "--rw=randread --random_distribution=normal:20:0.75 --bs=4k --size=2m"),
    job("distribution", "zoned-abs", Counts, "--rw=randread --random_distribution=zoned_abs:60/512k:40/1m --bs=4k --size=2m"),
    job("distribution", "zoned", Counts, "--rw=randread --random_distribution=zoned:60/10:30/20:8/30:2/40 --bs=4k --size=2m"),
    job("distribution", "randseed", Counts, "--rw=randwrite --randseed=1234 --bs=4k --size=2m"),
    job("distribution", "randseed-of-two", Counts, "--randseed=42 --rw=randwrite --bs=4k --size=1m --filename=both --name=a --name=b"),
    job("distribution", "allrandrepeat", Counts, "--rw=randwrite --allrandrepeat=1 --bs=4k --size=2m"),

    job("size", "io-size-more", Counts, "--rw=write --bs=16k --size=1m --io_size=3m"),
    job("size", "io-size-less", Counts, "--rw=randread --bs=4k --size=4m --io_size=1m"),
    job("size", "loops", Counts, "--rw=read --bs=16k --size=512k --loops=3"),
    job("size", "number-ios", Counts, "--rw=randwrite --bs=4k --size=4m --number_ios=100"),
    job("size", "offset", Counts, "--rw=read --bs=16k --filesize=4m --offset=1m --size=2m"),
    job("size", "offset-percent", Counts, "--rw=read --bs=16k --filesize=4m --offset=50%").after("--name=offset-percent --rw=write --bs=16k --size=4m"),
    job("size", "size-percent", Counts, "--rw=read --bs=16k --filesize=4m --size=25%").after("--name=size-percent --rw=write --bs=16k --size=4m"),
    job("size", "size-percent-new", Counts, "--rw=read --bs=16k --filesize=4m --size=25%"),
    job("size", "offset-increment", Counts, "--rw=write --bs=16k --filename=shared --filesize=4m --size=1m --numjobs=3 --offset_increment=1m"),
    job("size", "bsrange", Chance, "--rw=randread --bsrange=1k-16k --size=2m --randrepeat=0"),
    job("size", "bssplit", Chance, "--rw=write --bssplit=4k/50:16k/30:32k/20 --size=4m --randrepeat=0"),
    job("size", "bssplit-each-block-once", Chance, "--rw=randwrite --bssplit=4k/50:16k/30:32k/20 --size=4m --randrepeat=0"),
    job("size", "bssplit-two", Chance, "--rw=randrw --bssplit=4k/50:8k/50,16k/100 --size=4m --randrepeat=0"),
    job("size", "bs-two", Chance, "--rw=randrw --bs=4k,16k --size=4m --randrepeat=0"),
    job("size", "blockalign", Counts, "--rw=randread --bs=4k --blockalign=8k --size=2m"),
    job("size", "bs-unaligned", Chance, "--rw=read --bsrange=1k-8k --bs_unaligned=1 --size=1m --randrepeat=0"),
    job("size", "bs-is-seq-rand", Chance, "--rw=randrw --bs=16k,4k --bs_is_seq_rand=1 --size=2m --norandommap --randrepeat=0"),
    job("size", "bs-is-seq-rand-in-line", Counts, "--rw=write --bs=16k,4k --bs_is_seq_rand=1 --size=2m"),
    job("size", "bssplit-too-much", Chance, "--rw=write --bssplit=4k/60:8k/50 --size=4m --randrepeat=0"),
    job("size", "strided-past-the-end", Counts, "--rw=read --bs=4k --zonemode=strided --zonesize=24k --zonerange=40k --size=100k"),
    job("size", "strided-part-of-a-zone", Counts, "--rw=read --bs=4k --zonemode=strided --zonesize=24k --zonerange=40k --size=100k --io_size=200k"),
    job("size", "strided-random", Counts, "--rw=randread --bs=4k --zonemode=strided --zonesize=24k --zonerange=40k --size=100k --loops=2"),
    job("size", "runtime-without-end", Counts, "--rw=read --bs=16k --size=512k --runtime=-1"),
    job("size", "kb-base", Counts, "--rw=write --kb_base=1000 --bs=4k --size=2MiB"),
    job("size", "minimum-and-maximum", Counts, "--rw=read --bs=512 --size=64k --filesize=128k"),
    job("size", "strided", Counts, "--rw=read --bs=16k --filesize=4m --zonemode=strided --zonesize=256k --zonerange=512k --zoneskip=512k --size=1m"),
    job("size", "in-zones", Counts, "--rw=read --bs=16k --zonemode=strided --zonesize=256k --size=4z --io_size=2z"),

    job("files", "nrfiles", Counts, "--rw=write --bs=16k --nrfiles=4 --size=4m"),
    job("files", "service-random", Counts, "--rw=randread --bs=4k --nrfiles=4 --file_service_type=random --size=2m"),
    job("files", "service-sequential", Counts, "--rw=read --bs=4k --nrfiles=4 --file_service_type=sequential --size=2m"),
    job("files", "service-every-four", Counts, "--rw=read --bs=4k --nrfiles=4 --file_service_type=roundrobin:4 --size=2m"),
    job("files", "openfiles", Counts, "--rw=write --bs=4k --nrfiles=8 --openfiles=2 --size=2m"),
    job("files", "filename-list", Counts, "--rw=write --bs=16k --filename=one:two --size=2m"),
    job("files", "filename-format", Counts, "--rw=write --bs=16k --filename_format=$jobname.$jobnum.$filenum.dat --nrfiles=2 --size=1m"),
    job("files", "directory", Counts, "--rw=write --bs=16k --directory={dir} --size=1m"),
    job("files", "fallocate-none", Counts, "--rw=write --bs=16k --fallocate=none --size=1m"),
    job("files", "fallocate-posix", Counts, "--rw=write --bs=16k --fallocate=posix --size=1m"),
    job("files", "fallocate-keep", Counts, "--rw=write --bs=16k --fallocate=keep --size=1m --io_size=512k"),
    job("files", "fallocate-truncate", Counts, "--rw=write --bs=16k --fallocate=truncate --size=1m --io_size=512k"),
    job("files", "create-on-open", Counts, "--rw=write --bs=16k --create_on_open=1 --nrfiles=2 --size=1m"),
    job("files", "create-unserialized", Counts, "--rw=write --bs=16k --create_serialize=0 --create_fsync=0 --numjobs=2 --size=1m"),
    job("files", "create-only", Counts, "--rw=read --bs=16k --create_only=1 --size=1m"),
    job("files", "unlink", Counts, "--rw=write --bs=16k --unlink=1 --size=1m"),
    job("files", "unlink-each-loop", Counts, "--rw=write --bs=16k --unlink_each_loop=1 --unlink=1 --loops=2 --size=512k"),
    job("files", "overwrite", Counts, "--rw=randwrite --bs=4k --overwrite=1 --size=1m"),
    job("files", "pre-read", Counts, "--rw=read --bs=16k --pre_read=1 --size=1m"),
    job("files", "append", Counts, "--rw=write --bs=16k --file_append=1 --size=1m"),
    job("files", "lockfile", Counts, "--rw=randwrite --bs=4k --lockfile=exclusive --numjobs=2 --filename=both --size=512k"),
    job("files", "lockfile-readwrite", Counts, "--rw=randread --bs=4k --lockfile=readwrite --numjobs=2 --filename=both --size=512k"),
    job("files", "readonly", Counts, "--rw=read --bs=16k --size=1m --readonly").after("--name=readonly --rw=write --bs=16k --size=1m"),

    job("durable", "direct", Counts, "--rw=randwrite --bs=4k --direct=1 --size=512k"),
    job("durable", "buffered-off", Counts, "--rw=randread --bs=4k --buffered=0 --size=512k"),
    job("durable", "sync", Counts, "--rw=write --bs=16k --sync=1 --size=512k"),
    job("durable", "dsync", Counts, "--rw=write --bs=16k --sync=dsync --size=512k"),
    job("durable", "fsync", Counts, "--rw=write --bs=4k --fsync=8 --size=512k"),
    job("durable", "fdatasync", Counts, "--rw=randwrite --bs=4k --fdatasync=8 --size=512k"),
    job("durable", "sync-file-range", Counts, "--rw=write --bs=4k --sync_file_range=wait_before,write:8 --size=512k"),
    job("durable", "end-fsync", Counts, "--rw=write --bs=16k --end_fsync=1 --size=1m"),
    job("durable", "fsync-on-close", Counts, "--rw=write --bs=16k --fsync_on_close=1 --size=1m"),
    job("durable", "invalidate-off", Counts, "--rw=read --bs=16k --invalidate=0 --size=1m"),

    job("engine", "sync", Counts, "--ioengine=sync --rw=randread --bs=4k --size=1m"),
    job("engine", "vsync", Counts, "--ioengine=vsync --iodepth=8 --rw=write --bs=4k --size=1m"),
    job("engine", "pvsync", Counts, "--ioengine=pvsync --rw=randread --bs=4k --size=1m"),
    job("engine", "pvsync2", Counts, "--ioengine=pvsync2 --rw=randwrite --bs=4k --size=1m"),
    job("engine", "pvsync2-hipri", Counts, "--ioengine=pvsync2 --hipri --rw=randread --direct=1 --bs=4k --size=512k"),
    job("engine", "libaio", Counts, "--ioengine=libaio --iodepth=16 --rw=randread --direct=1 --bs=4k --size=4m"),
    job("engine", "libaio-batches", Counts, "--ioengine=libaio --iodepth=16 --iodepth_batch=8 --iodepth_batch_complete_min=4 --iodepth_low=8 --rw=randread --direct=1 --bs=4k --size=4m"),
    job("engine", "posixaio", Counts, "--ioengine=posixaio --iodepth=4 --rw=randwrite --bs=4k --size=1m"),
    job("engine", "io-uring", Counts, "--ioengine=io_uring --iodepth=16 --rw=randread --direct=1 --bs=4k --size=4m"),
    job("engine", "io-uring-fixed", Counts, "--ioengine=io_uring --iodepth=16 --fixedbufs=1 --registerfiles=1 --rw=randread --direct=1 --bs=4k --size=4m"),
    job("engine", "io-uring-batches", Counts, "--ioengine=io_uring --iodepth=16 --iodepth_batch_submit=8 --iodepth_batch_complete_min=8 --iodepth_batch_complete_max=8 --rw=randwrite --direct=1 --bs=4k --size=4m"),
    job("engine", "io-uring-sqthread", Counts, "--ioengine=io_uring --iodepth=8 --sqthread_poll=1 --rw=randread --direct=1 --bs=4k --size=1m"),
    job("engine", "psync-depth", Counts, "--iodepth=8 --rw=read --bs=16k --size=512k"),
    job("engine", "mmap", Counts, "--ioengine=mmap --rw=randrw --rwmixread=100 --bs=4k --size=1m"),
    job("engine", "splice", Counts, "--ioengine=splice --rw=read --bs=4k --size=1m"),
    job("engine", "null", Counts, "--ioengine=null --rw=randread --bs=4k --size=16m"),
    job("engine", "null-depth", Counts, "--ioengine=null --iodepth=8 --rw=randwrite --bs=4k --size=16m"),
    job("engine", "filecreate", Counts, "--ioengine=filecreate --nrfiles=50 --filesize=4k --openfiles=1 --create_on_open=1 --fallocate=none --file_service_type=sequential"),
    job("engine", "filestat", Counts, "--ioengine=filestat --nrfiles=50 --filesize=4k --openfiles=1 --fallocate=none --file_service_type=sequential"),
    job("engine", "filedelete", Counts, "--ioengine=filedelete --nrfiles=50 --filesize=4k --openfiles=1 --fallocate=none --file_service_type=sequential"),
    job("engine", "falloc", Counts, "--ioengine=falloc --rw=write --bs=64k --size=1m --fallocate=none"),
    job("engine", "ftruncate", Counts, "--ioengine=ftruncate --rw=write --bs=64k --size=1m"),

    job("jobs", "numjobs", Counts, "--rw=randread --bs=4k --size=1m --numjobs=3"),
    job("jobs", "group-reporting", Counts, "--rw=randread --bs=4k --size=1m --numjobs=3 --group_reporting"),
    job("jobs", "threads", Counts, "--rw=randread --bs=4k --size=1m --numjobs=2 --thread"),
    job("jobs", "one-cannot-run", Counts, "--bs=4k --rw=read --name=sizeless --name=sized --size=256k"),
    job("jobs", "two-names", Counts, "--bs=4k --size=1m --name=first --rw=write --name=second --rw=randread"),
    job("jobs", "global-section", Counts, "--name=global --bs=8k --size=1m --name=only --rw=write"),
    job("jobs", "description", Counts, "--rw=read --bs=16k --size=512k --description=what_it_is_for"),
    job("jobs", "prefixes-and-dashes", Counts, "-readw=write -bs 8k -size=1m -numjob=2 -group_rep"),
    job("jobs", "aliases", Counts, "--readwrite=write --blocksize=8k --size=512k --timeout=5 --io_limit=256k"),
    job("jobs", "stonewall", Counts, "{job}").file("[global]\nbs=8k\nsize=512k\nfilename=both\n[write]\nrw=write\n[read]\nstonewall\nrw=read\n"),
    job("jobs", "new-group", Counts, "{job}").file("[global]\nbs=8k\nsize=512k\ngroup_reporting\n[a]\nrw=write\nnumjobs=2\n[b]\nnew_group\nrw=randread\nnumjobs=2\n"),
    job("jobs", "wait-for", Counts, "{job}").file("[global]\nbs=8k\nsize=512k\n[a]\nrw=write\n[b]\nwait_for=a\nrw=randread\n"),
    job("jobs", "startdelay", Counts, "{job}").file("[global]\nbs=8k\nsize=256k\n[a]\nrw=write\n[b]\nstartdelay=500ms\nrw=read\n"),
    job("jobs", "exitall", Form, "{job}").file("[global]\nioengine=null\nbs=8k\nexitall\n[short]\nrw=write\nsize=1g\nrate_iops=200\nruntime=700ms\ntime_based\n[long]\nrw=read\nsize=1g\nrate_iops=200\nruntime=3\ntime_based\n"),
    job("jobs", "comments-and-blanks", Counts, "{job}").file("; first\n# second\n\n[global]\n  bs=8k ; behind\nsize=256k\n\n[one]\nrw=write # behind\n"),
    job("jobs", "variables", Counts, "{job}").file("[global]\nbs=$pagesize\nsize=${PARITY_SIZE}\n[one]\nrw=write\nnumjobs=${PARITY_JOBS}\n"),
    job("jobs", "arithmetic", Counts, "{job}").file("[global]\nbs=8k\nsize=(1024*512)\n[one]\nrw=write\n"),
    job("jobs", "include", Counts, "{job}").file("[global]\nbs=8k\nsize=256k\n[one]\ninclude more.inc\n").beside("more.inc", "rw=randwrite\n"),
    job("jobs", "section", Counts, "--section=two {job}").file("[global]\nbs=8k\nsize=256k\n[one]\nrw=write\n[two]\nrw=randwrite\n"),
    job("jobs", "stdin", Counts, "-").file("[global]\nbs=8k\nsize=256k\n[one]\nrw=write\n"),
    job("jobs", "global-by-its-beginning", Counts, "{job}").file("[globals]\nbs=8k\nsize=256k\n[one]\nrw=write\n[global2]\nrw=randwrite\n[two]\n"),
    job("jobs", "name-inside", Counts, "{job}").file("[global]\nbs=8k\nsize=256k\n[one]\nname=other\nrw=write\n"),

    job("rate", "rate-iops", Rate, "--ioengine=null --rw=randread --bs=4k --size=1g --rate_iops=1000 --runtime=1 --time_based"),
    job("rate", "rate", Rate, "--ioengine=null --rw=write --bs=4k --size=1g --rate=4m --runtime=1 --time_based"),
    job("rate", "rate-two", Rate, "--ioengine=null --rw=randrw --bs=4k --size=1g --rate_iops=600,300 --runtime=1 --time_based"),
    job("rate", "rate-jobs", Rate, "--ioengine=null --rw=randread --bs=4k --size=1g --rate_iops=400 --numjobs=3 --group_reporting --runtime=1 --time_based"),
    job("rate", "rate-min", Rate, "--ioengine=null --rw=randread --bs=4k --size=1g --rate=4m --rate_min=1m --runtime=1 --time_based"),
    job("rate", "rate-size-bound", Rate, "--rw=randread --bs=4k --size=2m --rate_iops=1000"),
    job("rate", "poisson", Chance, "--ioengine=null --rw=randread --bs=4k --size=1g --rate_iops=1000 --rate_process=poisson --runtime=1 --time_based --randrepeat=0"),
    job("rate", "thinktime", Rate, "--ioengine=null --rw=randread --bs=4k --size=1g --thinktime=5ms --runtime=1 --time_based"),
    job("rate", "thinktime-blocks", Rate, "--ioengine=null --rw=randread --bs=4k --size=1g --thinktime=10ms --thinktime_blocks=4 --runtime=1 --time_based"),
    job("rate", "thinktime-spin", Rate, "--ioengine=null --rw=randread --bs=4k --size=1g --thinktime=10ms --thinktime_spin=2ms --runtime=1 --time_based"),
    job("rate", "offload", Counts, "--ioengine=libaio --io_submit_mode=offload --iodepth=4 --rw=randread --direct=1 --bs=4k --size=1m"),
    job("rate", "latency-target", Form, "--ioengine=libaio --iodepth=16 --rw=randread --direct=1 --bs=4k --size=4m --latency_target=10ms --latency_window=100ms --latency_percentile=99 --runtime=1 --time_based"),
    job("rate", "steadystate", Form, "--ioengine=null --rw=randread --bs=4k --size=1g --rate_iops=500 --runtime=3 --time_based --steadystate=iops:20% --steadystate_duration=1 --steadystate_ramp_time=0"),

    job("held", "read", Held, "--filename={held} --size=64m --rw=read --bs=4k --runtime=1 --time_based"),
    job("held", "rand-read", Held, "--filename={held} --size=64m --rw=randread --bs=4k --runtime=1 --time_based"),
    job("held", "write-64k", Held, "--filename={held} --size=64m --rw=write --bs=64k --runtime=1 --time_based"),
    job("held", "rand-write-sync", Held, "--filename={held} --size=64m --ioengine=sync --rw=randwrite --bs=4k --runtime=1 --time_based"),
    job("held", "size-bound", Held, "--filename={held} --size=1m --rw=read --bs=4k"),
    job("held", "fsync", Held, "--filename={held} --size=64m --rw=randwrite --bs=4k --fsync=1 --runtime=1 --time_based"),
    job("held", "fdatasync-four", Held, "--filename={held} --size=64m --rw=write --bs=4k --fdatasync=4 --runtime=1 --time_based"),
    job("held", "pvsync2", Held, "--filename={held} --size=64m --ioengine=pvsync2 --rw=randread --bs=4k --runtime=1 --time_based"),
    // At the end of its runtime, fio waits for all I/Os in flight and gives them the same completion time, the last
    // one. If these are more than 1% of all I/Os, its P99 is that of the end. hakaru timestamps each I/O on completion.
    job("held", "libaio-4", Held, "--filename={held} --size=64m --ioengine=libaio --iodepth=4 --direct=1 --rw=randread --bs=4k --runtime=2 --time_based"),
    job("held", "seq-write", Held, "--filename={held} --size=64m --rw=write --bs=4k --runtime=1 --time_based"),
    job("held", "rand-write", Held, "--filename={held} --size=64m --rw=randwrite --bs=4k --runtime=1 --time_based"),
    job("held", "mixed", Held, "--filename={held} --size=64m --rw=randrw --rwmixread=70 --bs=4k --runtime=2 --time_based --randrepeat=0"),
    job("held", "libaio-8", Held, "--filename={held} --size=64m --ioengine=libaio --iodepth=8 --direct=1 --rw=randwrite --bs=4k --runtime=4 --time_based"),
    job("held", "libaio-32", Held, "--filename={held} --size=64m --ioengine=libaio --iodepth=32 --direct=1 --rw=randread --bs=4k --runtime=8 --time_based"),
    job("held", "io-uring-32", Held, "--filename={held} --size=64m --ioengine=io_uring --iodepth=32 --direct=1 --rw=randread --bs=4k --runtime=8 --time_based"),
    job("held", "four-jobs", Held, "--filename={held} --size=64m --rw=randread --bs=4k --numjobs=4 --group_reporting --runtime=2 --time_based"),
    job("held", "io-uring-4", Held, "--filename={held} --size=64m --ioengine=io_uring --iodepth=4 --direct=1 --rw=randread --bs=4k --runtime=2 --time_based"),
    job("held", "two-jobs", Held, "--filename={held} --size=64m --rw=randread --bs=4k --numjobs=2 --group_reporting --runtime=1 --time_based"),
    job("held", "below-its-rate", Held, "--filename={held} --size=64m --rw=randread --bs=4k --rate_iops=100 --runtime=1 --time_based"),
    job("held", "ramp-time", Held, "--filename={held} --size=64m --rw=randread --bs=4k --ramp_time=500ms --runtime=1 --time_based"),
    job("held", "thinktime", Held, "--filename={held} --size=64m --rw=randread --bs=4k --thinktime=5ms --runtime=1 --time_based"),

    job("buffers", "zero", Counts, "--rw=write --bs=16k --size=512k --zero_buffers"),
    job("buffers", "refill", Counts, "--rw=write --bs=16k --size=512k --refill_buffers"),
    job("buffers", "unscrambled", Counts, "--rw=write --bs=16k --size=512k --scramble_buffers=0"),
    job("buffers", "compressible", Counts, "--rw=write --bs=16k --size=512k --buffer_compress_percentage=50 --buffer_compress_chunk=4k"),
    job("buffers", "dedupe", Counts, "--rw=write --bs=16k --size=512k --dedupe_percentage=50"),
    job("buffers", "pattern", Counts, "--rw=write --bs=16k --size=512k --buffer_pattern=0xdeadbeef"),
    job("buffers", "iomem-align", Counts, "--rw=write --bs=16k --size=512k --iomem_align=64k --iomem=mmap"),

    job("verify", "crc32c", Counts, "--rw=write --bs=4k --size=512k --verify=crc32c"),
    job("verify", "crc32-random", Counts, "--rw=randwrite --bs=4k --size=512k --verify=crc32"),
    job("verify", "md5", Counts, "--rw=write --bs=4k --size=512k --verify=md5"),
    job("verify", "sha256", Counts, "--rw=write --bs=4k --size=512k --verify=sha256"),
    job("verify", "xxhash", Counts, "--rw=write --bs=4k --size=512k --verify=xxhash"),
    job("verify", "pattern", Counts, "--rw=write --bs=4k --size=512k --verify=pattern --verify_pattern=0x5a%o"),
    job("verify", "pattern-alone", Counts, "--rw=write --bs=4k --size=512k --verify_pattern=0xdeadbeef"),
    job("verify", "pattern-unchecked", Counts, "--rw=write --bs=4k --size=512k --verify=0 --verify_pattern=0xdeadbeef"),
    job("verify", "aux-path", Counts, "--aux-path={dir} --rw=write --bs=4k --size=256k --verify=crc32c"),
    job("verify", "meta", Counts, "--rw=write --bs=4k --size=512k --verify=meta --verify_interval=1k"),
    job("verify", "not-now", Counts, "--rw=write --bs=4k --size=512k --verify=crc32c --do_verify=0"),
    job("verify", "later", Counts, "--rw=read --bs=4k --size=512k --verify=crc32c").after("--name=later --rw=write --bs=4k --size=512k --verify=crc32c --do_verify=0"),
    job("verify", "wrong", Form, "--rw=read --bs=4k --size=512k --verify=pattern --verify_pattern=0x55 --verify_fatal=1").after("--name=wrong --rw=write --bs=4k --size=512k --verify=pattern --verify_pattern=0xaa --do_verify=0"),
    job("verify", "backlog", Counts, "--rw=write --bs=4k --size=512k --verify=crc32c --verify_backlog=16"),
    job("verify", "async", Counts, "--rw=write --bs=4k --size=512k --verify=crc32c --verify_async=2"),
    job("verify", "state", Counts, "--rw=write --bs=4k --size=512k --verify=crc32c --verify_state_save=1"),
    job("verify", "many-writers", Counts, "--rw=write --bs=4k --size=256k --verify=crc32c --numjobs=2 --filename=both"),
    job("verify", "never-read", Form, "--rw=write --bs=4k --size=256k --verify=crc32c --time_based --runtime=300ms"),
    job("verify", "state-of-two-files", Counts, "--rw=randwrite --bs=4k --size=512k --nrfiles=2 --verify=crc32c --ioengine=libaio --iodepth=4 --direct=1"),
    job("verify", "depth", Counts, "--ioengine=libaio --iodepth=8 --direct=1 --rw=randwrite --bs=4k --size=512k --verify=crc32c"),

    job("trace", "write-iolog", Counts, "--rw=randwrite --bs=4k --size=256k --write_iolog=trace.log"),
    job("trace", "read-iolog", Counts, "--read_iolog=trace.log").after("--name=read-iolog --rw=randwrite --bs=4k --size=256k --write_iolog=trace.log"),
    job("trace", "bw-log", Counts, "--rw=randread --bs=4k --size=256k --write_bw_log=out"),
    job("trace", "lat-log", Counts, "--rw=randread --bs=4k --size=256k --write_lat_log=out"),
    job("trace", "iops-log-of-two", Counts, "--rw=randread --bs=4k --size=256k --numjobs=2 --write_iops_log=out"),
    job("trace", "logs-shared", Counts, "--rw=randread --bs=4k --size=256k --numjobs=2 --per_job_logs=0 --write_lat_log=out"),
    job("trace", "logs-averaged", Form, "--ioengine=null --rw=randread --bs=4k --size=1g --rate_iops=500 --runtime=1 --time_based --log_avg_msec=250 --write_bw_log=out --write_lat_log=out --write_iops_log=out"),
    job("trace", "hist-log", Form, "--ioengine=null --rw=randread --bs=4k --size=1g --rate_iops=500 --runtime=1 --time_based --log_hist_msec=250 --write_hist_log=out"),
    job("trace", "log-offset", Counts, "--rw=randread --bs=4k --size=256k --log_offset=1 --write_lat_log=out"),

    job("host", "cpus-allowed", Counts, "--rw=read --bs=16k --size=512k --cpus_allowed=0"),
    job("host", "cpus-split", Counts, "--rw=read --bs=16k --size=512k --cpus_allowed=0-1 --cpus_allowed_policy=split --numjobs=2"),
    job("host", "nice", Counts, "--rw=read --bs=16k --size=512k --nice=5"),
    job("host", "ioprio", Counts, "--rw=read --bs=16k --size=512k --prio=4 --prioclass=2"),
    job("host", "continue-on-error", Counts, "--rw=read --bs=16k --size=512k --continue_on_error=all --ignore_error=EIO,ENOSPC:EIO"),

    job("report", "percentiles-off", Counts, "--rw=read --bs=16k --size=512k --clat_percentiles=0"),
    job("report", "lat-percentiles", Counts, "--rw=read --bs=16k --size=512k --lat_percentiles=1"),
    job("report", "slat-percentiles", Counts, "--ioengine=libaio --iodepth=4 --direct=1 --rw=read --bs=16k --size=512k --slat_percentiles=1"),
    job("report", "percentile-list", Counts, "--rw=read --bs=16k --size=512k --percentile_list=50:95:99.9"),
    job("report", "no-latencies", Counts, "--rw=read --bs=16k --size=512k --disable_lat=1 --disable_clat=1 --disable_slat=1"),
    job("report", "no-bandwidth", Counts, "--rw=read --bs=16k --size=512k --disable_bw_measurement=1"),
    job("report", "gtod-reduce", Counts, "--rw=read --bs=16k --size=512k --gtod_reduce=1"),
    job("report", "unified", Chance, "--rw=randrw --bs=4k --size=1m --unified_rw_reporting=1 --randrepeat=0"),
    job("report", "unified-both", Chance, "--rw=randrw --bs=4k --size=1m --unified_rw_reporting=both --randrepeat=0"),
    job("report", "no-disks", Counts, "--rw=read --bs=16k --size=512k --disk_util=0"),
    job("report", "idle-prof", Counts, "--idle-prof=percpu --rw=read --bs=16k --size=512k"),
    job("report", "idle-prof-system", Counts, "--idle-prof=system --rw=read --bs=16k --size=512k"),
    job("report", "samples-averaged", Rate, "--ioengine=null --rw=randread --bs=4k --size=1g --rate_iops=500 --runtime=1 --time_based --bwavgtime=200 --iopsavgtime=200"),
    job("report", "eta-interval", Counts, "--eta-interval=1 --rw=read --bs=16k --size=512k"),
    job("report", "eta-unknown", Counts, "--eta=sometimes --rw=read --bs=16k --size=512k"),
    job("report", "bandwidth-log", Form, "--bandwidth-log --rw=read --bs=16k --size=512k"),
    job("report", "trigger-timeout", Form, "--trigger-timeout=1 --trigger=true --ioengine=null --rw=read --bs=4k --size=1g --rate_iops=500 --runtime=5 --time_based"),
    job("report", "eta-never", Counts, "--eta=never --rw=read --bs=16k --size=512k"),
    job("report", "json-plus", Counts, "--output-format=json+ --rw=read --bs=16k --size=512k"),
    job("report", "json-plus-all", Counts, "--output-format=json+ --rw=randread --bs=4k --size=512k --lat_percentiles=1 --slat_percentiles=1 --fsync=16"),
    job("report", "terse", Counts, "--output-format=terse --rw=read --bs=16k --size=512k"),
    job("report", "terse-two", Counts, "--output-format=terse --rw=write --bs=16k --size=512k --numjobs=2"),
    job("report", "minimal", Counts, "--minimal --gtod_reduce=1 --rw=randwrite --bs=4k --size=512k"),
    job("report", "terse-5", Counts, "--output-format=terse --terse-version=5 --rw=write --bs=16k --size=512k"),
    job("report", "normal-and-json", Counts, "--output-format=normal,json --rw=write --bs=16k --size=512k"),
    job("report", "terse-2", Counts, "--output-format=terse --terse-version=2 --rw=write --bs=16k --size=512k"),
    job("report", "terse-4", Counts, "--output-format=terse --terse-version=4 --rw=randread --bs=16k --size=512k"),
    job("report", "all-forms", Counts, "--output-format=normal,json,terse --rw=write --bs=16k --size=512k"),
    job("report", "append-terse", Counts, "--output-format=normal --append-terse --rw=write --bs=16k --size=512k"),
    job("report", "status-interval", Form, "--output-format=normal --status-interval=1 --ioengine=null --rw=randread --bs=4k --size=1g --rate_iops=500 --runtime=1500ms --time_based"),
    job("report", "version", Counts, "--version"),
    job("report", "parse-only", Counts, "--parse-only {job}").file("[global]\nbs=8k\nsize=256k\n[one]\nrw=write\n"),
    job("report", "showcmd", Counts, "--showcmd {job}").file("[global]\nbs=8k\nsize=256k\n[one]\nrw=write\n[two]\nstonewall\nrw=read\n"),

    job("clients", "kdiskmark", Counts, "--rw=read --ioengine=libaio --randrepeat=0 --refill_buffers=0 --end_fsync=1 --direct=1 --rwmixread=70 --size=4m --zero_buffers=0 --bs=1m --iodepth=8 --numjobs=1 --group_reporting --loops=2 --filename={dir}/kd.tmp")
        .after("--create_only=1 --name=kdiskmark --size=4m --filename={dir}/kd.tmp --rw=read"),
    job("clients", "pi-diagnostics", Counts, "--output-format=terse --max-jobs=4 {job}")
        .file("[global]\nioengine=libaio\niodepth=32\nsize=4m\ndirect=1\nend_fsync=1\nfilename=pi.tmp\n[prepare]\nrw=write\nbs=1m\n[seq-read]\nstonewall\nrw=read\nbs=1m\n[seq-write]\nstonewall\nrw=write\nbs=1m\n[rand-read]\nstonewall\nrw=randread\nbs=4k\n[rand-write]\nstonewall\nrw=randwrite\nbs=4k\n"),
    job("clients", "kbench", Rate, "--idle-prof=percpu {job}")
        .file("[global]\nioengine=null\nbs=4k\niodepth=16\nsize=1g\nruntime=1\ntime_based\n[rate]\nrw=randread\nrate_iops=500\n"),
    job("clients", "minimal-scripts", Counts, "--minimal --gtod_reduce=1 --randrepeat=1 --ioengine=libaio --direct=1 --filename=test --bs=4k --iodepth=64 --size=4m --readwrite=randread"),
];

/// Fast rows that match on every host, covering most features.
pub(super) const QUICK: &[&str] = &[
    "access/seq-read",
    "access/rand-write",
    "access/runs-of-eight",
    "size/io-size-more",
    "size/loops",
    "size/offset-increment",
    "size/kb-base",
    "files/nrfiles",
    "files/filename-format",
    "files/create-only",
    "durable/fsync",
    "durable/end-fsync",
    "engine/libaio",
    "engine/null-depth",
    "engine/psync-depth",
    "engine/filestat",
    "jobs/group-reporting",
    "jobs/stonewall",
    "jobs/prefixes-and-dashes",
    "jobs/name-inside",
    "jobs/comments-and-blanks",
    "report/percentile-list",
    "report/json-plus",
    "report/terse",
    "report/minimal",
    "report/version",
    "report/showcmd",
    "clients/kdiskmark",
    "clients/pi-diagnostics",
];

/// Known bugs of the original, and values that differ between its own runs: the row, a part of the path or line, and
/// the reason.
const SLIPS: &[(&str, &str, &str)] = &[
    (
        "durable/fdatasync",
        "read.short_ios",
        "fdatasyncs are counted as short reads",
    ),
    (
        "durable/fdatasync",
        "sync.total_ios",
        "fdatasyncs are counted as short reads",
    ),
    (
        "durable/fdatasync",
        "issued rwts",
        "fdatasyncs are counted as short reads",
    ),
    (
        "durable/sync-file-range",
        "write.short_ios",
        "sync_file_ranges are counted as short writes",
    ),
    (
        "durable/sync-file-range",
        "issued rwts",
        "sync_file_ranges are counted as short writes",
    ),
    (
        "report/eta-unknown",
        "stderr",
        "a word that is none is taken without a warning",
    ),
    (
        "report/trigger-timeout",
        "verify.state",
        "a state is saved of jobs that verify nothing",
    ),
    (
        "engine/posixaio",
        "iodepth_level",
        "how much lands between two looks is up to the scheduler",
    ),
    (
        "report/unified-both",
        "mixed: IOPS",
        "the sum of both is nothing",
    ),
    (
        "engine/vsync",
        "write.io_",
        "what is left in the queue at the end is not counted",
    ),
    (
        "engine/vsync",
        "lat_ns.N",
        "what is left in the queue at the end is not counted",
    ),
    (
        "held/fdatasync-four",
        "read.short_ios",
        "fdatasyncs are counted as short reads",
    ),
    (
        "held/fdatasync-four",
        "sync.total_ios",
        "fdatasyncs are counted as short reads",
    ),
];

/// Whether a difference is a known bug of the original.
pub(super) fn is_slip(job: &ParityRow, difference: &OutputDifference) -> bool {
    let name = format!("{}/{}", job.feature, job.name);
    let has = |part: &str| difference.path.contains(part) || difference.theirs.contains(part);
    // Verify state files use the format of fio 3.39, which is longer than that of older versions.
    if difference.path.ends_with("-verify.state.size") {
        return true;
    }
    SLIPS.iter().any(|(row, part, _)| *row == name && has(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_dialects::fio::options::ENGINES;
    use std::collections::BTreeSet;

    #[test]
    fn rows_have_names_of_their_own() {
        let names: BTreeSet<_> = JOBS.iter().map(|job| (job.feature, job.name)).collect();
        assert_eq!(names.len(), JOBS.len());
        assert!(JOBS.len() >= 60);
    }

    /// Engines without a row: the default engine needs no option, and Debian's fio (3.33) has no directory engines.
    const WITHOUT_JOB: &[&str] = &["psync", "dircreate", "dirstat", "dirdelete"];

    #[test]
    fn every_engine_has_a_job() {
        let built_in = ENGINES.iter().filter(|engine| engine.ours.is_ok());
        for name in built_in.map(|engine| engine.names[0]) {
            let wanted = format!("ioengine={name}");
            let has_job = JOBS.iter().any(|job| {
                let mut words = [job.args, job.file]
                    .into_iter()
                    .flat_map(str::split_whitespace);
                words.any(|word| word.trim_start_matches("--") == wanted)
            });
            assert_ne!(has_job, WITHOUT_JOB.contains(&name), "{name}");
        }
    }

    #[test]
    fn jobs_that_draw_lots_draw_them_anew() {
        for job in JOBS.iter().filter(|job| job.judge == MatchRule::Chance) {
            assert!(job.args.contains("randrepeat=0"), "{}", job.name);
        }
    }

    #[test]
    fn slips_are_those_of_rows() {
        for (row, ..) in SLIPS {
            assert!(
                JOBS.iter()
                    .any(|job| format!("{}/{}", job.feature, job.name) == *row),
                "{row}"
            );
        }
    }

    #[test]
    fn quick_rows_are_rows() {
        for quick in QUICK {
            assert!(
                JOBS.iter()
                    .any(|job| format!("{}/{}", job.feature, job.name) == *quick),
                "{quick}"
            );
        }
    }

    #[test]
    fn held_jobs_run_on_the_held_target() {
        for job in JOBS {
            assert_eq!(
                job.judge == MatchRule::Held,
                job.needs("{held}"),
                "{}",
                job.name
            );
        }
    }
}
