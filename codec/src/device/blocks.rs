//! Codeblocks on a device, by its kernels.

use crate::bands::BlockPlace;
use crate::block::kernel::{
    AS_IT_IS, MOST_PLANES, Status, Task, chooser, costs, decoder, encoder, gatherer, launch, probabilities,
};
use crate::block::{BlockError, Encoded, Mode, Order, raw_words};
use crate::error::CodecError;
use crate::packet::Held;
use crate::tables::Tables;
use lifting::Device;
use lifting::kernels::Kernels;
use lifting_codegen::ir::Scalar;
use std::sync::{Arc, OnceLock};

// Indices of the kernels.
const CHOOSE: usize = 0;
const ENCODE: usize = 1;
const GATHER: usize = 2;
const DECODE: usize = 3;

/// Block coder of a device.
#[derive(Debug)]
pub struct BlockCoder {
    device: Device,
    order: Order,
    /// Made on first use: whole streams on a device have kernels of their own.
    kernels: OnceLock<Result<Kernels, CodecError>>,
}

impl BlockCoder {
    /// Creates the coder of a device; `None` for processors, which code blocks without kernels.
    pub fn new(device: &Device, order: Order) -> Result<Option<Arc<BlockCoder>>, CodecError> {
        if let Device::Cpu { .. } = device {
            return Ok(None);
        }
        #[allow(unsafe_code)]
        // SAFETY: there are no kernels. This only asks whether the device runs any.
        unsafe { Kernels::new(device, Vec::new()) }?;
        Ok(Some(Arc::new(BlockCoder { device: device.clone(), order, kernels: OnceLock::new() })))
    }

    fn kernels(&self) -> Result<&Kernels, CodecError> {
        let order = self.order;
        let made = self.kernels.get_or_init(|| {
            let kernels = vec![chooser(order), encoder(order), gatherer(), decoder(order)];
            #[allow(unsafe_code)]
            // SAFETY: kernels access the coefficients and words of their tasks, and the tasks, made here, stay within
            // the arrays. Choices name existing tables. All other indices follow from block and lane.
            Ok(unsafe { Kernels::new(&self.device, kernels) }?)
        });
        made.as_ref().map_err(CodecError::clone)
    }

    /// Encodes the blocks of these components, each as [`encode`](crate::block::encode) does. `None` if there are too
    /// many blocks or planes for kernels.
    pub fn encode(
        &self,
        components: &[Vec<i32>],
        places: &[BlockPlace],
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
        let kernels = self.kernels()?;
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

        let found: Vec<i32> = kernels.download(&results, 0..2 * places.len())?;
        let chosen: Vec<i32> = kernels.download(&choices, 0..2 * places.len())?;
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
        let payload: Vec<i16> = kernels.download(&payload, 0..total)?;
        let mut payload = payload.into_iter().map(|word| word as u16);
        let block = |(planes, mode, length)| Encoded { planes, mode, words: payload.by_ref().take(length).collect() };
        Ok(Some(encoded.into_iter().map(block).collect()))
    }

    /// Decodes blocks into the coefficients of each component, `each` per component; coefficients outside all blocks
    /// are 0. `None` if the blocks are too many or incomplete, or have too many planes for kernels.
    pub fn decode(
        &self,
        components: usize,
        each: usize,
        tables: &Tables,
        blocks: &[(&BlockPlace, &Held<'_>)],
    ) -> Result<Option<Vec<Vec<i32>>>, CodecError> {
        let (mut fields, mut choices, mut words) = (Vec::new(), Vec::new(), Vec::<u8>::new());
        for (place, held) in blocks {
            let choice = match held.mode {
                Mode::Raw => [0, AS_IT_IS],
                Mode::Coded { class, sharing } if usize::from(class) >= tables.count() || sharing > 5 => {
                    return Err(BlockError::Mode { class, sharing }.into());
                }
                Mode::Coded { class, sharing } => [class.into(), sharing.into()],
            };
            choices.extend(choice);
            let (start, first) = (place.component * each + place.start, words.len());
            words.extend(held.words().flat_map(u16::to_le_bytes));
            let task = Task { start, shape: place.shape, first, words: (words.len() - first) / 2, planes: held.planes };
            let can = held.complete && held.planes <= MOST_PLANES;
            let Some(task) = task.fields().filter(|_| can) else { return Ok(None) };
            fields.extend(task);
        }
        let all = components.checked_mul(each).filter(|n| i32::try_from((*n).max(words.len())).is_ok());
        let Some(all) = all else { return Ok(None) };
        let kernels = self.kernels()?;
        let mut coefficients = kernels.zeroed(Scalar::I32, all)?;
        if let Some((first, _)) = blocks.first() {
            let mut table = kernels.upload(&probabilities(tables))?;
            let (mut tasks, mut choices) = (kernels.upload(&fields)?, kernels.upload(&choices)?);
            let (mut words, mut results) = (kernels.upload(&words)?, kernels.zeroed(Scalar::I32, blocks.len())?);
            let arrays = [&mut coefficients, &mut tasks, &mut choices, &mut table, &mut words, &mut results];
            launch(kernels, DECODE, arrays, [first.stride, blocks.len()])?;
            let statuses: Vec<i32> = kernels.download(&results, 0..blocks.len())?;
            if statuses.contains(&(Status::Broken as i32)) {
                return Err(BlockError::Length.into());
            }
            if statuses.contains(&(Status::Left as i32)) {
                return Ok(None);
            }
        }
        let all: Vec<i32> = kernels.download(&coefficients, 0..all)?;
        Ok(Some(all.chunks(each).map(<[i32]>::to_vec).collect()))
    }
}
