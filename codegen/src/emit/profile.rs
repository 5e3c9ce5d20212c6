//! Formats in emitted files: constructors of shapes, refused shapes, and JPEG 2000's lines of one sample.

use super::{EmitError, Request, Template};
use crate::ir::{Kernel, Scalar};
use crate::schedule::copy::{self, Change};
use lifting_dsl::Format;

/// A C function for lines of one sample at an odd position. All pointers have unit stride along the innermost axis.
const LONE_C: &str = "\
/* Lines of one sample at an odd position: analysis doubles it, synthesis halves it (JPEG 2000, T.800 F.4.6, F.3.6). */
static int lone_@S@(
    int axes, const int64_t *size, const @T@ *from, const int64_t *from_stride, @T@ *to, const int64_t *to_stride,
    int analysis, int gain)
{
    pass_axes p = axes_of_pass(axes, axes - 1);
    const int64_t rows = count_of(p.across, size);
    p.batch = -1;
    (void)gain;
    do {
        const @T@ *source = from + offset_of(&p, axes, from_stride);
        @T@ *target = to + offset_of(&p, axes, to_stride);
        const int64_t from_pitch = pitch_of(&p, axes, from_stride), to_pitch = pitch_of(&p, axes, to_stride);
        for (int64_t r = 0; r < rows; ++r) {
            for (int64_t x = 0; x < size[axes - 1]; ++x) {
                const @T@ value = source[r * from_pitch + x];
                target[r * to_pitch + x] = @LONE_VALUE@;
            }
        }
    } while (next_index(&p, axes, size));
    return @U@_OK;
}

";

const LONE_INTEGER: &str = "(@T@)(
                    analysis ? (int64_t)((uint64_t)(int64_t)value << (gain + 1))
                             : (((int64_t)value >> 1) + ((int64_t)1 << gain >> 1)) >> gain)";
const LONE_REAL: &str = "analysis ? value * 2 : value / 2";

/// A function for the same lines, which launches the kernels of [`Request::lone_kernels`].
const LONE_LAUNCHED: &str = "\
/* Lines of one sample at an odd position: analysis doubles it, synthesis halves it (JPEG 2000, T.800 F.4.6, F.3.6). */
static int lone_@S@(
    int axes, const int64_t *size, @IN@from, const int64_t *from_stride, @OUT@to, const int64_t *to_stride,
    int analysis, int gain@CONTEXT_PARAM@)
{
    pass_axes p = axes_of_pass(axes, axes - 1);
    const int32_t x = count_of(p.axis, size), y = count_of(p.across, size), z = count_of(p.batch, size);
    const int64_t from_y = pitch_of(&p, axes, from_stride), to_y = pitch_of(&p, axes, to_stride);
    const int64_t from_z = stride_of(&p, from_stride), to_z = stride_of(&p, to_stride);
    do {
        @IN@source = from + offset_of(&p, axes, from_stride);
        @OUT@target = to + offset_of(&p, axes, to_stride);
        const int code = analysis
            ? launch_@UP@(source, target, x, y, z, x, y, z, 1, from_y, from_z, 1, to_y, to_z, gain + 1@HC@)
            : launch_@DOWN@(source, target, x, y, z, x, y, z, 1, from_y, from_z, 1, to_y, to_z, 1, gain@LONE_CONTEXT@);
        if (code != @U@_OK) return code;
    } while (next_index(&p, axes, size));
    return @U@_OK;
}

";

const LONE_CALL: [&str; 2] = [
    "    if (length == 1 && l->parity[axis] == 1) {
        return lone_@S@(l->axes, size, src, src_stride, high, to_stride, 1, gain@LONE_CONTEXT@);
    }
",
    "    if (length == 1 && l->parity[axis] == 1) {
        return lone_@S@(l->axes, size, high, high_stride, dst, dst_stride, 0, gain@LONE_CONTEXT@);
    }
",
];

/// [`LONE_C`] in Rust, in place: a line of one odd sample is all high band, which begins where the line does.
const LONE_RUST: &str = "            if level.size[axis] == 1 && level.parity[axis] == 1 {
                // A line of one sample at an odd position (JPEG 2000, T.800 F.4.6, F.3.6).
                each(data, &strides, &level.size, &mut |x| @LONE_VALUE@);
                continue;
            }
";

/// A function of Rust files for JPEG 2000.
const EACH: &str = "\n/// Replaces each sample of a box.
fn each<T: Copy>(data: &mut [T], strides: &[usize], size: &[usize], f: &mut impl FnMut(T) -> T) {
    let (n, rest) = (size[0], &size[1..]);
    for i in 0..n {
        let at = i * strides[0];
        if rest.is_empty() {
            data[at] = f(data[at]);
        } else {
            each(&mut data[at..], &strides[1..], rest, f);
        }
    }
}
";

