//! Combines all parsed words and lines into jobs with inheritance, reporting groups and phases.

use super::argv::{self, FioToken, ParsedWord, unknown};
use super::cli::{CliEffect, CliOpt, CliRequests, CliState};
use super::error::{FioError, FioErrorKind, Location};
use super::invocation::{FioAction, IdleProf, Invocation, JobExtras, ParseContext, Settings};
use super::iolog;
use super::jobfile::{self, JobFileEntry, JobFileLine, is_global};
use super::lower::lower;
use super::options::{self, FioOption};
use super::spec::JobSpec;
use super::values::ValueContext;
use super::{help, showcmd, spelling};
use hakaru_model::job::{IoEngine, Job, Phase, Scenario};
use std::ffi::OsString;
use std::path::Path;

/// fio's default limit of workers.
const USUAL_MAX_JOBS: u64 = 4096;

/// Prefix of file names in the home directory.
const HOME: &str = "~/";

/// Parses a fio command line (without the program name) and the job files it names.
///
/// # Errors
/// A [`FioError`] with the option, its value, the cause, the solution, and the location of the word.
pub fn parse(args: &[OsString], ctx: &ParseContext<'_>) -> Result<Invocation, FioError> {
    let mut warnings = Vec::new();
    let tokens = argv::lex(
        args,
        &|path| (ctx.path_exists)(Path::new(path)),
        &mut warnings,
    )?;
    assemble(&tokens, ctx, warnings)
}

/// Combines the parsed words of a command line into an invocation.
fn assemble(
    tokens: &[FioToken],
    ctx: &ParseContext<'_>,
    warnings: Vec<String>,
) -> Result<Invocation, FioError> {
    let mut whole = Assembler::new(ctx, warnings);
    for token in tokens {
        whole
            .token(token)
            .map_err(|kind| FioError::at(kind, token.at.clone()))?;
    }
    whole.close_job();
    let trigger = &whole.settings.trigger;
    if trigger.command.is_some() && !trigger.may_fire() {
        let warning = "--trigger has no effect without --trigger-file or --trigger-timeout";
        whole.warnings.push(warning.to_owned());
    }
    if let Some(page) = &whole.requests.page {
        let action = help::page(page);
        return Ok(whole.invocation(action, Vec::new(), Vec::new()));
    }
    let files = std::mem::take(&mut whole.files);
    for (index, (path, at)) in files.into_iter().enumerate() {
        let result = whole.job_file(Path::new(&path), index);
        result.map_err(|error| FioError {
            at: error.at.or(Some(at)),
            ..error
        })?;
    }
    whole.check_sections()?;
    if whole.requests.show_command {
        let text = std::mem::take(&mut whole.shown);
        let action = FioAction::Print { text, exit_code: 0 };
        return Ok(whole.invocation(action, Vec::new(), Vec::new()));
    }
    whole.finish()
}

/// State of the parse so far.
struct Assembler<'a> {
    ctx: &'a ParseContext<'a>,
    /// Global options: the defaults of each job.
    base: JobSpec,
    /// The current job of the command line.
    current: Option<JobSpec>,
    jobs: Vec<JobSpec>,
    files: Vec<(String, Location)>,
    settings: Settings,
    requests: CliRequests,
    warnings: Vec<String>,
    /// Global options for the result.
    globals: Vec<(String, String)>,
    sections: Vec<String>,
    /// The job files written as command lines, for `--showcmd`.
    shown: String,
}

