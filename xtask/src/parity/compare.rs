//! Compares the output of two programs for the same job, each run several times.
//!
//! The form must match: keys, their order, and value types. Counts must be equal, or within random variation if the job
//! makes random choices. Speeds are compared only if the target or the job limits them; the tolerance is the spread
//! between the runs of the original. All other numbers may differ.

use super::jobs::MatchRule;
use super::tree::{JsonTree, join};
use std::collections::BTreeMap;

/// One difference between the outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutputDifference {
    pub(super) path: String,
    pub(super) theirs: String,
    pub(super) ours: String,
    /// Whether the difference is numeric, so that another run may reduce it.
    pub(super) number: bool,
}

impl OutputDifference {
    pub(super) fn new(
        path: impl Into<String>,
        theirs: impl Into<String>,
        ours: impl Into<String>,
    ) -> OutputDifference {
        OutputDifference {
            path: path.into(),
            theirs: theirs.into(),
            ours: ours.into(),
            number: false,
        }
    }
}

/// Keys that newer fio versions print and older ones do not, with the first version known to print them.
pub(super) const YOUNG_KEYS: &[(&str, u32)] = &[
    ("job_start", 39),
    ("read_sectors", 39),
    ("write_sectors", 39),
];

/// Meaning of the value at a path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ValueMeaning {
    /// Identical for the same job.
    Same,
    /// Number of I/Os, bytes or samples.
    Count,
    /// A share in percent.
    Share,
    /// A speed or time, with the relative deviation that is always accepted.
    Speed(f64),
    /// Any value, but zero must stay zero.
    Some,
    /// Any value.
    Any,
}

fn meaning(path: &str) -> ValueMeaning {
    let last = path.rsplit('.').next().unwrap_or(path);
    if path.contains("options.") {
        return ValueMeaning::Same;
    }
    if path.ends_with(".percentile.99.000000") {
        return ValueMeaning::Speed(0.15);
    }
    match last {
        "jobname" | "groupid" | "error" | "desc" | "exit" | "form" => ValueMeaning::Same,
        "latency_depth" | "latency_target" | "latency_percentile" | "latency_window" => {
            ValueMeaning::Same
        }
        "name" if path.contains("disk_util") => ValueMeaning::Same,
        "io_bytes" | "io_kbytes" | "total_ios" | "short_ios" | "drop_ios" | "N" | "size"
        | "lines" => ValueMeaning::Count,
        "bw_bytes" | "iops" | "runtime" => ValueMeaning::Speed(0.02),
        "mean" if path.contains("slat_ns") => ValueMeaning::Some,
        "mean" if path.contains("lat_ns") => ValueMeaning::Speed(0.03),
        "max" if path.contains("lat_ns") => ValueMeaning::Some,
        "bw_samples" | "iops_samples" => ValueMeaning::Some,
        _ if path.contains("iodepth_level") || path.contains("iodepth_submit") => {
            ValueMeaning::Share
        }
        _ => ValueMeaning::Any,
    }
}

/// The outputs to compare, and the rules.
pub(super) struct OutputComparison<'a> {
    pub(super) judge: MatchRule,
    /// Minor version of the original, which may lack keys of newer versions.
    pub(super) minor: u32,
    pub(super) theirs: &'a [JsonTree],
    pub(super) ours: &'a [JsonTree],
}

