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
    TemplateCampaign {
        name: "quick",
        text: include_str!("../../ready/quick.toml"),
    },
    TemplateCampaign {
        name: "full",
        text: include_str!("../../ready/full.toml"),
    },
    TemplateCampaign {
        name: "article-a",
        text: include_str!("../../ready/article-a.toml"),
    },
    TemplateCampaign {
        name: "article-b",
        text: include_str!("../../ready/article-b.toml"),
    },
    TemplateCampaign {
        name: "article-c",
        text: include_str!("../../ready/article-c.toml"),
    },
    TemplateCampaign {
        name: "article-d",
        text: include_str!("../../ready/article-d.toml"),
    },
    TemplateCampaign {
        name: "article-e",
        text: include_str!("../../ready/article-e.toml"),
    },
];

/// Returns the built-in campaign with this name.
pub fn ready(name: &str) -> Option<TemplateCampaign> {
    READY.into_iter().find(|ready| ready.name == name)
}
