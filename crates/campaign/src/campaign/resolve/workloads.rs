//! Resolves the workloads of a campaign file: workloads of the suite, custom jobs, and fio job files.

use super::super::digest::AuthoredEntry;
use super::super::file::{CampaignFile, FileError, SuitePace, WorkloadEntry};
use super::super::job;
use super::super::spec::CampaignWorkload;
use super::entries::{ResolveContext, authored, not_empty, unique};
use crate::suite::{Suite, SuiteLength, SuiteWorkload};
use hakaru_model::job::{IoEngine, Job, Phase, Scenario, Target};
use hakaru_report::both;
use std::ops::Range;
use std::path::PathBuf;
use toml::Spanned;

/// Returns the workloads of the file; at least one.
pub(super) fn workloads(
    file: &CampaignFile,
    written: &toml::Table,
    around: &ResolveContext<'_>,
) -> Result<Vec<CampaignWorkload>, FileError> {
    let mut all = Vec::new();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (index, entry) in file.workload.iter().enumerate() {
        let authored = authored(written, "workload", index, &["name", "suite"]);
        all.extend(workload(entry, authored, around)?);
        spans.resize(all.len(), entry.span());
    }
    let names = all.iter().map(|workload| workload.name.as_str());
    unique(names.zip(spans.into_iter().map(Some)), |name| {
        both!(
            "duplicate workload \"{name}\"; help: rename one of them",
            "ワークロード「{name}」が重複しています; help: 一方の名前を変えてください"
        )
    })?;
    if all.is_empty() {
        let message = both!(
            "no [[workload]]; help: `suite = [\"all\"]` is the standard suite",
            "[[workload]]がありません; help: 標準の組み合わせはsuite = [\"all\"]です"
        );
        return Err(FileError::at(&file.name, message));
    }
    Ok(all)
}

/// Returns the workloads of an entry: several if it names several of the suite.
fn workload(
    entry: &Spanned<WorkloadEntry>,
    authored: AuthoredEntry,
    around: &ResolveContext<'_>,
) -> Result<Vec<CampaignWorkload>, FileError> {
    let of = entry.get_ref();
    not_empty(of.name.as_ref(), "name")?;
    let suite = Some(&of.suite).filter(|names| !names.is_empty());
    match (suite, &of.rw, &of.fio, &of.fio_text) {
        (Some(_), None, None, None) => suite_workloads(of, &authored),
        (None, Some(rw), None, None) => Ok(vec![custom_workload(entry, rw, authored)?]),
        (None, None, Some(_), None) | (None, None, None, Some(_)) => {
            only_fio(entry)?;
            Ok(vec![fio_workload(of, authored, around)?])
        }
        _ => {
            let message = both!(
                "a workload needs one of suite, rw, fio or fio-text",
                "ワークロードにはsuite、rw、fio、fio-textのいずれか1つが必要です"
            );
            Err(FileError::at(entry, message))
        }
    }
}

/// Returns the workload of a custom job.
fn custom_workload(
    entry: &Spanned<WorkloadEntry>,
    rw: &Spanned<String>,
    authored: AuthoredEntry,
) -> Result<CampaignWorkload, FileError> {
    let name = entry
        .get_ref()
        .name
        .as_ref()
        .unwrap_or(rw)
        .get_ref()
        .clone();
    let job = job::job(&name, rw, entry.get_ref())?;
    if job.extent.size.is_none() {
        let message = both!(
            "a workload with rw needs a size, such as size = \"1 GiB\"",
            "rwのワークロードにはsizeが必要です（例: size = \"1 GiB\"）"
        );
        return Err(FileError::at(entry, message));
    }
    Ok(CampaignWorkload {
        scenario: single(&name, job),
        name,
        authored,
    })
}

/// Returns the workload of a fio job file, or of the text of one.
fn fio_workload(
    entry: &WorkloadEntry,
    authored: AuthoredEntry,
    around: &ResolveContext<'_>,
) -> Result<CampaignWorkload, FileError> {
    let (default, span, content) = fio_text(entry, around)?;
    let name = entry
        .name
        .as_ref()
        .map_or(default, |name| name.get_ref().clone());
    let wrong = |message| FileError {
        message,
        span: Some(span.clone()),
    };
    let scenario = (around.fio)(&name, &content).map_err(wrong)?;
    no_replay(&scenario).map_err(wrong)?;
    Ok(CampaignWorkload {
        scenario: named(&name, scenario),
        name,
        authored: authored.with_content(&content),
    })
}

