//! numpy's `.npy` format: versions 1 to 3, both byte orders, C and Fortran order.
//!
//! Headers are untrusted: allocations never rely on them alone.

use super::{Array, Data, Element, MAX_AXES, MAX_UNPACKED, Origin, Samples, room, rows, shape_text, with_elements};
use crate::failure::{Failure, Outcome, input};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};

/// Signature of a `.npy`.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Longest header that is read, in bytes. numpy's own limit is 10 000.
const MAX_HEADER: usize = 1 << 16;

/// Least size in bytes for mapping a file. Smaller files are read as fast, and are then safe from changes.
const MAPPED: u64 = 16 << 20;

/// Contents of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    element: Element,
    big_endian: bool,
    fortran_order: bool,
    shape: Vec<usize>,
}

/// Reads an array from a file of `bytes` bytes. A large file is mapped if its layout matches memory.
pub fn open(file: File, bytes: u64) -> Outcome<Array> {
    let mut reader = BufReader::new(file);
    let (header, start) = read_header(&mut reader)?;
    let count = check_size(&header, start, Some(bytes))?;
    let native = header.element.bytes() == 1 || header.big_endian == cfg!(target_endian = "big");
    // numpy marks some arrays as Fortran order that are the same in both orders.
    let rows = !header.fortran_order || header.shape.iter().filter(|&&n| n > 1).count() <= 1;
    if bytes >= MAPPED && native && rows {
        macro_rules! map {
            ($($variant:ident $t:ty, $code:literal;)*) => {
                match header.element {
                    $(Element::$variant => {
                        Samples::<$t>::map(reader.get_ref(), start as usize, count).map(|s| s.map(Data::$variant))
                    })*
                }
            };
        }
        // A file that cannot be mapped can still be read.
        if let Ok(Some(data)) = with_elements!(map) {
            return Ok(array(header, data));
        }
    }
    read_data(&mut reader, header, count, true)
}

/// Array without its data, which follows in the reader, and whether that is big-endian; `None` if it is not one of
/// pictures row by row.
///
/// # Errors
/// If the header cannot be read, or the file is too short.
pub fn about(reader: &mut dyn Read, bytes: u64) -> Outcome<Option<(Array, bool)>> {
    let (header, start) = read_header(reader)?;
    check_size(&header, start, Some(bytes))?;
    let Header { element, big_endian, fortran_order, shape } = header;
    if fortran_order || !rows::is_narrow(element) || !matches!(shape.len(), 2 | 3) {
        return Ok(None);
    }
    Ok(Some((rows::about(shape, element, Origin::Array { element, member: None }), big_endian)))
}

/// Offset of the end of an array's data, in a file of `bytes` bytes.
///
/// # Errors
/// If the header cannot be read, or the file is too short.
pub fn end(reader: &mut dyn Read, bytes: u64) -> Outcome<u64> {
    let (header, start) = read_header(reader)?;
    let count = check_size(&header, start, Some(bytes))?;
    Ok(start + count as u64 * header.element.bytes() as u64)
}

/// Reads an array. `available` is the size of the whole file, if known.
pub fn read(reader: &mut dyn Read, available: Option<u64>) -> Outcome<Array> {
    let (header, start) = read_header(reader)?;
    let count = check_size(&header, start, available)?;
    read_data(reader, header, count, available.is_some())
}

/// Number of elements, if the file can hold as many after a header of `start` bytes.
fn check_size(header: &Header, start: u64, available: Option<u64>) -> Outcome<usize> {
    let Header { element, shape, .. } = header;
    let count = shape.iter().try_fold(1u64, |n, &axis| n.checked_mul(axis as u64));
    let bytes = count.and_then(|n| n.checked_mul(element.bytes() as u64)).filter(|&b| b <= isize::MAX as u64);
    let Some((count, bytes)) = count.zip(bytes) else {
        return Err(input(format!("shape {shape:?} has more elements than any machine can hold")));
    };
    match available {
        Some(size) if size - start.min(size) < bytes => {
            Err(truncated(shape, count, (size - start.min(size)) / element.bytes() as u64))
        }
        None if bytes > MAX_UNPACKED => {
            let name = element.name();
            Err(input(format!("{} of {name} are more than {} GiB", shape_text(shape), MAX_UNPACKED >> 30)))
        }
        _ => Ok(count as usize),
    }
}

