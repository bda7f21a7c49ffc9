//! Interaction with the operator: progress, requests for cards, and permission to erase them.
//!
//! All output goes to standard error: a progress line on a terminal, plain lines elsewhere.

use super::line_reader::{InputLine, LineReader};
use super::prompts;
use crate::status_reporter::{ProgressEvent, ProgressMode, bar, rates, seconds, speeds};
use hakaru_campaign::campaign::estimate::words;
use hakaru_campaign::campaign::file::RepeatRule;
use hakaru_campaign::campaign::operator::{
    CampaignStatus, CandidateDisk, Operator, OperatorReply, PreparingStep,
};
use hakaru_campaign::campaign::spec::{Campaign, CampaignWorkload, Card, CardLocation};
use hakaru_device::ScanProgress as Preparing;
use hakaru_device::guard::{Candidate, Confirmation};
use hakaru_engine::{Flow, LayoutProgress, Observer, PhaseProgress};
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{PhaseRecord, RunRecord};
use hakaru_model::units::Bytes;
use hakaru_report::{Language, columns_of, padded, plain, text, with_language, workload_words};
use hakaru_store::live::{LiveActivity, LivePublisher};
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Interval of checks for a requested card while waiting for input.
const LOOK: Duration = Duration::from_millis(700);

/// Template of the progress bar below a line with the name of the point.
const TWO_LINES: &str = "{prefix}\n  {bar:24} {msg}";

/// The operator of a campaign on the command line.
pub(super) struct CliOperator<'a> {
    campaign: &'a Campaign,
    /// IDs of devices that may be erased without a prompt.
    erase: &'a [String],
    reader: Option<LineReader>,
    stop: &'a AtomicBool,
    live: Option<LivePublisher>,
    mode: ProgressMode,
    bar: ProgressBar,
    current: Option<CampaignStatus>,
    /// Permissions to erase that were given so far, by ID of the card.
    given: BTreeMap<String, Confirmation>,
    /// The last question, to avoid repeating it.
    asked: String,
    /// The last automatically chosen node, to avoid choosing it again.
    offered: Option<PathBuf>,
    /// The last printed preparation step and quarter.
    printed: Option<(PreparingStep, u64)>,
    /// Whether permission to erase was missing.
    pub(super) refused: bool,
}

