//! A new campaign that begins on a page.

use super::{HERE, Server};
use crate::support::{Home, records, root_loop_sparse, text, wait_until};
use rustix::process::Signal;

/// Encodes a value of a form.
fn encoded(value: &str) -> String {
    value.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn form(fields: &[(&str, &str)]) -> String {
    let fields = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", encoded(value)));
    fields.collect::<Vec<_>>().join("&")
}

#[test]
fn a_campaign_on_simulated_cards_begins_on_a_page() {
    let home = Home::new();
    let server = Server::start(&home, HERE);
    let token = server.token.clone().unwrap();
    let (_, page) = server.get("/campaigns/new");
    assert!(page.contains("/enter") && !page.contains("<form"), "{page}");
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let (status, page) = server.send("GET /campaigns/new", &bearer, "");
    assert_eq!(status, 200);
    assert!(page.contains("value=\"quick\" checked"), "{page}");
    let fields = form(&[
        ("name", "My <cards>"),
        ("template", "quick"),
        ("simulated", "simulated-even"),
        ("simulated", "simulated-cached"),
    ]);
    assert_eq!(server.send("POST /campaigns/new", "", &fields).0, 403);
    let (status, answer) = server.post(&token, "/campaigns/new", &fields);
    assert_eq!(status, 303, "{answer}");
    // It ends by itself, or is done already.
    wait_until(|| {
        server
            .live()
            .iter()
            .all(|process| !process["end"].is_null())
    });
    let runs = records(&home);
    assert!(!runs.is_empty());
    let cards: std::collections::BTreeSet<String> = runs
        .iter()
        .map(|run| run.campaign.as_ref().unwrap().card.clone())
        .collect();
    let expected = ["simulated-cached", "simulated-even"].map(str::to_owned);
    assert_eq!(cards, expected.into());
    let campaign = &runs[0].campaign.as_ref().unwrap().campaign;
    let (status, page) = server.get(&format!("/campaign/{campaign}"));
    assert_eq!(status, 200);
    assert!(page.contains("My &lt;cards&gt;") && !page.contains("My <cards>"));
    // Nothing is left to run.
    let (_, page) = server.send(&format!("GET /campaign/{campaign}"), &bearer, "");
    assert!(!page.contains("Run or resume"), "{page}");
    // The name is taken, also after the server was started again.
    let (status, page) = server.post(&token, "/campaigns/new", &fields);
    assert_eq!(status, 400);
    assert!(page.contains("stored already"), "{page}");
    server.end(Signal::TERM);
}

#[test]
fn a_card_of_a_new_campaign_is_erased_only_with_its_id() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 256 << 20) else {
        return;
    };
    let name = disk.device().trim_start_matches("/dev/").to_owned();
    let server = Server::start(&home, HERE);
    let token = server.token.clone().unwrap();
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let (_, page) = server.send("GET /campaigns/new", &bearer, "");
    let field = format!("identity-{name}");
    assert!(page.contains("All data on it will be lost.") && page.contains(&field));
    let id = home.image_id();
    let begin = |identity: &str| {
        let fields = form(&[
            ("name", "one card"),
            ("template", "quick"),
            ("disk", &name),
            (&field, identity),
        ]);
        server.post(&token, "/campaigns/new", &fields)
    };
    for wrong in ["", "0xWRONG"] {
        let (status, page) = begin(wrong);
        assert_eq!(status, 400, "{page}");
        assert!(page.contains("nothing was started"), "{page}");
    }
    assert!(records(&home).is_empty() && server.live().is_empty());
    let (status, page) = begin(&id);
    assert_eq!(status, 303, "{page}");
    wait_until(|| !records(&home).is_empty());
    let process = server.wait_for(|process| process["verb"] == "campaign");
    if process["end"].is_null() {
        let stop = form(&[("id", process["id"].as_str().unwrap())]);
        server.post(&token, "/live/stop", &stop);
    }
    server.wait_for(|process| !process["end"].is_null());
    let (_, said) = server.end(Signal::TERM);
    let started = format!("start campaign run /dev/stdin --quiet --erase={id}");
    assert!(said.contains(&started), "{}", text(said.as_bytes()));
}