/// Reads the data. Memory for a size confirmed by the file system is reserved at once; otherwise it grows with the
/// data.
fn read_data(reader: &mut dyn Read, header: Header, count: usize, vouched: bool) -> Outcome<Array> {
    let reserve = if vouched { count } else { 0 };
    let mut data = read_elements(reader, header.element, header.big_endian, count, reserve).map_err(|e| match e {
        Stop::Short(there) => truncated(&header.shape, count as u64, there as u64),
        Stop::Io(e) => unreadable(&e),
        Stop::Memory(f) => f,
    })?;
    if header.fortran_order {
        data = to_row_major(data, &header.shape);
    }
    Ok(array(header, data))
}

fn array(header: Header, data: Data) -> Array {
    let origin = Origin::Array { element: header.element, member: None };
    Array::new(header.shape, data, origin)
}

fn truncated(shape: &[usize], expected: u64, there: u64) -> Failure {
    input(format!("is cut short: shape {shape:?} has {expected} elements, but the file holds {there}"))
}

/// System error, or corrupted compressed data.
fn unreadable(error: &io::Error) -> Failure {
    match error.raw_os_error() {
        Some(_) => input(format!("cannot read: {}", crate::output::why(error))),
        None => input("is corrupted: its compressed data cannot be unpacked"),
    }
}

/// Reason that elements could not be read.
pub(super) enum Stop {
    /// Number of elements present.
    Short(usize),
    /// System error.
    Io(io::Error),
    /// Memory that is not there.
    Memory(Failure),
}

/// Reads `count` elements, with memory reserved for the first `reserve`.
pub(super) fn read_elements(
    r: &mut dyn Read,
    element: Element,
    big: bool,
    count: usize,
    reserve: usize,
) -> Result<Data, Stop> {
    macro_rules! read {
        ($($variant:ident $t:ty, $code:literal;)*) => {
            match element {
                $(Element::$variant => {
                    const SIZE: usize = size_of::<$t>();
                    let mut out: Vec<$t> = room(reserve).map_err(Stop::Memory)?;
                    let mut buffer = vec![0u8; (1 << 16) * SIZE];
                    while out.len() < count {
                        let want = (count - out.len()).min(1 << 16) * SIZE;
                        let got = fill(r, &mut buffer[..want]).map_err(Stop::Io)?;
                        let (whole, _) = buffer[..got].as_chunks::<SIZE>();
                        if big {
                            out.extend(whole.iter().map(|b| <$t>::from_be_bytes(*b)));
                        } else {
                            out.extend(whole.iter().map(|b| <$t>::from_le_bytes(*b)));
                        }
                        if got < want {
                            return Err(Stop::Short(out.len()));
                        }
                    }
                    Ok(out.into())
                })*
            }
        };
    }
    with_elements!(read)
}

/// Reads until the buffer is full or the file ends.
fn fill(r: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match r.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// Transposes from Fortran order to C order.
fn to_row_major(data: Data, shape: &[usize]) -> Data {
    fn permute<T: Copy>(from: &[T], shape: &[usize]) -> Vec<T> {
        let mut strides = vec![1; shape.len()];
        for axis in 1..shape.len() {
            strides[axis] = strides[axis - 1] * shape[axis - 1];
        }
        let mut index = vec![0; shape.len()];
        let mut at = 0;
        let mut out = Vec::with_capacity(from.len());
        while out.len() < from.len() {
            out.push(from[at]);
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                at += strides[axis];
                if index[axis] < shape[axis] {
                    break;
                }
                at -= index[axis] * strides[axis];
                index[axis] = 0;
            }
        }
        out
    }
    macro_rules! permute_all {
        ($($variant:ident $t:ty, $code:literal;)*) => {
            match data {
                $(Data::$variant(v) => permute(&v, shape).into(),)*
            }
        };
    }
    with_elements!(permute_all)
}

