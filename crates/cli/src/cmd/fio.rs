//! `hakaru fio …` and `argv[0]` = `fio`: a fio command line on our own engine.
//!
//! Standard output is only the result; whatever else there is to say goes to standard error.

use crate::exit::Exit;
use crate::stop;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use hakaru_dialects::fio::output::{self, Progress as Status, RunView, StartView, WorkerState};
use hakaru_dialects::fio::{Action, EtaMode, FioError, Invocation, Location, OutputFormat, ParseContext, Settings};
use hakaru_engine::{ClockChoice, EngineReport, Flow, Layout, Observer, Progress, RunOptions};
use hakaru_model::job::{IoEngine, Op};
use hakaru_model::plan::{Facts, LayOut, PhasePlan, Plan, WorkerPlan};
use hakaru_model::record::{Outcome, PhaseRecord};
use hakaru_model::units::Nanos;
use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The version of fio whose behaviour and output this front end has.
const VERSION: &str = "fio-3.39";

/// Runs one command line; the program's name is not among the arguments.
pub(crate) fn main(args: &[OsString]) -> Exit {
    let env = |name: &str| std::env::var(name).ok();
    let context = ParseContext {
        env: &env,
        read_file: &read_job_file,
        path_exists: &|path| path.exists(),
        cpu_count: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        page_size: rustix::param::page_size() as u64,
        memory_mb: memory_mb(),
    };
    let invocation = match hakaru_dialects::fio::parse(args, &context) {
        Ok(invocation) => invocation,
        Err(error) => {
            complain_about(&error, args);
            return Exit::Failed;
        }
    };
    for warning in &invocation.warnings {
        anstream::eprintln!("fio: {warning}");
    }
    match &invocation.action {
        Action::Print { text, exit_code } => {
            let printed = super::print(text).is_ok();
            if *exit_code == 0 && printed { Exit::Ok } else { Exit::Failed }
        }
        Action::ParseOnly => Exit::Ok,
        Action::Run => match Run::new(&invocation).and_then(Run::carry_out) {
            Ok(exit) => exit,
            Err(error) => {
                anstream::eprintln!("fio: {error:#}");
                Exit::Failed
            }
        },
    }
}

fn read_job_file(path: &Path) -> std::io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().lock().read_to_end(&mut text)?;
        return Ok(text);
    }
    std::fs::read(path)
}

fn memory_mb() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kb =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    kb.unwrap_or(0u64) / 1024
}

/// Points at the word that was not understood.
fn complain_about(error: &FioError, args: &[OsString]) {
    let message = error.to_string();
    let (source, origin, line, span) = match &error.at {
        None => return anstream::eprintln!("fio: {message}"),
        Some(Location::File { path, line, text, span }) => {
            (text.clone(), path.display().to_string(), *line, span.clone())
        }
        Some(Location::Arg { index, span }) => {
            let words: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
            let before: usize = words.iter().take(*index).map(|word| word.len() + 1).sum();
            (words.join(" "), "command line".to_owned(), 1, before + span.start..before + span.end)
        }
    };
    let end = span.end.min(source.len());
    let span = span.start.min(end)..end;
    if !source.is_char_boundary(span.start) || !source.is_char_boundary(span.end) {
        return anstream::eprintln!("fio: {message}");
    }
    let snippet = Snippet::source(source).line_start(line).path(origin).annotation(AnnotationKind::Primary.span(span));
    let report = [Group::with_title(Level::ERROR.primary_title(message)).element(snippet)];
    anstream::eprintln!("{}", Renderer::styled().render(&report));
}

/// One run of jobs.
struct Run<'a> {
    invocation: &'a Invocation,
    plan: Plan,
    begun: Instant,
}