impl<'a> CliOperator<'a> {
    pub(super) fn new(
        campaign: &'a Campaign,
        erase: &'a [String],
        mode: ProgressMode,
        stop: &'a AtomicBool,
        live: Option<LivePublisher>,
    ) -> CliOperator<'a> {
        CliOperator {
            campaign,
            erase,
            reader: LineReader::new(live.clone()),
            live,
            stop,
            mode,
            bar: bar(mode, TWO_LINES),
            current: None,
            given: BTreeMap::new(),
            asked: String::new(),
            offered: None,
            printed: None,
            refused: false,
        }
    }

    /// Removes the progress line from the terminal.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Shows the progress line again after a question.
    fn wake(&self) {
        if self.bar.is_finished() {
            self.bar.reset();
        }
    }

    fn say(&self, line: &str) {
        self.event(&ProgressEvent::Note { text: line });
        self.mode.say(&self.bar, line);
    }

    /// Prints an event for programs, if they asked for it.
    fn event(&self, event: &ProgressEvent<'_>) {
        if self.mode == ProgressMode::Json {
            event.print();
        }
    }

    /// Formats the current point, such as `[ 17/480] kingston  vfat  Random writes of 4 KiB  #7`.
    fn place(&self) -> String {
        let Some(CampaignStatus {
            point,
            names: [card, layer, workload],
            number,
            of,
            ..
        }) = &self.current
        else {
            return String::new();
        };
        let of = of.to_string();
        let Campaign {
            cards,
            layers,
            workloads,
            ..
        } = self.campaign;
        let aligned = |name: &str, all: &mut dyn Iterator<Item = String>| {
            padded(name, all.map(|name| columns_of(&name)).max().unwrap_or(0))
        };
        let card = aligned(card, &mut cards.iter().map(|card| card.label.clone()));
        let layer = aligned(layer, &mut layers.iter().map(|layer| layer.name.clone()));
        let words = |workload: &CampaignWorkload| workload_words(&workload.name);
        let workload = aligned(&workload_words(workload), &mut workloads.iter().map(words));
        let repeat = match point.is_traced() {
            true => both!("traced", "トレース"),
            false => format!("#{:<2}", point.repeat + 1),
        };
        format!(
            "[{number:>0$}/{of}] {card}  {layer}  {workload}  {repeat}",
            of.len()
        )
    }

    fn left(&self) -> String {
        let Some(CampaignStatus { left, .. }) = &self.current else {
            return String::new();
        };
        let left_text = words(*left);
        if left.as_secs() == 0 {
            String::new()
        } else if !matches!(self.campaign.repeats, RepeatRule::Times(_)) {
            both!("at most {left_text} left", "残り最大{left_text}")
        } else {
            both!("{left_text} left", "残り{left_text}")
        }
    }

    /// Whether all cards at this device are variants of one card.
    fn are_variants(&self, wanted: &Card) -> bool {
        let here = || {
            self.campaign
                .cards
                .iter()
                .filter(|card| card.location == wanted.location)
        };
        here().all(|card| card.variant.is_some() && card.id.is_none())
    }

    /// Returns the only disk that can be the card without asking: identified by its ID, for the
    /// only card requested. Only once, because a rejected disk would be offered again forever.
    fn only_one(&mut self, wanted: &Card, seen: &[CandidateDisk]) -> Option<OperatorReply> {
        if wanted.id.is_some() {
            return None;
        }
        if let (None, [one], CardLocation::Reader { node: Some(_) }) =
            (&self.reader, seen, &wanted.location)
            && self.are_variants(wanted)
            && let Some(reply) = self.offer(one)
        {
            return Some(reply);
        }
        let asked_for = |card: &&Card| {
            matches!(card.location, CardLocation::Reader { .. }) && card.id.is_none()
        };
        if self.campaign.cards.iter().filter(asked_for).count() != 1 {
            return None;
        }
        let may_be_erased = |id: &String| self.erase.iter().any(|e| e.eq_ignore_ascii_case(id));
        let named = |seen: &&CandidateDisk| seen.ids.iter().any(may_be_erased);
        let found: Vec<&CandidateDisk> = seen.iter().filter(named).collect();
        let [one] = found[..] else { return None };
        self.offer(one)
    }

    /// Chooses a disk, unless it was chosen before.
    fn offer(&mut self, disk: &CandidateDisk) -> Option<OperatorReply> {
        if self.offered.as_ref() == Some(&disk.node) {
            return None;
        }
        self.offered = Some(disk.node.clone());
        Some(OperatorReply::Here(disk.node.clone()))
    }
}

/// Formats the question for a card with the available disks.
fn question(wanted: &Card, number: usize, of: usize, why: &str, seen: &[CandidateDisk]) -> String {
    let facts = wanted.facts.iter();
    let facts: Vec<String> = facts
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    let known = match &facts[..] {
        [] => String::new(),
        facts => format!(" ({})", facts.join(", ")),
    };
    let (label, why) = (&wanted.label, plain(why));
    let mut text = both!(
        "\nInsert {label}{known} (card {number} of {of}): {why}\n",
        "\n{label}{known}を挿入してください（{of}枚中{number}枚目）: {why}\n"
    );
    for (number, disk) in (1..).zip(seen) {
        let what = match (&disk.label, disk.ids.first()) {
            (Some(label), _) => both!(", measured as {label}", "、{label}として測定済み"),
            (None, Some(id)) => format!(", {id}"),
            (None, None) => String::new(),
        };
        let (node, name, what) = (disk.node.display(), plain(&disk.name), plain(&what));
        text += &format!("  {number}  {node}  {name}{what}\n");
    }
    if seen.is_empty() {
        text += &both!(
            "  no matching disk found\n",
            "  一致するディスクがありません\n"
        );
    }
    text += &match default_of(wanted, seen) {
        Some(one) => both!("Enter = {}, ", "Enter={}、"; one.node.display()),
        None => both!("Enter = look again, ", "Enter=再検索、"),
    };
    if !seen.is_empty() {
        text += &both!("number = choose, ", "数字=選択、");
    }
    text + &both!(
        "s = skip this card, q = stop: ",
        "s=このカードをスキップ、q=終了: "
    )
}

/// Returns the disk that an empty answer selects.
pub(super) fn default_of<'s>(
    wanted: &Card,
    seen: &'s [CandidateDisk],
) -> Option<&'s CandidateDisk> {
    let strangers: Vec<&CandidateDisk> = seen.iter().filter(|seen| seen.label.is_none()).collect();
    match strangers[..] {
        [one] if wanted.id.is_none() => Some(one),
        _ => None,
    }
}

