//! Netpbm formats, P1 to P7: PBM, PGM, PPM and PAM. Samples are kept unscaled, along with the maxval.
//!
//! The formats are those of netpbm's manual pages pbm(5), pgm(5), ppm(5) and pam(5). In a bitmap array, sample 0 is
//! black and 1 is white, as in netpbm's PGM of maxval 1. The file has the inverse.

use super::image::pack;
use super::npy::{Stop, read_elements};
use super::{Array, Colour, Data, Element, Origin, room, rows, shape_text};
use crate::failure::{Failure, Outcome, input};
use std::io::{self, BufRead, Read};

/// Longest line of a PAM header in bytes, and most lines.
const MAX_LINE: usize = 1024;

/// Formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bits.
    Pbm,
    /// Grey.
    Pgm,
    /// Colour.
    Ppm,
    /// Either, with alpha or without.
    Pam,
}

/// Contents of a header.
struct Header {
    width: usize,
    height: usize,
    colour: Colour,
    maxval: u16,
}

/// Whether a file with these first bytes is a netpbm file.
pub fn is(magic: &[u8]) -> bool {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'#';
    matches!(magic, [b'P', b'1'..=b'7', rest @ ..] if rest.first().is_none_or(blank))
}

/// Kind of the file, from P1 to P7, its header, and the bytes that its samples take at least.
///
/// # Errors
/// If it is malformed or cut short.
fn read_header<R: BufRead>(text: &mut Text<R>, bytes: u64) -> Outcome<(u8, Header, u64)> {
    let kind = match [text.raw()?, text.raw()?] {
        [Some(b'P'), Some(kind @ b'1'..=b'7')] => kind - b'0',
        _ => return Err(malformed("it does not begin with P1 to P7")),
    };
    let header = if kind == 7 { text.pam()? } else { text.header(kind)? };
    let Header { width, height, colour, maxval } = header;
    if width == 0 || height == 0 {
        return Err(input(format!("the picture has no pixels: {width} × {height}")));
    }
    let count = width.checked_mul(height).and_then(|n| n.checked_mul(colour.channels()));
    let Some(count) = count.filter(|&n| n <= isize::MAX as usize / 2) else {
        return Err(input(format!("a picture of {width} × {height} is more than any machine can hold")));
    };
    // In a text format, each number takes a digit, and a blank before the next one.
    let needed = match kind {
        1 => count,
        2 | 3 => 2 * count - 1,
        4 => width.div_ceil(8) * height,
        _ => count << u32::from(maxval > 255),
    } as u64;
    let there = bytes.saturating_sub(text.at);
    if there < needed {
        return Err(input(format!(
            "the picture cannot be decoded: it is cut short: {width} × {height} of maxval {maxval} take {needed} \
             bytes, and {there} follow the header"
        )));
    }
    Ok((kind, header, needed))
}

/// Shape, type and origin of a picture.
fn about_of(kind: u8, header: &Header) -> (Vec<usize>, Element, Origin) {
    let Header { width, height, colour, maxval } = *header;
    let element = if maxval > 255 { Element::U16 } else { Element::U8 };
    let mut shape = vec![height, width];
    if colour != Colour::Grey {
        shape.push(colour.channels());
    }
    let format = match kind {
        1 | 4 => "pbm",
        7 => "pam",
        _ => "pnm",
    };
    let (format, maxval) = (format.into(), Some(maxval));
    (shape, element, Origin::Image { format, colour, element, maxval, stack: false, premultiplied: false })
}

/// First picture of a file without its samples, which follow in the reader; `None` if they are text or bits.
///
/// # Errors
/// If the header is malformed, or the file cut short.
pub fn about<R: BufRead>(reader: R, bytes: u64) -> Outcome<Option<Array>> {
    let (kind, header, _) = read_header(&mut Text { reader, at: 0 }, bytes)?;
    let (shape, element, origin) = about_of(kind, &header);
    Ok((kind >= 5).then(|| rows::about(shape, element, origin)))
}

