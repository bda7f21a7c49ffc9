//! Whether our runs of a set fit what the original's runs of it have in common.
//!
//! The original runs a set several times, each with another seed. What all of its runs agree on, it promises, and ours
//! must do exactly that. Numbers that differ between its runs are left to chance: ours must lie where chance may put
//! them.

use super::observed::{Observed, ObservedKey, Value};
use std::fmt;

/// One observed value in which ours does not fit.
#[derive(Clone, Debug)]
pub(super) struct Misfit {
    pub(super) key: ObservedKey,
    pub(super) theirs: String,
    pub(super) ours: String,
}

impl Misfit {
    /// Whether the name of the value contains this.
    pub(super) fn is(&self, part: &str) -> bool {
        self.key.name.contains(part)
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: fio {} | ours {}",
            self.key.name, self.theirs, self.ours
        )
    }
}

/// Values of a set that do not have to match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leniency {
    /// Only outcomes count, because the set ends by time.
    pub(super) outcomes_only: bool,
    /// The order of the accesses is that in which a queue happened to complete them.
    pub(super) any_order: bool,
}

/// Every value in which ours does not fit, the most telling first.
pub(super) fn misfits(theirs: &[Observed], ours: &[Observed], leniency: Leniency) -> Vec<Misfit> {
    let mut keys: Vec<&ObservedKey> = theirs.iter().chain(ours).flat_map(Observed::keys).collect();
    keys.sort();
    keys.dedup();
    let wanted = keys
        .into_iter()
        .filter(|key| !leniency.outcomes_only || key.is_outcome())
        .filter(|key| !leniency.any_order || !key.name.ends_with("order"));
    wanted
        .filter(|key| !is_by_chance(key, ours) && !is_named_by_chance(key, theirs))
        .filter_map(|key| misfit(key, theirs, ours, leniency.any_order))
        .collect()
}

/// Fewer I/Os than this of sizes that are drawn may leave out the largest, or all that are not multiples of another.
const FEW: f64 = 64.0;

/// Whether the sizes of a run are drawn and too few to say which there are.
fn few_sizes(key: &ObservedKey, ours: &[Observed]) -> bool {
    let job = [
        "alignment of lengths",
        "alignment of offsets",
        "longest access",
    ]
    .iter()
    .find_map(|name| key.name.strip_suffix(name));
    let Some(job) = job else {
        return false;
    };
    let number = |run: &Observed, name: &str| number_of(run, &format!("{job}{name}"));
    ours.iter().any(|run| {
        let differ = number(run, "mean length") != number(run, "longest access");
        differ && number(run, "accesses in the log").is_some_and(|count| count < FEW)
    })
}

/// Whether a value says nothing: what few offsets are multiples of is by chance more than they have to be.
fn is_by_chance(key: &ObservedKey, ours: &[Observed]) -> bool {
    if few_sizes(key, ours) {
        return true;
    }
    let Some(job) = key.name.strip_suffix("alignment of offsets") else {
        return false;
    };
    let used = format!("{job}offsets in use");
    let few = |(key, value): (&ObservedKey, &Value)| {
        key.name == used && matches!(value, Value::Number { value, .. } if *value < 8.0)
    };
    ours.iter().any(|run| run.iter().any(few))
}

/// Whether a value is of a file that is named by what chance drew, as the dump of a bad block by its offset.
fn is_named_by_chance(key: &ObservedKey, theirs: &[Observed]) -> bool {
    let names = |run: &Observed| {
        run.iter()
            .find(|(key, _)| key.name == "files")
            .map(|(_, value)| value.clone())
    };
    let first = theirs.first().and_then(names);
    key.name.starts_with("written parts of ")
        && theirs.iter().all(|run| !run.contains_key(key))
        && theirs.iter().any(|run| names(run) != first)
}

fn misfit(
    key: &ObservedKey,
    theirs: &[Observed],
    ours: &[Observed],
    any_order: bool,
) -> Option<Misfit> {
    let at = |runs: &[Observed]| -> Vec<Option<Value>> {
        runs.iter().map(|run| run.get(key).cloned()).collect()
    };
    let order_is_chance = order_is_chance(key, theirs, any_order);
    // Whether any offset comes a second time is chance where offsets are drawn again; three times is not.
    let comes_again = key.name.ends_with("most accesses of one offset");
    let most = if comes_again { 1.0 } else { f64::INFINITY };
    if is_end_by_chance(key, theirs, ours) {
        return None;
    }
    let spared = usize::from(key.is_of_accesses() && draws_sizes(ours) && ours.len() >= MANY);
    let (theirs, ours) = (at(theirs), at(ours));
    let mut wrong = ours.iter().filter(|value| {
        let near = order_is_chance && within_slack(value.as_ref(), &theirs, most);
        !near && !fits(value.as_ref(), &theirs)
    });
    let wrong = wrong.nth(spared)?;
    let (theirs, ours) = shown(&theirs, wrong.as_ref());
    Some(Misfit {
        key: key.clone(),
        theirs,
        ours,
    })
}

