//! Reads the report of a campaign from its CSV, and the contents of the store.

use super::product::record;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

/// The rows of a report.
pub(super) struct ReportRows {
    rows: Vec<BTreeMap<String, String>>,
}

impl ReportRows {
    /// Parses the CSV of a campaign whose names contain no comma.
    pub(super) fn read(csv: &str) -> Result<ReportRows> {
        let mut lines = csv.lines();
        let head: Vec<&str> = lines
            .next()
            .context("the report is empty")?
            .split(',')
            .collect();
        let row = |line: &str| {
            head.iter()
                .map(|h| (*h).to_owned())
                .zip(line.split(',').map(str::to_owned))
                .collect()
        };
        Ok(ReportRows {
            rows: lines.map(row).collect(),
        })
    }

    fn all<'a>(
        &'a self,
        wanted: &'a [(&'a str, &'a str)],
    ) -> impl Iterator<Item = &'a BTreeMap<String, String>> {
        self.rows.iter().filter(|row| {
            wanted
                .iter()
                .all(|(key, value)| row.get(*key).is_some_and(|is| is == value))
        })
    }

    /// A number in the first of the wanted rows.
    pub(super) fn number(&self, column: &str, wanted: &[(&str, &str)]) -> Result<f64> {
        let row = self
            .all(wanted)
            .next()
            .with_context(|| format!("the report has no row of {wanted:?}"))?;
        row[column]
            .parse()
            .with_context(|| format!("{column} of {wanted:?} is {:?}", row[column]))
    }

    /// Checks that each cell has exactly its runs.
    pub(super) fn has_every_cell(&self, cells: usize, repeats: usize) -> Result<String> {
        let mut runs: BTreeMap<[&str; 3], usize> = BTreeMap::new();
        for row in self
            .all(&[("figure", "bandwidth")])
            .filter(|row| !row["run"].is_empty())
        {
            *runs
                .entry(["card", "layer", "phase"].map(|key| row[key].as_str()))
                .or_default() += 1;
        }
        ensure!(
            runs.len() == cells,
            "{} cells of {cells}: {:?}",
            runs.len(),
            runs.keys()
        );
        let wrong: Vec<_> = runs
            .iter()
            .filter(|(_, count)| **count != repeats)
            .collect();
        ensure!(
            wrong.is_empty(),
            "cells with other than {repeats} runs: {wrong:?}"
        );
        Ok(format!("{cells} cells with {repeats} runs each"))
    }

    /// Checks that the cards are in this order, best first.
    pub(super) fn ranks(&self, layer: &str, phase: &str, order: &[&str]) -> Result<String> {
        let mean = |card: &&str| self.figure("mean", card, layer, phase, "bandwidth");
        let means = order.iter().map(mean).collect::<Result<Vec<f64>>>()?;
        let shown = order.iter().zip(&means);
        let shown: Vec<String> = shown
            .map(|(card, mean)| format!("{card} {mean:.3}"))
            .collect();
        let shown = format!("in MB/s: {}", shown.join(", "));
        ensure!(means.is_sorted_by(|a, b| a > b), "{shown}");
        Ok(shown)
    }

    /// A figure of a cell over all its runs.
    pub(super) fn value(&self, card: &str, layer: &str, phase: &str, figure: &str) -> Result<f64> {
        self.figure("value", card, layer, phase, figure)
    }

    fn figure(
        &self,
        column: &str,
        card: &str,
        layer: &str,
        phase: &str,
        figure: &str,
    ) -> Result<f64> {
        let row = [
            ("card", card),
            ("layer", layer),
            ("phase", phase),
            ("figure", figure),
            ("run", ""),
        ];
        self.number(column, &row)
    }

    /// Checks the verdict on an operation on a layer.
    pub(super) fn verdict(
        &self,
        figure: &str,
        layer: &str,
        op: &str,
        wanted: &str,
    ) -> Result<String> {
        let wanted_row = [("figure", figure), ("layer", layer), ("op", op)];
        let row = self.all(&wanted_row).next();
        let said = &row
            .with_context(|| format!("the report has no {figure} of {op} on {layer}"))?["verdict"];
        ensure!(said == wanted, "the report says {said:?}");
        Ok(format!("the report says {said:?}"))
    }

    /// Like `verdict`, for a verdict that must not appear.
    pub(super) fn is_not(
        &self,
        figure: &str,
        layer: &str,
        op: &str,
        unwanted: &str,
    ) -> Result<String> {
        let said = self.verdict(figure, layer, op, unwanted);
        ensure!(said.is_err(), "the report says {unwanted:?}");
        Ok(format!("the report does not say {unwanted:?}"))
    }

    /// Checks that these cards do not have this figure on the raw device.
    pub(super) fn has_none(&self, cards: &[&str], figure: &str) -> Result<String> {
        for card in cards {
            let wanted = [("card", *card), ("layer", "raw"), ("figure", figure)];
            let found = self.all(&wanted).next();
            ensure!(found.is_none(), "{card} has one: {found:?}");
        }
        Ok("none has one".to_owned())
    }

    /// Checks that the layout wrote the whole file and is not included in the measured data.
    pub(super) fn lays_out(
        &self,
        card: &str,
        layer: &str,
        phase: &str,
        size: u64,
    ) -> Result<String> {
        let mean = |layer: &str, figure: &str| self.figure("mean", card, layer, phase, figure);
        let (raw, through) = (mean("raw", "iops")?, mean(layer, "iops")?);
        let (bare, amplified) = (mean("raw", "amplification")?, mean(layer, "amplification")?);
        let laid_out = self.value(card, layer, phase, "laid_out")?;
        let text = format!(
            "laying out wrote {laid_out:.0} bytes first; then {through:.1} IOPS of {raw:.1}, {amplified:.2} bytes written for \
             one, where the bare card has {bare:.2}"
        );
        ensure!(
            laid_out >= size as f64 && (amplified / bare - 1.0).abs() < 0.1,
            "{text}"
        );
        Ok(text)
    }
}