impl OutputComparison<'_> {
    /// All differences, each path once.
    pub(super) fn differences(&self) -> Vec<OutputDifference> {
        let mut found: Vec<OutputDifference> = Vec::new();
        for ours in self.ours {
            // The original's own runs may vary; its run closest to hakaru's output counts.
            let forms = self.theirs.iter().map(|theirs| self.forms(theirs, ours));
            found.extend(forms.min_by_key(Vec::len).unwrap_or_default());
        }
        let mut theirs = values(self.theirs);
        let ours = values(self.ours);
        for (path, ours) in &ours {
            if let Some(theirs) = theirs.remove(path) {
                found.extend(self.value(path, &theirs, ours));
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|difference| seen.insert(difference.path.clone()));
        found
    }

    fn forms(&self, theirs: &JsonTree, ours: &JsonTree) -> Vec<OutputDifference> {
        let mut found = Vec::new();
        self.form("", theirs, ours, &mut found);
        found
    }

    fn form(
        &self,
        path: &str,
        theirs: &JsonTree,
        ours: &JsonTree,
        found: &mut Vec<OutputDifference>,
    ) {
        match (theirs, ours) {
            (JsonTree::Object(_), JsonTree::Object(_)) if path.ends_with(".bins") => {}
            (JsonTree::Object(theirs), JsonTree::Object(ours)) => {
                self.fields(path, theirs, ours, found)
            }
            (JsonTree::List(theirs), JsonTree::List(ours)) => {
                if theirs.len() != ours.len() {
                    let len = |list: &[JsonTree]| format!("{} items", list.len());
                    found.push(OutputDifference::new(path, len(theirs), len(ours)));
                }
                for (at, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                    self.form(&format!("{path}[{at}]"), theirs, ours, found);
                }
            }
            _ if theirs.kind() != ours.kind() => {
                let shown = |tree: &JsonTree| format!("{} {tree}", tree.kind());
                found.push(OutputDifference::new(path, shown(theirs), shown(ours)));
            }
            _ => {}
        }
    }

    fn fields(
        &self,
        path: &str,
        theirs: &[(String, JsonTree)],
        ours: &[(String, JsonTree)],
        found: &mut Vec<OutputDifference>,
    ) {
        fn get<'a>(fields: &'a [(String, JsonTree)], key: &str) -> Option<&'a JsonTree> {
            let field = fields.iter().find(|(known, _)| known == key);
            field.map(|(_, value)| value)
        }
        for (key, value) in theirs {
            let path = join(path, key);
            match get(ours, key) {
                Some(ours) => self.form(&path, value, ours, found),
                None => found.push(OutputDifference::new(path, value.to_string(), "nothing")),
            }
        }
        let is_extra = |key: &str| get(theirs, key).is_none() && !self.is_young(key);
        for (key, value) in ours {
            if is_extra(key) && !self.is_bare_option(path, value) {
                let path = join(path, key);
                found.push(OutputDifference::new(path, "nothing", value.to_string()));
            }
        }
        let shared = |fields: &[(String, JsonTree)], others: &[(String, JsonTree)]| {
            let keys = fields.iter().map(|(key, _)| key.as_str());
            let keys: Vec<&str> = keys.filter(|key| get(others, key).is_some()).collect();
            keys.join(" ")
        };
        let (theirs, ours) = (shared(theirs, ours), shared(ours, theirs));
        if theirs != ours {
            let path = format!("{path} (order of keys)");
            found.push(OutputDifference::new(path, theirs, ours));
        }
    }

    fn is_young(&self, key: &str) -> bool {
        YOUNG_KEYS
            .iter()
            .any(|(young, since)| *young == key && self.minor < *since)
    }

    /// Whether it is an option without a value, which versions before 3.39 left out.
    fn is_bare_option(&self, path: &str, value: &JsonTree) -> bool {
        self.minor < 39 && path.ends_with(" options") && value.to_string() == "\"\""
    }

    fn value(&self, path: &str, theirs: &Values, ours: &Values) -> Option<OutputDifference> {
        let meaning = meaning(path);
        if meaning == ValueMeaning::Same {
            let differ = ours.shown.iter().any(|value| !theirs.shown.contains(value));
            return differ.then(|| {
                OutputDifference::new(path, theirs.shown.join(" or "), ours.shown.join(" or "))
            });
        }
        let (theirs, ours) = (Numbers::of(&theirs.numbers)?, Numbers::of(&ours.numbers)?);
        let zero_and_not =
            (theirs.is_zero() && ours.min > 0.0) || (ours.is_zero() && theirs.min > 0.0);
        if matches!(
            meaning,
            ValueMeaning::Count | ValueMeaning::Some | ValueMeaning::Speed(_)
        ) && zero_and_not
        {
            return Some(OutputDifference {
                number: true,
                ..OutputDifference::new(path, theirs.to_string(), ours.to_string())
            });
        }
        let slack = self.slack(meaning, path, &theirs)?;
        let (low, high) = (theirs.min - slack, theirs.max + slack);
        (ours.median < low || ours.median > high).then(|| {
            let theirs = format!("{theirs} (± {})", short(slack));
            OutputDifference {
                number: true,
                ..OutputDifference::new(path, theirs, ours.to_string())
            }
        })
    }

    /// Returns the accepted deviation outside the original's own values; `None` if any value is accepted.
    fn slack(&self, meaning: ValueMeaning, path: &str, theirs: &Numbers) -> Option<f64> {
        let spread = theirs.max - theirs.min;
        let value = theirs.median.abs();
        Some(match (meaning, self.judge) {
            (ValueMeaning::Speed(floor), MatchRule::Held) => spread.max(value * floor),
            (ValueMeaning::Speed(floor), MatchRule::Rate) if !path.contains("lat_ns") => {
                spread.max(value * floor)
            }
            // Percentages of a short run vary by a few I/Os.
            (ValueMeaning::Share, MatchRule::Counts | MatchRule::Chance | MatchRule::Held) => {
                spread + 3.0
            }
            (ValueMeaning::Count, MatchRule::Counts) => spread,
            (ValueMeaning::Count, MatchRule::Chance) => {
                spread + value * 5.0 / self.ios(path, theirs).max(1.0).sqrt()
            }
            (ValueMeaning::Count, MatchRule::Rate | MatchRule::Held) => spread + value * 0.05 + 2.0,
            _ => return None,
        })
    }

    /// Returns the number of I/Os of a value: its relative random error decreases with their square root.
    fn ios(&self, path: &str, theirs: &Numbers) -> f64 {
        let mut parent = path;
        while let Some((up, _)) = parent.rsplit_once('.') {
            let total = values(self.theirs)
                .get(&join(up, "total_ios"))
                .and_then(|v| Numbers::of(&v.numbers));
            if let Some(total) = total {
                return total.median;
            }
            parent = up;
        }
        theirs.median
    }
}