impl Request<'_> {
    /// The function that Rust's passes call for lines of one odd sample.
    pub(super) fn each_rust(&self) -> &'static str {
        if self.doubles_lone_odd() { EACH } else { "" }
    }

    fn format(&self) -> Option<Format> {
        self.profile.map(|profile| profile.format)
    }

    /// Whether lines of one sample at an odd position are doubled by analysis.
    pub fn doubles_lone_odd(&self) -> bool {
        self.format() == Some(Format::Jpeg2000)
    }

    /// The first lines of a file about its format.
    pub(super) fn profile_doc(&self) -> Option<String> {
        let rule = match self.format()? {
            Format::Jpeg2000 => "columns first; a line of one sample at an odd position is doubled by analysis",
            Format::Vc2 | Format::Ccsds122 => "sizes are multiples of 2^levels; origins are 0",
        };
        Some(format!("Profile {}: {rule}.", self.profile?.format.name()))
    }

    /// Placeholders of constructors of shapes: order of axes and gain, as the format sets them.
    pub fn constructors(&self, t: Template) -> Template {
        let columns_first = self.format() == Some(Format::Jpeg2000);
        let gain = self.profile.map_or(0, |profile| profile.gain_shift);
        let set = if gain > 0 { format!("    shape.gain = {gain};\n") } else { String::new() };
        t.with("ORDER", if columns_first { "a" } else { "axes - 1 - a" })
            .with("ORDER_DOC", if columns_first { "outermost axis first" } else { "innermost axis first" })
            .with("SET_GAIN", set)
            .with("GAIN_DOC", if gain > 0 { format!("gain {gain}, ") } else { String::new() })
            .with(
                "IMAGE_DOC",
                if columns_first {
                    ""
                } else {
                    "; for JPEG 2000, which analyses\n   columns first, set order[0] = 0 and order[1] = 1"
                },
            )
            .with(
                "RUST_ORDER",
                if columns_first { "(0..size.len()).collect()" } else { "(0..size.len()).rev().collect()" },
            )
            .with("RUST_ORDER_DOC", if columns_first { "outermost axis first" } else { "innermost axis first" })
            .with("RUST_GAIN", gain.to_string())
    }

    /// The check of shapes that the format refuses, in C.
    pub fn format_check(&self) -> &'static str {
        match self.format() {
            Some(Format::Vc2 | Format::Ccsds122) => {
                "    for (int a = 0; a < shape->axes; ++a) {\n        \
                     if (shape->origin[a] != 0 || shape->size[a] % ((int64_t)1 << shape->levels[a]) != 0) return \
                     @U@_BAD_SHAPE;\n    \
                 }\n"
            }
            _ => "",
        }
    }

    /// [`Request::format_check`] in Rust.
    pub(super) fn format_check_rust(&self) -> &'static str {
        match self.format() {
            Some(Format::Vc2 | Format::Ccsds122) => {
                "        let multiple = |a: usize| self.size[a] as u64 % (1 << self.levels[a]) == 0;
        if !(0..axes).all(|a| self.origin[a] == 0 && multiple(a)) {
            return Err(Error::BadShape);
        }
"
            }
            _ => "",
        }
    }

    /// Placeholders of C's passes: the function for lines of one odd sample, and its calls. None without JPEG 2000.
    pub(super) fn lone_c(&self, t: Template, sample: Scalar) -> Template {
        let value = if sample.is_integer() { LONE_INTEGER } else { LONE_REAL };
        let value = t.fill(value);
        self.lone(t.with("LONE_VALUE", value).with("LONE_CONTEXT", ""), LONE_C)
    }

    /// [`Request::lone_c`] for launched kernels of these names.
    pub(super) fn lone_launched(&self, t: Template, names: &[String]) -> Template {
        let context = t.fill("@HC@");
        let t = t.with("LONE_CONTEXT", context);
        match names {
            [up, down] => self.lone(t.with("UP", up.as_str()).with("DOWN", down.as_str()), LONE_LAUNCHED),
            _ => self.lone(t, ""),
        }
    }

    fn lone(&self, t: Template, function: &str) -> Template {
        let texts = [function, LONE_CALL[0], LONE_CALL[1]];
        let [function, analysis, synthesis] =
            texts.map(|text| if self.doubles_lone_odd() { t.fill(text) } else { String::new() });
        t.with("LONE", function).with("LONE_ANALYSIS", analysis).with("LONE_SYNTHESIS", synthesis)
    }

    /// Placeholders of Rust's passes for the same lines.
    pub(super) fn lone_rust(&self, t: Template, sample: Scalar) -> Template {
        let values = if sample.is_integer() {
            ["x.wrapping_shl(shape.gain + 1)", "((x >> 1).wrapping_add(1 << shape.gain >> 1)) >> shape.gain"]
        } else {
            ["x * 2.0", "x / 2.0"]
        };
        // The gain belongs to the first axis of analysis, the last of synthesis.
        let [up, down] = values.map(|value| {
            let text = LONE_RUST.replace("@LONE_VALUE@", value).replace("shape.gain", "lone_gain");
            let gain = "            let lone_gain = if i == 0 { shape.gain } else { 0 };\n";
            if sample.is_integer() { format!("{gain}{text}") } else { text }
        });
        let text = |text: &str| if self.doubles_lone_odd() { text.to_owned() } else { String::new() };
        t.with("LONE_ANALYSIS", text(&up)).with("LONE_SYNTHESIS", text(&down))
    }

    /// The kernels that double and halve lines of one odd sample; none without JPEG 2000.
    ///
    /// # Errors
    /// If the sample type has no such kernel.
    pub fn lone_kernels(&self, sample: Scalar) -> Result<Vec<Kernel>, EmitError> {
        if !self.doubles_lone_odd() {
            return Ok(Vec::new());
        }
        let kernel = |change| copy::kernel(sample, sample, change).ok_or(EmitError::NoSamples);
        Ok(vec![kernel(Change::Up)?, kernel(Change::Down)?])
    }
}
