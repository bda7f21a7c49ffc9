//! Converts a campaign file to a valid campaign: defaults, jobs of the suite, fio job files, classes.
//!
//! Callers pass functions for reading files and for parsing fio job files, because this crate does neither.

use super::digest::AuthoredEntry;
use super::file::{
    CampaignFile, CardEntry, CardOrder, FileError, LayerEntry, SuitePace, WorkloadEntry,
};
use super::job;
use super::spec::{
    Campaign, CampaignFilter, CampaignWorkload, Card, CardLocation, FsSpec, Layer, LayerKind,
};
use crate::suite;
use hakaru_device::prepare::FsType;
use hakaru_model::finding::Claim;
use hakaru_model::job::{IoEngine, Job, Phase, Scenario, Target};
use hakaru_model::units::Nanos;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Functions that reading a campaign file needs.
pub struct ResolveContext<'a> {
    /// Reads a file that the campaign names; relative paths are relative to the campaign file.
    pub read_file: &'a dyn Fn(&Path) -> Result<String, String>,
    /// Parses the text of a fio job file; the other argument is its name for messages.
    pub fio: &'a dyn Fn(&str, &str) -> Result<Scenario, String>,
}

/// Parses and validates a campaign file.
///
/// # Errors
/// [`FileError`] with the position of the invalid text.
pub fn campaign(text: &str, around: &ResolveContext<'_>) -> Result<Campaign, FileError> {
    resolve(CampaignFile::parse(text)?, text, around)
}

/// Validates a parsed file, which may have been modified since; `text` is its source.
///
/// # Errors
/// [`FileError`] with the position of the invalid text.
pub fn resolve(
    file: CampaignFile,
    text: &str,
    around: &ResolveContext<'_>,
) -> Result<Campaign, FileError> {
    let written: toml::Table = toml::from_str(text).unwrap_or_default();
    written
        .iter()
        .try_for_each(|(key, value)| no_commands(key, value))?;
    let id = match &file.id {
        Some(id) => checked_id(id)?,
        None => slug(file.name.get_ref()),
    };
    if id.is_empty() {
        return Err(FileError::at(
            &file.name,
            "a campaign name needs a letter or a digit: its runs are stored under it",
        ));
    }
    let mut cards = file
        .card
        .iter()
        .enumerate()
        .map(|(i, e)| card(i, e, around))
        .collect::<Result<Vec<_>, _>>()?;
    if cards.is_empty() {
        cards.push(card(0, &CardEntry::default(), around)?);
    }
    unique(
        cards.iter().map(|c| c.label.as_str()),
        file.card.iter().map(|e| e.label.as_ref()),
        "label",
    )?;
    same_card_twice(&cards, &file.card)?;
    let card_order = card_order(&file, &cards)?;
    let recheck = rechecks(&file, card_order)?;
    let layers = layers(&file.layer, &written, &cards)?;
    let workloads = workloads(&file, &written, around)?;
    let campaign = Campaign {
        id,
        name: file.name.get_ref().clone(),
        about: file.about,
        seed: file.seed.unwrap_or(1),
        repeats: file.repeats,
        order: file.order,
        card_order,
        recheck,
        cool_down: file.cool_down.map_or(Nanos(0), |time| time.0),
        cards,
        layers,
        preparation: file.preparation,
        workloads,
        limits: file.limits,
        only: CampaignFilter::default(),
    };
    if campaign.count() > MOST_RUNS {
        let message = format!(
            "{} runs are too many: the maximum is {MOST_RUNS}",
            campaign.count()
        );
        return Err(FileError::at(&file.name, message));
    }
    match (0..campaign.cards.len()).find(|&card| campaign.layers_of(card).next().is_none()) {
        Some(card) => {
            let message = format!(
                "no layer can be measured on the card `{}`",
                campaign.cards[card].label
            );
            Err(FileError {
                message,
                span: file.layer.first().map(|layer| layer.fs.span()),
            })
        }
        None => Ok(campaign),
    }
}