/// Whether a value counts accesses that happen to follow one another, or to come to one offset again, in an order that the
/// original's own runs differ in.
fn order_is_chance(key: &ObservedKey, theirs: &[Observed], any_order: bool) -> bool {
    let counts = [
        "accesses that follow the one before",
        "most accesses of one offset",
    ];
    let Some(job) = counts.iter().find_map(|name| key.name.strip_suffix(name)) else {
        return false;
    };
    any_order || orders_differ(job, theirs)
}

/// Number of runs of ours of which one may be off by chance, where sizes are drawn: one in a hundred may come to none of
/// the large blocks.
const MANY: usize = 4;

/// Whether the I/Os of a job of any run differ in size.
fn draws_sizes(ours: &[Observed]) -> bool {
    let differ = |run: &Observed| {
        run.iter().any(|(key, _)| {
            let job = key.name.strip_suffix("longest access");
            job.is_some_and(|job| {
                number_of(run, &format!("{job}mean length")) != number_of(run, &key.name)
            })
        })
    };
    ours.iter().any(differ)
}

/// Whether the end of the last access is up to chance: the order and the sizes are drawn, and ours ends within one access
/// of the original.
fn is_end_by_chance(key: &ObservedKey, theirs: &[Observed], ours: &[Observed]) -> bool {
    let Some(job) = key.name.strip_suffix("end of the last byte accessed") else {
        return false;
    };
    let number = |run: &Observed, name: &str| number_of(run, &format!("{job}{name}"));
    let drawn = ours
        .iter()
        .all(|run| number(run, "mean length") != number(run, "longest access"));
    let near = |run: &Observed| {
        let own = number(run, "end of the last byte accessed");
        let (end, room) = own.zip(number(run, "longest access")).unwrap_or_default();
        theirs
            .iter()
            .filter_map(|their| number(their, "end of the last byte accessed"))
            .any(|theirs| (theirs - end).abs() < room)
    };
    drawn && orders_differ(job, theirs) && ours.iter().all(near)
}

/// The number that a value of a run is, if it is one.
fn number_of(run: &Observed, name: &str) -> Option<f64> {
    run.iter().find_map(|(key, value)| match value {
        Value::Number { value, .. } if key.name == name => Some(*value),
        Value::Exact(lines) if key.name == name => lines.first()?.parse().ok(),
        _ => None,
    })
}

/// Whether the original's own runs of a job differ in the order of the accesses.
fn orders_differ(job: &str, theirs: &[Observed]) -> bool {
    let order = format!("{job}order");
    let mut orders = theirs
        .iter()
        .filter_map(|run| run.iter().find(|(key, _)| key.name == order))
        .map(|(_, value)| value);
    let first = orders.next();
    orders.any(|other| first.is_some_and(|first| first != other))
}

/// Whether a number is within what chance moves one of the original's by, `most` at most, though all of these may be the
/// same.
fn within_slack(ours: Option<&Value>, theirs: &[Option<Value>], most: f64) -> bool {
    let Some(Value::Number { value: ours, .. }) = ours else {
        return false;
    };
    theirs.iter().flatten().any(
        |value| matches!(value, Value::Number { value, slack } if (value - ours).abs() <= slack.min(most)),
    )
}

fn fits(ours: Option<&Value>, theirs: &[Option<Value>]) -> bool {
    if theirs.iter().any(|value| same(value.as_ref(), ours)) {
        return true;
    }
    let Some(first) = theirs.first() else {
        return true;
    };
    if theirs
        .iter()
        .all(|value| same(value.as_ref(), first.as_ref()))
    {
        return false;
    }
    // The original's own runs differ. A number has bounds, all else is chance.
    let Some(Value::Number {
        value: ours,
        slack: own,
    }) = ours
    else {
        return true;
    };
    let numbers: Vec<(f64, f64)> = theirs
        .iter()
        .filter_map(|value| {
            if let Some(Value::Number { value, slack }) = value {
                Some((*value, *slack))
            } else {
                None
            }
        })
        .collect();
    let low = numbers
        .iter()
        .map(|(value, _)| *value)
        .fold(f64::INFINITY, f64::min);
    let high = numbers
        .iter()
        .map(|(value, _)| *value)
        .fold(f64::NEG_INFINITY, f64::max);
    let slack = numbers
        .iter()
        .map(|(_, slack)| *slack)
        .fold(*own, f64::max)
        .max(high - low);
    (low - slack..=high + slack).contains(ours)
}

