//! `hakaru campaign run`: runs or resumes a campaign.

use super::arg::{CampaignArg, CampaignOutput};
use super::load::Loaded;
use super::operator::CliOperator;
use crate::cmd::{CountedNoun, counted, json};
use crate::exit::{Exit, usage};
use crate::status_reporter::ProgressMode;
use crate::{live, place, stop};
use anyhow::Result;
use hakaru_campaign::campaign::runner::{self, CampaignOutcome, CampaignResult, CampaignRun};
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_campaign::campaign::{check, estimate};
use hakaru_device::Roots;
use hakaru_results::campaign::documents::journal;
use hakaru_store::Store;
use hakaru_store::live::LiveVerb;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

const AFTER: &str = "On a terminal, hakaru asks for the next card, recognizes known cards by their identity, and asks once per card for permission to erase it. Without a terminal, --erase gives the permission, and absent cards are skipped.\n\
Ctrl-C ends the current run and restores the storage; pressed twice, it ends at once, and the next run (or `hakaru recover`) restores the storage. Stored runs are not repeated.";

/// Arguments of `hakaru campaign run`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct CampaignRunArgs {
    #[command(flatten)]
    named: CampaignArg,
    /// Permit erasing these cards without a prompt: serial numbers, CIDs or by-id names (comma-separated)
    #[arg(long, value_delimiter = ',', value_name = "ID")]
    erase: Vec<String>,
    /// Show what would be done, and exit
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    output: CampaignOutput,
}

/// Output of `hakaru campaign run --json`.
#[derive(Serialize)]
struct CampaignRunJson<'a> {
    campaign: &'a str,
    end: &'static str,
    measured: u64,
    stored: u64,
    failures: Vec<FailureJson<'a>>,
    skipped: Vec<SkippedJson<'a>>,
}

#[derive(Serialize)]
struct FailureJson<'a> {
    point: &'a str,
    because: &'a str,
}

#[derive(Serialize)]
struct SkippedJson<'a> {
    card: &'a str,
    because: &'a str,
}

impl CampaignRunJson<'_> {
    fn of<'a>(campaign: &'a Campaign, ended: &'a CampaignResult) -> CampaignRunJson<'a> {
        let failure = |(point, because): &'a (String, String)| FailureJson { point, because };
        let skipped = |(card, because): &'a (String, String)| SkippedJson { card, because };
        CampaignRunJson {
            campaign: &campaign.id,
            end: match ended.end {
                CampaignOutcome::Complete => "complete",
                CampaignOutcome::Incomplete => "incomplete",
                CampaignOutcome::Stopped => "stopped",
                CampaignOutcome::TimeUp => "time_up",
            },
            measured: ended.stored,
            stored: ended.done,
            failures: ended.failures.iter().map(failure).collect(),
            skipped: ended.skipped.iter().map(skipped).collect(),
        }
    }
}

