//! What somebody without rights, and an agent that lies, can do: nothing. With a real server.

mod lab;

use crate::connection::ServerAccess;
use crate::keys::NewKey;
use crate::message::{HostHello, HostReport, Receipt};
use crate::names;
use crate::operator::collect;
use crate::server;
use crate::signed::{self, Rejected, Signer};
use async_nats::jetstream;
use hakaru_model::campaign::{Assignment, CampaignPoint};
use hakaru_store::Store;
use lab::{LogWatcher, LoopDisk, TestFleet, erasing_job, sim_job, within};
use std::time::Duration;

/// Connects with a seed, and returns the message of the error.
fn refusal(lab: &TestFleet, seed: &str, authority: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority).unwrap();
    let connected = crate::block_on(async {
        let access = ServerAccess {
            server: &lab.fleet.settings().address,
            seed,
            authority: file,
            name: "a",
        };
        Ok(access.connect(|_| {}).await.map(drop))
    });
    connected
        .unwrap()
        .expect_err("a connection without rights")
        .to_string()
}

#[test]
fn unknown_keys_and_other_authorities_are_refused_with_the_cure() {
    let Some(lab) = TestFleet::start(&["a"]) else {
        return;
    };
    let authority = std::fs::read_to_string(lab.fleet.file("ca.pem")).unwrap();
    let unknown = refusal(&lab, &NewKey::generate().unwrap().seed, &authority);
    assert!(unknown.contains("does not know this key"), "{unknown}");
    // A host that is enrolled again gets another key, and the earlier one is of no use.
    let earlier = lab.config("a").seed;
    lab.fleet.enroll("a").unwrap();
    server::up(&lab.fleet).unwrap();
    let replaced = refusal(&lab, &earlier, &authority);
    assert!(replaced.contains("does not know this key"), "{replaced}");
    let Some(other) = TestFleet::start(&["a"]) else {
        return;
    };
    let foreign = std::fs::read_to_string(other.fleet.file("ca.pem")).unwrap();
    let foreign = refusal(&lab, &earlier, &foreign);
    assert!(
        foreign.contains("not the server of this fleet"),
        "{foreign}"
    );
    let without = crate::block_on(async {
        let options = async_nats::ConnectOptions::new()
            .add_root_certificates(lab.fleet.file("ca.pem"))
            .require_tls(true);
        let address = format!("tls://{}", lab.fleet.settings().address);
        Ok(options.connect(address).await.is_ok())
    });
    assert!(!without.unwrap(), "a connection without a key");
}

#[test]
fn an_agent_can_only_speak_for_its_own_host() {
    let Some(lab) = TestFleet::start(&["a", "b"]) else {
        return;
    };
    let config = lab.config("a");
    let (directory, watcher) = (lab.agent_directory("a"), LogWatcher::default());
    let seen = watcher.clone();
    crate::block_on(async {
        let client = config
            .access(&directory)
            .connect(move |event| seen.note(&event.to_string()))
            .await?;
        let mut context = jetstream::new(client.clone());
        context.set_timeout(Duration::from_millis(300));
        for subject in [
            names::work("a"),
            names::work("b"),
            names::result("b"),
            names::host("b"),
            names::receipt("a"),
            names::stop("b"),
            names::ASK.to_owned(),
        ] {
            let sent = context.publish(subject.clone(), "x".into()).await?;
            assert!(sent.await.is_err(), "{subject}");
        }
        // It cannot read what others receive, nor change what the server stores.
        let _ = client.subscribe("lab.>").await?;
        let _ = client.subscribe(format!("{}.>", names::inbox("b"))).await?;
        assert!(context.get_stream(names::WORK).await.is_err());
        assert!(context.delete_stream(names::RESULT).await.is_err());
        client.flush().await?;
        Ok(())
    })
    .unwrap();
    within(|| watcher.count("ermissions") >= 9);
    assert_eq!(lab.messages(names::WORK), 0);
    assert_eq!(lab.messages(names::RECEIPT), 0);
}

