//! Reader of the output of `cargo test`: the test binaries with their run times and failures.

/// A test binary that has finished.
#[derive(Debug, PartialEq)]
pub(crate) struct TestBinary {
    /// Crate, and for integration tests their source file.
    pub(crate) name: String,
    pub(crate) seconds: f64,
    pub(crate) failures: Vec<Failure>,
}

/// A test that failed.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    test: String,
    /// The lines that the test printed, with its panic.
    output: Vec<String>,
}

impl Failure {
    /// The name of the test and what it printed, without the middle of a long output.
    pub(crate) fn shortened(&self) -> String {
        let mut lines = vec![self.test.clone()];
        if self.output.len() <= MAX_LINES {
            lines.extend_from_slice(&self.output);
        } else {
            let (head, tail) = (MAX_LINES / 2, self.output.len() - MAX_LINES / 2);
            lines.extend_from_slice(&self.output[..head]);
            lines.push(format!("[{} more lines]", tail - head));
            lines.extend_from_slice(&self.output[tail..]);
        }
        lines.join("\n")
    }
}

/// Most lines of a failure in the summary.
const MAX_LINES: usize = 40;

/// Reads the output of `cargo test` line by line.
#[derive(Default)]
pub(crate) struct TestOutput {
    /// Package of the last unit tests, whose integration tests follow them.
    package: String,
    running: String,
    /// Failures of the running binary. A failure begins with `---- NAME stdout ----` and ends at the next failure or at the
    /// line `failures:`.
    failures: Vec<Failure>,
    in_failure: bool,
}

impl TestOutput {
    /// Reads a line; returns the test binary that has finished with it.
    pub(crate) fn read(&mut self, line: &str) -> Option<TestBinary> {
        if let Some(test) = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            self.in_failure = true;
            self.failures.push(Failure {
                test: test.to_owned(),
                output: Vec::new(),
            });
            return None;
        }
        // A binary that a signal ended names it where its failures would end.
        if line == "failures:" || line.trim_start().starts_with("Running ") {
            self.in_failure = false;
        }
        if self.in_failure
            && let Some(failure) = self.failures.last_mut()
        {
            if !line.trim().is_empty() {
                failure.output.push(line.to_owned());
            }
            return None;
        }
        let line = line.trim();
        if let Some(cause) = line.strip_prefix("process didn't exit successfully: ")
            && let Some((_, signal)) = cause.split_once("(signal: ")
        {
            return Some(TestBinary {
                name: self.running.clone(),
                seconds: 0.0,
                failures: vec![Failure {
                    test: format!("ended by signal {}", signal.trim_end_matches(')')),
                    output: Vec::new(),
                }],
            });
        }
        self.read_name(line);
        let (_, time) = line
            .strip_prefix("test result: ")?
            .rsplit_once("finished in ")?;
        Some(TestBinary {
            name: self.running.clone(),
            seconds: time.strip_suffix('s')?.parse().ok()?,
            failures: std::mem::take(&mut self.failures),
        })
    }

    /// Reads the name of the binary from `Running unittests src/lib.rs (target/debug/deps/hakaru_model-0123456789abcdef)`.
    fn read_name(&mut self, line: &str) {
        let path = line
            .strip_prefix("Running ")
            .and_then(|rest| rest.strip_suffix(')')?.rsplit_once('('))
            .map(|(_, path)| path);
        if let Some(path) = path {
            // A binary that a signal ended has printed no result: its failures are not those of the next one.
            self.failures.clear();
            let name = path.rsplit('/').next().unwrap_or(path);
            let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
            // Binaries of integration tests have the same name in several packages.
            self.running = match line.split_whitespace().nth(1) {
                Some(source) if source.starts_with("tests/") => {
                    format!("{} {source}", self.package)
                }
                _ => {
                    name.clone_into(&mut self.package);
                    name.to_owned()
                }
            };
        } else if let Some(package) = line.strip_prefix("Doc-tests ") {
            self.running = format!("doc tests of {package}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `cargo test` prints for a package with unit tests, integration tests of which two fail, and doc tests.
    const OUTPUT: &str = "
     Running unittests src/lib.rs (target/debug/deps/hakaru_model-4c6ac3ba0d2a2d0c)

running 2 tests
test a ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s

     Running tests/it/main.rs (target/debug/deps/it-0c6ac3ba0d2a2d0c)
failures:

---- live::prints_a_sample stdout ----
test result: as the program printed it; finished in 9.00s

thread 'live::prints_a_sample' panicked at crates/model/tests/it/live.rs:7:5:
no sample
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- rate stdout ----

thread 'rate' panicked at crates/model/tests/it/rate.rs:9:5:
1 is not 2


failures:
    live::prints_a_sample
    rate

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 20.07s
   Doc-tests hakaru_sys
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    fn binaries() -> Vec<TestBinary> {
        let mut output = TestOutput::default();
        OUTPUT
            .lines()
            .filter_map(|line| output.read(line))
            .collect()
    }

    #[test]
    fn reads_names_and_times_of_test_binaries() {
        let times: Vec<_> = binaries()
            .into_iter()
            .map(|binary| (binary.name, binary.seconds))
            .collect();
        let expected = [
            ("hakaru_model", 1.5),
            ("hakaru_model tests/it/main.rs", 20.07),
            ("doc tests of hakaru_sys", 0.0),
        ];
        assert_eq!(times, expected.map(|(name, time)| (name.to_owned(), time)));
    }

    #[test]
    fn reads_failures_with_what_the_tests_printed() {
        let [unit, integration, doc] = &binaries()[..] else {
            panic!("not three binaries");
        };
        assert!(unit.failures.is_empty() && doc.failures.is_empty());
        let texts: Vec<String> = integration
            .failures
            .iter()
            .map(Failure::shortened)
            .collect();
        assert_eq!(
            texts,
            [
                "live::prints_a_sample
test result: as the program printed it; finished in 9.00s
thread 'live::prints_a_sample' panicked at crates/model/tests/it/live.rs:7:5:
no sample
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
                "rate
thread 'rate' panicked at crates/model/tests/it/rate.rs:9:5:
1 is not 2"
            ]
        );
    }

    #[test]
    fn names_a_binary_that_a_signal_ended() {
        let text = "
     Running unittests src/lib.rs (target/debug/deps/hakaru_sys-4c6ac3ba0d2a2d0c)
test a ... ok
error: test failed, to rerun pass `-p hakaru-sys --lib`

Caused by:
  process didn't exit successfully: `/x/hakaru_sys-4c6ac3ba0d2a2d0c` (signal: 11, SIGSEGV: invalid memory reference)
";
        let mut output = TestOutput::default();
        let found: Vec<_> = text.lines().filter_map(|line| output.read(line)).collect();
        let [binary] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(binary.name, "hakaru_sys");
        let failure = binary.failures[0].shortened();
        assert_eq!(
            failure,
            "ended by signal 11, SIGSEGV: invalid memory reference"
        );
    }

    #[test]
    fn shortens_a_long_output_in_the_middle() {
        let failure = Failure {
            test: "many".to_owned(),
            output: (0..100).map(|line| line.to_string()).collect(),
        };
        let text = failure.shortened();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), MAX_LINES + 2);
        assert_eq!(lines[..2], ["many", "0"]);
        assert_eq!(lines[20..23], ["19", "[60 more lines]", "80"]);
        assert_eq!(lines.last(), Some(&"99"));
    }
}
