//! `hakaru fleet run` and `collect`.

use super::first_campaign;
use super::reporter::CliFleetReporter;
use crate::cmd::campaign::{CampaignArg, CampaignOutput, Loaded};
use crate::cmd::{CountedNoun, counted, json, print};
use crate::exit::{Exit, usage};
use crate::status_reporter::ProgressMode;
use crate::{live, place, stop};
use anyhow::Result;
use hakaru_fleet::directory::FleetDirectory;
use hakaru_fleet::operator::{self, EraseQuestion, FleetResult, FleetRun};
use hakaru_model::units::Bytes;
use hakaru_report::plain;
use hakaru_store::live::LiveVerb;
use serde::Serialize;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;
use std::time::Duration;

const AFTER: &str = "Ctrl-C ends watching: the hosts go on, and their results are stored by the next `hakaru fleet run` of the same campaign. \
`hakaru fleet stop` stops them. Runs that are stored are not repeated.";

/// Arguments of `hakaru fleet run`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
#[command(mut_arg("campaign", |arg| arg.required(false).default_value(first_campaign::FILE)))]
pub(super) struct FleetRunArgs {
    #[command(flatten)]
    named: CampaignArg,
    /// Permit erasing these cards without a prompt: their own IDs (comma-separated), as `hakaru fleet devices` shows them
    #[arg(long, value_delimiter = ',', value_name = "ID")]
    erase: Vec<String>,
    /// Hours for which the permissions to erase are valid
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8760))]
    erase_valid: u32,
    /// Use hosts with another version of hakaru
    #[arg(long)]
    mixed_versions: bool,
    #[command(flatten)]
    output: CampaignOutput,
}

/// Output of `hakaru fleet run --json`.
#[derive(Serialize)]
struct FleetRunJson<'a> {
    campaign: &'a str,
    complete: bool,
    stored: u64,
    unfinished: u64,
    done: u64,
    of: u64,
    outstanding: u64,
    failures: &'a [(String, String)],
    skipped: &'a [(String, String)],
    duplicates: &'a [String],
    rejected: &'a [(String, String)],
}

/// Carries out a campaign on its hosts.
pub(super) fn main(fleet: &FleetDirectory, args: &FleetRunArgs, db: Option<&Path>) -> Result<Exit> {
    first_campaign::write_if_absent(fleet, &args.named.campaign)?;
    let mut store = place::open(db)?;
    let Loaded { campaign, asked } = args.named.load(&store)?;
    first_campaign::name_missing_hosts(fleet, &args.named.campaign, &campaign)?;
    if campaign.hosts.is_empty() {
        return Err(usage(both!(
            "the campaign {} names no hosts; help: add [[host]] with a name for each, and host = to its cards (docs/FLEET.md), \
             or use `hakaru campaign run`",
            "キャンペーン{}にホストがありません; help: [[host]]と各カードのhost =を追加するか（docs/FLEET.md）、hakaru campaign runを使ってください";
            campaign.name
        )));
    }
    store.keep_campaign(&campaign.id, &asked)?;
    let stop = stop::flag();
    let mode = args.output.mode();
    let live = live::begin(store.path(), LiveVerb::Campaign, &campaign.name);
    let mut reporter = CliFleetReporter::new(mode);
    let mut permit = |question: &EraseQuestion| is_permitted(&args.erase, question, mode);
    let ended = operator::run(FleetRun {
        directory: fleet,
        campaign: &campaign,
        asked: &asked,
        repeats: args.named.repeats(),
        store: &mut store,
        permit: &mut permit,
        valid: Duration::from_secs(u64::from(args.erase_valid) * 3600),
        mixed_versions: args.mixed_versions,
        stop,
        reporter: &mut reporter,
        live: live.clone(),
    });
    reporter.end();
    let ended = ended?;
    if !matches!(mode, ProgressMode::Quiet | ProgressMode::Json) || !ended.is_complete() {
        print_result(&ended, &args.named.campaign.display().to_string());
    }
    if args.output.json {
        json::print(json::FLEET_RUN, &json_of(&campaign.id, &ended))?;
    }
    let exit = match (ended.is_complete(), ended.outstanding > 0) {
        (true, _) => Exit::Ok,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Failed,
    };
    Ok(live::ended(live.as_ref(), exit))
}

