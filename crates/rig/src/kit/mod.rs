//! Components of the guests: a kernel with modules, and busybox, downloaded once.
//!
//! Everything comes from Debian's archive through the host's own `apt-get` as a normal user; nothing is installed. Only
//! files the machines need are kept, about 130 MB per CPU.

mod arch;
mod debian;
mod error;
mod kernel;
mod newc;
mod tools;

pub use arch::Arch;
pub use error::KitError;
pub(crate) use kernel::load_order;
pub(crate) use newc::CpioArchive;
pub use tools::{Missing, RigToolError, missing};
pub(crate) use tools::{find, run};

use error::{clear, io_error};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Changes with the content of the kit, so that an outdated kit is rebuilt.
const LAYOUT: &str = "3";

/// Location of the guest components.
#[derive(Clone, Debug)]
pub struct Kit {
    dir: PathBuf,
    /// Debian release of the kernel; `None` for the release of this host.
    release: Option<String>,
}

/// Components of one kind of machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestParts {
    /// The kernel, uncompressed if that boots faster.
    pub kernel: PathBuf,
    /// Kernel version, which is also the name of its module directory.
    pub version: String,
    /// Parent of the module directory.
    pub modules: PathBuf,
    /// A statically linked busybox.
    pub busybox: PathBuf,
    /// Device tree of the Raspberry Pi 3.
    pub dtb: Option<PathBuf>,
}

impl Kit {
    /// The kit in a directory, which does not need to exist yet.
    pub fn at(dir: &Path) -> Kit {
        Kit {
            dir: dir.to_owned(),
            release: None,
        }
    }

    /// Returns the default kit: `$XDG_CACHE_HOME/hakaru-rig`, or `target/rig` of the workspace.
    pub fn usual() -> Kit {
        let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
        let dir = match cache {
            Some(cache) => PathBuf::from(cache).join("hakaru-rig"),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rig"),
        };
        Kit { dir, release: None }
    }

    /// Returns a kit with the kernel of another Debian release, such as `bullseye`, below the default one.
    pub fn of_release(release: &str) -> Kit {
        Kit {
            dir: Kit::usual().dir.join(release),
            release: Some(release.to_owned()),
        }
    }

    /// Directory of the kit.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the components for one architecture, if present.
    ///
    /// # Errors
    /// [`KitError::NotSetUp`] if they are not present.
    pub fn parts(&self, arch: Arch) -> Result<GuestParts, KitError> {
        let not_set_up = || KitError::NotSetUp {
            arch: arch.debian(),
            dir: self.dir.clone(),
        };
        let home = self.home(arch).canonicalize().map_err(|_| not_set_up())?;
        let stamp = std::fs::read_to_string(home.join("stamp")).map_err(|_| not_set_up())?;
        let version = stamp
            .strip_prefix(LAYOUT)
            .and_then(|rest| rest.strip_prefix('\n'))
            .ok_or_else(not_set_up)?;
        let dtb = home.join(kernel::DEVICE_TREE);
        Ok(GuestParts {
            kernel: home.join("kernel"),
            version: version.trim().to_owned(),
            modules: home.join("lib/modules"),
            busybox: home.join("busybox"),
            dtb: dtb.exists().then_some(dtb),
        })
    }

    /// Downloads missing components, reporting each step, and returns the components. Fast if all are present.
    ///
    /// # Errors
    /// If a program is missing, the archive cannot be reached, or the disk is full.
    pub fn set_up(&self, arch: Arch, report: &mut dyn FnMut(&str)) -> Result<GuestParts, KitError> {
        tools::check(arch)?;
        std::fs::create_dir_all(&self.dir).map_err(io_error("cannot make", &self.dir))?;
        // Two concurrent setups would overwrite each other's files; with the lock, the second one finds everything
        // done.
        let lock = self.dir.join("lock");
        let file = File::create(&lock).map_err(io_error("cannot make", &lock))?;
        file.lock().map_err(io_error("cannot lock", &lock))?;
        match self.parts(arch) {
            Err(KitError::NotSetUp { .. }) => {}
            found => return found,
        }
        let fresh = self.dir.join(format!("{}.new", arch.debian()));
        clear(&fresh)?;
        let version = self.gather(arch, &fresh, report)?;
        let stamp = fresh.join("stamp");
        std::fs::write(&stamp, format!("{LAYOUT}\n{version}\n"))
            .map_err(io_error("cannot write", &stamp))?;
        let home = self.home(arch);
        clear(&home)?;
        std::fs::remove_dir(&home).map_err(io_error("cannot replace", &home))?;
        std::fs::rename(&fresh, &home).map_err(io_error("cannot make", &home))?;
        self.parts(arch)
    }

    fn home(&self, arch: Arch) -> PathBuf {
        self.dir.join(arch.debian())
    }

    /// Downloads and unpacks into a directory; returns the kernel version.
    fn gather(
        &self,
        arch: Arch,
        into: &Path,
        report: &mut dyn FnMut(&str),
    ) -> Result<String, KitError> {
        let archive = debian::DebianArchive::open(
            &self.dir.join(format!("apt-{}", arch.debian())),
            arch,
            self.release.as_deref(),
            report,
        )?;
        let package =
            archive.dependency(&format!("linux-image-{}", arch.debian()), "linux-image-")?;
        let version = package.trim_start_matches("linux-image-").to_owned();
        report(&format!("fetching {package}, about 70 MB"));
        let kernel = archive.fetch(&package)?;
        report("fetching busybox-static");
        let busybox = archive.fetch("busybox-static")?;
        report("unpacking");
        kernel::unpack(&kernel, arch, &version, into)?;
        kernel::unpack_busybox(&busybox, into)?;
        // The packages are larger than the files kept from them.
        archive.discard()?;
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kit_that_is_not_there_says_how_to_get_it() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let kit = Kit::at(dir.path());
        let error = kit
            .parts(Arch::X86_64)
            .expect_err("nothing is there")
            .to_string();
        assert!(error.ends_with("run `cargo xtask rig setup`"), "{error}");
        let home = dir.path().join("amd64");
        std::fs::create_dir(&home).expect("a directory");
        std::fs::write(home.join("stamp"), "0\n6.1\n").expect("a file");
        assert!(kit.parts(Arch::X86_64).is_err(), "of an older layout");
        std::fs::write(home.join("stamp"), format!("{LAYOUT}\n6.1.0\n")).expect("a file");
        let parts = kit.parts(Arch::X86_64).expect("all is there");
        assert_eq!((parts.version.as_str(), parts.dtb), ("6.1.0", None));
    }
}
