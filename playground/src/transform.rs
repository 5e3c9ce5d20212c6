//! Transforms of a picture or a signal: forward, without small details, and back.
//!
//! Sample types and conversions are those of `liftc transform`, so coefficients have the same bits.

use liftc::figure::chart::{Area, BELOW, Chart, Curve, LEFT, RIGHT, Style};
use liftc::figure::{HIGH, INK, LOW, MILLIMETRE, Scene};
use liftc::pyramid::{self, View};
use lifting::{Device, Domain, GeometryError, Layout, Pad, Plan, PlanBuilder, PlanError, Sample, Scheme};
use lifting_dsl::analysis::{LevelGains, level_gains};
use serde::Deserialize;
use serde_json::{Value, json};

/// Most samples of a picture or signal: they and their coefficients fit the memory of a phone's page.
const MOST_SAMPLES: usize = 12 << 20;
/// Most points of a drawn curve.
const MOST_POINTS: usize = 2048;
/// Condition of borders above which rounding errors are noted, as in `liftc transform`.
const ILL_CONDITIONED: f64 = 100.0;
/// Width of a signal's figure, in millimetres.
const WIDTH: f64 = 160.0;

/// Settings of a transform.
#[derive(Debug, Deserialize)]
pub struct Settings {
    /// Height, width and channels (1 or 3) of a picture of bytes; the length of a signal of `f64`.
    shape: Vec<usize>,
    levels: u32,
    /// Details below it become 0. Its unit is that of samples: each band counts by the norm of its synthesis.
    threshold: f64,
    /// Whether the bytes of the reply end with the coefficients, as `f64`.
    #[serde(default)]
    raw: bool,
}

/// Transforms `data` and back. The reply has PSNR in dB (null if infinite), zeros and coefficients. For a picture, the
/// bytes are the picture of coefficients, then the reconstruction; for a signal, the reply has a figure.
///
/// # Errors
/// If the settings do not fit the wavelet or the data.
pub fn run(text: &str, name: &str, settings: &Settings, data: &[u8]) -> Result<(Value, Vec<u8>), String> {
    let (scheme, _) = crate::text::scheme(text, name)?;
    let count = settings.shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n)).unwrap_or(usize::MAX);
    let is_picture = settings.shape.len() == 3;
    if count == 0 || count > MOST_SAMPLES {
        return Err(format!("{count} samples: a page transforms 1 to {MOST_SAMPLES}; crop or reduce the data"));
    }
    if data.len() != if is_picture { count } else { 8 * count } {
        return Err(format!("{} bytes do not have the shape {:?}", data.len(), settings.shape));
    }
    let job = Job { scheme: &scheme, settings };
    match (is_picture, scheme.domain()) {
        (true, Domain::Integer) => job.picture::<i16>(data, |x| x.round_ties_even() as i64),
        (true, Domain::Real) => job.picture::<f32>(data, |x| x.round_ties_even() as i64),
        (false, Domain::Integer) => {
            let whole = |x: f64| {
                let fits = x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX);
                fits.then_some(x as i32).ok_or_else(|| {
                    format!("the signal has the value {x}: an integer wavelet needs whole numbers of 32 bits")
                })
            };
            job.signal(&reals(data).map(whole).collect::<Result<Vec<_>, _>>()?)
        }
        (false, Domain::Real) => job.signal(&reals(data).collect::<Vec<f64>>()),
    }
}

fn reals(data: &[u8]) -> impl Iterator<Item = f64> {
    data.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes))
}

struct Job<'a> {
    scheme: &'a Scheme,
    settings: &'a Settings,
}

/// Plans and results of a transform there and back.
struct Done<T: Sample> {
    plan: Plan<T>,
    coefficients: Vec<T>,
    samples: Vec<T>,
    zeros: usize,
    notes: Vec<String>,
}

