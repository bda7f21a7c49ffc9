//! Runs as a directory of Parquet files.

use super::{ExportArgs, runs};
use crate::cmd::unreadable::{self, Unreadable};
use crate::cmd::{CountedNoun, counted, print};
use crate::exit::{NamedPath, usage};
use crate::imports;
use anyhow::Result;
use hakaru_model::record::RunRecord;
use hakaru_report::{Dataset, DatasetFile};
use hakaru_store::Store;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Writes the selected runs to a new directory.
pub(super) fn write(
    args: &ExportArgs,
    store: &Store,
    unreadable: &mut Unreadable,
    directory: &Path,
) -> Result<()> {
    let mut out = DatasetDirectory::create(directory)?;
    let mut seen = BTreeSet::new();
    for name in &args.runs {
        for run in unreadable.skip("run", runs(store, name, args.series)?) {
            if seen.insert(run.id.clone()) {
                out.add(&run)?;
            }
        }
    }
    if args.runs.is_empty() {
        imports::each_run(store, &mut |id| {
            let found = unreadable::one(id, store.run(id))?;
            let mut runs = unreadable.skip("run", found).into_iter();
            runs.try_for_each(|run| out.add(&run))
        })?;
    }
    let (runs, files) = out.finish()?;
    let runs = counted(runs, CountedNoun::Run);
    let directory = directory.display();
    print(&both!(
        "{runs} in {files} files in {directory}; queries: docs/PARQUET.md\n",
        "{runs}を{directory}の{files}個のファイルに書き出しました（問い合わせの例: docs/PARQUET.md）\n"
    ))
}

/// A dataset that is written beside its directory, which appears when it is complete.
struct DatasetDirectory {
    directory: PathBuf,
    /// Removed unless it became the directory.
    partial: PathBuf,
    dataset: Dataset,
    runs: usize,
    files: usize,
}

impl DatasetDirectory {
    fn create(directory: &Path) -> Result<DatasetDirectory> {
        let is_used = match std::fs::read_dir(directory) {
            Ok(mut entries) => entries.next().is_some(),
            Err(_) => directory.symlink_metadata().is_ok(),
        };
        if is_used {
            let directory = directory.display();
            return Err(usage(both!(
                "{directory} is not empty; help: name a new directory with --parquet",
                "{directory}は空ではありません; help: --parquetで新しいディレクトリを指定してください"
            )));
        }
        let mut partial = directory.as_os_str().to_owned();
        partial.push(format!(".partial-{}", std::process::id()));
        let partial = PathBuf::from(partial);
        std::fs::create_dir_all(&partial).named(|| failed(directory))?;
        Ok(DatasetDirectory {
            directory: directory.to_owned(),
            partial,
            dataset: Dataset::default(),
            runs: 0,
            files: 0,
        })
    }

    fn add(&mut self, run: &RunRecord) -> Result<()> {
        let summary = hakaru_analysis::summarize(std::slice::from_ref(run));
        let files = self.dataset.add(run, &summary);
        self.runs += 1;
        self.write(files)
    }

    fn write(&mut self, files: Vec<DatasetFile>) -> Result<()> {
        for DatasetFile { path, content } in files {
            let path = self.partial.join(path);
            let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            let written = written.and_then(|()| std::fs::write(&path, content));
            written.named(|| failed(&self.directory))?;
            self.files += 1;
        }
        Ok(())
    }

    /// Writes the last files, and returns the numbers of runs and files.
    fn finish(mut self) -> Result<(usize, usize)> {
        let files = self.dataset.take();
        self.write(files)?;
        if self.directory.exists() {
            std::fs::remove_dir(&self.directory).named(|| failed(&self.directory))?;
        }
        std::fs::rename(&self.partial, &self.directory).named(|| failed(&self.directory))?;
        Ok((self.runs, self.files))
    }
}

impl Drop for DatasetDirectory {
    fn drop(&mut self) {
        // After success, nothing has this name.
        let _ = std::fs::remove_dir_all(&self.partial);
    }
}

fn failed(directory: &Path) -> String {
    both!(
        "cannot write Parquet files to {}; help: name another directory with --parquet",
        "Parquetファイルを{}に書き込めません; help: --parquetで別のディレクトリを指定してください";
        directory.display()
    )
}
