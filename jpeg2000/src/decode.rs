//! Decoding of codestreams.

use crate::block::{BrokenBlock, ebcot, ht};
use crate::codestream::{Coder, Codestream, Size, TileStream, Wavelet};
use crate::error::{Error, zeros};
use crate::file::File;
use crate::geometry::Resolution;
use crate::image::{Component, Image, Rect};
use crate::lane::for_pixels;
use crate::packet::{CodedBlock, Outcome, PacketReader, Precinct, groups};
use crate::tile::{BlockPlace, Tile, TileComponent};
use crate::transform::{Plans, Transformed};
use lifting::threads;

/// Samples that any stream may ask for.
const SMALL: u128 = 1 << 26;

/// Samples that each byte of a larger stream may ask for.
const PROPORTION: u128 = 1 << 12;

/// Tile-components that any stream may have; a larger one needs as many bytes.
const LEAST_TILES: u128 = 1 << 16;

/// Decoder of a codestream or of a file of the JP2 family.
///
/// ```
/// use lifting_jpeg2000::{Decoder, Encoder, Image};
/// let samples: Vec<i32> = (0..40 * 60).map(|i| i / 60 + i % 60).collect();
/// let image = Image::interleaved([40, 60, 1], 8, false, &samples)?;
/// let stream = Encoder::default().encode(&image)?;
/// assert_eq!(Decoder::new(&stream)?.decode()?.image, image);
/// let small = Decoder::new(&stream)?.reduce(2).decode()?.image;
/// assert_eq!((small.components[0].height, small.components[0].width), (10, 15));
/// # Ok::<(), lifting_jpeg2000::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    stream: Codestream<'a>,
    file: Option<File<'a>>,
    bytes: usize,
    reduce: u32,
    layers: u32,
    region: Option<Rect>,
    most: Option<u128>,
}

/// Decoded picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The picture.
    pub image: Image,
    /// Whether the stream held all data of the tiles that were decoded.
    pub complete: bool,
    /// Codeblocks that were left out because their bytes cannot have been made by an encoder.
    pub broken_blocks: usize,
}

/// Samples of a tile's components.
struct DecodedTile {
    planes: Vec<Plane>,
    complete: bool,
    broken_blocks: usize,
}

/// Samples of a tile-component, in an area of the component's reduced domain.
struct Plane {
    component: usize,
    area: Rect,
    samples: Vec<i32>,
}

impl<'a> Decoder<'a> {
    /// Parses a codestream, or the codestream of a JP2 or JPH file.
    ///
    /// # Errors
    /// [`Error::Signature`], [`Error::Broken`] or [`Error::Unsupported`].
    pub fn new(data: &'a [u8]) -> Result<Decoder<'a>, Error> {
        let file = File::parse(data)?;
        let stream = Codestream::parse(file.as_ref().map_or(data, |file| file.codestream))?;
        Ok(Decoder { stream, file, bytes: data.len(), reduce: 0, layers: u32::MAX, region: None, most: None })
    }

    /// Discards the `reduce` finest resolutions: sides are divided by 2^`reduce`.
    pub fn reduce(mut self, reduce: u32) -> Self {
        self.reduce = reduce;
        self
    }

    /// Decodes only the first `layers` quality layers.
    pub fn layers(mut self, layers: u32) -> Self {
        self.layers = layers;
        self
    }

    /// Decodes only an area of the reference grid, at full size. Codeblocks that it does not depend on are not decoded.
    pub fn region(mut self, region: Rect) -> Self {
        self.region = Some(region);
        self
    }

    /// Allows so many samples, of all components, whatever the stream's length.
    pub fn most_samples(mut self, most: u128) -> Self {
        self.most = Some(most);
        self
    }

    /// The headers.
    pub fn codestream(&self) -> &Codestream<'a> {
        &self.stream
    }

