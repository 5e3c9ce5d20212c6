//! Sidecars (`coeffs.npy.json`): all that the inverse needs besides the coefficients, including the wavelet's text.
//!
//! A sidecar identifies its coefficients by a hash, and protects its own fields by another. So mismatched pairs are
//! found, whether from a crash, a full disk, concurrent writers or an edit. The hash is XXH3 with 128 bits: it guards
//! against accidents at a fraction of the time of a copy, while SHA-256 would take longer than a copy.

use super::convert::{Stored, element_of};
use super::note;
use crate::cli::TransformArgs;
use crate::failure::{Failure, Outcome, input, no_json};
use crate::media::{Array, Origin, Samples, shape_text};
use crate::output::{input_name, is_stream, why};
use lifting::{Boundary, Device, Format, Layout, Pad, Plan, PlanBuilder, SampleType, Scheme, Subband, Unsampled};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};
use zerocopy::IntoBytes;

/// Format name that identifies a sidecar.
const FORMAT: &str = "lifting-coefficients";
/// Version that is written. Version 1 did not identify its coefficients.
const VERSION: u64 = 2;
/// Version that is written for tiles, which readers of version 2 would ignore.
const VERSION_OF_TILES: u64 = 3;
/// Version that is written for several wavelets, which older readers would ignore.
const VERSION_OF_WAVELETS: u64 = 4;
/// Border rule of several wavelets, each by its own text.
const OWN_RULES: &str = "own";
/// Longest sidecar that is read, in bytes.
pub const MAX_BYTES: u64 = 64 << 20;
/// Field with the checksum of the others.
const CHECKSUM: &str = "checksum";

/// Parameters that determine the inverse.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sidecar {
    format: String,
    version: u64,
    made_by: String,
    /// Name of the wavelet.
    pub wavelet: String,
    /// Text of the wavelet, in the language.
    scheme: String,
    /// Texts of the wavelets of each axis from the finest level on, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    wavelets: Vec<Vec<String>>,
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
    /// Positions of the first sample; absent in version 1, where all are 0.
    #[serde(default)]
    origins: Vec<i64>,
    /// Lengths of the tiles, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tile: Option<Vec<usize>>,
    axis_order: Vec<usize>,
    /// XXH3-128 of the coefficients: `xxhash.xxh3_128_hexdigest(a.tobytes())` of the little-endian, row-major array.
    #[serde(default)]
    coefficient_hash: String,
    /// Source of the data.
    pub source: SourceFile,
    /// Positions of the bands, or of the first tile's bands, for other readers of the array.
    bands: Vec<BandEntry>,
    /// XXH3-128 of all other fields.
    #[serde(default)]
    checksum: String,
}

/// Hexadecimal digits of a hash.
fn digits(hash: u128) -> String {
    format!("{hash:032x}")
}

/// Hash of samples in consecutive parts, as a `.npy` holds them.
pub fn hash_of<'a, T: lifting::Sample>(parts: impl IntoIterator<Item = &'a [T]>) -> String {
    let mut hash = Xxh3::new();
    for part in parts {
        let bytes = part.as_bytes();
        if cfg!(target_endian = "little") {
            hash.update(bytes);
        } else {
            let swapped = bytes.chunks(size_of::<T>()).flat_map(|sample| sample.iter().rev().copied());
            hash.update(&swapped.collect::<Vec<u8>>());
        }
    }
    digits(hash.digest128())
}

/// Hash of all fields except the checksum, regardless of white space.
fn checksum_of(value: &Value) -> String {
    let mut value = value.clone();
    if let Value::Object(fields) = &mut value {
        fields.remove(CHECKSUM);
    }
    digits(xxh3_128(value.to_string().as_bytes()))
}

/// Source of data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(expecting = "an object with the name and kind of the source")]
pub struct SourceFile {
    /// File name, without directories.
    pub name: String,
    /// Kind of file.
    #[serde(flatten)]
    pub origin: Origin,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(expecting = "an object that describes a band")]
