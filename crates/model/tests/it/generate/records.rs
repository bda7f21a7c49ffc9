//! Generators of records with values in all their fields.

use super::*;

pub(crate) fn samples() -> impl Strategy<Value = Samples> {
    (any::<[u64; 3]>(), any::<[u128; 2]>()).prop_map(|(n, sums)| Samples {
        count: n[0],
        min: n[1],
        max: n[2],
        sum: sums[0],
        sum_sq: sums[1],
    })
}

fn latency() -> impl Strategy<Value = Latency> {
    let counted = |values: Vec<u64>| {
        let mut histogram = Histogram::new();
        values
            .iter()
            .for_each(|&value| histogram.record(Nanos(value)));
        histogram
    };
    let histogram = prop::collection::vec(any::<u64>(), 0..20).prop_map(counted);
    (samples(), option::of(histogram)).prop_map(|(stat, histogram)| Latency {
        stat,
        histogram,
        over_time: Vec::new(),
    })
}

fn op_record() -> impl Strategy<Value = OpRecord> {
    (
        any::<[u64; 5]>(),
        option::of(nanos()),
        latency(),
        latency(),
        [samples(), samples()],
    )
        .prop_map(|(n, runtime, clat, lat, [bw, iops])| OpRecord {
            ios: n[0],
            bytes: n[1],
            short: n[2],
            issued: n[3],
            runtime,
            zone_resets: n[4],
            slat: Latency::default(),
            clat,
            lat,
            bw_samples: bw,
            iops_samples: iops,
        })
}

fn mismatch() -> impl Strategy<Value = Mismatch> {
    let difference = prop_oneof![
        any::<[u32; 2]>().prop_map(|[found, wanted]| BlockDifference::Magic { found, wanted }),
        any::<[u64; 2]>().prop_map(|[found, wanted]| BlockDifference::Sequence { found, wanted }),
        any::<[u8; 2]>().prop_map(|[found, wanted]| BlockDifference::Pattern {
            method: "pattern".to_owned(),
            at: 7,
            found,
            wanted
        }),
        [words(), words(), words()].prop_map(|[method, written, computed]| {
            BlockDifference::Checksum {
                method,
                written,
                computed,
            }
        }),
    ];
    (bytes(), bytes(), difference).prop_map(|(offset, len, difference)| Mismatch {
        offset,
        len,
        difference,
        saved: None,
    })
}

pub(crate) fn failure_kind() -> impl Strategy<Value = FailureKind> {
    prop_oneof![
        select(vec![
            FailureKind::Unknown,
            FailureKind::Io,
            FailureKind::Sync,
            FailureKind::Verify,
            FailureKind::Command,
            FailureKind::File,
            FailureKind::Wait,
            FailureKind::Log,
            FailureKind::NotStarted,
        ]),
        [nanos(), nanos()].prop_map(|[latency, max]| FailureKind::TooSlow { latency, max }),
        any::<[u64; 2]>().prop_map(|[wanted, got]| FailureKind::RateMissed { wanted, got }),
        any::<[u64; 2]>().prop_map(|[wanted, got]| FailureKind::IopsMissed { wanted, got }),
    ]
}

pub(crate) fn io_error() -> impl Strategy<Value = IoError> {
    let place = (words(), bytes(), bytes(), any::<i32>(), nanos());
    let mismatches = prop::collection::vec(mismatch(), 0..3);
    (words(), option::of(op()), failure_kind(), place, mismatches).prop_map(
        |(action, op, kind, (file, offset, len, errno, at), mismatches)| IoError {
            action,
            op,
            kind,
            file,
            offset,
            len,
            errno,
            at,
            mismatches,
        },
    )
}