/// Parses an answer; `None` if invalid.
fn understood(line: &str, wanted: &Card, seen: &[CandidateDisk]) -> Option<OperatorReply> {
    match line.to_lowercase().as_str() {
        "" => Some(
            default_of(wanted, seen).map_or(OperatorReply::LookAgain, |one| {
                OperatorReply::Here(one.node.clone())
            }),
        ),
        "s" | "skip" => Some(OperatorReply::Skip),
        "q" | "quit" | "stop" => Some(OperatorReply::Stop),
        _ => {
            let numbered = line
                .parse::<usize>()
                .ok()
                .and_then(|n| seen.get(n.checked_sub(1)?));
            let named = || seen.iter().find(|seen| seen.node.as_os_str() == line);
            numbered
                .or_else(named)
                .map(|one| OperatorReply::Here(one.node.clone()))
        }
    }
}

impl Observer for CliOperator<'_> {
    fn phase_begins(&mut self, _index: usize, _phase: &PhasePlan) {
        self.bar
            .set_prefix(format!("{}  {}", self.place(), self.left()));
        self.bar.set_position(0);
        self.bar.set_message("");
    }

    fn laying_out(&mut self, layout: &LayoutProgress<'_>) -> Flow {
        let size = layout.file.size.0.max(1);
        self.bar
            .set_position(layout.done.saturating_mul(1000) / size);
        self.bar.set_message(both!("laying out the test file, {} of {}", "テストファイルの作成 {1}中{0}"; Bytes(layout.done),
            layout.file.size));
        Flow::Continue
    }

    fn progress(&mut self, phase: &PhasePlan, progress: &PhaseProgress) -> Flow {
        self.event(&ProgressEvent::of(phase, progress));
        let mut words = speeds(progress);
        words.extend(
            progress
                .remaining
                .map(|left| both!("{} of this run", "この測定の残り{}"; seconds(left))),
        );
        self.bar.set_position(progress.permille.unwrap_or(0).into());
        self.bar.set_message(words.join("  "));
        Flow::Continue
    }

    fn phase_ends(&mut self, record: &PhaseRecord) -> Flow {
        self.event(&ProgressEvent::ended(record));
        Flow::Continue
    }
}

