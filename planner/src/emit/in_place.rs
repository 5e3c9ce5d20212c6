//! Functions for one shape each, in place, for machines with little memory: C99, or Rust without `std` and `unsafe`.
//!
//! The text is one pass over lines per direction and sample type, and for each shape the calls of its levels and axes.
//! A line passes through two small arrays on the stack; nothing else is allocated.

use super::fixed::what;
use super::{FileError, Fixed};
use crate::scalar::scalar_of;
use lifting_codegen::back::{C, Dialect, Rust};
use lifting_codegen::emit::{self, EmitError, Request, Target, Template, prepared, privatised};
use lifting_codegen::schedule::Options;
use lifting_codegen::schedule::rows::{self, Margins};
use lifting_dsl::Direction;

/// Most bytes of a function's arrays on the stack.
const MOST_BYTES: usize = 1 << 16;

/// Directions, with the verb of the pass over lines and the name of the function.
const WAYS: [(Direction, &str, &str); 2] =
    [(Direction::Forward, "analyse", "forward"), (Direction::Inverse, "synthesise", "inverse")];

/// The C or Rust file with functions for exactly these transforms, and the prototypes of the C functions.
///
/// # Errors
/// If a transform pads, has lines too long for the stack, or a type that CPUs do not compute in.
pub fn in_place(request: &Request, target: &Target, transforms: &[Fixed]) -> Result<(String, String), FileError> {
    let is_c = target == &emit::C;
    let mut kernels = Vec::new();
    for &sample in request.samples {
        for (direction, verb, _) in WAYS {
            let options = Options { gain: request.gain, ..Options::new(sample, request.boundary, direction) };
            let mut kernel = rows::in_place(request.scheme, options).map_err(EmitError::from)?;
            kernel.name = format!("{verb}_lines_{}", sample.name());
            kernels.push(kernel);
        }
    }
    let t = request.template();
    let (mut functions, mut prototypes) = (Vec::new(), Vec::new());
    for fixed in transforms {
        let index = request.samples.iter().position(|s| *s == scalar_of(fixed.sample)).unwrap_or_default();
        for ((direction, _, way), kernel) in WAYS.iter().zip(&kernels[2 * index..]) {
            let function = Function { request, fixed, direction: *direction, way, pass: &kernel.name };
            let (prototype, text) = if is_c { function.c(&t)? } else { function.rust()? };
            prototypes.push(prototype);
            functions.push(text);
        }
    }
    // Arrays of one sample need no passes.
    kernels.retain(|kernel| functions.iter().any(|text: &String| text.contains(&format!("{}(", kernel.name))));
    let kernels = prepared(kernels)?;
    let kernels: Vec<_> = kernels.iter().map(|(kernel, info)| (kernel, info)).collect();
    let dialect: &dyn Dialect = if is_c { &C } else { &Rust };
    let (text, _) = dialect.write_with(&kernels, &mut dialect.namer())?;
    let memory = if is_c { "No heap, no shared state." } else { "No heap, no `std`, no `unsafe`." };
    let schedule = "Schedule: a pass for each axis of each level, in place, a line at a time on the stack.";
    let mut notes = vec![schedule.to_owned(), memory.to_owned()];
    notes.extend(request.fast_math("-ffast-math, -ffp-contract=fast or /fp:fast").filter(|_| is_c));
    let mut out = request.opening(&notes) + "\n";
    if !is_c {
        // Small machines would rather call one copy than inline many.
        out += &text.replace("#[inline(always)]\n", "");
        out += &functions.concat();
        return Ok((out, String::new()));
    }
    out += &dialect.prelude(&kernels);
    out += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    let bare: Vec<String> = prototypes.iter().map(|p| p[p.find("*/\n").map_or(0, |at| at + 3)..].to_owned()).collect();
    out += &t.fill(&format!("#ifndef @U@_H\n{}\n{}#endif\n\n", emit::API, bare.concat()));
    out += &text;
    out += &functions.concat();
    out += "\n#ifdef __cplusplus\n}\n#endif\n";
    Ok((privatised(request, "c", &[], &out), prototypes.join("\n")))
}