/// Reads the header, and returns it with the offset of the data.
fn read_header(r: &mut dyn Read) -> Outcome<(Header, u64)> {
    let mut take = |n: usize| -> Outcome<Vec<u8>> {
        let mut bytes = vec![0; n];
        match fill(r, &mut bytes) {
            Ok(got) if got == n => Ok(bytes),
            Ok(_) => Err(input("is not a .npy file: its header is cut short")),
            Err(e) => Err(unreadable(&e)),
        }
    };
    let start = take(8)?;
    if start[..6] != *MAGIC {
        return Err(input("is not a .npy file: it does not start with \\x93NUMPY"));
    }
    let (length, prefix) = match start[6] {
        1 => (usize::from(u16::from_le_bytes(take(2)?.try_into().unwrap_or_default())), 10),
        2 | 3 => (u32::from_le_bytes(take(4)?.try_into().unwrap_or_default()) as usize, 12),
        other => return Err(input(format!("is a .npy file of version {other}: only 1, 2 and 3 are known"))),
    };
    if length > MAX_HEADER {
        return Err(input(format!("its header claims {length} bytes: more than {MAX_HEADER} are not read")));
    }
    let text = String::from_utf8(take(length)?).map_err(|_| input("its header is not text"))?;
    let header = parse_header(&text)?;
    Ok((header, (prefix + length) as u64))
}

/// Python literal, as used in headers.
#[derive(Clone, Debug, PartialEq)]
enum Literal {
    Text(String),
    Bool(bool),
    Number(u64),
    List(Vec<Literal>),
    Dict(Vec<(String, Literal)>),
}

fn parse_header(text: &str) -> Outcome<Header> {
    let malformed = |what: &str| input(format!("its header is malformed: {what}"));
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    let literal = parser.literal().ok_or_else(|| malformed("it is not a Python dictionary"))?;
    let Literal::Dict(entries) = literal else { return Err(malformed("it is not a Python dictionary")) };
    if !parser.rest.trim().is_empty() {
        return Err(malformed("something follows the dictionary"));
    }
    let get = |key: &str| entries.iter().find(|(k, _)| k == key).map(|(_, v)| v);
    let element = match get("descr").ok_or_else(|| malformed("no `descr`"))? {
        Literal::Text(code) => code,
        Literal::List(_) => {
            return Err(input("has structured elements (records)").help("save one field: np.save(path, a['field'])"));
        }
        _ => return Err(malformed("`descr` is not a string")),
    };
    let (order, code) = element.split_at_checked(1).ok_or_else(|| malformed("`descr` is empty"))?;
    let known = matches!(order, "<" | ">" | "|" | "=");
    let Some(element) = Element::from_code(code).filter(|_| known) else {
        return Err(unknown_element(element, code));
    };
    let Some(Literal::Bool(fortran_order)) = get("fortran_order") else {
        return Err(malformed("`fortran_order` is not True or False"));
    };
    let Some(Literal::List(lengths)) = get("shape") else { return Err(malformed("`shape` is not a tuple")) };
    let mut shape = Vec::new();
    for length in lengths {
        match length {
            Literal::Number(n) if usize::try_from(*n).is_ok() => shape.push(*n as usize),
            _ => return Err(malformed("`shape` has an entry that is not a length")),
        }
    }
    if shape.is_empty() || shape.len() > MAX_AXES {
        let help = match shape.len() {
            0 => "it is a single number, which cannot be transformed",
            _ => "reshape it: axes that are not transformed can be merged into one",
        };
        return Err(
            input(format!("has {} axes: arrays of 1 to {MAX_AXES} axes can be transformed", shape.len())).help(help)
        );
    }
    if let Some(axis) = shape.iter().position(|&n| n == 0) {
        return Err(input(format!("has no elements: axis {axis} of shape {shape:?} is empty")));
    }
    // On big-endian machines, numpy's `=` would mean the other order; files use `<` or `>`.
    let native_big = cfg!(target_endian = "big") && order == "=";
    Ok(Header { element, big_endian: order == ">" || native_big, fortran_order: *fortran_order, shape })
}

