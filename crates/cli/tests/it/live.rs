//! What runs, as another process sees it: progress, points of a campaign, stopping and answering.

use crate::support::{Home, hakaru, records, root_loop_sparse, text, wait_until};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::record::Outcome;
use hakaru_model::units::Bytes;
use hakaru_store::live::{
    LiveCellState, LiveEnd, LiveOwner, LivePhaseState, LivePromptKind, LiveReader, LiveRequest,
    LiveState, LiveVerb,
};
use std::process::{Child, Command, Stdio};

/// Starts a command whose questions another process answers.
fn detached(home: &Home, line: &str) -> Child {
    let mut command = hakaru(home);
    command
        .env("HAKARU_DETACHED", "1")
        .args(line.split_whitespace());
    spawn(home, &mut command)
}

fn spawn(home: &Home, command: &mut Command) -> Child {
    let command = command.current_dir(home.work()).stdin(Stdio::null());
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn reader(home: &Home) -> LiveReader {
    LiveReader::of(&home.path().join("hakaru.db"))
}

/// Waits for a state of a process; fails with its output if it ends before.
#[track_caller]
fn state(home: &Home, child: &mut Child, is_it: impl Fn(&LiveState) -> bool) -> LiveState {
    let prefix = format!("{}-", child.id());
    let mut found = None;
    wait_until(|| {
        let states = reader(home).list().into_iter();
        found = states
            .into_iter()
            .find(|state| state.id.starts_with(&prefix) && is_it(state));
        if found.is_none() && child.try_wait().unwrap().is_some() {
            let mut said = String::new();
            std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut said).unwrap();
            panic!("it ended: {said}");
        }
        found.is_some()
    });
    found.unwrap()
}

fn send(home: &Home, state: &LiveState, request: &LiveRequest) {
    let owner: LiveOwner = state.id.parse().unwrap();
    reader(home).request(owner, request).unwrap();
}

fn answer(home: &Home, state: &LiveState, typed: &str) {
    let prompt = state.prompt.as_ref().unwrap().number;
    let text = typed.to_owned();
    send(home, state, &LiveRequest::Answer { prompt, text });
}

#[test]
fn a_bench_is_seen_and_stopped() {
    let home = Home::new();
    let line = "bench --standard --only=seq-read,rand-read --size=16MiB --quiet";
    let mut child = detached(&home, line);
    let seen = state(&home, &mut child, |state| {
        state
            .phases
            .iter()
            .any(|phase| phase.state == LivePhaseState::Running)
            && state.samples > 1
    });
    assert_eq!((seen.verb, seen.round), (LiveVerb::Bench, Some((1, 1))));
    let names: Vec<&str> = seen.phases.iter().map(|phase| &phase.name[..]).collect();
    assert_eq!(names, ["seq-read", "rand-read"]);
    assert_eq!(seen.phases[1].state, LivePhaseState::Waiting);
    // On a busy host, some samples end before a read does, and the first ones before the first interval with latencies.
    let mut read = None;
    wait_until(|| {
        let samples = reader(&home).samples(&seen, 0);
        let mut reads = samples.iter().filter_map(|sample| sample.read);
        read = reads.rfind(|read| read.iops > 0.0 && read.p50_ns.is_some());
        read.is_some()
    });
    let read = read.unwrap();
    assert!(read.bytes_per_s > 0.0, "{read:?}");
    let latencies = (read.p50_ns.unwrap(), read.p99_ns.unwrap());
    assert!(
        0 < latencies.0 && latencies.0 <= latencies.1,
        "{latencies:?}"
    );
    send(&home, &seen, &LiveRequest::Stop);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert_eq!(records(&home)[0].outcome, Outcome::Interrupted);
    assert_eq!(reader(&home).list(), []);
}