/// Rejects control characters that a terminal would interpret: campaign files come from strangers, and their names
/// are printed. Line breaks are allowed only in prose and job files.
fn no_commands(key: &str, value: &toml::Value) -> Result<(), FileError> {
    let turns = |c: char| matches!(c, '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let lines = matches!(key, "about" | "fio-text");
    let commands =
        |c: &char| (c.is_control() && !(lines && matches!(c, '\n' | '\t' | '\r'))) || turns(*c);
    let found = match value {
        toml::Value::String(text) => text.chars().find(commands),
        toml::Value::Array(values) => {
            return values.iter().try_for_each(|value| no_commands(key, value));
        }
        toml::Value::Table(table) => {
            return table
                .iter()
                .try_for_each(|(key, value)| no_commands(key, value));
        }
        _ => None,
    };
    let Some(c) = key.chars().find(commands).or(found) else {
        return Ok(());
    };
    let message = format!(
        "{} contains the control character U+{:04X}; help: remove it",
        shown(key),
        c as u32
    );
    Err(FileError {
        message,
        span: None,
    })
}

/// Formats a key for a message.
fn shown(key: &str) -> String {
    format!("`{}`", key.escape_debug())
}

/// Maximum number of runs; a larger number is assumed to be a typing error.
pub const MOST_RUNS: u64 = 1_000_000;

/// Rejects two cards with the same ID and no variant that distinguishes them.
fn same_card_twice(cards: &[Card], entries: &[CardEntry]) -> Result<(), FileError> {
    let mut seen = std::collections::BTreeSet::new();
    for (card, entry) in cards.iter().zip(entries) {
        let Some(id) = &card.id else { continue };
        if !seen.insert((id, &card.variant)) {
            let message = format!(
                "two cards have the ID {id}; help: give each a variant, such as \"1-bit\" and \
                \"4-bit\", to distinguish them"
            );
            return Err(FileError {
                message,
                span: entry.id.as_ref().map(Spanned::span),
            });
        }
    }
    Ok(())
}

/// Returns the order of the cards; every order except sequential needs cards that can be present at the same time.
fn card_order(file: &CampaignFile, cards: &[Card]) -> Result<CardOrder, FileError> {
    let Some(written) = &file.card_order else {
        return Ok(CardOrder::Sequential);
    };
    let order = *written.get_ref();
    let pairs = cards
        .iter()
        .enumerate()
        .flat_map(|(i, a)| cards[i + 1..].iter().map(move |b| (a, b)));
    for (a, b) in pairs.filter(|_| order.takes_turns()) {
        let shared = match (&a.seat, &b.seat) {
            (
                CardLocation::Reader { node: Some(one) },
                CardLocation::Reader { node: Some(other) },
            ) if one == other => {
                format!("both at {}", one.display())
            }
            (CardLocation::Folder(one), CardLocation::Folder(other)) if one == other => {
                format!("both in {}", one.display())
            }
            (CardLocation::Reader { .. }, CardLocation::Reader { .. }) if is_one_id(a, b) => {
                "one card".to_owned()
            }
            _ => continue,
        };
        let message = format!(
            "cards cannot take turns (card-order = \"{}\"): `{}` and `{}` are {shared}, so they \
            are never present together; help: remove card-order, and use recheck = true to detect \
            host drift",
            order.name(),
            a.label,
            b.label
        );
        return Err(FileError::at(written, message));
    }
    Ok(order)
}

fn is_one_id(a: &Card, b: &Card) -> bool {
    a.id.as_ref()
        .zip(b.id.as_ref())
        .is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
}

/// Returns whether the first card is measured again; alternating cards need no recheck.
fn rechecks(file: &CampaignFile, order: CardOrder) -> Result<bool, FileError> {
    let Some(written) = &file.recheck else {
        return Ok(false);
    };
    if *written.get_ref() && order.takes_turns() {
        let message = format!(
            "recheck is for cards that are measured one after another: card-order = \"{}\" \
            already spreads host drift over all cards; help: remove one of the two",
            order.name()
        );
        return Err(FileError::at(written, message));
    }
    Ok(*written.get_ref())
}

/// Returns the letters, digits and dashes of a name in lower case.
pub fn slug(name: &str) -> String {
    let dashed: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    dashed
        .split('-')
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .take(60)
        .collect()
}

fn checked_id(id: &Spanned<String>) -> Result<String, FileError> {
    let sound = id
        .get_ref()
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if sound && !id.get_ref().is_empty() && id.get_ref().len() <= 60 {
        return Ok(id.get_ref().clone());
    }
    Err(FileError::at(
        id,
        "an ID is 1 to 60 letters, digits, `-`, `_` or `.`",
    ))
}

/// Rejects the first duplicate name.
fn unique<'a>(
    names: impl Iterator<Item = &'a str>,
    places: impl Iterator<Item = Option<&'a Spanned<String>>>,
    what: &str,
) -> Result<(), FileError> {
    let mut seen = std::collections::BTreeSet::new();
    for (name, place) in names.zip(places.chain(std::iter::repeat(None))) {
        if !seen.insert(name) {
            let message =
                format!("duplicate {what} \"{name}\": their results could not be distinguished");
            return Err(FileError {
                message,
                span: place.map(Spanned::span),
            });
        }
    }
    Ok(())
}