/// Reads the first picture of a file of `bytes` bytes.
///
/// # Errors
/// If it is malformed or cut short, or a sample exceeds the maxval.
pub fn read<R: BufRead>(reader: R, bytes: u64) -> Outcome<Array> {
    let mut text = Text { reader, at: 0 };
    let (kind, header, needed) = read_header(&mut text, bytes)?;
    let (shape, element, origin) = about_of(kind, &header);
    let Header { width, height, maxval, .. } = header;
    let (count, row, wide) = (shape.iter().product(), width.div_ceil(8), maxval > 255);
    let data = match kind {
        1 => Data::from(text.bits(count)?),
        2 | 3 => text.numbers(count, maxval, wide)?,
        4 => unpack(&text.take(row * height)?, row, width).into(),
        _ => {
            let data = read_elements(&mut text.reader, element, true, count, count).map_err(|e| match e {
                Stop::Short(n) => input(format!("the picture cannot be decoded: it is cut short after {n} samples")),
                Stop::Io(e) => unreadable(e),
                Stop::Memory(f) => f,
            })?;
            text.at += needed;
            data
        }
    };
    check_range(&data, &shape, maxval)?;
    let mut notes = Vec::new();
    if kind <= 3 {
        notes.push(format!("its samples are text (P{kind}), and come back as bytes (P{})", kind + 3));
    }
    notes.extend(text.rest()?);
    Ok(Array { notes, ..Array::new(shape, data, origin) })
}

fn unreadable(e: io::Error) -> Failure {
    input(format!("cannot read: {}", crate::output::why(&e)))
}

fn malformed(what: &str) -> Failure {
    input(format!("the picture cannot be decoded: {what}"))
}

/// Converts bits, 1 for black, to samples, 1 for white; rows begin at whole bytes.
fn unpack(bytes: &[u8], row: usize, width: usize) -> Vec<u8> {
    let bits = |row: &[u8]| (0..width).map(|x| !row[x / 8] >> (7 - x % 8) & 1).collect::<Vec<_>>();
    bytes.chunks(row).flat_map(bits).collect()
}

/// Refuses samples above the maxval.
fn check_range(data: &Data, shape: &[usize], maxval: u16) -> Outcome {
    let above = match data {
        Data::U8(v) => v.iter().position(|&x| u16::from(x) > maxval).map(|i| (i, u16::from(v[i]))),
        Data::U16(v) => v.iter().position(|&x| x > maxval).map(|i| (i, v[i])),
        _ => None,
    };
    match above {
        Some((i, value)) => Err(above_maxval(i, value.into(), shape, maxval)),
        None => Ok(()),
    }
}

fn above_maxval(index: usize, value: u64, shape: &[usize], maxval: u16) -> Failure {
    let channels = shape.get(2).copied().unwrap_or(1);
    let (x, y) = (index / channels % shape[1], index / channels / shape[1]);
    let channel = if channels > 1 { format!(", channel {}", index % channels) } else { String::new() };
    input(format!(
        "the picture cannot be decoded: the sample at row {y}, column {x}{channel} is {value}, above the \
         file's maxval of {maxval}"
    ))
    .help("rows and columns count from 0; the header's maxval sets the range")
}

/// Reader of text that counts its bytes.
struct Text<R> {
    reader: R,
    at: u64,
}

