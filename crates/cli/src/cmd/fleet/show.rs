//! `hakaru fleet status`, `devices`, `stop` and `logs`.

use crate::cmd::{json, print};
use crate::exit::Exit;
use anyhow::Result;
use hakaru_fleet::directory::FleetDirectory;
use hakaru_fleet::message::AnnouncedDevice;
use hakaru_fleet::operator::{self, HostState, JobState};
use hakaru_model::units::Bytes;
use hakaru_report::{columns_of, padded, plain};
use serde::Serialize;

/// Arguments of `hakaru fleet status` and `devices`.
#[derive(Debug, clap::Args)]
pub(super) struct FleetJsonArgs {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `hakaru fleet stop`.
#[derive(Debug, clap::Args)]
pub(super) struct FleetStopArgs {
    /// ID of the campaign; all campaigns without it
    #[arg(value_name = "CAMPAIGN")]
    campaign: Option<String>,
}

/// Arguments of `hakaru fleet logs`.
#[derive(Debug, clap::Args)]
pub(super) struct FleetLogsArgs {
    /// Name of the host; all hosts without it
    #[arg(value_name = "HOST")]
    host: Option<String>,
    /// Number of lines
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    lines: usize,
}

/// Output of `hakaru fleet status --json` and `hakaru fleet devices --json`.
#[derive(Serialize)]
struct FleetJson<'a> {
    hosts: Vec<HostJson<'a>>,
    jobs: Vec<FleetJobJson<'a>>,
}

#[derive(Serialize)]
struct HostJson<'a> {
    name: &'a str,
    present: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    announced: Option<&'a hakaru_fleet::message::HostHello>,
}

#[derive(Serialize)]
struct FleetJobJson<'a> {
    id: &'a str,
    campaign: &'a str,
    host: &'a str,
    cards: &'a [String],
    received: bool,
}

impl FleetJson<'_> {
    fn of<'a>(hosts: &'a [HostState], jobs: &'a [JobState]) -> FleetJson<'a> {
        let host = |of: &'a HostState| HostJson {
            name: &of.name,
            present: of.present,
            announced: of.hello.as_ref(),
        };
        let job = |of: &'a JobState| FleetJobJson {
            id: &of.id,
            campaign: &of.campaign,
            host: &of.host,
            cards: &of.cards,
            received: of.received,
        };
        FleetJson {
            hosts: hosts.iter().map(host).collect(),
            jobs: jobs.iter().map(job).collect(),
        }
    }
}

/// Shows hosts and jobs.
pub(super) fn status(fleet: &FleetDirectory, args: &FleetJsonArgs) -> Result<Exit> {
    let (hosts, jobs) = (operator::hosts(fleet)?, operator::status(fleet)?);
    if args.json {
        json::print(json::FLEET, &FleetJson::of(&hosts, &jobs))?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    if hosts.is_empty() {
        text += &both!(
            "no host is enrolled; help: hakaru fleet enroll USER@HOST\n",
            "登録されたホストはありません; help: hakaru fleet enroll USER@HOST\n"
        );
    }
    let rows: Vec<Vec<String>> = hosts.iter().map(host_row).collect();
    text += &table(&rows);
    for job in &jobs {
        let cards = plain(&job.cards.join(", "));
        let (host, campaign) = (&job.host, plain(&job.campaign));
        text += &match job.received {
            true => both!(
                "{host} measures {campaign}: {cards}\n",
                "{host}が{campaign}を測定中: {cards}\n"
            ),
            false => both!(
                "{campaign} waits for {host}: {cards}\n",
                "{campaign}が{host}を待機中: {cards}\n"
            ),
        };
    }
    print(&text)?;
    Ok(Exit::Ok)
}

fn host_row(host: &HostState) -> Vec<String> {
    let Some(hello) = &host.hello else {
        return vec![host.name.clone(), both!("never seen", "接続なし")];
    };
    let state = match (host.present, hello.measuring.is_empty()) {
        (false, _) => both!("not reachable", "応答なし"),
        (true, true) => both!("idle", "待機中"),
        (true, false) => both!("measuring", "測定中"),
    };
    let board = hello.board.as_deref().unwrap_or(&hello.hostname);
    let clock = hello.clock.map_or(String::new(), |clock| {
        let offset = clock.offset_ns as f64 / 1e9;
        match offset.abs() < 1.0 {
            true => String::new(),
            false => both!("clock off by {:.0} s", "時計のずれ{:.0}秒"; -offset),
        }
    });
    let kept = match hello.unacknowledged {
        0 => String::new(),
        1 => both!("1 result to send", "未送信の結果1件"),
        n => both!("{n} results to send", "未送信の結果{n}件"),
    };
    vec![
        host.name.clone(),
        state,
        plain(board),
        plain(&hello.kernel),
        format!("hakaru {}", plain(&hello.version)),
        kept,
        clock,
    ]
}

/// Aligns columns by their width on a terminal.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| columns_of(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| padded(cell, *width))
            .collect();
        text += &format!("{}\n", cells.join("  ").trim_end());
    }
    text
}

