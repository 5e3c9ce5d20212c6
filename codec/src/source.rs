//! Streams with random access: bytes in memory, files, and other readers.

use crate::error::CodecError;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Mutex;

/// Reader of bytes at any place of a stream, such as a file, or a file on a server.
pub trait ReadAt: Sync {
    /// Bytes of the stream.
    ///
    /// # Errors
    /// If the length cannot be found.
    fn len(&self) -> io::Result<u64>;

    /// Whether the stream has no bytes.
    ///
    /// # Errors
    /// As [`ReadAt::len`].
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// If they cannot be read, or the stream ends before.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for &[u8] {
    fn len(&self) -> io::Result<u64> {
        Ok(<[u8]>::len(self) as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|at| self.get(at..)?.get(..buffer.len()));
        buffer.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl ReadAt for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}

/// [`ReadAt`] for any reader that can seek.
#[derive(Debug)]
pub struct Seekable<R>(pub Mutex<R>);

impl<R: Read + Seek> Seekable<R> {
    /// Wraps a reader.
    pub fn new(reader: R) -> Seekable<R> {
        Seekable(Mutex::new(reader))
    }

    fn with<T>(&self, take: impl FnOnce(&mut R) -> io::Result<T>) -> io::Result<T> {
        let mut reader = self.0.lock().map_err(|_| io::Error::other("another read panicked"))?;
        take(&mut reader)
    }
}

impl<R: Read + Seek + Send> ReadAt for Seekable<R> {
    fn len(&self) -> io::Result<u64> {
        self.with(|reader| reader.seek(SeekFrom::End(0)))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.with(|reader| {
            reader.seek(SeekFrom::Start(offset))?;
            reader.read_exact(buffer)
        })
    }
}

/// Stream of a decoder.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// In memory.
    Bytes(&'a [u8]),
    /// Elsewhere.
    At(&'a dyn ReadAt),
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Source::Bytes(_) => "Bytes",
            Source::At(_) => "At",
        })
    }
}

/// Error of a reader.
pub fn unread(error: &io::Error) -> CodecError {
    CodecError::Read { why: error.to_string() }
}

impl<'a> Source<'a> {
    /// Bytes of a range within the stream.
    ///
    /// # Errors
    /// If they cannot be read, or memory is short.
    pub fn read(self, range: Range<u64>) -> Result<Cow<'a, [u8]>, CodecError> {
        match self {
            Source::Bytes(bytes) => Ok(bytes[range.start as usize..range.end as usize].into()),
            Source::At(reader) => {
                let mut bytes = crate::budget::zeros((range.end - range.start) as usize, "the stream")?;
                reader.read_at(range.start, &mut bytes).map_err(|e| unread(&e))?;
                Ok(bytes.into())
            }
        }
    }
}