impl<R: BufRead> Text<R> {
    fn raw(&mut self) -> Outcome<Option<u8>> {
        let byte = loop {
            match self.reader.fill_buf() {
                Ok(buffer) => break buffer.first().copied(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(unreadable(e)),
            }
        };
        if byte.is_some() {
            self.reader.consume(1);
            self.at += 1;
        }
        Ok(byte)
    }

    /// Next byte of text; a comment counts as the line break at its end.
    fn byte(&mut self) -> Outcome<Option<u8>> {
        match self.raw()? {
            Some(b'#') => loop {
                match self.raw()? {
                    Some(b'\n' | b'\r') => return Ok(Some(b'\n')),
                    Some(_) => {}
                    None => return Ok(None),
                }
            },
            byte => Ok(byte),
        }
    }

    /// Reads a number and the blank after it.
    fn number(&mut self, what: &str) -> Outcome<u64> {
        let mut byte = self.byte()?;
        while byte.is_some_and(|b| b.is_ascii_whitespace()) {
            byte = self.byte()?;
        }
        let mut value: Option<u64> = None;
        loop {
            match byte {
                Some(digit @ b'0'..=b'9') => {
                    let digit = u64::from(digit - b'0');
                    let next = value.unwrap_or(0).checked_mul(10).and_then(|v| v.checked_add(digit));
                    value = Some(next.ok_or_else(|| malformed(&format!("{what} is too large")))?);
                }
                None if value.is_none() => return Err(malformed(&format!("it is cut short before {what}"))),
                Some(b) if !b.is_ascii_whitespace() => {
                    return Err(malformed(&format!("{what} has `{}` in it", char::from(b).escape_default())));
                }
                _ => return value.ok_or_else(|| malformed(&format!("{what} is missing"))),
            }
            byte = self.byte()?;
        }
    }

    fn header(&mut self, kind: u8) -> Outcome<Header> {
        let width = size(self.number("its width")?)?;
        let height = size(self.number("its height")?)?;
        let bits = matches!(kind, 1 | 4);
        let maxval = if bits { 1 } else { maxval(self.number("its maxval")?)? };
        let colour = if matches!(kind, 3 | 6) { Colour::Rgb } else { Colour::Grey };
        Ok(Header { width, height, colour, maxval })
    }

    /// Reads the header lines of a PAM.
    fn pam(&mut self) -> Outcome<Header> {
        let (mut width, mut height, mut depth, mut most, mut kind) = (None, None, None, None, String::new());
        for _ in 0..MAX_LINE {
            let line = self.line()?;
            let (key, value) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
            let number = || value.trim().parse::<u64>().map_err(|_| malformed(&format!("{key} is not a number")));
            match key {
                _ if key.is_empty() || key.starts_with('#') => {}
                "WIDTH" => width = Some(size(number()?)?),
                "HEIGHT" => height = Some(size(number()?)?),
                "DEPTH" => depth = Some(number()?),
                "MAXVAL" => most = Some(maxval(number()?)?),
                // Repeated lines are concatenated.
                "TUPLTYPE" => kind = format!("{kind} {}", value.trim()).trim().to_owned(),
                "ENDHDR" => {
                    let missing = |what: &str| malformed(&format!("its header has no {what}"));
                    let depth = depth.ok_or_else(|| missing("DEPTH"))?;
                    return Ok(Header {
                        width: width.ok_or_else(|| missing("WIDTH"))?,
                        height: height.ok_or_else(|| missing("HEIGHT"))?,
                        maxval: most.ok_or_else(|| missing("MAXVAL"))?,
                        colour: pam_colour(&kind, depth)?,
                    });
                }
                _ => {
                    let key: String = key.chars().take(20).collect();
                    return Err(malformed(&format!("its header has an unknown line `{}`", key.escape_default())));
                }
            }
        }
        Err(malformed("its header has no ENDHDR"))
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = Vec::new();
        loop {
            match self.raw()? {
                Some(b'\n') => return Ok(String::from_utf8_lossy(&line).into_owned()),
                Some(byte) if line.len() < MAX_LINE => line.push(byte),
                Some(_) => return Err(malformed("its header has a line without end")),
                None => return Err(malformed("it is cut short in its header")),
            }
        }
    }

    fn take(&mut self, count: usize) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::with_capacity(count);
        self.reader.by_ref().take(count as u64).read_to_end(&mut bytes).map_err(unreadable)?;
        self.at += bytes.len() as u64;
        if bytes.len() < count {
            return Err(malformed("it is cut short"));
        }
        Ok(bytes)
    }

    /// Reads bits as digits, with or without blanks between them.
    fn bits(&mut self, count: usize) -> Outcome<Vec<u8>> {
        let mut samples = Vec::with_capacity(count);
        while samples.len() < count {
            match self.byte()? {
                Some(digit @ (b'0' | b'1')) => samples.push(b'1' - digit),
                Some(b) if b.is_ascii_whitespace() => {}
                Some(b) => {
                    let shown = char::from(b).escape_default();
                    return Err(malformed(&format!("bit {} is `{shown}`, neither 0 nor 1", samples.len())));
                }
                None => return Err(malformed(&format!("it is cut short after {} bits", samples.len()))),
            }
        }
        Ok(samples)
    }

    /// Reads samples as text.
    fn numbers(&mut self, count: usize, maxval: u16, wide: bool) -> Outcome<Data> {
        let (mut bytes, mut words) = (Vec::new(), Vec::new());
        if wide {
            words.reserve_exact(count)
        } else {
            bytes.reserve_exact(count)
        }
        for index in 0..count {
            let value = self.number(&format!("sample {index}"))?;
            if value > maxval.into() {
                return Err(malformed(&format!("sample {index} is {value}, above the file's maxval of {maxval}")));
            }
            if wide { words.push(value as u16) } else { bytes.push(value as u8) }
        }
        Ok(if wide { words.into() } else { bytes.into() })
    }