/// A speed measured by both programs on a rate-limited target.
pub(super) struct Speed {
    pub(super) what: String,
    pub(super) theirs: Numbers,
    pub(super) ours: Numbers,
    /// Whether it counts as a difference.
    pub(super) apart: bool,
}

impl Speed {
    /// Position of hakaru's median relative to the range of the original's runs.
    pub(super) fn verdict(&self) -> &'static str {
        let inside = (self.theirs.min..=self.theirs.max).contains(&self.ours.median);
        match (inside, self.apart) {
            (_, true) => "apart",
            (true, false) => "inside",
            (false, false) => "beside",
        }
    }
}

/// The main figures of the first job, for whichever direction had I/O.
pub(super) fn speeds(
    theirs: &[JsonTree],
    ours: &[JsonTree],
    differences: &[OutputDifference],
) -> Vec<Speed> {
    const FIGURES: &[(&str, &str, f64)] = &[
        ("iops", "IOPS", 1.0),
        ("bw_bytes", "bandwidth, kB/s", 1e-3),
        ("clat_ns.mean", "mean clat, µs", 1e-3),
        ("clat_ns.percentile.99.000000", "P99 clat, µs", 1e-3),
        ("lat_ns.mean", "mean fsync, µs", 1e-3),
    ];
    let (theirs, ours) = (values(theirs), values(ours));
    let mut found = Vec::new();
    for direction in ["read", "write", "sync"] {
        for (key, what, scale) in FIGURES
            .iter()
            .filter(|figure| (figure.0 == "lat_ns.mean") == (direction == "sync"))
        {
            let path = format!("jobs[0].{direction}.{key}");
            let at = |values: &BTreeMap<String, Values>| Numbers::of(&values.get(&path)?.numbers);
            if let (Some(theirs), Some(ours)) = (at(&theirs), at(&ours))
                && !theirs.is_zero()
            {
                let apart = differences.iter().any(|difference| difference.path == path);
                let (theirs, ours) = (theirs.times(*scale), ours.times(*scale));
                found.push(Speed {
                    what: format!("{direction} {what}"),
                    theirs,
                    ours,
                    apart,
                });
            }
        }
    }
    found
}

/// Values of several runs at one path.
#[derive(Default)]
struct Values {
    shown: Vec<String>,
    numbers: Vec<f64>,
}

fn values(repeats: &[JsonTree]) -> BTreeMap<String, Values> {
    let mut found: BTreeMap<String, Values> = BTreeMap::new();
    for (path, leaf) in repeats.iter().flat_map(JsonTree::leaves) {
        let values = found.entry(path).or_default();
        values.numbers.extend(leaf.number());
        let shown = leaf.to_string();
        if !values.shown.contains(&shown) {
            values.shown.push(shown);
        }
    }
    found
}

/// The numeric values of several runs.
pub(super) struct Numbers {
    pub(super) min: f64,
    pub(super) median: f64,
    pub(super) max: f64,
}

impl Numbers {
    fn of(numbers: &[f64]) -> Option<Numbers> {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let median = f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Some(Numbers { min, median, max })
    }

    fn times(&self, scale: f64) -> Numbers {
        Numbers {
            min: self.min * scale,
            median: self.median * scale,
            max: self.max * scale,
        }
    }

    fn is_zero(&self) -> bool {
        self.max == 0.0 && self.min == 0.0
    }
}

impl std::fmt::Display for Numbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.min == self.max {
            true => f.write_str(&short(self.min)),
            false => write!(f, "{} to {}", short(self.min), short(self.max)),
        }
    }
}

/// A number without redundant decimals.
fn short(number: f64) -> String {
    if number.fract() == 0.0 || number.abs() >= 1000.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.2}")
    }
}

#[cfg(test)]
mod tests;