/// Error for an unsupported element type, with a way to convert it.
fn unknown_element(descr: &str, code: &str) -> Failure {
    let (what, help) = match code.split_at_checked(1) {
        Some(("c", _)) => (
            ": complex numbers",
            "store real and imaginary parts along a last axis, without loss: \
             np.save(path, np.stack([a.real, a.imag], -1)); \
             then transform the others, with --axes",
        ),
        Some(("b", "1")) => (
            ": truth values",
            "store 0 and 1, without loss: np.save(path, a.astype(np.uint8)), and back with .astype(bool)",
        ),
        Some(("u", "8")) => (
            "",
            "without loss below 2^63: np.save(path, a.astype(np.int64)); above, float64 keeps the first 53 bits: \
             np.save(path, a.astype(np.float64))",
        ),
        Some(("f", _)) => (
            ": longer than 64 bits",
            "float64 keeps 53 bits, and values above 1e308 become infinite: np.save(path, a.astype(np.float64))",
        ),
        Some(("M" | "m", _)) => {
            (": times", "counts of their unit, without loss: np.save(path, a.astype(np.int64)); NaT becomes -2^63")
        }
        Some(("O", _)) => {
            (": Python objects", "if they are all numbers, float64 keeps 53 bits: np.save(path, a.astype(np.float64))")
        }
        Some(("U" | "S" | "a", _)) => (": text", "if it is all numbers: np.save(path, a.astype(np.float64))"),
        Some(("V", "2")) => {
            (": raw bytes, perhaps bfloat16", "without loss if they are: np.save(path, a.astype(np.float32))")
        }
        _ => ("", "convert it: np.save(path, a.astype(np.float32)) keeps 24 bits, np.float64 keeps 53"),
    };
    let names = "uint8/16/32, int8/16/32/64 and float16/32/64";
    input(format!("has elements of type `{descr}`{what}; {names} can be read")).help(help)
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn literal(&mut self) -> Option<Literal> {
        if self.depth > 8 {
            return None;
        }
        self.depth += 1;
        let result = self.literal_inner();
        self.depth -= 1;
        result
    }

    fn literal_inner(&mut self) -> Option<Literal> {
        if self.eat("True") {
            return Some(Literal::Bool(true));
        }
        if self.eat("False") {
            return Some(Literal::Bool(false));
        }
        for (open, close) in [("(", ")"), ("[", "]")] {
            if self.eat(open) {
                return self.items(close, |p| p.literal()).map(Literal::List);
            }
        }
        if self.eat("{") {
            let entry = |p: &mut Self| {
                let Literal::Text(key) = p.literal()? else { return None };
                p.eat(":").then_some(())?;
                Some((key, p.literal()?))
            };
            return self.items("}", entry).map(Literal::Dict);
        }
        for quote in ["'", "\""] {
            if self.eat(quote) {
                let (text, rest) = self.rest.split_once(quote)?;
                self.rest = rest;
                return Some(Literal::Text(text.to_owned()));
            }
        }
        self.rest = self.rest.trim_start();
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        // Suffix of long integers in Python 2.
        self.eat("L");
        Some(Literal::Number(number))
    }

    fn items<V>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Option<V>) -> Option<Vec<V>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(",") {
                self.eat(close).then_some(())?;
                break;
            }
        }
        Some(items)
    }
}

