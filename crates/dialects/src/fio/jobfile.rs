//! Line parser of job files: sections, options and comments, with included files inserted in place.
//!
//! Grammar only; this module does not know which options exist. Source: fio's manual, "Job file format".

use super::error::{FioError, FioErrorKind, Location};
use super::invocation::ParseContext;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Maximum include depth; deeper nesting is treated as circular.
const DEEPEST: usize = 16;

/// Maximum number of included files: a file that includes itself twice would double the number at each level.
const MOST: usize = 256;

/// One line with content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobFileLine {
    /// Parsed content.
    pub what: JobFileEntry,
    /// Location of the line.
    pub at: Location,
}

/// Content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JobFileEntry {
    /// `[name]`.
    Section(String),
    /// `name` or `name=value`, the value as typed.
    Option(String, Option<String>),
}

/// Whether a section is global: fio checks only the prefix of its name.
pub(super) fn is_global(section: &str) -> bool {
    section.starts_with("global")
}

/// Reads a job file with all its includes.
pub(crate) fn read(path: &Path, ctx: &ParseContext<'_>) -> Result<Vec<JobFileLine>, FioError> {
    let mut reader = JobFileReader {
        ctx,
        lines: Vec::new(),
        in_section: false,
        files: 0,
    };
    reader.file(path, 0)?;
    Ok(reader.lines)
}

/// One line of a file.
struct RawLine<'a> {
    path: &'a Path,
    /// From 1.
    number: usize,
    text: &'a str,
    /// Byte range without the comment and surrounding blanks.
    span: Range<usize>,
}

impl<'a> RawLine<'a> {
    fn of(path: &'a Path, number: usize, text: &'a str) -> RawLine<'a> {
        // A comment starts at the first ; or #, at any position.
        let content = text.split([';', '#']).next().unwrap_or_default();
        let start = content.len() - content.trim_start().len();
        RawLine {
            path,
            number,
            text,
            span: start..start + content.trim().len(),
        }
    }

    fn said(&self) -> &'a str {
        &self.text[self.span.clone()]
    }

    fn at(&self, span: Range<usize>) -> Location {
        Location::File {
            path: self.path.to_owned(),
            line: self.number,
            text: self.text.to_owned(),
            span,
        }
    }

    /// Refuses a line with replaced bytes, which would name a different file. Comments and descriptions have no effect,
    /// so they are accepted.
    fn check_replaced(&self) -> Result<(), FioError> {
        let said = self.said();
        if said.starts_with("description") || !said.contains(char::REPLACEMENT_CHARACTER) {
            return Ok(());
        }
        Err(self.bad("not UTF-8; rename the file, or save the job file as UTF-8"))
    }

    fn bad(&self, reason: &str) -> FioError {
        let kind = FioErrorKind::BadLine {
            text: self.said().to_owned(),
            reason: reason.to_owned(),
        };
        FioError::at(kind, self.at(self.span.clone()))
    }
}

struct JobFileReader<'a> {
    ctx: &'a ParseContext<'a>,
    lines: Vec<JobFileLine>,
    in_section: bool,
    files: usize,
}

impl JobFileReader<'_> {
    fn file(&mut self, path: &Path, depth: usize) -> Result<(), FioError> {
        self.files += 1;
        if depth > DEEPEST || self.files > MOST {
            return Err(FioError::nowhere(FioErrorKind::IncludeTooDeep {
                path: path.to_owned(),
                limit: DEEPEST,
            }));
        }
        let bytes = (self.ctx.read_file)(path).map_err(|e| {
            FioError::nowhere(FioErrorKind::CannotRead {
                path: path.to_owned(),
                reason: e.to_string(),
                hint: String::new(),
            })
        })?;
        for (raw, number) in bytes.split(|&byte| byte == b'\n').zip(1..) {
            let text = String::from_utf8_lossy(raw);
            let line = RawLine::of(path, number, text.strip_suffix('\r').unwrap_or(&text));
            if matches!(text, Cow::Owned(_)) {
                line.check_replaced()?;
            }
            self.line(&line, depth)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &RawLine<'_>, depth: usize) -> Result<(), FioError> {
        let said = line.said();
        if said.is_empty() {
            return Ok(());
        }
        if let Some(rest) = said.strip_prefix('[') {
            return self.section(line, rest, depth);
        }
        let included = said.strip_prefix("include");
        if let Some(included) = included.filter(|rest| rest.starts_with([' ', '\t'])) {
            let target = self.locate(included.trim(), line.path);
            return self.file(&target, depth + 1).map_err(|error| FioError {
                at: error.at.or_else(|| Some(line.at(line.span.clone()))),
                kind: error.kind,
            });
        }
        if !self.in_section {
            return Err(line.bad("options must follow a [section]"));
        }
        let said = substitute(said, self.ctx);
        let (name, value) = match said.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(value.to_owned())),
            None => (said.as_str(), None),
        };
        self.lines.push(JobFileLine {
            what: JobFileEntry::Option(name.to_owned(), value),
            at: line.at(line.span.clone()),
        });
        Ok(())
    }

    /// Starts a section; `rest` follows its opening bracket.
    fn section(&mut self, line: &RawLine<'_>, rest: &str, depth: usize) -> Result<(), FioError> {
        let (name, _) = rest
            .rsplit_once(']')
            .ok_or_else(|| line.bad("missing ] at the end of the section"))?;
        if name.trim().is_empty() {
            return Err(line.bad("the section has no name"));
        }
        if depth > 0 {
            return Err(line.bad("an included file cannot start a section"));
        }
        self.in_section = true;
        let start = line.span.start + 1;
        self.lines.push(JobFileLine {
            what: JobFileEntry::Section(name.to_owned()),
            at: line.at(start..start + name.len()),
        });
        Ok(())
    }

    /// Looks for an included file at the given path, then in the directory of the including file.
    fn locate(&self, name: &str, from: &Path) -> PathBuf {
        let plain = PathBuf::from(name);
        match from.parent() {
            Some(directory) if plain.is_relative() && !(self.ctx.path_exists)(&plain) => {
                directory.join(plain)
            }
            _ => plain,
        }
    }
}

