//! Runs one program on one job in an empty directory, and collects its output and the files it leaves.

use super::jobs::ParityRow;
use super::paced_fs::PacedFs;
use super::tree::JsonTree;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Timeout: longer than any row.
const PATIENCE: Duration = Duration::from_secs(20);

/// Size of the loop device.
const LOOP_BYTES: u64 = 16 << 20;

/// One of the two programs: its executable, and the arguments before all others.
pub(super) struct Program {
    pub(super) file: PathBuf,
    pub(super) prefix: &'static [&'static str],
}

/// Output format of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputForm {
    Json,
    Normal,
}

/// Output and remaining files of a run.
#[derive(Debug)]
pub(super) struct Observation {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) exit: ExitStatus,
    /// Name and content of each remaining file; for data files only the size.
    pub(super) files: Vec<(String, Left)>,
}

/// A remaining file.
#[derive(Debug)]
pub(super) enum Left {
    Data { bytes: u64 },
    Log { text: String },
}

/// Targets of the jobs.
pub(super) struct ParityTargets {
    folder: PathBuf,
    held: Result<PacedFs>,
    looped: Result<ParityLoop>,
}

impl ParityTargets {
    /// Sets up the targets, as far as this host supports them.
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub(super) fn new(folder: &Path) -> Result<ParityTargets> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let looped = ParityLoop::attach(&folder.join("loop.img"), LOOP_BYTES);
        Ok(ParityTargets {
            folder: folder.to_owned(),
            held: PacedFs::serve(),
            looped,
        })
    }

    /// Why a job cannot run here, if so.
    pub(super) fn lacks(&self, job: &ParityRow) -> Option<String> {
        let held = self.held.as_ref().err().filter(|_| job.needs("{held}"));
        let looped = self.looped.as_ref().err().filter(|_| job.needs("{loop}"));
        held.or(looped).map(|error| format!("{error:#}"))
    }

    /// Runs a program on a job.
    ///
    /// # Errors
    /// If it cannot be started, or hangs.
    pub(super) fn run(
        &self,
        program: &Program,
        job: &ParityRow,
        format: OutputForm,
    ) -> Result<Observation> {
        let dir = self.folder.join("dir");
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
        }
        fs::create_dir(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        if let Some((name, text)) = job.beside {
            fs::write(dir.join(name), text)?;
        }
        if !job.before.is_empty() {
            let before = self.call(program, &self.words(job.before), &dir)?;
            if !before.exit.success() {
                // If the preceding run failed, the job itself has not been run.
                return Ok(before);
            }
        }
        let mut observation = self.call(program, &self.arguments(job, format)?, &dir)?;
        observation.files = left_behind(&dir)?;
        Ok(observation)
    }

    /// The complete command line of a row.
    fn arguments(&self, job: &ParityRow, format: OutputForm) -> Result<Vec<String>> {
        let mut words = Vec::new();
        if !job.has_own_format() {
            words.push(
                if format == OutputForm::Json {
                    "--output-format=json"
                } else {
                    "--output-format=normal"
                }
                .to_owned(),
            );
        }
        if !job.file.is_empty() {
            fs::write(self.job_file(), self.fill_in(job.file))?;
        } else if !job.args.contains("--name") && !job.args.contains("--version") {
            words.push(format!("--name={}", job.name));
        }
        words.extend(self.words(job.args));
        Ok(words)
    }

    fn words(&self, args: &str) -> Vec<String> {
        args.split(' ').map(|word| self.fill_in(word)).collect()
    }

    fn fill_in(&self, text: &str) -> String {
        let path = |path: PathBuf| path.display().to_string();
        let held = self
            .held
            .as_ref()
            .map_or(String::new(), |held| path(held.file()));
        let looped = self
            .looped
            .as_ref()
            .map_or(String::new(), |looped| path(looped.device.clone()));
        text.replace("{dir}", &path(self.folder.join("dir")))
            .replace("{job}", &path(self.job_file()))
            .replace("{held}", &held)
            .replace("{loop}", &looped)
    }

    fn job_file(&self) -> PathBuf {
        self.folder.join("job.fio")
    }

    fn call(&self, program: &Program, words: &[String], dir: &Path) -> Result<Observation> {
        let (out, err) = (self.folder.join("stdout"), self.folder.join("stderr"));
        let stdin = match words.iter().any(|word| word == "-") {
            true => Stdio::from(File::open(self.job_file())?),
            false => Stdio::null(),
        };
        let mut command = Command::new(&program.file);
        command.args(program.prefix).args(words);
        command.current_dir(dir).stdin(stdin);
        command.stdout(File::create(&out)?);
        command.stderr(File::create(&err)?);
        command.env("LC_ALL", "C");
        command.env("PARITY_SIZE", "256k").env("PARITY_JOBS", "2");
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {}", program.file.display()))?;
        let exit = wait(child, PATIENCE)?;
        let text =
            |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(Observation {
            stdout: text(&out)?,
            stderr: text(&err)?,
            exit,
            files: Vec::new(),
        })
    }
}