fn card(index: usize, entry: &CardEntry, around: &ResolveContext<'_>) -> Result<Card, FileError> {
    let CardEntry {
        label,
        id,
        device,
        folder,
        simulate,
        variant,
        read,
        write,
        classes,
        price,
        facts,
    } = entry;
    label
        .as_ref()
        .map_or(Ok(()), |label| not_empty(label, "label"))?;
    let seat = match (device, folder, simulate) {
        (node, None, None) => CardLocation::Reader { node: node.clone() },
        (None, Some(folder), None) => CardLocation::Folder(folder.clone()),
        (None, None, Some(file)) => CardLocation::Sim(Box::new(price_list(file, around)?)),
        _ => {
            let message = "device, folder and simulate exclude each other; help: use only one of \
                them"
                .to_owned();
            let span = simulate
                .as_ref()
                .map(Spanned::span)
                .or_else(|| label.as_ref().map(Spanned::span));
            return Err(FileError { message, span });
        }
    };
    let mut printed: Vec<Claim> = classes.iter().map(class).collect::<Result<_, _>>()?;
    for (speed, claim) in [
        (read, Claim::ReadSpeed as fn(f64) -> Claim),
        (write, Claim::WriteSpeed),
    ] {
        printed.extend(speed.map(|speed| claim(speed.0)));
    }
    let id = id
        .as_ref()
        .map(|id| id.get_ref().trim().to_owned())
        .filter(|id| !id.is_empty() && id != "ask");
    let known = price
        .iter()
        .map(|price| ("price".to_owned(), price.clone()));
    Ok(Card {
        label: label.as_ref().map_or_else(
            || default_label(index, &seat),
            |label| label.get_ref().clone(),
        ),
        id,
        seat,
        variant: variant.clone(),
        printed,
        facts: known.chain(facts.clone()).collect(),
    })
}

/// Rejects empty names, because results are distinguished by name.
fn not_empty(name: &Spanned<String>, what: &str) -> Result<(), FileError> {
    match name.get_ref().trim().is_empty() {
        true => Err(FileError::at(
            name,
            format!("this {what} is empty; help: enter a name or remove the key"),
        )),
        false => Ok(()),
    }
}

fn default_label(index: usize, seat: &CardLocation) -> String {
    match seat {
        CardLocation::Reader { .. } => format!("card {}", index + 1),
        CardLocation::Folder(folder) => folder.display().to_string(),
        CardLocation::Sim(prices) => prices.name.clone(),
    }
}

fn price_list(
    file: &Spanned<PathBuf>,
    around: &ResolveContext<'_>,
) -> Result<hakaru_model::device_model::DeviceModel, FileError> {
    let failed = |message: String| FileError::at(file, message);
    let text = (around.read_file)(file.get_ref()).map_err(failed)?;
    let bad = |why: String| {
        failed(format!(
            "{} is not a device model: {why}",
            file.get_ref().display()
        ))
    };
    let prices: hakaru_model::device_model::DeviceModel =
        serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    prices.check().map_err(bad)?;
    Ok(prices)
}

/// Class prefix, its valid numbers, and the resulting claim.
type Class = (&'static str, &'static [u32], fn(u32) -> Claim);

const CLASSES: [Class; 4] = [
    ("C", &[2, 4, 6, 10], Claim::SpeedClass),
    ("U", &[1, 3], Claim::UhsGrade),
    ("V", &[6, 10, 30, 60, 90], Claim::VideoClass),
    ("A", &[1, 2], Claim::AppClass),
];

/// Parses a class: `C10`, `U3`, `V30`, `A1`.
fn class(text: &Spanned<String>) -> Result<Claim, FileError> {
    let found = CLASSES.iter().find_map(|(letter, numbers, claim)| {
        let number: u32 = text.get_ref().strip_prefix(letter)?.parse().ok()?;
        numbers.contains(&number).then(|| claim(number))
    });
    found.ok_or_else(|| {
        let known = "C2 to C10, U1, U3, V6 to V90, A1 or A2";
        FileError::at(
            text,
            format!(
                "`{}` is not an SD card class: expected {known}",
                text.get_ref()
            ),
        )
    })
}

