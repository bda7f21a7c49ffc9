//! `cargo xtask fio-parity`.
pub(crate) fn main(_a: &[String]) -> anyhow::Result<()> {
    Ok(())
}