    /// The boxes around the codestream; `None` for a raw codestream.
    pub fn file(&self) -> Option<&File<'a>> {
        self.file.as_ref()
    }

    /// Decodes the picture; a file's palette is applied. A stream that is cut decodes to what it holds.
    ///
    /// # Errors
    /// [`Error::Broken`], [`Error::Reduction`], [`Error::Region`], [`Error::TooLarge`] or [`Error::Memory`].
    pub fn decode(&self) -> Result<Picture, Error> {
        let size = &self.stream.size;
        let area = self.area();
        if area.is_empty() {
            return Err(Error::Region { region: self.region.unwrap_or_default(), picture: size.area });
        }
        let place = |c: &Component| area.divided(c.dx, c.dy).reduced(self.reduce);
        let tiles = tiles_within(size, area, self.reduce, self.bytes, self.most)?;
        let empty = |c: &Component| Component { height: place(c).height(), width: place(c).width(), ..c.clone() };
        // Tiles fill in the samples.
        let components = size.components.iter().map(empty).collect();
        let mut picture =
            Picture { image: Image { area, components }, complete: self.stream.complete, broken_blocks: 0 };
        let plans = Plans::default();
        for tiles in tiles.chunks(4 * threads::most()) {
            for decoded in threads::map(tiles, |&index| self.tile(index, &plans)) {
                let DecodedTile { planes, complete, broken_blocks } = decoded?;
                picture.complete &= complete;
                picture.broken_blocks += broken_blocks;
                for plane in planes {
                    self.place(plane, &mut picture.image)?;
                }
            }
        }
        match &self.file {
            Some(file) => Ok(Picture { image: file.channels(picture.image)?, ..picture }),
            None => Ok(picture),
        }
    }

    /// Area of the reference grid that is decoded.
    fn area(&self) -> Rect {
        let whole = self.stream.size.area;
        self.region.map_or(whole, |region| region.intersection(&whole))
    }

    /// Decodes a tile.
    fn tile(&self, index: u32, plans: &Plans) -> Result<DecodedTile, Error> {
        let Codestream { size, parameters, tiles, .. } = &self.stream;
        let empty = TileStream::default();
        let source = tiles.get(&index).unwrap_or(&empty);
        let tile = Tile::new(size, parameters, &source.parameters, index)?;
        if self.reduce > tile.levels() {
            return Err(Error::Reduction { reduce: self.reduce, levels: tile.levels() });
        }
        let (precincts, complete) = precincts(&tile, source, self.bytes, self.layers)?;
        let mut decoded = DecodedTile { planes: Vec::new(), complete, broken_blocks: 0 };
        let wanted = &tile.components;
        let is_colour = tile.order.colour && wanted.len() >= 3;
        if is_colour {
            let same = |c: &TileComponent| c.area == wanted[0].area && c.coding.wavelet == wanted[0].coding.wavelet;
            if !wanted[1..3].iter().all(same) {
                let what = format!("tile {index} has a colour transform of components that differ in size or wavelet");
                return Err(Error::Broken { at: 0, what });
            }
        }
        let mut at = 0;
        while at < wanted.len() {
            let together = at..if at == 0 && is_colour { 3 } else { at + 1 };
            match wanted[at].coding.wavelet {
                Wavelet::LeGall53 => self.planes::<i32>(&tile, together.clone(), &precincts, plans, &mut decoded)?,
                Wavelet::Cdf97 => self.planes::<f32>(&tile, together.clone(), &precincts, plans, &mut decoded)?,
            }
            at = together.end;
        }
        Ok(decoded)
    }

    /// Decodes components that have a colour transform in common, or a single one.
    fn planes<T: Transformed>(
        &self,
        tile: &Tile,
        components: std::ops::Range<usize>,
        precincts: &[Vec<Vec<Precinct<'_>>>],
        plans: &Plans,
        decoded: &mut DecodedTile,
    ) -> Result<(), Error> {
        let mut planes: Vec<Vec<T>> = Vec::new();
        for c in components.clone() {
            let component = &tile.components[c];
            let (coefficients, broken) = self.coefficients::<T>(component, &precincts[c])?;
            decoded.broken_blocks += broken;
            let area = component.area.reduced(self.reduce);
            planes.push(plans.synthesise(area, component.coding.levels - self.reduce, coefficients)?);
        }
        for_pixels(&mut planes, T::inverse);
        for (component, plane) in components.zip(planes) {
            let format = &self.stream.size.components[component];
            let nearest = format.nearest();
            // In place.
            let samples = plane.into_iter().map(nearest).collect();
            let area = tile.components[component].area.reduced(self.reduce);
            decoded.planes.push(Plane { component, area, samples });
        }
        Ok(())
    }

    /// Copies the samples of a tile-component into the picture.
    fn place(&self, plane: Plane, image: &mut Image) -> Result<(), Error> {
        let Plane { component, area, samples } = plane;
        let to = &mut image.components[component];
        let whole = image.area.divided(to.dx, to.dy).reduced(self.reduce);
        if area == whole {
            to.samples = samples;
            return Ok(());
        }
        if to.samples.is_empty() {
            to.samples = zeros(to.height * to.width, "samples")?;
        }
        let part = area.intersection(&whole);
        for y in part.y0..part.y1 {
            let from = (y - area.y0) as usize * area.width() + (part.x0 - area.x0) as usize;
            let into = (y - whole.y0) as usize * to.width + (part.x0 - whole.x0) as usize;
            to.samples[into..into + part.width()].copy_from_slice(&samples[from..from + part.width()]);
        }
        Ok(())
    }

    /// Coefficients of a tile-component in the order of the transform, and the number of broken blocks.
    fn coefficients<T: Transformed>(
        &self,
        component: &TileComponent,
        precincts: &[Vec<Precinct<'_>>],
    ) -> Result<(Vec<T>, usize), Error> {
        struct Job<'b> {
            block: &'b CodedBlock<'b>,
            place: BlockPlace,
            planes: u32,
            half: f32,
        }
        let levels = component.coding.levels - self.reduce;
        let area = component.area.reduced(self.reduce);
        let mut coefficients = zeros(area.width() * area.height(), "coefficients")?;
        let [dx, dy] = component.spacing;
        let wanted = self.area().divided(dx, dy).reduced(self.reduce);
        // Coefficients of each resolution that the area depends on.
        let of_resolution = |r: u32| {
            let depth = if r == 0 { levels } else { levels - r + 1 };
            (0..depth).fold(wanted, |wanted, _| below(wanted))
        };
        let wanted: Vec<Rect> = (0..=levels).map(of_resolution).collect();
        let of_resolution = |(r, resolution): (u32, &Resolution)| -> Result<Vec<(u32, f64)>, Error> {
            resolution.bands.iter().map(|band| component.quantiser(r, band)).collect()
        };
        let quantisers: Vec<_> =
            (0..=levels).zip(&component.resolutions).map(of_resolution).collect::<Result<_, Error>>()?;
        let mut jobs = Vec::new();
        for place in component.blocks(levels, area.width()) {
            let resolution = place.resolution as usize;
            let block = &precincts[resolution][place.precinct].blocks(place.band)[place.index];
            if block.is_empty() || place.area.intersection(&wanted[resolution]).is_empty() {
                continue;
            }
            let (planes, step) = quantisers[resolution][place.band];
            jobs.push(Job { block, place, planes: planes + component.shift, half: (step * 0.5) as f32 });
        }
        let mut broken = 0;
        // Few blocks at a time: their samples stay in the caches.
        for jobs in jobs.chunks(64 * threads::most()) {
            let decoded = threads::map(jobs, |job| -> Result<Vec<i32>, BrokenBlock> {
                let mut indices = block_indices(component, &job.place, job.planes, job.block)?;
                if component.shift > 0 {
                    indices.iter_mut().for_each(|index| *index = unshift(*index, component.shift));
                }
                Ok(indices)
            });
            for (job, indices) in jobs.iter().zip(decoded) {
                let Ok(indices) = indices else {
                    broken += 1;
                    continue;
                };
                for (y, row) in indices.chunks(job.place.area.width()).enumerate() {
                    let to: &mut [T] = &mut coefficients[job.place.at + y * area.width()..][..row.len()];
                    to.iter_mut().zip(row).for_each(|(to, &index)| *to = T::dequantise(index, job.half));
                }
            }
        }
        Ok((coefficients, broken))
    }
}

