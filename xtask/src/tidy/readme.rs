//! Rules for the translated README: the same commands, headings, pictures and tables as the original.

use super::{Problem, TextFile};

const ORIGINAL: &str = "README.md";
const TRANSLATION: &str = "README.ja.md";

/// What a translation keeps of its original.
#[derive(Debug, Default, PartialEq, Eq)]
struct ReadmeOutline {
    /// Command lines without their comments, in order.
    commands: Vec<String>,
    /// Levels of the headings, in order.
    headings: Vec<usize>,
    /// Files of the pictures, in order.
    pictures: Vec<String>,
    /// First column of the tables, except their heads.
    rows: usize,
}

fn outline(text: &str) -> ReadmeOutline {
    let mut found = ReadmeOutline::default();
    let mut in_block = false;
    let mut body = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let command = line.strip_prefix("$ ");
            let bare = |line: &str| {
                line.split(" # ")
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_owned()
            };
            found.commands.extend(command.map(bare));
        } else {
            let level = line.len() - line.trim_start_matches('#').len();
            found.headings.extend((level > 0).then_some(level));
            found.rows += usize::from(line.starts_with('|'));
            body.push_str(line);
            body.push('\n');
        }
    }
    let pictures = body.split("![").skip(1);
    let file = |picture: &str| {
        let (_, rest) = picture.split_once("](")?;
        Some(rest.split_once(')')?.0.to_owned())
    };
    found.pictures = pictures.filter_map(file).collect();
    found
}

/// Checks that the translation has the commands, headings, pictures and tables of the original.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let of = |path: &str| files.iter().find(|file| file.path == path);
    let (Some(original), Some(translation)) = (of(ORIGINAL), of(TRANSLATION)) else {
        return vec![Problem::new(TRANSLATION, "is missing, or its original is")];
    };
    let (wanted, found) = (outline(&original.text), outline(&translation.text));
    let same = [
        ("commands", wanted.commands == found.commands),
        ("headings", wanted.headings == found.headings),
        ("pictures", wanted.pictures == found.pictures),
        ("rows of tables", wanted.rows == found.rows),
    ];
    let differs = same.into_iter().filter(|(_, same)| !same);
    let problem = |(what, _)| {
        Problem::new(
            TRANSLATION,
            format!("its {what} are not those of {ORIGINAL}: translate the change"),
        )
    };
    differs.map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(original: &str, translation: &str) -> usize {
        let file = |path: &str, text: &str| TextFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        check(&[file(ORIGINAL, original), file(TRANSLATION, translation)]).len()
    }

    #[test]
    fn a_translation_keeps_the_commands() {
        let original = "# a\n![b\nc](d.svg)\n```console\n$ x --y  # why\nout # 1\n```\n| z |\n";
        let translation = "# あ\n![い](d.svg)\n```console\n$ x --y # なぜ\n出力\n```\n| ぜ |\n";
        assert_eq!(problems(original, translation), 0);
        assert_eq!(problems(original, &translation.replace("--y", "--z")), 1);
        assert_eq!(problems(original, &translation.replace("# あ", "## あ")), 1);
        assert_eq!(
            problems(original, &translation.replace("d.svg", "e.svg")),
            1
        );
        assert_eq!(problems(original, "い"), 4);
    }
}
