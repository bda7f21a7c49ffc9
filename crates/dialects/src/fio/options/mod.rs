//! The option table of the fio dialect: one row per option, with everything about it in one place.
//!
//! Parsing, `--cmdhelp`, the man page and the compatibility page are all generated from these rows. The [`OptionState`]
//! of a row says whether the option works; a known option is never ignored silently. `lower` handles combinations of
//! options.

mod block;
mod depth;
mod engine;
mod files;
mod foreign;
mod jobs;
mod kind;
mod measure;
mod row;
mod verify;
mod workload;

pub use engine::{ENGINES, Engine};
pub(super) use kind::NEVER;
pub use kind::{OptionKind, OptionValue, Words};
pub use row::{FioOption, OptionState};

/// All options by topic, in the order of the documentation.
pub(crate) const SECTIONS: &[(&str, &[FioOption])] = &[
    ("Jobs and time", jobs::TABLE),
    ("Files", files::TABLE),
    ("Kind of I/O", workload::TABLE),
    ("Blocks and buffers", block::TABLE),
    ("Engine, depth, rate and latency", depth::TABLE),
    ("Verification and replay", verify::TABLE),
    ("Measurement and reporting", measure::TABLE),
    ("Options of single engines", engine::TABLE),
    ("Options of unsupported engines", foreign::TABLE),
];

/// All options, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static FioOption> {
    SECTIONS.iter().flat_map(|(_, rows)| rows.iter())
}

/// Returns the option with this name or alias.
pub fn find(name: &str) -> Option<&'static FioOption> {
    all().find(|opt| opt.is_called(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::spec::JobSpec;
    use crate::fio::spelling::nearest;
    use crate::fio::testing::context;
    use crate::fio::values::ValueContext;
    use std::collections::HashSet;

    #[test]
    fn each_name_stands_once() {
        let mut seen = HashSet::new();
        for name in all().flat_map(FioOption::names) {
            assert!(seen.insert(name), "{name} stands twice");
        }
        assert!(seen.len() > 330, "{}", seen.len());
    }

    #[test]
    fn each_row_is_complete() {
        for opt in all() {
            assert!(
                !opt.help.is_empty() && !opt.help.ends_with('.'),
                "{}",
                opt.name
            );
            if let OptionState::With(other) = opt.state {
                assert!(
                    find(other).is_some(),
                    "{} goes with {other}, which is unknown",
                    opt.name
                );
            }
            if let OptionState::Refused { reason, instead } = opt.state {
                assert!(
                    !reason.is_empty() && !instead.is_empty() && !instead.ends_with('.'),
                    "{}",
                    opt.name
                );
            }
        }
    }

    /// A setter that reads a different type than its row declares panics here.
    #[test]
    fn each_setter_takes_what_its_kind_reads() {
        let reading = ValueContext {
            ctx: context(),
            kb_base: 1024,
        };
        for opt in all() {
            let mut spec = JobSpec::default();
            let samples: Vec<String> = opt
                .kind
                .samples()
                .into_iter()
                .chain(Some(opt.default.to_owned()))
                .collect();
            for sample in samples.iter().filter(|s| !s.is_empty()) {
                let _ = opt.apply(Some(sample), &mut spec, &reading);
            }
            if opt.kind.may_stand_alone() {
                let _ = opt.apply(None, &mut spec, &reading);
            }
        }
    }

    /// The most common options in public job files, except options of unsupported engines.
    const USED_MOST: &str = "rw bs ioengine direct iodepth runtime size numjobs filename name time_based group_reporting \
        directory randrepeat ramp_time verify stonewall filesize invalidate thread nrfiles rwmixread \
        norandommap end_fsync fallocate create_on_open log_avg_msec write_lat_log gtod_reduce write_bw_log \
        loops bsrange io_size filename_format fsync_on_close percentile_list sync verify_fatal buffered \
        random_distribution zonemode zonesize max_open_zones startdelay buffer_compress_percentage rate_iops fsync refill_buffers do_verify \
        write_iops_log verify_dump offset openfiles rwmixwrite file_service_type exitall bssplit \
        buffer_pattern disable_slat offset_increment rate clocksource write_hist_log iodepth_batch \
        verify_state_save verify_backlog new_group verify_async ignore_error continue_on_error fadvise_hint \
        disable_clat verify_only fdatasync clat_percentiles random_generator create_serialize verify_pattern \
        lat_percentiles log_hist_msec log_alternate_epoch unlink exit_what \
        description atomic verify_write_sequence mem overwrite sqthread_poll registerfiles cpumask \
        iodepth_batch_complete_min steadystate disable_lat error_dump fill_device numa_cpu_nodes hipri \
        kb_base create_only disable_bw_measurement fixedbufs latency_percentile latency_target \
        latency_window exitall_on_error serialize_overlap verifysort";

    #[test]
    fn what_is_used_most_works() {
        let refuses = |state: &OptionState| matches!(state, OptionState::Refused { .. });
        for name in USED_MOST.split_whitespace() {
            let opt = find(name).unwrap_or_else(|| panic!("{name} is not known"));
            assert!(!refuses(&opt.state), "{name}: {:?}", opt.state);
            let mut state = opt.state;
            while let OptionState::With(other) = state {
                state = find(other).expect("each row is complete").state;
            }
            assert!(
                !refuses(&state),
                "{name} has an effect only with an option that is refused: {state:?}"
            );
        }
    }

    #[test]
    fn defaults_are_values() {
        let reading = ValueContext {
            ctx: context(),
            kb_base: 1024,
        };
        for opt in all().filter(|opt| !opt.default.is_empty()) {
            let read = opt.kind.read(Some(opt.default), &reading);
            assert!(read.is_ok(), "{}={}: {read:?}", opt.name, opt.default);
        }
    }

    #[test]
    fn the_nearest_name_is_found_when_it_is_near() {
        let guess = |name| nearest(name, all().flat_map(FioOption::names));
        assert_eq!(guess("iodpeth").as_deref(), Some("iodepth"));
        assert_eq!(guess("group-reporting").as_deref(), Some("group_reporting"));
        assert_eq!(guess("direkt").as_deref(), Some("direct"));
        assert_eq!(guess("numjob").as_deref(), Some("numjobs"));
        assert_eq!(guess("bananas"), None);
    }
}
