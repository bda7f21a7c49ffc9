//! Built-in campaigns: the experiments of published articles with their original parameters, a quick one, and a full
//! one.

/// A built-in campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateCampaign {
    /// Name on the command line.
    pub name: &'static str,
    /// Text of the campaign file.
    pub text: &'static str,
}

/// All built-in campaigns.
pub const READY: [TemplateCampaign; 7] = [
    template("quick", include_str!("../../ready/quick.toml")),
    template("full", include_str!("../../ready/full.toml")),
    template("article-a", include_str!("../../ready/article-a.toml")),
    template("article-b", include_str!("../../ready/article-b.toml")),
    template("article-c", include_str!("../../ready/article-c.toml")),
    template("article-d", include_str!("../../ready/article-d.toml")),
    template("article-e", include_str!("../../ready/article-e.toml")),
];

const fn template(name: &'static str, text: &'static str) -> TemplateCampaign {
    TemplateCampaign { name, text }
}

/// Returns the built-in campaign with this name.
pub fn ready(name: &str) -> Option<TemplateCampaign> {
    READY.into_iter().find(|ready| ready.name == name)
}
