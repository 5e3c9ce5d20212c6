//! What a plan will do, as data: to print, and to assert on in tests.

use crate::range::Exactness;
use crate::schedule::{Schedule, Way};
use crate::wisdom::{Key, WisdomWarning};
use lifting_codegen::schedule::{Direction, Shape};
use lifting_dsl::geometry::Layout;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Format};
use std::fmt;

/// How a plan transforms: what was asked for, what was chosen.
///
/// ```
/// use lifting::{Device, Plan, catalogue};
/// let dd137 = catalogue::find("dd137")?;
/// let plan = Plan::builder(&dd137).shape(&[1080, 1920]).levels(2).sample::<i16>().build(&Device::cpu())?;
/// let recipe = plan.recipe();
/// assert_eq!(recipe.axis_order, [1, 0]); // rows first
/// assert_eq!(recipe.passes.len(), 2); // a pass a level takes both axes
/// println!("{recipe}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The wavelet's name.
    pub wavelet: String,
    /// Type of the samples.
    pub sample: SampleType,
    /// Border rule.
    pub boundary: Boundary,
    /// The format whose conventions are followed.
    pub profile: Option<Format>,
    /// Where coefficients are put.
    pub layout: Layout,
    /// Shape of the data.
    pub shape: Vec<usize>,
    /// Shape of the coefficients; larger than that of the data where the plan pads.
    pub coefficient_shape: Vec<usize>,
    /// Levels per axis; 0 along batch axes.
    pub levels: Vec<u32>,
    /// Position of the first sample along each axis.
    pub origins: Vec<i64>,
    /// Lengths of tiles that know nothing of one another, if the data is cut into some.
    pub tile: Option<Vec<usize>>,
    /// The transformed axes, as analysis takes them.
    pub axis_order: Vec<usize>,
    /// Bits that samples are shifted by at each level.
    pub gain_shift: u32,
    /// Whether arithmetic can wrap, where the plan was told the range of its samples.
    pub exactness: Option<Exactness>,
    /// The device, in words.
    pub device: String,
    /// The passes of analysis, in order; synthesis runs them backwards.
    pub passes: Vec<Pass>,
    /// On a GPU: the schedule of each level, finest first, of analysis and then of synthesis.
    pub choices: Vec<Choice>,
    /// What was passed over in the wisdom that the plan found by itself.
    pub warnings: Vec<WisdomWarning>,
    /// Bytes of a workspace.
    pub workspace_bytes: usize,
}

/// One pass over one level along one axis, or along two or three at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The level that it leads to; 1 is the finest.
    pub level: u32,
    /// The axes that are lifted, in order.
    pub axes: Vec<usize>,
    /// Samples along each of them.
    pub lengths: Vec<usize>,
    /// Number of lines, images or volumes.
    pub count: usize,
    /// The schedule that executes it.
    pub schedule: &'static str,
}

/// The schedule of one level in one direction, and why it is that one.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Analysis or synthesis.
    pub direction: Direction,
    /// The level; 1 is the finest.
    pub level: u32,
    /// Shape of what analysis of the level reads, and synthesis writes.
    pub shape: Vec<usize>,
    /// What was chosen.
    pub taken: Candidate,
    /// Why.
    pub reason: Reason,
    /// What could have been chosen, fastest first.
    pub others: Vec<Candidate>,
    /// What could not.
    pub refused: Vec<Refused>,
    /// What wisdom calls it; `None` where there is nothing to choose.
    #[doc(hidden)]
    pub case: Option<Key>,
    /// What could take it and the levels after it in one launch.
    #[doc(hidden)]
    pub together: Vec<Together>,
}

/// Levels that one launch could take.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// What wisdom calls them, and how many they are.
    pub case: Key,
    /// The shapes that could, with chunks as predicted.
    pub shapes: Vec<Shape>,
}

/// Why a candidate was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It is predicted to be the fastest.
    Predicted,
    /// The plan was told to take this schedule.
    Asked,
    /// It was the fastest when the candidates were measured: the plan was given wisdom that knows this case.
    Measured,
}

/// A way through a level, and what it should cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Schedule and shape of its blocks.
    pub way: Way,
    /// Kernel launches; none where the launch of the level before does this one, too, and then no bytes and no time.
    pub launches: usize,
    /// Bytes that are read and written, what blocks read again included.
    pub bytes: u64,
    /// Time, where 1 is reading and writing the level once.
    pub time: f64,
}

/// A schedule that cannot carry a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The schedule.
    pub schedule: Schedule,
    /// What stands against it.
    pub reason: String,
}

impl Recipe {
    /// The choice for a level (1 is the finest) in one direction; none on the CPU.
    pub fn choice(&self, direction: Direction, level: u32) -> Option<&Choice> {
        self.choices.iter().find(|c| c.direction == direction && c.level == level)
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Candidate { way, launches, bytes, time } = self;
        let plural = if *launches == 1 { "" } else { "es" };
        write!(f, "{way}: {launches} launch{plural}, {bytes} bytes, {time:.2} copies")
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Reason::Predicted => "predicted",
            Reason::Asked => "asked for",
            Reason::Measured => "measured",
        };
        let direction = match self.direction {
            Direction::Forward => "analysis ",
            Direction::Inverse => "synthesis",
        };
        write!(f, "{direction}  level {} of {:?}: ", self.level, self.shape)?;
        match self.taken.launches {
            0 => writeln!(f, "in the launch of the level before ({reason})")?,
            _ => writeln!(f, "{} ({reason})", self.taken)?,
        }
        for other in &self.others {
            writeln!(f, "             not {other}")?;
        }
        for Refused { schedule, reason } in &self.refused {
            writeln!(f, "             not {schedule}: {reason}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = match self.layout {
            Layout::Mallat => "mallat",
            Layout::Interleaved => "interleaved",
        };
        writeln!(f, "wavelet    {} on {}", self.wavelet, self.sample)?;
        writeln!(f, "border     {}", self.boundary)?;
        if let Some(profile) = self.profile {
            writeln!(f, "profile    {}", profile.name())?;
        }
        if self.gain_shift > 0 {
            writeln!(f, "gain       {} bits a level", self.gain_shift)?;
        }
        writeln!(f, "shape      {:?}", self.shape)?;
        if self.coefficient_shape != self.shape {
            writeln!(f, "padded to  {:?}", self.coefficient_shape)?;
        }
        if self.origins.iter().any(|&u| u != 0) {
            writeln!(f, "origins    {:?}", self.origins)?;
        }
        if let Some(tile) = &self.tile {
            writeln!(f, "tiles      {tile:?}")?;
        }
        writeln!(f, "levels     {:?}, axes in order {:?}", self.levels, self.axis_order)?;
        writeln!(f, "layout     {layout}")?;
        if let Some(exactness) = &self.exactness {
            writeln!(f, "range      {exactness}")?;
        }
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "workspace  {} bytes", self.workspace_bytes)?;
        for pass in &self.passes {
            write!(f, "level {}    {}: ", pass.level, pass.schedule)?;
            match (&pass.axes[..], &pass.lengths[..]) {
                ([axis], [length]) => writeln!(f, "axis {axis}, {} lines of {length}", pass.count)?,
                (axes @ [_, _, _], lengths) => writeln!(f, "axes {axes:?}, {} volumes of {lengths:?}", pass.count)?,
                (axes, lengths) => writeln!(f, "axes {axes:?}, {} images of {lengths:?}", pass.count)?,
            }
        }
        for warning in &self.warnings {
            writeln!(f, "warning    {warning}")?;
        }
        for choice in &self.choices {
            write!(f, "{choice}")?;
        }
        Ok(())
    }
}