fn steady_record() -> impl Strategy<Value = SteadyRecord> {
    (
        any::<bool>(),
        [float(), float(), float()],
        prop::collection::vec(any::<u64>(), 0..4),
    )
        .prop_map(
            |(attained, [criterion, max_deviation, slope], samples)| SteadyRecord {
                attained,
                criterion,
                max_deviation,
                slope,
                iops: samples.clone(),
                bytes_per_s: samples,
            },
        )
}

fn stop_reason() -> impl Strategy<Value = StopReason> {
    select(vec![
        StopReason::Done,
        StopReason::Time,
        StopReason::Stopped,
        StopReason::Ended,
        StopReason::Error,
    ])
}

fn error_record() -> impl Strategy<Value = ErrorRecord> {
    (any::<u64>(), prop::collection::vec(io_error(), 0..3))
        .prop_map(|(total, first)| ErrorRecord { total, first })
}

fn engine_use() -> impl Strategy<Value = EngineUse> {
    any::<[bool; 5]>().prop_map(|flags| EngineUse {
        registered_buffers: flags[0],
        registered_files: flags[1],
        submits_and_waits: flags[2],
        thread: flags[3],
        own_file_table: flags[4],
    })
}

/// Generates the record of a worker with the fields that every record has.
fn plain_worker() -> impl Strategy<Value = WorkerRecord> {
    let ops = [op_record(), op_record(), op_record()];
    let end = (error_record(), stop_reason());
    let n = any::<[u64; 6]>();
    (name(), ops, latency(), intervals(5), end, n).prop_map(
        |(name, [read, write, trim], sync, intervals, (errors, stop), n)| {
            let mut worker = WorkerRecord {
                name,
                job: n[0] as u32,
                clone: n[1] as u32,
                pid: n[2] as u32,
                runtime: Nanos(n[3]),
                job_runtime: Nanos(n[4]),
                ops: PerOp { read, write, trim },
                sync,
                intervals,
                errors,
                stop,
                ..WorkerRecord::default()
            };
            worker.depth.level = [n[0], n[1], n[2], n[3], n[4], n[5], 0];
            worker.depth.submit_calls = n[5];
            worker
        },
    )
}

fn worker() -> impl Strategy<Value = WorkerRecord> {
    let optional = (
        option::of(any::<[u64; 2]>()),
        option::of(per_op(bytes())),
        option::of(engine_use()),
        option::of(steady_record()),
        option::of(any::<u32>()),
    );
    (plain_worker(), optional).prop_map(|(mut worker, optional)| {
        worker.other_syncs = optional.0.map(|[data, range]| OtherSyncs { data, range });
        (worker.ramp_bytes, worker.engine) = (optional.1, optional.2);
        (worker.steady, worker.latency_depth) = (optional.3, optional.4);
        worker.cpu.waited = worker.engine.map(|_| Nanos(worker.depth.submit_calls));
        worker
    })
}

fn disk() -> impl Strategy<Value = DiskStats> {
    (name(), any::<[u64; 4]>()).prop_map(|(name, n)| DiskStats {
        name,
        read_ios: n[0],
        read_sectors: n[1],
        write_ticks: Nanos(n[2]),
        elapsed: Nanos(n[3]),
        ..DiskStats::default()
    })
}

fn disks() -> impl Strategy<Value = Vec<DiskStats>> {
    prop::collection::vec(disk(), 0..2)
}

fn pauses() -> impl Strategy<Value = HostPauses> {
    let pause = any::<[u64; 2]>().prop_map(|[at, length]| Pause {
        at: Nanos(at),
        length: Nanos(length),
        kind: PauseKind::Suspended,
    });
    prop::collection::vec(pause, 0..3).prop_map(|pauses| HostPauses {
        pauses,
        stolen: Nanos(5),
        processors: 4,
    })
}

fn traffic() -> impl Strategy<Value = MeasuredTraffic> {
    (disks(), option::of(bytes())).prop_map(|(disks, own_read)| MeasuredTraffic {
        disks,
        own_read,
        own_written: own_read,
    })
}