/// Shows the disks of all hosts.
pub(super) fn devices(fleet: &FleetDirectory, args: &FleetJsonArgs) -> Result<Exit> {
    let hosts = operator::hosts(fleet)?;
    if args.json {
        json::print(json::FLEET, &FleetJson::of(&hosts, &[]))?;
        return Ok(Exit::Ok);
    }
    let mut rows = Vec::new();
    for host in &hosts {
        let Some(hello) = &host.hello else { continue };
        rows.extend(hello.devices.iter().map(|device| device_row(host, device)));
    }
    match rows.is_empty() {
        true => print(&both!(
            "no host announces a disk\n",
            "ディスクのあるホストはありません\n"
        ))?,
        false => print(&table(&rows))?,
    }
    Ok(Exit::Ok)
}

fn device_row(host: &HostState, device: &AnnouncedDevice) -> Vec<String> {
    let id = device.ids.first().map(|id| plain(id));
    let why = device.refused.as_deref().map(plain);
    let last = match (why, id, host.present) {
        (Some(why), _, _) => why,
        (None, _, false) => both!("(host not reachable)", "（ホスト応答なし）"),
        (None, Some(id), true) => id,
        (None, None, true) => both!(
            "no ID of its own: cannot be erased by an agent",
            "固有のIDなし（エージェントは消去不可）"
        ),
    };
    let size = match device.size {
        0 => String::new(),
        size => Bytes(size).to_string(),
    };
    vec![
        host.name.clone(),
        plain(&device.node),
        plain(&device.name),
        size,
        last,
    ]
}

/// Stops jobs.
pub(super) fn stop(fleet: &FleetDirectory, args: &FleetStopArgs) -> Result<Exit> {
    let stopped = operator::stop(fleet, args.campaign.as_deref())?;
    let mut text = String::new();
    let mut exit = Exit::Ok;
    if stopped.is_empty() {
        text += &both!("nothing to stop\n", "停止するジョブはありません\n");
    }
    for (job, reached) in &stopped {
        let (host, campaign) = (&job.host, plain(&job.campaign));
        text += &match reached {
            true => both!(
                "{host}: {campaign} stopped\n",
                "{host}: {campaign}を停止しました\n"
            ),
            false => {
                exit = Exit::Failed;
                both!(
                    "{host} does not answer: it goes on with {campaign}; help: run this again when it is back\n",
                    "{host}から応答がないため、{campaign}の測定は続きます; help: 復帰後にもう一度実行してください\n"
                )
            }
        };
    }
    print(&text)?;
    Ok(exit)
}

/// Shows log lines.
pub(super) fn logs(fleet: &FleetDirectory, args: &FleetLogsArgs) -> Result<Exit> {
    operator::logs(fleet, args.host.as_deref(), args.lines, &mut |log| {
        let at = hakaru_report::time::utc(log.line.at_unix_ms);
        print(&format!("{at}  {}  {}\n", log.host, log.line.text))
    })?;
    Ok(Exit::Ok)
}
