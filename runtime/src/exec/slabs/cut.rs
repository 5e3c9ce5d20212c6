//! Slabs of a transform: the rows of each device at each stage, and the boxes that move between devices.
//!
//! A stage is a few levels that devices transform without exchange. Each device holds its own rows and a halo, as wide
//! as the steps of all these levels reach. It transforms both as an ordinary array of the same border rule. Samples
//! near an inner edge come out wrong, but only within the halo, so its own samples have the bits of the whole.
//!
//! Positions along the cut axis are those of `lifting_dsl::geometry`. A cut at position c of a level is a cut at ⌈c/2⌉
//! of its low band and at ⌊c/2⌋ of its high bands, whatever its parity.

use lifting_dsl::geometry::{Band, Geometry, GeometryError, Layout};
use lifting_dsl::{Boundary, Direction};
use lifting_planner::Problem;
use std::ops::Range;
use std::sync::Arc;

/// Settings of the division.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// Number of devices, at least 1.
    pub devices: usize,
    /// Largest level in samples that the first device takes alone: launches, not samples, take its time.
    pub gathered: usize,
    /// Number of levels of each stage but the last; `None` minimises the predicted time.
    pub levels: Option<u32>,
}

impl Division {
    /// Usual settings for a number of devices.
    pub fn of(devices: usize) -> Division {
        Division { devices, gathered: 1 << 20, levels: None }
    }
}

/// Levels that devices transform without exchange.
#[derive(Debug)]
pub(super) struct Stage {
    /// First level, counted from 0.
    pub first: u32,
    /// Number of levels.
    pub levels: u32,
    /// Device d owns positions `cuts[d]..cuts[d + 1]` of the first level's data.
    pub cuts: Vec<i64>,
    /// Slab of each device, if it has one.
    pub slabs: Vec<Option<Slab>>,
}

/// Rows of a device at one stage.
#[derive(Debug)]
pub(super) struct Slab {
    /// Positions of the rows with their halo. Under the periodic rule they may lie outside the axis.
    pub held: Range<i64>,
    /// Transform of these rows.
    pub problem: Arc<Problem>,
}

/// Arrays of a slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Data,
    Coefficients,
}

/// First sample of a box in an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub device: usize,
    pub stage: usize,
    pub side: Side,
    pub at: Vec<usize>,
}

/// Copy of a box between two arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BoxCopy {
    pub from: Place,
    pub to: Place,
    pub shape: Vec<usize>,
}

/// A box of a device's array that holds a part of the whole array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub place: Place,
    pub shape: Vec<usize>,
    /// First index in the whole array.
    pub offset: Vec<usize>,
    /// Distance between two samples in the whole array, for each axis.
    pub step: Vec<usize>,
    /// Name of the band; empty for data.
    pub name: String,
}

/// A transform cut along one axis.
#[derive(Debug)]
pub(super) struct Cut {
    pub axis: usize,
    pub devices: usize,
    pub stages: Vec<Stage>,
    problem: Arc<Problem>,
    /// Reach of the steps of one level, in samples on each side.
    reach: i64,
}

/// ⌈c/2⌉.
fn low(c: i64) -> i64 {
    (c >> 1) + (c & 1)
}

/// ⌈c/2^levels⌉.
fn low_after(c: i64, levels: u32) -> i64 {
    (0..levels).fold(c, |c, _| low(c))
}

/// Distance in samples over which the steps of a level move information, in either direction of the transform.
fn reach(problem: &Problem) -> i64 {
    let of = |direction: Direction| -> i64 {
        if let Some(stages) = direction.stages(&problem.scheme, problem.boundary) {
            return stages.len() as i64;
        }
        let far = |(low, high): (i64, i64)| low.abs().max(high.abs());
        let steps = direction.steps(&problem.scheme);
        steps.iter().filter_map(|step| step.support()).map(|support| far(problem.boundary.reach(support))).sum()
    };
    // A slab of one sample would be taken for a line of one.
    of(Direction::Forward).max(of(Direction::Inverse)).max(2)
}

