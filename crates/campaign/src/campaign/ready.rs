//! Built-in campaigns: the experiments of published articles with their original parameters, a quick one, a full one,
//! and the tests of the SNIA Performance Test Specification.

/// A built-in campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateCampaign {
    /// Name on the command line.
    pub name: &'static str,
    /// Text of the campaign file.
    pub text: &'static str,
}

/// All built-in campaigns.
pub const READY: [TemplateCampaign; 11] = [
    template("quick", include_str!("../../ready/quick.toml")),
    template("full", include_str!("../../ready/full.toml")),
    template("article-a", include_str!("../../ready/article-a.toml")),
    template("article-b", include_str!("../../ready/article-b.toml")),
    template("article-c", include_str!("../../ready/article-c.toml")),
    template("article-d", include_str!("../../ready/article-d.toml")),
    template("article-e", include_str!("../../ready/article-e.toml")),
    template(
        "snia-pts-iops",
        include_str!("../../ready/snia-pts-iops.toml"),
    ),
    template(
        "snia-pts-throughput",
        include_str!("../../ready/snia-pts-throughput.toml"),
    ),
    template(
        "snia-pts-latency",
        include_str!("../../ready/snia-pts-latency.toml"),
    ),
    template(
        "snia-pts-saturation",
        include_str!("../../ready/snia-pts-saturation.toml"),
    ),
];

const fn template(name: &'static str, text: &'static str) -> TemplateCampaign {
    TemplateCampaign { name, text }
}

/// Returns the built-in campaign with this name.
pub fn ready(name: &str) -> Option<TemplateCampaign> {
    READY.into_iter().find(|ready| ready.name == name)
}