/// Waits for a program to exit, and kills it and its workers after a timeout.
///
/// # Errors
/// If it had to be killed.
pub(super) fn wait(mut child: Child, patience: Duration) -> Result<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(exit) = child.try_wait()? {
            return Ok(exit);
        }
        if begun.elapsed() > patience {
            // Its workers are in separate sessions and would survive it.
            for pid in descendants(child.id()) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            child.kill()?;
            child.wait()?;
            bail!("it did not end within {} s", patience.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// All running descendants of a process.
fn descendants(pid: u32) -> Vec<rustix::process::Pid> {
    let children =
        fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children: Vec<u32> = children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect();
    let mut found: Vec<_> = children
        .iter()
        .filter_map(|&pid| rustix::process::Pid::from_raw(i32::try_from(pid).ok()?))
        .collect();
    found.extend(children.into_iter().flat_map(descendants));
    found
}

fn left_behind(dir: &Path) -> Result<Vec<(String, Left)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let left = match name.ends_with(".log") {
            true => Left::Log {
                text: String::from_utf8_lossy(&fs::read(entry.path())?).into_owned(),
            },
            false => Left::Data {
                bytes: entry.metadata()?.len(),
            },
        };
        found.push((name, left));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

pub(super) fn first_line(text: &str) -> &str {
    text.lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("(nothing on standard error)")
}

/// A loop device on a file, removed on drop.
pub(super) struct ParityLoop {
    pub(super) device: PathBuf,
}

impl ParityLoop {
    /// Attaches a loop device of this size to a new file.
    ///
    /// # Errors
    /// Without root or losetup.
    pub(super) fn attach(image: &Path, bytes: u64) -> Result<ParityLoop> {
        if !rustix::process::geteuid().is_root() {
            bail!("only root may attach a loop device");
        }
        File::create(image)?.set_len(bytes)?;
        let out = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(image)
            .output()
            .context("cannot start losetup")?;
        let device = String::from_utf8_lossy(&out.stdout).trim().to_owned();
        if !out.status.success() || device.is_empty() {
            bail!(
                "cannot attach a loop device: {}",
                first_line(&String::from_utf8_lossy(&out.stderr))
            );
        }
        Ok(ParityLoop {
            device: device.into(),
        })
    }
}

impl Drop for ParityLoop {
    fn drop(&mut self) {
        // A device that cannot be detached is ignored.
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.device)
            .status();
    }
}

impl Observation {
    /// All observations as one tree, for comparison.
    ///
    /// # Errors
    /// A description if the output is malformed.
    pub(super) fn tree(&self, notes_allowed: bool) -> Result<JsonTree, String> {
        let mut fields = match self.stdout.starts_with(['2', '3', '4', '5']) {
            true => vec![("terse".to_owned(), terse(&self.stdout))],
            false => match JsonTree::parse(self.json(notes_allowed))? {
                JsonTree::Object(fields) => fields,
                other => return Err(format!("a {} where an object was expected", other.kind())),
            },
        };
        fields.push((
            "exit".to_owned(),
            JsonTree::Text(
                if self.exit.success() {
                    "success"
                } else {
                    "failure"
                }
                .to_owned(),
            ),
        ));
        let files = self
            .files
            .iter()
            .map(|(name, left)| (format!("files.{name}"), left.tree()));
        fields.extend(files);
        Ok(JsonTree::Object(fields))
    }

    /// The JSON in the output. The original prints notes before it, hakaru must not.
    fn json(&self, notes_allowed: bool) -> &str {
        let begins = self
            .stdout
            .find("{\n")
            .filter(|_| notes_allowed)
            .unwrap_or(0);
        &self.stdout[begins..]
    }
}

impl Left {
    fn tree(&self) -> JsonTree {
        let field = |name: &str, value: JsonTree| (name.to_owned(), value);
        JsonTree::Object(match self {
            Left::Data { bytes } => vec![field("size", JsonTree::Int(i128::from(*bytes)))],
            Left::Log { text } => {
                // I/O traces separate fields with blanks, all other logs with commas.
                let separator = if text.contains(',') { ',' } else { ' ' };
                let mut forms: Vec<String> =
                    text.lines().map(|line| form_of(line, separator)).collect();
                forms.sort();
                forms.dedup();
                // A histogram has a field per bucket; a few lines are sufficient.
                forms.truncate(4);
                let lines = JsonTree::Int(text.lines().count() as i128);
                vec![
                    field("lines", lines),
                    field("form", JsonTree::Text(forms.join(" / "))),
                ]
            }
        })
    }
}

/// Parses a terse result into lines, each a list of fields.
fn terse(text: &str) -> JsonTree {
    let line = |line: &str| JsonTree::List(line.split(';').map(terse_field).collect());
    JsonTree::List(text.lines().map(line).collect())
}

fn terse_field(field: &str) -> JsonTree {
    if let Ok(value) = field.parse::<i64>() {
        return JsonTree::Int(value.into());
    }
    match field.parse::<f64>() {
        Ok(value) if field.contains('.') => JsonTree::Float(value),
        _ if field.starts_with("fio-") => JsonTree::Text("version".to_owned()),
        _ => JsonTree::Object(vec![(
            "form".to_owned(),
            JsonTree::Text(form_of(field, ';')),
        )]),
    }
}

/// Replaces each number in a line with its type.
fn form_of(line: &str, separator: char) -> String {
    let kind = |field: &str| {
        let bare = field.trim();
        let digits = bare.trim_start_matches('-').trim_end_matches('%');
        let number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        match (number, digits.contains('.')) {
            (true, true) => field.replace(digits, "#.#"),
            (true, false) => field.replace(digits, "#"),
            _ => masked_percentile(field),
        }
    };
    line.split(separator)
        .map(kind)
        .collect::<Vec<_>>()
        .join(&separator.to_string())
}

/// Masks the value in `99.000000%=123`, which is a measurement.
fn masked_percentile(field: &str) -> String {
    field
        .split_once("%=")
        .map_or_else(|| field.to_owned(), |(share, _)| format!("{share}%=#"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_keep_separators_and_kinds() {
        assert_eq!(form_of("12, 4096, 0, 4096", ','), "#, #, #, #");
        assert_eq!(
            form_of("1.5%;99.000000%=12;sda;-3", ';'),
            "#.#%;99.000000%=#;sda;#-".replace("#-", "-#")
        );
    }

    #[test]
    fn terse_fields_have_kinds() {
        let kinds: Vec<&str> = match terse("3;a;0.5;7\n") {
            JsonTree::List(lines) => match &lines[0] {
                JsonTree::List(fields) => fields.iter().map(JsonTree::kind).collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        assert_eq!(kinds, ["integer", "object", "float", "integer"]);
    }
}
