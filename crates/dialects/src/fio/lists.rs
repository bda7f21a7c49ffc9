//! Option values with several parts: by operation, ranges, lists of sizes, numbers, CPUs, paths and errors.
//!
//! The caller provides the parser of the parts. Errors are the second half of "cannot be used: …".

use hakaru_model::job::PerOp;
use std::path::PathBuf;

/// Parses values by operation: `a` for all, `a,b` for reads and others, `a,b,c`, or `a,` for reads only.
pub(crate) fn per_op<T: Clone>(
    text: &str,
    mut one: impl FnMut(&str) -> Result<T, String>,
) -> Result<PerOp<Option<T>>, String> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!(
            "{} values: at most 3 are allowed, for reads, writes and trims",
            parts.len()
        ));
    }
    let read = |text: &str| match text.trim() {
        "" => Ok(None),
        _ => one(text).map(Some),
    };
    let values = parts.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let last = values.last().cloned().flatten();
    let mut values = values.into_iter();
    let mut next = || values.next().unwrap_or_else(|| last.clone());
    Ok(PerOp {
        read: next(),
        write: next(),
        trim: next(),
    })
}

/// Parses a range: `1k-4k` or `1k:4k`, in either order.
pub(crate) fn range<T: PartialOrd>(
    text: &str,
    one: impl Fn(&str) -> Result<T, String>,
) -> Result<(T, T), String> {
    let mut depth = 0;
    let middle = text.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0 && (c == '-' || c == ':')
    });
    let middle = middle.ok_or_else(|| format!("`{text}` is not a range such as 1k-4k"))?;
    let (a, b) = (one(&text[..middle])?, one(&text[middle + 1..])?);
    Ok(if a <= b { (a, b) } else { (b, a) })
}

/// Parses sizes with shares in percent: `4k/10:64k/90`. Sizes without a share split the remainder evenly. If all sizes
/// have a share, the last one gets the difference to 100. Any excess over 100 is cut off.
pub(crate) fn split(
    text: &str,
    size: &dyn Fn(&str) -> Result<u64, String>,
) -> Result<Vec<(u64, u32)>, String> {
    let mut parts: Vec<(u64, Option<u32>)> = Vec::new();
    for part in text.split(':') {
        let (bytes, percent) = part.split_once('/').unwrap_or((part, ""));
        let percent = share(percent)?;
        match size(bytes)? {
            0 => return Err("block size 0 is not allowed".to_owned()),
            bytes => parts.push((bytes, percent)),
        }
    }
    if parts.len() > 64 {
        return Err(format!("{} sizes: at most 64 are allowed", parts.len()));
    }
    let given: u64 = parts.iter().filter_map(|part| part.1).map(u64::from).sum();
    let open = parts.iter().filter(|part| part.1.is_none()).count() as u32;
    let Some(left) = 100u64.checked_sub(given) else {
        return too_much(&parts, given);
    };
    Ok(fill(parts, open, left as u32))
}

/// Splits `left` percent among the sizes without a share; without any, the last size gets it.
fn fill(parts: Vec<(u64, Option<u32>)>, open: u32, left: u32) -> Vec<(u64, u32)> {
    let mut filled = 0;
    let mut next_share = || {
        filled += 1;
        left * filled / open - left * (filled - 1) / open
    };
    let parts = parts.into_iter();
    let mut whole: Vec<(u64, u32)> = parts
        .map(|(bytes, percent)| (bytes, percent.unwrap_or_else(&mut next_share)))
        .collect();
    if let (0, Some(last)) = (open, whole.last_mut()) {
        last.1 += left;
    }
    whole
}

/// Parses a percentage; `None` if there is none.
fn share(text: &str) -> Result<Option<u32>, String> {
    match text.trim().trim_end_matches('%') {
        "" => Ok(None),
        digits => digits
            .parse()
            .map(Some)
            .map_err(|_| format!("`{digits}` is not a percentage")),
    }
}

/// Handles shares that exceed 100 in total: the smallest come first, and anything past 100 is never drawn. Based on
/// observed behavior of fio.
fn too_much(parts: &[(u64, Option<u32>)], given: u64) -> Result<Vec<(u64, u32)>, String> {
    let whole: Option<Vec<(u64, u32)>> = parts
        .iter()
        .map(|&(bytes, percent)| Some((bytes, percent?)))
        .collect();
    let Some(mut whole) = whole else {
        return Err(format!(
            "the percentages add up to {given}: nothing is left for the sizes without a percentage"
        ));
    };
    whole.sort_by_key(|part| part.1);
    let mut left = 100;
    for (_, percent) in &mut whole {
        *percent = left.min(*percent);
        left -= *percent;
    }
    Ok(whole)
}

/// Parses colon-separated numbers, each within bounds.
pub(crate) fn floats(text: &str, min: f64, max: f64, most: usize) -> Result<Vec<f64>, String> {
    let one = |part: &str| {
        let number: f64 = part
            .trim()
            .parse()
            .map_err(|_| format!("`{part}` is not a number"))?;
        if (min..=max).contains(&number) {
            Ok(number)
        } else {
            Err(format!("{number} is not between {min} and {max}"))
        }
    };
    let numbers = text.split(':').map(one).collect::<Result<Vec<_>, _>>()?;
    if numbers.len() > most {
        return Err(format!(
            "{} values: at most {most} are allowed",
            numbers.len()
        ));
    }
    Ok(numbers)
}

/// Highest accepted CPU or NUMA node number.
const HIGHEST_INDEX: u32 = 4095;