fn same(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(Value::Number { value: a, .. }), Some(Value::Number { value: b, .. })) => a == b,
        _ => a == b,
    }
}

/// Both values, shortened to where they first differ.
fn shown(theirs: &[Option<Value>], ours: Option<&Value>) -> (String, String) {
    let first = theirs.first().and_then(Option::as_ref);
    if let (Some(Value::Exact(a)), Some(Value::Exact(b))) = (first, ours)
        && (a.len() > 1 || b.len() > 1)
    {
        let at = a
            .iter()
            .zip(b)
            .position(|(a, b)| a != b)
            .unwrap_or(a.len().min(b.len()));
        let part = |lines: &[String]| {
            let rest: Vec<&str> = lines.iter().skip(at).take(3).map(String::as_str).collect();
            format!(
                "{} lines, from {at}: {}",
                lines.len(),
                if rest.is_empty() {
                    "end".to_owned()
                } else {
                    rest.join(", ")
                }
            )
        };
        return (part(a), part(b));
    }
    let mut all: Vec<String> = theirs.iter().map(|value| text(value.as_ref())).collect();
    all.sort();
    all.dedup();
    (all.join(" or "), text(ours))
}

fn text(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::Number { value, .. }) => format!("{value}"),
        Some(Value::Exact(lines)) => lines.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> Option<Value> {
        Some(Value::Number { value, slack: 2.0 })
    }

    #[test]
    fn what_the_original_repeats_must_be_met() {
        let theirs = [number(5.0), number(5.0)];
        assert!(fits(number(5.0).as_ref(), &theirs));
        assert!(!fits(number(6.0).as_ref(), &theirs));
        assert!(!fits(None, &theirs));
    }

    /// A run that counts its reads, of which the longest had 64 KiB.
    fn run(ios: f64, mean: f64) -> Observed {
        let number = |value| Value::Number { value, slack: 0.0 };
        Observed::from([
            (ObservedKey::new(3, "read.total_ios"), number(ios)),
            (ObservedKey::new(10, "mean length"), number(mean)),
            (ObservedKey::new(10, "longest access"), number(65_536.0)),
        ])
    }

    #[test]
    fn one_run_of_drawn_sizes_may_be_off_but_not_two() {
        let exact = Leniency {
            outcomes_only: false,
            any_order: false,
        };
        let theirs = vec![run(10.0, 10_240.0); 9];
        let usual = run(10.0, 10_240.0);
        let off = run(25.0, 4096.0);
        let of = |ours: &[&Observed]| {
            let ours: Vec<Observed> = ours.iter().map(|&run| run.clone()).collect();
            misfits(&theirs, &ours, exact).len()
        };
        assert_eq!(of(&[&off, &usual, &usual, &usual]), 0);
        assert_eq!(of(&[&off, &usual]), 2, "too few runs to leave one out");
        assert_eq!(of(&[&off, &usual, &usual, &off]), 2);
        let fixed = run(25.0, 65_536.0);
        let of_one_size = [
            run(10.0, 65_536.0),
            run(10.0, 65_536.0),
            run(10.0, 65_536.0),
            fixed,
        ];
        let wrong = misfits(&vec![run(10.0, 65_536.0); 9], &of_one_size, exact);
        assert_eq!(wrong.len(), 1, "sizes are not drawn");
    }

    #[test]
    fn completions_of_a_queue_come_in_any_order() {
        let follows = |value| {
            let slack = 5.0 * f64::sqrt(value);
            let key = ObservedKey::new(10, "accesses that follow the one before");
            Observed::from([(key, Value::Number { value, slack })])
        };
        let differ = |ours, any_order| {
            let leniency = Leniency {
                outcomes_only: false,
                any_order,
            };
            !misfits(&vec![follows(254.0); 9], &[follows(ours)], leniency).is_empty()
        };
        assert!(differ(252.0, false) && !differ(252.0, true));
        assert!(differ(4.0, true), "hardly any follows another");
    }

    #[test]
    fn few_accesses_of_ours_have_a_wide_mean() {
        let theirs = [number(100.0), number(101.0)];
        let ours = |slack| Some(Value::Number { value: 90.0, slack });
        assert!(!fits(ours(2.0).as_ref(), &theirs));
        assert!(fits(ours(12.0).as_ref(), &theirs));
    }

    #[test]
    fn what_the_original_varies_has_bounds() {
        let theirs = [number(5.0), number(9.0)];
        assert!(fits(number(12.0).as_ref(), &theirs));
        assert!(!fits(number(14.0).as_ref(), &theirs));
    }
}
