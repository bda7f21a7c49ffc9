//! Campaigns that come along: the experiments of published articles with their own parameters, a quick one, a full one.

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// By this name it is asked for.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

/// All of them.
pub const READY: [Ready; 7] = [
    Ready { name: "quick", text: include_str!("../../ready/quick.toml") },
    Ready { name: "full", text: include_str!("../../ready/full.toml") },
    Ready { name: "article-a", text: include_str!("../../ready/article-a.toml") },
    Ready { name: "article-b", text: include_str!("../../ready/article-b.toml") },
    Ready { name: "article-c", text: include_str!("../../ready/article-c.toml") },
    Ready { name: "article-d", text: include_str!("../../ready/article-d.toml") },
    Ready { name: "article-e", text: include_str!("../../ready/article-e.toml") },
];

/// The one of that name.
pub fn ready(name: &str) -> Option<Ready> {
    READY.into_iter().find(|ready| ready.name == name)
}