impl Job<'_> {
    fn builder<T: Sample>(&self, pad: bool) -> PlanBuilder<'_, T> {
        let shape = &self.settings.shape;
        let axes: &[usize] = if shape.len() == 3 { &[0, 1] } else { &[0] };
        let plan = Plan::builder(self.scheme).shape(shape).axes(axes).levels(self.settings.levels).sample::<T>();
        if pad { plan.pad(Pad::Edge) } else { plan }
    }

    /// Forward, zeros, inverse.
    fn run<T: Sample>(&self, samples: &[T]) -> Result<Done<T>, String> {
        let device = Device::cpu_with_threads(1);
        let mut notes = Vec::new();
        let plan = match self.builder::<T>(false).build(&device) {
            Err(PlanError::Geometry(GeometryError::OddPeriodic { .. })) => {
                notes.push(
                    "Periodic borders need lengths that are even at each level: the last samples are \
                            repeated (--pad edge)."
                        .into(),
                );
                self.builder::<T>(true).build(&device)
            }
            plan => plan,
        }
        .map_err(|e| e.to_string())?;
        let condition = plan.condition();
        if condition > ILL_CONDITIONED {
            let rule = plan.recipe().boundary;
            notes.push(format!(
                "Border rule {rule} does not suit this wavelet: near borders, coefficients are up to {condition:.1e} \
                 times too large, and rounding errors with them."
            ));
        }
        let mut coefficients = vec![T::from_i64(0); plan.coefficient_len()];
        plan.forward(samples, &mut coefficients).map_err(|e| e.to_string())?;
        self.remove(&plan, &mut coefficients);
        let mut samples = vec![T::from_i64(0); plan.len()];
        plan.inverse(&coefficients, &mut samples).map_err(|e| e.to_string())?;
        let zeros = coefficients.iter().filter(|c| c.to_f64() == 0.0).count();
        Ok(Done { plan, coefficients, samples, zeros, notes })
    }

    /// Replaces details below the threshold by 0.
    fn remove<T: Sample>(&self, plan: &Plan<T>, coefficients: &mut [T]) {
        let gains = level_gains(self.scheme, plan.depth());
        let threshold = self.settings.threshold;
        for band in plan.subbands().filter(|band| band.high.contains(&true) && !band.is_empty()) {
            let limit = threshold / norm(&gains[band.level as usize - 1], &band.high, &plan.recipe().levels);
            let [rows, columns, channels] = std::array::from_fn(|axis| band.shape.get(axis).copied().unwrap_or(1));
            let stride = |axis: usize| band.strides.get(axis).copied().unwrap_or(0);
            for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
                let at = band.start as isize + y as isize * stride(0) + x as isize * stride(1);
                for c in 0..channels {
                    let value = &mut coefficients[(at + c as isize * stride(2)) as usize];
                    if value.to_f64().abs() < limit {
                        *value = T::from_i64(0);
                    }
                }
            }
        }
    }

    fn picture<T: Sample>(&self, pixels: &[u8], round: fn(f64) -> i64) -> Result<(Value, Vec<u8>), String> {
        let samples: Vec<T> = pixels.iter().map(|&x| T::from_i64(x.into())).collect();
        let done = self.run(&samples)?;
        let byte = |x: &T| round(x.to_f64()).clamp(0, 255) as u8;
        let back: Vec<u8> = done.samples.iter().map(byte).collect();
        let error: f64 = pixels.iter().zip(&back).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
        let psnr = decibels(255.0, error, pixels.len());
        let shape = done.plan.coefficient_shape();
        let mallat = self.builder::<T>(shape != done.plan.shape()).layout(Layout::Mallat);
        let places = mallat.build(&Device::cpu_with_threads(1)).map_err(|e| e.to_string())?;
        let view = View {
            axes: [0, 1],
            channels: shape[2],
            white: Some(255.0),
            gain: &|level| pyramid::low_gain(self.scheme, 0, level, 2),
        };
        let (mut bytes, _) = pyramid::pixels(&done.plan, &places, &done.coefficients, &view);
        bytes.extend(back);
        bytes.extend(self.raw(&done));
        Ok((done.reply(psnr, json!({ "pyramid": shape })), bytes))
    }

    fn signal<T: Sample>(&self, signal: &[T]) -> Result<(Value, Vec<u8>), String> {
        if let Some(bad) = signal.iter().map(|x| x.to_f64()).find(|x| !x.is_finite()) {
            return Err(format!("the signal has the value {bad}: only finite numbers are transformed"));
        }
        let done = self.run(signal)?;
        let real = |all: &[T]| all.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        let (before, after, coefficients) = (real(signal), real(&done.samples), real(&done.coefficients));
        let error = |(a, b): (&f64, &f64)| (a - b).powi(2);
        let error = before.iter().zip(&after).map(error).sum();
        let (low, high) = range(&before);
        let psnr = decibels(high - low, error, before.len());
        let svg = draw(&before, &after, &coefficients);
        Ok((done.reply(psnr, json!({ "svg": svg })), self.raw(&done)))
    }

    fn raw<T: Sample>(&self, done: &Done<T>) -> Vec<u8> {
        let wanted = if self.settings.raw { &done.coefficients[..] } else { &[] };
        wanted.iter().flat_map(|c| c.to_f64().to_le_bytes()).collect()
    }
}

