//! Rules by use from a file: they replace built-in rules by ID, or add new ones.
//!
//! ```toml
//! [[use]]
//! id = "nas"
//! title = "NAS and photo archive"
//!
//! [[use.criteria]]
//! figure = "sequential_read"
//! fits = 200
//! care = 50
//! why = "two clients at once"
//! ```

use crate::exit::NamedPath;
use anyhow::{Context, Result, bail};
use hakaru_model::advice::UseRule;
use serde::Deserialize;
use std::path::Path;

/// A file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    #[serde(rename = "use")]
    uses: Vec<UseRule>,
}

/// Returns the built-in rules, with replacements and additions from a file.
///
/// # Errors
/// If the file cannot be read or parsed, or contains an invalid rule.
pub(crate) fn load(path: Option<&Path>) -> Result<Vec<UseRule>> {
    let Some(path) = path else {
        return Ok(hakaru_analysis::default_rules());
    };
    let text = std::fs::read_to_string(path)
        .named(|| both!("cannot read the rules in {}", "規則{}を読み込めません"; path.display()))?;
    let own = parse(&text).with_context(
        || both!("cannot use the rules in {}", "規則{}を使えません"; path.display()),
    )?;
    Ok(hakaru_analysis::rules_with(&own))
}

fn parse(text: &str) -> Result<Vec<UseRule>> {
    let RulesFile { uses } = toml::from_str(text)?;
    for rule in &uses {
        for criterion in &rule.criteria {
            let (fits, care) = (criterion.fits, criterion.care);
            let more = criterion.figure.more_is_better();
            let ordered = if more { fits >= care } else { fits <= care };
            if !(ordered && fits.is_finite() && care.is_finite() && fits >= 0.0 && care >= 0.0) {
                let name = hakaru_report::text::figure(criterion.figure);
                bail!(match more {
                    true => both!(
                        "{}: fits = {fits} must be at least as large as care = {care} for {name}, and both must be 0 or more",
                        "{}: {name}のfits = {fits}はcare = {care}以上、どちらも0以上にしてください";
                        rule.id
                    ),
                    false => both!(
                        "{}: fits = {fits} must be at most as large as care = {care} for {name}, and both must be 0 or more",
                        "{}: {name}のfits = {fits}はcare = {care}以下、どちらも0以上にしてください";
                        rule.id
                    ),
                });
            }
        }
        if rule.criteria.is_empty() {
            bail!(
                both!("{}: a rule needs at least one figure: [[use.criteria]]", "{}: 規則には1つ以上の項目が必要です: [[use.criteria]]"; rule.id)
            );
        }
    }
    Ok(uses)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str =
        "[[use]]\nid = \"nas\"\ntitle = \"mine\"\n[[use.criteria]]\nfigure = \"sequential_read\"\n";

    #[test]
    fn a_rule_takes_the_place_of_ours() {
        let own = parse(&format!(
            "{RULE}fits = 200\ncare = 50\nwhy = \"two clients\"\n"
        ))
        .unwrap();
        let rules = hakaru_analysis::rules_with(&own);
        let nas = rules.iter().find(|rule| rule.id == "nas").unwrap();
        assert_eq!(
            (rules.len(), nas.title.as_str(), nas.criteria.len()),
            (7, "mine", 1)
        );
    }

    #[test]
    fn what_makes_no_sense_is_error() {
        let error = |text: &str| format!("{:#}", parse(text).unwrap_err());
        let swapped = error(&format!("{RULE}fits = 20\ncare = 50\nwhy = \"\"\n"));
        assert!(
            swapped.contains("nas: fits = 20 must be at least as large as care = 50"),
            "{swapped}"
        );
        assert!(error(&format!("{RULE}fits = nan\ncare = 50\nwhy = \"\"\n")).contains("NaN"));
        assert!(
            error("[[use]]\nid = \"x\"\ntitle = \"x\"\ncriteria = []\n")
                .contains("at least one figure")
        );
        assert!(error("[[use]]\nid = \"x\"\n").contains("line 1"));
        assert!(
            error(&RULE.replace("sequential_read", "warp")).contains("sequential_read"),
            "names those it knows"
        );
    }
}