struct BandEntry {
    name: String,
    level: u32,
    offset: Vec<usize>,
    shape: Vec<usize>,
    step: Vec<usize>,
}

/// Parameters of a transform.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The wavelet.
    pub scheme: Scheme,
    /// Wavelets of each axis from the finest level on, if there are several.
    pub wavelets: Vec<Vec<Scheme>>,
    /// Type of samples and coefficients.
    pub sample: SampleType,
    /// Shape of the data.
    pub shape: Vec<usize>,
    /// Levels along each axis.
    pub levels: Vec<u32>,
    /// Position of the first sample along each axis.
    pub origins: Vec<i64>,
    /// Lengths of the tiles, if the data is divided into tiles.
    pub tile: Option<Vec<usize>>,
    /// Order of axes in analysis, if known.
    pub axis_order: Option<Vec<usize>>,
    /// Border rule, if not that of the profile or wavelet.
    pub boundary: Option<Boundary>,
    /// Format to follow.
    pub profile: Option<Format>,
    /// Padding, if any.
    pub pad: Option<Pad>,
    /// Layout of the coefficients.
    pub layout: Layout,
}

impl Settings {
    /// Builder of the plan, without the sample type.
    pub fn builder(&self) -> PlanBuilder<'_, Unsampled> {
        let builder = Plan::builder(&self.scheme).shape(&self.shape).levels_per_axis(&self.levels);
        let mut builder = builder.origins(&self.origins).layout(self.layout);
        for (axis, levels) in self.wavelets.iter().enumerate() {
            builder = builder.axis_wavelets(axis, &levels.iter().collect::<Vec<_>>());
        }
        if let Some(tile) = &self.tile {
            builder = builder.tile(tile);
        }
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

    /// Wavelet of an axis at a level; 0 is the finest.
    pub fn wavelet(&self, axis: usize, level: u32) -> &Scheme {
        let own = self.wavelets.get(axis).and_then(|own| own.get(level as usize).or(own.last()));
        own.unwrap_or(&self.scheme)
    }

    /// Plan of these settings.
    pub fn plan<T: lifting::Sample>(&self, device: &Device) -> Result<Plan<T>, lifting::PlanError> {
        self.builder().sample::<T>().build(device)
    }
}

impl Sidecar {
    /// Describes coefficients made by `plan`, identified by their [`hash_of`].
    pub fn new<T: lifting::Sample>(
        settings: &Settings,
        plan: &Plan<T>,
        source: SourceFile,
        coefficient_hash: String,
    ) -> Sidecar {
        let recipe = plan.recipe();
        let band =
            |b: Subband| BandEntry { name: b.name, level: b.level, offset: b.offset, shape: b.shape, step: b.step };
        Sidecar {
            format: FORMAT.into(),
            version: match (&settings.wavelets[..], &settings.tile) {
                ([_, ..], _) => VERSION_OF_WAVELETS,
                ([], Some(_)) => VERSION_OF_TILES,
                ([], None) => VERSION,
            },
            made_by: format!("liftc {}", env!("CARGO_PKG_VERSION")),
            wavelet: recipe.wavelet.clone(),
            scheme: lifting_dsl::print_scheme(&settings.scheme),
            wavelets: settings.wavelets.iter().map(|own| own.iter().map(lifting_dsl::print_scheme).collect()).collect(),
            sample: recipe.sample.name().into(),
            boundary: match settings.boundary {
                None if !settings.wavelets.is_empty() => OWN_RULES.into(),
                _ => recipe.boundary.name().into(),
            },
            profile: recipe.profile.map(|p| p.name().into()),
            layout: layout_name(recipe.layout).into(),
            shape: recipe.shape.clone(),
            pad: settings.pad.map(|Pad::Edge| "edge".into()),
            coefficient_shape: recipe.coefficient_shape.clone(),
            levels: recipe.levels.clone(),
            origins: recipe.origins.clone(),
            tile: recipe.tile.clone(),
            axis_order: recipe.axis_order.clone(),
            coefficient_hash,
            source,
            bands: plan.subbands().map(band).collect(),
            checksum: String::new(),
        }
    }