    /// Note on bytes after the picture, other than a line break.
    fn rest(&mut self) -> Outcome<Option<String>> {
        let mut start = Vec::new();
        while let Some(byte) = self.byte()? {
            if !start.is_empty() || !byte.is_ascii_whitespace() {
                start.push(byte);
            }
            if start.len() == 3 {
                break;
            }
        }
        Ok(match start.as_slice() {
            [] => None,
            more if is(more) => Some("further pictures in the file are ignored".into()),
            _ => Some("data after the picture in the file is ignored".into()),
        })
    }
}

fn size(value: u64) -> Outcome<usize> {
    u32::try_from(value).map(|v| v as usize).map_err(|_| malformed(&format!("a side of {value} pixels is too large")))
}

fn maxval(value: u64) -> Outcome<u16> {
    match u16::try_from(value) {
        Ok(value @ 1..) => Ok(value),
        _ => Err(malformed(&format!("its maxval is {value}: it must be 1 to 65535"))),
    }
}

fn pam_colour(kind: &str, depth: u64) -> Outcome<Colour> {
    let colour = match (kind, depth) {
        ("BLACKANDWHITE" | "GRAYSCALE" | "", 1) => Colour::Grey,
        ("BLACKANDWHITE_ALPHA" | "GRAYSCALE_ALPHA" | "", 2) => Colour::GreyAlpha,
        ("RGB" | "", 3) => Colour::Rgb,
        ("RGB_ALPHA" | "", 4) => Colour::Rgba,
        _ => {
            let kind: String = kind.chars().take(40).collect();
            return Err(input(format!("is a PAM of TUPLTYPE `{}` and DEPTH {depth}", kind.escape_default()))
                .help("GRAYSCALE and RGB, with _ALPHA or without, of DEPTH 1 to 4 can be read"));
        }
    };
    Ok(colour)
}