impl<T: Sample> Done<T> {
    fn reply(&self, psnr: f64, mut more: Value) -> Value {
        more["psnr"] = psnr.into();
        more["zeros"] = self.zeros.into();
        more["coefficients"] = self.coefficients.len().into();
        more["sample"] = T::KIND.name().into();
        more["notes"] = self.notes.clone().into();
        more
    }
}

/// Norm of a band's synthesis along the transformed axes.
fn norm(gains: &LevelGains, high: &[bool], levels: &[u32]) -> f64 {
    let axes = high.iter().zip(levels).filter(|(_, levels)| **levels > 0);
    axes.map(|(&high, _)| if high { gains.high.synthesis_l2 } else { gains.low.synthesis_l2 }).product()
}

/// PSNR; infinite without an error.
fn decibels(peak: f64, error: f64, count: usize) -> f64 {
    10.0 * (peak * peak * count as f64 / error).log10()
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
}

/// Figure of a signal: the signal before and after, and its coefficients, bands from low to high.
fn draw(before: &[f64], after: &[f64], coefficients: &[f64]) -> String {
    let (width, height) = (WIDTH * MILLIMETRE, 100.0);
    let curve = |values: &[f64], colour, style, name| Curve { points: thinned(values), colour, style, name };
    let chart = |y_label, curves: Vec<Curve>, length: usize| {
        let all: Vec<f64> = curves.iter().flat_map(|c| &c.points).map(|p| p.1).collect();
        let (low, high) = range(&all);
        // Constant signals have a range, too.
        let margin = if high > low { 0.05 * (high - low) } else { 1.0 };
        let (x, y) = ((0.0, (length.max(2) - 1) as f64), (low - margin, high + 4.0 * margin));
        Chart { x_label: "*n*", y_label, x, y, ticks: Vec::new(), curves, note: None }
    };
    let signals = vec![curve(before, LOW, Style::Line, "signal"), curve(after, HIGH, Style::Dashed, "reconstruction")];
    let charts = [
        chart("*x*", signals, before.len()),
        chart("*c*", vec![curve(coefficients, INK, Style::Line, "coefficients")], coefficients.len()),
    ];
    let mut scene = Scene::new(width, charts.len() as f64 * (height + BELOW) + 8.0, "The signal and its coefficients");
    for (i, chart) in charts.iter().enumerate() {
        let y = 8.0 + i as f64 * (height + BELOW);
        chart.draw(&mut scene, Area { x: LEFT, y, width: width - LEFT - RIGHT, height });
    }
    scene.svg()
}

/// Points of a curve; of a long one, the least and the largest value of equal parts.
fn thinned(values: &[f64]) -> Vec<(f64, f64)> {
    let part = values.len().div_ceil(MOST_POINTS / 2);
    if values.len() <= MOST_POINTS {
        return values.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect();
    }
    let ends = |(i, values): (usize, &[f64])| {
        let (low, high) = range(values);
        let x = (i * part) as f64;
        [(x, low), (x, high)]
    };
    values.chunks(part).enumerate().flat_map(ends).collect()
}
