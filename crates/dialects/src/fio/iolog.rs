//! Request logs that fio writes (`write_iolog`) and replays (`read_iolog`): text format versions 2 and 3.
//!
//! Source: fio's manual, "Trace file format", and logs written by fio 3.33. Block layer traces (blktrace) are
//! recognized and rejected.

use super::invocation::ParseContext;
use hakaru_model::job::rules::Replay;
use hakaru_model::job::{Access, BlockSize, Job, Op, PerOp, Target};
use hakaru_model::replay::{Trace, TraceAction, TraceStep};
use hakaru_model::stream::IoRequest;
use hakaru_model::units::{Bytes, Nanos};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum number of steps of a log; each takes about 40 bytes of memory.
const MOST_STEPS: usize = 50_000_000;

/// Maximum wait or timestamp in µs: a century.
const LONGEST_US: u64 = 3_200_000_000_000_000;

/// Reads the replay logs of a job and converts the job to replay them.
pub(super) fn attach(job: &mut Job, ctx: &ParseContext<'_>) -> Result<(), String> {
    let replay = job.replay.clone();
    let mut traces = Vec::new();
    for path in &replay.read {
        let bytes = (ctx.read_file)(path).map_err(|error| error.to_string());
        let trace = bytes.and_then(|bytes| read(&bytes, &replay));
        let trace = trace.map_err(|error| format!("read_iolog={}: {error}", path.display()))?;
        traces.push(Arc::new(trace));
    }
    let sizes = sizes(&traces);
    let used = Op::ALL.into_iter().filter(|&op| sizes[op].is_some());
    job.access = access(&used.collect::<Vec<Op>>())
        .ok_or_else(|| "read_iolog: there is no request to replay".to_owned())?;
    job.block = sizes.map(|sizes| match *sizes {
        None => BlockSize::Fixed(Bytes(4096)),
        Some((min, max)) if min == max => BlockSize::Fixed(Bytes(min.into())),
        Some((min, max)) => BlockSize::Range {
            min: Bytes(min.into()),
            max: Bytes(max.into()),
        },
    });
    let files = traces.iter().flat_map(|trace| trace.files.clone());
    job.target = Target::Paths(files.collect());
    job.replay.traces = traces;
    Ok(())
}

/// The access pattern of a log with these operations. The log determines their order; the shares only state which
/// operations occur.
fn access(used: &[Op]) -> Option<Access> {
    let first = *used.first()?;
    let mut access = Access::only(first, false);
    let share = 100 / used.len() as u32;
    used.iter().for_each(|&op| access.mix[op] = share);
    access.mix[first] += 100 - share * used.len() as u32;
    Some(access)
}

fn sizes(traces: &[Arc<Trace>]) -> PerOp<Option<(u32, u32)>> {
    let mut all: PerOp<Option<(u32, u32)>> = PerOp::default();
    for sizes in traces.iter().map(|trace| trace.sizes()) {
        for op in Op::ALL {
            all[op] = match (all[op], sizes[op]) {
                (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                (a, b) => a.or(b),
            };
        }
    }
    all
}

/// Reads a log and applies the replay options.
fn read(bytes: &[u8], replay: &Replay) -> Result<Trace, String> {
    if bytes.len() >= 4
        && u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) >> 8 == 0x0065_6174
    {
        return Err(
            "blktrace files are not supported: replay a log written by write_iolog".to_owned(),
        );
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "not a text file".to_owned())?;
    let mut lines = text.lines().enumerate();
    let version = match lines.next().map(|(_, line)| line.trim_end()) {
        Some("fio version 2 iolog") => 2,
        Some("fio version 3 iolog") => 3,
        Some(other) => {
            let head: String = other.chars().take(40).collect();
            return Err(format!(
                "unknown format: it starts with `{head}` instead of `fio version 3 iolog` or `fio \
                version 2 iolog`"
            ));
        }
        None => return Err("the file is empty".to_owned()),
    };
    let mut reader = IologReader::new(version, replay);
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        reader
            .line(line.trim())
            .map_err(|what| format!("line {}: {what}", number + 1))?;
    }
    Ok(reader.trace)
}

