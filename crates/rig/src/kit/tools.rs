//! Host programs that the rig needs, and functions to run them.

use super::arch::Arch;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs that are not installed, with their packages.
#[derive(Debug, thiserror::Error)]
#[error("not installed: {}; install with: apt-get install {}", programs.join(", "), packages.join(" "))]
pub struct Missing {
    /// Names of the programs.
    pub programs: Vec<&'static str>,
    /// Debian packages that contain them.
    pub packages: Vec<&'static str>,
}

/// Failure of a program.
#[derive(Debug, thiserror::Error)]
pub enum RigToolError {
    /// The program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// Name of the program.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The program exited with an error.
    #[error("{program} failed ({status}): {said}")]
    Failed {
        /// The program with its arguments.
        program: String,
        /// Exit status.
        status: std::process::ExitStatus,
        /// The end of its output.
        said: String,
    },
}

impl RigToolError {
    /// Error conversion for `map_err` of a program that could not be started.
    pub(super) fn start(program: &str) -> impl Fn(std::io::Error) -> RigToolError + use<> {
        let program = program.to_owned();
        move |source| RigToolError::Start {
            program: program.clone(),
            source,
        }
    }
}

/// Program, package, and the machines that need it.
const TOOLS: &[(&str, &str, &[Arch])] = &[
    ("qemu-system-x86_64", "qemu-system-x86", &[Arch::X86_64]),
    ("qemu-system-aarch64", "qemu-system-arm", &[Arch::Aarch64]),
    ("depmod", "kmod", &[Arch::X86_64, Arch::Aarch64]),
    ("xz", "xz-utils", &[Arch::X86_64, Arch::Aarch64]),
    ("dpkg-deb", "dpkg", &[Arch::X86_64, Arch::Aarch64]),
    ("apt-get", "apt", &[Arch::X86_64, Arch::Aarch64]),
];

/// The programs that a kind of machine needs and that are not installed.
pub fn missing(arch: Arch) -> Option<Missing> {
    let lacks = |tool: &&(&str, &str, &[Arch])| tool.2.contains(&arch) && find(tool.0).is_none();
    let (programs, packages): (Vec<_>, Vec<_>) = TOOLS
        .iter()
        .filter(lacks)
        .map(|tool| (tool.0, tool.1))
        .unzip();
    (!programs.is_empty()).then_some(Missing { programs, packages })
}

pub(super) fn check(arch: Arch) -> Result<(), Missing> {
    missing(arch).map_or(Ok(()), Err)
}

/// Finds a program on the PATH or in the system directories of root.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(more)
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

/// A command for a program, wherever it is installed.
pub(super) fn command(program: &str) -> Command {
    let mut command = Command::new(find(program).unwrap_or_else(|| Path::new(program).to_owned()));
    command.stdin(Stdio::null());
    command
}

/// Runs a command and returns its standard output.
pub(crate) fn run(command: &mut Command) -> Result<Vec<u8>, RigToolError> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let program = words.join(" ");
    let out = command.output().map_err(RigToolError::start(&program))?;
    if out.status.success() {
        return Ok(out.stdout);
    }
    let said = String::from_utf8_lossy(&out.stderr);
    let lines: Vec<&str> = said.trim().lines().collect();
    let said = lines[lines.len().saturating_sub(5)..].join("; ");
    Err(RigToolError::Failed {
        program,
        status: out.status,
        said,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_comes_with_its_package() {
        let text = Missing {
            programs: vec!["depmod", "xz"],
            packages: vec!["kmod", "xz-utils"],
        }
        .to_string();
        assert_eq!(
            text,
            "not installed: depmod, xz; install with: apt-get install kmod xz-utils"
        );
    }

    #[test]
    fn a_failure_says_what_the_program_said() {
        let error = run(Command::new("sh").args(["-c", "echo no such luck >&2; exit 3"]))
            .expect_err("it fails");
        assert!(
            error
                .to_string()
                .ends_with("(exit status: 3): no such luck"),
            "{error}"
        );
        assert!(matches!(
            run(&mut Command::new("/nowhere/at/all")),
            Err(RigToolError::Start { .. })
        ));
        assert_eq!(
            run(Command::new("echo").arg("yes")).expect("it works"),
            b"yes\n"
        );
    }
}
