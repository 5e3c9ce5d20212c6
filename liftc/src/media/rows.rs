//! Pictures read and written row by row, for those that memory cannot hold: netpbm, `.npy`, and the first page of TIFF.

use super::{Array, Colour, Data, Element, Origin, npy, pnm, tiff};
use crate::failure::{Failure, Outcome, input};
use crate::output::why;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// Source of the samples of the next rows, at least one, or of none after the last one.
pub type NextRows = Box<dyn FnMut() -> Outcome<Vec<i32>>>;

/// Picture whose samples are read by rows.
pub struct Rows {
    /// Shape, origin, metadata and remarks, with data that is empty but has the type of the samples.
    pub about: Array,
    /// The samples.
    pub next: NextRows,
}

/// Most bytes that are read at once, unless a row has more.
const AT_ONCE: usize = 4 << 20;

/// Opens a picture by rows; `None` if its format cannot be read so.
///
/// # Errors
/// If it cannot be read.
pub fn open(path: &Path) -> Outcome<Option<Rows>> {
    let unreadable = |e: std::io::Error| input(format!("cannot read: {}", why(&e)));
    let mut file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let magic = super::magic(&mut file)?;
    file.rewind().map_err(unreadable)?;
    let mut reader = BufReader::new(file);
    if magic.starts_with(npy::MAGIC) {
        return Ok(npy::about(&mut reader, bytes)?.map(|(about, big)| of_bytes(about, big, reader)));
    }
    if pnm::is(&magic) {
        return Ok(pnm::about(&mut reader, bytes)?.map(|about| of_bytes(about, true, reader)));
    }
    if tiff::is(&magic) { tiff::rows(reader, bytes) } else { Ok(None) }
}

/// Shape, type and origin of a picture that is read by rows.
pub fn about(shape: Vec<usize>, element: Element, origin: Origin) -> Array {
    let data: Data = match element {
        Element::I8 => Vec::<i8>::new().into(),
        Element::U16 => Vec::<u16>::new().into(),
        Element::I16 => Vec::<i16>::new().into(),
        _ => Vec::<u8>::new().into(),
    };
    Array::new(shape, data, origin)
}

/// Whether samples of a type can be read by rows.
pub fn is_narrow(element: Element) -> bool {
    matches!(element, Element::U8 | Element::I8 | Element::U16 | Element::I16)
}

/// Rows of samples that follow each other in a file.
fn of_bytes(about: Array, big_endian: bool, mut reader: impl Read + 'static) -> Rows {
    let element = about.data.element();
    let row: usize = about.shape[1..].iter().product::<usize>() * element.bytes();
    let (mut left, most, white) = (about.shape[0], (AT_ONCE / row).max(1), about.origin.maxval());
    let next = move || {
        let rows = left.min(most);
        left -= rows;
        let mut bytes: Vec<u8> = super::zeros(rows * row)?;
        reader.read_exact(&mut bytes).map_err(|e| input(format!("cannot read: {}", why(&e))))?;
        let samples = widened(&bytes, element, big_endian);
        match white.filter(|&white| samples.iter().any(|&sample| sample > white.into())) {
            Some(white) => Err(input(format!("a sample is above the file's maxval of {white}"))),
            None => Ok(samples),
        }
    };
    Rows { about, next: Box::new(next) }
}

/// Samples from their bytes.
fn widened(bytes: &[u8], element: Element, big_endian: bool) -> Vec<i32> {
    let words = || bytes.as_chunks::<2>().0.iter();
    match (element, big_endian) {
        (Element::I8, _) => bytes.iter().map(|&b| i32::from(b as i8)).collect(),
        (Element::U16, true) => words().map(|w| u16::from_be_bytes(*w).into()).collect(),
        (Element::U16, false) => words().map(|w| u16::from_le_bytes(*w).into()).collect(),
        (Element::I16, true) => words().map(|w| i16::from_be_bytes(*w).into()).collect(),
        (Element::I16, false) => words().map(|w| i16::from_le_bytes(*w).into()).collect(),
        _ => bytes.iter().map(|&b| b.into()).collect(),
    }
}

/// File format of a picture that is written by rows.
#[derive(Clone, Copy, Debug)]
pub enum RowFormat {
    /// `.npy`
    Npy,
    /// One of netpbm's.
    Pnm(pnm::Kind),
}

impl RowFormat {
    /// Beginning of a file.
    ///
    /// # Errors
    /// If the format does not support the samples or colours.
    pub fn head(self, shape: &[usize], empty: Data, maxval: Option<u16>, colour: Option<Colour>) -> Outcome<Vec<u8>> {
        let mut head = Vec::new();
        match (self, colour) {
            (RowFormat::Npy, _) => npy::write(&mut head, shape, &empty).map_err(|e| input(why(&e)))?,
            (RowFormat::Pnm(kind), Some(colour)) => head = pnm::encode(kind, shape, colour, empty, maxval)?,
            (RowFormat::Pnm(_), None) => return Err(colours(shape)),
        }
        Ok(head)
    }

    /// Bytes of samples.
    pub fn bytes(self, data: &Data) -> Vec<u8> {
        match (self, data) {
            (RowFormat::Pnm(_), Data::U16(samples)) => samples.iter().flat_map(|s| s.to_be_bytes()).collect(),
            (_, Data::U16(samples)) => samples.iter().flat_map(|s| s.to_le_bytes()).collect(),
            (_, Data::I16(samples)) => samples.iter().flat_map(|s| s.to_le_bytes()).collect(),
            _ => data.native_bytes().to_vec(),
        }
    }
}

/// Error for components that picture formats do not support.
pub fn colours(shape: &[usize]) -> Failure {
    let components = shape.last().copied().unwrap_or(1);
    input(format!("has {components} components, which picture formats do not support"))
        .help("write an array: -o NAME.npy")
}
