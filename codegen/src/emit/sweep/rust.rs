//! Rust's part of sweeps.

use super::wide::{Line, Value, Wide};
use super::{Sweeps, border, is_unread};
use crate::back::rust::{self, Helper};
use crate::emit::{EmitError, Request, Template, prepared};
use crate::ir::Scalar;
use crate::schedule::rows::{Row, Sweep, SweepStep};
use lifting_dsl::Boundary;
use std::collections::BTreeSet;

/// Both directions: their name in kernels, and the value of `forward`.
const WAYS: [(&str, bool); 2] = [("analyse", true), ("synthesise", false)];

impl Sweeps {
    /// Parts that the file has once.
    pub(in crate::emit) fn rust_opening(&self, request: &Request, helpers: &mut BTreeSet<Helper>) -> String {
        let (t, boundary) = (request.template(), request.boundary);
        if boundary == Boundary::WholeSymmetric {
            helpers.insert(Helper::Mirror);
        }
        let most = |of: fn(&Sweep) -> i32| self.all().map(of).max().unwrap_or(0).to_string();
        let [forward, inverse] = &self.ways[0];
        let when = |is: bool, text: &'static str| if is { text } else { "" };
        let t = t
            .with("GAIN_FUNCTIONS", when(request.gain, GAIN_FUNCTIONS))
            .with("LONE_FUNCTIONS", when(request.doubles_lone_odd(), LONE_FUNCTIONS))
            .with("LONE", when(request.doubles_lone_odd(), LONE))
            .with("COPY_ROW", if request.gain { COPY_WITH_GAIN } else { COPY })
            .with("GIVE_ROWS", when(request.gain, GIVE_ROWS))
            .with("MAX_GAIN", if request.gain { "8 * size_of::<T>() as u32 - 2" } else { "0" })
            .with("READS", self.reads().to_string())
            .with("PAIRS", forward.pairs.to_string())
            .with("RING", most(|sweep| sweep.ring))
            .with("MARGIN", most(|sweep| sweep.margin))
            .with("HANDED", self.handed().to_string())
            .with("WAY_FORWARD", way(forward))
            .with("WAY_INVERSE", way(inverse))
            .with("SERVE", border::serve_rust(boundary));
        let widest = self.wide.iter().flatten().flatten().map(|wide| wide.rows.len()).max();
        let places =
            WIDE_PLACES.into_iter().fold(t, |t, (place, text)| t.with(place, if widest.is_some() { text } else { "" }));
        let mut text = places.fill(
            &[include_str!("../sweep_rows.rs.in"), "\n", include_str!("../sweep.rs.in"), include_str!("../axes.rs.in")]
                .concat(),
        );
        if let Some(rows) = widest {
            text += &format!(
                "\n/// The most rows of the ring that a turn uses.\n#[cfg(target_arch = \"x86_64\")]\n\
                 const RING_ROWS: usize = {rows};\n"
            );
            text += include_str!("../sweep_wide_turn.rs.in");
        }
        text
    }

    /// The loops of sample type `index`.
    ///
    /// # Errors
    /// If a kernel breaks the rules of the IR.
    pub(in crate::emit) fn rust_loops(
        &self,
        request: &Request,
        index: usize,
        helpers: &mut BTreeSet<Helper>,
    ) -> Result<String, EmitError> {
        let ways = &self.ways[index];
        let sample = request.samples[index].name();
        let mut kernels = String::new();
        for (sweep, (way, forward)) in ways.iter().zip(WAYS) {
            let steps = (0..sweep.steps.len()).map(|i| step_name(way, i, sample));
            let exchange = format!("{}_{sample}", if forward { "split" } else { "merge" });
            let names = std::iter::once(exchange).chain(steps).chain([format!("{way}_turn_{sample}")]);
            for ((kernel, info), name) in prepared(sweep.kernels().cloned())?.iter().zip(names) {
                kernels.push('\n');
                kernels += &rust::write_kernel((kernel, info), &name, helpers)?;
            }
        }
        let wide = &self.wide[index];
        if let Some(ways) = wide {
            kernels += &wide_loops(ways, request.samples[index]);
        }
        let any = self.wide.iter().any(Option::is_some);
        let constant = if any { wide_constant(wide.as_ref(), sample) } else { String::new() };
        Ok(kernels + "\n" + &loops(request, request.samples[index], ways, &constant))
    }
}

