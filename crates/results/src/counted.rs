//! Counts in messages.

/// What a message counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedNoun {
    /// Anatomies of cards.
    Anatomy,
    /// Labels, titles and notes.
    Annotation,
    /// Definitions of campaigns.
    CampaignDefinition,
    /// Storage media.
    Card,
    /// Charts.
    Chart,
    /// Figures of a reference result.
    Figure,
    /// Jobs of a fleet.
    Job,
    /// Prices of cards.
    Price,
    /// Stored records.
    Record,
    /// Results of any kind.
    Result,
    /// Runs.
    Run,
    /// Series of runs.
    Series,
    /// Verifications.
    Verification,
}

/// Formats a count, such as `1 run` or `12 runs`.
pub fn counted(count: usize, what: CountedNoun) -> String {
    let s = if count == 1 { "" } else { "s" };
    match what {
        CountedNoun::Anatomy => match count {
            1 => both!("1 anatomy", "構造調査1件"),
            _ => both!("{count} anatomies", "構造調査{count}件"),
        },
        CountedNoun::Annotation => match count {
            1 => both!("1 label or note", "ラベルやメモ1件"),
            _ => both!("{count} labels and notes", "ラベルやメモ{count}件"),
        },
        CountedNoun::CampaignDefinition => both!(
            "{count} campaign definition{s}",
            "キャンペーンの定義{count}件"
        ),
        CountedNoun::Card => both!("{count} card{s}", "カード{count}枚"),
        CountedNoun::Chart => both!("{count} chart{s}", "グラフ{count}件"),
        CountedNoun::Figure => both!("{count} figure{s}", "値{count}件"),
        CountedNoun::Job => both!("{count} job{s}", "ジョブ{count}件"),
        CountedNoun::Price => both!("{count} price{s}", "価格{count}件"),
        CountedNoun::Record => both!("{count} record{s}", "記録{count}件"),
        CountedNoun::Result => both!("{count} result{s}", "結果{count}件"),
        CountedNoun::Run => both!("{count} run{s}", "測定{count}回"),
        CountedNoun::Series => both!("{count} series", "測定シリーズ{count}件"),
        CountedNoun::Verification => both!("{count} verification{s}", "検証{count}件"),
    }
}