/// Returns the default name of a fio job, the position of its text in the campaign file, and the text.
fn fio_text(
    entry: &WorkloadEntry,
    around: &ResolveContext<'_>,
) -> Result<(String, Range<usize>, String), FileError> {
    if let Some(path) = &entry.fio {
        let stem = path.get_ref().file_stem().unwrap_or_default();
        let content = (around.read_file)(path.get_ref());
        let content = content.map_err(|message| FileError::at(path, message))?;
        return Ok((stem.to_string_lossy().into_owned(), path.span(), content));
    }
    let text = entry.fio_text.as_ref().expect("the entry has a fio job");
    Ok(("fio".to_owned(), text.span(), text.get_ref().clone()))
}

/// Rejects jobs that replay a log, because the log names its own files.
fn no_replay(scenario: &Scenario) -> Result<(), String> {
    let mut jobs = scenario.phases.iter().flat_map(|phase| &phase.jobs);
    match jobs.find(|job| job.replay.any()) {
        None => Ok(()),
        Some(job) => Err(both!(
            "job {} replays a log (read_iolog) that names its own files, but a campaign uses only \
            the card under test; help: remove the job, or replay the log with `hakaru fio`",
            "ジョブ{}が再生するログ（read_iolog）は独自のファイルを使いますが、キャンペーンでは測定対象のカードだけを\
            使います; help: ジョブを省くか、hakaru fioでログを再生してください";
            job.name
        )),
    }
}

/// Rejects keys next to a fio job file, because they would have no effect.
fn only_fio(entry: &Spanned<WorkloadEntry>) -> Result<(), FileError> {
    let of = entry.get_ref();
    let beside = [
        of.bs.is_some(),
        of.runtime.is_some(),
        of.iodepth.is_some(),
        of.numjobs.is_some(),
        of.size.is_some(),
    ];
    if beside.contains(&true) {
        return Err(FileError::at(
            entry,
            both!(
                "a workload with a fio job takes no other keys; help: keep only its name",
                "fioのジョブのワークロードに他のキーは指定できません; help: nameだけを残してください"
            ),
        ));
    }
    Ok(())
}

/// Returns workloads of the standard suite.
fn suite_workloads(
    entry: &WorkloadEntry,
    authored: &AuthoredEntry,
) -> Result<Vec<CampaignWorkload>, FileError> {
    let pace = match entry.pace.unwrap_or(SuitePace::Standard) {
        SuitePace::Quick => SuiteLength::Quick,
        SuitePace::Standard => SuiteLength::Standard,
    };
    let size = entry.size.map_or(pace.size(), |size| size.0);
    let workload = |workload: SuiteWorkload| {
        let suite = Suite {
            pace,
            workloads: vec![workload],
            size,
            seed: 1,
            ioengine: IoEngine::Psync,
        };
        suite_workload(workload, &suite, authored)
    };
    let chosen = entry.suite.iter().map(suite_names);
    let chosen = chosen.collect::<Result<Vec<_>, _>>()?.concat();
    Ok(chosen.into_iter().map(workload).collect())
}

/// Returns a workload of the suite. As in `bench`, all workloads share one fully written file.
fn suite_workload(
    workload: SuiteWorkload,
    suite: &Suite,
    authored: &AuthoredEntry,
) -> CampaignWorkload {
    let mut scenario = suite.scenario(&Target::Paths(vec![PathBuf::from("suite.data")]));
    let jobs = scenario.phases.iter_mut().flat_map(|phase| &mut phase.jobs);
    jobs.for_each(|job| job.files.overwrite = true);
    let name = workload.name().to_owned();
    CampaignWorkload {
        scenario: named(&name, scenario),
        authored: authored.with_content(&name),
        name,
    }
}

/// Returns the workloads of the suite with this name: one, or all.
fn suite_names(name: &Spanned<String>) -> Result<Vec<SuiteWorkload>, FileError> {
    match (
        name.get_ref().as_str(),
        SuiteWorkload::from_name(name.get_ref()),
    ) {
        ("all", _) => Ok(SuiteWorkload::ALL.to_vec()),
        (_, Some(workload)) => Ok(vec![workload]),
        (other, None) => {
            let known = SuiteWorkload::ALL.map(SuiteWorkload::name).join(", ");
            let message = both!(
                "the suite has no workload `{other}`: expected all, {known}",
                "標準の組み合わせにワークロード「{other}」はありません（all、{known}）"
            );
            Err(FileError::at(name, message))
        }
    }
}

fn single(name: &str, job: Job) -> Scenario {
    let phase = Phase {
        name: String::new(),
        jobs: vec![job],
    };
    let scenario = Scenario {
        name: String::new(),
        seed: 1,
        phases: vec![phase],
    };
    named(name, scenario)
}

/// Renames a scenario after its workload: a single phase gets the name, several phases get it as a prefix.
fn named(name: &str, mut scenario: Scenario) -> Scenario {
    scenario.name = name.to_owned();
    match &mut scenario.phases[..] {
        [only] => only.name = name.to_owned(),
        many => many
            .iter_mut()
            .for_each(|phase| phase.name = format!("{name}/{}", phase.name)),
    }
    scenario
}