impl Cut {
    /// Cuts a problem without tiles and with one wavelet.
    pub fn new(problem: &Arc<Problem>, division: Division) -> Result<Cut, GeometryError> {
        let shape = problem.geometry.shape();
        let enough = |axis: &usize| shape[*axis] >= division.devices;
        let longest = || (0..shape.len()).rev().max_by_key(|axis| shape[*axis]).unwrap_or(0);
        let axis = (0..shape.len()).find(enough).unwrap_or_else(longest);
        let (devices, reach) = (division.devices, reach(problem));
        let mut cut = Cut { axis, devices, stages: Vec::new(), problem: problem.clone(), reach };
        let mut cuts = cut.first_cuts();
        let mut level = 0;
        loop {
            let gathers = level > 0 && cut.gathers(level, division);
            if gathers {
                let (start, end) = (cuts[0], cuts[devices]);
                cuts = vec![end; devices + 1];
                cuts[0] = start;
            }
            let left = problem.geometry.depth() - level;
            let levels = if gathers || devices == 1 { left } else { cut.levels(level, division) };
            let stage = cut.stage(level, levels, cuts.clone())?;
            cuts = cuts.iter().map(|c| low_after(*c, cut.axis_levels(level, levels))).collect();
            cut.stages.push(stage);
            level += levels;
            if level >= problem.geometry.depth() {
                return Ok(cut);
            }
        }
    }

    /// Levels along the cut axis among `count` levels from `first` on.
    fn axis_levels(&self, first: u32, count: u32) -> u32 {
        let all = self.problem.geometry.levels()[self.axis];
        all.min(first + count) - all.min(first)
    }

    /// Cuts of the data, at multiples of 2^levels if the axis is long enough.
    fn first_cuts(&self) -> Vec<i64> {
        let geometry = &self.problem.geometry;
        let (length, origin) = (geometry.shape()[self.axis] as i64, geometry.origins()[self.axis]);
        let most = (length / self.devices as i64).max(1).ilog2();
        let unit = 1 << geometry.levels()[self.axis].min(most);
        let devices = self.devices as i128;
        let cut = |device: i128| {
            let even = (i128::from(length) * device / devices) as i64;
            ((origin + even).div_euclid(unit) * unit).clamp(origin, origin + length)
        };
        let mut cuts: Vec<i64> = (0..=devices).map(cut).collect();
        (cuts[0], cuts[self.devices]) = (origin, origin + length);
        cuts
    }

    /// Whether the levels from this one on run on the first device.
    fn gathers(&self, level: u32, division: Division) -> bool {
        let shape = self.problem.geometry.level_shape(level);
        let rows = (shape[self.axis] / self.devices) as i64;
        let halo = if self.axis_levels(level, 1) > 0 { self.reach } else { 0 };
        shape.iter().product::<usize>() <= division.gathered || rows < 2 * halo
    }

    /// Number of levels of the stage that begins at a level: the one with the least time beyond that of the transform.
    fn levels(&self, first: u32, division: Division) -> u32 {
        let geometry = &self.problem.geometry;
        let left = geometry.depth() - first;
        if let Some(levels) = division.levels {
            return levels.clamp(1, left.max(1)).min(left);
        }
        let rows = (geometry.level_shape(first)[self.axis] as f64 / self.devices as f64).max(1.0);
        let cost = |levels: u32| -> f64 {
            let halo = self.halo(self.axis_levels(first, levels)) as f64;
            // A row from another device takes the time of about five that the device transforms.
            let exchange = 6.0 * halo / rows;
            if levels == left {
                return exchange;
            }
            // The low band is copied to the arrays of the next stage, after another exchange.
            let low: usize = geometry.level_shape(first + levels).iter().product();
            let all: usize = geometry.level_shape(first).iter().product();
            exchange + low as f64 / all as f64 + 0.01
        };
        (1..=left).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(0)
    }

    /// Rows around a slab that affect its samples within this many levels.
    fn halo(&self, levels: u32) -> i64 {
        self.reach.saturating_mul((1i64 << levels.min(62)) - 1)
    }

    fn is_periodic(&self) -> bool {
        self.problem.boundary == Boundary::Periodic
    }

    /// First position and length of the cut axis at a level.
    fn line(&self, level: u32) -> (i64, i64) {
        let geometry = &self.problem.geometry;
        (geometry.level_origins(level)[self.axis], geometry.level_shape(level)[self.axis] as i64)
    }

