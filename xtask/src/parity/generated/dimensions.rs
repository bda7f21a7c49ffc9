//! Dimensions of the generator: the probability of each in a set, and its values.
//!
//! A value is one or more options, separated by blanks. The first value of an option in a set applies; a later
//! dimension does not override it.

/// One dimension of the option sets.
pub(super) struct Dimension {
    /// Name shown on the page.
    pub(super) name: &'static str,
    /// Percentage of sets that include it.
    pub(super) percent: u64,
    /// Values, drawn with equal probability.
    pub(super) values: &'static [&'static str],
}

const fn dimension(name: &'static str, percent: u64, values: &'static [&'static str]) -> Dimension {
    Dimension {
        name,
        percent,
        values,
    }
}

/// All dimensions in drawing order.
#[rustfmt::skip]
pub(super) const DIMENSIONS: &[Dimension] = &[
    dimension("error case", 6, &[
        "--bsrange=16k-4k", "--bs=64k --size=16k", "--bs=64k --size=16k --rw=randread", "--size=0", "--size=200k-300k", "--offset=4m --filesize=1m --size=1m --rw=read",
        "--direct=1 --bs=1000 --size=64000", "--direct=1 --bs=4k --size=70001 --rw=write", "--direct=1 --bs=4k --size=70001 --rw=read",
        "--direct=1 --bs=4k --size=64k --offset=100 --rw=read",
        "--rw=readwrote", "--bs=0", "--size=-4k", "--iodepth=0 --ioengine=libaio", "--nrfiles=0", "--numjobs=0", "--bssplit=4k/80:8k/40",
        "--rwmixread=120", "--random_distribution=zipf:1.0", "--random_distribution=nothing:3", "--verify=nothing", "--ioengine=nothing", "--size=110% --filesize=128k",
        "--allow_file_create=0 --rw=read", "--allow_file_create=0 --rw=write", "--zonemode=strided", "--zonesize=8k --zonerange=4k --zonemode=strided",
        "--filename=missing/file --rw=write", "--rw=read --filename=missing/file", "--ioengine=null --verify=md5 --rw=write",
        "--readonly --rw=write", "--rw=trim", "--rw=randtrim", "--readonly --rw=read", "--directory=missing --rw=write", "--offset_align=3 --rw=randread",
        "--percentage_random=120 --rw=randread", "--number_ios=0 --rw=write", "--loops=0 --rw=write", "--openfiles=1 --nrfiles=3 --rw=read", "--write_barrier=3 --rw=write",
    ]),
    dimension("rw", 100, &[
        "--rw=read", "--rw=write", "--rw=randread", "--rw=randwrite", "--rw=rw", "--rw=randrw", "--rw=read", "--rw=write", "--rw=randread",
        "--rw=randwrite", "--rw=randrw", "--rw=read:8k", "--rw=write:4k", "--rw=write:12k", "--rw=read:-8k", "--rw=randread:4", "--rw=randwrite:8", "--rw=rw:8k", "--rw=randrw:3",
        "--rw=trim --filename={loop}", "--rw=randtrim --filename={loop}", "--rw=trimwrite --filename={loop}", "--rw=randtrimwrite --filename={loop}", "--rw=write --filename={loop}",
    ]),
    dimension("size", 100, &[
        "--size=64k", "--size=100k", "--size=128k", "--size=130k", "--size=256k", "--size=300001", "--size=512k", "--size=1000000", "--size=1m", "--size=513k",
        "--filesize=512k --size=50%", "--filesize=300k --size=33%", "--filesize=256k --size=512k", "--filesize=1m --size=256k", "--filesize=100001 --size=200001",
    ]),
    dimension("bs", 90, &[
        "--bs=4k", "--bs=4k", "--bs=8k", "--bs=16k", "--bs=512", "--bs=1k", "--bs=3k", "--bs=12k", "--bs=20k", "--bs=64k", "--bs=4k,8k", "--bs=8k,4k", "--bs=4k,8k,16k",
        "--bsrange=1k-16k", "--bsrange=4k-64k", "--bsrange=4k-16k,8k-32k", "--bsrange=3k-10k", "--bsrange=2k-9k --bs_unaligned", "--bsrange=512-8k --blockalign=4k",
        "--bssplit=4k/60:64k/40", "--bssplit=4k/50:8k/50", "--bssplit=1k/10:3k/30:12k/", "--bssplit=4k/50:8k/50,16k/70:4k/30", "--bs=4k --blockalign=8k", "--bs=8k --blockalign=4k",
        "--bs=4k,16k --bs_is_seq_rand=1",
    ]),
    dimension("ioengine", 70, &[
        "--ioengine=psync", "--ioengine=sync", "--ioengine=pvsync", "--ioengine=pvsync2", "--ioengine=vsync", "--ioengine=libaio", "--ioengine=libaio --direct=1", "--ioengine=io_uring",
        "--ioengine=io_uring --direct=1", "--ioengine=mmap", "--ioengine=posixaio", "--ioengine=null", "--ioengine=libaio", "--ioengine=io_uring",
    ]),
    dimension("iodepth", 35, &[
        "--iodepth=1", "--iodepth=2", "--iodepth=4", "--iodepth=8", "--iodepth=32", "--iodepth=16 --iodepth_batch=4", "--iodepth=8 --iodepth_batch=8 --iodepth_batch_complete=8",
        "--iodepth=8 --iodepth_batch_complete_min=2 --iodepth_batch_complete_max=4", "--iodepth=8 --iodepth_low=2", "--iodepth=16 --iodepth_batch_submit=3 --iodepth_low=5", "--iodepth=4 --serialize_overlap=1",
    ]),
    dimension("direct", 20, &["--direct=1", "--direct=1", "--direct=0", "--buffered=0"]),
    dimension("offset", 18, &[
        "--offset=4k", "--offset=16k", "--offset=50k", "--offset=10%", "--offset=50001", "--offset=5k --offset_align=4k", "--offset=33% --offset_align=8k", "--offset=64k --filesize=1m",
    ]),
    dimension("files", 20, &[
        "--nrfiles=2", "--nrfiles=3", "--nrfiles=4 --file_service_type=random", "--nrfiles=3 --file_service_type=sequential", "--nrfiles=3 --file_service_type=roundrobin",
        "--nrfiles=4 --file_service_type=roundrobin:2", "--nrfiles=3 --file_service_type=random:4", "--nrfiles=4 --file_service_type=zipf:1.2", "--nrfiles=4 --file_service_type=pareto:0.2",
        "--nrfiles=4 --file_service_type=normal:20", "--nrfiles=4 --openfiles=2", "--nrfiles=5 --openfiles=1 --file_service_type=sequential", "--nrfiles=3 --filesize=64k", "--nrfiles=2 --filesize=200k",
        "--nrfiles=3 --filesize=16k-64k", "--filename=one:two", "--filename=one", "--filename_format=f.$jobnum.$filenum --nrfiles=2",
    ]),
    dimension("io_size", 14, &["--io_size=32k", "--io_size=50001", "--io_size=600k", "--io_size=700001", "--io_size=1m", "--io_size=50%", "--io_size=200%"]),
    dimension("loops", 9, &["--loops=2", "--loops=3"]),
    dimension("number_ios", 7, &["--number_ios=1", "--number_ios=17", "--number_ios=100"]),
    dimension("random map", 12, &["--norandommap", "--norandommap", "--softrandommap=1", "--norandommap --randrepeat=0"]),
    dimension("random_generator", 12, &["--random_generator=lfsr", "--random_generator=lfsr", "--random_generator=tausworthe64", "--random_generator=tausworthe"]),
    dimension("random_distribution", 12, &[
        "--random_distribution=zipf:1.2", "--random_distribution=zipf:0.8", "--random_distribution=pareto:0.2", "--random_distribution=normal:20", "--random_distribution=zoned:60/10:30/20:8/30:2/40",
        "--random_distribution=zoned_abs:60/128k:40/64k", "--random_distribution=zipf:1.1:0.3", "--random_distribution=random",
    ]),
    dimension("percentage_random", 8, &["--percentage_random=0", "--percentage_random=10", "--percentage_random=50", "--percentage_random=80", "--percentage_random=100", "--percentage_random=30,70"]),
    dimension("zones", 8, &[
        "--zonemode=strided --zonesize=32k --zonerange=64k --zoneskip=64k", "--zonemode=strided --zonesize=16k --zonerange=64k", "--zonemode=strided --zonesize=16k --zoneskip=16k", "--zonemode=strided --zonesize=20k --zonerange=40k --zoneskip=10k",
        "--zonemode=strided --zonesize=64k --zonerange=16k", "--zonesize=16k --zoneskip=48k", "--zonemode=strided --zonesize=32k", "--zonemode=strided --zonesize=8k --zonerange=8k --zoneskip=56k",
    ]),
    dimension("mix", 12, &["--rwmixread=0", "--rwmixread=100", "--rwmixread=30", "--rwmixread=70", "--rwmixwrite=0", "--rwmixwrite=100", "--rwmixwrite=80"]),
    dimension("rw_sequencer", 6, &["--rw_sequencer=sequential", "--rw_sequencer=identical"]),
    dimension("syncs", 16, &[
        "--fsync=1", "--fsync=4", "--fsync=7", "--fdatasync=1", "--fdatasync=5", "--fsync=3 --fdatasync=2", "--sync=1", "--sync=dsync", "--end_fsync=1", "--fsync_on_close=1", "--end_fsync=1 --fsync=4",
        "--write_barrier=4", "--sync_file_range=write:4", "--sync_file_range=wait_before,write:3",
    ]),
    dimension("fallocate", 9, &["--fallocate=none", "--fallocate=native", "--fallocate=posix", "--fallocate=keep", "--fallocate=truncate", "--fallocate=0", "--fallocate=1"]),
    dimension("verify", 32, &[
        "--verify=md5", "--verify=crc32c", "--verify=crc64", "--verify=crc32", "--verify=crc16", "--verify=crc7", "--verify=xxhash", "--verify=sha1", "--verify=sha256", "--verify=sha512", "--verify=sha3-256",
        "--verify=meta", "--verify=pattern --verify_pattern=0xdeadbeef", "--verify=pattern --verify_pattern=\"abcd\"", "--verify=pattern --verify_pattern=%o", "--verify=null", "--verify=crc32c-intel", "--verify=md5 --verify_pattern=0x55",
        "--verify=pattern_hdr --verify_pattern=0x1234", "--verify=crc32c", "--verify=crc32c", "--verify=md5",
    ]),
    dimension("verify options", 55, &[
        "--verify_backlog=8", "--verify_backlog=1", "--verify_backlog=16 --verify_backlog_batch=4", "--verify_backlog=4 --verify_backlog_batch=16", "--verify_backlog=1024", "--do_verify=0", "--do_verify=1", "--verify_async=2",
        "--verify_async=1 --verify_backlog=8", "--verify_fatal=1", "--verify_interval=512", "--verify_interval=1k", "--verify_interval=4k", "--verify_offset=16", "--verifysort=0", "--verifysort_nr=16", "--verify_only=1", "--verify_state_save=0",
        "--verify_dump=1", "--experimental_verify=1", "--trim_percentage=20 --trim_backlog=8 --trim_verify_zero=1", "--header_offset=8",
    ]),
    dimension("verify later", 35, &["before=write", "before=write", "before=write --verify_only=1"]),
    dimension("jobs", 14, &[
        "--numjobs=2", "--numjobs=3", "--numjobs=2 --thread=1", "--numjobs=2 --group_reporting=1", "--numjobs=3 --offset_increment=64k --filename=shared --filesize=512k", "--numjobs=2 --filename=shared",
        "--numjobs=3 --offset_increment=33% --filename=shared --filesize=400k", "--thread=1", "--numjobs=2 --offset_increment=50001 --offset_align=4k --filesize=512k --filename=shared",
    ]),
    dimension("opening", 12, &[
        "--create_on_open=1", "--file_append=1", "--overwrite=1", "--unlink=1", "--unlink_each_loop=1 --loops=2", "--pre_read=1", "--invalidate=0", "--create_serialize=0", "--create_fsync=0", "--create_only=1", "--nice=1", "--overwrite=0 --loops=2",
    ]),
    dimension("existing file", 10, &["exists=32k", "exists=100k", "exists=1m", "exists=1500001", "exists=0"]),
    dimension("buffers", 10, &[
        "--zero_buffers=1", "--refill_buffers=1", "--scramble_buffers=0", "--buffer_pattern=0xabcd", "--buffer_compress_percentage=50", "--dedupe_percentage=50", "--mem=mmap", "--iomem_align=4k",
    ]),
    dimension("continue_on_error", 6, &["--continue_on_error=all", "--continue_on_error=none", "--continue_on_error=verify", "--continue_on_error=io", "--continue_on_error=1"]),
    dimension("time", 5, &["--time_based --runtime=150ms", "--runtime=5s", "--thinktime=10 --thinktime_blocks=16", "--rate=64m", "--rate_iops=20000", "--startdelay=10ms"]),
    dimension("io_submit_mode", 4, &["--io_submit_mode=offload", "--io_submit_mode=inline"]),
    dimension("latency target", 2, &["--latency_target=10s --latency_window=1s --latency_percentile=99"]),
    dimension("second job", 8, &[
        "then --stonewall --rw=read --size=64k", "then --stonewall --rw=randread --filename=g.0.0 --size=64k", "then --rw=write --size=100k --bs=8k", "then --stonewall --rw=randwrite --bs=16k --size=200k --verify=crc32c",
        "then --stonewall --rw=write --size=128k --verify=md5 --bs=8k --wait_for_previous=1", "then --rw=randrw --size=100001 --new_group",
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_options() {
        let known = |word: &str| {
            word.starts_with("--")
                || ["then"].contains(&word)
                || word.starts_with("before=")
                || word.starts_with("exists=")
        };
        for dimension in DIMENSIONS {
            assert!(
                dimension.percent <= 100 && !dimension.values.is_empty(),
                "{}",
                dimension.name
            );
            for value in dimension.values {
                assert!(value.split(' ').all(known), "{}: {value}", dimension.name);
            }
        }
    }
}
