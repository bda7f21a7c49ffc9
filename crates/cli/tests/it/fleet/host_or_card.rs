//! The same cards on several hosts.

use super::{CARD, Fleet};
use crate::support::{hakaru, text};

/// Two hosts of different speed measure the same two cards: the report tells the host from the card.
#[test]
fn the_same_cards_on_two_hosts_tell_the_host_from_the_card() {
    let Some(mut fleet) = Fleet::start(&["a", "b"]) else {
        return;
    };
    fleet.begin_agent("a");
    fleet.begin_agent("b");
    let work = fleet.home.work();
    let mut file = "name = \"boards\"\nrepeats = 3\n".to_owned();
    for (host, speed) in [("a", 10), ("b", 13)] {
        file += &format!("[[host]]\nname = \"{host}\"\n");
        for (card, rate) in [("0xa1", 4_000_000), ("0xa2", 2_000_000)] {
            let model = CARD.replace("90000000", &(rate * speed).to_string());
            let model = model.replace('}', ", \"jitter_permille\": 10}");
            std::fs::write(work.join(format!("{card}-{host}.json")), model).unwrap();
            file += &format!(
                "[[card]]\nlabel = \"{card} on {host}\"\nid = \"{card}\"\nhost = \"{host}\"\nsimulate = \"{card}-{host}.json\"\n"
            );
        }
    }
    file += "[[layer]]\nfs = \"raw\"\n[[workload]]\nname = \"read\"\nrw = \"read\"\nbs = \"1MiB\"\nsize = \"64MiB\"\n";
    let path = work.join("boards.toml");
    std::fs::write(&path, file).unwrap();
    let path = path.display().to_string();
    fleet.said(&["run", &path, "--json"]);
    let report = |form: &str| {
        let mut command = hakaru(&fleet.home);
        let out = command
            .args(["campaign", "report", &path, "--format", form])
            .output();
        let out = out.unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    let page = report("markdown");
    for wanted in [
        // The answer of the first screen.
        "With the same cards, b is on average 30% faster than a for sequential reads.",
        "Host or card?",
        "both: hosts differ, and cards differ",
        "b is 1.30×",
        "0xa1 is 2.00×",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    assert!(
        report("terminal").contains("both: hosts differ"),
        "terminal"
    );
}
