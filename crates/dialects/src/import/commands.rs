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
    let (text, used) = continued(lines);
    let words = shell_words(text.trim_end_matches('\\'));
    let program = |word: &str| {
        let name = word.rsplit('/').next();
        name.filter(|name| PROGRAMS.contains(name))
            .map(str::to_owned)
    };
    let mut numbered = words.iter().enumerate();
    let (place, name) = numbered.find_map(|(at, word)| Some((at, program(word)?)))?;
    let separates = |word: &String| SEPARATORS.contains(&word.as_str());
    let prompts = |word: &String| word.ends_with(['$', '#', '%', '>']);
    let begin = words[..place]
        .iter()
        .rposition(|word| separates(word) || prompts(word))
        .map_or(0, |at| at + 1);
    let meant = is_argument(&name, words.get(place + 1)?)
        && words[begin..place].iter().all(|word| is_in_front(word));
    let rest = words[place + 1..].iter();
    let arguments = rest.take_while(|word| !separates(word)).cloned();
    meant.then(|| (std::iter::once(name).chain(arguments).collect(), used))
}

/// Joins the lines of a command: a line continues after a backslash, and if the next line starts with an option. Also
/// returns the number of lines.
fn continued(lines: &[&str]) -> (String, usize) {
    let (mut text, mut used) = (String::new(), 0);
    for line in lines {
        let continues = text.ends_with('\\');
        if used > 0 && !continues && !line.starts_with("--") {
            break;
        }
        if continues {
            text.pop();
        }
        text = format!("{text} {line}").trim().to_owned();
        used += 1;
    }
    (text, used)
}

/// Whether a word can be the first argument of a program.
fn is_argument(program: &str, word: &str) -> bool {
    match program {
        "fio" => word.starts_with('-') || word.ends_with(".fio") || word.contains('='),
        "iozone" => word.starts_with('-'),
        _ => ["if=", "of=", "bs=", "count="]
            .iter()
            .any(|key| word.starts_with(key)),
    }
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
        for (line, wanted) in [
            (
                "pi@pi:~ $ sudo /usr/bin/fio -name=a > out.txt",
                "fio|-name=a",
            ),
            (
                "# dd if=/dev/zero of=x bs=1M && sync",
                "dd|if=/dev/zero|of=x|bs=1M",
            ),
            (
                "$ sync; dd if=/dev/zero of=x bs=1M; sync",
                "dd|if=/dev/zero|of=x|bs=1M",
            ),
            ("/ # dd if=/dev/zero of=x", "dd|if=/dev/zero|of=x"),
            ("$sudo dd bs=1m if=x", "dd|bs=1m|if=x"),
            ("$ ./iozone -a -i 0 | tee log", "iozone|-a|-i|0"),
        ] {
            assert_eq!(words(&[line]), Some((wanted.to_owned(), 1)), "{line}");
        }
    }

    #[test]
    fn commands_continue_on_the_next_line() {
        let lines = [
            "$ fio --name=a --bs='4 k' \\",
            "    --size=1G \\",
            "--x",
            "a: (g=0)",
        ];
        let wanted = "fio|--name=a|--bs=4 k|--size=1G|--x".to_owned();
        assert_eq!(words(&lines), Some((wanted, 3)));
    }

    #[test]
    fn prose_is_no_command() {
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
