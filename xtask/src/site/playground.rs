//! The playground: a page with the compiler as WebAssembly, which works from the file system too.
//!
//! Pages of the file system may load scripts, but neither modules, nor workers, nor bytes. So the compiler, packed, and
//! the worker's source are strings of one script, `engine.js`.

use super::nav::Nav;
use crate::toolchain::{root, run, target};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = include_str!("../../site/playground.md");
const BODY: &str = include_str!("../../site/playground/page.html");
const SCRIPT: &str = include_str!("../../site/playground/playground.js");
const STYLE: &str = include_str!("../../site/playground/playground.css");
/// Sources of the worker, in order.
const WORKER: [&str; 2] =
    [include_str!("../../site/playground/lifting.js"), include_str!("../../site/playground/worker.js")];

const TARGET: &str = "wasm32-unknown-unknown";
/// Most bytes of the packed compiler.
const MOST_BYTES: usize = 2_000_000;
/// Stack of the compiler in bytes, for deep expressions.
const STACK: u32 = 4 << 20;

/// Writes the page, and its files below `docs/playground`; `picture` is the one to try first. Without the target, the
/// page says so.
///
/// # Errors
/// The compiler fails to build, or is too large; or the target is missing, and `LIFTING_REQUIRE_WASM=1`.
pub fn write(docs: &Path, picture: &Path) -> Result<Nav, String> {
    let state = if let Some(wasm) = build()? {
        let folder = docs.join("playground");
        let picture = std::fs::read(picture).map_err(|e| format!("{}: {e}", picture.display()))?;
        super::write(&folder.join("playground.js"), SCRIPT)?;
        super::write(&folder.join("playground.css"), STYLE)?;
        super::write(&folder.join("engine.js"), engine(&wasm, &picture)?)?;
        BODY
    } else {
        "This copy of the site was built without the target wasm32-unknown-unknown, so that the playground is missing. \
         The program `liftc` does the same."
    };
    super::write(&docs.join("playground.md"), PAGE.replace("{state}", state))?;
    Ok(Nav::page("playground.md"))
}

/// The compiler as WebAssembly; `None` without the target.
fn build() -> Result<Option<PathBuf>, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let library = run(Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]))?;
    if !Path::new(library.trim()).is_dir() {
        let help = format!("the target is missing: rustup target add {TARGET}");
        if std::env::var("LIFTING_REQUIRE_WASM").is_ok_and(|v| v == "1") {
            return Err(format!("LIFTING_REQUIRE_WASM=1, and {help}"));
        }
        println!("the playground is skipped: {help}");
        return Ok(None);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(["rustc", "--quiet", "-p", "lifting-wasm", "--target", TARGET]);
    command
        .args(["--profile", "wasm", "--crate-type", "cdylib", "--", "-C"])
        .arg(format!("link-arg=-zstack-size={STACK}"));
    run(&mut command)?;
    Ok(Some(target().join(TARGET).join("wasm/lifting_wasm.wasm")))
}

/// The script with the compiler, the worker and the picture.
fn engine(wasm: &Path, picture: &[u8]) -> Result<String, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", wasm.display());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&std::fs::read(wasm).map_err(failed)?).map_err(failed)?;
    let packed = encoder.finish().map_err(failed)?;
    println!("the playground's compiler: {} bytes, packed", packed.len());
    if packed.len() > MOST_BYTES {
        return Err(format!("the playground's compiler has {} bytes, packed; {MOST_BYTES} are allowed", packed.len()));
    }
    // Escapes of Rust's strings are also those of JavaScript's.
    let worker = WORKER.concat();
    let picture = format!("data:image/png;base64,{}", base64(picture));
    Ok(format!("const ENGINE = {{\nworker: {worker:?},\npicture: {picture:?},\nwasm: {:?},\n}};\n", base64(&packed)))
}

/// Bytes in base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = bytes.chunks(3).flat_map(|part| {
        let bits = part.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - part.len()));
        (0..4).map(move |i| if i <= part.len() { LETTERS[(bits >> (18 - 6 * i)) as usize & 63] } else { b'=' })
    });
    letters.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn bytes_in_base64() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }
}