/// Functions of `Sample` for passes along columns.
const GAIN_FUNCTIONS: &str = "
    /// The sample with bits of headroom.
    fn up(self, gain: i32) -> Self;

    /// The sample without them, rounded.
    fn down(self, gain: i32) -> Self;
";
/// Functions of `Sample` for lines of one sample.
const LONE_FUNCTIONS: &str = "
    /// A line of one sample at an odd position, in the high band.
    fn doubled(self, gain: i32) -> Self;

    /// That line in the signal.
    fn halved(self, gain: i32) -> Self;
";
const LONE: &str = "            if level.size[axis] == 1 && level.parity[axis] == 1 {
                // A line of one sample at an odd position (JPEG 2000, T.800 F.4.6, F.3.6).
                each(data, &strides, &level.size, &mut |x: T| match forward {
                    true => x.doubled(gain),
                    false => x.halved(gain),
                });
                continue;
            }
";
const COPY: &str = "                target.copy_from_slice(source);
";
const COPY_WITH_GAIN: &str = "                target.copy_from_slice(source);
                if self.forward && self.gain > 0 {
                    target.iter_mut().for_each(|x| *x = x.up(self.gain));
                }
";
const GIVE_ROWS: &str = "        if !self.forward && self.gain > 0 {
            for p in 0..2 {
                for k in (0..l.down[p]).filter(|&k| there(p, k)) {
                    let row = to + self.at(false, p, k);
                    for x in &mut self.to[row..][..count] {
                        *x = x.down(self.gain);
                    }
                }
            }
        }
";

/// The implementations of these functions.
fn gain_functions(request: &Request, sample: Scalar) -> String {
    let [up, down] = match sample {
        Scalar::I16 => ["(i32::from(self) << gain) as i16", "((i32::from(self) + (1 << gain >> 1)) >> gain) as i16"],
        _ => ["self << gain", "self.wrapping_add(1 << gain >> 1) >> gain"],
    };
    let [doubled, halved] = match sample.is_integer() {
        true => ["self.wrapping_shl(gain as u32 + 1)", "(self >> 1).wrapping_add(1 << gain >> 1) >> gain"],
        false => ["self * 2.0", "self / 2.0"],
    };
    let gain = if sample.is_integer() { "gain" } else { "_gain" };
    let function = |name: &str, gain: &str, value: &str| {
        format!("\n    #[inline(always)]\n    fn {name}(self, {gain}: i32) -> Self {{\n        {value}\n    }}\n")
    };
    let mut text = String::new();
    if request.gain {
        text += &(function("up", "gain", up) + &function("down", "gain", down));
    }
    if request.doubles_lone_odd() {
        text += &(function("doubled", gain, doubled) + &function("halved", gain, halved));
    }
    text
}

/// The sweep's placeholders, and what AVX-512 turns put there.
const WIDE_PLACES: [(&str, &str); 10] = [
    ("RING_MORE", " + 64 / size_of::<T>()"),
    ("WIDE_FIELD", "    #[cfg(target_arch = \"x86_64\")]\n    wide: bool,\n"),
    ("WIDE_VALUE", "            #[cfg(target_arch = \"x86_64\")]\n            wide: has_wide(),\n"),
    (
        "WIDE_BLOCK",
        "            #[cfg(target_arch = \"x86_64\")]
            let block = match k0 < part[0] {
                true => [k0, block[1].min(part[0])],
                false => block,
            };
",
    ),
    (
        "WIDE_RING",
        "        #[cfg(target_arch = \"x86_64\")]
        for (i, level) in levels.iter_mut().enumerate() {
            level.wide_move(to, i, forward);
        }
",
    ),
    (
        "WIDE_CONST",
        "
    /// Loops in AVX-512 registers, if any.
    #[cfg(target_arch = \"x86_64\")]
    const WIDE: Option<Wide<Self>>;
",
    ),
    (
        "WIDE_PART_FORWARD",
        "        #[cfg(target_arch = \"x86_64\")]
        let part = self.wide_part(level, true);
",
    ),
    (
        "WIDE_FORWARD",
        "            #[cfg(target_arch = \"x86_64\")]
            if k0 == part[0] && part[0] < part[1] {
                self.analyse_wide(level, part);
                k0 = part[1];
                continue;
            }
",
    ),
    (
        "WIDE_PART_INVERSE",
        "        #[cfg(target_arch = \"x86_64\")]
        let part = self.wide_part(level, false);
",
    ),
    (
        "WIDE_INVERSE",
        "            #[cfg(target_arch = \"x86_64\")]
            if k0 == part[0] && part[0] < part[1] {
                self.synthesise_wide(level, part);
                let [lanes, behind] = T::WIDE.map_or([0; 2], |wide| [wide.lanes, wide.behind[1]]);
                self.synthesised(level, [before, part[0] + lanes - behind]);
                before = part[1] - behind;
                k0 = part[1];
                continue;
            }
",
    ),
];

