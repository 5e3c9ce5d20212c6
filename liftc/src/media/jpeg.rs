//! Strict check of JPEG files: markers, tables and every code word of every scan (ITU-T T.81).
//!
//! Decoders fill damaged or missing parts with grey and report success, which is right for viewers. A lossless coder
//! must not pass such a picture off as the file's. So the file is walked as a decoder would: segments must be whole,
//! code words valid, scans must have exactly their blocks, and an end marker must follow. What passes is what a
//! checksum would tell, but for damage to values that remain valid.

/// Coefficients of a block, 8 × 8; the first one is DC.
const COEFFICIENTS: usize = 64;

/// Fault, and the byte where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    why: String,
    at: usize,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, at byte {}", self.why, self.at)
    }
}

/// Checks a whole file. Frames other than sequential and progressive Huffman ones are left to the decoder.
///
/// # Errors
/// The first fault.
pub fn check(file: &[u8]) -> Result<(), Damage> {
    if !file.starts_with(&[0xff, 0xd8]) {
        return Err(Damage { why: "the start marker is missing".into(), at: 0 });
    }
    let mut walk = Walk { file, at: 2, frame: None, dc: Default::default(), ac: Default::default(), restart: 0 };
    loop {
        let code = walk.marker()?;
        match code {
            0xd9 => return walk.end(),
            0xd0..=0xd8 | 0x01 => return Err(walk.fault(format!("marker {code:02x} outside a scan"))),
            _ => {}
        }
        let segment = walk.segment(code)?;
        match code {
            0xc0..=0xc2 => walk.frame(segment, code == 0xc2)?,
            0xc4 => walk.tables(segment)?,
            // Lossless, hierarchical and arithmetic frames.
            0xc3 | 0xc5..=0xcf => return Ok(()),
            0xda => walk.scan(segment)?,
            0xdd => walk.restart = usize::from(walk.word(segment, 0)?),
            _ => {}
        }
    }
}

/// Position in a file, and the tables read so far.
struct Walk<'a> {
    file: &'a [u8],
    at: usize,
    frame: Option<Frame>,
    dc: [Option<Table>; 4],
    ac: [Option<Table>; 4],
    /// MCUs between restart markers; 0 for none.
    restart: usize,
}

/// Frame header, and what its scans have brought.
struct Frame {
    progressive: bool,
    precision: u32,
    height: usize,
    width: usize,
    components: Vec<Component>,
}

struct Component {
    id: u8,
    /// Sampling factors, vertical and horizontal.
    sampling: [usize; 2],
    /// Blocks that a scan of this component alone has, vertically and horizontally.
    blocks: [usize; 2],
    /// Blocks of whole MCUs along a row.
    pitch: usize,
    /// For each block, a bit for each coefficient other than 0: refinement scans depend on it. Progressive frames only.
    nonzero: Vec<u64>,
    /// For each coefficient, the lowest bit that scans have brought; `None` before the first.
    lowest: [Option<u8>; COEFFICIENTS],
}

/// Huffman table: code words of up to 8 bits by lookup, longer ones by length.
struct Table {
    /// Length and symbol for each first 8 bits; length 0 for longer code words.
    short: Box<[(u8, u8); 256]>,
    /// For each length from 1 on: first code, its index in `symbols`, and number of codes.
    lengths: [(u32, usize, u32); 16],
    symbols: Vec<u8>,
}

/// Component of a scan: its index in the frame, and its tables.
struct Part {
    component: usize,
    dc: usize,
    ac: usize,
}

/// Coefficients and bits of a scan.
struct Band {
    start: usize,
    end: usize,
    /// Lowest bit of the previous scan, 0 in a first one.
    high: u8,
    /// Lowest bit of this one.
    low: u8,
}