/// Maximum bytes per trim request: 2 GiB.
const LONGEST_TRIM: u64 = 1 << 31;

struct IologReader<'a> {
    version: u32,
    replay: &'a Replay,
    trace: Trace,
    /// Indices of added files, by their names in the log.
    known: HashMap<String, u32>,
    /// Sum of the waits so far, in µs.
    now_us: u64,
}

impl<'a> IologReader<'a> {
    fn new(version: u32, replay: &'a Replay) -> IologReader<'a> {
        IologReader {
            version,
            replay,
            trace: Trace::default(),
            known: HashMap::new(),
            now_us: 0,
        }
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        // A log shared by several jobs or runs has a header before each part.
        if line.starts_with("fio version ") {
            return Ok(());
        }
        let (at_us, rest) = self.stamp(line)?;
        // Names may contain blanks, so lines are parsed from the end.
        let mut words = rest.rsplitn(4, ' ');
        let mut next = || words.next().unwrap_or_default();
        let (last, third, second, name) = (next(), next(), next(), next());
        if matches!(last, "add" | "open" | "close") {
            let name = rest[..rest.len() - last.len()].trim_end();
            return self.file(name, last);
        }
        if name.is_empty() {
            return Err(format!(
                "`{rest}`: expected `FILE add|open|close` or `FILE ACTION OFFSET LENGTH`"
            ));
        }
        let extent = (number(third, "offset")?, number(last, "length")?);
        match second {
            "wait" => self.wait(extent.0),
            action => self.action(name, action, extent, at_us),
        }
    }

    /// Splits off the timestamp in µs; version 2 has waits instead.
    fn stamp<'t>(&self, line: &'t str) -> Result<(u64, &'t str), String> {
        if self.version == 2 {
            return Ok((self.now_us, line));
        }
        let (stamp, rest) = line.split_once(' ').ok_or("missing timestamp")?;
        let at_us = number(stamp, "timestamp")?;
        if at_us > LONGEST_US {
            let why = "is out of range (more than a century)";
            return Err(format!("timestamp {at_us} {why}"));
        }
        Ok((at_us, rest))
    }

    fn wait(&mut self, us: u64) -> Result<(), String> {
        if self.version > 2 {
            let why = "`wait` is only valid in version 2: version 3 has timestamps";
            return Err(why.to_owned());
        }
        // Source: the manual; shorter waits are discarded.
        if us >= 100 {
            self.now_us = self.now_us.saturating_add(us);
        }
        Ok(())
    }

    fn file(&mut self, name: &str, action: &str) -> Result<(), String> {
        match action {
            "add" => {
                let path = self
                    .replay
                    .redirect
                    .clone()
                    .unwrap_or_else(|| PathBuf::from(name));
                let known = self.trace.files.iter().position(|file| *file == path);
                let index = known.unwrap_or(self.trace.files.len());
                if known.is_none() {
                    self.trace.files.push(path);
                }
                self.known.insert(name.to_owned(), index as u32);
                Ok(())
            }
            // All files stay open while the job runs.
            _ => self.index(name).map(drop),
        }
    }

    fn index(&self, name: &str) -> Result<u32, String> {
        self.known
            .get(name)
            .copied()
            .ok_or_else(|| format!("file `{name}` was not added before"))
    }

    fn action(
        &mut self,
        name: &str,
        action: &str,
        (offset, len): (u64, u64),
        at_us: u64,
    ) -> Result<(), String> {
        let file = self.index(name)?;
        let skipped = &self.replay.skip;
        let action = match action {
            "sync" | "datasync" if skipped.syncs => return Ok(()),
            "sync" => TraceAction::Sync(file),
            "datasync" => TraceAction::DataSync(file),
            word => match op(word)? {
                op if skipped.ops[op] => return Ok(()),
                Op::Trim => return self.trim(file, self.place(offset), len, at_us),
                op => TraceAction::Io(IoRequest {
                    op,
                    region: file,
                    offset: self.place(offset),
                    len: length(len)?,
                }),
            },
        };
        let at = self.moment(at_us);
        self.push(TraceStep { at, action })
    }