/// The constant of `Sample` that names the AVX-512 loops.
fn wide_constant(ways: Option<&[Wide; 2]>, sample: &str) -> String {
    let value = match ways {
        None => "None;".to_string(),
        Some([forward, inverse]) => format!(
            "Some(Wide {{
        lanes: wide_{sample}::LANES as i32,
        behind: [{}, {}],
        rows: [wide_{sample}::FORWARD_ROWS, wide_{sample}::INVERSE_ROWS],
        loops: [wide_{sample}::analyse, wide_{sample}::synthesise],
    }});",
            forward.behind, inverse.behind
        ),
    };
    format!("    #[cfg(target_arch = \"x86_64\")]\n    const WIDE: Option<Wide<{sample}>> = {value}\n")
}

/// The module of a sample type's AVX-512 loops.
fn wide_loops(ways: &[Wide; 2], sample: Scalar) -> String {
    let set = ways[0].set;
    let arithmetic = set.arithmetic;
    let mut operators = String::from(
        "    macro_rules! operator {
        ($trait:ident, $name:ident, $call:ident) => {
            impl std::ops::$trait for V {
                type Output = V;

                #[inline(always)]
                fn $name(self, other: V) -> V {
                    // SAFETY: the processor has AVX-512.
                    unsafe { V($call(self.0, other.0)) }
                }
            }
        };
    }

",
    );
    let mut operator = |name: &str, call: &str, suffix: &str| {
        operators += &format!("    operator!({name}, {}, _mm512_{call}_{suffix});\n", name.to_lowercase());
    };
    operator("Add", "add", arithmetic);
    operator("Sub", "sub", arithmetic);
    operator("Mul", if set.whole() { "mullo" } else { "mul" }, arithmetic);
    if set.whole() {
        operator("BitAnd", "and", "si512");
        operator("BitOr", "or", "si512");
        operator("BitXor", "xor", "si512");
        for (name, upper, call) in [("shl", "Shl", "sllv"), ("shr", "Shr", "srav")] {
            operators += &format!(
                "
    impl std::ops::{upper}<u32> for V {{
        type Output = V;

        #[inline(always)]
        fn {name}(self, bits: u32) -> V {{
            // SAFETY: the processor has AVX-512.
            unsafe {{ V(_mm512_{call}_{arithmetic}(self.0, V::all(bits as T).0)) }}
        }}
    }}
"
            );
        }
    }
    let negated = match set.whole() {
        true => "V::all(0) - self".to_string(),
        false => format!(
            "// SAFETY: the processor has AVX-512.\n            \
             unsafe {{ V(_mm512_xor_{arithmetic}(self.0, V::all(-0.0).0)) }}"
        ),
    };
    operators += &format!(
        "
    impl std::ops::Neg for V {{
        type Output = V;

        #[inline(always)]
        fn neg(self) -> V {{
            {negated}
        }}
    }}

"
    );
    let mut text = String::new();
    for (wide, way, upper) in [(&ways[0], "forward", "FORWARD"), (&ways[1], "inverse", "INVERSE")] {
        text += &wide_way(wide, way, upper);
    }
    Template::default()
        .with("T", sample.name())
        .with("INDEX", (512 / set.lanes).to_string())
        .with("LANES", set.lanes.to_string())
        .with("V", set.vector)
        .with("BITS", set.bits)
        .with("ALL", arithmetic)
        .with("PICK", arithmetic)
        .with("ZERO", if set.whole() { "0" } else { "0.0" })
        .with("OPERATORS", operators)
        .with("WAYS", text)
        .fill(include_str!("../sweep_wide.rs.in"))
}

