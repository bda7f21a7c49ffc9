//! `--showcmd`: prints a job file as an equivalent command line.

use super::jobfile::{JobFileEntry, JobFileLine, is_global};

/// Formats a single shell command line from the named sections, or from all.
pub(crate) fn line(lines: &[JobFileLine], sections: &[String]) -> String {
    let mut words = vec!["fio".to_owned()];
    let mut shown = true;
    let mut any_job = false;
    for line in lines {
        match &line.what {
            // The first global section comes before any --name, which makes it global.
            JobFileEntry::Section(name) if is_global(name) => {
                shown = true;
                if any_job {
                    words.push("--name=global".to_owned());
                }
            }
            JobFileEntry::Section(name) => {
                shown = sections.is_empty() || sections.contains(name);
                any_job |= shown;
                if shown {
                    words.push(quoted(&format!("--name={name}")));
                }
            }
            JobFileEntry::Option(..) if !shown => {}
            JobFileEntry::Option(name, None) => words.push(format!("--{name}")),
            JobFileEntry::Option(name, Some(value)) => {
                words.push(quoted(&format!("--{name}={}", value.trim())))
            }
        }
    }
    // fio leaves a blank before the end of the line.
    words.join(" ") + " \n"
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+%@^".contains(c);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use crate::fio::testing::with_files;
    use std::path::Path;

    #[test]
    fn a_job_file_becomes_a_command_line() {
        let text = "[global]\nioengine=libaio\nbs = 4k\n[a b]\nrw=read\nthread\ndescription=it's\n[c]\n[global]\nbs=8k\n[d]\n";
        let show = |sections: &[&str]| {
            with_files(&[("a.fio", text)], |ctx| {
                let lines = crate::fio::jobfile::read(Path::new("a.fio"), ctx).unwrap();
                super::line(
                    &lines,
                    &sections.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>(),
                )
            })
        };
        insta::assert_snapshot!(show(&[]), @r"fio --ioengine=libaio --bs=4k '--name=a b' --rw=read --thread '--description=it'\''s' --name=c --name=global --bs=8k --name=d");
        insta::assert_snapshot!(show(&["d"]), @"fio --ioengine=libaio --bs=4k --bs=8k --name=d");
    }
}