fn laid_out() -> impl Strategy<Value = LaidOut> {
    (bytes(), nanos(), disks()).prop_map(|(bytes, elapsed, disks)| LaidOut {
        bytes,
        elapsed,
        disks,
    })
}

fn phase_record() -> impl Strategy<Value = PhaseRecord> {
    let workers = prop::collection::vec(worker(), 0..3);
    let optional = (
        option::of(traffic()),
        option::of(laid_out()),
        option::of(pauses()),
    );
    (name(), any::<i64>(), workers, disks(), optional).prop_map(
        |(name, started_unix_ms, workers, disks, (traffic, laid_out, host_pauses))| PhaseRecord {
            name,
            started_unix_ms,
            elapsed: Nanos(9),
            workers,
            disks,
            traffic,
            laid_out,
            host_pauses,
            paths: Vec::new(),
        },
    )
}

fn bus() -> impl Strategy<Value = Bus> {
    prop_oneof![
        (fact(any::<u32>()), fact(any::<u64>()), fact(words())).prop_map(
            |(width_bits, clock_hz, timing)| Bus::Mmc {
                width_bits,
                ceiling: clock_hz.clone(),
                clock_hz,
                timing,
            }
        ),
        fact(any::<u64>()).prop_map(|speed_mbps| Bus::Usb { speed_mbps }),
        fact(words()).prop_map(|link| Bus::Nvme { link }),
        Just(Bus::Virtio),
        Just(Bus::Software),
        words().prop_map(|name| Bus::Other { name }),
    ]
}

fn health() -> impl Strategy<Value = Health> {
    (option::of(any::<u64>()), option::of(bytes())).prop_map(|(percent_used, written)| Health {
        percent_used,
        written,
        warnings: vec!["reserve is low".to_owned()],
        ..Health::default()
    })
}

fn registers() -> impl Strategy<Value = CardRegisters> {
    (fact(words()), fact(any::<u32>()), fact(bytes())).prop_map(
        |(cid, speed_class, allocation_unit)| CardRegisters {
            cid,
            speed_class,
            allocation_unit,
            ..CardRegisters::default()
        },
    )
}

fn device() -> impl Strategy<Value = DeviceIdentity> {
    let text = [fact(words()), fact(words())];
    let figures = (fact(any::<bool>()), fact(any::<u32>()), fact(bytes()));
    let parts = (bus(), option::of(registers()), fact(health()));
    (name(), text, figures, parts, bytes()).prop_map(
        |(kname, [model, text], figures, parts, size)| {
            let (rotational, number, discard) = figures;
            let (bus, card, health) = parts;
            DeviceIdentity {
                node: PathBuf::from(format!("/dev/{kname}")),
                kname,
                model,
                serial: text.clone(),
                size,
                logical_block: 512,
                physical_block: 4096,
                rotational,
                scheduler: text.clone(),
                write_cache: text.clone(),
                max_sectors_kb: number.clone(),
                nr_requests: number,
                discard_max: discard.clone(),
                zoned: text.clone(),
                read_only: false,
                removable: true,
                firmware: text.clone(),
                wwid: Fact::default(),
                aliases: vec!["by-id".to_owned()],
                disk_sequence: Fact::Known(7),
                driver: text,
                discard_granularity: discard,
                temperature_mc: Fact::Known(-5),
                health,
                bus,
                card,
                chain: Vec::new(),
            }
        },
    )
}

pub(crate) fn identity() -> impl Strategy<Value = Identity> {
    let filesystem = (words(), words(), bytes()).prop_map(|(fs_type, options, size)| Filesystem {
        fs_type,
        mount_point: PathBuf::from("/mnt"),
        source: "/dev/sda1".to_owned(),
        options,
        size,
        free: Bytes(0),
    });
    (
        name(),
        option::of(filesystem),
        fact(device()),
        any::<bool>(),
        option::of(words()),
    )
        .prop_map(|(path, filesystem, device, system_disk, label)| Identity {
            path: PathBuf::from(path),
            kind: TargetKind::File,
            filesystem,
            device,
            system_disk,
            label,
        })
}

