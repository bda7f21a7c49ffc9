//! Describes a campaign before it runs: points, time, erased data, missing requirements, and limits of its design.

use super::card_finder::{CardFinder, CardSearch};
use super::estimate::{self, words};
use super::file::{PointOrder, RepeatRule};
use super::journal::CampaignProgress;
use super::prepared_target;
use super::spec::{Campaign, Card, CardLocation, LayerKind};
use hakaru_device::Roots;
use hakaru_device::guard;
use hakaru_model::campaign::{PlanNote, Weakness};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::Job;
use hakaru_model::lint::{LintWarning, Severity};
use hakaru_model::units::Bytes;
use hakaru_report::text;
use std::fmt::Write;
use std::time::Duration;

/// Returns the maximum remaining seconds of a campaign, with the sizes of the cards that are present.
pub fn seconds_left(campaign: &Campaign, journal: &CampaignProgress, roots: &Roots) -> f64 {
    estimate::left(campaign, journal, |card| {
        size_of(campaign, journal, roots, card)
    })
}

/// Returns the size of a card that is present.
fn size_of(
    campaign: &Campaign,
    journal: &CampaignProgress,
    roots: &Roots,
    card: usize,
) -> Option<Bytes> {
    let bench = CardFinder {
        campaign,
        journal,
        roots,
    };
    match bench.look(&campaign.cards[card]) {
        CardSearch::Found(found) => found.disk?.size(roots),
        CardSearch::NotThere(_) => None,
    }
}

/// Describes the requirements of an alternating card order; `None` if cards do not alternate.
fn turns_words(campaign: &Campaign) -> Option<String> {
    let cards = campaign.wanted_cards().count();
    if !campaign.card_order.takes_turns() || cards < 2 {
        return None;
    }
    let name = campaign.card_order.name();
    let makes = campaign
        .wanted_layers()
        .any(|layer| matches!(campaign.layers[layer].through, LayerKind::Fs(_)));
    let several = campaign.wanted_layers().nth(1).is_some();
    let prepared = if campaign.preparation.each_run_anew() {
        " Each card is prepared before each of its runs."
    } else if campaign.order == PointOrder::Shuffled && several && makes {
        " Each card is prepared when its layer changes, and stays mounted in between."
    } else if makes {
        " Each card is prepared once per layer, and stays mounted during the runs of the other \
        cards."
    } else {
        ""
    };
    let shares = " Directories on one file system share its free space equally.";
    let folders = campaign
        .wanted_cards()
        .filter(|&card| matches!(campaign.cards[card].seat, CardLocation::Folder(_)))
        .count();
    let shares = if folders > 1 { shares } else { "" };
    Some(format!(
        "Cards take turns, one run each (card-order = \"{name}\"): all {cards} must be present at \
        the same time from the first run to the last.{prepared}{shares}"
    ))
}

