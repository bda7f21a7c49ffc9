//! Layouts compared with the output of the tools that made the file systems. Each test skips what needs a missing tool,
//! and says so.

#[path = "layouts/exfat.rs"]
mod exfat;
#[path = "layouts/ext4.rs"]
mod ext4;
#[path = "layouts/fat.rs"]
mod fat;
#[path = "layouts/mounted.rs"]
mod mounted;
#[path = "layouts/others.rs"]
mod others;
#[path = "layouts/support.rs"]
mod support;
#[path = "layouts/traced.rs"]
mod traced;
