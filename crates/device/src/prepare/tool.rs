//! Runs tools of the distribution: found in the usual directories, without a shell, with captured
//! output.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Directories of administration tools, which the PATH of an ordinary user may lack.
const ADMIN_FOLDERS: [&str; 4] = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin"];

/// Errors of external tools.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The tool is not installed.
    #[error(
        "{tool} is not installed; help: apt install {package} (other distributions: the package \
        of the same name)"
    )]
    Missing {
        /// Its name.
        tool: String,
        /// Its Debian package.
        package: &'static str,
    },
    /// The tool failed to start.
    #[error("cannot start {tool}: {source}")]
    Start {
        /// Its path.
        tool: String,
        /// The I/O error.
        source: io::Error,
    },
    /// The tool exited with an error.
    #[error("`{command}` failed ({status}): {said}")]
    Failed {
        /// The command line.
        command: String,
        /// The exit status.
        status: String,
        /// A summary of its output.
        said: String,
    },
    /// An option with a path, which could be another device.
    #[error(
        "mkfs option `{option}` contains a path, which could make the tool write to another \
        device; help: omit it"
    )]
    Path {
        /// The option.
        option: String,
    },
    /// An option that selects a device by its content.
    #[error(
        "mkfs option `{option}` selects a device by {tag}, which could be another device; help: \
        omit it"
    )]
    Tag {
        /// The option.
        option: String,
        /// The tag.
        tag: &'static str,
    },
}

/// Tags by which tools look up devices. Source: blkid(8), "NAME=value" tags.
const TAGS: [&str; 4] = ["PARTLABEL=", "PARTUUID=", "LABEL=", "UUID="];

/// Finds a tool in PATH and the administration directories.
pub(super) fn find(tool: &str, package: &'static str) -> Result<PathBuf, ToolError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(ADMIN_FOLDERS.iter().map(PathBuf::from));
    let found = folders
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(tool))
        .find(|file| file.is_file());
    found.ok_or_else(|| ToolError::Missing {
        tool: tool.to_owned(),
        package,
    })
}

/// Refuses options with a slash: a second device in them would be formatted too.
pub(super) fn no_paths(options: &[String]) -> Result<(), ToolError> {
    match options
        .iter()
        .find(|option| option.contains('/') || option.contains('\0'))
    {
        Some(option) => Err(ToolError::Path {
            option: option.clone(),
        }),
        None => Ok(()),
    }
}

/// Refuses options that select a device by label or UUID: an external journal there would be
/// formatted too.
pub(super) fn no_tags(options: &[String]) -> Result<(), ToolError> {
    let found = options
        .iter()
        .find_map(|option| Some((option, TAGS.into_iter().find(|tag| option.contains(tag))?)));
    match found {
        Some((option, tag)) => Err(ToolError::Tag {
            option: option.clone(),
            tag: tag.trim_end_matches('='),
        }),
        None => Ok(()),
    }
}

/// Runs a tool with text on its standard input, and returns its output.
pub(super) fn run(tool: &Path, arguments: &[String], input: &str) -> Result<String, ToolError> {
    use std::io::Write;
    let failed_to_start = |source| ToolError::Start {
        tool: tool.display().to_string(),
        source,
    };
    let mut command = Command::new(tool);
    // In /sys a stray argument cannot match a file. The locale makes messages English.
    command.args(arguments).current_dir("/sys");
    command.env("LC_ALL", "C").env_remove("LANGUAGE");
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed_to_start)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A tool may ignore its input.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(failed_to_start)?;
    let said = [output.stdout, output.stderr]
        .map(|text| String::from_utf8_lossy(&text).trim().to_owned())
        .join("\n");
    if output.status.success() {
        return Ok(said.trim().to_owned());
    }
    Err(ToolError::Failed {
        command: command_line(tool, arguments),
        status: output.status.to_string(),
        said: gist(&said),
    })
}

/// Formats the command line for display.
pub(super) fn command_line(tool: &Path, arguments: &[String]) -> String {
    let words = std::iter::once(tool.display().to_string()).chain(arguments.iter().cloned());
    words
        .map(|word| {
            if word.is_empty() || word.contains(' ') {
                format!("'{word}'")
            } else {
                word
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Summarizes the output of a failed tool in one line: some tools print the reason first, others
/// last.
fn gist(said: &str) -> String {
    let lines: Vec<_> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    match lines[..] {
        [first, second, .., before, last] if lines.len() > 4 => {
            format!("{first}; {second}; … {before}; {last}")
        }
        _ => lines.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_names_its_package() {
        let error = find("mkfs.nosuchfs", "nosuchfs-tools").unwrap_err();
        insta::assert_snapshot!(error, @"mkfs.nosuchfs is not installed; help: apt install nosuchfs-tools (other distributions: the package of the same name)");
    }

    #[test]
    fn a_failing_tool_reports_its_output() {
        let shell = find("sh", "dash").unwrap();
        let arguments = ["-c", "echo one; echo two >&2; exit 3"].map(str::to_owned);
        let error = run(&shell, &arguments, "").unwrap_err().to_string();
        assert!(
            error.ends_with("failed (exit status: 3): one; two"),
            "{error}"
        );
        assert_eq!(
            run(&shell, &["-c".to_owned(), "cat".to_owned()], "hello").unwrap(),
            "hello"
        );
    }

    #[test]
    fn options_with_paths_are_refused() {
        let options = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(no_paths(&options("-O ^has_journal -b 4096")).is_ok());
        let error = no_paths(&options("-J device=/dev/sda")).unwrap_err();
        insta::assert_snapshot!(error, @"mkfs option `device=/dev/sda` contains a path, which could make the tool write to another device; help: omit it");
    }

    #[test]
    fn options_that_look_a_device_up_are_refused() {
        let option = |text: &str| no_tags(&["-J".to_owned(), text.to_owned()]);
        assert!(option("size=4").is_ok() && option("uuid=1234").is_ok());
        let error = option("device=LABEL=journal").unwrap_err();
        insta::assert_snapshot!(error, @"mkfs option `device=LABEL=journal` selects a device by LABEL, which could be another device; help: omit it");
        for tag in [
            "UUID=1-2",
            "device=UUID=1-2",
            "device=PARTUUID=1",
            "device=PARTLABEL=x",
        ] {
            assert!(matches!(option(tag), Err(ToolError::Tag { .. })), "{tag}");
        }
    }
}
