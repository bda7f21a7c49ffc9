//! `hakaru prepare`: brings a device into a known state, in journaled steps.

use super::{erase, json, print, recover};
use crate::exit::{Exit, complain};
use crate::scan_reporter::ScanReporter;
use crate::status_reporter::ProgressMode;
use crate::{live, place};
use anyhow::Result;
use clap::ValueEnum;
use hakaru_device::guard::{Candidate, Erasable, Refusal};
use hakaru_device::prepare::{
    self, DiscardError, DiscardKind, FillPattern, FsType, ImageError, ImageFile, LayoutKind,
    LayoutTable, MkfsRequest, MountRequest, Mounted, PartitionLayout, Preparation, PrepareError,
    PrepareStep, StepDone, ToolError,
};
use hakaru_device::{Roots, SpeedMap};
use hakaru_store::live::LiveVerb;
use std::path::{Path, PathBuf};

const AFTER: &str = "Steps run in the order listed here, whatever the order of the options. If a step fails, it and the steps before it are undone as far as possible. What remains after success (a mount, filler files) is recorded in a journal, and `hakaru recover` undoes it.

  hakaru prepare /dev/sdX --erase=ID --fill=ones --partition --mkfs=f2fs --mount=/mnt/card

Exit codes: 0 success; 1 a step failed; 2 usage error or no such device; 3 refused because data would be lost; 130 interrupted.";

/// Arguments of `hakaru prepare`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct PrepareArgs {
    /// Disk, card or partition; its content is lost
    device: PathBuf,
    /// Permit erasing the device identified by this serial number, CID or by-id name; prompts if ID is omitted
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", require_equals = true)]
    erase: Option<String>,
    /// Discard all blocks; `secure` requires that all copies are erased
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "plain", require_equals = true)]
    discard: Option<DiscardArg>,
    /// Overwrite the whole device
    #[arg(long, value_name = "PATTERN")]
    fill: Option<FillArg>,
    /// Write a disk image (raw, .gz, .xz or .zst), and read it back
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fill", "partition", "mkfs"])]
    image: Option<PathBuf>,
    /// Create one partition that starts at 4 MiB and fills the device; the later steps use this partition
    #[arg(long, value_name = "TABLE", num_args = 0..=1, default_missing_value = "mbr", require_equals = true)]
    partition: Option<PartitionTableArg>,
    /// Create a file system with its own mkfs tool and that tool's defaults
    #[arg(long, value_name = "TYPE")]
    mkfs: Option<FsTypeArg>,
    /// Options passed to mkfs: `--mkfs-options="-b 4096"`
    #[arg(
        long,
        value_name = "OPTIONS",
        requires = "mkfs",
        allow_hyphen_values = true
    )]
    mkfs_options: Option<String>,
    /// Label of the file system
    #[arg(long, requires = "mkfs")]
    label: Option<String>,
    /// Mount the file system at DIR, creating the directory if needed
    #[arg(long, value_name = "DIR", requires = "mkfs")]
    mount: Option<PathBuf>,
    /// Mount options, such as noatime,discard
    #[arg(long, value_name = "OPTIONS", requires = "mount", default_value = "")]
    mount_options: String,
    /// Fill the file system with random data to PERCENT used
    #[arg(long, value_name = "PERCENT", requires = "mount", value_parser = clap::value_parser!(u32).range(1..=99))]
    level: Option<u32>,
    /// Sync and drop the page cache of the host
    #[arg(long)]
    drop_caches: bool,
    /// Seed of random data
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Show what would be done and what would be lost, and exit
    #[arg(long)]
    dry_run: bool,
    /// Print the steps taken as JSON
    #[arg(long)]
    json: bool,
    /// Suppress progress output
    #[arg(long, short)]
    quiet: bool,
}

/// Values of `--discard`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiscardArg {
    /// Ordinary discard (TRIM)
    Plain,
    /// Secure discard, which erases all copies; few devices support it
    Secure,
}

/// Values of `--fill`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FillArg {
    /// 0x00
    Zero,
    /// 0xff, as erased flash reads
    Ones,
    /// Incompressible random data
    Random,
}