pub(crate) fn environment() -> impl Strategy<Value = Environment> {
    (words(), fact(words()), fact(any::<u32>()), bytes()).prop_map(
        |(hostname, board, load_percent, memory)| Environment {
            hostname,
            board,
            load_percent,
            memory,
            ..Environment::default()
        },
    )
}

fn prepared() -> impl Strategy<Value = PreparedStep> {
    let step = prop_oneof![
        Just(StepKind::Filled {
            with: FillContent::Zeroes
        }),
        any::<bool>().prop_map(|secure| StepKind::Discarded { secure }),
        Just(StepKind::Verified),
        Just(StepKind::CachesDropped),
        prop::collection::vec(words(), 1..3).prop_map(|command| StepKind::Formatted { command }),
        [words(), words()].prop_map(|[fs_type, options]| StepKind::Mounted { fs_type, options }),
        words().prop_map(|path| StepKind::DirectoryCreated { path }),
        bytes().prop_map(|size| StepKind::SpaceFilled { size }),
    ];
    let segment = any::<[u64; 3]>().prop_map(|n| DeviceSegment {
        offset: Bytes(n[0]),
        len: Bytes(n[1]),
        elapsed: Nanos(n[2]),
    });
    (step, nanos(), prop::collection::vec(segment, 0..3), bytes()).prop_map(
        |(step, elapsed, speed, written)| PreparedStep {
            step,
            elapsed,
            speed,
            written,
        },
    )
}

fn point() -> impl Strategy<Value = CampaignPoint> {
    (
        prop::array::uniform5(words()),
        any::<u32>(),
        prop::collection::vec(prepared(), 0..3),
        bytes(),
    )
        .prop_map(
            |([campaign, card, layer, workload, definition], repeat, prepared, laid_out)| {
                CampaignPoint {
                    campaign,
                    card,
                    layer,
                    workload,
                    repeat,
                    definition,
                    prepared,
                    laid_out,
                    assignment: None,
                }
            },
        )
        .prop_flat_map(|point| {
            option::of(super::caveats::assignment()).prop_map(move |assignment| CampaignPoint {
                assignment,
                ..point.clone()
            })
        })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Completed),
        Just(Outcome::Interrupted),
        words().prop_map(|error| Outcome::Failed { error }),
    ]
}

fn origin() -> impl Strategy<Value = Origin> {
    prop_oneof![
        words().prop_map(|version| Origin::Measured { version }),
        [words(), words()].prop_map(|[program, source]| Origin::Imported {
            program,
            source,
            reported: Box::default()
        }),
    ]
}

fn overhead() -> impl Strategy<Value = Overhead> {
    any::<[u64; 2]>().prop_map(|[per_io_ps, samples]| Overhead { per_io_ps, samples })
}

/// Generates a whole record, with values in all its fields.
pub(crate) fn record() -> impl Strategy<Value = RunRecord> {
    let measured = (
        prop::collection::vec(phase_record(), 0..3),
        prop::collection::vec(caveat(), 0..4),
        outcome(),
        option::of(overhead()),
    );
    let run = (any_job(), origin(), any::<i64>(), option::of(point()));
    let place = (identity(), environment());
    (run, place, measured).prop_map(|(run, place, measured)| {
        let ((job, origin, started_unix_ms, campaign), (target, environment)) = (run, place);
        let (phases, caveats, outcome, overhead) = measured;
        RunRecord {
            format: hakaru_model::record::FORMAT,
            id: "id".to_owned(),
            series: "series".to_owned(),
            repeat: 3,
            started_unix_ms,
            origin,
            scenario: scenario_of(vec![job], 5),
            target,
            environment,
            phases,
            caveats,
            outcome,
            overhead,
            campaign,
        }
    })
}
