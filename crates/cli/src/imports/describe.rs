//! What was read of the results of other programs, line by line.

use super::ImportText;
use crate::cmd::{CountedNoun, counted};
use hakaru_dialects::import::ImportResult;
use hakaru_report::plain;

/// Describes the results that were read, and why others were not. Control characters are removed.
pub(crate) fn describe(texts: &[ImportText], found: &ImportResult) -> String {
    let mut lines: Vec<String> = Vec::new();
    for one in &found.runs {
        let run = &one.run;
        let name = &texts[one.source].name;
        let range = match run.lines {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}-{last}"),
        };
        let (format, program, scenario) = (run.format.name(), &run.program, &run.scenario.name);
        let figures = counted(run.figures, CountedNoun::Figure);
        lines.push(both!(
            "{name}:{range}: {format} of {program}, {scenario}: {figures}",
            "{name}:{range}: {program}の{format}、{scenario}: {figures}"
        ));
        lines.extend(run.unread.iter().map(|unread| {
            let text = match unread.text.as_str() {
                "" => String::new(),
                text => format!(" ({text})"),
            };
            both!("  line {}: {}{text}", "  {}行目: {}{text}"; unread.line, unread.why)
        }));
        let caveats = run.caveats.iter().map(hakaru_report::text::caveat);
        lines.extend(caveats.map(|caveat| both!("  caveat: {caveat}", "  注意: {caveat}")));
    }
    lines.extend(found.unread.iter().map(|(source, unread)| {
        let (name, line) = (&texts[*source].name, unread.line);
        both!("{name}:{line}: not read: {} ({})", "{name}:{line}: 読み込めません: {}（{}）"; unread.why, unread.text)
    }));
    let others = texts.iter().zip(&found.other_lines);
    lines.extend(
        others
            .filter(|(_, other)| **other > 0)
            .map(|(text, other)| {
                let name = &text.name;
                match *other {
                    1 => both!("{name}: 1 other line passed over", "{name}: 他の1行を無視"),
                    other => both!(
                        "{name}: {other} other lines passed over",
                        "{name}: 他の{other}行を無視"
                    ),
                }
            }),
    );
    let plain = |line: &String| plain(&line.replace('\t', " ")) + "\n";
    lines.iter().map(plain).collect()
}
