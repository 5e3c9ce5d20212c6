//! Messages of JSON-RPC, each after a header with its length.

use serde_json::Value;
use std::io::{self, BufRead, Read, Write};

/// Longest message. The language accepts texts of 1 MiB, which JSON can multiply by six.
const LONGEST: u64 = 64 << 20;
/// Longest line of a header.
const LONGEST_LINE: u64 = 1024;

/// A message from the client.
#[derive(Debug)]
pub enum Incoming {
    Message(Value),
    /// Content that is not JSON; later messages can be read.
    NoJson(String),
    /// A header without a usable length; nothing after it can be read.
    Broken(String),
}

/// The next message; `None` at the end of the input.
pub fn read(input: &mut impl BufRead) -> Option<Incoming> {
    let mut length = None;
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        match input.take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) if is_first => return None,
            Ok(_) => {}
            Err(e) => return Some(Incoming::Broken(e.to_string())),
        }
        is_first = false;
        let Some(line) = line.strip_suffix(b"\n") else {
            return Some(Incoming::Broken("a header that does not end".into()));
        };
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Some(Incoming::Broken(format!("`{}` is not a header", line.escape_debug())));
        };
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let Some(length) = length.filter(|length| *length <= LONGEST) else {
        let why = format!("a header needs a Content-Length of at most {LONGEST}");
        return Some(Incoming::Broken(why));
    };
    let mut content = Vec::new();
    match input.take(length).read_to_end(&mut content) {
        Ok(read) if read as u64 == length => {}
        Ok(_) => return Some(Incoming::Broken("a truncated message".into())),
        Err(e) => return Some(Incoming::Broken(e.to_string())),
    }
    Some(match serde_json::from_slice(&content) {
        Ok(message) => Incoming::Message(message),
        Err(e) => Incoming::NoJson(format!("not JSON: {e}")),
    })
}

/// Writes a message.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let content = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{content}", content.len())?;
    output.flush()
}