/// Values of `--partition`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PartitionTableArg {
    /// MBR, which cameras and the Raspberry Pi understand
    Mbr,
    /// GPT
    Gpt,
}

/// Values of `--mkfs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FsTypeArg {
    Vfat,
    Exfat,
    Ext4,
    F2fs,
    Xfs,
    Btrfs,
}

impl From<FsTypeArg> for FsType {
    fn from(fs: FsTypeArg) -> FsType {
        match fs {
            FsTypeArg::Vfat => FsType::Vfat,
            FsTypeArg::Exfat => FsType::Exfat,
            FsTypeArg::Ext4 => FsType::Ext4,
            FsTypeArg::F2fs => FsType::F2fs,
            FsTypeArg::Xfs => FsType::Xfs,
            FsTypeArg::Btrfs => FsType::Btrfs,
        }
    }
}

/// All requested steps in order, checked as far as possible in advance.
struct PreparePlan {
    discard: Option<DiscardKind>,
    fill: Option<FillPattern>,
    image: Option<ImageFile>,
    partition: Option<(PartitionLayout, String)>,
    mkfs: Option<MkfsRequest>,
    /// The mkfs command line.
    command: Vec<String>,
    mount: Option<MountRequest>,
    level: Option<u32>,
    drop_caches: bool,
    seed: u64,
}

impl PreparePlan {
    /// Plans the steps, and checks everything that can be checked before data is lost.
    fn new(args: &PrepareArgs, candidate: &Candidate) -> Result<PreparePlan> {
        let node = Path::new("/dev").join(candidate.name());
        let fs = args.mkfs.map(FsType::from);
        let partition = args.partition.map(|table| layout(table, fs, candidate));
        let partition = partition.transpose()?;
        let options = args
            .mkfs_options
            .iter()
            .flat_map(|text| text.split_whitespace());
        let mkfs = fs.map(|fs| MkfsRequest {
            label: args.label.clone(),
            options: options.map(str::to_owned).collect(),
            ..MkfsRequest::new(fs)
        });
        let command = match &mkfs {
            Some(request) => request.command(&part_of(&node, partition.is_some()))?,
            None => Vec::new(),
        };
        let mount = args.mount.as_ref().zip(fs);
        let mount = mount.map(|(at, fs)| mount_request(at, fs, &args.mount_options));
        let plan = PreparePlan {
            discard: args.discard.map(|kind| match kind {
                DiscardArg::Secure => DiscardKind::Secure,
                DiscardArg::Plain => DiscardKind::Plain,
            }),
            fill: args.fill.map(|fill| match fill {
                FillArg::Zero => FillPattern::Zeroes,
                FillArg::Ones => FillPattern::Ones,
                FillArg::Random => FillPattern::Random { seed: args.seed },
            }),
            image: args
                .image
                .as_deref()
                .map(|path| fitting_image(path, candidate))
                .transpose()?,
            partition,
            mkfs,
            command,
            mount: mount.transpose()?,
            level: args.level,
            drop_caches: args.drop_caches,
            seed: args.seed,
        };
        if plan.words().is_empty() {
            anyhow::bail!(both!(
                "no step given; help: use --discard, --fill, --image, --partition or --mkfs (see `hakaru \
                prepare --help`)",
                "手順が指定されていません; help: --discard、--fill、--image、--partition、--mkfsのいずれかを指定してください（hakaru prepare --helpを参照）"
            ));
        }
        Ok(plan)
    }

