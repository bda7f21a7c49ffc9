//! The agent of a host: carries out the jobs that the operator signed, and sends the results until the operator has them.

mod devices;
mod journal;
mod measure;
mod operator;
mod outbox;
mod work;

use crate::clock;
use crate::connection::ServerAccess;
use crate::enroll::AgentConfig;
use crate::message::{AgentLogLine, AnnouncedDevice, HostHello, HostReport, Receipt, StopRequest};
use crate::names;
use crate::signed::{self, Signer};
use anyhow::{Context as _, Result};
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context, Message};
use async_nats::{Client, Event, HeaderMap};
use futures_util::StreamExt as _;
use hakaru_campaign::now_unix_ms;
use hakaru_model::campaign::ClockOffset;
use hakaru_report::Language;
use hakaru_store::Store;
use journal::JobJournal;
use outbox::Outbox;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use work::RunningJob;

/// Pause after a failed request.
const RETRY: Duration = Duration::from_secs(2);

/// Time for which one request for jobs or receipts is valid; an idle agent sends one a minute.
const IDLE: Duration = Duration::from_secs(60);

/// Interval in which the server shows that such a request is alive.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// Time after which an agent has announced itself, and waits.
const STARTING: Duration = Duration::from_secs(3);

/// The agent of a host.
struct Agent<'a> {
    config: AgentConfig,
    directory: PathBuf,
    client: Client,
    context: Context,
    signer: Signer,
    outbox: RefCell<Outbox>,
    /// Number of runs that the server does not have.
    waiting: watch::Sender<usize>,
    journal: JobJournal,
    running: RefCell<Vec<RunningJob>>,
    offset: Cell<Option<ClockOffset>>,
    devices: RefCell<Vec<AnnouncedDevice>>,
    language: Language,
    print: &'a dyn Fn(&str),
}

/// Runs the agent whose settings are in a directory until SIGTERM or Ctrl-C. `print` receives each line of its log.
///
/// # Errors
/// If the directory cannot be used, or the server refuses the agent's key.
pub fn run(directory: &Path, print: &dyn Fn(&str)) -> Result<()> {
    let config = AgentConfig::read(directory)?;
    crate::block_on(serve(config, directory, print))
}

async fn serve(config: AgentConfig, directory: &Path, print: &dyn Fn(&str)) -> Result<()> {
    let (events, mut received) = mpsc::unbounded_channel();
    let access = config.access(directory);
    let client = tokio::select! {
        client = connect(&access, print, events) => client,
        () = terminated() => return Ok(()),
    };
    let mut context = jetstream::new(client.clone());
    context.set_timeout(Duration::from_secs(10));
    let database = directory.join("agent.db");
    let outbox = Outbox::open(directory, &Store::open(&database)?)?;
    let agent = Agent {
        signer: Signer::new(&config.seed)?,
        waiting: watch::Sender::new(outbox.waiting()),
        outbox: RefCell::new(outbox),
        journal: JobJournal::open(directory)?,
        running: RefCell::default(),
        offset: Cell::default(),
        devices: RefCell::default(),
        language: hakaru_report::text::language(),
        directory: directory.to_owned(),
        client,
        context,
        config,
        print,
    };
    let (server, name) = (&agent.config.server, &agent.config.name);
    agent
        .log(&both!(
            "connected to {server} as {name}",
            "{server}に{name}として接続しました"
        ))
        .await;
    tokio::select! {
        ended = agent.all(&mut received) => ended,
        () = terminated() => {
            agent.end_jobs();
            Ok(())
        }
    }
}