/// One direction of a transform.
struct Function<'a> {
    request: &'a Request<'a>,
    fixed: &'a Fixed,
    direction: Direction,
    way: &'a str,
    /// Name of the pass over lines.
    pass: &'a str,
}

/// A pass along an axis of a level.
struct Call {
    level: u32,
    /// Sizes and strides of the axes around the lines, outermost first.
    around: Vec<[usize; 2]>,
    /// Length, stride, lines, pitch, and the gain if there is one.
    arguments: Vec<usize>,
}

impl Function<'_> {
    /// The passes in the order of their execution.
    fn calls(&self) -> Vec<Call> {
        let problem = &self.fixed.problem;
        let mut calls = Vec::new();
        for level in 0..problem.geometry.depth() {
            let size = problem.geometry.level_shape(level);
            for (i, &axis) in problem.geometry.axes_at(level).iter().enumerate() {
                let gain = if i == 0 { problem.gain_shift as usize } else { 0 };
                if size[axis] == 1 && gain == 0 {
                    continue;
                }
                // Axes that continue one another are one.
                let mut around: Vec<[usize; 2]> = Vec::new();
                for other in (0..size.len()).filter(|&other| other != axis && size[other] > 1) {
                    let next = [size[other], self.fixed.data[other] as usize];
                    match around.last_mut() {
                        Some(last) if last[1] == next[0] * next[1] => *last = [last[0] * next[0], next[1]],
                        _ => around.push(next),
                    }
                }
                let [lines, pitch] = around.pop().unwrap_or([1, 1]);
                let mut arguments = vec![size[axis], self.fixed.data[axis] as usize, lines, pitch];
                arguments.extend(self.request.gain.then_some(gain));
                calls.push(Call { level, around, arguments });
            }
        }
        if self.direction == Direction::Inverse {
            calls.reverse();
        }
        calls
    }

    /// Samples of the array, and of each array on the stack.
    fn sizes(&self) -> Result<[usize; 2], FileError> {
        let Fixed { problem, data, coefficients, sample, .. } = self.fixed;
        let shape = problem.geometry.shape().to_vec();
        let pads = problem.source_shape != shape;
        if pads || data != coefficients || problem.geometry.origins().iter().any(|&origin| origin != 0) {
            return Err(FileError::NotInPlace { shape });
        }
        let extra = Margins::of(&self.direction.steps(self.request.scheme)).extra() as usize;
        let longest = self.calls().iter().map(|call| call.arguments[0]).max().unwrap_or(0);
        let (half, bytes) = (longest / 2 + extra, sample.bytes());
        let ends = shape.iter().zip(data).map(|(&n, &stride)| (n - 1).saturating_mul(stride.unsigned_abs()));
        let samples = ends.fold(1_usize, usize::saturating_add);
        if 2 * half * bytes > MOST_BYTES || samples > i32::MAX as usize {
            let most = (MOST_BYTES / bytes / 2).saturating_sub(extra) * 2;
            return Err(FileError::LongLines { shape, most });
        }
        Ok([samples, half])
    }

    /// The calls as statements; `call` writes one with this offset.
    fn body(
        &self,
        comment: [&str; 2],
        open: &dyn Fn(usize, usize) -> String,
        call: &dyn Fn(&str, &Call) -> String,
    ) -> String {
        let mut out = String::new();
        let mut last = None;
        for pass in self.calls() {
            if last.replace(pass.level) != Some(pass.level) {
                let size = self.fixed.problem.geometry.level_shape(pass.level);
                let size: Vec<String> = size.iter().map(usize::to_string).collect();
                out += &format!("    {}level {}: {}{}\n", comment[0], pass.level + 1, size.join(" x "), comment[1]);
            }
            let indent = |depth: usize| "    ".repeat(depth + 1);
            for (i, [size, _]) in pass.around.iter().enumerate() {
                out += &format!("{}{} {{\n", indent(i), open(i, *size));
            }
            let offsets: Vec<String> =
                pass.around.iter().enumerate().map(|(i, [_, stride])| format!("i{i} * {stride}")).collect();
            out += &format!("{}{}\n", indent(pass.around.len()), call(&offsets.join(" + "), &pass));
            (0..pass.around.len()).rev().for_each(|i| out += &format!("{}}}\n", indent(i)));
        }
        out
    }

    fn doc(&self, samples: usize) -> Vec<String> {
        let (title, change) = match self.direction {
            Direction::Forward => ("Analysis", "Bands replace the signal, in Mallat layout: along each axis the"),
            Direction::Inverse => ("Synthesis", "The signal replaces its bands, in Mallat layout: along each axis the"),
        };
        let dense = self.fixed.data == crate::problem::contiguous(self.fixed.problem.geometry.shape());
        let strides: Vec<String> = self.fixed.data.iter().map(isize::to_string).collect();
        let place = if dense { "row by row".into() } else { format!("with strides {}", strides.join(", ")) };
        vec![
            format!("{title} in place of {}. `data` holds {samples}, {place}.", what(self.fixed)),
            format!("{change} low"),
            "band comes first, then the high band; the next level divides the low band.".into(),
        ]
    }

    fn arguments(&self, call: &Call) -> String {
        call.arguments.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
    }

    fn name(&self) -> String {
        format!("{}_{}_{}", self.way, self.fixed.name, self.fixed.sample.name())
    }

    /// Prototype with its comment, and definition.
    fn c(&self, t: &Template) -> Result<(String, String), FileError> {
        let [samples, half] = self.sizes()?;
        let name = emit::sample_type(scalar_of(self.fixed.sample));
        let head = t.fill(&format!("void @W@_{}({name} *data)", self.name()));
        let doc = format!("/* {} */\n", self.doc(samples).join("\n   "));
        let open = |i: usize, size: usize| format!("for (int32_t i{i} = 0; i{i} < {size}; ++i{i})");
        let call = |offset: &str, call: &Call| {
            let data = if offset.is_empty() { "data".to_owned() } else { format!("data + {offset}") };
            format!("{}({data}, {}, evens, odds);", self.pass, self.arguments(call))
        };
        let mut body = self.body(["/* ", " */"], &open, &call);
        let arrays = format!("    {name} evens[{half}], odds[{half}];\n");
        body = if body.is_empty() { "    (void)data;\n".into() } else { arrays + &body };
        let api = t.fill("@U@_API");
        Ok((format!("{doc}{api} {head};\n"), format!("\n{doc}{head}\n{{\n{body}}}\n")))
    }

    /// No prototype, and the definition.
    fn rust(&self) -> Result<(String, String), FileError> {
        let [samples, half] = self.sizes()?;
        let name = self.fixed.sample.name();
        let doc: String = self.doc(samples).iter().map(|line| format!("/// {line}\n")).collect();
        let open = |i: usize, size: usize| format!("for i{i} in 0..{size}");
        let call = |offset: &str, call: &Call| {
            let data = if offset.is_empty() { "data".to_owned() } else { format!("&mut data[{offset}..]") };
            format!("{}({data}, {}, &mut evens, &mut odds);", self.pass, self.arguments(call))
        };
        let body = self.body(["// ", ""], &open, &call);
        let zero = if self.request.scheme.domain() == lifting_dsl::Domain::Real { "0.0" } else { "0" };
        let arrays = format!("    let (mut evens, mut odds) = ([{zero}; {half}], [{zero}; {half}]);\n");
        let (data, body) = if body.is_empty() { ("_data", body) } else { ("data", arrays + &body) };
        let braces = if body.is_empty() { "{}".to_owned() } else { format!("{{\n{body}}}") };
        Ok((String::new(), format!("\n{doc}pub fn {}({data}: &mut [{name}; {samples}]) {braces}\n", self.name())))
    }
}
