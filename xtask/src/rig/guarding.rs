//! Attempts to write to devices in use: none may succeed or write a single block.
//!
//! The card confirms that nothing was written, not the program under test.

use super::cards::{self, make};
use super::checks::{Checks, poll};
use super::full::RigSetup;
use super::product::ERASE;
use anyhow::{Result, bail, ensure};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::{Guest, Output};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// A use of the card: how to start and end it, which targets it forbids, and the expected reason.
struct DeviceUse {
    name: &'static str,
    make: &'static str,
    undo: &'static str,
    targets: &'static [&'static str],
    reason: &'static str,
}

const DISK: &str = "/dev/mmcblk0";
const FIRST: &str = "/dev/mmcblk0p1";

const USES: &[DeviceUse] = &[
    DeviceUse {
        name: "mounted partition",
        make: "mkfs.vfat /dev/mmcblk0p1 && mount /dev/mmcblk0p1 /mnt",
        undo: "umount /mnt",
        targets: &[DISK, FIRST],
        reason: "is mounted at",
    },
    DeviceUse {
        name: "swap",
        make: "mkswap /dev/mmcblk0p1 && swapon /dev/mmcblk0p1",
        undo: "swapoff /dev/mmcblk0p1",
        targets: &[DISK, FIRST],
        reason: "swap",
    },
    DeviceUse {
        name: "loop holder",
        make: "modprobe loop && losetup /dev/loop0 /dev/mmcblk0p1",
        undo: "losetup -d /dev/loop0",
        targets: &[DISK, FIRST],
        reason: "is in use by",
    },
    DeviceUse {
        name: "device mapper holder",
        make: "modprobe dm-mod && dmsetup create --noudevsync held --table '0 2048 linear /dev/mmcblk0p1 0'",
        undo: "dmsetup remove --noudevsync held",
        targets: &[DISK, FIRST],
        reason: "is in use by",
    },
    DeviceUse {
        name: "mapping over a mounted file",
        make: "mkfs.vfat /dev/mmcblk0p1 && mount /dev/mmcblk0p1 /mnt && modprobe loop && modprobe dm-mod && \
               dd if=/dev/zero of=/mnt/image bs=1M count=8 && mkfs.vfat /mnt/image && mkdir -p /inner && \
               losetup /dev/loop1 /mnt/image && losetup /dev/loop2 /mnt/image && mount /dev/loop2 /inner && \
               dmsetup create --noudevsync held --table '0 16384 linear /dev/loop1 0' && \
               dmsetup mknodes held && sync",
        undo: "dmsetup remove --noudevsync held && umount /inner && losetup -d /dev/loop1 && losetup -d /dev/loop2 && \
               umount /mnt",
        targets: &["/dev/mapper/held", "/dev/loop1"],
        reason: "loop2 is mounted at",
    },
    DeviceUse {
        name: "root of the system",
        make: "mkfs.vfat /dev/mmcblk0p1 && mount /dev/mmcblk0p1 /mnt && cd /mnt && touch hakaru && \
               for at in proc sys dev lib lib64 usr; do mkdir -p $at; mount --bind /$at /mnt/$at || exit 1; done && \
               mount --bind HAKARU /mnt/hakaru && sync",
        undo: "umount /mnt/hakaru; for at in proc sys dev lib lib64 usr; do umount /mnt/$at || exit 1; done; umount /mnt",
        targets: &[DISK, FIRST],
        reason: "the system runs from",
    },
    DeviceUse {
        name: "write protection",
        make: "blockdev --setro /dev/mmcblk0",
        undo: "blockdev --setrw /dev/mmcblk0",
        targets: &[DISK],
        reason: "write-protected|read-only",
    },
];

/// Permissions to erase that are refused: name, option, and the expected reason.
const WRONG_PERMISSIONS: [(&str, &str, &str); 4] = [
    (
        "an id of another device",
        "--erase=0123456789abcdef",
        "is not the ID of",
    ),
    (
        "a placeholder id",
        "--erase=0x00000000",
        "is a placeholder serial number",
    ),
    (
        "no id, and nobody to ask",
        "--erase",
        "this would erase all data",
    ),
    ("no permission at all", "", "erase"),
];

/// Runs every attempt with every use of the card.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let card = make(cards::quick("guarded", Bytes(64 << 20)))?;
    cards::scribble(&card)?;
    card.poke(0, &cards::two_partitions())?;
    let mut guest = rig.boot(&card)?;
    let mut trial = GuardTrial {
        guest: &mut guest,
        card: &card,
        rig,
        attempts: 0,
        digest: 0,
    };
    for kind in USES {
        trial.while_used(kind, checks)?;
    }
    for (name, permission, reason) in WRONG_PERMISSIONS {
        let script = trial.bench(DISK, permission);
        checks.check(&format!("{name}: bench {DISK}"), || {
            trial.attempt(&script, reason)
        });
    }
    checks.check("another run at the same time", || trial.while_in_use());
    checks.check("another card behind the name", || trial.replugged());
    let attempts = trial.attempts;
    checks.check("number of attempts", || {
        ensure!(attempts >= 20, "only {attempts} were made");
        Ok(format!("{attempts}, each refused; the card saw no write"))
    });
    Ok(guest.power_off()?)
}

/// The card, the machine, and what was tried in it.
struct GuardTrial<'a> {
    guest: &'a mut Guest,
    card: &'a SimulatedCard,
    rig: &'a RigSetup,
    attempts: u32,
    /// Digest of all data on the card before the attempt.
    digest: u64,
}