/// The functions of one direction.
fn wide_way(wide: &Wide, way: &str, upper: &str) -> String {
    let forward = way == "forward";
    let rows: Vec<String> = wide.rows.iter().map(|row| (2 * row.k + i32::from(row.phase)).to_string()).collect();
    let rows = list(&format!("    pub const {upper}_ROWS: &[i32] = &["), &rows, "];", 4);
    let [even, odd] = &wide.results;
    let (head, opening, closing) = match forward {
        true => (
            "pairs: *const T) -> [V; 2] {",
            "        let (one, two) = (V::get(pairs), V::get(pairs.add(LANES)));
        let (even, odd) = (one.pick(two, 1, 0), one.pick(two, 1, LANES));
",
            format!("        [{even}, {odd}]\n"),
        ),
        false => (
            "even: V, odd: V) -> [V; 2] {",
            "",
            format!("        [{even}.pick({odd}, 2, 0), {even}.pick({odd}, 2, LANES)]\n"),
        ),
    };
    let line = |line: &Line| match line {
        Line::Comment(text) => format!("        // {text}\n"),
        Line::Let(name, value) => {
            let value = match value {
                Value::Text(text) => text.clone(),
                Value::Later(register, lanes) => {
                    let kept = wide.kept.iter().position(|kept| kept == register).unwrap_or_default();
                    format!("{register}.later(kept[{kept}], {lanes})")
                }
                Value::Ring(row) => format!("V::get(ring[{row}].add(x))"),
            };
            format!("        let {name} = {value};\n")
        }
    };
    let lines = |lines: &[Line]| lines.iter().map(line).collect::<String>();
    let stored = |rows: &[(usize, String)], indent: &str| -> String {
        rows.iter().map(|(i, value)| format!("{indent}{value}.set(ring[{i}].add(x));\n")).collect()
    };
    let left: Vec<String> = wide.left.iter().map(|(_, value)| value.clone()).collect();
    format!(
        "{rows}
    const {upper}_KEPT: usize = {};

    /// All steps along a row.
    #[inline(always)]
    unsafe fn along_{way}(kept: &mut [V; {upper}_KEPT], {head}
{opening}{}{}{closing}    }}

    /// All steps of a turn along columns: the rows that leave, also written to the ring if kept.
    #[inline(always)]
    unsafe fn down_{way}(
        ring: &[*mut T; RING_ROWS],
        x: usize,
        new_rows: [V; 4],
        keep: bool,
    ) -> [V; 4] {{
{}{}        if keep {{
{}        }}
{}    }}

",
        wide.kept.len(),
        lines(&wide.along),
        list("        *kept = [", &wide.kept, "];", 8) + "\n",
        lines(&wide.down),
        stored(&wide.stored, "        "),
        stored(&wide.left, "            "),
        list("        [", &left, "]", 8) + "\n",
    )
}

/// The name of a step's loop.
fn step_name(way: &str, step: usize, sample: &str) -> String {
    format!("{way}_step{}_{sample}", step + 1)
}

/// The fields of a `Way`.
fn way(sweep: &Sweep) -> String {
    let step = |step: &SweepStep| {
        let offsets: Vec<String> = step.offsets.iter().map(i32::to_string).collect();
        format!(
            "        // {}\n        Step {{\n            target: {},\n            behind: {},\n            \
             reach: {:?},\n            offsets: {},\n        }},\n",
            step.text,
            step.target.parity(),
            step.behind,
            step.reach,
            list("&[", &offsets, "]", 12),
        )
    };
    let steps: String = sweep.steps.iter().map(step).collect();
    let turn = match &sweep.turn {
        Some((_, rows)) => format!("Some({:?})", [0, 1].map(|phase| reach(rows, phase))),
        None => "None".into(),
    };
    format!(
        "    steps: &[\n{steps}    ],\n    halo: {:?},\n    delay: {:?},\n    turn: {turn},\n",
        sweep.halo, sweep.delay
    )
}