/// Tiles of an area, after a reduction. The stream has `bytes` bytes.
///
/// # Errors
/// [`Error::TooLarge`] or [`Error::Broken`] if their samples or tile-components are out of proportion to the bytes.
pub fn tiles_within(size: &Size, area: Rect, reduce: u32, bytes: usize, most: Option<u128>) -> Result<Vec<u32>, Error> {
    let samples = |c: &Component| {
        let place = area.divided(c.dx, c.dy).reduced(reduce);
        place.height() as u128 * place.width() as u128
    };
    let samples = size.components.iter().map(samples).sum();
    let most = most.unwrap_or(SMALL + PROPORTION * bytes as u128);
    if samples > most {
        return Err(Error::TooLarge { bytes, samples, most });
    }
    let [columns, rows] = size.tiles();
    let wanted = |&index: &u32| !size.tile_area(index).intersection(&area).is_empty();
    let tiles: Vec<u32> = (0..columns * rows).filter(wanted).collect();
    let count = tiles.len() as u128 * size.components.len() as u128;
    if count > LEAST_TILES + bytes as u128 {
        let what = format!("{count} tile-components in a stream of {bytes} bytes");
        return Err(Error::Broken { at: 0, what });
    }
    Ok(tiles)
}

/// Precincts by component and resolution.
pub type Precincts<'a> = Vec<Vec<Vec<Precinct<'a>>>>;