/// Writes an array: version 1, little-endian, C order.
pub fn write(w: &mut dyn Write, shape: &[usize], data: &Data) -> io::Result<()> {
    let lengths: String = shape.iter().map(|n| format!("{n}, ")).collect();
    // (5,) but (5, 7)
    let lengths = if shape.len() == 1 { lengths.trim_end() } else { lengths.trim_end().trim_end_matches(',') };
    let element = data.element();
    let order = if element.bytes() == 1 { '|' } else { '<' };
    let mut header =
        format!("{{'descr': '{order}{}', 'fortran_order': False, 'shape': ({lengths}), }}", element.code());
    // The data starts at a multiple of 64 bytes, after a line break.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    w.write_all(MAGIC)?;
    w.write_all(&[1, 0])?;
    w.write_all(&(header.len() as u16).to_le_bytes())?;
    w.write_all(header.as_bytes())?;
    macro_rules! write_all {
        ($($variant:ident $t:ty, $code:literal;)*) => {
            match data {
                $(Data::$variant(v) => {
                    let mut buffer = Vec::with_capacity((1 << 14) * size_of::<$t>());
                    for chunk in v.chunks(1 << 14) {
                        buffer.clear();
                        chunk.iter().for_each(|x| buffer.extend(x.to_le_bytes()));
                        w.write_all(&buffer)?;
                    }
                })*
            }
        };
    }
    with_elements!(write_all);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Outcome<Header> {
        parse_header(text)
    }

    fn message(outcome: Outcome<impl std::fmt::Debug>) -> String {
        outcome.unwrap_err().render(false, 200)
    }

    #[test]
    fn arrays_round_trip() {
        let data: Data = vec![-3i16, 0, 7, i16::MAX, i16::MIN, 1].into();
        for shape in [vec![6], vec![2, 3], vec![1, 2, 3, 1]] {
            let mut bytes = Vec::new();
            write(&mut bytes, &shape, &data).unwrap();
            assert_eq!((bytes.len() - 12) % 64, 0);
            for available in [None, Some(bytes.len() as u64)] {
                let array = read(&mut bytes.as_slice(), available).unwrap();
                assert_eq!((array.shape.clone(), array.data.clone()), (shape.clone(), data.clone()));
            }
            let cut = read(&mut &bytes[..bytes.len() - 1], None);
            assert!(message(cut).contains("has 6 elements, but the file holds 5"));
        }
    }

    #[test]
    fn fortran_order_and_big_endian() {
        // np.asfortranarray([[1, 2, 3], [4, 5, 6]], dtype='>u2')
        let mut bytes = MAGIC.to_vec();
        let text = "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3), }";
        bytes.extend([2, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        [1u16, 4, 2, 5, 3, 6].iter().for_each(|x| bytes.extend(x.to_be_bytes()));
        let array = read(&mut bytes.as_slice(), None).unwrap();
        assert_eq!(array.shape, [2, 3]);
        assert_eq!(array.data, vec![1u16, 2, 3, 4, 5, 6].into());
    }

    #[test]
    fn headers() {
        let ok = header("{'descr': '<f4', 'fortran_order': False, 'shape': (5L,), }").unwrap();
        assert_eq!((ok.shape, ok.element), (vec![5], Element::F32));
        for (text, expected) in [
            ("", "not a Python dictionary"),
            ("{'descr': '<f4'", "not a Python dictionary"),
            ("{'descr': '<f4', 'shape': (1,)}", "`fortran_order`"),
            ("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "`<c8`"),
            ("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "`|O`"),
            ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "structured"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "0 axes"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "9 axes"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (3,0)}", "axis 1"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", "Python"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "Python"),
            (&"(".repeat(100_000), "Python"),
        ] {
            let shown = message(header(text));
            assert!(shown.contains(expected), "{text:.60}: {shown}");
        }
    }

    #[test]
    fn false_sizes_are_refused() {
        for shape in ["(4294967296, 4294967296)", "(1000000000000,)"] {
            let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
            let mut bytes = MAGIC.to_vec();
            bytes.extend([1, 0]);
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text.as_bytes());
            assert!(read(&mut bytes.as_slice(), None).is_err());
            assert!(read(&mut bytes.as_slice(), Some(bytes.len() as u64)).is_err());
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend([2, 0, 255, 255, 255, 255]);
        assert!(message(read(&mut bytes.as_slice(), None)).contains("claims 4294967295 bytes"));
    }
}