#[test]
fn jobs_of_others_and_for_others_are_refused() {
    let Some(lab) = TestFleet::start(&["a", "b"]) else {
        return;
    };
    let watcher = lab.run_agent("a");
    let stranger = Signer::new(&NewKey::generate().unwrap().seed).unwrap();
    let operator = lab.fleet.signer().unwrap();
    let job = sim_job("job-1", "a");
    let (work, other) = (names::work("a"), names::work("b"));
    // Even who can publish as the operator needs the operator's key to sign.
    lab.publish(&work, Some(stranger.seal(&work, &job).unwrap()));
    lab.publish(&work, None);
    lab.publish(&work, Some(operator.seal(&other, &job).unwrap()));
    within(|| watcher.count("refused a message on lab.work.a") == 3);
    within(|| lab.messages(names::WORK) == 0);
    assert_eq!(lab.runs_of("a"), 0);
    // The same job, signed for this host, is carried out; what is sent again is not.
    lab.publish(&work, Some(operator.seal(&work, &job).unwrap()));
    within(|| watcher.count("runs measured") == 1);
    within(|| lab.messages(names::WORK) == 0);
    let runs = lab.runs_of("a");
    assert!(runs > 0);
    lab.publish(&work, Some(operator.seal(&work, &job).unwrap()));
    within(|| watcher.count("was done before") == 1);
    within(|| lab.messages(names::WORK) == 0);
    assert_eq!(lab.runs_of("a"), runs);
    // A stop request of a stranger has no effect.
    let stop = names::stop("a");
    let sealed = stranger
        .seal(&stop, &crate::message::StopRequest::default())
        .unwrap();
    lab.publish_core(&stop, sealed);
    within(|| watcher.count("refused a message on lab.stop.a") == 1);
}

#[test]
fn jobs_of_another_version_are_refused_unless_allowed() {
    let Some(lab) = TestFleet::start(&["a"]) else {
        return;
    };
    let watcher = lab.run_agent("a");
    let (operator, work) = (lab.fleet.signer().unwrap(), names::work("a"));
    let mut job = sim_job("job-1", "a");
    job.version = "0.0.0".to_owned();
    lab.publish(&work, Some(operator.seal(&work, &job).unwrap()));
    within(|| watcher.count("install the same version") == 1);
    (job.id, job.any_version) = ("job-2".to_owned(), true);
    lab.publish(&work, Some(operator.seal(&work, &job).unwrap()));
    within(|| watcher.count("runs measured") == 1);
}

#[test]
fn an_expired_permission_erases_nothing() {
    let Some(lab) = TestFleet::start(&["a"]) else {
        return;
    };
    let Some(disk) = LoopDisk::attach(&lab.folder.path().join("disk")) else {
        return;
    };
    let watcher = lab.run_agent("a");
    let (operator, work) = (lab.fleet.signer().unwrap(), names::work("a"));
    let now = hakaru_campaign::now_unix_ms();
    let send = |job| lab.publish(&work, Some(operator.seal(&work, &job).unwrap()));
    send(erasing_job("job-1", &disk, now - 1));
    within(|| watcher.count("the permission to erase it has expired") == 1);
    within(|| lab.messages(names::WORK) == 0);
    let content = std::fs::read(&disk.file).unwrap();
    assert!(content.iter().all(|byte| *byte == 0), "nothing is written");
    // The same permission with time left.
    send(erasing_job("job-2", &disk, now + 3_600_000));
    within(|| watcher.count("1 runs measured") == 1);
    let content = std::fs::read(&disk.file).unwrap();
    assert!(content.iter().any(|byte| *byte != 0), "it is written");
}

