//! Codeblocks by the kernels of a device.

use crate::bands::Place;
use crate::block::kernel::{
    AS_IT_IS, MOST_PLANES, Status, Task, chooser, costs, decoder, encoder, gatherer, launch, probabilities,
};
use crate::block::{BlockError, Encoded, Mode, Passes, raw_words};
use crate::error::CodecError;
use crate::packet::{Entry, Words};
use crate::tables::Tables;
use lifting::Device;
use lifting::kernels::{Array, Kernels};
use lifting_codegen::ir::Scalar;
use std::sync::Arc;

// The kernels, by their places.
const CHOOSE: usize = 0;
const ENCODE: usize = 1;
const GATHER: usize = 2;
const DECODE: usize = 3;

/// The coder of a device.
#[derive(Debug)]
pub struct BlockCoder {
    kernels: Kernels,
}

impl BlockCoder {
    /// The coder of a device; `None` for processors, which code blocks themselves.
    pub fn new(device: &Device, passes: Passes) -> Result<Option<Arc<BlockCoder>>, CodecError> {
        if let Device::Cpu { .. } = device {
            return Ok(None);
        }
        let kernels = vec![chooser(passes), encoder(passes), gatherer(), decoder(passes)];
        #[allow(unsafe_code)]
        // SAFETY: the kernels touch the coefficients and words that their tasks say, which are within the arrays: they
        // are made here. Of choices they are given a table that there is; all else is by block or lane.
        let kernels = unsafe { Kernels::new(device, kernels) }?;
        Ok(Some(Arc::new(BlockCoder { kernels })))
    }

    /// Codes blocks of these components, each as [`encode`](crate::block::encode) does. `None` if they are too many,
    /// or have too many planes, for kernels.
    pub fn encode(
        &self,
        components: &[Vec<i32>],
        places: &[Place],
        tables: &Tables,
    ) -> Result<Option<Vec<Encoded>>, CodecError> {
        let Some(first) = places.first() else { return Ok(Some(Vec::new())) };
        let each = components[0].len();
        let (mut fields, mut room) = (Vec::new(), 0);
        for place in places {
            let words = raw_words(place.shape, MOST_PLANES);
            let start = place.component * each + place.start;
            let Some(task) = Task { start, shape: place.shape, first: room, words, planes: 0 }.fields() else {
                return Ok(None);
            };
            fields.extend(task);
            room += words;
        }
        if i32::try_from(room.max(each * components.len())).is_err() {
            return Ok(None);
        }
        let kernels = &self.kernels;
        let numbers = [first.stride, places.len()];
        let mut coefficients = kernels.upload(&components.concat())?;
        let mut blocks = kernels.upload(&fields)?;
        let mut costs = kernels.upload(&costs(tables))?;
        let mut table = kernels.upload(&probabilities(tables))?;
        let mut choices = kernels.zeroed(Scalar::I32, 2 * places.len())?;
        let mut words = kernels.zeroed(Scalar::I16, room)?;
        let mut results = kernels.zeroed(Scalar::I32, 2 * places.len())?;
        let arrays = [&mut coefficients, &mut blocks, &mut costs, &mut choices];
        launch(kernels, CHOOSE, arrays, numbers)?;
        let arrays = [&mut coefficients, &mut blocks, &mut choices, &mut table, &mut words, &mut results];
        launch(kernels, ENCODE, arrays, numbers)?;

        let found: Vec<i32> = kernels.download(&results, 2 * places.len())?;
        let chosen: Vec<i32> = kernels.download(&choices, 2 * places.len())?;
        let (mut offsets, mut encoded, mut total) = (Vec::new(), Vec::new(), 0);
        for ((place, found), chosen) in places.iter().zip(found.chunks(2)).zip(chosen.chunks(2)) {
            let (planes, coded) = (found[0] as u32, found[1] as usize);
            if planes > MOST_PLANES {
                return Ok(None);
            }
            let raw = if planes == 0 { 0 } else { raw_words(place.shape, planes) };
            let mode = match coded < raw {
                true => Mode::Coded { class: chosen[0] as u8, sharing: chosen[1] as u8 },
                false => Mode::Raw,
            };
            offsets.push(total as i32);
            let length = coded.min(raw);
            encoded.push((planes, mode, length));
            total += length;
        }
        let mut offsets = kernels.upload(&offsets)?;
        let mut payload = kernels.zeroed(Scalar::I16, total)?;
        let arrays = [&mut coefficients, &mut blocks, &mut results, &mut offsets, &mut words, &mut payload];
        launch(kernels, GATHER, arrays, numbers)?;
        let payload: Vec<i16> = kernels.download(&payload, total)?;
        let mut payload = payload.into_iter().map(|word| word as u16);
        let block = |(planes, mode, length)| Encoded { planes, mode, words: payload.by_ref().take(length).collect() };
        Ok(Some(encoded.into_iter().map(block).collect()))
    }