fn json_of<'a>(campaign: &'a str, ended: &'a FleetResult) -> FleetRunJson<'a> {
    FleetRunJson {
        campaign,
        complete: ended.is_complete(),
        stored: ended.stored,
        unfinished: ended.unfinished,
        done: ended.done,
        of: ended.of,
        outstanding: ended.outstanding,
        failures: &ended.failures,
        skipped: &ended.skipped,
        duplicates: &ended.duplicates,
        rejected: &ended.rejected,
    }
}

/// Whether a card may be erased: its ID was given, or is typed now.
fn is_permitted(given: &[String], question: &EraseQuestion, mode: ProgressMode) -> bool {
    let EraseQuestion {
        card,
        host,
        id,
        name,
        size,
    } = question;
    let is_it = |text: &str| text.trim().eq_ignore_ascii_case(id);
    if given.iter().any(|given| is_it(given)) {
        return true;
    }
    let asks = std::io::stdin().is_terminal() && mode != ProgressMode::Json;
    if !asks {
        return false;
    }
    let name = name.as_deref().map(plain).unwrap_or_default();
    let size = size
        .map(|size| format!(" {}", Bytes(size)))
        .unwrap_or_default();
    let id = plain(id);
    anstream::eprintln!(
        "{}",
        both!(
            "{card} on {host}: everything on {name}{size} is lost. Type its ID {id} to permit erasing it, or press Enter to skip it:",
            "{host}の{card}: {name}{size}の内容はすべて失われます。消去を許可するにはID {id}を入力してください（スキップする場合はEnter）:"
        )
    );
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.is_ok() && is_it(&line)
}

fn print_result(ended: &FleetResult, named: &str) {
    let say = |line: String| anstream::eprintln!("{}", plain(&line));
    for (card, why) in &ended.skipped {
        say(both!(
            "! {card} skipped: {why}",
            "! {card}をスキップしました（{why}）"
        ));
    }
    for (point, why) in &ended.failures {
        say(format!("! {point}: {why}"));
    }
    if !ended.duplicates.is_empty() {
        let runs = counted(ended.duplicates.len(), CountedNoun::Run);
        let ids = ended.duplicates.join(", ");
        say(both!(
            "! measured twice: {runs} repeat a point that is stored; the first run of each counts ({ids})",
            "! {runs}は保存済みの測定点の重複です（それぞれ最初の測定だけを数えます: {ids}）"
        ));
    }
    if ended.unfinished > 0 {
        let runs = counted(ended.unfinished as usize, CountedNoun::Run);
        say(both!(
            "! {runs} did not complete and do not count; the time and the writes were spent",
            "! {runs}は完了しなかったため数えません（時間と書き込みは消費しています）"
        ));
    }
    let (measured, done, of) = (
        counted(ended.stored as usize, CountedNoun::Run),
        ended.done,
        ended.of,
    );
    let again = format!("hakaru fleet run {named}");
    let end = match (ended.is_complete(), ended.outstanding) {
        (true, _) => both!("complete", "完了しました"),
        (false, 0) => both!(
            "incomplete; continue with `{again}`",
            "未完了です。再開: {again}"
        ),
        (false, jobs) => {
            let jobs = counted(jobs as usize, CountedNoun::Job);
            both!(
                "{jobs} will go on without this command; see `hakaru fleet status`, and store the results with `{again}`",
                "{jobs}は続いています。状態: hakaru fleet status、結果の保存: {again}"
            )
        }
    };
    say(both!(
        "{measured} stored, {done} of {of} in total: {end}",
        "今回は{measured}、合計{done}/{of}回。{end}"
    ));
    if done > 0 {
        say(both!(
            "Write the report with `hakaru campaign report {named}`",
            "レポート: hakaru campaign report {named}"
        ));
    }
}

/// Stores the results that the server holds.
pub(super) fn collect(fleet: &FleetDirectory, db: Option<&Path>) -> Result<Exit> {
    let mut store = place::open(db)?;
    let stored = operator::collect(fleet, &mut store)?;
    let runs = counted(stored as usize, CountedNoun::Run);
    print(&both!("{runs} stored\n", "{runs}を保存しました\n"))?;
    Ok(Exit::Ok)
}
