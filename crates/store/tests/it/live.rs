//! The state of a running process, as another process sees it.
//!
//! The owner is this test program, started again with an environment variable that names the database. It carries out
//! one command for each line of its standard input.

use hakaru_store::live::{
    LiveEnd, LiveOwner, LivePromptKind, LivePublisher, LiveReader, LiveRequest, LiveRequestError,
    LiveSample, LiveState, LiveVerb,
};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const DATABASE: &str = "HAKARU_LIVE_TEST_DB";

/// Longest wait for something that takes about a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// Child process only: publishes, and obeys the lines of its standard input.
#[test]
fn child_that_publishes() {
    let Some(path) = std::env::var_os(DATABASE) else {
        return;
    };
    let on_stop = || println!("event stop");
    let live = LivePublisher::begin(Path::new(&path), LiveVerb::Bench, "a card", on_stop).unwrap();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let (word, value) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "sample" => live.sample(LiveSample {
                at_unix_ms: value.parse().unwrap(),
                ..LiveSample::default()
            }),
            "ask" => live.ask(erase(value)),
            "answer" => {
                let until = Instant::now() + PATIENCE;
                let mut answer = live.take_answer();
                while answer.is_none() && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(10));
                    answer = live.take_answer();
                }
                let (first, again) = (answer.unwrap_or_default(), live.take_answer());
                println!("event answer {first} {}", again.is_some());
                live.withdraw();
            }
            "note" => live.update(|state| state.note(value)),
            "end" => live.end(LiveEnd::Completed),
            _ => break,
        }
    }
}

fn erase(name: &str) -> LivePromptKind {
    LivePromptKind::Erase {
        card: "a card".to_owned(),
        device: "a device".to_owned(),
        name: name.to_owned(),
        losses: Vec::new(),
        wrong: None,
    }
}

/// A process that publishes.
struct Publishing {
    child: Child,
    input: ChildStdin,
    events: Receiver<String>,
    database: PathBuf,
}