impl Operator for CliOperator<'_> {
    fn insert(&mut self, wanted: &Card, why: &str, seen: &[CandidateDisk]) -> OperatorReply {
        if let Some(answer) = self.only_one(wanted, seen) {
            return answer;
        }
        let cards = &self.campaign.cards;
        let place = cards.iter().position(|card| card.label == wanted.label);
        let number = place.map_or(0, |place| place + 1);
        let question = question(wanted, number, cards.len(), why, seen);
        let prompt = prompts::insert(wanted, (number, cards.len()), why, seen);
        let Some(reader) = &mut self.reader else {
            return OperatorReply::Skip;
        };
        if let Some(live) = &self.live {
            live.ask(prompt);
        }
        if question != self.asked {
            self.bar.finish_and_clear();
            anstream::eprint!("{question}");
            self.asked = question;
        }
        match reader.wait(LOOK) {
            InputLine::Line(line) => {
                self.asked.clear();
                self.live.iter().for_each(LivePublisher::withdraw);
                let answer = understood(&line, wanted, seen);
                if answer.is_none() {
                    anstream::eprintln!(
                        "{}",
                        both!("`{}` is not a valid answer.", "「{}」は選択できません。"; plain(&line))
                    );
                }
                answer.unwrap_or(OperatorReply::LookAgain)
            }
            InputLine::Nothing => OperatorReply::LookAgain,
            InputLine::End => OperatorReply::Stop,
        }
    }

    fn may_erase(&mut self, card: &Card, candidate: &Candidate) -> Option<Confirmation> {
        self.asked.clear();
        let ids = candidate.ids();
        let is_id = |typed: &str| ids.iter().any(|id| id.eq_ignore_ascii_case(typed));
        if let Some(id) = self.erase.iter().find(|id| is_id(id)) {
            return Some(Confirmation::Serial(id.clone()));
        }
        if let Some(given) = ids.first().and_then(|id| self.given.get(id)) {
            return Some(given.clone());
        }
        let label = &card.label;
        let Some(reader) = &mut self.reader else {
            let ids = plain(&ids.join(", "));
            self.refused = true;
            self.say(&both!(
                "{label}: this would erase it; pass --erase=ID with one of {ids}",
                "{label}: 消去されます。--erase=IDに{ids}のいずれかを指定してください"
            ));
            return None;
        };
        self.bar.finish_and_clear();
        let name = candidate.name();
        let node = std::path::Path::new("/dev").join(name);
        let losses = crate::cmd::erase::losses(&node);
        let called = crate::cmd::erase::called(candidate);
        let question = both!(
            "\n{label}: {called}\n{losses}Type {name} or its ID to erase it, or press Enter to skip: ",
            "\n{label}: {called}\n{losses}消去するには「{name}」またはIDを入力してください（Enterでスキップ）: "
        );
        let mut wrong: Option<String> = None;
        loop {
            if let Some(live) = &self.live {
                live.ask(prompts::erase(card, candidate, wrong.as_deref()));
            }
            let typed = reader.ask(&question, self.stop).unwrap_or_default();
            self.live.iter().for_each(LivePublisher::withdraw);
            if typed.is_empty() {
                self.refused = true;
                return None;
            }
            if typed == name || typed == node.display().to_string() || is_id(&typed) {
                // Ask once per card: when the card is reinserted, its ID confirms it.
                self.remember(candidate);
                return Some(Confirmation::Typed(typed));
            }
            anstream::eprintln!(
                "{}",
                both!("You typed `{}`, and the name is `{name}`.", "入力「{}」が「{name}」と一致しません。"; plain(&typed))
            );
            wrong = Some(typed);
        }
    }

    fn begins(&mut self, progressed: &CampaignStatus) {
        self.asked.clear();
        self.live.iter().for_each(LivePublisher::withdraw);
        self.offered = None;
        self.current = Some(progressed.clone());
        let [card, layer, workload] = &progressed.names;
        self.event(&ProgressEvent::PointStarted {
            card,
            layer,
            workload,
            repeat: progressed.point.repeat,
            number: progressed.number,
            of: progressed.of,
            remaining_s: progressed.left.as_secs_f64(),
        });
        self.wake();
        self.bar
            .set_prefix(format!("{}  {}", self.place(), self.left()));
        self.bar.set_position(0);
        self.bar.set_message("");
    }

    fn preparing(&mut self, step: PreparingStep, progress: Option<Preparing>) {
        self.publish_preparing(step, progress);
        self.wake();
        let done = progress.map_or(0, |p| p.done.0.saturating_mul(1000) / p.total.0.max(1));
        let what = both!("preparing: {}", "前処理: {}"; step.text());
        let how_far = progress.map(|p| text::done_of(p.done, p.total));
        let how_far = how_far.unwrap_or_default();
        self.bar.set_prefix(what.clone());
        self.bar.set_position(done);
        self.bar.set_message(how_far.clone());
        let now = Some((step, done / 250));
        if self.mode == ProgressMode::Lines && self.printed != now {
            match how_far.is_empty() {
                true => anstream::eprintln!("{what}"),
                false => anstream::eprintln!("{}", both!("{what}, {how_far}", "{what}、{how_far}")),
            }
        }
        if self.printed != now {
            // Names in JSON do not depend on the language.
            let doing = with_language(Language::English, || step.text());
            self.event(&ProgressEvent::Scan {
                doing: &doing,
                done: progress.map_or(0, |progress| progress.done.0),
                total: progress.map_or(0, |progress| progress.total.0),
            });
        }
        self.printed = now;
    }

    fn stored(&mut self, record: &RunRecord) {
        if self.mode == ProgressMode::Json {
            return ProgressEvent::stored(record).print();
        }
        let rates: Vec<String> = record.phases.iter().map(rates).collect();
        let left = if self.mode == ProgressMode::Lines {
            self.left()
        } else {
            String::new()
        };
        self.say(format!("{}  {}  {left}", self.place(), rates.join("   ")).trim_end());
    }

    fn note(&mut self, text: &str) {
        let note = plain(text);
        let line = format!("! {note}");
        if let Some(live) = &self.live {
            live.update(|state| state.note(&note));
        }
        if self.mode == ProgressMode::Quiet {
            anstream::eprintln!("{line}")
        } else {
            self.say(&line)
        }
    }

    fn live(&self) -> Option<LivePublisher> {
        self.live.clone()
    }
}