impl<'a> Assembler<'a> {
    fn new(ctx: &'a ParseContext<'a>, warnings: Vec<String>) -> Assembler<'a> {
        Assembler {
            ctx,
            base: JobSpec::default(),
            current: None,
            jobs: Vec::new(),
            files: Vec::new(),
            settings: Settings::default(),
            requests: CliRequests::default(),
            warnings,
            globals: Vec::new(),
            sections: Vec::new(),
            shown: String::new(),
        }
    }

    fn token(&mut self, token: &FioToken) -> Result<(), FioErrorKind> {
        match &token.what {
            ParsedWord::File(path) => self.files.push((path.clone(), token.at.clone())),
            ParsedWord::Run { opt, value } => self.run_option(opt, value.as_deref())?,
            ParsedWord::Job { opt, value } if opt.name == "name" => {
                self.begin_job(opt, value.as_deref())?
            }
            ParsedWord::Job { opt, value } => {
                let mut spec = self.current.take();
                let target = spec.as_mut().unwrap_or(&mut self.base);
                let result = apply(opt, value.as_deref(), target, self.ctx, &mut self.warnings);
                self.current = spec;
                result?;
            }
        }
        Ok(())
    }

    fn run_option(&mut self, opt: &CliOpt, value: Option<&str>) -> Result<(), FioErrorKind> {
        let option = || format!("--{}", opt.name);
        match opt.does {
            CliEffect::Accepted(_) => Ok(()),
            CliEffect::Refused(reason, instead) => Err(FioErrorKind::Refused {
                option: option(),
                reason: reason.to_owned(),
                instead: instead.to_owned(),
            }),
            CliEffect::Set(set) | CliEffect::Warns(set) => {
                let mut target = CliState {
                    settings: &mut self.settings,
                    requests: &mut self.requests,
                    warnings: &mut self.warnings,
                    reading: ValueContext {
                        ctx: self.ctx,
                        kb_base: self.base.extras.kb_base,
                    },
                };
                set(&mut target, value).map_err(|reason| FioErrorKind::BadValue {
                    option: option(),
                    value: value.unwrap_or_default().to_owned(),
                    reason,
                })
            }
        }
    }

    /// `--name` ends the previous job and starts the next; `--name=global` continues the global
    /// options.
    fn begin_job(
        &mut self,
        name: &'static FioOption,
        value: Option<&str>,
    ) -> Result<(), FioErrorKind> {
        self.close_job();
        if let Some(global) = value.filter(|name| is_global(name)) {
            self.base
                .job
                .options
                .push(("name".to_owned(), global.to_owned()));
            return Ok(());
        }
        let mut job = inherit(&self.base);
        apply(name, value, &mut job, self.ctx, &mut self.warnings)?;
        self.current = Some(job);
        Ok(())
    }

    fn close_job(&mut self) {
        self.jobs.extend(self.current.take());
        self.globals.clone_from(&self.base.job.options);
    }

    /// The first job file starts with the options of the command line; each further one waits for
    /// the previous one.
    fn job_file(&mut self, path: &Path, index: usize) -> Result<(), FioError> {
        let mut global = if index == 0 {
            self.base.clone()
        } else {
            JobSpec::default()
        };
        if index == 1 && !self.base.job.options.is_empty() {
            self.warnings.push(
                "command-line options apply only to the first job file, as in fio".to_owned(),
            );
        }
        let first = self.jobs.len();
        let lines = jobfile::read(path, self.ctx).map_err(with_hint)?;
        self.shown
            .push_str(&showcmd::line(&lines, &self.requests.sections));
        for section in lines.chunk_by(|_, next| !matches!(next.what, JobFileEntry::Section(_))) {
            self.section(section, &mut global)?;
        }
        if index > 0
            && let Some(job) = self.jobs.get_mut(first)
        {
            job.stonewall = true;
        }
        self.globals = global.job.options;
        Ok(())
    }

    /// Applies the lines of a section: its name, then its options.
    fn section(&mut self, lines: &[JobFileLine], global: &mut JobSpec) -> Result<(), FioError> {
        let mut place = SectionKind::Left;
        // `kb_base` decides what size suffixes mean, so it is applied before any size is parsed.
        let is_early = |line: &&JobFileLine| match &line.what {
            JobFileEntry::Section(_) => true,
            JobFileEntry::Option(name, _) => name == "kb_base",
        };
        let (early, late): (Vec<_>, Vec<_>) = lines.iter().partition(is_early);
        for line in early.into_iter().chain(late) {
            let (name, value) = match &line.what {
                JobFileEntry::Section(name) => {
                    place = self.begin_section(name, global);
                    continue;
                }
                JobFileEntry::Option(name, value) => (name, value.as_deref()),
            };
            let spec = match place {
                SectionKind::Left => continue,
                SectionKind::Global => &mut *global,
                SectionKind::Job => self.jobs.last_mut().expect("a section was begun"),
            };
            let result = match options::find(name) {
                None => Err(unknown(name, options::all().flat_map(FioOption::names))),
                Some(opt) => apply(opt, value, spec, self.ctx, &mut self.warnings),
            };
            result.map_err(|kind| FioError::at(kind, line.at.clone()))?;
        }
        Ok(())
    }

    fn begin_section(&mut self, name: &str, global: &JobSpec) -> SectionKind {
        if is_global(name) {
            return SectionKind::Global;
        }
        self.sections.push(name.to_owned());
        if !self.requests.sections.is_empty()
            && !self.requests.sections.iter().any(|wanted| wanted == name)
        {
            return SectionKind::Left;
        }
        let mut job = inherit(global);
        job.job.name = name.to_owned();
        job.section = Some(name.to_owned());
        self.jobs.push(job);
        SectionKind::Job
    }

    fn check_sections(&self) -> Result<(), FioError> {
        let missing = self
            .requests
            .sections
            .iter()
            .find(|wanted| !wanted.is_empty() && !self.sections.contains(wanted));
        let looked = !self.sections.is_empty() && !self.requests.parse_only;
        let Some(section) = missing.filter(|_| looked) else {
            return Ok(());
        };
        let nearest = spelling::nearest(section, self.sections.iter().map(String::as_str));
        Err(FioError::nowhere(FioErrorKind::NoSuchSection {
            section: section.clone(),
            nearest,
        }))
    }

    fn finish(mut self) -> Result<Invocation, FioError> {
        let calibrates = self.settings.idle_prof == Some(IdleProf::Calibrate);
        if self.jobs.is_empty() && !self.requests.parse_only && !calibrates {
            return Err(FioError::nowhere(FioErrorKind::NoJobs));
        }
        let specs = std::mem::take(&mut self.jobs);
        let workers: u64 = specs.iter().map(|spec| u64::from(spec.job.numjobs)).sum();
        // fio reserves memory for this many jobs by default, but accepts more.
        let limit = self.requests.max_jobs.unwrap_or(0).max(USUAL_MAX_JOBS);
        if workers > limit {
            return Err(FioError::nowhere(FioErrorKind::TooManyJobs {
                count: workers,
                limit,
            }));
        }
        let (phases, extras) = self.phases(&specs).map_err(FioError::nowhere)?;
        if let (true, Some(warning)) = (self.requests.warnings_fatal, self.warnings.first()) {
            return Err(FioError::nowhere(FioErrorKind::WarningFatal {
                warning: warning.clone(),
            }));
        }
        let action = if self.requests.parse_only {
            FioAction::ParseOnly
        } else {
            FioAction::Run
        };
        Ok(self.invocation(action, phases, extras))
    }

    fn phases(
        &mut self,
        specs: &[JobSpec],
    ) -> Result<(Vec<Phase>, Vec<Vec<JobExtras>>), FioErrorKind> {
        let (mut phases, mut extras): (Vec<Phase>, Vec<Vec<JobExtras>>) = (Vec::new(), Vec::new());
        let mut group = 0;
        for (index, spec) in specs.iter().enumerate() {
            group += u32::from(index > 0 && (spec.stonewall || spec.new_group));
            let (mut job, extra) = self.job(spec, index as u64)?;
            job.group = group;
            check_waitee(&job, &specs[..index])?;
            if phases.is_empty() || spec.stonewall {
                phases.push(Phase {
                    name: job.name.clone(),
                    jobs: Vec::new(),
                });
                extras.push(Vec::new());
            }
            if let (Some(phase), Some(of_phase)) = (phases.last_mut(), extras.last_mut()) {
                phase.jobs.push(job);
                of_phase.push(extra);
            }
        }
        Ok((phases, extras))
    }

    /// Converts a job, with the settings of the whole run and its replay logs.
    fn job(&mut self, spec: &JobSpec, index: u64) -> Result<(Job, JobExtras), FioErrorKind> {
        let (mut job, extra) = lower(spec, index, &mut self.warnings)?;
        if !job.replay.read.is_empty() {
            iolog::attach(&mut job, self.ctx).map_err(|reason| FioErrorKind::BadJob {
                job: spec.job.name.clone(),
                reason,
            })?;
        }
        if let Some(verify) = &mut job.verify {
            verify.folder.clone_from(&self.settings.aux_path);
        }
        self.guard_read_only(&mut job, extra.rw)?;
        let flushes = (job.durability.fsync_every, job.durability.fdatasync_every) != (0, 0);
        if job.ioengine == IoEngine::Mmap && (job.files.direct || flushes) {
            job.engine.block_unit = self.ctx.page_size;
        }
        Ok((job, extra))
    }

    fn guard_read_only(&self, job: &mut Job, rw: Option<&str>) -> Result<(), FioErrorKind> {
        job.files.read_only |= self.settings.read_only;
        // A mixed workload counts as writing, even with rwmixread=100.
        let reads = rw.is_some_and(|rw| matches!(rw, "read" | "randread"));
        if job.files.read_only && (job.access.destroys() || !reads) {
            return Err(FioErrorKind::ReadOnly {
                job: job.name.clone(),
            });
        }
        Ok(())
    }

    fn invocation(
        self,
        action: FioAction,
        phases: Vec<Phase>,
        extras: Vec<Vec<JobExtras>>,
    ) -> Invocation {
        let name = phases
            .first()
            .map_or_else(|| "fio".to_owned(), |phase| phase.name.clone());
        let scenario = Scenario {
            name,
            seed: 0,
            phases,
        };
        let Assembler {
            settings,
            globals,
            warnings,
            ..
        } = self;
        Invocation {
            action,
            scenario,
            extras,
            global_options: globals,
            settings,
            warnings,
        }
    }
}