    /// JSON text with the checksum.
    pub fn into_json(mut self) -> String {
        // Strings, numbers and lists always convert to JSON.
        let text = serde_json::to_string(&self).unwrap_or_default();
        self.checksum = checksum_of(&serde_json::from_str(&text).unwrap_or_default());
        compact_lists(&serde_json::to_string_pretty(&self).unwrap_or_default()) + "\n"
    }

    /// Finds and reads the sidecar of these coefficients: the file named by `--sidecar`, else `behind`, the bytes after
    /// the data, else the file next to them. Also returns its place for messages.
    pub fn find(args: &TransformArgs, coefficients: &Path, behind: Vec<u8>) -> Outcome<(Sidecar, String)> {
        let (place, text) = match &args.sidecar {
            Some(path) => (path.display().to_string(), read_text(path)?),
            None if is_sidecar(&behind) => {
                let place = format!("{}, after the data", input_name(coefficients));
                let text = String::from_utf8(behind).map_err(|_| input(format!("{place}: is not text in UTF-8")))?;
                (place, text)
            }
            None if is_stream(coefficients) => {
                let help = "`liftc transform … -o -` writes it after the data; or name its file with --sidecar";
                let what = "no sidecar follows the coefficients";
                return Err(input(what).at(input_name(coefficients)).help(help));
            }
            None => {
                let path = Sidecar::path_for(coefficients);
                let help = format!(
                    "it was written next to the coefficients: keep it as {0}, or name it with --sidecar",
                    path.display()
                );
                let text = read_text(&path).map_err(|f| if path.exists() { f } else { f.help(help) })?;
                (path.display().to_string(), text)
            }
        };
        let sidecar = Sidecar::parse(&text, &place, args).map_err(|f| f.at(&place))?;
        Ok((sidecar, place))
    }

