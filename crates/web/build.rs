//! Compresses the description of the interface for the program: 268 kB become 50 kB.

use std::error::Error;
use std::path::Path;

/// The best level of zlib's ten: the description is compressed once and sent rarely.
const LEVEL: u8 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let source = "src/pages/openapi.json";
    println!("cargo::rerun-if-changed={source}");
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&std::fs::read(source)?, LEVEL);
    let output = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    std::fs::write(Path::new(&output).join("openapi.json.z"), packed)?;
    Ok(())
}
