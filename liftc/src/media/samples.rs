//! Samples in owned memory or in a mapped file.

use super::room;
use crate::failure::Outcome;
use bytemuck::Pod;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// Length of a part of mapped samples in bytes.
const PART: usize = 1 << 20;

/// Length of a part of owned samples in bytes, freed at once.
const OWNED_PART: usize = 4 << 20;

/// Samples of one type, owned or mapped.
///
/// A mapped file must not change while it is mapped. Writes by other programs show through, and reads beyond the end of
/// a truncated file end the program. Replacing the file under its name is safe.
#[derive(Clone)]
pub struct Samples<T>(Storage<T>);

#[derive(Clone)]
enum Storage<T> {
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
        Ok(whole.then(|| Samples(Storage::Mapped(Arc::new(map), start))))
    }

    /// Owned samples; mapped ones are copied.
    ///
    /// # Errors
    /// If memory is short.
    pub fn into_vec(self) -> Outcome<Vec<T>> {
        match self.0 {
            Storage::Owned(samples) => Ok(samples),
            Storage::Mapped(..) => {
                let mut copy = room(self.len())?;
                self.parts().for_each(|part| copy.extend_from_slice(part));
                Ok(copy)
            }
        }
    }

    /// Calls `each` with all parts of the samples and the index of each part's first sample, in any order. The memory
    /// of a part is freed before the next one is asked for.
    ///
    /// # Errors
    /// The first error of `each`.
    pub fn consume(self, mut each: impl FnMut(usize, &[T]) -> Outcome) -> Outcome {
        match self.0 {
            // Allocators shorten a vector in place, so parts are taken from its end.
            Storage::Owned(mut samples) => {
                let length = (OWNED_PART / size_of::<T>()).max(1);
                while !samples.is_empty() {
                    let start = (samples.len() - 1) / length * length;
                    each(start, &samples[start..])?;
                    samples.truncate(start);
                    samples.shrink_to_fit();
                }
                Ok(())
            }
            Storage::Mapped(..) => {
                let mut start = 0;
                self.parts().try_for_each(|part| {
                    each(start, part)?;
                    start += part.len();
                    Ok(())
                })
            }
        }
    }

    /// Consecutive parts of the samples. Parts of a mapped file leave memory once the next one is asked for.
    pub fn parts(&self) -> impl Iterator<Item = &[T]> {
        let each = (PART / size_of::<T>()).max(1);
        self.chunks(each).enumerate().map(move |(index, part)| {
            if index > 0 {
                self.release((index - 1) * each, each);
            }
            part
        })
    }

    /// Takes samples of a mapped file out of memory; later reads load them again.
    fn release(&self, start: usize, count: usize) {
        #[cfg(unix)]
        if let Storage::Mapped(map, first) = &self.0 {
            let (start, bytes) = (first + start * size_of::<T>(), count * size_of::<T>());
            // SAFETY: pages of a file that is mapped for reading only keep their contents.
            let done = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, bytes) };
            // The advice saves memory only.
            let _ = done;
        }
        #[cfg(not(unix))]
        let _ = (start, count);
    }

    /// Mutable samples; mapped ones are copied first.
    pub fn owned(&mut self) -> &mut Vec<T> {
        if let Storage::Mapped(..) = self.0 {
            self.0 = Storage::Owned(self.to_vec());
        }
        match &mut self.0 {
            Storage::Owned(samples) => samples,
            Storage::Mapped(..) => unreachable!("they have just become owned"),
        }
    }

    /// Whether the samples are in a mapped file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, Storage::Mapped(..))
    }
}

impl<T: Pod> Deref for Samples<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Storage::Owned(samples) => samples,
            Storage::Mapped(map, start) => bytemuck::cast_slice(&map[*start..]),
        }
    }
}

impl<T> From<Vec<T>> for Samples<T> {
    fn from(samples: Vec<T>) -> Samples<T> {
        Samples(Storage::Owned(samples))
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
        assert_eq!(samples.clone().into_vec().unwrap(), expected);
        assert_eq!(&samples[..], expected, "released pages are loaded again");
        assert_eq!(samples, Samples::from(expected));
        assert!(Samples::<u16>::map(&file, 5, 4).unwrap().is_none(), "not aligned");
        assert!(Samples::<u64>::map(&file, 8, usize::MAX).unwrap().is_none(), "more than there can be");
    }

    #[test]
    fn parts_are_all_samples() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..PART * 5 / 2).map(|i| (i % 251) as u8).collect();
        io::Write::write_all(&mut file, &bytes).unwrap();
        let samples = Samples::<u16>::map(&file, 64, (bytes.len() - 64) / 2).unwrap().unwrap();
        for _ in 0..2 {
            let found: Vec<u8> = samples.parts().flat_map(bytemuck::cast_slice::<u16, u8>).copied().collect();
            assert!(found == bytes[64..]);
        }
        assert_eq!(samples.parts().count(), 3);
        let owned = samples.clone().into_vec().unwrap();
        assert!(bytemuck::cast_slice::<u16, u8>(&owned) == &bytes[64..]);
        for (samples, count) in [(samples, 3), (owned.repeat(20).into(), 13)] {
            let whole = samples.to_vec();
            let (mut found, mut parts) = (vec![0; whole.len()], 0);
            samples
                .consume(|at, part| {
                    found[at..at + part.len()].copy_from_slice(part);
                    parts += 1;
                    Ok(())
                })
                .unwrap();
            assert!(found == whole);
            assert_eq!(parts, count);
        }
    }
}
