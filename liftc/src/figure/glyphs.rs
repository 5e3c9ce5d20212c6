//! Outlines of the bundled fonts: the tables `head`, `cmap`, `hhea`, `hmtx`, `loca` and `glyf` of TrueType.
//!
//! The fonts are part of the program, and have what is read here: characters in a table of format 4, short offsets of
//! glyphs, and parts of composite glyphs placed by offsets. Other fonts may not.

use super::outline::{Command, Point};

/// Most parts within parts of a glyph.
const DEPTH: u32 = 4;

/// Font.
pub struct Face {
    file: &'static [u8],
    /// Offsets of tables in the file.
    characters: usize,
    advances: usize,
    offsets: usize,
    outlines: usize,
    /// Glyphs with an advance of their own; the others have that of the last one.
    widths: usize,
    /// Font units of the size of the font.
    pub units_per_em: f64,
}

impl Face {
    /// Reads the tables; `None` if one is missing.
    pub fn new(file: &'static [u8]) -> Option<Face> {
        let word = |at: usize| Some(u16::from_be_bytes(*file.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u32::from_be_bytes(*file.get(at..)?.first_chunk()?) as usize);
        // A directory entry has a name, a checksum, an offset and a length.
        let entries: Vec<usize> = (0..word(4)?.into()).map(|index: usize| 12 + 16 * index).collect();
        let table = |name: &[u8; 4]| {
            long(8 + entries.iter().copied().find(|&entry| file.get(entry..entry + 4) == Some(&name[..]))?)
        };
        let cmap = table(b"cmap")?;
        Some(Face {
            file,
            characters: cmap + long(cmap + 8)?,
            advances: table(b"hmtx")?,
            offsets: table(b"loca")?,
            outlines: table(b"glyf")?,
            widths: word(table(b"hhea")? + 34)?.into(),
            units_per_em: word(table(b"head")? + 18)?.into(),
        })
    }

    fn word(&self, at: usize) -> Option<usize> {
        Some(u16::from_be_bytes(*self.file.get(at..)?.first_chunk()?).into())
    }

    fn signed(&self, at: usize) -> Option<f64> {
        Some(i16::from_be_bytes(*self.file.get(at..)?.first_chunk()?).into())
    }

    /// Glyph of a character.
    pub fn glyph(&self, c: char) -> Option<usize> {
        let c: usize = u16::try_from(u32::from(c)).ok()?.into();
        // Four lists have an entry for each segment: last characters, first ones, differences, offsets.
        let segments = self.word(self.characters + 6)?;
        let list = |number: usize| self.characters + 14 + segments * number + if number > 0 { 2 } else { 0 };
        let segment = (0..segments).step_by(2).find(|at| self.word(list(0) + at).is_some_and(|last| c <= last))?;
        let first = self.word(list(1) + segment)?;
        let difference = self.word(list(2) + segment)?;
        let place = list(3) + segment;
        let glyph = match (self.word(place)?, c.checked_sub(first)?) {
            (0, _) => (c + difference) & 0xffff,
            (offset, within) => match self.word(place + offset + 2 * within)? {
                0 => 0,
                glyph => (glyph + difference) & 0xffff,
            },
        };
        (glyph > 0).then_some(glyph)
    }

    /// Distance to the next glyph in font units.
    pub fn advance(&self, glyph: usize) -> f64 {
        self.word(self.advances + 4 * glyph.min(self.widths.saturating_sub(1))).unwrap_or(0) as f64
    }

    /// Appends the outline of a glyph. `place` maps font units, y up.
    pub fn outline(&self, glyph: usize, place: &dyn Fn([f64; 2]) -> Point, commands: &mut Vec<Command>) {
        // A glyph without an outline is a blank.
        let _ = self.parts(glyph, place, commands, DEPTH);
    }

    fn parts(
        &self,
        glyph: usize,
        place: &dyn Fn([f64; 2]) -> Point,
        commands: &mut Vec<Command>,
        depth: u32,
    ) -> Option<()> {
        let [start, end] = [self.word(self.offsets + 2 * glyph)?, self.word(self.offsets + 2 * glyph + 2)?];
        let at = self.outlines + 2 * start;
        if start >= end || depth == 0 {
            return None;
        }
        // A number of contours and a bounding box, then contours or parts.
        match self.signed(at)? {
            contours if contours >= 0.0 => self.contours(contours as usize, at + 10, place, commands),
            _ => self.composite(at + 10, place, commands, depth),
        }
    }

    /// Parts, each a glyph with an offset and a linear map.
    fn composite(
        &self,
        mut at: usize,
        place: &dyn Fn([f64; 2]) -> Point,
        commands: &mut Vec<Command>,
        depth: u32,
    ) -> Option<()> {
        const WORDS: usize = 1;
        const OFFSETS: usize = 2;
        const SCALE: usize = 8;
        const MORE: usize = 0x20;
        const SCALES: usize = 0x40;
        const MATRIX: usize = 0x80;
        loop {
            let (flags, glyph) = (self.word(at)?, self.word(at + 2)?);
            at += 4;
            let byte = |at: usize| Some(f64::from(*self.file.get(at)? as i8));
            let (offset, bytes) = match flags & WORDS {
                0 => ([byte(at)?, byte(at + 1)?], 2),
                _ => ([self.signed(at)?, self.signed(at + 2)?], 4),
            };
            let offset = if flags & OFFSETS != 0 { offset } else { [0.0; 2] };
            at += bytes;
            // Numbers of 2 and 14 bits.
            let factor = |index: usize| Some(self.signed(at + 2 * index)? / 16384.0);
            let ([a, b, c, d], bytes) = match flags {
                f if f & SCALE != 0 => ([factor(0)?, 0.0, 0.0, factor(0)?], 2),
                f if f & SCALES != 0 => ([factor(0)?, 0.0, 0.0, factor(1)?], 4),
                f if f & MATRIX != 0 => ([factor(0)?, factor(1)?, factor(2)?, factor(3)?], 8),
                _ => ([1.0, 0.0, 0.0, 1.0], 0),
            };
            at += bytes;
            let moved = |[x, y]: [f64; 2]| place([a * x + c * y + offset[0], b * x + d * y + offset[1]]);
            self.parts(glyph, &moved, commands, depth - 1);
            if flags & MORE == 0 {
                return Some(());
            }
        }
    }

    /// Closed contours of points on curves and of control points; two adjacent control points have one on the curve
    /// midway.
    fn contours(
        &self,
        contours: usize,
        at: usize,
        place: &dyn Fn([f64; 2]) -> Point,
        commands: &mut Vec<Command>,
    ) -> Option<()> {
        const ON_CURVE: u8 = 1;
        const REPEATED: u8 = 8;
        // Bits of the horizontal coordinate; those of the vertical one are next to them.
        const SHORT: u8 = 2;
        const SAME: u8 = 0x10;
        let ends: Vec<usize> = (0..contours).map(|index| self.word(at + 2 * index)).collect::<Option<_>>()?;
        let count = ends.last()? + 1;
        let hints = at + 2 * contours;
        let mut at = hints + 2 + self.word(hints)?;
        let mut flags = Vec::new();
        while flags.len() < count {
            let flag = *self.file.get(at)?;
            at += 1;
            let mut times = 1;
            if flag & REPEATED != 0 {
                times += usize::from(*self.file.get(at)?);
                at += 1;
            }
            flags.extend(std::iter::repeat_n(flag, times));
        }
        let mut points = vec![[0.0; 2]; count];
        for axis in 0..2 {
            let mut value = 0.0;
            for (point, flag) in points.iter_mut().zip(&flags) {
                let flag = flag >> axis;
                if flag & SHORT != 0 {
                    let size = f64::from(*self.file.get(at)?);
                    value += if flag & SAME != 0 { size } else { -size };
                    at += 1;
                } else if flag & SAME == 0 {
                    value += self.signed(at)?;
                    at += 2;
                }
                point[axis] = value;
            }
        }
        let mut start = 0;
        for end in ends {
            let contour: Vec<([f64; 2], bool)> = (start..=end).map(|i| (points[i], flags[i] & ON_CURVE != 0)).collect();
            draw(&contour, place, commands);
            start = end + 1;
        }
        Some(())
    }
}

/// Draws one contour.
fn draw(contour: &[([f64; 2], bool)], place: &dyn Fn([f64; 2]) -> Point, commands: &mut Vec<Command>) {
    let midway = |a: [f64; 2], b: [f64; 2]| [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
    let (&[(first, is_on), ref rest @ ..], Some(&(last, last_is_on))) = (contour, contour.last()) else { return };
    // The contour begins on the curve: at its first point, at its last one, or midway between them.
    let (begin, points) = match (is_on, last_is_on) {
        (true, _) => (first, rest),
        (false, true) => (last, &contour[..contour.len() - 1]),
        (false, false) => (midway(first, last), contour),
    };
    commands.push(Command::Move(place(begin)));
    let mut control = None;
    for &(point, is_on) in points.iter().chain([&(begin, true)]) {
        match (control, is_on) {
            (None, true) => commands.push(Command::Line(place(point))),
            (None, false) => control = Some(point),
            (Some(by), true) => {
                commands.push(Command::Quad(place(by), place(point)));
                control = None;
            }
            (Some(by), false) => {
                commands.push(Command::Quad(place(by), place(midway(by, point))));
                control = Some(point);
            }
        }
    }
    commands.push(Command::Close);
}
