//! One run of a fio command line, and its result.

use hakaru_campaign::PlannedSession;
use hakaru_dialects::fio::output::{self, CpuIdleness, RunView};
use hakaru_dialects::fio::{IdleProf, Invocation, OutputFormat, VERSION};
use hakaru_model::record::PhaseRecord;
use hakaru_model::units::Nanos;
use std::io::Write;
use std::time::Instant;

/// One run of a parsed fio command line.
pub(super) struct FioRun<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) session: PlannedSession<'a>,
    pub(super) begun: Instant,
}

impl FioRun<'_> {
    /// Returns the CPU idleness in the requested detail.
    pub(super) fn idleness(&self, found: hakaru_engine::Idleness) -> CpuIdleness {
        let hakaru_engine::Idleness {
            system,
            per_cpu,
            unit_mean_us,
            unit_deviation_us,
        } = found;
        let each = self.invocation.settings.idle_prof == Some(IdleProf::PerCpu);
        CpuIdleness {
            system,
            per_cpu: if each { per_cpu } else { Vec::new() },
            unit_mean_us,
            unit_deviation_us,
        }
    }

    /// Prints the result in each requested format.
    pub(super) fn print(
        &self,
        phases: &[PhaseRecord],
        idleness: Option<CpuIdleness>,
        eta_s: u64,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let invocation = self.invocation;
        let mut view = RunView::of(VERSION, &invocation.scenario, &invocation.extras, phases);
        view.global_options = &invocation.global_options;
        (view.idleness, view.eta_s) = (idleness, eta_s);
        view.elapsed = Nanos(self.begun.elapsed().as_nanos() as u64);
        view.shown_unix_ms = hakaru_campaign::now_unix_ms();
        view.utc_offset_s = utc_offset_s(view.shown_unix_ms);
        for format in &invocation.settings.formats {
            let text = match format {
                OutputFormat::Normal => output::normal(&view),
                OutputFormat::Json => output::json(&view, false),
                OutputFormat::JsonPlus => output::json(&view, true),
                OutputFormat::Terse => output::terse(&view, invocation.settings.terse_version),
            };
            out.write_all(text.as_bytes())?;
        }
        out.flush()?;
        Ok(())
    }
}

fn utc_offset_s(unix_ms: i64) -> i32 {
    let zone = jiff::tz::TimeZone::system();
    jiff::Timestamp::from_millisecond(unix_ms).map_or(0, |at| zone.to_offset(at).seconds())
}