    /// Parses a sidecar, which must be unchanged unless `--force` is given.
    fn parse(text: &str, place: &str, args: &TransformArgs) -> Outcome<Sidecar> {
        let value: Value = serde_json::from_str(text)
            .map_err(|e| no_json(&e).help("it cannot be a sidecar: transform the original again"))?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(input(format!("is not a sidecar: its `format` is not `{FORMAT}`"))
                .help("the inverse needs the .npy.json that `liftc transform` wrote with the coefficients"));
        }
        let fault = match value.get("version").and_then(Value::as_u64) {
            Some(VERSION..=VERSION_OF_WAVELETS)
                if value.get(CHECKSUM).and_then(Value::as_str) == Some(checksum_of(&value).as_str()) =>
            {
                None
            }
            Some(VERSION..=VERSION_OF_WAVELETS) => {
                Some("was changed since it was written, so it may not describe the coefficients")
            }
            Some(1) => Some("is of version 1, which does not identify its coefficients"),
            Some(version) => {
                let known = format!("this liftc knows versions 1 to {VERSION_OF_WAVELETS}");
                let error = input(format!("is of version {version}: {known}"));
                return Err(error.help("use the liftc that wrote it, or a newer one"));
            }
            None => return Err(input("is not a sidecar: it has no `version`")),
        };
        if let Some(fault) = fault {
            unless_forced(args, place, fault)?;
        }
        serde_json::from_value(value)
            .map_err(|e| input(format!("is not what `liftc transform` wrote: {}", wrong_field(&e))))
    }

    /// File name of the sidecar next to its coefficients.
    pub fn path_for(coefficients: &Path) -> PathBuf {
        let mut name = coefficients.as_os_str().to_owned();
        name.push(".json");
        name.into()
    }

    /// Checks that the coefficients are the sidecar's own, bit for bit; `--force` only notes a difference.
    pub fn check_data<T: Stored>(&self, coefficients: &Samples<T>, place: &str, args: &TransformArgs) -> Outcome {
        // Version 1 has no hash, and was reported already.
        if self.coefficient_hash.is_empty() || self.coefficient_hash == hash_of(coefficients.parts()) {
            return Ok(());
        }
        unless_forced(
            args,
            place,
            "belongs to other coefficients: these are from another transform, or were changed since",
        )
    }

    /// Settings of the transform, from the sidecar's fields.
    pub fn settings(&self) -> Outcome<Settings> {
        let bad = |what: &str, value: &str| input(format!("has an unknown {what} `{value}`"));
        let scheme_of = |text: &String, field: &str| {
            let compiled = lifting_dsl::compile(text).map_err(|diagnostics| Failure::Diagnostics {
                name: field.into(),
                source: text.clone(),
                diagnostics,
            })?;
            compiled.schemes.into_iter().next().ok_or_else(|| input(format!("has no wavelet in `{field}`")))
        };
        let scheme = scheme_of(&self.scheme, "scheme")?;
        let of_axis = |texts: &Vec<String>| texts.iter().map(|text| scheme_of(text, "wavelets")).collect();
        let wavelets = self.wavelets.iter().map(of_axis).collect::<Outcome<_>>()?;
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
            wavelets,
            sample: self.sample.parse().map_err(input)?,
            shape: self.shape.clone(),
            levels: self.levels.clone(),
            origins: if self.origins.is_empty() { vec![0; self.shape.len()] } else { self.origins.clone() },
            tile: self.tile.clone(),
            axis_order: Some(self.axis_order.clone()),
            boundary: match self.boundary.as_str() {
                OWN_RULES if !self.wavelets.is_empty() => None,
                rule => Some(rule.parse().map_err(input)?),
            },
            profile,
            pad,
            layout: layout.ok_or_else(|| bad("layout", &self.layout))?,
        })
    }

    /// Checks that the array matches the description.
    pub fn check(&self, array: &Array, sample: SampleType) -> Outcome {
        if array.shape != self.coefficient_shape {
            return Err(input(format!(
                "is {}, but the sidecar describes coefficients of {}",
                shape_text(&array.shape),
                shape_text(&self.coefficient_shape)
            ))
            .help("a .npy and its .npy.json belong together: transform the original again"));
        }
        let element = array.data.element();
        if Some(element) != element_of(sample) {
            return Err(input(format!("has {} elements, but the sidecar describes {sample} samples", element.name()))
                .help(format!("convert it back: a.astype('{}')", element_of(sample).map_or("f4", |e| e.code()))));
        }
        Ok(())
    }
}

/// Error of a field: its content in the JSON, and the expected type.
fn wrong_field(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if let Some(field) = text.strip_prefix("missing field ") {
        return format!("it has no field {field}");
    }
    let Some((found, expected)) = text.split_once(", expected ") else { return text };
    let found = found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
    let expected = match expected {
        "a sequence" => "a list",
        "a map" => "an object",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i64" => "a whole number",
        other => other,
    };
    format!("it has {found} where {expected} should be")
}

/// Reports an error, or only a note with `--force`.
fn unless_forced(args: &TransformArgs, place: &str, fault: &str) -> Outcome {
    if args.force {
        note(args.quiet, &format!("{place}: {fault}"));
        return Ok(());
    }
    Err(input(fault).help("transform the original again, or add --force if the change is intended"))
}

/// Whether these bytes begin like a sidecar; other bytes may follow a `.npy`.
fn is_sidecar(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{") && bytes[..bytes.len().min(64)].windows(8).any(|w| w == b"\"format\"")
}

fn read_text(path: &Path) -> Outcome<String> {
    let at = |f: Failure| f.at(path.display());
    let cannot = |e: std::io::Error| at(input(format!("cannot read the sidecar: {}", why(&e))));
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(cannot)?.take(MAX_BYTES).read_to_end(&mut bytes).map_err(cannot)?;
    String::from_utf8(bytes).map_err(|_| at(input("is not text in UTF-8: it cannot be a sidecar")))
}

/// Joins lists of numbers onto one line each; pretty-printing puts each number on its own line.
fn compact_lists(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find("[\n") {
        let (before, list) = rest.split_at(start);
        out += before;
        // JSON text has no line breaks inside strings, so this bracket opens a list.
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
