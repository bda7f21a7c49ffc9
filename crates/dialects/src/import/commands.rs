//! Finds command lines before results and after prompts.
//!
//! Does not interpret them.

/// Programs whose command lines are recognized.
const PROGRAMS: [&str; 3] = ["fio", "dd", "iozone"];

/// Separators that end a shell command.
const SEPARATORS: [&str; 9] = [";", "|", "&&", "||", ">", ">>", "2>&1", "&", "2>"];

/// Returns the words of a fio, dd or iozone command line that starts in the first of some lines,
/// and its number of lines. The first word is the program name without directory; prompts, `sudo`
/// and other preceding commands are dropped.
pub(super) fn command_words(lines: &[&str]) -> Option<(Vec<String>, usize)> {
    let first = lines.first()?;
    if first.len() > 2000 || !PROGRAMS.iter().any(|name| first.contains(name)) {
        return None;
    }
    let mut text = String::new();
    let mut used = 0;
    for line in lines {
        // A line continues after a backslash, and if the next line starts with an option.
        if used > 0 && !text.ends_with('\\') && !line.starts_with("--") {
            break;
        }
        let continued = text.ends_with('\\');
        if continued {
            text.pop();
        }
        text = format!("{text} {line}").trim().to_owned();
        used += 1;
    }
    let words = shell_words(text.trim_end_matches('\\'));
    let program = |word: &str| {
        word.rsplit('/')
            .next()
            .filter(|name| PROGRAMS.contains(name))
            .map(str::to_owned)
    };
    let (place, name) = words
        .iter()
        .enumerate()
        .find_map(|(at, word)| Some((at, program(word)?)))?;
    let next = words.get(place + 1)?;
    let fits = match name.as_str() {
        "fio" => next.starts_with('-') || next.ends_with(".fio") || next.contains('='),
        "iozone" => next.starts_with('-'),
        _ => ["if=", "of=", "bs=", "count="]
            .iter()
            .any(|key| next.starts_with(key)),
    };
    let separates = |word: &String| SEPARATORS.contains(&word.as_str());
    let prompts = |word: &String| word.ends_with(['$', '#', '%', '>']);
    let begin = words[..place]
        .iter()
        .rposition(|word| separates(word) || prompts(word))
        .map_or(0, |at| at + 1);
    (fits && words[begin..place].iter().all(|word| is_in_front(word))).then(|| {
        let mut words = words[place + 1..].to_vec();
        if let Some(end) = words.iter().position(separates) {
            words.truncate(end);
        }
        words.insert(0, name);
        (words, used)
    })
}

/// Whether a word may precede a command: a prompt, `sudo`, `time` and variables may, a sentence may
/// not.
pub(super) fn is_in_front(word: &str) -> bool {
    let bare = word.trim_start_matches(['$', '#']);
    word.contains(['@', '=', '~'])
        || ["", "sudo", "time", "nice", "ionice", "-c1", "-n0"].contains(&bare)
}

/// Splits a line like a shell; quotes keep words together.
pub(super) fn shell_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, ';') => words.extend(word.take().into_iter().chain([";".to_owned()])),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(lines: &[&str]) -> Option<(String, usize)> {
        command_words(lines).map(|(words, used)| (words.join("|"), used))
    }

    #[test]
    fn commands_are_known_behind_prompts() {
        let of = |text: &str, used| Some((text.to_owned(), used));
        assert_eq!(
            words(&[
                "$ fio --name=a --bs='4 k' \\",
                "    --size=1G \\",
                "--x",
                "a: (g=0)"
            ]),
            of("fio|--name=a|--bs=4 k|--size=1G|--x", 3)
        );
        assert_eq!(
            words(&["pi@pi:~ $ sudo /usr/bin/fio -name=a > out.txt"]),
            of("fio|-name=a", 1)
        );
        assert_eq!(
            words(&["# dd if=/dev/zero of=x bs=1M && sync"]),
            of("dd|if=/dev/zero|of=x|bs=1M", 1)
        );
        assert_eq!(
            words(&["$ sync; dd if=/dev/zero of=x bs=1M; sync"]),
            of("dd|if=/dev/zero|of=x|bs=1M", 1)
        );
        assert_eq!(
            words(&["/ # dd if=/dev/zero of=x"]),
            of("dd|if=/dev/zero|of=x", 1)
        );
        assert_eq!(words(&["$sudo dd bs=1m if=x"]), of("dd|bs=1m|if=x", 1));
        assert_eq!(
            words(&["$ ./iozone -a -i 0 | tee log"]),
            of("iozone|-a|-i|0", 1)
        );
        for text in [
            "We ran fio --name=a today",
            "fio is a tool",
            "add if=x",
            "",
            "fio",
            "fio: pid=1",
        ] {
            assert_eq!(words(&[text]), None, "{text}");
        }
    }

    #[test]
    fn shells_hold_quoted_words_together() {
        assert_eq!(
            shell_words(r#"a "b c"d 'e\' \f "" g"#),
            ["a", "b cd", "e\\", "f", "", "g"]
        );
    }
}
