//! Writing of marker segments.

use super::marker::*;
use super::{Coder, Coding, Order, Parameters, Quantisation, Size, Steps};

/// Index of a component, and the number of components.
#[derive(Clone, Copy)]
struct Component {
    index: usize,
    count: usize,
}

/// Codestream in the making.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn u8(&mut self, value: u32) {
        self.bytes.push(value as u8);
    }

    pub fn u16(&mut self, value: u32) {
        self.bytes.extend((value as u16).to_be_bytes());
    }

    pub fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_be_bytes());
    }

    pub fn marker(&mut self, code: u16) {
        self.u16(code.into());
    }

    /// Marker segment whose parameters `write` appends.
    fn segment(&mut self, code: u16, write: impl FnOnce(&mut Writer)) {
        self.marker(code);
        let at = self.bytes.len();
        self.u16(0);
        write(self);
        let length = (self.bytes.len() - at) as u16;
        self.bytes[at..at + 2].copy_from_slice(&length.to_be_bytes());
    }

    /// SIZ.
    pub fn size(&mut self, size: &Size) {
        self.segment(SIZ, |w| {
            w.u16(size.profile.into());
            let (area, tile) = (size.area, size.tile);
            [area.x1, area.y1, area.x0, area.y0].into_iter().for_each(|x| w.u32(x));
            [tile.x1 - tile.x0, tile.y1 - tile.y0, tile.x0, tile.y0].into_iter().for_each(|x| w.u32(x));
            w.u16(size.components.len() as u32);
            for component in &size.components {
                w.u8((component.bits - 1) | (u32::from(component.signed) << 7));
                w.u8(component.dx);
                w.u8(component.dy);
            }
        });
    }

    /// CAP of Part 15: all blocks by the high-throughput coder, one set each (15444-15, A.3).
    pub fn capabilities(&mut self, is_reversible: bool, magnitude_field: u32) {
        self.segment(CAP, |w| {
            w.u32(1 << (32 - 15));
            w.u16(u32::from(!is_reversible) << 5 | magnitude_field);
        });
    }

    /// COD, or COC of a component.
    fn coding(&mut self, order: &Order, coding: &Coding, of: Option<Component>) {
        self.segment(if of.is_none() { COD } else { COC }, |w| {
            let has_precincts = u32::from(!coding.precincts.is_empty());
            match of {
                None => {
                    w.u8(has_precincts | u32::from(order.sop) << 1 | u32::from(order.eph) << 2);
                    w.u8(order.progression as u32);
                    w.u16(order.layers);
                    w.u8(order.colour.into());
                }
                Some(component) => {
                    w.component(component);
                    w.u8(has_precincts);
                }
            }
            w.u8(coding.levels);
            coding.block.into_iter().for_each(|log| w.u8(log - 2));
            let style = coding.style;
            let flags = [
                style.bypass,
                style.reset,
                style.terminate,
                style.causal,
                style.predictable,
                style.segmentation,
                coding.coder == Coder::Ht,
            ];
            w.u8((0..).zip(flags).map(|(bit, flag)| u32::from(flag) << bit).sum());
            w.u8(coding.wavelet as u32);
            if has_precincts == 1 {
                (0..=coding.levels).map(|r| coding.precinct(r)).for_each(|[x, y]| w.u8(y << 4 | x));
            }
        });
    }

    /// Index of a component: one byte, or two if there are more than 256.
    fn component(&mut self, Component { index, count }: Component) {
        if count < 257 { self.u8(index as u32) } else { self.u16(index as u32) }
    }

    /// COD, COC, QCD, QCC and RGN of a main header, or of a tile's. `order` is the tile's style.
    pub fn parameters(&mut self, parameters: &Parameters, order: &Order, count: usize) {
        let of = |&index: &usize| Some(Component { index, count });
        if let Some(coding) = &parameters.coding {
            self.coding(order, coding, None);
        }
        parameters.coding_of.iter().for_each(|(c, coding)| self.coding(order, coding, of(c)));
        if let Some(quantisation) = &parameters.quantisation {
            self.quantisation(quantisation, None);
        }
        parameters.quantisation_of.iter().for_each(|(c, quantisation)| self.quantisation(quantisation, of(c)));
        for (&index, &shift) in &parameters.shift_of {
            self.segment(RGN, |w| {
                w.component(Component { index, count });
                w.u8(0);
                w.u8(shift);
            });
        }
    }

    /// QCD, or QCC of a component.
    fn quantisation(&mut self, quantisation: &Quantisation, of: Option<Component>) {
        self.segment(if of.is_none() { QCD } else { QCC }, |w| {
            if let Some(component) = of {
                w.component(component);
            }
            let guard = quantisation.guard << 5;
            match &quantisation.steps {
                Steps::Reversible(exponents) => {
                    w.u8(guard);
                    exponents.iter().for_each(|exponent| w.u8(exponent << 3));
                }
                Steps::Derived([exponent, mantissa]) => {
                    w.u8(guard | 1);
                    w.u16(exponent << 11 | mantissa);
                }
                Steps::Each(steps) => {
                    w.u8(guard | 2);
                    steps.iter().for_each(|[exponent, mantissa]| w.u16(exponent << 11 | mantissa));
                }
            }
        });
    }

    /// COM with text.
    pub fn comment(&mut self, text: &str) {
        self.segment(COM, |w| {
            w.u16(1);
            w.bytes.extend(text.bytes());
        });
    }

    /// PLT segments: the lengths of a tile-part's packets (A.7.3).
    pub fn packet_lengths(&mut self, lengths: &[usize]) {
        let mut coded = lengths.iter().map(|&length| {
            let digits = (1..).find(|&digits| length >> (7 * digits) == 0).unwrap_or(1);
            (0..digits).rev().map(move |k| (length >> (7 * k)) as u8 & 127 | u8::from(k > 0) << 7)
        });
        let mut pending = coded.next();
        // A tile-part has at most 256 such segments; lengths of further packets are left out.
        for index in 0..256 {
            if pending.is_none() {
                break;
            }
            self.segment(PLT, |w| {
                w.u8(index);
                let start = w.bytes.len();
                while let Some(digits) = pending.take() {
                    w.bytes.extend(digits);
                    pending = coded.next();
                    if w.bytes.len() - start > 65_000 {
                        break;
                    }
                }
            });
        }
    }

    /// TLM segments: the lengths of the tile-parts, one for each tile in order (A.7.1).
    pub fn tile_lengths(&mut self, parts: &[(Vec<u8>, Vec<u8>)]) {
        let lengths: Vec<u32> = parts.iter().map(|(header, packets)| tile_part_length(header, packets)).collect();
        for (index, lengths) in (0..256).zip(lengths.chunks(16_000)) {
            self.segment(TLM, |w| {
                w.u8(index);
                // Tiles in order, lengths of four bytes.
                w.u8(0x40);
                lengths.iter().for_each(|&length| w.u32(length));
            });
        }
    }

    /// Tile-part: SOT, further segments of its header, SOD and the packets.
    pub fn tile_part(&mut self, tile: u32, header: &[u8], packets: &[u8]) {
        self.segment(SOT, |w| {
            w.u16(tile);
            w.u32(tile_part_length(header, packets));
            w.u8(0);
            w.u8(1);
        });
        self.bytes.extend(header);
        self.marker(SOD);
        self.bytes.extend(packets);
    }
}

/// Length of a tile-part, its SOT and SOD included; 0 stands for all up to EOC.
fn tile_part_length(header: &[u8], packets: &[u8]) -> u32 {
    u32::try_from(14 + header.len() + packets.len()).unwrap_or(0)
}

/// Field MAGB of CAP, for blocks of at most `planes` bitplanes (15444-15, A.3).
pub fn magnitude_field(planes: u32) -> u32 {
    match planes {
        0..=8 => 0,
        9..28 => planes - 8,
        28..48 => 13 + planes / 4,
        _ => 31,
    }
}
