//! Encoding by rows: pictures that memory cannot hold.

use crate::codec::{Codec, Target};
use crate::error::CodecError;
use crate::format::Format;
use crate::header::{self, Header};
use crate::image::Image;
use crate::index;
use crate::job::Job;
use crate::{budget, lane::Lane};
use lifting::Domain;
use std::io::Write;

/// Most samples of a tile whose packets may be deflated: these take at least 13 bytes each.
const MOST_DEFLATED: usize = 13 << 18;

/// Encoder that takes a picture by its rows and writes the stream as they come; made by [`Codec::by_rows`].
///
/// It holds one row of tiles: about 12 bytes for each of its samples, and its part of the stream.
#[derive(Debug)]
pub struct RowEncoder<W> {
    codec: Codec,
    format: Format,
    header: Header,
    seed: u64,
    out: W,
    /// Samples of the current row of tiles.
    samples: Vec<i32>,
    /// Rows encoded.
    done: usize,
    lengths: Vec<u64>,
}

impl Codec {
    /// Starts a stream of a picture whose rows follow. The packets of each row of tiles are adjacent, so a prefix of
    /// the stream has the upper part of the picture.
    ///
    /// ```
    /// use lifting_codec::{Codec, Format, decode};
    ///
    /// let format = Format { height: 200, width: 150, components: 1, bits: 8, signed: false };
    /// let codec = Codec::builder(&lifting::catalogue::find("legall53")?).tile(64, 64).build()?;
    /// let mut rows = codec.by_rows(format, Vec::new())?;
    /// for y in 0..200 {
    ///     rows.push(&(0..150).map(|x| (x + y) & 255).collect::<Vec<i32>>())?;
    /// }
    /// assert_eq!(decode(&rows.finish()?)?.samples[150 * 7 + 20], 27);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the settings need the whole picture: a PSNR, a rate, or fitted tables. If writing fails.
    pub fn by_rows<W: Write>(&self, format: Format, out: W) -> Result<RowEncoder<W>, CodecError> {
        match self.target {
            Target::Psnr(_) => return Err(CodecError::NotByRows { what: "a PSNR" }),
            Target::BitsPerPixel(_) => return Err(CodecError::NotByRows { what: "a rate" }),
            _ if self.fitted => return Err(CodecError::NotByRows { what: "fitted tables" }),
            Target::Lossless | Target::Quality(_) => {}
        }
        format.check()?;
        let tile = self.tile_of([format.height, format.width])?;
        // Decoders bound the samples for each byte of a stream.
        let deflated = self.deflated && tile[0] * tile[1] * format.components <= MOST_DEFLATED;
        let codec = Codec { tiles_first: true, deflated, ..self.clone() };
        let quantisers = match self.scheme.domain() {
            Domain::Integer => codec.quantisers::<i32>(format, tile)?,
            Domain::Real => codec.quantisers::<f32>(format, tile)?,
        };
        let header = codec.header(&format, tile, quantisers);
        let head = header.write()?;
        let seed = header::seed(&head);
        let samples = budget::room(tile[0] * format.width * format.components, "samples of a row of tiles")?;
        let mut rows = RowEncoder { codec, format, header, seed, out, samples, done: 0, lengths: Vec::new() };
        let sections = rows.codec.sections.clone();
        rows.write(&head)?;
        rows.write(&sections)?;
        Ok(rows)
    }

    /// Quantisers of the target, from a picture of zeros of a tile's size.
    fn quantisers<T: Lane>(
        &self,
        format: Format,
        [height, width]: [usize; 2],
    ) -> Result<Option<Vec<crate::quantise::Quantiser>>, CodecError> {
        if self.target == Target::Lossless {
            return Ok(None);
        }
        let Format { components, bits, signed, .. } = format;
        let samples = budget::zeros(height * width * components, "samples of a tile")?;
        let image = Image { height, width, components, bits, signed, samples };
        Ok(Job::<T>::new(self, &image)?.usual_quantisers())
    }
}

impl<W: Write> RowEncoder<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        self.out.write_all(bytes).map_err(|e| CodecError::Write { why: e.to_string() })
    }

    /// Takes the samples of the next rows, one or more, with the components of a pixel adjacent.
    ///
    /// # Errors
    /// If these are not whole rows, or the picture has fewer; if a sample is out of range; if writing fails.
    pub fn push(&mut self, mut samples: &[i32]) -> Result<(), CodecError> {
        let row = self.format.width * self.format.components;
        let wrong = CodecError::Rows { found: samples.len(), expected: self.format };
        let held = self.samples.len() / row;
        if !samples.len().is_multiple_of(row) || samples.len() / row > self.format.height - self.done - held {
            return Err(wrong);
        }
        while !samples.is_empty() {
            let rows = self.header.tile[0].min(self.format.height - self.done);
            let taken;
            (taken, samples) = samples.split_at(samples.len().min(rows * row - self.samples.len()));
            self.samples.extend_from_slice(taken);
            if self.samples.len() == rows * row {
                self.encode(rows)?;
            }
        }
        Ok(())
    }

    /// Encodes a row of tiles.
    fn encode(&mut self, rows: usize) -> Result<(), CodecError> {
        let Format { width, components, bits, signed, .. } = self.format;
        let samples = std::mem::take(&mut self.samples);
        let mut image = Image { height: rows, width, components, bits, signed, samples };
        image.check()?;
        let [_, across] = self.header.tiles();
        let at = (self.seed, self.done / self.header.tile[0] * across);
        let mut packets = Vec::new();
        let lengths = match self.codec.scheme.domain() {
            Domain::Integer => Job::<i32>::new(&self.codec, &image)?.row_of_tiles(&self.header, at, &mut packets)?,
            Domain::Real => Job::<f32>::new(&self.codec, &image)?.row_of_tiles(&self.header, at, &mut packets)?,
        };
        self.lengths.extend(lengths);
        self.write(&packets)?;
        self.done += rows;
        image.samples.clear();
        self.samples = image.samples;
        Ok(())
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// If rows are missing, or writing fails.
    pub fn finish(mut self) -> Result<W, CodecError> {
        if self.done < self.format.height {
            return Err(CodecError::Rows { found: 0, expected: self.format });
        }
        let mut end = Vec::new();
        if self.header.is_indexed() {
            index::write(&self.lengths, self.seed, &mut end);
        }
        self.write(&end)?;
        self.out.flush().map_err(|e| CodecError::Write { why: e.to_string() })?;
        Ok(self.out)
    }
}
