//! Recipes: a plan's description as data, to print and to test.

use crate::range::Exactness;
use crate::schedule::{Schedule, Way};
use crate::wisdom::{Key, WisdomWarning};
use lifting_codegen::schedule::Shape;
use lifting_dsl::geometry::Layout;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Direction, Format};
use std::fmt;

/// Description of a plan: the request and the choices.
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
    /// Format whose conventions the plan follows.
    pub profile: Option<Format>,
    /// Placement of the coefficients.
    pub layout: Layout,
    /// Shape of the data.
    pub shape: Vec<usize>,
    /// Shape of the coefficients; larger than that of the data if the plan pads.
    pub coefficient_shape: Vec<usize>,
    /// Levels for each axis; 0 along batch axes.
    pub levels: Vec<u32>,
    /// Position of the first sample along each axis.
    pub origins: Vec<i64>,
    /// Lengths of independent tiles, if the data has tiles.
    pub tile: Option<Vec<usize>>,
    /// Transformed axes in the order of analysis.
    pub axis_order: Vec<usize>,
    /// Gain shift of the samples at each level, in bits.
    pub gain_shift: u32,
    /// Whether arithmetic can wrap, if the plan knows the range of its samples.
    pub exactness: Option<Exactness>,
    /// Description of the device.
    pub device: String,
    /// The passes of analysis, in order; synthesis runs them backwards.
    pub passes: Vec<Pass>,
    /// On a GPU: the choice for each level, finest first, of analysis and then of synthesis.
    pub choices: Vec<Choice>,
    /// Warnings about skipped entries of the default wisdom.
    pub warnings: Vec<WisdomWarning>,
    /// Size of a workspace in bytes.
    pub workspace_bytes: usize,
}

/// One pass over one level along one axis, or along two or three at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Result level; 1 is the finest.
    pub level: u32,
    /// Lifted axes, in order.
    pub axes: Vec<usize>,
    /// Samples along each axis.
    pub lengths: Vec<usize>,
    /// Number of lines, images or volumes.
    pub count: usize,
    /// Schedule of the pass.
    pub schedule: &'static str,
}

/// The schedule of one level in one direction, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Analysis or synthesis.
    pub direction: Direction,
    /// Level; 1 is the finest.
    pub level: u32,
    /// Shape that analysis of the level reads, and synthesis writes.
    pub shape: Vec<usize>,
    /// The chosen candidate.
    pub taken: Candidate,
    /// Reason of the choice.
    pub reason: Reason,
    /// Other candidates, fastest first.
    pub others: Vec<Candidate>,
    /// Refused schedules.
    pub refused: Vec<Refused>,
    /// Key in wisdom; `None` if there is no choice.
    #[doc(hidden)]
    pub case: Option<Key>,
    /// Launches that could take this level and the following ones together.
    #[doc(hidden)]
    pub together: Vec<Together>,
}

/// Levels that one launch could take.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// Key of the levels in wisdom, with their number.
    pub case: Key,
    /// Possible shapes, with predicted chunks.
    pub shapes: Vec<Shape>,
}

/// Reason for the choice of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It has the fastest prediction.
    Predicted,
    /// The user requested this schedule.
    Asked,
    /// It was measured fastest: the plan's wisdom has this case.
    Measured,
}

/// A candidate for a level, with its predicted cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Schedule and block shape.
    pub way: Way,
    /// Kernel launches; 0 if the previous level's launch includes this level, and then bytes and time are 0, too.
    pub launches: usize,
    /// Bytes read and written, including re-reads by blocks.
    pub bytes: u64,
    /// Time relative to reading and writing the level once.
    pub time: f64,
}

/// A schedule that does not support a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The schedule.
    pub schedule: Schedule,
    /// The reason.
    pub reason: String,
}

impl Recipe {
    /// The choice for a level (1 is the finest) in one direction; `None` on the CPU.
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
            0 => writeln!(f, "in the launch of the previous level ({reason})")?,
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