/// Runs or resumes the campaign.
pub(super) fn main(args: &CampaignRunArgs, db: Option<&Path>) -> Result<Exit> {
    if args.dry_run {
        return super::status::check(&args.named, args.output.json, db);
    }
    let mut store = place::open(db)?;
    let Loaded { campaign, asked } = args.named.load(&store)?;
    if let Some(host) = campaign.hosts.first() {
        let (named, host) = (args.named.campaign.display(), &host.name);
        return Err(usage(both!(
            "the campaign names hosts ({host}, …), so agents measure it; help: hakaru fleet run {named}",
            "このキャンペーンにはホスト（{host}など）があり、エージェントが測定します; help: hakaru fleet run {named}"
        )));
    }
    store.keep_campaign(&campaign.id, &asked)?;
    let (state, stop) = (crate::cmd::recover::state_directory()?, stop::flag());
    let mode = args.output.mode();
    let live = live::begin(store.path(), LiveVerb::Campaign, &campaign.name);
    let mut operator = CliOperator::new(&campaign, &args.erase, mode, stop, live.clone());
    let for_people = !matches!(mode, ProgressMode::Quiet | ProgressMode::Json);
    if for_people {
        announce(&campaign, &store)?;
    }
    let ended = runner::run(CampaignRun {
        campaign: &campaign,
        store: &mut store,
        state: &state,
        stop,
        operator: &mut operator,
        assignment: None,
    });
    operator.end();
    let ended = ended?;
    let failed = ended.end == CampaignOutcome::Incomplete;
    if for_people || failed && mode != ProgressMode::Json {
        print_result(&ended, args);
    }
    if args.output.json {
        json::print(json::CAMPAIGN_RUN, &CampaignRunJson::of(&campaign, &ended))?;
    }
    let only_refused = operator.refused && ended.failures.is_empty();
    let exit = match ended.end {
        CampaignOutcome::Complete | CampaignOutcome::TimeUp => Exit::Ok,
        CampaignOutcome::Incomplete if only_refused => Exit::Refused,
        CampaignOutcome::Incomplete => Exit::Failed,
        CampaignOutcome::Stopped => Exit::Interrupted,
    };
    Ok(live::ended(live.as_ref(), exit))
}

/// Prints the progress so far, the time left, and the weaknesses of the design.
fn announce(campaign: &Campaign, store: &Store) -> Result<()> {
    let journal = journal(campaign, store)?;
    let left = check::seconds_left(campaign, &journal, &Roots::live());
    let left = Duration::try_from_secs_f64(left).unwrap_or_default();
    let time = match left.as_secs() {
        0 => String::new(),
        _ => both!(", about {} left", "、残り約{}"; estimate::words(left)),
    };
    let (done, all) = (journal.done_of(campaign), campaign.count());
    anstream::eprintln!(
        "{}",
        both!("{}: {done} of {all} runs are stored{time}", "{}: {all}回中{done}回を保存済み{time}"; campaign.name)
    );
    for note in check::weaknesses(campaign) {
        anstream::eprintln!("! {}", hakaru_report::text::plan_note(&note));
    }
    Ok(())
}

/// Prints the result and the next command to type.
fn print_result(ended: &CampaignResult, args: &CampaignRunArgs) {
    let named = args.named.campaign.display();
    let again = both!(
        "`hakaru campaign run {named}`",
        "hakaru campaign run {named}"
    );
    for (label, why) in &ended.skipped {
        anstream::eprintln!(
            "{}",
            both!(
                "! {label} skipped: {why}",
                "! {label}をスキップしました（{why}）"
            )
        );
    }
    let end = match ended.end {
        CampaignOutcome::Complete => both!("complete", "完了しました"),
        CampaignOutcome::Incomplete if ended.failures.is_empty() => {
            both!(
                "incomplete; continue with {again}",
                "未完了です。再開: {again}"
            )
        }
        CampaignOutcome::Incomplete => {
            let failed = counted(ended.failures.len(), CountedNoun::Run);
            both!(
                "incomplete: {failed} failed; retry with {again}",
                "未完了です（{failed}が失敗）。再試行: {again}"
            )
        }
        CampaignOutcome::Stopped => both!(
            "stopped; continue with {again}",
            "中断しました。再開: {again}"
        ),
        CampaignOutcome::TimeUp => both!(
            "time limit reached; continue with {again}",
            "制限時間に達しました。再開: {again}"
        ),
    };
    let (measured, done) = (counted(ended.stored as usize, CountedNoun::Run), ended.done);
    anstream::eprintln!(
        "{}",
        both!(
            "{measured} measured, {done} in total: {end}",
            "今回は{measured}、合計{done}回。{end}"
        )
    );
    if done > 0 {
        anstream::eprintln!(
            "{}",
            both!(
                "Write the report with `hakaru campaign report {named}`",
                "レポート: hakaru campaign report {named}"
            )
        );
    }
}