impl CliOperator<'_> {
    fn publish_preparing(&self, step: PreparingStep, progress: Option<Preparing>) {
        let Some(live) = &self.live else { return };
        live.withdraw();
        let activity = LiveActivity {
            doing: step.text(),
            done: progress.map_or(0, |progress| progress.done.0),
            total: progress.map_or(0, |progress| progress.total.0),
        };
        live.update(|state| state.activity = Some(activity));
    }

    fn remember(&mut self, candidate: &Candidate) {
        // The ID of a card in a USB reader belongs to the reader, and would also confirm the next card.
        if let Some(id) = candidate.ids().first().filter(|_| candidate.tells_itself()) {
            self.given
                .insert(id.clone(), Confirmation::Serial(id.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_campaign::campaign::matrix::Point;
    use hakaru_campaign::campaign::resolve::{self, ResolveContext};
    use std::path::Path;

    fn seen(node: &str, label: Option<&str>) -> CandidateDisk {
        CandidateDisk {
            node: node.into(),
            name: "a card".into(),
            ids: vec!["0x1234".into()],
            label: label.map(str::to_owned),
        }
    }

    fn card(id: Option<&str>) -> Card {
        Card {
            label: "kingston".into(),
            id: id.map(str::to_owned),
            location: CardLocation::Reader { node: None },
            host: None,
            variant: None,
            printed: Vec::new(),
            facts: vec![("price".into(), "600 yen".into())],
        }
    }

    #[test]
    fn answers_are_understood() {
        let two = [seen("/dev/sdb", None), seen("/dev/sdc", Some("sandisk"))];
        let here = |node: &str| Some(OperatorReply::Here(PathBuf::from(node)));
        assert_eq!(understood("", &card(None), &two), here("/dev/sdb"));
        assert_eq!(
            understood("", &card(Some("0x99")), &two),
            Some(OperatorReply::LookAgain)
        );
        assert_eq!(understood("2", &card(None), &two), here("/dev/sdc"));
        assert_eq!(understood("/dev/sdc", &card(None), &two), here("/dev/sdc"));
        assert_eq!(
            (
                understood("0", &card(None), &two),
                understood("9", &card(None), &two)
            ),
            (None, None)
        );
        assert_eq!(understood("S", &card(None), &[]), Some(OperatorReply::Skip));
        assert_eq!(understood("q", &card(None), &[]), Some(OperatorReply::Stop));
    }

    #[test]
    fn the_question_says_what_is_wanted_and_what_is_there() {
        let text = question(
            &card(None),
            1,
            6,
            "device ID not known yet",
            &[seen("/dev/sdb\u{7}", Some("x\u{1b}"))],
        );
        assert!(
            text.contains("Insert kingston (price 600 yen) (card 1 of 6)")
                && text.contains("measured as x\u{FFFD}")
        );
    }

    /// Regression: of two cards, the first was known by its ID and absent, and the second was inserted and named by
    /// `--erase`. The second card was offered for the first one in an endless loop.
    #[test]
    fn offers_a_disk_once_and_only_for_the_requested_card() {
        let text = "name = \"two\"\n[[card]]\nlabel = \"a\"\nid = \"0xA\"\n[[card]]\nlabel = \"b\"\nid = \"ask\"\n\
                    [[workload]]\nsuite = [\"seq-read\"]\npace = \"quick\"\n";
        let around = ResolveContext {
            read_file: &|_: &Path| Err("no file is named".to_owned()),
            fio: &|_: &str, _: &str| Err("no job file is named".to_owned()),
        };
        let campaign = resolve::campaign(text, &around).unwrap();
        let (erase, stop) = (["0x1234".to_owned()], AtomicBool::new(false));
        let mut operator = CliOperator::new(&campaign, &erase, ProgressMode::Quiet, &stop, None);
        // Questions are never possible in this test.
        operator.reader = None;
        let [known, asked_for] = &campaign.cards[..] else {
            panic!("{:?}", campaign.cards)
        };
        let there = [seen("/dev/sdb", None)];
        let insert = |operator: &mut CliOperator<'_>, card, why| operator.insert(card, why, &there);
        let here = OperatorReply::Here("/dev/sdb".into());
        let reply = insert(&mut operator, known, "no disk has the ID 0xA");
        assert_eq!(reply, OperatorReply::Skip);
        assert_eq!(insert(&mut operator, asked_for, "unknown"), here);
        let reply = insert(&mut operator, asked_for, "/dev/sdb is in use");
        assert_eq!(reply, OperatorReply::Skip);
        operator.begins(&first_run_of(1));
        assert_eq!(insert(&mut operator, asked_for, "it was pulled"), here);
    }

    fn first_run_of(card: usize) -> CampaignStatus {
        CampaignStatus {
            point: Point {
                card,
                layer: 0,
                workload: 0,
                repeat: 0,
            },
            names: ["b", "raw", "seq-read"].map(str::to_owned),
            number: 1,
            of: 1,
            left: Duration::ZERO,
        }
    }
}
