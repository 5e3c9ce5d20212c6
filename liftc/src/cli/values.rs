//! Values shared by several commands, and their parsers.

use lifting::{Boundary, Format, SampleType};

/// `--shape`.
pub(super) type Lengths = Vec<usize>;

pub(super) fn any_shape(text: &str) -> Result<Lengths, String> {
    let side = |text: &str| text.parse().ok().filter(|n| *n > 0);
    let sides: Option<Lengths> = text.split('x').map(side).collect();
    sides.ok_or_else(|| "write the lengths of the axes as 1080x1920, each at least 1".into())
}

/// Height and width, as 480x640; `None` if a side is not a number, or not a valid one.
pub(super) fn sides(text: &str, is_good: impl Fn(&usize) -> bool) -> Option<[usize; 2]> {
    let side = |text: &str| text.parse().ok().filter(&is_good);
    let (height, width) = text.split_once('x')?;
    Some([side(height)?, side(width)?])
}

pub(super) fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "it must be a whole number from 1".into())
}

pub(super) fn boundary_values() -> impl clap::builder::TypedValueParser<Value = Boundary> {
    named(Boundary::ALL.map(|b| (b.name(), b)))
}

pub(super) fn format_values() -> impl clap::builder::TypedValueParser<Value = Format> {
    named(Format::ALL.map(|f| (f.name(), f)))
}

pub(super) fn pass_names() -> impl clap::builder::TypedValueParser<Value = String> {
    let passes = lifting_codegen::opt::PASSES;
    clap::builder::PossibleValuesParser::new(passes.map(|p| clap::builder::PossibleValue::new(p.name).help(p.about)))
}

pub(super) fn dialect_words() -> impl clap::builder::TypedValueParser<Value = String> {
    let value = |d: &dyn lifting_codegen::back::Dialect| clap::builder::PossibleValue::new(d.word()).help(d.name());
    clap::builder::PossibleValuesParser::new(lifting_codegen::back::DIALECTS.map(value))
}

pub(super) fn plan_schedules() -> impl clap::builder::TypedValueParser<Value = lifting::Schedule> {
    named(lifting::Schedule::all().map(|s| (s.name(), s)))
}

pub(super) fn sample_values() -> impl clap::builder::TypedValueParser<Value = SampleType> {
    named(SampleType::ALL.map(|s| (s.name(), s)))
}

/// Parser of names; clap lists them in the help and suggests the nearest.
pub(super) fn named<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, T)>,
) -> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let values: Vec<_> = values.into_iter().collect();
    let names: Vec<&'static str> = values.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).try_map(move |name: String| {
        values.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone()).ok_or("no such name")
    })
}
