//! `hakaru predict`: predicts jobs on a card by its anatomy, before they are measured, and compares with a run.

use super::{json, print, width};
use crate::exit::{Exit, NamedPath, usage};
use crate::{place, stop};
use anyhow::Result;
use hakaru_campaign::anatomy::{PredictionBasis, compare_with, predict_scenario};
use hakaru_campaign::suite::{Suite, SuiteLength, SuiteWorkload};
use hakaru_model::anatomy_record::{AnatomyRecord, PredictedPhase};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::{IoEngine, Scenario, Target};
use hakaru_model::record::RunRecord;
use hakaru_store::Store;
use serde::Serialize;
use std::path::{Path, PathBuf};

const AFTER: &str = "\
MODEL is a stored anatomy (label, id, unique prefix, or `latest`), or a JSON file: an anatomy as `hakaru anatomy --json` prints it, or a device model as --export writes it. A device model has no intervals of its own.

Examples:
  hakaru predict latest jobs.fio
  hakaru predict card.json --suite
  hakaru predict mycard --compare latest

Exit codes: 0 predicted (and every figure measured inside of its interval); 1 a figure was measured outside; 2 usage error, or a named anatomy, file or run does not exist.";

/// Arguments of `hakaru predict`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct PredictArgs {
    /// Stored anatomy, or JSON file with an anatomy or a device model
    model: String,
    /// fio job file whose jobs are predicted
    #[arg(required_unless_present_any = ["suite", "compare"])]
    job: Option<PathBuf>,
    /// Predict the standard suite of `bench`
    #[arg(long, conflicts_with = "job")]
    suite: bool,
    /// Predict the workloads of this stored run or series, and compare with what was measured
    #[arg(long, value_name = "RUN", conflicts_with_all = ["job", "suite"])]
    compare: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Write the predictions as an HTML page to FILE; `-` for standard output
    #[arg(long, short, value_name = "FILE", value_parser = place::page_path())]
    output: Option<PathBuf>,
}

/// The card of a prediction.
enum KnownCard {
    Anatomy(Box<AnatomyRecord>),
    Model(Box<DeviceModel>),
}

impl KnownCard {
    fn basis(&self) -> PredictionBasis<'_> {
        match self {
            KnownCard::Anatomy(record) => PredictionBasis::Anatomy(&record.anatomy),
            KnownCard::Model(model) => PredictionBasis::Model(model),
        }
    }

    fn name(&self) -> String {
        match self {
            KnownCard::Anatomy(record) => record.target.display_name(),
            KnownCard::Model(model) => model.name.clone(),
        }
    }
}

/// Output of `hakaru predict --json`.
#[derive(Serialize)]
struct PredictionsJson<'a> {
    card: String,
    scenario: &'a str,
    phases: &'a [PredictedPhase],
}

/// Predicts and prints.
pub(crate) fn main(args: &PredictArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read(db)?;
    let card = card(&store, &args.model)?;
    let measured = match &args.compare {
        Some(name) => place::runs(&store, name, true)?,
        None => Vec::new(),
    };
    let scenario = scenario(args, &measured)?;
    let mut phases = predict_scenario(card.basis(), &scenario, stop::flag())?;
    if !measured.is_empty() {
        compare_with(&mut phases, &super::summarize(&store, &measured)?);
    }
    if args.json {
        let body = PredictionsJson {
            card: card.name(),
            scenario: &scenario.name,
            phases: &phases,
        };
        json::write(args.output.as_deref(), json::PREDICT, &body)?;
    } else if let Some(file) = &args.output {
        let page = hakaru_report::predictions_html(&card.name(), &phases);
        match place::is_stdout(Some(file)) {
            true => print(&page)?,
            false => place::write_page(file, page.as_bytes())?,
        }
    } else {
        print(&hakaru_report::predictions_terminal(
            &card.name(),
            &phases,
            width(),
            true,
        ))?;
    }
    Ok(match phases.iter().all(PredictedPhase::holds) {
        true => Exit::Ok,
        false => Exit::Failed,
    })
}

/// Finds the anatomy or device model with a name.
fn card(store: &Store, name: &str) -> Result<KnownCard> {
    let path = Path::new(name);
    if !path.is_file() {
        let found = hakaru_results::lookup::anatomy(store, name)?;
        return Ok(KnownCard::Anatomy(Box::new(found)));
    }
    let content = std::fs::read_to_string(path)
        .named(|| both!("cannot read {}", "{}を読み込めません"; path.display()))?;
    match hakaru_model::json::from_str::<AnatomyRecord>(&content) {
        Ok(record) => Ok(KnownCard::Anatomy(Box::new(record))),
        Err(_) => Ok(KnownCard::Model(Box::new(super::bench::read_device_model(
            path,
        )?))),
    }
}

fn scenario(args: &PredictArgs, measured: &[RunRecord]) -> Result<Scenario> {
    if let Some(run) = measured.first() {
        return Ok(run.scenario.clone());
    }
    let Some(file) = args.job.as_deref().filter(|_| !args.suite) else {
        let suite = Suite {
            pace: SuiteLength::Standard,
            workloads: SuiteWorkload::ALL.to_vec(),
            size: SuiteLength::Standard.size(),
            seed: 1,
            ioengine: IoEngine::Sim,
        };
        return Ok(suite.scenario(&Target::Nothing));
    };
    let words = [file.as_os_str().to_owned()];
    let invocation = super::fio::parse(&words).map_err(|error| {
        usage(both!("{} is not a fio job file: {error}", "{}はfioのジョブファイルではありません（{error}）"; file.display()))
    })?;
    let mut scenario = invocation.scenario;
    if scenario.phases.is_empty() {
        return Err(usage(
            both!("{} has no jobs", "{}にはジョブがありません"; file.display()),
        ));
    }
    scenario.name = file.display().to_string();
    Ok(scenario)
}