/// Checks that each repeat of each cell has exactly one completed record.
pub(super) fn stored_once(records: &str, cells: u32, repeats: u32) -> Result<String> {
    let mut runs: BTreeMap<String, u32> = BTreeMap::new();
    let mut unfinished = 0;
    for line in records.lines() {
        let record = record(line)?;
        if !record["outcome"].to_string().contains("completed") {
            unfinished += 1;
            continue;
        }
        let point = &record["campaign"];
        let names = ["card", "layer", "workload", "repeat"].map(|key| point[key].to_string());
        *runs.entry(names.join(" ")).or_default() += 1;
    }
    let twice = runs.iter().filter(|(_, count)| **count > 1);
    let twice: Vec<&String> = twice.map(|(name, _)| name).collect();
    ensure!(twice.is_empty(), "stored more than once: {twice:?}");
    let (stored, wanted) = (runs.len(), cells * repeats);
    ensure!(
        stored as u32 == wanted,
        "{stored} runs of {wanted} are stored"
    );
    Ok(format!(
        "{stored} runs, each once, and {unfinished} that were not completed"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "campaign,host,card,layer,phase,op,figure,unit,run,n,value,mean,stdev,min,max,median,ci95_low,\
                       ci95_high,against,p_adjusted,verdict\r\n\
                       c,h,a,raw,w,write,bandwidth,MB/s,,2,,2.5,,,,,,,,,\r\n\
                       c,h,a,raw,w,write,bandwidth,MB/s,1,,2.4,,,,,,,,,,\r\n\
                       c,h,a,raw,w,write,bandwidth,MB/s,2,,2.6,,,,,,,,,,\r\n\
                       c,h,b,raw,w,write,bandwidth,MB/s,,1,,1.5,,,,,,,,,\r\n\
                       c,h,b,raw,w,write,bandwidth,MB/s,1,,1.5,,,,,,,,,,\r\n\
                       c,,,raw,,write,limit,,,,,,,,,,,,,,card\r\n";

    #[test]
    fn a_report_is_read_by_its_columns() {
        let figures = ReportRows::read(CSV).expect("it has rows");
        assert!(figures.ranks("raw", "w", &["a", "b"]).is_ok());
        assert!(figures.ranks("raw", "w", &["b", "a"]).is_err());
        assert!(figures.verdict("limit", "raw", "write", "card").is_ok());
        assert!(figures.is_not("limit", "raw", "write", "host").is_ok());
        assert!(
            figures
                .has_every_cell(2, 2)
                .is_err_and(|e| e.to_string().contains("\"b\""))
        );
        assert!(figures.value("a", "raw", "w", "cliff_at").is_err());
    }

    #[test]
    fn a_repeat_that_is_stored_twice_is_an_error() {
        let record = |repeat: u32, outcome: &str| {
            let point = format!(r#"{{"card":"a","layer":"raw","workload":"w","repeat":{repeat}}}"#);
            format!("{{\"campaign\":{point},\"outcome\":{{\"outcome\":\"{outcome}\"}}}}\n")
        };
        let good = record(0, "completed") + &record(1, "interrupted") + &record(1, "completed");
        assert!(stored_once(&good, 1, 2).is_ok());
        assert!(stored_once(&(good + &record(0, "completed")), 1, 2).is_err());
    }
}