/// Parses a list of CPUs or nodes: `0-3,5`; empty for `all`.
pub(crate) fn indices(text: &str) -> Result<Vec<u32>, String> {
    if text.trim() == "all" {
        return Ok(Vec::new());
    }
    let number = |word: &str| match word.trim().parse::<u32>() {
        Ok(n) if n <= HIGHEST_INDEX => Ok(n),
        Ok(n) => Err(format!("{n} is more than the maximum, {HIGHEST_INDEX}")),
        Err(_) => Err(format!(
            "`{word}` is not a number: expected a list such as 0-3,5"
        )),
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((from, to)) => all.extend(number(from)?..=number(to)?),
            None => all.push(number(part)?),
        }
    }
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        Err(format!("`{text}` is an empty list"))
    } else {
        Ok(all)
    }
}

/// Parses colon-separated paths; `\:` is a colon within a path.
pub(crate) fn paths(text: &str) -> Vec<PathBuf> {
    let mut all = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let last = all.last_mut().expect("there is at least one");
        match c {
            '\\' if chars.next_if_eq(&':').is_some() => last.push(':'),
            ':' => all.push(String::new()),
            c => last.push(c),
        }
    }
    all.into_iter()
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .collect()
}

/// Linux errno values by name.
const ERRORS: [(&str, i32); 34] = [
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("EWOULDBLOCK", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("EPIPE", 32),
    ("ENODATA", 61),
    ("EILSEQ", 84),
    ("EOVERFLOW", 75),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
    ("ECANCELED", 125),
];

/// Parses lists of errors for reads, writes and verification: `EAGAIN,ENOSPC:122`.
pub(crate) fn errors(text: &str) -> Result<[Vec<i32>; 3], String> {
    let one = |word: &str| {
        let named = ERRORS.iter().find(|(name, _)| *name == word);
        named
            .map(|(_, number)| *number)
            .or_else(|| word.parse().ok().filter(|n| *n > 0))
            .ok_or_else(|| format!("unknown error name `{word}`"))
    };
    let list = |text: &str| {
        let words = text.split(':').map(str::trim);
        words.filter(|word| !word.is_empty()).map(one).collect()
    };
    let lists: Vec<Vec<i32>> = text.split(',').map(list).collect::<Result<_, String>>()?;
    if lists.len() > 3 {
        return Err(format!(
            "{} lists: at most 3 are allowed, for reads, writes and verification",
            lists.len()
        ));
    }
    let mut lists = lists.into_iter();
    let mut next = || lists.next().unwrap_or_default();
    Ok([next(), next(), next()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::testing::context;
    use crate::fio::values::ValueContext;

    fn reading(kb_base: u32) -> ValueContext<'static> {
        ValueContext {
            ctx: context(),
            kb_base,
        }
    }

    #[test]
    fn values_by_operation_follow_the_commas() {
        let read = |text: &str| {
            let all = per_op(text, |part| reading(1024).size(part)).unwrap();
            (all.read, all.write, all.trim)
        };
        assert_eq!(read("256k"), (Some(262_144), Some(262_144), Some(262_144)));
        assert_eq!(read("8k,32k"), (Some(8192), Some(32_768), Some(32_768)));
        assert_eq!(read("8k,32k,"), (Some(8192), Some(32_768), None));
        assert_eq!(read(",8k"), (None, Some(8192), Some(8192)));
        assert_eq!(read(",8k,"), (None, Some(8192), None));
        assert_eq!(read("500k,"), (Some(512_000), None, None));
        assert!(per_op("1,2,3,4", |part| reading(1024).size(part)).is_err());
    }

    #[test]
    fn ranges_and_lists() {
        let size = |text: &str| reading(1024).size(text);
        assert_eq!(range("1k-4k", size), Ok((1024, 4096)));
        assert_eq!(range("4k:1k", size), Ok((1024, 4096)));
        assert_eq!(range("(2-1)-(2+1)", size), Ok((1, 3)));
        assert!(range("4k", size).is_err());
        assert_eq!(floats("99:99.9", 0.0, 100.0, 20), Ok(vec![99.0, 99.9]));
        assert!(floats("101", 0.0, 100.0, 20).is_err() && floats("1:2:3", 0.0, 9.0, 2).is_err());
        assert_eq!(indices("0-2,5,1"), Ok(vec![0, 1, 2, 5]));
        assert_eq!(indices("all"), Ok(vec![]));
        assert!(indices("3-1").is_err() && indices("0-99999999").is_err() && indices("a").is_err());
        assert_eq!(
            paths(r"/dev/a\:b:c"),
            [PathBuf::from("/dev/a:b"), PathBuf::from("c")]
        );
        assert_eq!(
            errors("EAGAIN,ENOSPC:122"),
            Ok([vec![11], vec![28, 122], vec![]])
        );
        assert!(errors("ENOSUCH").is_err());
    }

    #[test]
    fn splits_add_up_to_a_hundred() {
        let read = |text: &str| split(text, &|size| reading(1024).size(size));
        assert_eq!(read("4k/10:64k/90"), Ok(vec![(4096, 10), (65_536, 90)]));
        assert_eq!(
            read("4k/50:1k/:32k/"),
            Ok(vec![(4096, 50), (1024, 25), (32_768, 25)])
        );
        assert_eq!(
            read("1k:2k:4k"),
            Ok(vec![(1024, 33), (2048, 33), (4096, 34)])
        );
        assert_eq!(read("1k/10:2k/20"), Ok(vec![(1024, 10), (2048, 90)]));
        assert_eq!(
            read("4k/60:8k/50"),
            Ok(vec![(8192, 50), (4096, 50)]),
            "the smaller share first, then what is left"
        );
        assert_eq!(read("4k/100:8k/100"), Ok(vec![(4096, 100), (8192, 0)]));
        assert!(
            read("1k/60:2k/50:4k")
                .unwrap_err()
                .contains("add up to 110")
        );
        assert!(read("0/50").is_err() && read("1k/x").is_err() && read("").is_err());
    }
}