impl Walk<'_> {
    fn fault(&self, why: impl Into<String>) -> Damage {
        Damage { why: why.into(), at: self.at }
    }

    /// The next marker; fill bytes may precede it.
    fn marker(&mut self) -> Result<u8, Damage> {
        match self.file.get(self.at) {
            Some(0xff) => {}
            Some(_) => return Err(self.fault("a marker is missing")),
            None => return Err(self.fault("the file ends before its end marker")),
        }
        while self.file.get(self.at) == Some(&0xff) {
            self.at += 1;
        }
        match self.file.get(self.at) {
            Some(0) => Err(self.fault("a marker is missing")),
            Some(&code) => {
                self.at += 1;
                Ok(code)
            }
            None => Err(self.fault("the file ends before its end marker")),
        }
    }

    /// Contents of a marker's segment.
    fn segment(&mut self, code: u8) -> Result<(usize, usize), Damage> {
        let length = match self.file.get(self.at..self.at + 2) {
            Some(length) => usize::from(length[0]) << 8 | usize::from(length[1]),
            None => return Err(self.fault("the file ends before its end marker")),
        };
        if length < 2 || self.at + length > self.file.len() {
            return Err(self.fault(format!("segment {code:02x} of {length} bytes is not whole")));
        }
        let segment = (self.at + 2, self.at + length);
        self.at = segment.1;
        Ok(segment)
    }

    fn byte(&self, (start, end): (usize, usize), index: usize) -> Result<u8, Damage> {
        let at = start + index;
        if at < end { Ok(self.file[at]) } else { Err(Damage { why: "a segment is too short".into(), at: end }) }
    }

    fn word(&self, segment: (usize, usize), index: usize) -> Result<u16, Damage> {
        Ok(u16::from_be_bytes([self.byte(segment, index)?, self.byte(segment, index + 1)?]))
    }

    fn frame(&mut self, segment: (usize, usize), progressive: bool) -> Result<(), Damage> {
        if self.frame.is_some() {
            return Err(self.fault("a second frame header"));
        }
        let precision = self.byte(segment, 0)?.into();
        let (height, width) = (usize::from(self.word(segment, 1)?), usize::from(self.word(segment, 3)?));
        let count = usize::from(self.byte(segment, 5)?);
        if !matches!(precision, 8 | 12) || height == 0 || width == 0 || !(1..=4).contains(&count) {
            return Err(self.fault(format!(
                "a frame of {height} × {width} samples of {precision} bits and {count} components is invalid"
            )));
        }
        let mut components = Vec::new();
        for index in 0..count {
            let (id, factors) = (self.byte(segment, 6 + 3 * index)?, self.byte(segment, 7 + 3 * index)?);
            let sampling = [usize::from(factors & 15), usize::from(factors >> 4)];
            let known = components.iter().any(|other: &Component| other.id == id);
            if known || sampling.iter().any(|factor| !(1..=4).contains(factor)) {
                return Err(self.fault(format!("component {index} of the frame is invalid")));
            }
            let lowest = [None; COEFFICIENTS];
            components.push(Component { id, sampling, blocks: [0; 2], pitch: 0, nonzero: Vec::new(), lowest });
        }
        let most = [0, 1].map(|axis| components.iter().map(|c| c.sampling[axis]).max().unwrap_or(1));
        let mcus = [height.div_ceil(8 * most[0]), width.div_ceil(8 * most[1])];
        for component in &mut components {
            let [v, h] = component.sampling;
            component.blocks = [(height * v).div_ceil(most[0]).div_ceil(8), (width * h).div_ceil(most[1]).div_ceil(8)];
            component.pitch = mcus[1] * h;
            let blocks = mcus[0] * v * component.pitch;
            // Each block has a bit at least: what a short file claims is not believed.
            if blocks > 8 * self.file.len() {
                return Err(Damage { why: "the file is too short for its frame".into(), at: segment.0 });
            }
            component.nonzero = vec![0; if progressive { blocks } else { 0 }];
        }
        self.frame = Some(Frame { progressive, precision, height, width, components });
        Ok(())
    }

    fn tables(&mut self, segment: (usize, usize)) -> Result<(), Damage> {
        let (mut at, length) = (0, segment.1 - segment.0);
        while at < length {
            let kind = self.byte(segment, at)?;
            let mut counts = [0u8; 16];
            for (index, count) in counts.iter_mut().enumerate() {
                *count = self.byte(segment, at + 1 + index)?;
            }
            let total: usize = counts.iter().map(|&n| usize::from(n)).sum();
            let symbols: Vec<u8> =
                (0..total).map(|index| self.byte(segment, at + 17 + index)).collect::<Result<_, _>>()?;
            let invalid = || Damage { why: "a Huffman table is invalid".into(), at: segment.0 + at };
            let table = Table::new(&counts, symbols).ok_or_else(invalid)?;
            let class = match kind >> 4 {
                0 => &mut self.dc,
                1 => &mut self.ac,
                _ => return Err(invalid()),
            };
            *class.get_mut(usize::from(kind & 15)).ok_or_else(invalid)? = Some(table);
            at += 17 + total;
        }
        Ok(())
    }

    fn scan(&mut self, segment: (usize, usize)) -> Result<(), Damage> {
        let invalid = |why: &str| Damage { why: format!("a scan header is invalid: {why}"), at: segment.0 };
        let Some(mut frame) = self.frame.take() else { return Err(invalid("no frame")) };
        let count = usize::from(self.byte(segment, 0)?);
        if !(1..=frame.components.len()).contains(&count) {
            return Err(invalid("number of components"));
        }
        let mut parts: Vec<Part> = Vec::new();
        for index in 0..count {
            let (id, tables) = (self.byte(segment, 1 + 2 * index)?, self.byte(segment, 2 + 2 * index)?);
            let component = frame.components.iter().position(|component| component.id == id);
            let component = component.ok_or_else(|| invalid("unknown component"))?;
            if parts.iter().any(|part| part.component == component) || tables & 0xcc != 0 {
                return Err(invalid("components"));
            }
            parts.push(Part { component, dc: usize::from(tables >> 4), ac: usize::from(tables & 15) });
        }
        let field = |index: usize| self.byte(segment, 1 + 2 * count + index);
        let (start, end, bits) = (usize::from(field(0)?), usize::from(field(1)?), field(2)?);
        let band = Band { start, end, high: bits >> 4, low: bits & 15 };
        let is_valid = match (frame.progressive, start) {
            (false, _) => (start, end, bits) == (0, 63, 0),
            (true, 0) => end == 0,
            (true, _) => (start..COEFFICIENTS).contains(&end) && count == 1,
        };
        if !is_valid || band.low > 13 || band.high > 0 && band.high != band.low + 1 {
            return Err(invalid("coefficients"));
        }
        for part in &parts {
            for lowest in &mut frame.components[part.component].lowest[start..=end] {
                // The first scan of a coefficient, or the next of its bits.
                if *lowest != (band.high > 0).then_some(band.high) {
                    return Err(invalid("order of the scans"));
                }
                *lowest = Some(band.low);
            }
        }
        self.entropy_coded(&mut frame, &parts, &band)?;
        self.frame = Some(frame);
        Ok(())
    }

    /// Code words of a scan, up to the marker behind them.
    fn entropy_coded(&mut self, frame: &mut Frame, parts: &[Part], band: &Band) -> Result<(), Damage> {
        let alone = parts.len() == 1;
        let most = [0, 1].map(|axis| frame.components.iter().map(|c| c.sampling[axis]).max().unwrap_or(1));
        let mcus = match alone {
            true => frame.components[parts[0].component].blocks,
            false => [frame.height.div_ceil(8 * most[0]), frame.width.div_ceil(8 * most[1])],
        };
        let mut bits = Bits { file: self.file, at: self.at, held: 0, count: 0 };
        let mut state = State { predicted: [0; 4], run: 0 };
        let mut until_restart = if self.restart == 0 { usize::MAX } else { self.restart };
        let mut next = 0;
        for y in 0..mcus[0] {
            for x in 0..mcus[1] {
                if until_restart == 0 {
                    bits.restart(next)?;
                    next = (next + 1) % 8;
                    if state.run > 0 {
                        return Err(bits.fault("a run of blocks passes a restart marker"));
                    }
                    state = State { predicted: [0; 4], run: 0 };
                    until_restart = self.restart;
                }
                until_restart -= 1;
                for part in parts {
                    let component = &mut frame.components[part.component];
                    let [v, h] = if alone { [1, 1] } else { component.sampling };
                    for block in 0..v * h {
                        let at = (y * v + block / h) * component.pitch + x * h + block % h;
                        let tables = (self.dc[part.dc].as_ref(), self.ac[part.ac].as_ref());
                        let coder = Coder { tables, band, precision: frame.precision };
                        let dc = &mut state.predicted[part.component];
                        match frame.progressive {
                            false => coder.sequential(&mut bits, dc)?,
                            true => coder.progressive(&mut bits, dc, &mut state.run, &mut component.nonzero[at])?,
                        }
                    }
                }
            }
        }
        if state.run > 0 {
            return Err(bits.fault("a run of blocks passes the end of its scan"));
        }
        self.at = bits.end()?;
        Ok(())
    }

    /// Whether all that the frame promises was there, at the end marker.
    fn end(&self) -> Result<(), Damage> {
        let Some(frame) = &self.frame else { return Err(self.fault("the file has no picture")) };
        for (index, component) in frame.components.iter().enumerate() {
            // A band may be left out altogether, but not its last bits.
            if component.lowest[0].is_none() || component.lowest.iter().flatten().any(|&low| low > 0) {
                return Err(self.fault(format!("scans of component {index} are missing")));
            }
        }
        Ok(())
    }
}