    fn stage(&self, first: u32, levels: u32, cuts: Vec<i64>) -> Result<Stage, GeometryError> {
        let (start, length) = self.line(first);
        let axis_levels = self.axis_levels(first, levels);
        let halo = self.halo(axis_levels);
        let whole = start..start.saturating_add(length);
        let held = |own: &[i64]| -> Option<Range<i64>> {
            (own[0] < own[1]).then(|| {
                // Whole units, so that every level of a periodic slab has an even length.
                let unit = 1i64 << axis_levels;
                let from = own[0].saturating_sub(halo).div_euclid(unit) * unit;
                let to = own[1].saturating_add(halo + unit - 1).div_euclid(unit) * unit;
                if to.saturating_sub(from) >= length || (own[0] == whole.start && own[1] == whole.end) {
                    return whole.clone();
                }
                if self.is_periodic() && halo > 0 { from..to } else { from.max(whole.start)..to.min(whole.end) }
            })
        };
        let slab = |own: &[i64]| -> Result<Option<Slab>, GeometryError> {
            let Some(held) = held(own) else { return Ok(None) };
            let problem = Arc::new(self.part(first, levels, &held)?);
            Ok(Some(Slab { held, problem }))
        };
        let slabs = cuts.windows(2).map(slab).collect::<Result<_, _>>()?;
        Ok(Stage { first, levels, cuts, slabs })
    }

    /// Transform of some rows for a few levels.
    fn part(&self, first: u32, count: u32, held: &Range<i64>) -> Result<Problem, GeometryError> {
        let geometry = &self.problem.geometry;
        let (mut shape, mut origins) = (geometry.level_shape(first), geometry.level_origins(first));
        (shape[self.axis], origins[self.axis]) = ((held.end - held.start) as usize, held.start);
        let levels = |all: &u32| (*all).min(first + count) - (*all).min(first);
        let levels: Vec<u32> = geometry.levels().iter().map(levels).collect();
        let mut source_shape = if first == 0 { self.problem.source_shape.clone() } else { shape.clone() };
        source_shape[self.axis] = shape[self.axis];
        let geometry = Geometry::new(&shape, &origins, &levels, geometry.order())?;
        Ok(Problem { geometry, source_shape, layout: Layout::Mallat, ..(*self.problem).clone() })
    }

    /// Rows of the data that a device owns, as indices of the whole array.
    pub fn rows(&self, device: usize) -> Range<usize> {
        let cuts = &self.stages[0].cuts;
        let last = self.problem.source_shape[self.axis];
        let index = |c: i64| ((c - cuts[0]) as usize).min(last);
        index(cuts[device])..index(cuts[device + 1])
    }

    /// The part of the data that a device owns.
    pub fn data_piece(&self, device: usize) -> Option<Piece> {
        let (rows, slab) = (self.rows(device), self.stages[0].slabs[device].as_ref()?);
        if rows.is_empty() {
            return None;
        }
        let mut shape = self.problem.source_shape.clone();
        let (mut at, mut offset) = (vec![0; shape.len()], vec![0; shape.len()]);
        shape[self.axis] = rows.len();
        at[self.axis] = (self.stages[0].cuts[device] - slab.held.start) as usize;
        offset[self.axis] = rows.start;
        let place = Place { device, stage: 0, side: Side::Data, at };
        Some(Piece { place, step: vec![1; shape.len()], shape, offset, name: String::new() })
    }

    /// The coefficients that a device owns, band by band.
    pub fn coefficient_pieces(&self, device: usize) -> Vec<Piece> {
        let depth = self.problem.geometry.depth();
        let whole = self.problem.geometry.bands(self.problem.layout);
        let mut pieces = Vec::new();
        for (index, stage) in self.stages.iter().enumerate() {
            let Some(slab) = &stage.slabs[device] else { continue };
            let last = stage.first + stage.levels >= depth;
            for band in slab.problem.geometry.bands(Layout::Mallat) {
                let is_low = !band.high.contains(&true);
                if is_low && !last {
                    continue;
                }
                let level = stage.first + band.level;
                let same = |other: &&Band| other.high == band.high && (is_low || other.level == level);
                let global = whole.iter().find(same).expect("a stage has bands of the whole");
                let owned = self.owned(stage, &band, device);
                if let Some((at, shape)) = self.local(&band, &owned) {
                    let mut offset = global.offset.clone();
                    let row = (owned.start - global.origin[self.axis]) as usize;
                    offset[self.axis] += row * global.step[self.axis];
                    let place = Place { device, stage: index, side: Side::Coefficients, at };
                    pieces.push(Piece { place, shape, offset, step: global.step.clone(), name: global.name.clone() });
                }
            }
        }
        pieces
    }

