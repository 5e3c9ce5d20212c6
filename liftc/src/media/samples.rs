//! Samples in memory of their own, or in a file that is mapped into it.

use bytemuck::Pod;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// Samples of one type, in memory of their own or mapped.
///
/// A mapped file must keep its contents as long as it is mapped: what another program writes into it shows through, and
/// if it becomes shorter, the system ends whoever reads beyond its end. Replacing it by another file of its name is
/// fine.
#[derive(Clone)]
pub struct Samples<T>(Place<T>);

#[derive(Clone)]
enum Place<T> {
    Owned(Vec<T>),
    /// So many bytes of the file are before the first sample.
    Mapped(Arc<memmap2::Mmap>, usize),
}

impl<T: Pod> Samples<T> {
    /// `count` samples of a file that begin `start` bytes into it, in this machine's byte order. `None` if they are not
    /// all there, or not aligned.
    ///
    /// # Errors
    /// If the system does not map the file.
    pub fn map(file: &File, start: usize, count: usize) -> io::Result<Option<Samples<T>>> {
        let Some(end) = count.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(start)) else {
            return Ok(None);
        };
        // SAFETY: the file is opened for reading and nothing in this program writes to it: outputs are other files,
        // which then take their names. That no other program does is asked of users, as every program that maps files
        // does.
        let map = unsafe { memmap2::MmapOptions::new().len(end).map(file)? };
        let whole = map.get(start..end).is_some_and(|bytes| bytemuck::try_cast_slice::<u8, T>(bytes).is_ok());
        Ok(whole.then(|| Samples(Place::Mapped(Arc::new(map), start))))
    }

    /// In memory of their own: copied if they were mapped.
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Place::Owned(samples) => samples,
            Place::Mapped(..) => self.to_vec(),
        }
    }

    /// Memory of their own, to be changed: a copy if they were mapped.
    pub fn owned(&mut self) -> &mut Vec<T> {
        if let Place::Mapped(..) = self.0 {
            self.0 = Place::Owned(self.to_vec());
        }
        match &mut self.0 {
            Place::Owned(samples) => samples,
            Place::Mapped(..) => unreachable!("they have just become owned"),
        }
    }

    /// Whether they are in a file that is mapped.
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