    /// Begins to decode blocks of components of so many coefficients each.
    pub fn decoding(
        &self,
        components: usize,
        each: usize,
        tables: &Tables,
    ) -> Result<Option<Decoding<'_>>, CodecError> {
        let Some(all) = components.checked_mul(each).filter(|n| i32::try_from(*n).is_ok()) else { return Ok(None) };
        let kernels = &self.kernels;
        let coefficients = kernels.zeroed(Scalar::I32, all)?;
        let table = kernels.upload(&probabilities(tables))?;
        Ok(Some(Decoding { kernels, coefficients, table, tables: tables.count(), components, each }))
    }
}

/// Blocks on their way to coefficients.
pub struct Decoding<'a> {
    kernels: &'a Kernels,
    coefficients: Array,
    table: Array,
    tables: usize,
    components: usize,
    each: usize,
}

impl Decoding<'_> {
    /// Decodes blocks that are complete. `false` if they are too many, or have too many planes, for kernels.
    pub fn packet(&mut self, places: &[Place], blocks: &[(Entry, Words<'_>)]) -> Result<bool, CodecError> {
        let (mut fields, mut choices, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (entry, of_block)) in places.iter().zip(blocks) {
            if entry.planes == 0 {
                continue;
            }
            let choice = match entry.mode {
                Mode::Raw => [0, AS_IT_IS],
                Mode::Coded { class, sharing } if usize::from(class) >= self.tables || sharing > 5 => {
                    return Err(BlockError::Mode { class, sharing }.into());
                }
                Mode::Coded { class, sharing } => [class.into(), sharing.into()],
            };
            choices.extend(choice);
            let start = place.component * self.each + place.start;
            let (first, count) = (words.len(), entry.words);
            let task = Task { start, shape: place.shape, first, words: count, planes: entry.planes };
            let Some(task) = task.fields().filter(|_| entry.planes <= MOST_PLANES) else { return Ok(false) };
            fields.extend(task);
            words.extend(of_block.to_vec().into_iter().map(|word| word as i16));
        }
        let count = choices.len() / 2;
        let Some(stride) = places.first().map(|place| place.stride).filter(|_| count > 0) else { return Ok(true) };
        if i32::try_from(words.len()).is_err() {
            return Ok(false);
        }
        let kernels = self.kernels;
        let (mut blocks, mut choices) = (kernels.upload(&fields)?, kernels.upload(&choices)?);
        let (mut words, mut results) = (kernels.upload(&words)?, kernels.zeroed(Scalar::I32, count)?);
        let arrays = [&mut self.coefficients, &mut blocks, &mut choices, &mut self.table, &mut words, &mut results];
        launch(kernels, DECODE, arrays, [stride, count])?;
        let statuses: Vec<i32> = kernels.download(&results, count)?;
        if statuses.contains(&(Status::Broken as i32)) {
            return Err(BlockError::Length.into());
        }
        Ok(!statuses.contains(&(Status::Left as i32)))
    }

    /// The coefficients of each component; what no block had is 0.
    pub fn finish(self) -> Result<Vec<Vec<i32>>, CodecError> {
        let all: Vec<i32> = self.kernels.download(&self.coefficients, self.components * self.each)?;
        Ok(all.chunks(self.each.max(1)).map(<[i32]>::to_vec).collect())
    }
}