/// Reads the packets of a tile: the precincts of each component and resolution, and whether all packets are there.
/// Passes beyond the first `layers` layers are forgotten. `bytes` is the stream's length.
///
/// # Errors
/// [`Error::Broken`].
pub fn precincts<'a>(
    tile: &Tile,
    source: &'a TileStream<'a>,
    bytes: usize,
    layers: u32,
) -> Result<(Precincts<'a>, bool), Error> {
    let places = tile.precincts() * tile.volumes.len() as u128;
    if places > (bytes as u128).max(1 << 20) {
        let what = format!("{places} precincts in the progressions of tile {}, more than bytes", tile.index);
        return Err(Error::Broken { at: 0, what });
    }
    let mut reader = PacketReader::new(source.parts.clone(), source.headers.as_deref(), tile.order);
    let of_component = |component: &TileComponent| -> Vec<Vec<Precinct<'a>>> {
        let of_resolution =
            |resolution: &Resolution| (0..resolution.count()).map(|k| Precinct::new(resolution, k)).collect();
        component.resolutions.iter().map(of_resolution).collect()
    };
    let mut precincts: Vec<_> = tile.components.iter().map(of_component).collect();
    for volume in &tile.volumes {
        let (places, groups) = groups(&tile.components, tile.area, volume);
        for group in groups {
            for layer in 0..volume.layers.min(tile.order.layers) {
                for place in &places[group.clone()] {
                    let precinct = &mut precincts[place.component][place.resolution as usize][place.precinct];
                    // A volume repeats no packet of an earlier one.
                    if precinct.layers > layer {
                        continue;
                    }
                    let coding = &tile.components[place.component].coding;
                    match reader.read(precinct, coding, layer < layers) {
                        Outcome::Whole => {}
                        Outcome::Cut => return Ok((precincts, false)),
                        Outcome::Broken { at, what } => return Err(Error::Broken { at, what }),
                    }
                }
            }
        }
    }
    Ok((precincts, true))
}

/// Decodes a block of a band of `planes` bitplanes: twice its indices, as [`crate::block`] says.
///
/// # Errors
/// If no encoder can have made it.
pub fn block_indices(
    component: &TileComponent,
    place: &BlockPlace,
    planes: u32,
    block: &CodedBlock<'_>,
) -> Result<Vec<i32>, BrokenBlock> {
    let shape = place.shape();
    let mut indices = vec![0; shape.height * shape.width];
    let left = |planes: u32, less: u32| planes.checked_sub(less).filter(|&planes| planes > 0);
    let style = component.coding.style;
    let too_many = BrokenBlock("more empty bitplanes or passes than its band has bitplanes");
    match component.coding.coder {
        Coder::Ebcot => {
            let planes = left(planes, block.zero_planes).ok_or(too_many)?;
            let segments = block.segments_of(planes);
            ebcot::decode(shape, place.orientation, style, planes, &segments, &mut indices)?;
        }
        Coder::Ht => {
            if let Some((sets, segments)) = block.ht_set() {
                let planes = left(planes, block.zero_planes + sets).ok_or(too_many)?;
                ht::decode(shape, planes, style.causal, &segments, &mut indices)?;
            }
        }
    }
    Ok(indices)
}

/// Coefficients of the next level that samples in an area depend on. The 9/7 wavelet reads up to 4 samples on either
/// side.
fn below(area: Rect) -> Rect {
    let start = |x: u32| (x / 2).saturating_sub(4);
    let end = |x: u32| x.div_ceil(2).saturating_add(4);
    Rect { x0: start(area.x0), y0: start(area.y0), x1: end(area.x1), y1: end(area.y1) }
}

/// Undoes the shift of a region of interest: indices of 2^`shift` or more belong to it (equation H-1).
fn unshift(doubled: i32, shift: u32) -> i32 {
    match doubled.unsigned_abs() >> 1 >> shift.min(31) {
        0 => doubled,
        _ => (doubled.unsigned_abs() >> shift) as i32 * doubled.signum(),
    }
}
