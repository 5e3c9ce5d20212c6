//! Arguments of `explain` and `plot`.

use super::values::{boundary_values, sample_values, sides};
pub use crate::plot::Panel;
use clap::Args;
use lifting::{Boundary, SampleType};
use std::path::PathBuf;

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The wavelet: NAME, FILE.lift or FILE.lift#NAME; or the code of an error or a warning, such as L0301
    pub wavelet: String,
    /// Border extension [default: the wavelet's own]
    #[arg(long, value_name = "RULE", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// Print everything as JSON: an object
    #[arg(long)]
    pub json: bool,
    /// Rows per step of the window, in the table and the diagram: even, 2 to 64
    #[arg(long, value_name = "ROWS", default_value = "8", value_parser = even_height)]
    pub height: u32,
    /// Also draw the row diagram
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Image size for the counts of schedules
    #[arg(long, value_name = "HxW", default_value = "64x64", value_parser = image_shape)]
    pub shape: [usize; 2],
    /// Levels for the counts and the input bound
    #[arg(short, long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub levels: u32,
    /// Sample type for the counts of schedules [default: i16 for integer wavelets, f32 for real ones]
    #[arg(long, value_name = "TYPE", value_parser = sample_values())]
    pub sample: Option<SampleType>,
}

/// Largest side of an image for counts, as interpretation is slow.
const MAX_SIDE: usize = 2048;

fn even_height(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n @ 2..=64) if n % 2 == 0 => Ok(n),
        _ => Err("it must be an even number from 2 to 64".into()),
    }
}

fn image_shape(text: &str) -> Result<[usize; 2], String> {
    let sides = sides(text, |n| (2..=MAX_SIDE).contains(n));
    sides.ok_or_else(|| format!("write height and width as 480x640, each from 2 to {MAX_SIDE}"))
}

/// Arguments of `plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// The wavelet: NAME, FILE.lift or FILE.lift#NAME
    pub wavelet: String,
    /// Files to write, .svg or .png by their extension
    #[arg(short, long, required = true, value_name = "FILE", value_delimiter = ',')]
    pub output: Vec<PathBuf>,
    /// Panels to draw, from top to bottom [default: all]
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub what: Vec<Panel>,
    /// Width of the figure in millimetres; 88 fits a column of a paper
    #[arg(long, value_name = "MM", default_value = "88", value_parser = clap::value_parser!(u16).range(60..=400))]
    pub width: u16,
    /// Resolution of a PNG, in pixels per inch
    #[arg(long, value_name = "N", default_value = "300", value_parser = clap::value_parser!(u16).range(36..=1200))]
    pub dpi: u16,
}
