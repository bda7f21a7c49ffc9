//! Describes a campaign before it runs: points, time, erased data, missing requirements, and limits of its design.

use super::card_finder::{CardFinder, CardSearch};
use super::estimate::{self, counted, seconds_in_words};
use super::file::{PointOrder, RepeatRule};
use super::journal::CampaignProgress;
use super::prepared_target;
use super::spec::{Campaign, CampaignWorkload, CardLocation, Layer, LayerKind};
use hakaru_device::Roots;
use hakaru_device::guard;
use hakaru_model::campaign::{PlanNote, Weakness};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{Job, SizeSpec};
use hakaru_model::lint::{LintWarning, Severity};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_report::both;
use hakaru_report::text;
use std::fmt::Write;
use std::path::PathBuf;

/// Returns the maximum remaining seconds of a campaign, with the sizes of the cards that are present.
pub fn seconds_left(campaign: &Campaign, journal: &CampaignProgress, roots: &Roots) -> f64 {
    let finder = CardFinder {
        campaign,
        journal,
        roots,
    };
    estimate::left(campaign, journal, |card| size_of(&finder, card))
}

/// Returns the size of a card that is present.
fn size_of(finder: &CardFinder<'_>, card: usize) -> Option<Bytes> {
    match finder.look(&finder.campaign.cards[card]) {
        CardSearch::Found(found) => found.disk?.size(finder.roots),
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
    let is_folder =
        |card: &usize| matches!(campaign.cards[*card].location, CardLocation::Folder(_));
    let shares = match campaign.wanted_cards().filter(is_folder).nth(1) {
        Some(_) => both!(
            " Directories on one file system share its free space equally.",
            "同じファイルシステムのディレクトリは空き容量を等分する。"
        ),
        None => String::new(),
    };
    let prepared = preparation_in_turns(campaign);
    Some(both!(
        "Cards take turns, one run each (card-order = \"{name}\"): all {cards} must be present at \
        the same time from the first run to the last.{prepared}{shares}",
        "カードを1回ずつ交互に測定する（card-order = \"{name}\"）。最初から最後まで{cards}枚すべてを同時に\
        接続しておくこと。{prepared}{shares}"
    ))
}

/// Describes how often cards that alternate are prepared.
fn preparation_in_turns(campaign: &Campaign) -> String {
    let mut layers = campaign.wanted_layers();
    let several = campaign.wanted_layers().nth(1).is_some();
    if campaign.preparation.each_run_anew() {
        both!(
            " Each card is prepared before each of its runs.",
            "各カードは測定のたびに前処理する。"
        )
    } else if !layers.any(|layer| matches!(campaign.layers[layer].through, LayerKind::Fs(_))) {
        String::new()
    } else if campaign.order == PointOrder::Shuffled && several {
        both!(
            " Each card is prepared when its layer changes, and stays mounted in between.",
            "各カードはレイヤが変わるときに前処理し、その間はマウントしたままにする。"
        )
    } else {
        both!(
            " Each card is prepared once per layer, and stays mounted during the runs of the other \
            cards.",
            "各カードはレイヤごとに1回前処理し、他のカードの測定中もマウントしたままにする。"
        )
    }
}

/// Returns the plan of a campaign as text.
pub fn plan(campaign: &Campaign, journal: &CampaignProgress, roots: &Roots) -> String {
    let finder = CardFinder {
        campaign,
        journal,
        roots,
    };
    let mut out = overview(campaign, journal);
    let mut total = 0.0;
    for index in campaign.wanted_cards() {
        total += card_plan(&mut out, &finder, index);
    }
    for workload in campaign.wanted_workloads() {
        let workload = &campaign.workloads[workload];
        let jobs: Vec<String> = workload.jobs().map(job_words).collect();
        let _ = writeln!(out, "  {:<18} {}", workload.name, jobs.join("; "));
    }
    if let Some(words) = turns_words(campaign) {
        let _ = writeln!(out, "\n{words}");
    }
    total += recheck_plan(&mut out, &finder);
    let time = seconds_in_words(total);
    out += &both!("\nAbout {time} in total.\n", "\n合計約{time}。\n");
    for note in weaknesses(campaign) {
        let _ = writeln!(out, "! {}", text::plan_note(&note));
    }
    out
}

/// Describes the name, size and progress of a campaign.
fn overview(campaign: &Campaign, journal: &CampaignProgress) -> String {
    let mut out = both!("{} (stored as {})\n", "{}（保存ID {}）\n"; campaign.name, campaign.id);
    if !campaign.about.is_empty() {
        let _ = writeln!(out, "{}", campaign.about);
    }
    let cards = selected(
        ("card", "枚"),
        campaign.wanted_cards(),
        campaign.cards.len(),
    );
    let layers = selected(
        ("layer", "種類"),
        campaign.wanted_layers(),
        campaign.layers.len(),
    );
    let workloads = campaign.wanted_workloads();
    let workloads = selected(("workload", "種類"), workloads, campaign.workloads.len());
    let repeats = text::repeats(campaign.repeats.method());
    out += &both!(
        "\n{cards}, {layers}, {workloads}, each point {repeats}.\n",
        "\nカード{cards}、レイヤ{layers}、ワークロード{workloads}、各測定点{repeats}。\n"
    );
    let (done, most) = (journal.done_of(campaign), campaign.count());
    out += &both!(
        "{most} runs at most, {done} stored.\n",
        "最大{most}回、保存済み{done}回。\n"
    );
    if journal.other() > 0 {
        out += &both!(
            "{} stored runs do not count: they were measured with different settings.\n",
            "保存済みの{}回は測定条件が異なるため数えない。\n";
            journal.other()
        );
    }
    out + "\n"
}

/// Formats the number of selected things, with their English name and Japanese counter: `2 cards`, `1 of 3 layers`.
fn selected(
    (what, counter): (&str, &str),
    selected: impl Iterator<Item = usize>,
    all: usize,
) -> String {
    let selected = selected.count();
    let all_of_them = counted(all as u64, what);
    match selected < all {
        true => both!(
            "{selected} of {all_of_them}",
            "{all}{counter}中{selected}{counter}"
        ),
        false => both!("{all_of_them}", "{all}{counter}"),
    }
}

/// Writes the plan of the recheck, if there is one. Returns its seconds.
fn recheck_plan(out: &mut String, finder: &CardFinder<'_>) -> f64 {
    let campaign = finder.campaign;
    let Some((card, layer)) = campaign.rechecked() else {
        return 0.0;
    };
    let size_of = |card: usize| size_of(finder, card);
    let seconds = estimate::recheck_seconds(campaign, finder.journal, size_of);
    let time = seconds_in_words(seconds);
    let (name, through) = (&campaign.cards[card].label, &campaign.layers[layer].name);
    let points = campaign.recheck_points().len();
    let runs = counted(points as u64, "more run");
    let writes = estimate::recheck_bytes(campaign, size_of(card));
    let again = match campaign.cards[card].location {
        CardLocation::Reader { .. } => both!(
            " If cards are swapped by hand, insert it again for that.",
            "手で差し替えている場合は、そのときに挿入し直すこと。"
        ),
        CardLocation::Folder(_) | CardLocation::Sim(_) => String::new(),
    };
    *out += &both!(
        "\nRecheck: {name} is measured again through {through} at the end: {runs}, about {time}, writing \
         about {writes} to it.{again}\n",
        "\n再測定: 最後に{name}の{through}をもう一度測定する（{points}回、約{time}、書き込み約{writes}）。{again}\n"
    );
    seconds
}

/// Writes the plan of one card: location, layers, time, lost data. Returns its seconds.
fn card_plan(out: &mut String, finder: &CardFinder<'_>, index: usize) -> f64 {
    let campaign = finder.campaign;
    let card = &campaign.cards[index];
    let (place, size, node) = place_of(finder, index);
    let layers: Vec<&str> = campaign
        .layers_of(index)
        .map(|layer| campaign.layers[layer].name.as_str())
        .collect();
    let seconds = estimate::card_seconds(campaign, index, finder.journal, size);
    let (label, layers) = (hakaru_report::padded(&card.label, 18), layers.join(", "));
    let time = seconds_in_words(seconds);
    *out += &both!(
        "  {label} {place}; {layers}; about {time}\n",
        "  {label} {place}、{layers}、約{time}\n"
    );
    if campaign.erases(index) {
        out.push_str(&losses(node.as_deref()));
    }
    seconds
}

/// Returns the location of a card in words, its size and its node, as far as they are known.
fn place_of(finder: &CardFinder<'_>, index: usize) -> (String, Option<Bytes>, Option<PathBuf>) {
    let card = &finder.campaign.cards[index];
    match (&card.location, finder.look(card)) {
        (CardLocation::Sim(_), _) => (both!("simulated", "シミュレーション"), None, None),
        (CardLocation::Folder(folder), CardSearch::Found(_)) => (
            both!("the directory {}", "ディレクトリ{}"; folder.display()),
            None,
            None,
        ),
        (_, CardSearch::Found(found)) => {
            let node = found.disk.map(|disk| disk.node).unwrap_or_default();
            let candidate = guard::passive(&node, finder.roots).ok();
            let device = candidate.and_then(|c| c.identity().device.known().cloned());
            let size = device.map(|device| device.size);
            let at = both!("at {}, {}", "{}、{}"; node.display(), size.unwrap_or_default());
            (at, size, Some(node))
        }
        (_, CardSearch::NotThere(why)) => (
            both!("to be inserted ({why})", "要挿入（{why}）"),
            None,
            None,
        ),
    }
}

/// Describes the content of a card that will be erased.
fn losses(node: Option<&std::path::Path>) -> String {
    let Some(node) = node else {
        return both!("{:21}WILL BE ERASED\n", "{:21}全データを消去\n"; "");
    };
    let found = guard::what_would_be_lost(node);
    let mut out = both!("{:21}WILL BE ERASED: ", "{:21}消去されるデータ: "; "");
    if found.is_empty() {
        out += &both!("no known content\n", "既知の内容なし\n");
        return out;
    }
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    out + &lines.join("; ") + "\n"
}

/// Describes a job: `sequential write, 1 MiB, 60 s after 2 s, on 16 GiB`.
fn job_words(job: &Job) -> String {
    let order = match job.access.random {
        true => both!("random", "ランダム"),
        false => both!("sequential", "シーケンシャル"),
    };
    let op = match (job.access.mix.read, job.access.mix.write) {
        (100, _) => both!("read", "読み込み"),
        (_, 100) => both!("write", "書き込み"),
        (read, _) => both!("mix ({read}% reads)", "読み書き混合（読み込み{read}%）"),
    };
    let block = job.blocks_used().map(|b| b.max()).max().unwrap_or(Bytes(0));
    let mut parts = vec![both!("{order} {op}, {block}", "{order}{op}、{block}")];
    if job.numjobs > 1 {
        parts.push(both!("{} workers", "{}ジョブ"; job.numjobs));
    }
    parts.extend(runtime_words(job));
    if let Some(SizeSpec::Bytes(size)) = job.extent.size {
        parts.push(both!("on {size}", "範囲{size}"));
    }
    parts.join(&both!(", ", "、"))
}

/// Describes the runtime of a job, if it has one: `60 s after 2 s`.
fn runtime_words(job: &Job) -> Option<String> {
    let runtime = job.timing.runtime?;
    let most = match job.timing.time_based {
        true => String::new(),
        false => both!("at most ", "最大"),
    };
    Some(match job.timing.ramp_time {
        Nanos(0) => format!("{most}{runtime}"),
        ramp => both!(
            "{most}{runtime} after {ramp}",
            "ウォームアップ{ramp}の後{most}{runtime}"
        ),
    })
}

/// Returns missing requirements, and what the design cannot prove.
pub fn weaknesses(campaign: &Campaign) -> Vec<PlanNote> {
    let mut all = Vec::new();
    let erases = campaign.wanted_cards().any(|card| campaign.erases(card));
    if (erases || campaign.preparation.drop_caches) && !rustix::process::geteuid().is_root() {
        all.push(PlanNote::NeedsRoot);
    }
    for layer in campaign.wanted_layers() {
        all.extend(unavailable(&campaign.layers[layer]));
    }
    let real = campaign
        .wanted_cards()
        .filter(|&card| !matches!(campaign.cards[card].location, CardLocation::Sim(_)))
        .count();
    if real > 1 && !campaign.card_order.takes_turns() && !campaign.recheck {
        all.push(PlanNote::Weakness(Weakness::CardsInSequence));
    }
    if let RepeatRule::Times(runs @ 1..=4) = campaign.repeats {
        all.push(PlanNote::Caveat(Caveat::FewRuns { runs }));
    }
    for workload in campaign.wanted_workloads() {
        all.extend(mistakes(&campaign.workloads[workload]));
    }
    all
}

/// Returns what a layer lacks on this host.
fn unavailable(layer: &Layer) -> Vec<PlanNote> {
    let LayerKind::Fs(spec) = &layer.through else {
        return Vec::new();
    };
    let lacking = prepared_target::lacking(spec, &Roots::live()).into_iter();
    let note = |because| PlanNote::Unavailable {
        layer: layer.name.clone(),
        because,
    };
    lacking.map(note).collect()
}

/// Returns the mistakes in the jobs of a workload.
fn mistakes(workload: &CampaignWorkload) -> Vec<PlanNote> {
    let found = hakaru_analysis::lint(&workload.scenario, None);
    let mut warnings: Vec<LintWarning> = found.into_iter().map(|remark| remark.slip).collect();
    warnings.retain(|warning| warning.weight() >= Severity::Weak);
    warnings.dedup();
    let note = |warning| PlanNote::Lint {
        workload: workload.name.clone(),
        warning,
    };
    warnings.into_iter().map(note).collect()
}