/// Substitutes environment variables `${NAME}`; an unset one is empty.
fn substitute(text: &str, ctx: &ParseContext<'_>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            break;
        };
        out.push_str(&rest[..start]);
        out.push_str(&(ctx.env)(&rest[start + 2..start + length]).unwrap_or_default());
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::testing::with_files;

    /// Otherwise the invalid bytes would be replaced, and a different file would be written.
    #[test]
    fn names_that_are_not_utf8_are_refused() {
        let parse = |text: &[u8]| {
            let read_file = |_: &Path| Ok(text.to_vec());
            with_files(&[], |ctx| {
                read(
                    Path::new("j.fio"),
                    &ParseContext {
                        read_file: &read_file,
                        ..*ctx
                    },
                )
            })
        };
        for bad in [
            &b"[a]\nfilename=\xff.bin\n"[..],
            b"[\xff]\n",
            b"[a]\r\nwrite_bw_log=\xfc\r\n",
        ] {
            let error = parse(bad).unwrap_err().to_string();
            assert!(error.contains("not UTF-8"), "{error}");
        }
        for good in [
            &b"[a]\r\nfilename=x ; \xfcber\r\n"[..],
            b"[a]\ndescription=\xfcber\n",
            "[a]\nfilename=\u{fffd}".as_bytes(),
        ] {
            assert_eq!(parse(good).unwrap().len(), 2);
        }
    }

    fn show(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let text = |line: &JobFileLine| match &line.what {
            JobFileEntry::Section(name) => format!("[{name}]"),
            JobFileEntry::Option(name, None) => name.clone(),
            JobFileEntry::Option(name, Some(value)) => format!("{name}={value}"),
        };
        with_files(files, |ctx| read(Path::new(files[0].0), ctx))
            .map(|lines| lines.iter().map(text).collect())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn lines_are_sections_options_and_comments() {
        let text = "; c\n# c\n [global]\r\n\tbs=4k ; c\n\n[job one]\nthread\niodepth = 4\ndescription=a b  c # d\nx=${HOME}/f${NONE}\n";
        assert_eq!(
            show(&[("a.fio", text)]).unwrap(),
            [
                "[global]",
                "bs=4k",
                "[job one]",
                "thread",
                "iodepth= 4",
                "description=a b  c",
                "x=/root/f"
            ]
        );
    }

    #[test]
    fn includes_stand_where_they_are_named() {
        let files = [
            ("dir/a.fio", "[a]\ninclude b.inc\nbs=1k\n"),
            ("dir/b.inc", "iodepth=2\ninclude c.inc\n"),
            ("c.inc", "size=1m\n"),
        ];
        assert_eq!(
            show(&files).unwrap(),
            ["[a]", "iodepth=2", "size=1m", "bs=1k"]
        );
    }

    #[test]
    fn what_is_no_job_file_says_why() {
        let error = |files: &[(&str, &str)]| show(files).unwrap_err();
        insta::assert_snapshot!(error(&[("a", "bs=4k\n")]), @"`bs=4k` is neither a [section] nor an option: options must follow a [section]");
        insta::assert_snapshot!(error(&[("a", "[x\n")]), @"`[x` is neither a [section] nor an option: missing ] at the end of the section");
        insta::assert_snapshot!(error(&[("a", "[]\n")]), @"`[]` is neither a [section] nor an option: the section has no name");
        insta::assert_snapshot!(error(&[("a", "[x]\ninclude b\n"), ("b", "[y]\n")]), @"`[y]` is neither a [section] nor an option: an included file cannot start a section");
        insta::assert_snapshot!(error(&[("a", "[x]\ninclude a\n")]), @"`[x]` is neither a [section] nor an option: an included file cannot start a section");
        insta::assert_snapshot!(error(&[("a", "include a\n")]), @"too many include files, or nested more than 16 deep: a");
        insta::assert_snapshot!(error(&[("a", "[x]\ninclude nowhere\n")]), @"unable to open 'nowhere' job file: entity not found");
    }
}
