//! What a plan will do, as data: to print, and to assert on in tests.

use crate::range::Exactness;
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
/// assert_eq!(recipe.passes.len(), 4);
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
    /// Bytes of a workspace.
    pub workspace_bytes: usize,
}

/// One pass over one level along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The level that it leads to; 1 is the finest.
    pub level: u32,
    /// The axis whose lines are lifted.
    pub axis: usize,
    /// Samples in a line.
    pub length: usize,
    /// Number of lines.
    pub lines: usize,
    /// The schedule that executes it.
    pub schedule: &'static str,
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
        writeln!(f, "levels     {:?}, axes in order {:?}", self.levels, self.axis_order)?;
        writeln!(f, "layout     {layout}")?;
        if let Some(exactness) = &self.exactness {
            writeln!(f, "range      {exactness}")?;
        }
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "workspace  {} bytes", self.workspace_bytes)?;
        for pass in &self.passes {
            writeln!(
                f,
                "level {}    {}: axis {}, {} lines of {}",
                pass.level, pass.schedule, pass.axis, pass.lines, pass.length
            )?;
        }
        Ok(())
    }
}