    /// Describes the steps, one line each.
    fn words(&self) -> Vec<String> {
        let discard = self.discard.map(|kind| match kind {
            DiscardKind::Plain => {
                both!("discard the whole device", "デバイスの全域をdiscard(TRIM)")
            }
            DiscardKind::Secure => both!(
                "discard the whole device securely",
                "デバイスの全域をセキュア消去"
            ),
        });
        let fill = self.fill.map(|pattern| {
            let with = hakaru_report::text::content(pattern.into());
            both!(
                "fill the whole device with {with}",
                "デバイスの全域に{with}を書き込む"
            )
        });
        let image = self.image.as_ref().map(|image| {
            let (path, size) = (image.path().display(), image.size());
            both!(
                "write the image {path} ({size}) and read it back",
                "イメージ{path}（{size}）を書き込み、読み戻して検証"
            )
        });
        let partition = self.partition.as_ref().map(|(_, script)| {
            let lines: Vec<&str> = script.lines().filter(|line| !line.is_empty()).collect();
            both!("write a partition table with sfdisk: {}", "sfdiskでパーティションテーブルを作成: {}"; lines.join("; "))
        });
        let mkfs = (!self.command.is_empty()).then(|| self.command.join(" "));
        let mount = self.mount.as_ref().map(|mount| {
            let options = match mount.options.as_str() {
                "" => "defaults",
                options => options,
            };
            both!("mount it at {} with {options}", "{}にマウント（オプション: {options}）"; mount.at.display())
        });
        let level = self.level;
        let level = level.map(|percent| {
            both!(
                "fill the file system to {percent}% used",
                "使用率{percent}%まで書き込み"
            )
        });
        let caches = self
            .drop_caches
            .then(|| both!("drop the host caches", "ホストのキャッシュを破棄"));
        let steps = [discard, fill, image, partition, mkfs, mount, level, caches];
        steps.into_iter().flatten().collect()
    }
}

/// Opens an image that fits on the device. A compressed image is unpacked once to learn its size.
fn fitting_image(path: &Path, candidate: &Candidate) -> Result<ImageFile> {
    let image = ImageFile::open(path)?;
    let device = candidate.size();
    match image.size().0 > device.0 {
        true => Err(ImageError::TooLarge {
            image: image.size(),
            device,
        }
        .into()),
        false => Ok(image),
    }
}

/// Returns the node of the first partition to be created, or of the device itself.
fn part_of(node: &Path, partitioned: bool) -> PathBuf {
    let name = node.display().to_string();
    match (partitioned, name.ends_with(|c: char| c.is_ascii_digit())) {
        (false, _) => node.to_owned(),
        (true, true) => PathBuf::from(format!("{name}p1")),
        (true, false) => PathBuf::from(format!("{name}1")),
    }
}

fn layout(
    table: PartitionTableArg,
    fs: Option<FsType>,
    candidate: &Candidate,
) -> Result<(PartitionLayout, String)> {
    let name = candidate.name();
    if candidate.partition().is_some() {
        anyhow::bail!(both!(
            "{name} is a partition; help: name the whole disk, or omit --partition",
            "{name}はパーティションです; help: ディスク全体を指定するか、--partitionを省いてください"
        ));
    }
    if prepare::shows_no_partitions(name, &Roots::live()) {
        anyhow::bail!(both!(
            "/dev/{name} was set up without partition scanning; help: set it up again with `losetup \
            -P`, or omit --partition",
            "/dev/{name}はパーティションの検出なしで設定されています; help: losetup -Pで設定し直すか、--partitionを省いてください"
        ));
    }
    let device = candidate.identity().device.known();
    let block = device.map_or(512, |device| device.logical_block);
    let size = candidate.size();
    PartitionLayout::tool()?;
    let kind = fs.map_or(LayoutKind::Linux, LayoutKind::of);
    let table = match table {
        PartitionTableArg::Mbr => LayoutTable::Mbr,
        PartitionTableArg::Gpt => LayoutTable::Gpt,
    };
    let layout = PartitionLayout::single(table, kind);
    let script = layout.script(size, block)?;
    Ok((layout, script))
}