/// A job can wait only for one that was defined before it.
fn check_waitee(job: &Job, before: &[JobSpec]) -> Result<(), FioErrorKind> {
    let Some(waitee) = &job.timing.wait_for else {
        return Ok(());
    };
    let known = before.iter().filter(|spec| spec.job.name == *waitee);
    let problem = match known.count() {
        1 => return Ok(()),
        0 => format!("waitee job {waitee} unknown; define it before this job"),
        _ => "several jobs have that name; use a unique name".to_owned(),
    };
    Err(FioErrorKind::BadJob {
        job: job.name.clone(),
        reason: format!("wait_for={waitee}: {problem}"),
    })
}

/// Destination of the options of a section.
#[derive(Clone, Copy)]
enum SectionKind {
    /// The section was not selected.
    Left,
    /// The global section.
    Global,
    /// The most recent job.
    Job,
}

/// Creates a job with the global options. The option text as typed stays in the global section.
fn inherit(global: &JobSpec) -> JobSpec {
    let mut job = global.clone();
    job.job.options.clear();
    job.job.name.clear();
    job
}

/// Adds advice to the error for a job file whose name contains `=`, which was probably meant as an option.
fn with_hint(mut error: FioError) -> FioError {
    if let FioErrorKind::CannotRead { path, hint, .. } = &mut *error.kind
        && let Some((name, value)) = path.to_string_lossy().split_once('=')
    {
        let names = || options::all().flat_map(FioOption::names);
        let meant = names()
            .find(|known| !name.is_empty() && known.starts_with(name))
            .map(str::to_owned)
            .or_else(|| spelling::nearest(name, names()))
            .map(|meant| format!(": did you mean `--{meant}={value}`?"));
        let meant = meant.unwrap_or_default();
        *hint = format!(" (options of the command line begin with --{meant})");
    }
    error
}

/// Applies one option, and expands a leading `~/` in paths.
fn apply(
    opt: &'static FioOption,
    value: Option<&str>,
    spec: &mut JobSpec,
    ctx: &ParseContext<'_>,
    warnings: &mut Vec<String>,
) -> Result<(), FioErrorKind> {
    let reading = ValueContext {
        ctx,
        kb_base: spec.extras.kb_base,
    };
    opt.apply(value, spec, &reading)?;
    let has_home = value.is_some_and(|text| text.contains(HOME));
    if opt.kind == options::OptionKind::Paths
        && has_home
        && let Some(home) = (ctx.env)("HOME")
    {
        expand_home(opt.name, Path::new(&home), spec, warnings);
    }
    Ok(())
}

/// Replaces a leading `~/` in the paths of a job, with a warning for each.
fn expand_home(option: &str, home: &Path, spec: &mut JobSpec, warnings: &mut Vec<String>) {
    for path in spec.filenames.iter_mut().chain(&mut spec.directories) {
        if let Ok(rest) = path.strip_prefix("~") {
            let expanded = home.join(rest);
            let (from, to) = (path.display(), expanded.display());
            warnings.push(format!("{option}={from}: `~/` is expanded to {to}"));
            *path = expanded;
        }
    }
}