impl<'a> Run<'a> {
    fn new(invocation: &'a Invocation) -> anyhow::Result<Run<'a>> {
        let mut facts = Facts::new();
        for path in invocation.scenario.paths() {
            facts.insert(path.clone(), hakaru_device::inspect(&path)?);
        }
        let plan = Plan::resolve(&invocation.scenario, &facts)?;
        if plan.destroys() {
            refuse_devices_in_use(&plan)?;
        }
        Ok(Run { invocation, plan, begun: Instant::now() })
    }

    fn carry_out(self) -> anyhow::Result<Exit> {
        let settings = &self.invocation.settings;
        let mut out: Box<dyn Write> = match &settings.output {
            None => Box::new(std::io::stdout()),
            Some(path) => Box::new(create(path)?),
        };
        let normal = settings.formats.contains(&OutputFormat::Normal);
        if normal {
            out.write_all(output::banner(&StartView::of(self.invocation, VERSION)).as_bytes())?;
            out.flush()?;
        }
        for caveat in &self.plan.caveats {
            if matches!(caveat, hakaru_model::caveat::Caveat::DepthCapped { .. }) {
                anstream::eprint!("{}", output::DEPTH_NOTE);
            }
        }
        let options = RunOptions {
            clock: ClockChoice::best(),
            stop: stop::flag(),
            direct_fallback: false,
            replace_engines: false,
            wall_clock: hakaru_campaign::now_unix_ms,
        };
        let plan = self.plan_to_run();
        let mut teller = Teller::new(self.invocation, if normal { Some(&mut *out) } else { None });
        let report = hakaru_engine::run(&plan, &options, &mut teller);
        teller.end();
        if report.phases.is_empty()
            && let Some(error) = &report.error
        {
            anyhow::bail!("{error}");
        }
        for error in report.phases.iter().flat_map(|p| &p.workers).flat_map(|w| &w.errors.first) {
            anstream::eprintln!(
                "fio: io_u error on file {}: {}: {} offset={}, buflen={}",
                error.file,
                rustix::io::Errno::from_raw_os_error(error.errno),
                error.action,
                error.offset.0,
                error.len.0
            );
        }
        self.print(&report.phases, &mut *out)?;
        Ok(exit_of(&report))
    }

    /// The plan, or with `create_only` only its files.
    fn plan_to_run(&self) -> Plan {
        let mut plan = self.plan.clone();
        for (phase, extras) in plan.phases.iter_mut().zip(&self.invocation.extras) {
            for worker in &mut phase.workers {
                if extras.get(worker.job as usize).is_some_and(|e| e.create_only) {
                    (worker.stream.limit_bytes, worker.stream.limit_ios) = (Some(0), Some(0));
                    worker.ramp_time = Nanos(0);
                }
            }
        }
        plan
    }

    fn print(&self, phases: &[PhaseRecord], out: &mut dyn Write) -> anyhow::Result<()> {
        let Invocation { scenario, extras, global_options, settings, .. } = self.invocation;
        let mut view = RunView::of(VERSION, scenario, extras, phases);
        view.global_options = global_options;
        view.elapsed = Nanos(self.begun.elapsed().as_nanos() as u64);
        view.shown_unix_ms = hakaru_campaign::now_unix_ms();
        view.utc_offset_s = utc_offset_s(view.shown_unix_ms);
        for format in &settings.formats {
            let text = match format {
                OutputFormat::Normal => output::normal(&view),
                OutputFormat::Json => output::json(&view, false),
                OutputFormat::JsonPlus => output::json(&view, true),
                OutputFormat::Terse => output::terse(&view, settings.terse_version),
            };
            out.write_all(text.as_bytes())?;
        }
        out.flush()?;
        Ok(())
    }
}

fn create(path: &Path) -> anyhow::Result<std::fs::File> {
    std::fs::File::create(path).map_err(|e| anyhow::anyhow!("cannot write the output to {}: {e}", path.display()))
}

fn exit_of(report: &EngineReport) -> Exit {
    match &report.outcome {
        Outcome::Completed if report.phases.iter().flat_map(|p| &p.workers).any(|w| w.errors.total > 0) => Exit::Failed,
        Outcome::Completed => Exit::Ok,
        // fio ends with 128 after a signal; scripts look for anything but 0.
        Outcome::Interrupted => Exit::Interrupted,
        Outcome::Failed { .. } => Exit::Failed,
    }
}

fn utc_offset_s(unix_ms: i64) -> i32 {
    let zone = jiff::tz::TimeZone::system();
    jiff::Timestamp::from_millisecond(unix_ms).map_or(0, |at| zone.to_offset(at).seconds())
}

/// Writing to a device that the system uses would destroy what is in use, so it is not done whoever asks.
fn refuse_devices_in_use(plan: &Plan) -> anyhow::Result<()> {
    let roots = hakaru_device::Roots::live();
    for phase in &plan.phases {
        for worker in phase.workers.iter().filter(|w| w.writes) {
            for region in &worker.stream.regions {
                let Some(file) = phase.files.get(region.file as usize) else { continue };
                if file.kind == hakaru_model::facts::TargetKind::BlockDevice {
                    hakaru_device::guard::passive(&file.path, &roots)
                        .map_err(|refusal| anyhow::anyhow!("{refusal}; {}", refusal.cure()))?;
                }
            }
        }
    }
    Ok(())
}

/// Shows what fio shows while it runs: files laid out, and the status line on a terminal.
struct Teller<'a> {
    settings: &'a Settings,
    invocation: &'a Invocation,
    out: Option<&'a mut dyn Write>,
    /// Whether the status line goes to standard output (a terminal) or to standard error.
    on_stdout: bool,
    shows_eta: bool,
    last_line: Instant,
    line_open: bool,
    announced: Vec<PathBuf>,
}