/// Checks the mount point: a mount would hide existing files, and a missing directory needs an existing parent.
fn mount_request(at: &Path, fs: FsType, options: &str) -> Result<MountRequest> {
    let absolute = std::path::absolute(at)?;
    let shown = at.display();
    match std::fs::read_dir(&absolute).map(|mut entries| entries.next().is_some()) {
        Ok(false) => {}
        Ok(true) => {
            anyhow::bail!(both!(
                "{shown} is not empty, and a mount would hide its content; help: name an empty or \
                new directory",
                "{shown}は空ではなく、マウントすると内容が隠れます; help: 空または新規のディレクトリを指定してください"
            ))
        }
        Err(_) if absolute.exists() => {
            anyhow::bail!(both!(
                "{shown} is not a readable directory; help: name another",
                "{shown}は読み込めるディレクトリではありません; help: 別のディレクトリを指定してください"
            ))
        }
        Err(_) if absolute.parent().is_some_and(Path::is_dir) => {}
        Err(_) => anyhow::bail!(both!(
            "the parent directory of {shown} does not exist; help: create it \
            first",
            "{shown}の親ディレクトリがありません; help: 先に作成してください"
        )),
    }
    if !prepare::can_mount(fs.name(), &Roots::live()) {
        anyhow::bail!(both!(
            "this kernel does not support {fs}; help: use another file system",
            "このカーネルは{fs}に対応していません; help: 別のファイルシステムを使ってください"
        ));
    }
    Ok(MountRequest {
        fs_type: fs.name().to_owned(),
        options: options.to_owned(),
        at: absolute,
    })
}

/// Plans the steps, asks for permission, and runs them.
pub(crate) fn main(args: &PrepareArgs, db: Option<&Path>) -> Result<Exit> {
    let roots = Roots::live();
    if args.only_drops_caches() {
        return drop_caches(args, roots);
    }
    let candidate = erase::candidate(&args.device, &roots)?;
    let plan = match PreparePlan::new(args, &candidate) {
        Ok(plan) => plan,
        Err(error) => {
            complain(&error);
            return Ok(Exit::Usage);
        }
    };
    let steps: String = plan
        .words()
        .iter()
        .map(|step| format!("  {step}\n"))
        .collect();
    if args.dry_run {
        print(&if args.json {
            erase::outlook_json(&args.device, &plan.words(), true)?
        } else {
            let (called, losses) = (erase::called(&candidate), erase::losses(&args.device));
            both!(
                "{called}\nWould do:\n{steps}{losses}Nothing was done.\n",
                "{called}\n実行内容:\n{steps}{losses}何も実行していません。\n"
            )
        })?;
        return Ok(Exit::Ok);
    }
    let id = args.erase.as_deref().unwrap_or_default();
    if id.is_empty() && !args.quiet {
        anstream::eprint!("Would do:\n{steps}");
    }
    let identity = candidate.identity().clone();
    let erasable = erase::ask(&args.device, id)?;
    // The reporter takes signals, which must come before the journal, as in `verify`.
    let live = place::database(db).ok();
    let live = live.and_then(|database| live::begin_on(&database, LiveVerb::Prepare, &identity));
    let mut reporter = ScanReporter::new(ProgressMode::of(args.quiet), live.clone());
    let mut preparation = Preparation::begin(&recover::state_directory()?, roots.clone())?;
    let done = carry_out(&plan, erasable, &mut preparation, &mut reporter, &roots);
    reporter.end();
    let exit = match done {
        Ok(done) => ready(args, done, preparation)?,
        Err(error) => undo(error, preparation),
    };
    Ok(live::ended(live.as_ref(), exit))
}

impl PrepareArgs {
    /// Whether no step needs permission to erase.
    fn only_drops_caches(&self) -> bool {
        let PrepareArgs {
            discard,
            fill,
            image,
            partition,
            mkfs,
            drop_caches,
            ..
        } = self;
        let erases = discard.is_some()
            || fill.is_some()
            || image.is_some()
            || partition.is_some()
            || mkfs.is_some();
        *drop_caches && !erases
    }
}