/// Connects, and tries again for as long as it takes: a host may start before the server.
async fn connect(
    access: &ServerAccess<'_>,
    print: &dyn Fn(&str),
    events: mpsc::UnboundedSender<Event>,
) -> Client {
    let mut told = String::new();
    let mut pause = RETRY;
    loop {
        let events = events.clone();
        match access.connect(move |event| _ = events.send(event)).await {
            Ok(client) => return client,
            Err(error) => {
                let why = error.to_string();
                // The same reason is printed once.
                if why != told {
                    print(&why);
                    told = why;
                }
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(30));
    }
}

/// Waits for SIGTERM or Ctrl-C.
async fn terminated() {
    let (Ok(mut term), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
}

impl Agent<'_> {
    async fn all(&self, events: &mut mpsc::UnboundedReceiver<Event>) -> Result<()> {
        tokio::try_join!(
            self.connection(events),
            self.jobs(),
            self.send_runs(),
            self.receipts(),
            self.answer(),
            self.watch_devices(),
            self.unmap_regularly(),
        )?;
        Ok(())
    }

    fn name(&self) -> &str {
        &self.config.name
    }

    fn database(&self) -> PathBuf {
        self.directory.join("agent.db")
    }

    /// Prints a line, and sends it to the log of the fleet. While there is no connection, it waits.
    async fn log(&self, text: &str) {
        (self.print)(text);
        let line = AgentLogLine {
            at_unix_ms: now_unix_ms(),
            text: text.to_owned(),
        };
        if let Ok(json) = serde_json::to_vec(&line) {
            let _ = self
                .client
                .publish(names::log(self.name()), json.into())
                .await;
        }
    }

    /// Follows the connection: after a loss, runs that nobody has acknowledged are sent again.
    async fn connection(&self, events: &mut mpsc::UnboundedReceiver<Event>) -> Result<()> {
        let mut lost = false;
        let server = &self.config.server;
        while let Some(event) = events.recv().await {
            match event {
                Event::Disconnected => {
                    lost = true;
                    (self.print)(&both!(
                        "lost the connection to {server}; measuring goes on",
                        "{server}との接続が切れました（測定は続きます）"
                    ));
                }
                Event::Connected if std::mem::take(&mut lost) => {
                    self.outbox.borrow_mut().send_again();
                    self.note_waiting();
                    self.log(&both!(
                        "connected to {server} again",
                        "{server}に再接続しました"
                    ))
                    .await;
                }
                Event::ServerError(error) => (self.print)(&format!("{server}: {error}")),
                _ => {}
            }
        }
        Ok(())
    }

    /// Unmaps the program when no job runs and the operator has all results.
    fn unmap_when_idle(&self) {
        if self.running.borrow().is_empty() && self.outbox.borrow().unacknowledged() == 0 {
            hakaru_sys::program::unmap_program();
        }
    }

    /// Unmaps what starting needed, and from time to time what waiting needed.
    async fn unmap_regularly(&self) -> Result<()> {
        let mut pause = STARTING;
        loop {
            tokio::time::sleep(pause).await;
            self.unmap_when_idle();
            pause = IDLE / 2;
        }
    }

    fn note_waiting(&self) {
        let waiting = self.outbox.borrow().waiting();
        self.waiting.send_replace(waiting);
    }

    /// Returns one of this agent's consumers, as soon as the operator has created it.
    async fn consumer(&self, stream: &str, name: &str) -> PullConsumer {
        let mut told = false;
        loop {
            match self.context.get_consumer_from_stream(name, stream).await {
                Ok(consumer) => return consumer,
                Err(error) => {
                    if !std::mem::replace(&mut told, true) {
                        (self.print)(&both!(
                            "waiting for {name} on the server ({error}); help: run `hakaru fleet up` on the operator's host",
                            "サーバの{name}を待っています（{error}）; help: 管理側のホストでhakaru fleet upを実行してください"
                        ));
                    }
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Publishes a signed message to a stream, and returns its number when the server has stored it.
    async fn publish<T: Serialize>(&self, subject: &str, id: &str, content: &T) -> Result<u64> {
        let (headers, payload) = self.signer.seal(subject, content)?;
        let message = PublishMessage::build()
            .headers(headers)
            .message_id(id)
            .payload(payload.into());
        let stored = self
            .context
            .send_publish(subject.to_owned(), message)
            .await?;
        Ok(stored.await?.sequence)
    }

    /// Sends runs until the server has each.
    async fn send_runs(&self) -> Result<()> {
        let mut changes = self.waiting.subscribe();
        let mut pause = Duration::from_millis(100);
        loop {
            let next = self.outbox.borrow().next();
            let Some(run) = next else {
                changes.changed().await?;
                continue;
            };
            match self.send_run(&run).await {
                Ok(()) => {
                    pause = Duration::from_millis(100);
                    self.outbox.borrow_mut().sent(&run);
                }
                Err(SendFailure::ForGood(why)) => {
                    self.outbox.borrow_mut().leave(&run);
                    self.log(&both!(
                        "run {run} cannot be sent: {why}",
                        "測定{run}を送信できません: {why}"
                    ))
                    .await;
                }
                Err(SendFailure::ForNow) => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(15));
                }
            }
            self.note_waiting();
        }
    }

    async fn send_run(&self, run: &str) -> Result<(), SendFailure> {
        let for_good = |why: &dyn std::fmt::Display| SendFailure::ForGood(why.to_string());
        let record = Store::read(self.database())
            .map_err(|_| SendFailure::ForNow)?
            .run(run)
            .map_err(|error| for_good(&error))?;
        let record = hakaru_store::export(&record).map_err(|error| for_good(&error))?;
        let (subject, report) = (names::result(self.name()), HostReport::Run { record });
        let id = self.outbox.borrow().message_id(run);
        let (_, payload) = self
            .signer
            .seal(&subject, &report)
            .map_err(|error| for_good(&error))?;
        let most = self.client.server_info().max_payload;
        // A kilobyte for the headers.
        if payload.len() + 1024 > most && most > 0 {
            return Err(for_good(&both!(
                "its record has {} bytes, more than a message may have; help: copy it with `hakaru sync`",
                "記録が{}バイトで、送信できる大きさを超えています; help: hakaru syncでコピーしてください";
                payload.len()
            )));
        }
        let sent = self.publish(&subject, &id, &report).await;
        sent.map(drop).map_err(|_| SendFailure::ForNow)
    }

    /// Reads which runs the operator has stored.
    async fn receipts(&self) -> Result<()> {
        let consumer = self
            .consumer(names::RECEIPT, &names::reader(self.name()))
            .await;
        loop {
            let Some(message) = self.next(&consumer).await else {
                continue;
            };
            match self.signed::<Receipt>(&message) {
                Ok(receipt) => {
                    let noted = self.outbox.borrow_mut().acknowledge(&receipt.runs);
                    if let Err(error) = noted {
                        // It is acknowledged again after the next start.
                        self.log(&format!("{error:#}")).await;
                    }
                    self.note_waiting();
                }
                Err(why) => self.log_refusal(&message, &why.to_string()).await,
            }
            let _ = message.ack().await;
            self.unmap_when_idle();
        }
    }

    /// Waits for the next message of a consumer; `None` if there was none for a while, or the connection was lost.
    async fn next(&self, consumer: &PullConsumer) -> Option<Message> {
        let batch = consumer
            .batch()
            .max_messages(1)
            .expires(IDLE)
            .heartbeat(HEARTBEAT);
        let received = match batch.messages().await {
            Ok(mut messages) => messages.next().await,
            Err(error) => Some(Err(error.into())),
        };
        match received {
            Some(Ok(message)) => Some(message),
            Some(Err(_)) => {
                tokio::time::sleep(RETRY).await;
                None
            }
            None => None,
        }
    }

    /// Reads a message that the operator must have signed for this host.
    fn signed<T: serde::de::DeserializeOwned>(
        &self,
        message: &Message,
    ) -> Result<T, signed::Rejected> {
        let (subject, headers) = (message.subject.as_str(), message.headers.as_ref());
        signed::open(subject, headers, &message.payload, &self.config.operator)
    }

    async fn log_refusal(&self, message: &Message, why: &str) {
        let subject = message.subject.as_str();
        self.log(&both!(
            "refused a message on {subject}: {why}",
            "{subject}のメッセージを拒否しました: {why}"
        ))
        .await;
    }

    /// Answers the operator: announces this host, and stops jobs.
    async fn answer(&self) -> Result<()> {
        let stop = names::stop(self.name());
        let mut asked = self.client.subscribe(names::ASK).await?;
        let mut stopped = self.client.subscribe(stop.clone()).await?;
        loop {
            tokio::select! {
                Some(message) = asked.next() => {
                    let Some(reply) = message.reply else { continue };
                    let (headers, payload) = self.hello_message()?;
                    let _ = self.client.publish_with_headers(reply, headers, payload.into()).await;
                }
                Some(message) = stopped.next() => {
                    let opened = signed::open(&stop, message.headers.as_ref(), &message.payload, &self.config.operator);
                    match opened {
                        Ok(request) => self.stop_jobs(&request).await,
                        Err(why) => self.log(&both!(
                            "refused a message on {stop}: {why}",
                            "{stop}のメッセージを拒否しました: {why}"
                        )).await,
                    }
                    if let Some(reply) = message.reply {
                        let _ = self.client.publish(reply, "".into()).await;
                    }
                }
                else => return Ok(()),
            }
        }
    }

    async fn stop_jobs(&self, request: &StopRequest) {
        let running = self.running.borrow();
        for job in running.iter().filter(|job| request.jobs.contains(&job.id)) {
            job.stop();
        }
    }

    /// What this host announces.
    fn hello(&self) -> HostHello {
        let environment = hakaru_device::environment(&hakaru_device::Roots::live(), "");
        HostHello {
            name: self.name().to_owned(),
            version: crate::VERSION.to_owned(),
            hostname: environment.hostname,
            board: environment.board.known().cloned(),
            kernel: environment.kernel,
            devices: self.devices.borrow().clone(),
            unacknowledged: self.outbox.borrow().unacknowledged() as u64,
            measuring: self
                .running
                .borrow()
                .iter()
                .map(|job| job.campaign.clone())
                .collect(),
            clock: self.offset.get(),
            sent_unix_ms: now_unix_ms(),
        }
    }

    fn hello_message(&self) -> Result<(HeaderMap, Vec<u8>)> {
        self.signer.seal(&names::host(self.name()), &self.hello())
    }

    /// Announces this host, and measures the offset of its clock with the same message.
    async fn announce(&self) -> Result<()> {
        let before = clock::now_ns();
        let (subject, id) = (names::host(self.name()), before.to_string());
        let sequence = self.publish(&subject, &id, &self.hello()).await?;
        let times = (before, clock::now_ns());
        let offset = clock::offset(&self.client, self.name(), sequence, times).await;
        if offset.is_some() {
            self.offset.set(offset);
        }
        Ok(())
    }

    /// Stops what is measured, and waits until partial results are stored.
    fn end_jobs(&self) {
        let running = std::mem::take(&mut *self.running.borrow_mut());
        running.iter().for_each(RunningJob::stop);
        running.into_iter().for_each(RunningJob::wait);
    }
}

/// Why a run was not sent.
enum SendFailure {
    /// It is tried again.
    ForNow,
    /// It can never be sent.
    ForGood(String),
}

/// Returns the context of an error about a directory.
fn state_directory(directory: &Path) -> Result<PathBuf> {
    let state = directory.join("state");
    std::fs::create_dir_all(&state)
        .with_context(|| both!("cannot create {}", "{}を作成できません"; state.display()))?;
    Ok(state)
}