/// Encodes a picture as a binary file. The default maxval is the largest value of the element type.
///
/// # Errors
/// If the format does not support the picture.
pub fn encode(kind: Kind, shape: &[usize], colour: Colour, data: Data, maxval: Option<u16>) -> Outcome<Vec<u8>> {
    let largest: u16 = match &data {
        Data::U8(_) => u8::MAX.into(),
        Data::U16(_) => u16::MAX,
        other => {
            let name = other.element().name();
            return Err(input(format!("{name} samples cannot be written as PBM, PGM, PPM or PAM"))
                .help("write an array: -o NAME.npy"));
        }
    };
    let maxval = maxval.unwrap_or(largest);
    if maxval == 0 || maxval > largest || (maxval > 255) != (largest > 255) {
        return Err(input(format!("{} samples of at most {maxval} do not form a picture", shape_text(shape))));
    }
    let (h, w) = (shape[0], shape[1]);
    let alpha = matches!(colour, Colour::GreyAlpha | Colour::Rgba);
    let refuse = |what: &str, help: &str| Err(input(what).help(help));
    let header = match (kind, colour) {
        (Kind::Pbm, Colour::Grey) if maxval == 1 => {
            let white: Vec<u8> = data.native_bytes().iter().map(|b| b ^ 1).collect();
            return Ok([format!("P4\n{w} {h}\n").into_bytes(), pack(&white, w, 1)?].concat());
        }
        (Kind::Pgm, Colour::Grey) => format!("P5\n{w} {h}\n{maxval}\n"),
        (Kind::Ppm, Colour::Rgb) => format!("P6\n{w} {h}\n{maxval}\n"),
        (Kind::Pam, _) => {
            let name = if matches!(colour, Colour::Grey | Colour::GreyAlpha) { "GRAYSCALE" } else { "RGB" };
            let (depth, suffix) = (colour.channels(), if alpha { "_ALPHA" } else { "" });
            format!("P7\nWIDTH {w}\nHEIGHT {h}\nDEPTH {depth}\nMAXVAL {maxval}\nTUPLTYPE {name}{suffix}\nENDHDR\n")
        }
        (Kind::Pbm, _) => return refuse("PBM holds black and white only", "write .pgm, .ppm or .png"),
        _ if alpha => return refuse("PGM and PPM have no alpha channel", "write .pam, .png or .tiff"),
        (Kind::Pgm, _) => return refuse("PGM is grey, but the picture has colours", "write .ppm, .png or .tiff"),
        (Kind::Ppm, _) => return refuse("PPM has three colours, but the picture is grey", "write .pgm, .png or .tiff"),
    };
    let mut file = room(header.len() + data.native_bytes().len())?;
    file.extend(header.into_bytes());
    match data {
        Data::U16(v) => v.iter().for_each(|x| file.extend(x.to_be_bytes())),
        other => file.extend(other.native_bytes()),
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Outcome<Array> {
        read(bytes, bytes.len() as u64)
    }

    fn said(bytes: &[u8]) -> String {
        parse(bytes).unwrap_err().render(false, 500)
    }

    #[test]
    fn every_kind() {
        let cases: [(&[u8], &[usize], Data, u16); 8] = [
            (b"P1\n# a comment\n3 2\n101 0 1 0", &[2, 3], vec![0u8, 1, 0, 1, 0, 1].into(), 1),
            (b"P2 2 2 15 0 15\n7 # seven\n3\n", &[2, 2], vec![0u8, 15, 7, 3].into(), 15),
            (b"P3 1 1 1000 1 22 1000", &[1, 1, 3], vec![1u16, 22, 1000].into(), 1000),
            (
                b"P4\n9 2\n\x80\x80\x01\x00",
                &[2, 9],
                {
                    let mut bits = vec![1u8; 18];
                    [0, 8, 16].iter().for_each(|&i| bits[i] = 0);
                    bits.into()
                },
                1,
            ),
            (b"P5 2 1 100\n\x00\x64", &[1, 2], vec![0u8, 100].into(), 100),
            (b"P5 2 1 4095\n\x0f\xff\x00\x01", &[1, 2], vec![4095u16, 1].into(), 4095),
            (b"P6#c\n1#c\n1 255#c\n\x01\x02\x03", &[1, 1, 3], vec![1u8, 2, 3].into(), 255),
            (
                b"P7\nWIDTH 1\nHEIGHT 1\n# hm\nDEPTH 2\nMAXVAL 300\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x01\x2c\x00\x00",
                &[1, 1, 2],
                vec![300u16, 0].into(),
                300,
            ),
        ];
        for (bytes, shape, data, maxval) in cases {
            let shown = String::from_utf8_lossy(bytes).into_owned();
            let array = parse(bytes).unwrap_or_else(|e| panic!("{shown}: {}", e.render(false, 500)));
            assert_eq!((array.shape.as_slice(), &array.data), (shape, &data), "{shown}");
            assert_eq!(array.origin.maxval(), Some(maxval), "{shown}");
            assert_eq!(array.notes.len(), usize::from((b'1'..=b'3').contains(&bytes[1])), "{shown}: {:?}", array.notes);
            assert!(parse(&bytes[..bytes.len() - 5]).is_err(), "{shown} cut short");
        }
    }

    #[test]
    fn malformed_files_are_refused() {
        for (bytes, expected) in [
            (&b"P5 2 2 100\n\x00\x01\x65\x02"[..], "row 1, column 0 is 101, above the file's maxval of 100"),
            (b"P6 1 1 9 \x00\x01\x0a", "row 0, column 0, channel 2 is 10"),
            (b"P2 2 1 9 1 10", "sample 1 is 10"),
            (b"P2 2 1 9 1 x", "sample 1 has `x` in it"),
            (b"P1 2 1 12", "bit 1 is `2`"),
            (b"P5 0 4 255\n", "no pixels: 0 × 4"),
            (b"P5 4 4 0\n", "its maxval is 0"),
            (b"P5 4 4 65536\n", "its maxval is 65536"),
            (b"P5 -4 4 255\n", "its width has `-` in it"),
            (b"P5 4", "cut short before its height"),
            (b"P5 99999999999999999999 1 255\n", "too large"),
            (b"P5 4294967295 4294967295 255\n", "more than any machine"),
            (b"P5 100000 100000 255\nabc", "take 10000000000 bytes, and 3 follow the header"),
            (b"P7\nWIDTH 1\nENDHDR\n", "no DEPTH"),
            (b"P7\nDEPTH 5\nWIDTH 1\nHEIGHT 1\nMAXVAL 1\nTUPLTYPE SPECTRUM\nENDHDR\n", "`SPECTRUM` and DEPTH 5"),
            (b"P7\nCOLOUR 5\n", "an unknown line `COLOUR`"),
        ] {
            let said = said(bytes);
            assert!(said.contains(expected), "`{expected}` is not in {said}");
        }
        assert_eq!(parse(b"P5 1 1 9 \x01\nP5 1 1 9 \x02").unwrap().notes, ["further pictures in the file are ignored"]);
        assert_eq!(parse(b"P5 1 1 9 \x01\nand").unwrap().notes.len(), 1);
        assert_eq!(parse(b"P5 1 1 9 \x01\n").unwrap().notes.len(), 0);
    }
}