/// Drops the caches of the host, without changing any device.
fn drop_caches(args: &PrepareArgs, roots: Roots) -> Result<Exit> {
    let name = args.device.display();
    if !args.device.exists() {
        let path = args.device.clone();
        return Ok(erase::refuse(&Refusal::NotThere { path }));
    }
    let words = both!("drop the host caches", "ホストのキャッシュを破棄");
    if args.dry_run {
        let text = both!(
            "{name}\nWould do:\n  {words}\nNothing would be lost.\nNothing was done.\n",
            "{name}\n実行内容:\n  {words}\n失われるデータはありません。\n何も実行していません。\n"
        );
        print(&if args.json {
            erase::outlook_json(&args.device, &[words], false)?
        } else {
            text
        })?;
        return Ok(Exit::Ok);
    }
    let mut preparation = Preparation::begin(&recover::state_directory()?, roots)?;
    match preparation.drop_caches() {
        Ok(()) => ready(args, PrepareResult::default(), preparation),
        Err(error) => Ok(undo(error, preparation)),
    }
}

/// Results of the preparation besides its steps.
#[derive(Default)]
struct PrepareResult {
    speed: Option<SpeedMap>,
    mounted: Option<Mounted>,
}

fn carry_out(
    plan: &PreparePlan,
    mut erasable: Erasable,
    preparation: &mut Preparation,
    reporter: &mut ScanReporter,
    roots: &Roots,
) -> Result<PrepareResult, PrepareError> {
    let mut done = PrepareResult::default();
    if let Some(kind) = plan.discard {
        preparation.discard(&erasable, kind, &mut |progress| reporter.report(progress))?;
    }
    if let Some(pattern) = plan.fill {
        let mut report = |progress| reporter.report(progress);
        done.speed = Some(preparation.fill(&erasable, pattern, &mut report)?);
    }
    if let Some(image) = &plan.image {
        let mut report = |progress| reporter.report(progress);
        done.speed = Some(preparation.write_image(&erasable, image, &mut report)?);
    }
    if let Some((layout, _)) = &plan.partition {
        reporter.doing(&both!(
            "writing the partition table",
            "パーティションテーブルを作成中"
        ));
        let partitioned = preparation.partition(erasable, layout)?;
        erasable = partitioned.into_partition(1, roots)?;
    }
    if let Some(request) = &plan.mkfs {
        reporter.doing(&both!("making {}", "{}を作成中"; request.fs));
        erasable = preparation.mkfs(erasable, request)?.0;
    }
    if let Some(request) = &plan.mount {
        let mounted = preparation.mount(erasable, request)?;
        if let Some(percent) = plan.level {
            let mut report = |progress| reporter.report(progress);
            preparation.fill_level(mounted.folder(), percent, plan.seed, &mut report)?;
        }
        done.mounted = Some(mounted);
    }
    if plan.drop_caches {
        reporter.doing(&both!(
            "dropping the host caches",
            "ホストのキャッシュを破棄中"
        ));
        preparation.drop_caches()?;
    }
    Ok(done)
}

/// Prints the error, and undoes all steps that can be undone.
fn undo(error: PrepareError, preparation: Preparation) -> Exit {
    let refused = matches!(
        &error,
        PrepareError::Refused(Refusal::Busy { .. } | Refusal::Stale { .. })
    );
    let exit = match (ScanReporter::stopped(), refused) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Refused,
        (false, false) => Exit::Failed,
    };
    let began = changed_the_device(&error);
    let image = match &error {
        PrepareError::Image(ImageError::NotCleared { .. }) => Some(both!(
            "  note: the image is incomplete; do not boot from the device",
            "  参考: イメージは不完全です。このデバイスから起動しないでください"
        )),
        PrepareError::Image(error) if !error.left_the_device_unchanged() => Some(both!(
            "  note: the image is incomplete; its partition table was cleared, so it does not boot",
            "  参考: イメージは不完全です。パーティションテーブルは消去したため起動しません"
        )),
        _ => None,
    };
    complain(&error.into());
    if let Some(note) = image {
        anstream::eprintln!("{note}");
    }
    if began || !preparation.steps().is_empty() {
        anstream::eprintln!(
            "{}",
            both!(
                "  note: at least part of the data on the device is lost",
                "  参考: デバイスのデータは少なくとも一部が失われています"
            )
        );
    }
    if let Err(errors) = preparation.undo_all() {
        errors.into_iter().for_each(|error| complain(&error.into()));
        anstream::eprintln!(
            "{}",
            both!(
                "  help: run `hakaru recover` when the cause is fixed",
                "  対処: 原因を取り除いてからhakaru recoverを実行してください"
            )
        );
    }
    exit
}