impl GuardTrial<'_> {
    /// Runs every attempt while the card is in use.
    fn while_used(&mut self, kind: &DeviceUse, checks: &mut Checks) -> Result<()> {
        let make = kind.make.replace("HAKARU", &self.rig.hakaru);
        self.guest.check_output(&make, LIMIT)?;
        for target in kind.targets {
            for (how, script) in self.attempts_on(target, kind.name == "root of the system") {
                checks.check(&format!("{}: {how} {target}", kind.name), || {
                    self.attempt(&script, kind.reason)
                });
            }
        }
        self.guest.check_output(kind.undo, LIMIT)?;
        Ok(())
    }

    fn bench(&self, target: &str, erase: &str) -> String {
        let hakaru = &self.rig.hakaru;
        let quick = "--quick --repeat 1 --size 16MiB --only rand-write";
        format!("{hakaru} --db /tmp/rig.db bench {target} {quick} {erase}")
    }

    /// The programs to try on a target, where the card may be the root device.
    fn attempts_on(&self, target: &str, rooted: bool) -> Vec<(&'static str, String)> {
        let hakaru = &self.rig.hakaru;
        let job = "--name=x --rw=write --bs=4k --size=1M --direct=1";
        let stored = format!("{hakaru} --db /tmp/rig.db");
        let mut attempts = vec![
            ("bench", self.bench(target, ERASE)),
            ("fio", format!("{hakaru} fio {job} --filename={target}")),
            ("verify", format!("{stored} verify {target} {ERASE}")),
            (
                "prepare",
                format!("{stored} prepare {target} --fill=zero {ERASE}"),
            ),
        ];
        if rooted {
            for (_, script) in &mut attempts {
                let inside = script.replace(hakaru, "/hakaru");
                *script = format!("chroot /mnt {}", inside.replace("/tmp/", "/dev/shm/"));
            }
        }
        attempts
    }

    /// Runs an attempt, which must be rejected for the expected reason.
    fn attempt(&mut self, script: &str, reason: &str) -> Result<String> {
        self.quiet()?;
        let output = self.guest.run(script, LIMIT)?;
        self.refused(&output, reason)
    }

    /// Syncs, and resets the ledger and the digest, so that all later writes come from the attempt.
    fn quiet(&mut self) -> Result<()> {
        self.guest.check_output("sync", LIMIT)?;
        self.card.take_ledger();
        self.digest = self.card.digest(0..self.card.announced().0)?;
        Ok(())
    }

    fn refused(&mut self, output: &Output, reason: &str) -> Result<String> {
        self.attempts += 1;
        let said = output.both();
        let written = self.card.ledger().of(Op::Write).bytes;
        ensure!(written.0 == 0, "{written} were written:\n{said}");
        ensure!(
            self.card.digest(0..self.card.announced().0)? == self.digest,
            "the card holds something else now:\n{said}"
        );
        ensure!(output.code != 0, "it ended with 0:\n{said}");
        match said
            .lines()
            .find(|line| reason.split('|').any(|words| line.contains(words)))
        {
            Some(line) => Ok(format!("exit {}, {}", output.code, line.trim())),
            None => bail!(
                "it ended with {}, but not because of {reason:?}:\n{said}",
                output.code
            ),
        }
    }

    /// A device that another run has claimed.
    fn while_in_use(&mut self) -> Result<String> {
        let bench = self.bench(DISK, ERASE);
        let first = bench.replace("rand-write", "rand-read");
        let first = first.replace("--quick", "--standard");
        let second = bench.replace("rig.db", "other.db");
        // The first one only reads, although it may write. More reads than for identification show that it is running.
        self.quiet()?;
        let script = format!(
            "reads() {{ set -- $(cat /sys/block/mmcblk0/stat); echo $1; }}\n\
             enough=$(($(reads) + 300))\n\
             {first} >/tmp/first 2>&1 &\n\
             until [ $(reads) -gt $enough ] || ! kill -0 $! ; do sleep 0.2; done\n\
             {second}\ncode=$?\nkill $!\nwait\nexit $code"
        );
        let output = self.guest.run(&script, LIMIT)?;
        self.refused(&output, "opened exclusively")
    }

    /// The card is removed and reinserted while hakaru asks for its name.
    fn replugged(&mut self) -> Result<String> {
        self.quiet()?;
        let bench = self.bench(DISK, "--erase");
        // The operator types after the other card was inserted.
        let disk = "/sys/block/mmcblk0/diskseq";
        self.guest.begin(&format!(
            "(until [ ! -e {disk} ]; do sleep 0.1; done; echo >/out/gone\n\
              until [ -e {disk} ] && [ -b {DISK} ]; do sleep 0.1; done; sleep 1; echo mmcblk0) \
              | script -qefc '{bench}' /out/asked"
        ))?;
        let out = self.guest.out().to_owned();
        poll(LIMIT, || {
            let shown = std::fs::read(out.join("asked")).unwrap_or_default();
            let shown = String::from_utf8_lossy(&shown);
            let asked = shown.contains("to erase it:");
            asked.then_some(()).ok_or(format!("no question:\n{shown}"))
        })?;
        self.guest.pull(0)?;
        poll(LIMIT, || {
            let gone = out.join("gone").exists();
            gone.then_some(())
                .ok_or("the card is still there".to_owned())
        })?;
        self.guest.push(0)?;
        let output = self.guest.finish(LIMIT)?;
        self.refused(&output, "no longer the same device")
    }
}
