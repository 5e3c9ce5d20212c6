//! `coeffs.npy.json`: what the inverse needs besides the coefficients, the wavelet's own text included.

use super::convert::element_of;
use crate::failure::{Failure, Outcome, input};
use crate::media::{Array, Origin, shape_text};
use lifting::{Boundary, Device, Format, Layout, Pad, Plan, PlanBuilder, SampleType, Scheme, Subband, Unsampled};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Says that a JSON file is one of ours.
const FORMAT: &str = "lifting-coefficients";
/// The only version so far.
const VERSION: u32 = 1;
/// Longest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// Everything that decides how coefficients become data again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sidecar {
    format: String,
    version: u32,
    made_by: String,
    /// The wavelet's name.
    pub wavelet: String,
    /// The wavelet, in the language.
    scheme: String,
    sample: String,
    boundary: String,
    profile: Option<String>,
    layout: String,
    /// Shape of the data.
    pub shape: Vec<usize>,
    pad: Option<String>,
    /// Shape of the coefficients.
    pub coefficient_shape: Vec<usize>,
    levels: Vec<u32>,
    axis_order: Vec<usize>,
    /// The file that the data is from.
    pub source: SourceFile,
    /// For whoever reads the array by other means: where each band is.
    bands: Vec<BandEntry>,
}

/// Where data is from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its name, without directories.
    pub name: String,
    /// What kind of file it is.
    #[serde(flatten)]
    pub origin: Origin,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct BandEntry {
    name: String,
    level: u32,
    offset: Vec<usize>,
    shape: Vec<usize>,
    step: Vec<usize>,
}

/// What a transform is asked to be.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The wavelet.
    pub scheme: Scheme,
    /// Type of samples and coefficients.
    pub sample: SampleType,
    /// Shape of the data.
    pub shape: Vec<usize>,
    /// Levels along each axis.
    pub levels: Vec<u32>,
    /// Axes as analysis takes them, where it is known.
    pub axis_order: Option<Vec<usize>>,
    /// Border rule, if not the profile's or wavelet's own.
    pub boundary: Option<Boundary>,
    /// Format to follow.
    pub profile: Option<Format>,
    /// Whether to pad.
    pub pad: Option<Pad>,
    /// Where coefficients are put.
    pub layout: Layout,
}

impl Settings {
    /// The plan's builder, all but the type of its samples.
    pub fn builder(&self) -> PlanBuilder<'_, Unsampled> {
        let mut builder =
            Plan::builder(&self.scheme).shape(&self.shape).levels_per_axis(&self.levels).layout(self.layout);
        if let Some(order) = &self.axis_order {
            builder = builder.axis_order(order);
        }
        if let Some(boundary) = self.boundary {
            builder = builder.boundary(boundary);
        }
        if let Some(profile) = self.profile {
            builder = builder.profile(profile);
        }
        if let Some(pad) = self.pad {
            builder = builder.pad(pad);
        }
        builder
    }

    /// A plan of these settings.
    pub fn plan<T: lifting::Sample>(&self, threads: Option<u16>) -> Result<Plan<T>, lifting::PlanError> {
        let device = threads.map_or_else(Device::cpu, |n| Device::cpu_with_threads(n.into()));
        self.builder().sample::<T>().build(&device)
    }
}

impl Sidecar {
    /// Describes the coefficients that `plan` made.
    pub fn new<T: lifting::Sample>(settings: &Settings, plan: &Plan<T>, source: SourceFile) -> Sidecar {
        let recipe = plan.recipe();
        let band =
            |b: Subband| BandEntry { name: b.name, level: b.level, offset: b.offset, shape: b.shape, step: b.step };
        Sidecar {
            format: FORMAT.into(),
            version: VERSION,
            made_by: format!("liftc {}", env!("CARGO_PKG_VERSION")),
            wavelet: settings.scheme.name().into(),
            scheme: lifting_dsl::print_scheme(&settings.scheme),
            sample: recipe.sample.name().into(),
            boundary: recipe.boundary.name().into(),
            profile: recipe.profile.map(|p| p.name().into()),
            layout: layout_name(recipe.layout).into(),
            shape: recipe.shape.clone(),
            pad: settings.pad.map(|Pad::Edge| "edge".into()),
            coefficient_shape: recipe.coefficient_shape.clone(),
            levels: recipe.levels.clone(),
            axis_order: recipe.axis_order.clone(),
            source,
            bands: plan.subbands().map(band).collect(),
        }
    }