impl Publishing {
    fn begin(database: &Path) -> Publishing {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "live::child_that_publishes", "--nocapture"])
            .env(DATABASE, database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, events) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            let lines = lines.map_while(Result::ok);
            // The test harness may print its own text first.
            for (_, event) in lines.filter_map(|l| {
                Some(l.split_once("event ")?).map(|(a, b)| (a.to_owned(), b.to_owned()))
            }) {
                _ = sender.send(event);
            }
        });
        let input = child.stdin.take().unwrap();
        let database = database.to_owned();
        Publishing {
            child,
            input,
            events,
            database,
        }
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn event(&self) -> String {
        self.events.recv_timeout(PATIENCE).unwrap()
    }

    /// Waits for a state of this process.
    fn state(&self, is_it: impl Fn(&LiveState) -> bool) -> LiveState {
        let reader = LiveReader::of(&self.database);
        let prefix = format!("{}-", self.child.id());
        let until = Instant::now() + PATIENCE;
        loop {
            let states = reader.list();
            let mut of_this = states.iter().filter(|state| state.id.starts_with(&prefix));
            match of_this.find(|state| is_it(state)) {
                Some(state) => return state.clone(),
                None => assert!(Instant::now() < until, "{states:?}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Publishing {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        // Removes what the killed process left in memory.
        LiveReader::of(&self.database).list();
    }
}

fn database() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hakaru.db");
    (dir, path)
}

fn owner(state: &LiveState) -> LiveOwner {
    state.id.parse().unwrap()
}

/// Returns the directory that holds the files of a process.
fn directory_of(state: &LiveState) -> PathBuf {
    let file = format!("{}.json", state.id);
    let all = std::fs::read_dir("/dev/shm").unwrap().flatten();
    let mut ours = all
        .map(|entry| entry.path())
        .filter(|path| path.join(&file).exists());
    ours.next().unwrap()
}

#[test]
fn another_process_sees_state_and_samples() {
    let (_dir, path) = database();
    let mut owner = Publishing::begin(&path);
    for n in 1..=5 {
        owner.tell(&format!("sample {n}"));
    }
    owner.tell("note first");
    let state = owner.state(|state| state.samples == 5 && state.notes == ["first"]);
    assert_eq!((state.verb, &state.target[..]), (LiveVerb::Bench, "a card"));
    let reader = LiveReader::of(&path);
    let times = |after| -> Vec<i64> {
        let samples = reader.samples(&state, after);
        samples.iter().map(|sample| sample.at_unix_ms).collect()
    };
    assert_eq!(times(0), [1, 2, 3, 4, 5]);
    // A reader that was away asks for what followed its last sample.
    assert_eq!(times(3), [4, 5]);
    let mode = directory_of(&state).metadata().unwrap().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_process_that_ends_leaves_nothing_behind() {
    let (_dir, path) = database();
    let mut owner = Publishing::begin(&path);
    let state = owner.state(|_| true);
    let directory = directory_of(&state);
    owner.tell("end");
    owner.tell("quit");
    assert!(owner.child.wait().unwrap().success());
    assert_eq!(LiveReader::of(&path).list(), []);
    assert!(!directory.exists());
}

#[test]
fn a_watching_process_sees_how_another_ended() {
    let (_dir, path) = database();
    let reader = LiveReader::of(&path);
    let watch = reader.watch().unwrap();
    let mut owner = Publishing::begin(&path);
    let state = owner.state(|_| true);
    owner.tell("sample 7");
    owner.tell("end");
    owner.tell("quit");
    assert!(owner.child.wait().unwrap().success());
    let [last] = &reader.list()[..] else {
        panic!("no last state");
    };
    assert_eq!((last.end, last.samples), (Some(LiveEnd::Completed), 1));
    assert_eq!(reader.list(), []);
    let directory = directory_of_watch();
    assert!(directory.iter().any(|d| d.exists()), "{}", state.id);
    drop(watch);
}

fn directory_of_watch() -> Vec<PathBuf> {
    let this = format!("{}.watch", LiveOwner::current().unwrap());
    let all = std::fs::read_dir("/dev/shm").unwrap().flatten();
    all.map(|entry| entry.path())
        .filter(|path| path.join(&this).exists())
        .collect()
}

#[test]
fn a_killed_process_is_reported_once_and_cleaned_up() {
    let (_dir, path) = database();
    // Otherwise, a process that begins in another test could clean up.
    let watch = LiveReader::of(&path).watch().unwrap();
    let mut owner = Publishing::begin(&path);
    owner.tell("ask sdz");
    let state = owner.state(|state| state.prompt.is_some());
    let directory = directory_of(&state);
    let reader = LiveReader::of(&path);
    reader
        .request(self::owner(&state), &LiveRequest::Stop)
        .unwrap();
    assert_eq!(owner.event(), "stop");
    owner.kill();
    // What was being written when it was killed. Before, the process itself could still rename it.
    std::fs::write(directory.join(format!("{}.new", state.id)), "{").unwrap();
    let [last] = &reader.list()[..] else {
        panic!("no last state");
    };
    assert_eq!((last.end, &last.prompt), (Some(LiveEnd::Killed), &None));
    assert_eq!(reader.list(), []);
    drop(watch);
    assert!(!directory.exists());
    let refused = reader.request(self::owner(&state), &LiveRequest::Stop);
    assert!(
        matches!(refused, Err(LiveRequestError::NotRunning { .. })),
        "{refused:?}"
    );
}

#[test]
fn remains_of_killed_processes_do_not_block_new_ones() {
    let (_dir, path) = database();
    let _watch = LiveReader::of(&path).watch().unwrap();
    let mut first = Publishing::begin(&path);
    let state = first.state(|_| true);
    let directory = directory_of(&state);
    first.kill();
    // Killed before its first state was complete.
    std::fs::remove_file(directory.join(format!("{}.json", state.id))).unwrap();
    std::fs::write(directory.join(format!("{}.new", state.id)), "{").unwrap();
    let second = Publishing::begin(&path);
    second.state(|_| true);
    let names = std::fs::read_dir(&directory).unwrap().flatten();
    let names: Vec<String> = names
        .map(|name| name.file_name().into_string().unwrap())
        .collect();
    let first = format!("{}-", first.child.id());
    let left: Vec<&String> = names
        .iter()
        .filter(|name| name.starts_with(&first))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A process that was killed may have measured into a database that is never opened again.
#[test]
fn a_new_process_cleans_up_for_databases_that_nobody_watches() {
    let (_dir, path) = database();
    let mut killed = Publishing::begin(&path);
    let directory = directory_of(&killed.state(|_| true));
    killed.kill();
    let (_other_dir, other) = database();
    Publishing::begin(&other).state(|_| true);
    assert!(!directory.exists());
}

#[test]
fn an_answer_arrives_once_and_only_at_its_question() {
    let (_dir, path) = database();
    let mut owner = Publishing::begin(&path);
    let reader = LiveReader::of(&path);
    let answer = |state: &LiveState, number, text: &str| {
        let text = text.to_owned();
        let answer = LiveRequest::Answer {
            prompt: number,
            text,
        };
        reader.request(self::owner(state), &answer).unwrap();
    };
    owner.tell("ask sda");
    let state = owner.state(|state| state.prompt.is_some());
    let first = state.prompt.as_ref().unwrap().number;
    owner.tell("ask sdb");
    let state = owner.state(|state| state.prompt.as_ref().is_some_and(|p| p.number != first));
    let second = state.prompt.as_ref().unwrap().number;
    // An answer to the first question must not confirm the second one.
    answer(&state, first, "sda");
    answer(&state, second, "sdb");
    owner.tell("answer");
    assert_eq!(owner.event(), "answer sdb false");
    let state = owner.state(|state| state.prompt.is_none());
    answer(&state, second, "sdb");
    owner.tell("ask sdb");
    let state = owner.state(|state| state.prompt.is_some());
    let third = state.prompt.as_ref().unwrap().number;
    assert!(third > second);
    answer(&state, third, "typed");
    owner.tell("answer");
    assert_eq!(owner.event(), "answer typed false");
}

#[test]
fn requests_have_limits() {
    let (_dir, path) = database();
    let owner = Publishing::begin(&path);
    let state = owner.state(|_| true);
    let (reader, id) = (LiveReader::of(&path), self::owner(&state));
    let long = LiveRequest::Answer {
        prompt: 1,
        text: "x".repeat(20 << 10),
    };
    let refused = reader.request(id, &long);
    assert!(
        matches!(refused, Err(LiveRequestError::TooLong)),
        "{refused:?}"
    );
    // A stopped owner does not take its requests.
    signal(&owner.child, "STOP");
    let send = |_| reader.request(id, &LiveRequest::Stop);
    let sent: Vec<_> = (0..200).map(send).collect();
    signal(&owner.child, "CONT");
    assert!(matches!(
        sent.last(),
        Some(Err(LiveRequestError::Pending { .. }))
    ));
    assert!(sent.iter().filter(|sent| sent.is_ok()).count() >= 60);
    assert_eq!(owner.event(), "stop");
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill")
        .args(["-s", name, &id])
        .status()
        .unwrap();
    assert!(sent.success());
}

#[test]
fn links_and_broken_files_are_ignored() {
    let (dir, path) = database();
    let mut owner = Publishing::begin(&path);
    let state = owner.state(|_| true);
    let directory = directory_of(&state);
    // A request that is a link, one that is no JSON, and one of another format.
    let secret = dir.path().join("secret");
    std::fs::write(&secret, r#"{"request":"stop"}"#).unwrap();
    let request = |name: &str| directory.join(format!("{}.request.{name}", state.id));
    std::os::unix::fs::symlink(&secret, request("1")).unwrap();
    std::fs::write(request("2"), "}").unwrap();
    std::fs::write(request("3"), r#"{"request":"format_the_disk"}"#).unwrap();
    // A state that is a link to a valid one.
    let other = LiveOwner::current().unwrap();
    let text = std::fs::read_to_string(directory.join(format!("{}.json", state.id))).unwrap();
    let copy = dir.path().join("copy");
    std::fs::write(&copy, text.replace(&state.id, &other.to_string())).unwrap();
    let link = directory.join(format!("{other}.json"));
    std::os::unix::fs::symlink(&copy, &link).unwrap();
    let ids: Vec<String> = LiveReader::of(&path)
        .list()
        .into_iter()
        .map(|s| s.id)
        .collect();
    assert_eq!(ids, std::slice::from_ref(&state.id));
    std::fs::remove_file(link).unwrap();
    // Requests are taken in order: the stop that follows is the only one that arrives.
    owner.tell("ask sda");
    let reader = LiveReader::of(&path);
    let state = owner.state(|state| state.prompt.is_some());
    reader
        .request(self::owner(&state), &LiveRequest::Stop)
        .unwrap();
    assert_eq!(owner.event(), "stop");
    assert!(
        owner
            .events
            .recv_timeout(Duration::from_millis(700))
            .is_err()
    );
    assert!(secret.exists());
}

#[test]
fn a_directory_of_somebody_else_is_not_used() {
    let (_dir, path) = database();
    let first = Publishing::begin(&path);
    let directory = directory_of(&first.state(|_| true));
    drop(first);
    _ = std::fs::remove_dir_all(&directory);
    // Its permissions are those of a directory that anybody can change.
    std::fs::create_dir(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
    let reader = LiveReader::of(&path);
    assert_eq!(reader.list(), []);
    let begun = LivePublisher::begin(&path, LiveVerb::Fio, "x", || ());
    let files = std::fs::read_dir(&directory).unwrap().count();
    drop(begun);
    std::fs::remove_dir(&directory).unwrap();
    assert_eq!(files, 0);
}
