//! A campaign as CSV (RFC 4180): one line for each figure of each point, for each single run, and for each
//! comparison.
//!
//! Columns and units are stable; new columns are added at the end. `run` is empty for figures of all runs together;
//! `against`, `p_adjusted` and `verdict` are empty in lines without a comparison or verdict.

use super::csv_rows::{CampaignCsvRow, lines};
use super::view::View;
use crate::csv::cells;
use crate::escape::csv as quoted;

const HEAD: &str = "campaign,host,card,layer,phase,op,figure,unit,run,n,value,mean,stdev,min,max,median,ci95_low,\
                    ci95_high,against,p_adjusted,verdict,interval_caveats,letters";

pub(super) fn csv(view: &View<'_>) -> String {
    let lines: String = lines(view).into_iter().map(text).collect();
    format!("{HEAD}\r\n{lines}")
}

fn text(line: CampaignCsvRow) -> String {
    let CampaignCsvRow {
        campaign,
        host,
        card,
        layer,
        phase,
        op,
        figure,
        unit,
        run,
        row,
        against,
        p_adjusted,
        verdict,
        letters,
    } = line;
    let [campaign, host, card, layer, phase, figure, against] =
        [campaign, host, card, layer, phase, figure, against].map(|text| quoted(&text));
    let run = run.map_or_else(String::new, |run| run.to_string());
    let of = [
        &campaign, &host, &card, &layer, &phase, op, &figure, unit, &run,
    ]
    .join(",");
    format!(
        "{of},{},{against},{p_adjusted},{verdict},{},{letters}\r\n",
        cells(&row),
        row.caveats
    )
}