    /// A trim may cover a whole device; it is split at the maximum request size.
    fn trim(&mut self, file: u32, offset: u64, len: u64, at_us: u64) -> Result<(), String> {
        let end = offset.checked_add(len).filter(|_| len > 0);
        let end = end.ok_or_else(|| format!("invalid trim of {len} bytes at {offset}"))?;
        let mut at = offset;
        while at < end {
            let len = (end - at).min(LONGEST_TRIM) as u32;
            let action = TraceAction::Io(IoRequest {
                op: Op::Trim,
                region: file,
                offset: at,
                len,
            });
            self.push(TraceStep {
                at: self.moment(at_us),
                action,
            })?;
            at += u64::from(len);
        }
        Ok(())
    }

    fn push(&mut self, step: TraceStep) -> Result<(), String> {
        if self.trace.steps.len() >= MOST_STEPS {
            return Err(format!("more than {MOST_STEPS} steps"));
        }
        self.trace.steps.push(step);
        Ok(())
    }

    /// Divides an offset first, then aligns it.
    fn place(&self, offset: u64) -> u64 {
        let scaled = offset / self.replay.scale.max(1);
        scaled - scaled % self.replay.align.max(1)
    }

    fn moment(&self, at_us: u64) -> Nanos {
        if self.replay.no_stall {
            return Nanos(0);
        }
        let percent = u128::from(if self.replay.time_scale_percent == 0 {
            100
        } else {
            self.replay.time_scale_percent
        });
        Nanos(u64::try_from(u128::from(at_us) * 100_000 / percent).unwrap_or(u64::MAX / 2))
    }
}

fn op(word: &str) -> Result<Op, String> {
    let op = Op::ALL.into_iter().find(|op| op.name() == word);
    op.ok_or_else(|| {
        format!(
            "unknown action `{word}`: expected read, write, trim, sync, datasync, wait, add, open \
             or close"
        )
    })
}

fn number(word: &str, what: &str) -> Result<u64, String> {
    word.parse()
        .map_err(|_| format!("`{word}` is not a number: expected the {what}"))
}

