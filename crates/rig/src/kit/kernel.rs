//! Extracts the files needed from the kernel package, and prepares the kernel for a fast boot.

use super::arch::Arch;
use super::debian::unpack as unpack_package;
use super::error::{KitError, io_error};
use super::tools::{RigToolError, command, run};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Modules that the machines need, below `kernel/`.
const MODULES: &[&str] = &[
    "block",
    "crypto",
    "drivers/block",
    "drivers/md",
    "drivers/mmc",
    "drivers/scsi/s*",
    "drivers/virtio",
    "fs",
    "lib",
    "net/9p",
];

/// PC modules: disks other than cards.
const PC_MODULES: &[&str] = &[
    "drivers/ata",
    "drivers/hwmon/drivetemp*",
    "drivers/nvme",
    "drivers/usb/common",
    "drivers/usb/core",
    "drivers/usb/host",
    "drivers/usb/storage",
];

/// Raspberry Pi modules: power off, and the network adapter.
const PI_MODULES: &[&str] = &[
    "drivers/net/mii*",
    "drivers/net/phy",
    "drivers/net/usb",
    "drivers/usb",
    "drivers/watchdog/bcm2835*",
];

/// Device tree of the Raspberry Pi 3.
pub(super) const DEVICE_TREE: &str = "bcm2837-rpi-3-b.dtb";

/// Extracts the kernel, its modules and its device tree from a package.
pub(super) fn unpack(
    package: &Path,
    arch: Arch,
    version: &str,
    into: &Path,
) -> Result<(), KitError> {
    unpack_package(package, &kernel_files(arch, version), into)?;
    let rename =
        |from: &Path, to: &Path| std::fs::rename(from, to).map_err(io_error("cannot move", from));
    let merged = into.join("usr/lib/modules");
    if merged.exists() {
        let lib = into.join("lib");
        std::fs::create_dir_all(&lib).map_err(io_error("cannot make", &lib))?;
        rename(&merged, &lib.join("modules"))?;
    }
    decompress_modules(&into.join("lib/modules"))?;
    run(command("depmod").arg("-b").arg(into).arg(version))?;
    let boot = into.join("boot");
    let image = boot.join(format!("vmlinuz-{version}"));
    let kernel = into.join("kernel");
    match arch {
        Arch::X86_64 => decompress(&image, &kernel)?,
        Arch::Aarch64 => {
            let trees = into.join(format!("usr/lib/linux-image-{version}/broadcom"));
            rename(&image, &kernel)?;
            rename(&trees.join(DEVICE_TREE), &into.join(DEVICE_TREE))?;
        }
    }
    std::fs::remove_dir_all(&boot).map_err(io_error("cannot remove", &boot))
}

/// Patterns of the files to extract from a kernel package.
fn kernel_files(arch: Arch, version: &str) -> Vec<String> {
    // Since Debian 13, packages have `usr/lib`.
    let modules = format!("./*lib/modules/{version}");
    let mut files = vec![
        format!("./boot/vmlinuz-{version}"),
        format!("{modules}/modules.*"),
    ];
    let own = match arch {
        Arch::X86_64 => PC_MODULES,
        Arch::Aarch64 => PI_MODULES,
    };
    files.extend(MODULES.iter().chain(own).map(|part| {
        let whole = if part.ends_with('*') { "" } else { "/*" };
        format!("{modules}/kernel/{part}{whole}")
    }));
    if arch == Arch::Aarch64 {
        files.push(format!("./usr/lib/linux-image-*/broadcom/{DEVICE_TREE}"));
    }
    files
}

/// Decompresses the modules below a directory: since Debian 13 they are compressed, which takes an emulated CPU long.
fn decompress_modules(dir: &Path) -> Result<(), KitError> {
    const AT_ONCE: usize = 200;
    let mut compressed = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).map_err(io_error("cannot read", &dir))? {
            let entry = entry.map_err(io_error("cannot read", &dir))?;
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                dirs.push(path);
            } else if path.to_string_lossy().ends_with(".ko.xz") {
                compressed.push(path);
            }
        }
    }
    for modules in compressed.chunks(AT_ONCE) {
        run(command("xz").arg("-d").args(modules))?;
    }
    Ok(())
}

/// Extracts busybox from its package.
pub(super) fn unpack_busybox(package: &Path, into: &Path) -> Result<(), KitError> {
    unpack_package(package, &["./*bin/busybox".to_owned()], into)?;
    let found = ["bin/busybox", "usr/bin/busybox"]
        .map(|path| into.join(path))
        .into_iter()
        .find(|path| path.exists());
    let file = found.ok_or_else(|| KitError::Unusable {
        path: package.to_owned(),
        because: "it contains no busybox".to_owned(),
    })?;
    std::fs::rename(&file, into.join("busybox")).map_err(io_error("cannot move", &file))
}