impl<'a> Teller<'a> {
    fn new(invocation: &'a Invocation, out: Option<&'a mut dyn Write>) -> Teller<'a> {
        let settings = &invocation.settings;
        let on_stdout = std::io::stdout().is_terminal() && settings.output.is_none();
        let only_normal = settings.formats == [OutputFormat::Normal];
        let shows_eta = match settings.eta {
            EtaMode::Never => false,
            EtaMode::Always => true,
            EtaMode::Auto => on_stdout && only_normal,
        };
        Teller {
            settings,
            invocation,
            out,
            on_stdout,
            shows_eta,
            last_line: Instant::now(),
            line_open: false,
            announced: Vec::new(),
        }
    }

    fn end(&mut self) {
        if self.line_open {
            self.write_status("\n");
        }
    }

    fn write_status(&self, text: &str) {
        // Nobody looks at a status line that cannot be written.
        let _ = if self.on_stdout {
            std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush())
        } else {
            std::io::stderr().write_all(text.as_bytes())
        };
    }
}

fn letter(worker: &WorkerPlan) -> char {
    let access = &worker.stream.access;
    let letter = match (access.does(Op::Read), access.does(Op::Write), access.does(Op::Trim)) {
        (true, true, _) => 'M',
        (true, ..) => 'R',
        (_, _, true) => 'D',
        _ => 'W',
    };
    if access.random { letter.to_ascii_lowercase() } else { letter }
}

impl Observer for Teller<'_> {
    fn laying_out(&mut self, layout: &Layout<'_>) -> Flow {
        let Layout { file, done } = *layout;
        if done == 0 && file.lay_out != LayOut::Ready && !self.announced.contains(&file.path) {
            self.announced.push(file.path.clone());
            if let Some(out) = &mut self.out {
                // The result itself will tell whether the output can be written.
                let _ = out.write_all(output::laying_out(&file.job, 1, file.size.0).as_bytes());
            }
        }
        Flow::Continue
    }

    fn progress(&mut self, phase: &PhasePlan, progress: &Progress) -> Flow {
        let due = Duration::from_millis(self.settings.eta_interval_ms.max(100));
        if !self.shows_eta || self.last_line.elapsed() < due {
            return Flow::Continue;
        }
        self.last_line = Instant::now();
        let extras = self.invocation.extras.iter().flatten().next();
        let state = |w: &WorkerPlan| {
            if progress.measuring { WorkerState::Running(letter(w)) } else { WorkerState::Ramping }
        };
        let synced = phase.workers.iter().filter(|w| w.ioengine != IoEngine::Null).count();
        let line = output::status_line(&Status {
            running: progress.running as u32,
            open_files: synced as u32,
            states: phase.workers.iter().map(state).collect(),
            percent: progress.permille.map(|p| f64::from(p) / 10.0),
            bytes_per_s: progress.bytes_per_s,
            iops: progress.iops,
            eta_s: progress.remaining.map(|r| r.as_secs_f64().ceil() as u64),
            kb_base: extras.map_or(1024, |e| e.kb_base),
            unit_base: extras.map_or(0, |e| e.unit_base),
        });
        let end = if self.settings.eta_newline_ms.is_some() { "\n" } else { "\r" };
        self.line_open = end == "\r";
        self.write_status(&format!("{line}{end}"));
        Flow::Continue
    }
}
