//! Samples in owned memory or in a mapped file.

use bytemuck::Pod;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// Samples of one type, owned or mapped.
///
/// A mapped file must not change while it is mapped. Writes by other programs show through, and reads beyond the end of
/// a truncated file end the program. Replacing the file under its name is safe.
#[derive(Clone)]
pub struct Samples<T>(Place<T>);

#[derive(Clone)]
enum Place<T> {
    Owned(Vec<T>),
    /// Mapped file, and the offset of the first sample in bytes.
    Mapped(Arc<memmap2::Mmap>, usize),
}

impl<T: Pod> Samples<T> {
    /// Maps `count` samples of a file from byte `start`, in this machine's byte order. `None` if the file is too short
    /// or the samples are unaligned.
    ///
    /// # Errors
    /// If the system cannot map the file.
    pub fn map(file: &File, start: usize, count: usize) -> io::Result<Option<Samples<T>>> {
        let Some(end) = count.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(start)) else {
            return Ok(None);
        };
        // SAFETY: the file is open for reading only, and nothing in this program writes to it: outputs are new files
        // that replace it by name. Users must ensure that no other program writes to it, as for all programs that map
        // files.
        let map = unsafe { memmap2::MmapOptions::new().len(end).map(file)? };
        let whole = map.get(start..end).is_some_and(|bytes| bytemuck::try_cast_slice::<u8, T>(bytes).is_ok());
        Ok(whole.then(|| Samples(Place::Mapped(Arc::new(map), start))))
    }

    /// Owned samples; mapped ones are copied.
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Place::Owned(samples) => samples,
            Place::Mapped(..) => self.to_vec(),
        }
    }

    /// Mutable samples; mapped ones are copied first.
    pub fn owned(&mut self) -> &mut Vec<T> {
        if let Place::Mapped(..) = self.0 {
            self.0 = Place::Owned(self.to_vec());
        }
        match &mut self.0 {
            Place::Owned(samples) => samples,
            Place::Mapped(..) => unreachable!("they have just become owned"),
        }
    }

    /// Whether the samples are in a mapped file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, Place::Mapped(..))
    }
}

impl<T: Pod> Deref for Samples<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Owned(samples) => samples,
            Place::Mapped(map, start) => bytemuck::cast_slice(&map[*start..]),
        }
    }
}

impl<T> From<Vec<T>> for Samples<T> {
    fn from(samples: Vec<T>) -> Samples<T> {
        Samples(Place::Owned(samples))
    }
}

impl<T: Pod + PartialEq> PartialEq for Samples<T> {
    fn eq(&self, other: &Samples<T>) -> bool {
        **self == **other
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Samples<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_samples_are_those_of_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..100).collect();
        io::Write::write_all(&mut file, &bytes).unwrap();
        let samples = Samples::<u16>::map(&file, 4, 48).unwrap().unwrap();
        assert!(samples.is_mapped());
        let expected: Vec<u16> = bytes[4..].chunks(2).map(|b| u16::from_ne_bytes([b[0], b[1]])).collect();
        assert_eq!(&samples[..], expected);
        assert_eq!(samples.clone().into_vec(), expected);
        assert_eq!(samples, Samples::from(expected));
        assert!(Samples::<u16>::map(&file, 5, 4).unwrap().is_none(), "not aligned");
        assert!(Samples::<u64>::map(&file, 8, usize::MAX).unwrap().is_none(), "more than there can be");
    }
}