/// Decompresses a self-extracting kernel: on an emulated CPU, decompression takes half of the boot time. A kernel that is
/// not compressed with xz is kept as it is.
///
/// Source: the kernel's `Documentation/x86/boot.rst`, fields `setup_sects`, `payload_offset` and `payload_length`.
fn decompress(image: &Path, kernel: &Path) -> Result<(), KitError> {
    let bytes = std::fs::read(image).map_err(io_error("cannot read", image))?;
    let payload = payload(&bytes).map_err(|because| KitError::Unusable {
        path: image.to_owned(),
        because,
    })?;
    let Some(payload) = payload else {
        return std::fs::rename(image, kernel).map_err(io_error("cannot move", image));
    };
    let start = RigToolError::start("xz");
    let file = std::fs::File::create(kernel).map_err(io_error("cannot make", kernel))?;
    let mut xz = command("xz")
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(file)
        .spawn()
        .map_err(&start)?;
    if let Some(mut pipe) = xz.stdin.take() {
        pipe.write_all(payload).map_err(&start)?;
    }
    let status = xz.wait().map_err(start)?;
    if !status.success() {
        return Err(RigToolError::Failed {
            program: "xz -dc".to_owned(),
            status,
            said: "the kernel's payload".to_owned(),
        }
        .into());
    }
    Ok(())
}

/// The xz-compressed kernel inside a bzImage; `None` if it is compressed in another way, as since Debian 13.
fn payload(image: &[u8]) -> Result<Option<&[u8]>, String> {
    let field = |at: usize| {
        let bytes: Option<[u8; 4]> = image
            .get(at..at + 4)
            .and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(|bytes| u32::from_le_bytes(bytes) as usize)
            .ok_or_else(|| "it is too short".to_owned())
    };
    if image.get(0x202..0x206) != Some(b"HdrS") {
        return Err("it has no boot header".to_owned());
    }
    let setup_sects = match field(0x1f1)? & 0xff {
        0 => 4,
        n => n,
    };
    let start = (setup_sects + 1) * 512 + field(0x248)?;
    // The last four bytes are the unpacked size, which xz would reject.
    let end = (start + field(0x24c)?).saturating_sub(4);
    let payload = image
        .get(start..end)
        .ok_or_else(|| "its payload is truncated".to_owned())?;
    Ok(payload.starts_with(b"\xfd7zXZ\0").then_some(payload))
}

/// The modules to load for `wanted`, each after its dependencies.
///
/// # Errors
/// If the dependency list made by `depmod` cannot be read, or does not include a module.
pub(crate) fn load_order(modules: &Path, wanted: &[&str]) -> Result<Vec<PathBuf>, KitError> {
    let path = modules.join("modules.dep");
    let text = std::fs::read_to_string(&path).map_err(io_error("cannot read", &path))?;
    let builtin = std::fs::read_to_string(modules.join("modules.builtin")).unwrap_or_default();
    let mut order: Vec<PathBuf> = Vec::new();
    for name in wanted {
        let line = text.lines().find(|line| {
            line.split(':')
                .next()
                .is_some_and(|file| is_module(file, name))
        });
        let Some((file, needs)) = line.and_then(|line| line.split_once(':')) else {
            if builtin.lines().any(|file| is_module(file, name)) {
                continue;
            }
            return Err(KitError::Unusable {
                path,
                because: format!("it has no module {name}"),
            });
        };
        // Dependencies are listed nearest first, so they are loaded in reverse order.
        for file in needs.split_whitespace().rev().chain([file]) {
            let file = modules.join(file);
            if !order.contains(&file) {
                order.push(file);
            }
        }
    }
    Ok(order)
}

fn is_module(file: &str, name: &str) -> bool {
    let stem = file
        .rsplit('/')
        .next()
        .and_then(|file| file.split(".ko").next());
    stem.is_some_and(|stem| stem.replace('-', "_") == name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_found_by_the_header() {
        let mut image = vec![0; 4096];
        image[0x1f1] = 2;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x248..0x24c].copy_from_slice(&64u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&14u32.to_le_bytes());
        image[1600..1606].copy_from_slice(b"\xfd7zXZ\0");
        assert_eq!(payload(&image), Ok(Some(&image[1600..1610])));
        image[1600] = 0;
        assert_eq!(payload(&image), Ok(None));
        assert_eq!(
            payload(&image[..1604]),
            Err("its payload is truncated".to_owned())
        );
        assert_eq!(payload(b"MZ"), Err("it has no boot header".to_owned()));
    }

    #[test]
    fn modules_come_after_what_they_need() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let dep = "kernel/a-b.ko: kernel/c.ko kernel/d.ko.xz\nkernel/c.ko: kernel/d.ko.xz\nkernel/d.ko.xz:\n";
        std::fs::write(dir.path().join("modules.dep"), dep).expect("a file");
        std::fs::write(dir.path().join("modules.builtin"), "kernel/e.ko\n").expect("a file");
        let order = |wanted: &[&str]| {
            let files = load_order(dir.path(), wanted).map_err(|e| e.to_string())?;
            let names = files
                .iter()
                .filter_map(|f| f.file_name())
                .map(|f| f.to_string_lossy().into_owned());
            Ok::<Vec<String>, String>(names.collect())
        };
        assert_eq!(
            order(&["e", "a_b"]),
            Ok(["d.ko.xz", "c.ko", "a-b.ko"].map(str::to_owned).to_vec())
        );
        assert_eq!(
            order(&["c", "a_b"]),
            Ok(["d.ko.xz", "c.ko", "a-b.ko"].map(str::to_owned).to_vec())
        );
        assert!(order(&["f"]).is_err_and(|e| e.contains("it has no module f")));
    }
}