#[test]
fn publishing_can_be_turned_off() {
    let home = Home::new();
    let mut command = hakaru(&home);
    command.env("HAKARU_LIVE", "0");
    let line = "bench --quick --only=rand-read --size=16MiB --quiet";
    let mut child = spawn(&home, command.args(line.split_whitespace()));
    let reader = reader(&home);
    let mut seen = 0;
    wait_until(|| {
        seen += reader.list().len();
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(seen, 0);
}

#[test]
fn a_watcher_learns_how_a_verification_ended() {
    let home = Home::new();
    let reader = reader(&home);
    let _watch = reader.watch().unwrap();
    let child = detached(&home, "verify . --size=64MiB --quiet");
    let prefix = format!("{}-", child.id());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let last = reader
        .list()
        .into_iter()
        .find(|state| state.id.starts_with(&prefix));
    let last = last.unwrap();
    assert_eq!(
        (last.verb, last.end),
        (LiveVerb::Verify, Some(LiveEnd::Completed))
    );
    let id = last.stored.unwrap();
    let store = hakaru_store::Store::open(home.path().join("hakaru.db")).unwrap();
    assert_eq!(store.verification(&id).unwrap().id, id);
}

#[test]
fn a_watcher_learns_how_an_anatomy_ended() {
    let home = Home::new();
    let model = DeviceModel::plain("kitchen", Bytes(8 << 30));
    let model = serde_json::to_string(&model).unwrap();
    std::fs::write(home.work().join("card.json"), model).unwrap();
    let reader = reader(&home);
    let _watch = reader.watch().unwrap();
    let line = "anatomy --simulate card.json --read-only --seed 7 --quiet";
    let child = detached(&home, line);
    let prefix = format!("{}-", child.id());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let mut all = reader.list().into_iter();
    let last = all.find(|state| state.id.starts_with(&prefix)).unwrap();
    let ended = (last.verb, last.end);
    assert_eq!(ended, (LiveVerb::Anatomy, Some(LiveEnd::Completed)));
    assert_eq!(&*last.target, "kitchen");
    assert!(last.activity.is_some());
    let id = last.stored.unwrap();
    let store = hakaru_store::Store::open(home.path().join("hakaru.db")).unwrap();
    assert_eq!(store.anatomy(&id).unwrap().id, id);
}

fn write_campaign(home: &Home, cards: &str, rw: &str, repeats: u32) {
    let workload = format!(
        "[[workload]]\nname = \"short\"\nrw = \"{rw}\"\nbs = \"4 KiB\"\nsize = \"1 MiB\"\nruntime = \"1 s\"\n"
    );
    let text = format!("name = \"live\"\nrepeats = {repeats}\n{cards}{workload}");
    std::fs::write(home.work().join("live.toml"), text).unwrap();
}

#[test]
fn points_of_a_campaign_are_seen_from_waiting_to_done() {
    let home = Home::new();
    std::fs::create_dir(home.work().join("disk")).unwrap();
    write_campaign(
        &home,
        "[[card]]\nlabel = \"here\"\nfolder = \"disk\"\n",
        "randread",
        2,
    );
    let reader = reader(&home);
    let _watch = reader.watch().unwrap();
    let mut child = detached(&home, "campaign run live.toml --quiet");
    let cell = |state: &LiveState| {
        let cells = state
            .campaign
            .iter()
            .flat_map(|campaign| campaign.cells.clone());
        cells
            .into_iter()
            .next()
            .map(|cell| (cell.state, cell.done, cell.of))
    };
    state(&home, &mut child, |state| {
        cell(state) == Some((LiveCellState::Running, 0, 2))
    });
    let second = state(&home, &mut child, |state| {
        cell(state) == Some((LiveCellState::Running, 1, 2))
    });
    let campaign = second.campaign.unwrap();
    assert_eq!((campaign.number, campaign.of), (2, 2));
    assert_eq!(
        (campaign.cards, campaign.layers.len()),
        (vec!["here".to_owned()], 1)
    );
    let prefix = format!("{}-", child.id());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let last = reader
        .list()
        .into_iter()
        .find(|state| state.id.starts_with(&prefix))
        .unwrap();
    assert_eq!(cell(&last), Some((LiveCellState::Done, 2, 2)));
    assert_eq!(last.end, Some(LiveEnd::Completed));
}

#[test]
fn an_absent_card_is_asked_for_and_skipped_from_elsewhere() {
    let home = Home::new();
    write_campaign(
        &home,
        "[[card]]\nlabel = \"absent\"\nid = \"0xNOBODY\"\n",
        "randread",
        1,
    );
    let mut child = detached(&home, "campaign run live.toml --quiet");
    let asking = state(&home, &mut child, |state| state.prompt.is_some());
    let LivePromptKind::Insert { card, position, .. } = asking.prompt.clone().unwrap().kind else {
        panic!("{asking:?}");
    };
    assert_eq!((&card[..], position), ("absent", (1, 1)));
    // An invalid answer is refused, and the question is asked again.
    answer(&home, &asking, "no such disk");
    let first = asking.prompt.unwrap().number;
    let again = state(&home, &mut child, |state| {
        state
            .prompt
            .as_ref()
            .is_some_and(|prompt| prompt.number > first)
    });
    answer(&home, &again, "s");
    let ended = child.wait_with_output().unwrap();
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.contains("`no such disk` is not a valid answer"),
        "{said}"
    );
}

/// The process of the campaign checks the typed name, exactly as on a terminal.
#[test]
fn a_card_is_erased_only_if_its_name_is_typed_elsewhere() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 64 << 20) else {
        return;
    };
    let name = disk.device().trim_start_matches("/dev/").to_owned();
    write_campaign(
        &home,
        "[[card]]\nlabel = \"kingston\"\nid = \"ask\"\n",
        "randwrite",
        1,
    );
    let mut child = detached(&home, "campaign run live.toml --quiet");
    let is_insert = |state: &LiveState| {
        let kind = state.prompt.as_ref().map(|prompt| &prompt.kind);
        matches!(kind, Some(LivePromptKind::Insert { .. }))
    };
    let insert = state(&home, &mut child, is_insert);
    answer(&home, &insert, disk.device());
    let erase = |wrong: Option<&str>| {
        let wrong = wrong.map(str::to_owned);
        move |state: &LiveState| match state.prompt.as_ref().map(|prompt| &prompt.kind) {
            Some(LivePromptKind::Erase { wrong: found, .. }) => *found == wrong,
            _ => false,
        }
    };
    let first = state(&home, &mut child, erase(None));
    answer(&home, &first, "sda");
    let second = state(&home, &mut child, erase(Some("sda")));
    assert_eq!(records(&home).len(), 0);
    answer(&home, &second, &name);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert_eq!(records(&home).len(), 1);
}