impl Table {
    /// `None` if the code words are more than their lengths allow.
    fn new(counts: &[u8; 16], symbols: Vec<u8>) -> Option<Table> {
        let (mut short, mut lengths) = (Box::new([(0, 0); 256]), [(0, 0, 0); 16]);
        let (mut code, mut index) = (0u32, 0);
        for (length, &count) in (1..=16).zip(counts) {
            lengths[length - 1] = (code, index, count.into());
            for _ in 0..count {
                if code >= 1 << length {
                    return None;
                }
                if length <= 8 {
                    let first = (code << (8 - length)) as usize;
                    short[first..first + (1 << (8 - length))].fill((length as u8, symbols[index]));
                }
                code += 1;
                index += 1;
            }
            code <<= 1;
        }
        Some(Table { short, lengths, symbols })
    }
}

/// Decoder state between blocks.
struct State {
    /// DC values.
    predicted: [i32; 4],
    /// Blocks without further coefficients, this one included.
    run: u32,
}

/// Bits of entropy-coded data.
struct Bits<'a> {
    file: &'a [u8],
    at: usize,
    /// The next bits, `count` of them, lowest last.
    held: u64,
    count: u32,
}

impl Bits<'_> {
    fn fault(&self, why: &str) -> Damage {
        Damage { why: why.into(), at: self.at }
    }

    /// Takes bytes as long as there are some and they fit.
    fn fill(&mut self) {
        while self.count <= 48 {
            let byte = match self.file.get(self.at..) {
                Some([0xff, 0, ..]) => {
                    self.at += 2;
                    0xff
                }
                Some([0xff, ..] | []) | None => break,
                Some(&[byte, ..]) => {
                    self.at += 1;
                    byte
                }
            };
            self.held = self.held << 8 | u64::from(byte);
            self.count += 8;
        }
    }

    fn take(&mut self, count: u32) -> Result<u32, Damage> {
        if self.count < count {
            self.fill();
            if self.count < count {
                return Err(self.fault("a scan ends too early"));
            }
        }
        self.count -= count;
        Ok((self.held >> self.count) as u32 & ((1 << count) - 1))
    }

    fn symbol(&mut self, table: Option<&Table>) -> Result<u8, Damage> {
        let Some(table) = table else { return Err(self.fault("a Huffman table is missing")) };
        if self.count < 16 {
            self.fill();
        }
        // Beyond the last bit, any may follow: they are not taken.
        let ahead = match self.count {
            few @ 0..16 => (self.held << (16 - few)) as u32 & 0xffff,
            _ => (self.held >> (self.count - 16)) as u32 & 0xffff,
        };
        let (length, symbol) = table.short[(ahead >> 8) as usize];
        if length > 0 {
            self.take(length.into())?;
            return Ok(symbol);
        }
        for length in 9..=16 {
            let (first, index, count) = table.lengths[length - 1];
            let code = ahead >> (16 - length);
            if let Some(within) = code.checked_sub(first).filter(|&within| within < count) {
                self.take(length as u32)?;
                return Ok(table.symbols[index + within as usize]);
            }
        }
        Err(self.fault(if self.count < 16 { "a scan ends too early" } else { "a code word is invalid" }))
    }

    /// Signed value of the next `bits` bits (T.81, figure F.12).
    fn signed(&mut self, bits: u32) -> Result<i32, Damage> {
        if bits == 0 {
            return Ok(0);
        }
        let value = self.take(bits)? as i32;
        Ok(if value >> (bits - 1) == 0 { value - (1 << bits) + 1 } else { value })
    }

    /// Skips padding, and a restart marker of that number.
    fn restart(&mut self, number: u8) -> Result<(), Damage> {
        let at = self.end()?;
        let mut at = at;
        while self.file.get(at..at + 2) == Some(&[0xff, 0xff]) {
            at += 1;
        }
        if self.file.get(at..at + 2) != Some(&[0xff, 0xd0 + number]) {
            return Err(Damage { why: format!("restart marker {number} is missing"), at });
        }
        (self.at, self.held, self.count) = (at + 2, 0, 0);
        Ok(())
    }

    /// End of the data: all whole bytes must be read, and a marker must follow.
    fn end(&mut self) -> Result<usize, Damage> {
        self.fill();
        if self.count >= 8 {
            return Err(self.fault("a scan has more data than its blocks"));
        }
        match self.file.get(self.at) {
            Some(0xff) => Ok(self.at),
            Some(_) => Err(self.fault("a scan has more data than its blocks")),
            None => Err(self.fault("the file ends before its end marker")),
        }
    }
}

