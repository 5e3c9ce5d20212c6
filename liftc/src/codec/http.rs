//! Files on servers, read by ranges: HTTP/1.1 without encryption.

use crate::failure::{Outcome, input};
use lifting_codec::ReadAt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// Longest line of a response, and most lines of its header.
const MAX_LINE: u64 = 8192;

/// Time without any byte after which a server is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// File on a server.
#[derive(Debug)]
pub struct Remote {
    /// Host, with a port if the address has one.
    host: String,
    path: String,
    length: u64,
}

/// Whether an input is an address on a server.
pub fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.starts_with("http://") || text.starts_with("https://"))
}

/// Header of a response, and the reader of its body.
struct Response {
    status: u16,
    /// Bytes of the body, if the server tells.
    length: Option<u64>,
    /// Bytes of the whole file, in a response with a range.
    total: Option<u64>,
    body: BufReader<TcpStream>,
}

fn broken(why: &str) -> io::Error {
    io::Error::other(format!("the server's response is invalid: {why}"))
}

impl Remote {
    /// Finds the file and its length.
    ///
    /// # Errors
    /// If the address is not of HTTP, or the server does not serve ranges of the file.
    pub fn open(address: &Path) -> Outcome<Remote> {
        let Some(rest) = address.to_str().and_then(|text| text.strip_prefix("http://")) else {
            return Err(input("only addresses of http:// can be read")
                .help("fetch the file: curl -O, or serve it without encryption on this machine"));
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let bad = |text: &str| text.contains(|c: char| c.is_ascii_control() || c == ' ');
        if host.is_empty() || host.contains('@') || bad(rest) {
            return Err(input("is not an address such as http://host:8000/name.lpc"));
        }
        let path = if path.is_empty() { "/" } else { path };
        let mut remote = Remote { host: host.into(), path: path.into(), length: 0 };
        let cannot = |e: io::Error| input(format!("cannot read: {}", crate::output::why(&e)));
        let Response { status, length, total, .. } = remote.ask(0, 1).map_err(cannot)?;
        remote.length = match (status, total, length) {
            (206, Some(total), _) => total,
            (416, ..) => return Err(input("is empty")),
            (200, ..) => {
                return Err(
                    input("the server does not serve ranges of files").help("fetch the file and decode it: curl -O")
                );
            }
            _ => return Err(input(format!("the server answers with status {status}"))),
        };
        Ok(remote)
    }

    /// Asks for a range of bytes.
    fn ask(&self, offset: u64, bytes: u64) -> io::Result<Response> {
        let Remote { host, path, .. } = self;
        let has_port = host.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok()) && host.contains(':');
        let stream = if has_port { TcpStream::connect(host) } else { TcpStream::connect((host.as_str(), 80)) }?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let last = offset + bytes - 1;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nRange: bytes={offset}-{last}\r\nUser-Agent: liftc\r\n\
             Accept-Encoding: identity\r\nConnection: close\r\n\r\n"
        );
        (&stream).write_all(request.as_bytes())?;
        let mut body = BufReader::new(stream);
        let mut line = || -> io::Result<String> {
            let mut line = String::new();
            body.by_ref().take(MAX_LINE).read_line(&mut line)?;
            match line.pop() {
                Some('\n') => Ok(line.trim_end().to_owned()),
                _ => Err(broken("a line of its header is cut or too long")),
            }
        };
        let status = line()?;
        let status = status.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| broken("it is not HTTP"))?;
        let (mut length, mut total) = (None, None);
        for _ in 0..MAX_LINE {
            let field = line()?;
            if field.is_empty() {
                return Ok(Response { status, length, total, body });
            }
            let (name, value) = field.split_once(':').ok_or_else(|| broken("a field of its header has no value"))?;
            match &name.to_ascii_lowercase()[..] {
                "content-length" => length = value.trim().parse().ok(),
                // `bytes 0-99/1234`
                "content-range" => {
                    let range = value.trim().strip_prefix("bytes ").and_then(|range| range.split_once('/'));
                    let first = range.and_then(|(range, _)| range.split_once('-')?.0.parse().ok());
                    if first == Some(offset) {
                        total = range.and_then(|(_, total)| total.parse().ok());
                    }
                }
                "transfer-encoding" => return Err(broken("its body has no length")),
                _ => {}
            }
        }
        Err(broken("its header is too long"))
    }
}

impl ReadAt for Remote {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if buffer.is_empty() {
            return Ok(());
        }
        let Response { status, total, mut body, .. } = self.ask(offset, buffer.len() as u64)?;
        if status != 206 || total != Some(self.length) {
            return Err(broken("the range is another one, or the file has changed"));
        }
        body.read_exact(buffer)
    }
}
