//! A home with the results of a campaign on two simulated cards.

use super::{Home, hakaru, text};

const CAMPAIGN: &str = r#"name = "two cards"
repeats = 5
[[card]]
simulate = "even.json"
read = 45
[[card]]
simulate = "slow.json"
[[workload]]
suite = ["seq-write", "rand-read", "durable"]
pace = "quick"
"#;

/// Creates the home, and measures.
pub(crate) fn measured() -> Home {
    let home = Home::new();
    for (name, rate) in [("even", 30_000_000), ("slow", 20_000_000)] {
        let list = format!(
            r#"{{"name": "{name}", "capacity": 34359738368, "read_rate": 44000000, "read_seek": 300000,
                "write_rate": {rate}, "write_seek": 2000000, "read_overhead": 120000, "write_overhead": 120000, "block_size": 512, "flush": 3000000, "jitter_permille": 20}}"#
        );
        std::fs::write(home.path().join(format!("{name}.json")), list).unwrap();
    }
    std::fs::write(home.path().join("two.toml"), CAMPAIGN).unwrap();
    let mut campaign = hakaru(&home);
    campaign.current_dir(home.path());
    let ran = campaign.args(["campaign", "run", "two.toml"]).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    home
}
