//! CPU architectures of the guests.

/// CPU architecture of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch {
    /// A PC.
    X86_64,
    /// A Raspberry Pi 3.
    Aarch64,
}

impl Arch {
    /// Debian's name of the architecture.
    pub(crate) fn debian(self) -> &'static str {
        match self {
            Arch::X86_64 => "amd64",
            Arch::Aarch64 => "arm64",
        }
    }

    /// QEMU program for this architecture.
    pub(crate) fn qemu(self) -> &'static str {
        match self {
            Arch::X86_64 => "qemu-system-x86_64",
            Arch::Aarch64 => "qemu-system-aarch64",
        }
    }
}