fn length(len: u64) -> Result<u32, String> {
    match u32::try_from(len) {
        Ok(len) if (1..=1 << 30).contains(&len) => Ok(len),
        _ => Err(format!("invalid I/O size {len}: expected 1 byte to 1 GiB")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = "fio version 3 iolog\n23 /a b add\n135 /a b open\n139 /a b write 8192 4096\n\
                         1167 /a b read 0 512\n2000 /a b sync 8192 0\n9000 /a b close\n";

    #[test]
    fn a_trim_may_be_as_large_as_its_device() {
        let text = "fio version 2 iolog\n/a add\n/a trim 0 3221225472\n";
        let steps = read(text.as_bytes(), &Replay::default()).unwrap();
        let pieces: Vec<(u64, u32)> = steps
            .requests()
            .map(|request| (request.offset, request.len))
            .collect();
        assert_eq!(pieces, [(0, 1 << 31), (1 << 31, 1 << 30)]);
        let large = text.replace("trim", "read");
        assert!(
            read(large.as_bytes(), &Replay::default())
                .unwrap_err()
                .contains("1 GiB")
        );
        let past = text.replace("3221225472", "0");
        assert!(read(past.as_bytes(), &Replay::default()).is_err());
    }

    fn steps(text: &str, replay: &Replay) -> Vec<(u64, String)> {
        let trace = read(text.as_bytes(), replay).unwrap_or_else(|e| panic!("{e}"));
        let shown = |action: &TraceAction| match action {
            TraceAction::Io(r) => format!("{} {} {} {}", r.op.name(), r.region, r.offset, r.len),
            TraceAction::Sync(file) => format!("sync {file}"),
            TraceAction::DataSync(file) => format!("datasync {file}"),
        };
        trace
            .steps
            .iter()
            .map(|step| (step.at.0 / 1000, shown(&step.action)))
            .collect()
    }

    #[test]
    fn both_versions_are_read() {
        let wanted = [
            (139, "write 0 8192 4096"),
            (1167, "read 0 0 512"),
            (2000, "sync 0"),
        ];
        let wanted = wanted.map(|(at, what)| (at, what.to_owned()));
        assert_eq!(steps(THREE, &Replay::default()), wanted);
        let two = "fio version 2 iolog\n/x add\n/y add\n/x open\n/x write 0 4096\n/x wait 50 0\n/x wait 500000 0\n\
                   /y read 4096 4096\n/y wait 100 0\n/y datasync 0 0\n/y trim 0 4096\n/y close\n";
        let wanted = [
            (0, "write 0 0 4096"),
            (500_000, "read 1 4096 4096"),
            (500_100, "datasync 1"),
            (500_100, "trim 1 0 4096"),
        ];
        assert_eq!(
            steps(two, &Replay::default()),
            wanted.map(|(at, what)| (at, what.to_owned()))
        );
    }

    /// The steps of the log with these options, each as time and action.
    fn replayed(set: impl FnOnce(&mut Replay)) -> Vec<String> {
        let mut replay = Replay::default();
        set(&mut replay);
        let steps = steps(THREE, &replay).into_iter();
        steps.map(|(at, what)| format!("{at} {what}")).collect()
    }

    #[test]
    fn options_scale_times_and_offsets() {
        let twice = replayed(|replay| replay.time_scale_percent = 200);
        assert_eq!(twice[0], "69 write 0 8192 4096");
        let at_once = replayed(|replay| replay.no_stall = true);
        assert_eq!(at_once[0], "0 write 0 8192 4096");
        let scaled = replayed(|replay| (replay.scale, replay.align) = (3, 512));
        assert_eq!(scaled[0], "139 write 0 2560 4096");
    }

    #[test]
    fn options_skip_operations_and_redirect_files() {
        let reads = replayed(|replay| {
            replay.skip.syncs = true;
            replay.skip.ops.write = true;
        });
        assert_eq!(reads, ["1167 read 0 0 512"]);
        let redirect = Replay {
            redirect: Some("/dev/sdb".into()),
            ..Replay::default()
        };
        let trace = read(THREE.as_bytes(), &redirect).unwrap();
        assert_eq!(trace.files, [PathBuf::from("/dev/sdb")]);
    }

    #[test]
    fn invalid_logs_are_refused_with_the_line() {
        let error = |text: &str| read(text.as_bytes(), &Replay::default()).unwrap_err();
        for (text, words) in [
            ("", "empty"),
            ("0, 4096, 4096", "unknown format"),
            ("fio version 2 iolog\nbad line", "expected `FILE"),
            (
                "fio version 2 iolog\n/x add\n/x read -1 5",
                "`-1` is not a number",
            ),
        ] {
            assert!(error(text).contains(words), "{text}: {}", error(text));
        }
        for (lines, words) in [
            ("5 /x read 0 4096", "line 2: file `/x` was not added before"),
            (
                "5 /x add\n\n6 /x dance 0 4096",
                "line 4: unknown action `dance`",
            ),
            ("5 /x add\n6 /x read 0 0", "invalid I/O size 0"),
            ("5 /x add\n6 /x wait 5 0", "version 2"),
            ("x /x add", "timestamp"),
        ] {
            let text = format!("fio version 3 iolog\n{lines}\n");
            assert!(error(&text).contains(words), "{text}: {}", error(&text));
        }
    }

    #[test]
    fn binary_files_are_refused() {
        let error = |bytes: &[u8]| read(bytes, &Replay::default()).unwrap_err();
        assert!(error(b"\x07tae....").contains("blktrace"));
        assert!(error(b"\xff\xfe\xfd\xfc\xfb").contains("not a text file"));
    }
}
