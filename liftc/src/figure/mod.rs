//! Common style of figures: plots of wavelets, windows of `explain`, times of `bench`.

pub mod chart;
mod font;
mod glyphs;
mod outline;
#[cfg(feature = "cli")]
mod pixels;
mod scene;

#[cfg(feature = "cli")]
use crate::{
    failure::{Outcome, input, usage},
    output::write_file,
};
pub use font::{advance, broken, literal};
pub use outline::Point;
pub use scene::{Anchor, Colour, Scene};
#[cfg(feature = "cli")]
use std::path::Path;

/// Size of a figure's title, in points.
pub const TITLE: f64 = 9.0;
/// Size of labels.
pub const LABEL: f64 = 7.5;
/// Size of numbers, legends and notes.
pub const NUMBER: f64 = 6.5;

/// Line width of grids.
pub const HAIR: f64 = 0.4;
/// Line width of frames, arrows and outlines.
pub const PEN: f64 = 0.6;
/// Line width of curves.
pub const CURVE: f64 = 0.9;

/// Colour of text, axes and arrows.
pub const INK: Colour = Colour(0x22, 0x22, 0x22);
/// Colour of lines that guide the eye.
pub const FAINT: Colour = Colour(0xdd, 0xdd, 0xdd);
/// Colour of background areas.
pub const SHADE: Colour = Colour(0xee, 0xee, 0xee);
/// Colour of the low band, the even phase and the forward direction: Okabe and Ito's blue, which colour-blind readers
/// distinguish from [`HIGH`].
pub const LOW: Colour = Colour(0x00, 0x72, 0xb2);
/// Colour of the high band, the odd phase and the inverse direction: their vermillion.
pub const HIGH: Colour = Colour(0xd5, 0x5e, 0x00);
/// Paper.
pub const PAPER: Colour = Colour(0xff, 0xff, 0xff);

/// Points per millimetre.
pub const MILLIMETRE: f64 = 72.0 / 25.4;
/// Default resolution, in pixels per inch.
#[cfg(feature = "cli")]
pub const DPI: u16 = 300;

/// File format of a figure.
#[cfg(feature = "cli")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Vector outlines, for print and browsers.
    Svg,
    /// Pixels.
    Png,
}

#[cfg(feature = "cli")]
impl Format {
    /// Format of a file name's extension.
    pub fn of(path: &Path) -> Outcome<Format> {
        match path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => Err(usage(format!("{}: figures are .svg or .png", path.display())).help("as in -o dd137.svg")),
        }
    }
}

/// Writes a figure into a file, in the format of its extension; `dpi` is the resolution of pixels.
#[cfg(feature = "cli")]
pub fn write(path: &Path, scene: &Scene, dpi: u16) -> Outcome {
    match Format::of(path)? {
        Format::Svg => write_file(path, |w| w.write_all(scene.svg().as_bytes())),
        Format::Png => {
            let picture = scene.pixels(f64::from(dpi)).ok_or_else(|| input("the figure has no size"))?;
            let mut bytes = std::io::Cursor::new(Vec::new());
            picture.write_to(&mut bytes, image::ImageFormat::Png).map_err(|e| input(e).at(path.display()))?;
            write_file(path, |w| w.write_all(bytes.get_ref()))
        }
    }
}
