//! Options that name stored results; how names are resolved is in `hakaru-results`.

use anyhow::Result;
use hakaru_model::annotation::Annotations;
use hakaru_report::plain;
use hakaru_results::names::described;
pub(crate) use hakaru_results::names::{annotations, label, position, rows_of, series_named};
use hakaru_store::Store;

/// Options that name and describe a result.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Names")]
pub(crate) struct LabelArgs {
    /// Name of what is measured, such as `ssd`: reports use it, and commands accept it in place of an ID
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    #[command(flatten)]
    pub(crate) text: DescriptionArgs,
}

/// Options that describe a result.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Names")]
pub(crate) struct DescriptionArgs {
    /// Title of reports on this result
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Note to keep with this result
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

impl DescriptionArgs {
    /// Stores title and note beside a series or verification.
    pub(crate) fn store(&self, store: &mut Store, subject: &str) -> Result<()> {
        let annotations = Annotations {
            title: self.title.clone(),
            note: self.note.clone(),
            ..Annotations::default()
        };
        if !annotations.is_empty() {
            let now = hakaru_campaign::now_unix_ms();
            store.annotate(&annotations.to_history(subject, now))?;
        }
        Ok(())
    }
}

/// Prints which series a label with several of them stands for.
pub(crate) fn note_several(store: &Store, name: &str, series: &[String]) -> Result<()> {
    if series.len() > 1 {
        let count = series.len();
        anstream::eprintln!(
            "{}",
            both!("note: `{}` is the label of {count} series:", "参考: 「{}」は{count}件の測定シリーズのラベルです:"; plain(name))
        );
        for id in series {
            anstream::eprintln!("  {}", described(store, id)?);
        }
    }
    Ok(())
}