/// Returns the layers of the file, and the implied layers that its cards need.
fn layers(
    entries: &[LayerEntry],
    written: &toml::Table,
    cards: &[Card],
) -> Result<Vec<Layer>, FileError> {
    let mut layers = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        layers.push(layer(entry, authored(written, "layer", index, &["name"]))?);
    }
    unique(
        layers.iter().map(|l| l.name.as_str()),
        entries.iter().map(|e| e.name.as_ref().or(Some(&e.fs))),
        "layer",
    )?;
    // A card in a reader gets an implied raw layer, which erases it, only if the file names no layer.
    let raw = if entries.is_empty() {
        LayerKind::Raw
    } else {
        LayerKind::Simulated
    };
    for (name, through) in [("as-is", LayerKind::AsIs), ("raw", raw)] {
        let taken = layers.iter().any(|known: &Layer| known.name == name);
        let name = if taken {
            format!("{name} (implied)")
        } else {
            name.to_owned()
        };
        let layer = Layer {
            name,
            through,
            size: None,
            authored: AuthoredEntry::default(),
        };
        let lacking =
            |card: &Card| layer.suits(card) && !layers.iter().any(|known| known.suits(card));
        if cards.iter().any(lacking) {
            layers.push(layer);
        }
    }
    Ok(layers)
}

fn layer(entry: &LayerEntry, authored: AuthoredEntry) -> Result<Layer, FileError> {
    let LayerEntry {
        fs,
        name,
        mkfs,
        mount,
        discard,
        partition,
        size,
    } = entry;
    name.as_ref()
        .map_or(Ok(()), |name| not_empty(name, "name"))?;
    let plain = mkfs.is_empty() && mount.is_empty() && !discard && partition.is_none();
    let through = match (fs.get_ref().as_str(), FsType::parse(fs.get_ref())) {
        ("raw" | "as-is", _) if !plain => {
            let message = format!(
                "{} takes no mkfs, mount, discard or partition: no file system is created there",
                fs.get_ref()
            );
            return Err(FileError::at(fs, message));
        }
        (name, Some(fs)) if *discard && !fs.can_discard() => {
            let message = format!(
                "mkfs.{name} cannot discard; help: remove discard, or discard the whole card with \
                [preparation]"
            );
            return Err(FileError::at(&entry.fs, message));
        }
        ("raw", _) => LayerKind::Raw,
        ("as-is", _) => LayerKind::AsIs,
        (_, Some(fs)) => LayerKind::Fs(FsSpec {
            fs,
            mkfs: mkfs.clone(),
            mount: mount.clone(),
            discard: *discard,
            partition: *partition,
        }),
        (other, None) => {
            let known = FsType::ALL.map(FsType::name).join(", ");
            return Err(FileError::at(
                fs,
                format!("unknown fs = \"{other}\": expected raw, as-is, {known}"),
            ));
        }
    };
    let name = name.as_ref().unwrap_or(fs).get_ref().clone();
    Ok(Layer {
        name,
        through,
        size: size.map(|size| size.0),
        authored,
    })
}

/// Returns an entry of a list as written in the file, without the keys that only name it.
fn authored(written: &toml::Table, list: &str, index: usize, without: &[&str]) -> AuthoredEntry {
    let table = written
        .get(list)
        .and_then(|list| list.get(index))
        .and_then(toml::Value::as_table);
    let mut table = table.cloned().unwrap_or_default();
    without.iter().for_each(|key| {
        table.remove(*key);
    });
    AuthoredEntry {
        table,
        content: None,
    }
}

fn workloads(
    file: &CampaignFile,
    written: &toml::Table,
    around: &ResolveContext<'_>,
) -> Result<Vec<CampaignWorkload>, FileError> {
    let mut all = Vec::new();
    let mut places: Vec<std::ops::Range<usize>> = Vec::new();
    for (index, entry) in file.workload.iter().enumerate() {
        let authored = authored(written, "workload", index, &["name", "suite"]);
        all.extend(workload(entry, authored, around)?);
        places.resize(all.len(), entry.span());
    }
    let mut seen = std::collections::BTreeSet::new();
    for (workload, place) in all.iter().zip(&places) {
        if !seen.insert(workload.name.clone()) {
            let message = format!(
                "duplicate workload \"{}\"; help: rename one of them",
                workload.name
            );
            return Err(FileError {
                message,
                span: Some(place.clone()),
            });
        }
    }
    if all.is_empty() {
        let message = "no [[workload]]; help: `suite = [\"all\"]` is the standard suite";
        return Err(FileError::at(&file.name, message));
    }
    Ok(all)
}