    /// Indices of a band that a device owns, along the cut axis.
    fn owned(&self, stage: &Stage, band: &Band, device: usize) -> Range<i64> {
        let index = |c: i64| self.band_index(stage, band, c);
        index(stage.cuts[device])..index(stage.cuts[device + 1])
    }

    /// First index of a band at or after a position of its stage's data.
    fn band_index(&self, stage: &Stage, band: &Band, c: i64) -> i64 {
        let levels = band.level.min(self.axis_levels(stage.first, stage.levels));
        if band.high[self.axis] { low_after(c, levels - 1) >> 1 } else { low_after(c, levels) }
    }

    /// The box of some rows of a slab's band, in its coefficients; `None` if it is empty.
    fn local(&self, band: &Band, rows: &Range<i64>) -> Option<(Vec<usize>, Vec<usize>)> {
        let (mut at, mut shape) = (band.offset.clone(), band.shape.clone());
        at[self.axis] += usize::try_from(rows.start - band.origin[self.axis]).ok()?;
        shape[self.axis] = usize::try_from(rows.end - rows.start).ok()?;
        (!shape.contains(&0)).then_some((at, shape))
    }

    /// Copies before analysis by a stage: halos of the data, or the low band of the stage before with its halos.
    pub fn before_analysis(&self, index: usize) -> Vec<BoxCopy> {
        let stage = &self.stages[index];
        let (start, length) = self.line(stage.first);
        let last = start + if index == 0 { self.problem.source_shape[self.axis] as i64 } else { length } - 1;
        let served = |p: i64| {
            let p = if self.is_periodic() { start + (p - start).rem_euclid(length) } else { p };
            p.min(last)
        };
        let (from, cuts) = match index {
            0 => (0, stage.cuts.clone()),
            _ => (index - 1, self.cuts_after(index - 1)),
        };
        let mut copies = Vec::new();
        for (device, slab) in stage.slabs.iter().enumerate() {
            let Some(slab) = slab else { continue };
            for run in runs(slab.held.clone(), &cuts, served) {
                // A device's own data is in its place.
                if index == 0 && run.owner == device && run.source == run.at {
                    continue;
                }
                let to_row = (run.at - slab.held.start) as usize;
                let (at, shape, side) = if index == 0 {
                    let source = self.slab(0, run.owner);
                    let mut shape = slab.problem.source_shape.clone();
                    let mut at = vec![0; shape.len()];
                    at[self.axis] = (run.source - source.held.start) as usize;
                    shape[self.axis] = run.count;
                    (at, shape, Side::Data)
                } else {
                    let band = self.low_band(from, run.owner);
                    let rows = run.source..run.source + run.count as i64;
                    let Some((at, shape)) = self.local(&band, &rows) else { continue };
                    (at, shape, Side::Coefficients)
                };
                let mut to = vec![0; shape.len()];
                to[self.axis] = to_row;
                copies.push(BoxCopy {
                    from: Place { device: run.owner, stage: from, side, at },
                    to: Place { device, stage: index, side: Side::Data, at: to },
                    shape,
                });
            }
        }
        copies
    }