/// Returns the plan of a campaign as text.
pub fn plan(campaign: &Campaign, journal: &CampaignProgress, roots: &Roots) -> String {
    let mut out = format!("{} (stored as {})\n", campaign.name, campaign.id);
    if !campaign.about.is_empty() {
        let _ = writeln!(out, "{}", campaign.about);
    }
    let wanted = [
        (
            "card",
            campaign.wanted_cards().count(),
            campaign.cards.len(),
        ),
        (
            "layer",
            campaign.wanted_layers().count(),
            campaign.layers.len(),
        ),
        (
            "workload",
            campaign.wanted_workloads().count(),
            campaign.workloads.len(),
        ),
    ];
    let cells = wanted.map(|(what, n, all)| {
        if n < all {
            format!("{n} of {}", counted(all, what))
        } else {
            counted(n, what)
        }
    });
    let _ = writeln!(
        out,
        "\n{}, each point {}.",
        cells.join(", "),
        estimate::repeats_in_words(campaign.repeats)
    );
    let done = journal.done_of(campaign);
    let _ = writeln!(out, "{} runs at most, {done} stored.", campaign.count());
    if journal.other() > 0 {
        let _ = writeln!(
            out,
            "{} stored runs do not count: they were measured with different settings.",
            journal.other()
        );
    }
    out.push('\n');
    let mut total = 0.0;
    for (index, card) in campaign
        .wanted_cards()
        .map(|index| (index, &campaign.cards[index]))
    {
        total += card_plan(&mut out, campaign, index, card, journal, roots);
    }
    for workload in campaign
        .wanted_workloads()
        .map(|workload| &campaign.workloads[workload])
    {
        let what: Vec<String> = workload
            .scenario
            .phases
            .iter()
            .flat_map(|p| &p.jobs)
            .map(job_words)
            .collect();
        let _ = writeln!(out, "  {:<18} {}", workload.name, what.join("; "));
    }
    if let Some(words) = turns_words(campaign) {
        let _ = writeln!(out, "\n{words}");
    }
    if let Some((card, layer)) = campaign.rechecked() {
        let size_of = |card: usize| size_of(campaign, journal, roots, card);
        let seconds = estimate::recheck_seconds(campaign, journal, size_of);
        total += seconds;
        let time = words(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        let (name, through) = (&campaign.cards[card].label, &campaign.layers[layer].name);
        let runs = counted(campaign.recheck_points().len(), "more run");
        let writes = estimate::recheck_bytes(campaign, size_of(card));
        let again = match campaign.cards[card].seat {
            CardLocation::Reader { .. } => {
                " If cards are swapped by hand, insert it again for that."
            }
            CardLocation::Folder(_) | CardLocation::Sim(_) => "",
        };
        let _ = writeln!(
            out,
            "\nRecheck: {name} is measured again through {through} at the end: {runs}, about {time}, writing \
             about {writes} to it.{again}"
        );
    }
    let _ = writeln!(
        out,
        "\nAbout {} in total.",
        words(Duration::try_from_secs_f64(total).unwrap_or_default())
    );
    for trouble in weaknesses(campaign) {
        let _ = writeln!(out, "! {}", text::plan_note(&trouble));
    }
    out
}

fn counted(count: usize, thing: &str) -> String {
    if count == 1 {
        format!("1 {thing}")
    } else {
        format!("{count} {thing}s")
    }
}

/// Writes the plan of one card: location, layers, time, lost data. Returns its seconds.
fn card_plan(
    out: &mut String,
    campaign: &Campaign,
    index: usize,
    card: &Card,
    journal: &CampaignProgress,
    roots: &Roots,
) -> f64 {
    let bench = CardFinder {
        campaign,
        journal,
        roots,
    };
    let (place, size, node) = match (&card.seat, bench.look(card)) {
        (CardLocation::Sim(_), _) => ("simulated".to_owned(), None, None),
        (CardLocation::Folder(folder), CardSearch::Found(_)) => {
            (format!("the folder {}", folder.display()), None, None)
        }
        (_, CardSearch::Found(found)) => {
            let node = found.disk.map(|disk| disk.node);
            let candidate = node
                .as_ref()
                .and_then(|node| guard::passive(node, roots).ok());
            let size =
                candidate.and_then(|c| c.identity().device.known().map(|device| device.size));
            let at = node
                .as_ref()
                .map(|node| node.display().to_string())
                .unwrap_or_default();
            (format!("at {at}, {}", size.unwrap_or_default()), size, node)
        }
        (_, CardSearch::NotThere(why)) => (format!("to be inserted ({why})"), None, None),
    };
    let layers: Vec<&str> = campaign
        .layers_of(index)
        .map(|layer| campaign.layers[layer].name.as_str())
        .collect();
    let seconds = estimate::card_seconds(campaign, index, journal, size);
    let time = words(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    let _ = writeln!(
        out,
        "  {:<18} {place}; {}; about {time}",
        card.label,
        layers.join(", ")
    );
    if campaign.erases(index) {
        out.push_str(&losses(node.as_deref()));
    }
    seconds
}

/// Describes the content of a card that will be erased.
fn losses(node: Option<&std::path::Path>) -> String {
    let Some(node) = node else {
        return format!("{:21}WILL BE ERASED\n", "");
    };
    let found = guard::what_would_be_lost(node);
    let mut out = format!("{:21}WILL BE ERASED: ", "");
    if found.is_empty() {
        out.push_str("no known content\n");
        return out;
    }
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    out + &lines.join("; ") + "\n"
}

/// Describes a job: `sequential write, 1 MiB, 60 s after 2 s, on 16 GiB`.
fn job_words(job: &Job) -> String {
    let order = if job.access.random {
        "random"
    } else {
        "sequential"
    };
    let op = match (job.access.mix.read, job.access.mix.write) {
        (100, _) => "read".to_owned(),
        (_, 100) => "write".to_owned(),
        (read, _) => format!("mix ({read} % reads)"),
    };
    let block = job.blocks_used().map(|b| b.max()).max().unwrap_or(Bytes(0));
    let mut parts = vec![format!("{order} {op}, {block}")];
    if job.numjobs > 1 {
        parts.push(format!("{} workers", job.numjobs));
    }
    if let Some(runtime) = job.timing.runtime {
        let lead = if job.timing.ramp_time.0 > 0 {
            format!(" after {}", job.timing.ramp_time)
        } else {
            String::new()
        };
        parts.push(format!(
            "{}{runtime}{lead}",
            if job.timing.time_based {
                ""
            } else {
                "at most "
            }
        ));
    }
    if let Some(hakaru_model::job::SizeSpec::Bytes(size)) = job.extent.size {
        parts.push(format!("on {size}"));
    }
    parts.join(", ")
}

/// Returns missing requirements, and what the design cannot prove.
pub fn weaknesses(campaign: &Campaign) -> Vec<PlanNote> {
    let mut all = Vec::new();
    let erases = campaign.wanted_cards().any(|card| campaign.erases(card));
    if (erases || campaign.preparation.drop_caches) && !rustix::process::geteuid().is_root() {
        all.push(PlanNote::NeedsRoot);
    }
    for layer in campaign
        .wanted_layers()
        .map(|layer| &campaign.layers[layer])
    {
        if let LayerKind::Fs(spec) = &layer.through {
            let lacking = prepared_target::lacking(spec, &Roots::live());
            all.extend(lacking.into_iter().map(|because| PlanNote::Unavailable {
                layer: layer.name.clone(),
                because,
            }));
        }
    }
    let real = campaign
        .wanted_cards()
        .filter(|&card| !matches!(campaign.cards[card].seat, CardLocation::Sim(_)))
        .count();
    if real > 1 && !campaign.card_order.takes_turns() && !campaign.recheck {
        all.push(PlanNote::Weakness(Weakness::CardsInSequence));
    }
    if let RepeatRule::Times(runs @ 1..=4) = campaign.repeats {
        all.push(PlanNote::Caveat(Caveat::FewRuns { runs }));
    }
    for workload in campaign
        .wanted_workloads()
        .map(|workload| &campaign.workloads[workload])
    {
        let remarks = hakaru_analysis::lint(&workload.scenario, None);
        let mut warnings: Vec<LintWarning> =
            remarks.into_iter().map(|remark| remark.slip).collect();
        warnings.retain(|warning| warning.weight() >= Severity::Weak);
        warnings.dedup();
        all.extend(warnings.into_iter().map(|warning| PlanNote::Lint {
            workload: workload.name.clone(),
            warning,
        }));
    }
    all
}