#[test]
fn forged_results_are_not_stored() {
    let Some(lab) = TestFleet::start(&["a", "b"]) else {
        return;
    };
    lab.measure_once("a");
    let database = lab.folder.path().join("results.db");
    let mut store = Store::open(&database).unwrap();
    let true_runs = collect(&lab.fleet, &mut store).unwrap();
    let genuine = store.latest().unwrap().unwrap();
    let (a, b) = (lab.signer_of("a"), lab.signer_of("b"));
    let report = |change: &dyn Fn(&mut hakaru_model::record::RunRecord)| {
        let mut record = genuine.clone();
        change(&mut record);
        HostReport::Run {
            record: serde_json::to_string(&record).unwrap(),
        }
    };
    let of_host = |host: &str| {
        let host = host.to_owned();
        move |record: &mut hakaru_model::record::RunRecord| {
            record.id = hakaru_campaign::new_id();
            record.environment.hostname.clone_from(&host);
            let point: &mut CampaignPoint = record.campaign.as_mut().unwrap();
            let assignment: &mut Assignment = point.assignment.as_mut().unwrap();
            assignment.host.clone_from(&host);
        }
    };
    let subject = names::result("a");
    let faster = |record: &mut hakaru_model::record::RunRecord| {
        record.phases[0].workers[0].ops.write.bytes += 1;
    };
    let forged = [
        // Signed by another host, or for another subject, or not at all.
        Some(b.seal(&subject, &report(&of_host("a"))).unwrap()),
        Some(a.seal(&names::result("b"), &report(&of_host("a"))).unwrap()),
        None,
        // A result of another host.
        Some(a.seal(&subject, &report(&of_host("b"))).unwrap()),
        // Another result under the ID of a stored one.
        Some(a.seal(&subject, &report(&faster)).unwrap()),
        // An ID that is a path.
        Some(
            a.seal(
                &subject,
                &report(&|record| record.id = "../../x".to_owned()),
            )
            .unwrap(),
        ),
        // Not a record, and not a message.
        Some(
            a.seal(
                &subject,
                &HostReport::Run {
                    record: "{}".to_owned(),
                },
            )
            .unwrap(),
        ),
        Some(a.seal(&subject, &Receipt::default()).unwrap()),
    ];
    let count = forged.len() as u64;
    for message in forged {
        lab.publish(&subject, message);
    }
    assert_eq!(lab.messages(names::RESULT), count);
    assert_eq!(collect(&lab.fleet, &mut store).unwrap(), 0);
    within(|| lab.messages(names::RESULT) == 0);
    assert_eq!(store.count().unwrap(), true_runs);
    assert_eq!(store.run(&genuine.id).unwrap(), genuine);
}

#[test]
fn a_flood_of_one_host_is_limited_and_others_still_send() {
    let Some(lab) = TestFleet::start(&["a", "b"]) else {
        return;
    };
    let (a, b) = (lab.signer_of("a"), lab.signer_of("b"));
    let most = u64::try_from(server::MOST_RESULTS).unwrap();
    let subject = names::result("a");
    let (headers, payload) = a.seal(&subject, &Receipt::default()).unwrap();
    let refused = lab.flood(&subject, &headers, &payload, most + 500);
    assert!(refused >= 500, "{refused}");
    assert_eq!(lab.messages(names::RESULT), most);
    let other = names::result("b");
    lab.publish(&other, Some(b.seal(&other, &Receipt::default()).unwrap()));
    assert_eq!(lab.messages(names::RESULT), most + 1);
}

#[test]
fn an_announcement_counts_only_with_the_key_of_its_host() {
    let Some(lab) = TestFleet::start(&["a", "b"]) else {
        return;
    };
    let (a, b) = (lab.signer_of("a"), lab.signer_of("b"));
    let hello = HostHello {
        name: "a".to_owned(),
        kernel: "6".to_owned(),
        ..HostHello::default()
    };
    let subject = names::host("a");
    lab.publish(&subject, Some(b.seal(&subject, &hello).unwrap()));
    let hosts = crate::operator::hosts(&lab.fleet).unwrap();
    assert!(
        hosts
            .iter()
            .all(|host| host.hello.is_none() && !host.present),
        "{hosts:?}"
    );
    lab.publish(&subject, Some(a.seal(&subject, &hello).unwrap()));
    let hosts = crate::operator::hosts(&lab.fleet).unwrap();
    assert_eq!(hosts[0].hello.as_ref(), Some(&hello));
    let (headers, payload) = b.seal(&subject, &hello).unwrap();
    let opened = signed::open::<HostHello>(&subject, Some(&headers), &payload, a.public());
    assert!(matches!(opened, Err(Rejected::Foreign { .. })));
}