fn workload(
    entry: &Spanned<WorkloadEntry>,
    authored: AuthoredEntry,
    around: &ResolveContext<'_>,
) -> Result<Vec<CampaignWorkload>, FileError> {
    let of = entry.get_ref();
    of.name
        .as_ref()
        .map_or(Ok(()), |name| not_empty(name, "name"))?;
    let given = [
        !of.suite.is_empty(),
        of.rw.is_some(),
        of.fio.is_some(),
        of.fio_text.is_some(),
    ];
    if given.iter().filter(|given| **given).count() != 1 {
        let message = "a workload needs one of suite, rw, fio or fio-text";
        return Err(FileError::at(entry, message));
    }
    if given[0] {
        return suite_workloads(entry, &authored);
    }
    let name = |default: &str| {
        of.name
            .as_ref()
            .map_or_else(|| default.to_owned(), |name| name.get_ref().clone())
    };
    if let Some(rw) = &of.rw {
        let name = name(rw.get_ref());
        let job = job::job(&name, rw, of)?;
        if job.extent.size.is_none() {
            return Err(FileError::at(
                entry,
                "a workload with rw needs a size, such as size = \"1 GiB\"",
            ));
        }
        return Ok(vec![CampaignWorkload {
            scenario: single(&name, job),
            name,
            authored,
        }]);
    }
    only_fio(entry)?;
    let (default, place, content) = match (&of.fio, &of.fio_text) {
        (Some(path), _) => {
            let stem = path
                .get_ref()
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let content = (around.read_file)(path.get_ref())
                .map_err(|message| FileError::at(path, message))?;
            (stem, path.span(), content)
        }
        (None, text) => {
            let text = text.as_ref().expect("one of the four was given");
            ("fio".to_owned(), text.span(), text.get_ref().clone())
        }
    };
    let name = name(&default);
    let wrong = |message| FileError {
        message,
        span: Some(place.clone()),
    };
    let scenario = (around.fio)(&name, &content).map_err(wrong)?;
    if let Some(job) = scenario
        .phases
        .iter()
        .flat_map(|phase| &phase.jobs)
        .find(|job| job.replay.any())
    {
        let message = format!(
            "job {} replays a log (read_iolog) that names its own files, but a campaign uses only \
            the card under test; help: remove the job, or replay the log with `hakaru fio`",
            job.name
        );
        return Err(wrong(message));
    }
    Ok(vec![CampaignWorkload {
        scenario: named(&name, scenario),
        name,
        authored: authored.with_content(&content),
    }])
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
            "a workload with a fio job takes no other keys; help: keep only its name",
        ));
    }
    Ok(())
}

fn suite_workloads(
    entry: &Spanned<WorkloadEntry>,
    authored: &AuthoredEntry,
) -> Result<Vec<CampaignWorkload>, FileError> {
    let of = entry.get_ref();
    let mut chosen = Vec::new();
    for name in &of.suite {
        match (
            name.get_ref().as_str(),
            suite::SuiteWorkload::from_name(name.get_ref()),
        ) {
            ("all", _) => chosen.extend(suite::SuiteWorkload::ALL),
            (_, Some(workload)) => chosen.push(workload),
            (other, None) => {
                let known = suite::SuiteWorkload::ALL
                    .map(suite::SuiteWorkload::name)
                    .join(", ");
                return Err(FileError::at(
                    name,
                    format!("the suite has no workload `{other}`: expected all, {known}"),
                ));
            }
        }
    }
    let pace = match of.pace.unwrap_or(SuitePace::Standard) {
        SuitePace::Quick => suite::SuiteLength::Quick,
        SuitePace::Standard => suite::SuiteLength::Standard,
    };
    let size = of.size.map_or(pace.size(), |size| size.0);
    let workload = |workload: suite::SuiteWorkload| {
        let suite = suite::Suite {
            pace,
            workloads: vec![workload],
            size,
            seed: 1,
            ioengine: IoEngine::Psync,
        };
        let mut scenario = suite.scenario(&Target::Paths(vec![PathBuf::from("suite.data")]));
        // As in `bench`, all workloads share one fully written file.
        scenario
            .phases
            .iter_mut()
            .flat_map(|phase| &mut phase.jobs)
            .for_each(|job| job.files.overwrite = true);
        let name = workload.name().to_owned();
        CampaignWorkload {
            scenario: named(&name, scenario),
            authored: authored.with_content(&name),
            name,
        }
    };
    Ok(chosen.into_iter().map(workload).collect())
}

fn single(name: &str, job: Job) -> Scenario {
    named(
        name,
        Scenario {
            name: String::new(),
            seed: 1,
            phases: vec![Phase {
                name: String::new(),
                jobs: vec![job],
            }],
        },
    )
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
