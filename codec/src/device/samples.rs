//! Kernels between samples and the planes of the transform, equivalent to [`Transform`](crate::lane::Transform) on the
//! processor.

use super::{Threads, round};
use crate::colour::{BLUE, Colour, FORWARD, GREEN_FROM_BLUE, GREEN_FROM_RED, RED};
use crate::format::Format;
use crate::image::{range, shift};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::*;

/// Type of samples in device memory: bytes, or 16 bits.
pub fn scalar(format: &Format) -> Scalar {
    if format.bits <= 8 { Scalar::U8 } else { Scalar::I16 }
}

/// Common parameters and variables of both kernels.
struct Pixel {
    samples: Space,
    planes: Space,
    /// Index of the pixel's first sample, and its index in the first plane of its picture.
    sample: Expr,
    place: Expr,
    pixels: Expr,
    components: Expr,
}

impl Pixel {
    /// Pixel of a thread. Parameters, in order: samples, planes, pixels of a picture, components, pixels in all.
    fn new(b: &mut Builder, format: &Format, kind: Scalar, [samples, planes]: [Access; 2]) -> (Pixel, Expr) {
        let samples = Space::Global(b.pointer("samples", scalar(format), samples, "samples, pixel by pixel"));
        let planes = Space::Global(b.pointer("planes", kind, planes, "planes of components, picture by picture"));
        let pixels = b.scalar("pixels", Scalar::I32, "pixels of a picture");
        let components = b.scalar("components", Scalar::I32, "components of a pixel");
        let count = b.scalar("count", Scalar::I32, "pixels in all");
        let at = Threads::index(b);
        let picture = b.let_("picture", Scalar::I32, at / pixels);
        let within = at - picture * pixels;
        let place = b.let_("place", Scalar::I32, picture * components * pixels + within).into();
        let sample = b.let_("sample", Scalar::I32, at * components).into();
        (Pixel { samples, planes, sample, place, pixels: pixels.into(), components: components.into() }, at.lt(count))
    }

    /// Index of a component's number.
    fn at(&self, component: Expr) -> Expr {
        self.place + component * self.pixels
    }
}

fn name(what: &str, format: &Format, kind: Scalar, colour: Colour) -> String {
    let sign = if format.signed { "signed" } else { "unsigned" };
    format!("{what}_{sign}_{}_{}_{}", format.bits, kind.name(), format!("{colour:?}").to_lowercase())
}

/// Real constant.
fn real(v: f32) -> Expr {
    Expr::Lit(Literal::F32(v))
}

/// Kernel from samples to planes, a thread a pixel.
///
/// Parameters, in order: samples (`u8` or `i16`), planes (`i32` or `f32`), pixels of a picture, components, and pixels
/// in all.
pub fn reader(format: &Format, kind: Scalar, colour: Colour) -> Kernel {
    let mut builder = Builder::new(name("read_samples", format, kind, colour));
    let b = &mut builder;
    b.doc("Samples around 0, their colours transformed, to planes of components; a thread a pixel.");
    let (pixel, there) = Pixel::new(b, format, kind, [Access::Read, Access::Write]);
    b.if_(there, |b| {
        let load = |b: &mut Builder, c: Expr| {
            let raw = b.load_new("raw", scalar(format), pixel.samples, pixel.sample + c);
            let value = match (scalar(format), format.signed) {
                (Scalar::U8, true) => (raw.cast(Scalar::I32) << 24) >> 24,
                (Scalar::U8, false) | (_, true) => raw.cast(Scalar::I32),
                _ => raw.cast(Scalar::I32).and(0xffff),
            };
            let value = b.let_("value", Scalar::I32, value - shift(format.bits, format.signed));
            b.let_("number", kind, value.cast(kind))
        };
        let done = if colour == Colour::None { 0 } else { 3 };
        if done == 3 {
            let [red, green, blue] = [0, 1, 2].map(|c| load(b, c.into()));
            let all: [Expr; 3] = match colour {
                Colour::Irreversible => FORWARD.map(|[r, g, c]| red * real(r) + green * real(g) + blue * real(c)),
                _ => [(red + green * 2 + blue) >> 2, blue - green, red - green],
            };
            for (c, value) in (0..).zip(all) {
                b.store(pixel.planes, pixel.at(c.into()), value);
            }
        }
        b.for_("component", done, pixel.components, 1, |b, c| {
            let value = load(b, c);
            b.store(pixel.planes, pixel.at(c), value);
        });
    });
    Threads::finished(builder)
}

/// Kernel from planes to samples, a thread a pixel. Samples are rounded and clamped to their range.
///
/// Parameters are those of [`reader`], with planes read and samples written.
pub fn writer(format: &Format, kind: Scalar, colour: Colour) -> Kernel {
    let mut builder = Builder::new(name("write_samples", format, kind, colour));
    let b = &mut builder;
    b.doc("Planes of components to samples, rounded and clamped, their colours transformed back; a thread a pixel.");
    let (pixel, there) = Pixel::new(b, format, kind, [Access::Write, Access::Read]);
    let (least, largest) = range(format.bits, format.signed);
    let shift = shift(format.bits, format.signed);
    b.if_(there, |b| {
        let store = |b: &mut Builder, c: Expr, value: Expr| {
            // Values are clamped before the sum, which cannot wrap.
            let value = match kind {
                Scalar::F32 => round(b, value, f64::from(least - shift), f64::from(largest - shift), kind),
                _ => value.max(least - shift).min(largest - shift),
            };
            let sample = b.let_("sample", Scalar::I32, value + shift);
            b.store(pixel.samples, pixel.sample + c, sample.cast(scalar(format)));
        };
        let load = |b: &mut Builder, c: Expr| b.load_new("number", kind, pixel.planes, pixel.at(c));
        let done = if colour == Colour::None { 0 } else { 3 };
        if done == 3 {
            let [y, u, v] = [0, 1, 2].map(|c| load(b, c.into()));
            let all = match colour {
                Colour::Irreversible => [
                    y + real(RED as f32) * v,
                    y + real(GREEN_FROM_BLUE as f32) * u + real(GREEN_FROM_RED as f32) * v,
                    y + real(BLUE as f32) * u,
                ],
                _ => {
                    let green = b.let_("green", Scalar::I32, y - ((u + v) >> 2));
                    [v + green, green.into(), u + green]
                }
            };
            for (c, value) in (0..).zip(all) {
                store(b, c.into(), value);
            }
        }
        b.for_("component", done, pixel.components, 1, |b, c| {
            let value = load(b, c);
            store(b, c, value.into());
        });
    });
    Threads::finished(builder)
}