/// The first and last row of a phase.
fn reach(rows: &[Row], phase: u8) -> [i32; 2] {
    let of = || rows.iter().filter(|row| row.phase == phase).map(|row| row.k);
    [of().min().unwrap_or(0), of().max().unwrap_or(0)]
}

/// The implementation of `Sample`.
fn loops(request: &Request, sample: Scalar, ways: &[Sweep; 2], constant: &str) -> String {
    let s = sample.name();
    let [gain, gain_arg] = if request.gain { ["gain", ", gain"] } else { ["_gain", ""] };
    let mut cases = String::new();
    let mut turns = Vec::new();
    for (sweep, (way, forward)) in ways.iter().zip(WAYS) {
        for (i, step) in sweep.steps.iter().enumerate() {
            let reads = (0..step.offsets.len()).map(|r| format!("read({r})"));
            let args: Vec<String> = std::iter::once("target".into()).chain(reads).chain(["n".into()]).collect();
            let call = list(&format!("{}(", step_name(way, i, s)), &args, ")", 16);
            cases += &format!("            ({forward}, {i}) => {{\n                {call};\n            }}\n");
        }
        if let Some((_, rows)) = &sweep.turn {
            let row = |row: &Row| format!("row({}, {})", row.phase, row.k);
            let args: Vec<String> = rows.iter().map(row).chain(["n".into()]).collect();
            turns.push(format!("            {};\n", list(&format!("{way}_turn_{s}("), &args, ")", 12)));
        }
    }
    let read = if ways.iter().all(is_unread) { "_read" } else { "read" };
    let [forward, row, n, turn] = match &turns[..] {
        [analyse, synthesise] => {
            let turn =
                format!("{{\n        if forward {{\n{analyse}        }} else {{\n{synthesise}        }}\n    }}");
            ["forward", "mut row", "n", &turn].map(str::to_string)
        }
        _ => ["_forward", "_row", "_n", "{}"].map(str::to_string),
    };
    format!(
        "impl Sample for {s} {{
    const BLOCK: i32 = {};
{constant}
    #[inline(always)]
    fn split(pairs: &[{s}], evens: &mut [{s}], odds: &mut [{s}], n: i32, {gain}: i32) {{
        split_{s}(pairs, evens, odds, n{gain_arg});
    }}

    #[inline(always)]
    fn merge(evens: &[{s}], odds: &[{s}], pairs: &mut [{s}], n: i32, {gain}: i32) {{
        merge_{s}(evens, odds, pairs, n{gain_arg});
    }}

    #[inline(always)]
    fn step<'a>(
        forward: bool,
        step: usize,
        target: &mut [{s}],
        {read}: impl Fn(usize) -> &'a [{s}],
        n: i32,
    ) {{
        match (forward, step) {{
{cases}            _ => {{}}
        }}
    }}

    #[inline(always)]
    fn turn<'a>({forward}: bool, {row}: impl FnMut(usize, i32) -> &'a mut [{s}], {n}: i32) {turn}
{}}}
",
        ways[0].block.max(ways[1].block),
        gain_functions(request, sample)
    )
}

/// A list in rustfmt's layout, from a column on. It takes one line if it fits; otherwise numbers fill as few lines as
/// possible and other items take one line each.
fn list(head: &str, items: &[String], tail: &str, indent: usize) -> String {
    let one = items.join(", ");
    // If the tail does not end a statement, a comma follows.
    let width = indent + head.trim_start().len() + one.len() + tail.len() + usize::from(!tail.ends_with(';'));
    if one.len() <= 60 && width <= 100 {
        return format!("{head}{one}{tail}");
    }
    let within = format!("\n{}", " ".repeat(indent + 4));
    let short = items.iter().all(|item| item.len() <= 10 && !item.ends_with(')'));
    let mut out = head.to_string();
    let mut column = 100;
    for (i, item) in items.iter().enumerate() {
        // The last column is reserved where a comma follows.
        if short && column + 1 + item.len() < 99 + usize::from(i + 1 == items.len()) {
            out += &format!(" {item},");
            column += item.len() + 2;
        } else {
            out += &format!("{within}{item},");
            column = indent + 5 + item.len();
        }
    }
    out + "\n" + &" ".repeat(indent) + tail
}