    /// The name beside the coefficients' file.
    pub fn path_for(coefficients: &Path) -> PathBuf {
        let mut name = coefficients.as_os_str().to_owned();
        name.push(".json");
        name.into()
    }

    /// As JSON text.
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists: nothing that JSON cannot say.
        compact_lists(&serde_json::to_string_pretty(self).unwrap_or_default()) + "\n"
    }

    /// Reads the one beside `coefficients`.
    pub fn read(coefficients: &Path) -> Outcome<Sidecar> {
        let path = Sidecar::path_for(coefficients);
        let at = |f: Failure| f.at(path.display());
        let file = std::fs::File::open(&path).map_err(|e| {
            at(input(format!("cannot read what the inverse needs: {e}")))
                .help(format!("it was written beside the coefficients; keep it as {}", path.display()))
        })?;
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(|e| at(input(format!("cannot read: {e}"))))?;
        let sidecar: Sidecar =
            serde_json::from_str(&text).map_err(|e| at(input(format!("is not what `liftc transform` wrote: {e}"))))?;
        if sidecar.format != FORMAT || sidecar.version != VERSION {
            let (format, version) = (&sidecar.format, sidecar.version);
            return Err(at(input(format!(
                "is of format `{format}` version {version}, not `{FORMAT}` version {VERSION}"
            ))));
        }
        Ok(sidecar)
    }

    /// What the transform was asked to be, from what is written.
    pub fn settings(&self) -> Outcome<Settings> {
        let bad = |what: &str, value: &str| input(format!("has an unknown {what} `{value}`"));
        let compiled = lifting_dsl::compile(&self.scheme).map_err(|diagnostics| Failure::Diagnostics {
            name: "scheme".into(),
            source: self.scheme.clone(),
            diagnostics,
        })?;
        let scheme = compiled.schemes.into_iter().next().ok_or_else(|| input("has no wavelet in `scheme`"))?;
        let profile = match &self.profile {
            None => None,
            Some(name) => Some(Format::ALL.into_iter().find(|f| f.name() == name).ok_or_else(|| bad("profile", name))?),
        };
        let layout = [Layout::Mallat, Layout::Interleaved].into_iter().find(|&l| layout_name(l) == self.layout);
        let pad = match self.pad.as_deref() {
            None => None,
            Some("edge") => Some(Pad::Edge),
            Some(other) => return Err(bad("pad", other)),
        };
        Ok(Settings {
            scheme,
            sample: self.sample.parse().map_err(input)?,
            shape: self.shape.clone(),
            levels: self.levels.clone(),
            axis_order: Some(self.axis_order.clone()),
            boundary: Some(self.boundary.parse().map_err(input)?),
            profile,
            pad,
            layout: layout.ok_or_else(|| bad("layout", &self.layout))?,
        })
    }

    /// Whether the array can be what this describes.
    pub fn check(&self, array: &Array, sample: SampleType) -> Outcome {
        if array.shape != self.coefficient_shape {
            return Err(input(format!(
                "is {}, but its sidecar describes coefficients of {}",
                shape_text(&array.shape),
                shape_text(&self.coefficient_shape)
            ))
            .help("the .npy and its .npy.json belong together: transform the original again"));
        }
        let element = array.data.element();
        if Some(element) != element_of(sample) {
            return Err(input(format!("has {} elements, but its sidecar describes {sample} samples", element.name()))
                .help(format!("convert it back: a.astype('{}')", element_of(sample).map_or("f4", |e| e.code()))));
        }
        Ok(())
    }
}

/// Lists of numbers on one line: pretty-printing gives each number its own.
fn compact_lists(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find("[\n") {
        let (before, list) = rest.split_at(start);
        out += before;
        // Text in JSON has no line breaks, so this bracket opens a list.
        let end = list.find(']').map_or(list.len(), |end| end + 1);
        let numbers = list[..end].chars().all(|c| c.is_ascii_digit() || " \n,[]-".contains(c));
        if numbers {
            out += &list[..end].split_whitespace().collect::<Vec<_>>().join(" ").replace("[ ", "[").replace(" ]", "]");
            rest = &list[end..];
        } else {
            out += "[\n";
            rest = &list[2..];
        }
    }
    out + rest
}

fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Mallat => "mallat",
        Layout::Interleaved => "interleaved",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_take_a_line() {
        let value = serde_json::json!({"a": [1, 2, 3], "b": [{"c": [4]}, "[\n5]"], "d": []});
        let text = compact_lists(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        assert!(text.contains("[1, 2, 3]") && text.contains("\"c\": [4]"), "{text}");
    }
}