/// Whether the step that failed may have changed the device.
fn changed_the_device(error: &PrepareError) -> bool {
    match error {
        PrepareError::Image(error) => !error.left_the_device_unchanged(),
        PrepareError::Fill(_) | PrepareError::Tool(ToolError::Failed { .. }) => true,
        PrepareError::Discard(error) => matches!(
            error,
            DiscardError::Refused { .. }
                | DiscardError::Pulled { .. }
                | DiscardError::Interrupted { .. }
        ),
        PrepareError::Io { doing, .. } => *doing == "partitioned",
        _ => false,
    }
}

/// Keeps the device in its current state, and prints what was done.
fn ready(args: &PrepareArgs, done: PrepareResult, preparation: Preparation) -> Result<Exit> {
    let steps = preparation.steps().to_vec();
    let journal = preparation.leave()?;
    let PrepareResult { speed, mounted } = done;
    let directory = mounted.as_ref().map(|mounted| mounted.folder().to_owned());
    if args.json {
        let all = serde_json::json!({
            "format": 1,
            "device": args.device.display().to_string(),
            "steps": steps,
            "fill_speed": speed,
            "mounted": directory,
            "journal": journal,
        });
        print(&json::pretty(&all)?)?;
        return Ok(Exit::Ok);
    }
    let mut text = both!("{} is ready:\n", "{}の準備ができました:\n"; args.device.display());
    for step in &steps {
        text += &format!("  {}\n", described(step, speed.as_ref()));
    }
    if journal.is_some() {
        text += &both!(
            "`hakaru recover` undoes what can be undone.\n",
            "元に戻せる手順はhakaru recoverで元に戻せます。\n"
        );
    }
    print(&text)?;
    Ok(Exit::Ok)
}

/// Describes a completed step.
fn described(done: &StepDone, speed: Option<&SpeedMap>) -> String {
    let what = hakaru_report::text::step(&(&done.step).into());
    let what = match &done.step {
        PrepareStep::Fill { .. } | PrepareStep::WriteImage { .. } => {
            let rate = speed.and_then(|map| Some((map.whole().rate()?, map.extremes()?)));
            let rate = rate.map_or(String::new(), |(mean, (slowest, fastest))| {
                both!(
                    " at {mean} ({slowest} to {fastest} by position)",
                    "、{mean}（位置により{slowest}〜{fastest}）"
                )
            });
            format!("{what}{rate}")
        }
        PrepareStep::Mount { at, .. } => both!("{what} at {}", "{what}（{}）"; at.display()),
        _ => what,
    };
    format!("{what}, {}", done.elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_partition_has_the_name_that_the_kernel_gives_it() {
        let part = |node: &str| part_of(Path::new(node), true).display().to_string();
        assert_eq!(part("/dev/sdb"), "/dev/sdb1");
        assert_eq!(part("/dev/mmcblk0"), "/dev/mmcblk0p1");
        assert_eq!(
            part_of(Path::new("/dev/loop3"), false),
            Path::new("/dev/loop3")
        );
    }

    #[test]
    fn a_mount_hides_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let request = |at: &Path| {
            mount_request(at, FsType::Ext4, "")
                .map(|request| request.at)
                .map_err(|e| e.to_string())
        };
        assert_eq!(request(&dir.path().join("new")), Ok(dir.path().join("new")));
        assert!(
            request(&dir.path().join("a/b"))
                .unwrap_err()
                .contains("create it first")
        );
        std::fs::write(dir.path().join("thesis.odt"), "years of work").unwrap();
        assert!(request(dir.path()).unwrap_err().contains("not empty"));
        assert!(
            request(&dir.path().join("thesis.odt"))
                .unwrap_err()
                .contains("name another")
        );
    }
}
