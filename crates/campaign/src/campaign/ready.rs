//! Campaigns that come along: the experiments of published articles with their own parameters, a quick one, a full one.

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateCampaign {
    /// By this name it is asked for.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

/// All of them.
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

/// The one of that name.
pub fn ready(name: &str) -> Option<TemplateCampaign> {
    READY.into_iter().find(|ready| ready.name == name)
}