    /// Copies before synthesis by a stage: halos of its bands, and the low band from the stage after.
    pub fn before_synthesis(&self, index: usize) -> Vec<BoxCopy> {
        let stage = &self.stages[index];
        let is_last = index + 1 == self.stages.len();
        let after = self.cuts_after(index);
        let mut copies = Vec::new();
        for (device, slab) in stage.slabs.iter().enumerate() {
            let Some(slab) = slab else { continue };
            for band in slab.problem.geometry.bands(Layout::Mallat) {
                let (first, length) = (band.origin[self.axis], band.shape[self.axis] as i64);
                let needed = self.needed(stage, device, slab, &band);
                let needed = needed.start.max(first)..needed.end.min(first + length);
                let from_next = !is_last && !band.high.contains(&true);
                let of_device = |d: usize| self.owned(stage, &band, d).start;
                let cuts: Vec<i64> = match from_next {
                    true => self.stages[index + 1].cuts.clone(),
                    false => (0..self.devices)
                        .map(of_device)
                        .chain([self.owned(stage, &band, self.devices - 1).end])
                        .collect(),
                };
                debug_assert!(!from_next || cuts[0] == after[0]);
                let (begin, all) = (cuts[0], cuts[self.devices] - cuts[0]);
                if all == 0 {
                    continue;
                }
                let served = |k: i64| if self.is_periodic() { begin + (k - begin).rem_euclid(all) } else { k };
                for run in runs(needed, &cuts, served) {
                    if !from_next && run.owner == device && run.source == run.at {
                        continue;
                    }
                    let rows = |at: i64| at..at + run.count as i64;
                    let Some((to, shape)) = self.local(&band, &rows(run.at)) else { continue };
                    let from = if from_next {
                        let mut at = vec![0; shape.len()];
                        at[self.axis] = (run.source - self.slab(index + 1, run.owner).held.start) as usize;
                        Place { device: run.owner, stage: index + 1, side: Side::Data, at }
                    } else {
                        let source = self.same_band(index, run.owner, &band);
                        let Some((at, _)) = self.local(&source, &rows(run.source)) else { continue };
                        Place { device: run.owner, stage: index, side: Side::Coefficients, at }
                    };
                    let to = Place { device, stage: index, side: Side::Coefficients, at: to };
                    copies.push(BoxCopy { from, to, shape });
                }
            }
        }
        copies
    }

    /// Indices of a band on which a device's own data depends; all of them if the slab is the whole.
    fn needed(&self, stage: &Stage, device: usize, slab: &Slab, band: &Band) -> Range<i64> {
        let everything = band.origin[self.axis]..band.origin[self.axis] + band.shape[self.axis] as i64;
        if slab.held.end - slab.held.start == self.line(stage.first).1 {
            return everything;
        }
        let (mut own, axis_levels) =
            (stage.cuts[device]..stage.cuts[device + 1], self.axis_levels(stage.first, stage.levels));
        for level in 1..=band.level.min(axis_levels) {
            let wide = own.start - self.reach..own.end + self.reach;
            if level == band.level && band.high[self.axis] {
                return wide.start >> 1..wide.end >> 1;
            }
            own = low(wide.start)..low(wide.end);
        }
        own
    }

    fn slab(&self, stage: usize, device: usize) -> &Slab {
        self.stages[stage].slabs[device].as_ref().expect("a device with rows has a slab")
    }

    fn low_band(&self, stage: usize, device: usize) -> Band {
        let geometry = &self.slab(stage, device).problem.geometry;
        geometry.low_band(geometry.depth(), Layout::Mallat)
    }

    /// The band of another slab with the same level and sides.
    fn same_band(&self, stage: usize, device: usize, band: &Band) -> Band {
        let bands = self.slab(stage, device).problem.geometry.bands(Layout::Mallat);
        let same = |other: &Band| other.level == band.level && other.high == band.high;
        bands.into_iter().find(same).expect("slabs of a stage have the same bands")
    }

    /// Cuts of the low band that a stage leaves.
    fn cuts_after(&self, stage: usize) -> Vec<i64> {
        let Stage { first, levels, cuts, .. } = &self.stages[stage];
        cuts.iter().map(|c| low_after(*c, self.axis_levels(*first, *levels))).collect()
    }
}

/// Consecutive rows of one owner.
struct Run {
    at: i64,
    source: i64,
    count: usize,
    owner: usize,
}

/// Divides rows by the owner of the row that serves each.
fn runs(rows: Range<i64>, cuts: &[i64], served: impl Fn(i64) -> i64) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for at in rows {
        let source = served(at);
        // The last cut at or before the row; empty slabs own none.
        let owner = cuts[1..].partition_point(|cut| *cut <= source);
        match runs.last_mut() {
            Some(run) if run.owner == owner && run.source + run.count as i64 == source => run.count += 1,
            _ => runs.push(Run { at, source, count: 1, owner }),
        }
    }
    runs
}