/// Decoder of the blocks of a scan.
struct Coder<'a> {
    /// DC and AC.
    tables: (Option<&'a Table>, Option<&'a Table>),
    band: &'a Band,
    precision: u32,
}

impl Coder<'_> {
    fn dc(&self, bits: &mut Bits<'_>, predicted: &mut i32) -> Result<(), Damage> {
        let size = bits.symbol(self.tables.0)?;
        if size > 15 {
            return Err(bits.fault("a DC code is invalid"));
        }
        *predicted += bits.signed(size.into())? << self.band.low;
        // Sums of 64 samples, divided by 8: twice as much leaves room for rounding.
        if predicted.abs() > 1 << (self.precision + 3) {
            return Err(bits.fault("a DC coefficient is out of range"));
        }
        Ok(())
    }

    /// Bits of an AC coefficient.
    fn magnitude(&self, bits: &mut Bits<'_>, size: u32) -> Result<(), Damage> {
        // T.81, table F.2.
        if size > self.precision + 2 {
            return Err(bits.fault("an AC coefficient is out of range"));
        }
        bits.take(size).map(drop)
    }

    fn sequential(&self, bits: &mut Bits<'_>, predicted: &mut i32) -> Result<(), Damage> {
        self.dc(bits, predicted)?;
        let mut k = 1;
        while k < COEFFICIENTS {
            let code = bits.symbol(self.tables.1)?;
            let (run, size) = (usize::from(code >> 4), u32::from(code & 15));
            match (run, size) {
                (0, 0) => break,
                (15, 0) => k += 16,
                (_, 0) => return Err(bits.fault("an AC code is invalid")),
                _ => {
                    k += run;
                    if k >= COEFFICIENTS {
                        return Err(bits.fault("a block has too many coefficients"));
                    }
                    self.magnitude(bits, size)?;
                    k += 1;
                }
            }
        }
        if k > COEFFICIENTS { Err(bits.fault("a block has too many coefficients")) } else { Ok(()) }
    }

    fn progressive(
        &self,
        bits: &mut Bits<'_>,
        predicted: &mut i32,
        run: &mut u32,
        nonzero: &mut u64,
    ) -> Result<(), Damage> {
        match (self.band.start, self.band.high) {
            (0, 0) => self.dc(bits, predicted),
            (0, _) => bits.take(1).map(drop),
            (_, 0) => self.first(bits, run, nonzero),
            _ => self.refine(bits, run, nonzero),
        }
    }

    /// First scan of a band: T.81, G.1.2.2.
    fn first(&self, bits: &mut Bits<'_>, run: &mut u32, nonzero: &mut u64) -> Result<(), Damage> {
        if *run > 0 {
            *run -= 1;
            return Ok(());
        }
        let mut k = self.band.start;
        while k <= self.band.end {
            let code = bits.symbol(self.tables.1)?;
            let (zeros, size) = (u32::from(code >> 4), u32::from(code & 15));
            match (zeros, size) {
                (15, 0) => k += 16,
                (_, 0) => {
                    *run = (1 << zeros) - 1 + bits.take(zeros)?;
                    return Ok(());
                }
                _ => {
                    k += zeros as usize;
                    if k > self.band.end {
                        return Err(bits.fault("a block has too many coefficients"));
                    }
                    self.magnitude(bits, size)?;
                    *nonzero |= 1 << k;
                    k += 1;
                }
            }
        }
        if k > self.band.end + 1 { Err(bits.fault("a block has too many coefficients")) } else { Ok(()) }
    }

    /// Further scan of a band: T.81, G.1.2.3.
    fn refine(&self, bits: &mut Bits<'_>, run: &mut u32, nonzero: &mut u64) -> Result<(), Damage> {
        let mut k = self.band.start;
        while *run == 0 && k <= self.band.end {
            let code = bits.symbol(self.tables.1)?;
            let (mut zeros, size) = (u32::from(code >> 4), code & 15);
            match (zeros, size) {
                (15, 0) | (_, 1) => {}
                (_, 0) => {
                    *run = (1 << zeros) + bits.take(zeros)?;
                    break;
                }
                _ => return Err(bits.fault("an AC code is invalid")),
            }
            if size == 1 {
                bits.take(1)?;
            }
            // Zeros are counted, and others on the way refined.
            loop {
                if k > self.band.end {
                    return Err(bits.fault("a block has too many coefficients"));
                }
                if *nonzero >> k & 1 == 1 {
                    bits.take(1)?;
                } else if zeros == 0 {
                    *nonzero |= u64::from(size) << k;
                    k += 1;
                    break;
                } else {
                    zeros -= 1;
                }
                k += 1;
            }
        }
        if *run > 0 {
            *run -= 1;
            let rest = *nonzero >> k << k;
            let rest = if self.band.end == 63 { rest } else { rest & ((1 << (self.band.end + 1)) - 1) };
            (0..rest.count_ones()).try_for_each(|_| bits.take(1).map(drop))?;
        }
        Ok(())
    }
}
