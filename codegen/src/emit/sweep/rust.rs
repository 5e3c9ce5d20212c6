//! Rust's part of sweeps.

use super::order::{Along, Call, Down, Line, arrival, name};
use super::{Form, Sweeps, border, is_unread};
use crate::back::rust::Helper;
use crate::emit::{Request, Template};
use crate::ir::Scalar;
use crate::schedule::rows::{Row, Sweep, SweepStep};
use lifting_dsl::{Boundary, Domain};
use std::collections::BTreeSet;

/// Both directions: name, and the value of `forward`.
const WAYS: [(&str, bool); 2] = [("forward", true), ("inverse", false)];

impl Sweeps {
    /// The file's code, apart from shapes.
    pub(in crate::emit) fn rust(&self, request: &Request, helpers: &mut BTreeSet<Helper>) -> String {
        if request.boundary == Boundary::WholeSymmetric {
            helpers.insert(Helper::Mirror);
        }
        let is_integer = request.scheme.domain() == Domain::Integer;
        let most = |of: fn(&Sweep) -> i32| self.all().map(of).max().unwrap_or(0).to_string();
        let when = |is: bool, text: &str| if is { text.to_owned() } else { String::new() };
        let pick = |integer: &str, real: &str| if is_integer { integer.to_owned() } else { real.to_owned() };
        let operators = self.operators();
        let all = format!("    /// The same number in all lanes.\n    fn all(x: {}) -> Self;\n", pick("i64", "f64"));
        let functions = when(self.has_numbers(), &all) + &when(self.widens(), WIDENS);
        let (is_wide, gain) = (self.forms.is_some(), request.gain);
        let mut t = request
            .template()
            .with("WRAPPING", when(is_integer, "use std::num::Wrapping;\n"))
            .with("OPERATORS", operators.join(", "))
            .with("WRAPS", when(is_integer, " Sums of integers wrap."))
            .with("VALUE", value_trait(&operators, &functions))
            .with("NUMBER", pick("i64", "f64"))
            .with("ZERO", pick("0", "0.0"))
            .with("STEPS", self.trait_steps())
            .with("READ", if self.ways[0].iter().all(is_unread) { "_read" } else { "read" })
            .with("CASES", self.cases())
            .with("TURNS", self.turns())
            .with("PAIRS", self.ways[0][0].pairs.to_string())
            .with("RING", most(|sweep| sweep.ring))
            .with("BLOCK_BYTES", self.block_bytes().to_string())
            .with("READS", self.reads().to_string())
            .with("DOWN_ROW", if gain { "x.down(self.gain)" } else { "*x" })
            .with("HANDED", self.handed().to_string())
            .with("SERVE", border::serve_rust(request.boundary))
            .with("LONE_FUNCTIONS", when(has_lone(request), LONE_FUNCTIONS))
            .with("LONE", when(has_lone(request), LONE))
            .with("MAX_GAIN", if gain { "8 * size_of::<T>() as u32 - 2" } else { "0" })
            .with("GAIN_FUNCTIONS", when(gain, GAIN_FUNCTIONS))
            .with("EVEN", if gain { "even.down(gain)" } else { "*even" })
            .with("ODD", if gain { "odd.down(gain)" } else { "*odd" })
            .with("SET_GAIN", when(gain || has_lone(request), SET_GAIN))
            .with("NO_GAIN", when(gain, " && self.gain == 0"))
            .with("BLOCK_END", if is_wide { "" } else { "            let k1 = (k0 + T::BLOCK).min(l.across[0]);\n" });
        t = GAIN_PLACES.into_iter().fold(t, |t, (place, text)| t.with(place, when(gain, text)));
        t = WIDE_PLACES.into_iter().fold(t, |t, (place, text)| t.with(place, when(is_wide, text)));
        let is_cyclic = request.boundary == Boundary::Periodic;
        let far = self.all().flat_map(|sweep| &sweep.steps).flat_map(|step| &step.offsets).map(|o| o.abs()).max();
        t = match is_cyclic {
            true => {
                t.with("WAYS", self.cyclic_steps()).with("BLOCK", "").with("MARGIN", (far.unwrap_or(0) + 1).to_string())
            }
            false => {
                t.with("WAYS", self.way_constants()).with("BLOCK", BLOCK).with("MARGIN", most(|sweep| sweep.margin))
            }
        };
        let mut text = t.fill(&match request.boundary {
            Boundary::Periodic => [include_str!("../sweep_steps.rs.in"), include_str!("../periodic.rs.in")].concat(),
            _ => [
                include_str!("../sweep_steps.rs.in"),
                include_str!("../sweep_ways.rs.in"),
                include_str!("../sweep_rows.rs.in"),
                include_str!("../sweep.rs.in"),
            ]
            .concat(),
        });
        if let Some(alongs) = &self.forms {
            text += &self.registers(request, alongs, &t);
        }
        text += &self.sample_macro(request);
        (0..request.samples.len()).fold(text, |text, index| text + &self.sample(request, index))
    }

    /// The operators that steps use.
    fn operators(&self) -> Vec<&'static str> {
        let texts = || {
            self.steps
                .iter()
                .flat_map(|step| &step.rust)
                .flat_map(|of| of.parts.iter().map(|[_, _, value]| value.as_str()).chain([of.value.as_str()]))
        };
        let is_negated = |text: &str| {
            text.match_indices('-')
                .any(|(at, _)| !text[at + 1..].starts_with([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
        };
        let has = |name: &str, symbol: &str| matches!(name, "Add" | "Sub") || texts().any(|text| text.contains(symbol));
        let mut names: Vec<&str> =
            OPERATORS.iter().filter(|(name, symbol, _)| has(name, symbol)).map(|(name, ..)| *name).collect();
        if texts().any(is_negated) {
            names.push("Neg");
            names.sort_unstable();
        }
        names
    }

    /// Whether values of numbers are used.
    fn has_numbers(&self) -> bool {
        let has = |of: &super::Arithmetic| format!("{:?}{}", of.parts, of.value).contains("V::all(");
        self.forms.is_some() || self.steps.iter().flat_map(|step| &step.rust).any(has)
    }

    /// Whether some step has sums that are wider than its samples.
    fn widens(&self) -> bool {
        self.steps.iter().flat_map(|step| &step.rust).any(|of| !of.is_narrow)
    }

    /// Arithmetic of a step if all sample types share its text.
    fn shared<'f>(&self, form: &'f Form) -> Option<&'f str> {
        let last = form.rust.last()?;
        let text = |of: &super::Arithmetic| format!("{:?} {}", of.parts, of.value);
        let same = form.rust.iter().all(|of| same_numbers(&text(of), &text(last)));
        same.then_some(form.name.as_str())
    }

    /// Declarations of the steps in the trait of samples, with bodies that all types share.
    fn trait_steps(&self) -> String {
        let step = |form: &Form| {
            let of = form.rust.last().expect("there is a sample type");
            let body = match self.shared(form) {
                Some(_) => function_body(of),
                None => ";\n".to_owned(),
            };
            let patterns = self.shared(form).is_some();
            format!("\n    /// {}\n{}{body}", form.text, head(form, patterns))
        };
        self.steps.iter().map(step).collect()
    }

    /// The macro of sample types.
    fn sample_macro(&self, request: &Request) -> String {
        let is_integer = request.scheme.domain() == Domain::Integer;
        let when = |is: bool, text: &str| if is { text.to_owned() } else { String::new() };
        let pick = |integer: &'static str, real: &'static str| if is_integer { integer } else { real };
        let mut functions = String::new();
        if self.has_numbers() {
            let (number, value) = (pick("i64", "f64"), pick("Wrapping(x as $T)", "x as $T"));
            functions += &function(&format!("all(x: {number})"), "Self", value);
        }
        if self.widens() {
            functions += &function("wide(self)", "Wrapping<i32>", "Wrapping(self.0 as i32)");
            functions += &function("narrow(sum: Wrapping<i32>)", "Self", "Wrapping(sum.0 as $T)");
        }
        let functions = match functions.strip_suffix('\n') {
            Some(text) => format!("{text}\n        "),
            None => functions,
        };
        let gain = function("up(self, gain: i32)", "Self", "((self as $Sum) << gain) as $T")
            + &function("down(self, gain: i32)", "Self", "((self as $Sum).wrapping_add(1 << gain >> 1) >> gain) as $T");
        let lone = function(
            pick("doubled(self, gain: i32)", "doubled(self, _: i32)"),
            "Self",
            pick("self.wrapping_shl(gain as u32 + 1)", "self * 2.0"),
        ) + &function(
            pick("halved(self, gain: i32)", "halved(self, _: i32)"),
            "Self",
            pick("(self >> 1).wrapping_add(1 << gain >> 1) >> gain", "self / 2.0"),
        );
        let wide = format!("            {CFG}\n            const WIDE: Option<[Loop<Self>; 2]> = $wide;\n");
        let types = when(request.gain, ", $Sum:ty") + &when(self.forms.is_some(), ", $wide:expr");
        (request.template())
            .with("MACRO_TYPES", types)
            .with("ONE", pick("Wrapping<$T>", "$T"))
            .with("FUNCTIONS", functions)
            .with("WIDE_VALUE_OF", when(self.forms.is_some(), &wide))
            .with("INTO", pick("Wrapping(self)", "self"))
            .with("FROM", pick("value.0", "value"))
            .with("GAIN_VALUES", when(request.gain, &gain))
            .with("LONE_VALUES", when(has_lone(request), &lone))
            .fill(include_str!("../functions.rs.in"))
    }

    /// A sample type.
    fn sample(&self, request: &Request, index: usize) -> String {
        let sample = request.samples[index];
        let s = sample.name();
        let mut text = format!("#[rustfmt::skip]\nsample!({s}");
        if request.gain {
            text += if sample == Scalar::I16 { ", i32" } else { ", Self" };
        }
        if self.forms.is_some() {
            text += if self.in_registers[index] { ", Some([Turn::analyse, Turn::synthesise])" } else { ", None" };
        }
        text += &format!(";\n    scratch_samples_{s} forward_{s} inverse_{s} forward_to_{s} inverse_to_{s};\n");
        for form in self.steps.iter().filter(|form| self.shared(form).is_none()) {
            text += &format!(
                "{}{}",
                head(form, true).replace("    #[rustfmt::skip]\n", ""),
                function_body(&form.rust[index])
            );
        }
        text + ");\n"
    }

    /// The cases of the step function.
    fn cases(&self) -> String {
        let mut cases = String::new();
        for (way, (_, forward)) in WAYS.iter().enumerate() {
            for (index, step) in self.ways[0][way].steps.iter().enumerate() {
                let phases = [["even", "odd"], ["odd", "even"]];
                let [target, reads] = phases[step.target.parity() as usize];
                let (pattern, reads) =
                    if step.offsets.is_empty() { ("_", vec![]) } else { (reads, vec![reads.into()]) };
                let indices: Vec<String> = (0..step.offsets.len()).map(|i| i.to_string()).collect();
                let value = self.lifted(way, index, target, &reads, "");
                cases += &format!(
                    "        ({forward}, {index}) => each!(target, read, [{}], |{target}, {pattern}| {value}),\n",
                    indices.join(", ")
                );
            }
        }
        cases
    }

    /// The new value of a step's target.
    fn lifted(&self, way: usize, index: usize, target: &str, reads: &[String], open: &str) -> String {
        let form = self.form(way, index);
        let reads = match open {
            "" => reads.join(""),
            _ => format!("[{}]", reads.join(", ")),
        };
        let has_reads = form.rust[0].params.len() > 1;
        let name = form.name.to_lowercase();
        match self.sign(way, index) {
            Some(sign) => format!("{target} {sign} T::{name}({reads})"),
            None if has_reads => format!("T::{name}({target}, {reads})"),
            None => format!("T::{name}({target})"),
        }
    }

    fn line_of(&self, way: usize, call: &Call, indent: &str) -> String {
        let value = self.lifted(way, call.step, &call.target, &call.reads, "[");
        wrapped(&format!("{indent}let {} = {value};", call.target), indent)
    }

    /// The steps of turns, and the loops of turns.
    fn turns(&self) -> String {
        let mut text = String::new();
        let mut turns = String::new();
        let mut arms = String::new();
        for (way, (direction, forward)) in WAYS.iter().enumerate() {
            let Some(down) = &self.downs[way] else {
                arms += &format!("        {forward} => {{}}\n");
                continue;
            };
            let names = |rows: &[usize]| rows.iter().map(|&i| name(down.rows[i])).collect::<Vec<_>>();
            let (taken, updated) = (names(&down.taken), names(&down.updated));
            text += "\n/// All steps of a turn along columns, on one value of each row: the rows that change.\n";
            text += "#[rustfmt::skip]\n#[inline(always)]\n";
            text += &list(
                &format!("fn down_{direction}<T: Sample, V: Value>(["),
                &taken,
                &format!("]: [V; {}]) -> ", taken.len()),
            );
            text += &format!("[V; {}] {{\n", updated.len());
            for call in &down.calls {
                text += &self.line_of(way, call, "    ");
            }
            text += &(list("    [", &updated, "]") + "\n}\n");
            let rows: Vec<String> = (down.taken.iter())
                .map(|&i| format!("{} ({}, {})", name(down.rows[i]), down.rows[i].phase, down.rows[i].k))
                .collect();
            turns += &format!(
                "{}, [{}]);\n",
                list(&format!("turn!(turn_{direction}: down_{direction}, ["), &rows, "]"),
                updated.join(", ")
            );
            arms += &format!("        {forward} => turn_{direction}(n, row),\n");
        }
        if text.is_empty() {
            return NO_TURN.to_owned();
        }
        let dispatch = TURN.replace("ARMS", &arms);
        format!("{text}{}\n{turns}{dispatch}", include_str!("../sweep_turns.rs.in"))
    }

    /// The constants of both directions.
    fn way_constants(&self) -> String {
        let constant = |way: usize, name: &str| {
            let sweep = &self.ways[0][way];
            let step = |step: &SweepStep| {
                format!(
                    "        // {}\n        Step {{ target: {}, behind: {}, reach: {:?}, offsets: &{:?} }},\n",
                    step.text,
                    step.target.parity(),
                    step.behind,
                    step.reach,
                    step.offsets,
                )
            };
            let steps: String = sweep.steps.iter().map(step).collect();
            let turn = match &self.downs[way] {
                Some(down) => {
                    let taken: Vec<Row> = down.taken.iter().map(|&i| down.rows[i]).collect();
                    format!("Some({:?})", [0, 1].map(|phase| reach(&taken, phase)))
                }
                None => "None".into(),
            };
            let mut text = format!(
                "#[rustfmt::skip]\nconst {name}: Way = Way {{\n    steps: &[\n{steps}    ],\n    halo: {:?},\n    \
                 delay: {:?},\n    turn: {turn},\n",
                sweep.halo, sweep.delay
            );
            if let (Some(alongs), Some(down)) = (&self.forms, &self.downs[way]) {
                let rows: Vec<String> = down.rows.iter().map(|row| format!("({}, {})", row.phase, row.k)).collect();
                let (behind, rows) = (alongs[way].behind, list("    rows: &[", &rows, "],"));
                text += &format!("    {CFG}\n    behind: {behind},\n    {CFG}\n{rows}\n");
            }
            text + "};\n\n"
        };
        constant(0, "FORWARD") + &constant(1, "INVERSE") + WAY
    }

    /// The steps of both directions, without a schedule.
    fn cyclic_steps(&self) -> String {
        let constant = |way: usize, name: &str| {
            let step = |step: &SweepStep| {
                let (target, offsets) = (step.target.parity(), &step.offsets);
                format!("    // {}\n    Step {{ target: {target}, offsets: &{offsets:?} }},\n", step.text)
            };
            let steps: String = self.ways[0][way].steps.iter().map(step).collect();
            format!("#[rustfmt::skip]\nconst {name}: &[Step] = &[\n{steps}];\n\n")
        };
        constant(0, "FORWARD")
            + &constant(1, "INVERSE")
            + &WAY
                .replace("&'static Way", "&'static [Step]")
                .replace("&FORWARD", "FORWARD")
                .replace("&INVERSE", "INVERSE")
    }

    /// The section of turns in registers.
    fn registers(&self, request: &Request, alongs: &[Along; 2], t: &Template) -> String {
        let is_integer = request.scheme.domain() == Domain::Integer;
        let mut text = String::new();
        for (way, along) in alongs.iter().enumerate() {
            text += &self.along_row(way, along);
            text += &self.down_registers(way, self.downs[way].as_ref().expect("a turn in registers has a loop"));
        }
        let operators = self.operators();
        let most = self.downs.iter().flatten().map(|down| down.rows.len()).max().unwrap_or(1);
        let registers: String = (request.samples.iter().zip(&self.in_registers))
            .filter(|(_, is_wide)| **is_wide)
            .map(|(sample, _)| register(*sample, &operators))
            .collect();
        let neg = match is_integer {
            true => "Self::all(0) - self",
            false => {
                "// SAFETY: the processor has AVX-512.\n                    \
                      unsafe { Register(_mm512_xor_si512(self.0, Self::all(-0.0).0), PhantomData) }"
            }
        };
        let shifts = operators.iter().any(|name| matches!(*name, "Shl" | "Shr"));
        let pattern = "; $($shift:ident $by:ident $shift_call:ident),*";
        t.clone()
            .with("SHIFTS_PATTERN", if shifts { pattern } else { "" })
            .with("SHIFTS", if shifts { SHIFTS } else { "" })
            .with("NEG", if operators.contains(&"Neg") { NEG.replace("VALUE", neg) } else { String::new() })
            .with("REGISTERS", registers)
            .with("RING_ROWS", most.to_string())
            .with("KEPT_FORWARD", alongs[0].kept.len().to_string())
            .with("KEPT_INVERSE", alongs[1].kept.len().to_string())
            .with("ALONG_AND_DOWN", text)
            .fill(include_str!("../sweep_registers.rs.in"))
    }

    /// The function of all steps along a row.
    fn along_row(&self, way: usize, along: &Along) -> String {
        let indent = "            ";
        let [even, odd] = &along.results;
        let mut text = format!(
            "        /// All steps along a row: results lag {} pairs.\n        #[rustfmt::skip]\n        \
             #[inline(always)]\n        unsafe fn along_{}(\n            kept: &mut [Register<T>; {}], ",
            along.behind,
            WAYS[way].0,
            along.kept.len()
        );
        text += match way {
            0 => {
                "pairs: *const T,\n        ) -> [Register<T>; 2] {
            let one = Register::get(pairs);
            let two = Register::get(pairs.add(Register::<T>::LANES));
            let (even, odd) = (one.pick(two, 1, 0), one.pick(two, 1, Register::<T>::LANES));\n"
            }
            _ => "even: Register<T>, odd: Register<T>,\n        ) -> [Register<T>; 2] {\n",
        };
        for line in &along.lines {
            text += &match line {
                Line::Later { name, of, lanes: 0 } => format!("{indent}let {name} = {of};\n"),
                Line::Later { name, of, lanes } => {
                    let kept = along.kept.iter().position(|kept| kept == of).expect("a delayed register is kept");
                    format!("{indent}let {name} = {of}.later(kept[{kept}], {lanes});\n")
                }
                Line::Call(call) => self.line_of(way, call, indent),
            };
        }
        text += &(list(&format!("{indent}*kept = ["), &along.kept, "];") + "\n");
        text += &match way {
            0 => format!("{indent}[{even}, {odd}]\n"),
            _ => {
                format!("{indent}[{even}.pick({odd}, 2, 0), {even}.pick({odd}, 2, Register::<T>::LANES)]\n")
            }
        };
        text + "        }\n\n"
    }

    /// The function of all steps of a turn along columns.
    fn down_registers(&self, way: usize, down: &Down) -> String {
        let indent = "            ";
        let names = |rows: &[usize]| rows.iter().map(|&i| name(down.rows[i])).collect::<Vec<_>>();
        let used = |i: &usize| down.taken.contains(i) || down.stored.contains(i) || down.left.contains(i);
        let ring = (0..down.rows.len()).filter(|i| used(i) && arrival(down.rows[*i]).is_none());
        let place = |i: &usize| format!("{} {i}", name(down.rows[*i]));
        let ring: Vec<String> = ring.map(|i| place(&i)).collect();
        let arriving: Vec<String> = (0..4).map(|i| name(Row { k: i / 2, phase: (i % 2) as u8 })).collect();
        let places = |head: String, rows: &[String]| {
            if rows.is_empty() { String::new() } else { list(&head, rows, ");") + "\n" }
        };
        let sets = |rows: &[usize], indent: &str| {
            places(format!("{indent}store!(ring, x: "), &rows.iter().map(place).collect::<Vec<_>>())
        };
        let direction = WAYS[way].0;
        let call = list(&format!("{indent}let ["), &names(&down.updated), "] = ")
            + &list(&format!("down_{direction}::<T, _>(["), &names(&down.taken), "]);");
        format!(
            "        /// All steps of a turn along columns: the rows that leave, \
             also written to the ring if kept.\n        \
             #[rustfmt::skip]\n        #[inline(always)]\n        unsafe fn down_{direction}(\n            \
             ring: &[*mut T; RING_ROWS], x: usize, new_rows: [Register<T>; 4], keep: bool,\n        \
             ) -> [Register<T>; 4] {{\n{}{indent}let [{}] = new_rows;\n{call}\n{}{indent}if keep {{\n{}\
             {indent}}}\n{}\n        }}\n\n",
            places(format!("{indent}load!(ring, x: "), &ring),
            arriving.join(", "),
            sets(&down.stored, indent),
            sets(&down.left, "                "),
            list(&format!("{indent}["), &names(&down.left), "]"),
        )
    }
}

/// The function of a direction's steps.
const WAY: &str = "/// The steps of a direction.
const fn way(forward: bool) -> &'static Way {
    match forward {
        true => &FORWARD,
        false => &INVERSE,
    }
}
";
const BLOCK: &str = "    /// Pairs of a row that are lifted at a time.
    const BLOCK: i32 = (BLOCK_BYTES / size_of::<Self>()) as i32;
";

const CFG: &str = "#[cfg(target_arch = \"x86_64\")]";

/// Operators: trait, symbol, and intrinsic.
const OPERATORS: [(&str, &str, &str); 8] = [
    ("Add", " + ", "add"),
    ("BitAnd", " & ", "and"),
    ("BitOr", " | ", "or"),
    ("BitXor", " ^ ", "xor"),
    ("Mul", " * ", "mul"),
    ("Shl", " << ", "sllv"),
    ("Shr", " >> ", "srav"),
    ("Sub", " - ", "sub"),
];

/// The definition of values.
fn value_trait(operators: &[&str], functions: &str) -> String {
    let bound = |name: &&str| match *name {
        "Shl" | "Shr" => format!("{name}<usize, Output = Self>"),
        name => format!("{name}<Output = Self>"),
    };
    let bounds: Vec<String> = std::iter::once("Copy".to_owned()).chain(operators.iter().map(bound)).collect();
    let head = wrapped(&format!("trait Value: {}", bounds.join(" + ")), "");
    match functions {
        "" => format!("#[rustfmt::skip]\n{} {{}}", head.trim_end()),
        _ => format!("#[rustfmt::skip]\n{}\n{{\n{functions}}}", head.trim_end()),
    }
}

/// The head of a step's function. Declarations without a body have no patterns.
fn head(form: &Form, has_body: bool) -> String {
    let of = &form.rust[0];
    let (target, reads) = (&of.params[0], &of.params[1..]);
    let pattern = if has_body { format!("[{}]", reads.join(", ")) } else { "reads".to_owned() };
    let reads = format!("{pattern}: [V; {}]", reads.len());
    let args = match (of.sign.is_some(), of.params.len()) {
        (true, _) => reads,
        (false, 1) => format!("{target}: V"),
        (false, _) => format!("{target}: V, {reads}"),
    };
    let attributes = if has_body { "    #[rustfmt::skip]\n    #[inline(always)]\n" } else { "" };
    format!("{attributes}    fn {}<V: Value>({args}) -> V", form.name.to_lowercase())
}

/// The body of a step's function.
fn function_body(of: &super::Arithmetic) -> String {
    let indent = "        ";
    let parts = of.parts.iter().map(|[_, name, value]| wrapped(&format!("{indent}let {name} = {value};"), indent));
    format!(" {{\n{}{}    }}\n", parts.collect::<String>(), wrapped(&format!("{indent}{}", of.value), indent))
}

/// Whether texts are equal but for numbers that one of 32 bits rounds to the same value.
fn same_numbers(short: &str, long: &str) -> bool {
    let parts = |text: &str| text.split("V::all(").map(str::to_owned).collect::<Vec<_>>();
    let (short, long) = (parts(short), parts(long));
    let same = |(a, b): (&String, &String)| {
        a == b
            || a.split_once(')').zip(b.split_once(')')).is_some_and(|((a, rest), (b, other))| {
                let same = |(a, b): (f32, f64)| a == b as f32;
                rest == other && a.parse().ok().zip(b.parse().ok()).is_some_and(same)
            })
    };
    short.len() == long.len() && short.iter().zip(&long).all(same)
}

/// Text in lines of at most 100 columns.
fn wrapped(text: &str, indent: &str) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for (at, word) in text.trim_start().split(' ').enumerate() {
        let width = word.chars().count() + 1;
        if at > 0 && column + width > 100 {
            out += &format!("\n{indent}    {word}");
            column = indent.len() + 4 + width;
        } else {
            out += &format!("{}{word}", if at == 0 { indent } else { " " });
            column += width + if at == 0 { indent.len() } else { 0 };
        }
    }
    out + "\n"
}

/// A list in lines of at most 100 columns; `head` ends with its bracket.
fn list(head: &str, items: &[String], tail: &str) -> String {
    let last = head.rsplit('\n').next().unwrap_or_default();
    let one = format!("{}{tail}", items.join(", "));
    if last.chars().count() + one.len() <= 100 {
        return format!("{head}{one}");
    }
    let indent = &last[..last.len() - last.trim_start().len()];
    let (mut out, mut column) = (head.trim_end().to_owned(), 100);
    for item in items {
        if column + item.len() + 2 > 99 {
            out += &format!("\n{indent}    {item},");
            column = indent.len() + 5 + item.len();
        } else {
            out += &format!(" {item},");
            column += item.len() + 2;
        }
    }
    out + &format!("\n{indent}{tail}")
}

/// The first and last row of a phase.
fn reach(rows: &[Row], phase: u8) -> [i32; 2] {
    let of = || rows.iter().filter(|row| row.phase == phase).map(|row| row.k);
    [of().min().unwrap_or(0), of().max().unwrap_or(0)]
}

/// The operators of a sample type's registers.
fn register(sample: Scalar, operators: &[&str]) -> String {
    let suffix = match sample {
        Scalar::I16 => "epi16",
        Scalar::I32 => "epi32",
        Scalar::I64 => "epi64",
        Scalar::F32 => "ps",
        _ => "pd",
    };
    let (mut calls, mut shifts) = (Vec::new(), Vec::new());
    for (name, _, call) in OPERATORS.iter().filter(|(name, ..)| operators.contains(name)) {
        let (call, suffix) = match *name {
            "BitAnd" | "BitOr" | "BitXor" => (*call, "si512"),
            "Mul" if sample.is_integer() => ("mullo", suffix),
            _ => (*call, suffix),
        };
        let to = if matches!(*name, "Shl" | "Shr") { &mut shifts } else { &mut calls };
        to.push(format!("{name} {} _mm512_{call}_{suffix}", name.to_lowercase()));
    }
    let head = format!("    register!({}, _mm512_set1_{suffix}; ", sample.name());
    let tail = if shifts.is_empty() { ");".to_owned() } else { format!("; {});", shifts.join(", ")) };
    format!("    #[rustfmt::skip]\n{}\n", list(&head, &calls, &tail))
}

/// Functions of `Value`, where some step has sums that are wider than samples.
const WIDENS: &str = "    /// A 16-bit sample, for sums of 32 bits.
    fn wide(self) -> Wrapping<i32> {
        unreachable!(\"sums of this type are not wider\")
    }

    /// The lower bits of such a sum.
    fn narrow(_: Wrapping<i32>) -> Self {
        unreachable!(\"sums of this type are not wider\")
    }
";
/// Functions of `Sample` for bits of headroom.
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
const SET_GAIN: &str = "            let gain = if i == 0 { shape.gain as i32 } else { 0 };
";

/// The sweep's placeholders for bits of headroom.
const GAIN_PLACES: [(&str, &str); 16] = [
    ("UP_ROW", ".up(self.gain)"),
    (
        "GAIN_COPY",
        "            if self.forward {
                target.iter_mut().for_each(|x| *x = x.up(self.gain));
            }
",
    ),
    (
        "GAIN_GIVE",
        "        let rows = if self.forward { 0 } else { 2 * n };
        for (p, i) in (0..rows).map(|i| (i % 2, i / 2)) {
            let row = to + self.at(false, p, i);
            let row = &mut self.to[row..][..count];
            row.iter_mut().for_each(|x| *x = x.down(self.gain));
        }
",
    ),
    ("GAIN_SET", "                gain: if i == 0 { shape.gain as i32 } else { 0 },\n"),
    ("UP", ".up(gain)"),
    ("DOWN", ".down(gain)"),
    ("GAIN_WORK", "    /// Bits of headroom, where a row moves from or to the signal.\n    gain: i32,\n"),
    ("GAIN_LET", "        let gain = work.gain;\n"),
    ("GAIN_ZERO", "            gain: 0,\n"),
    ("GAIN_FIELD", "    gain: i32,\n"),
    ("GAIN_VALUE", "            gain: 0,\n"),
    ("GAIN_ARRIVES", "            self.work.gain = if forward { self.gain } else { 0 };\n"),
    (
        "GAIN_LEAVES",
        "            self.work.gain = match forward && arrives {
                true => 0,
                false => self.gain,
            };
",
    ),
    (
        "SHIFT_GAIN",
        "                if work.gain > 0 && forward {
                    to.iter_mut().for_each(|x| *x = x.up(work.gain));
                } else if work.gain > 0 {
                    to.iter_mut().for_each(|x| *x = x.down(work.gain));
                }
",
    ),
    ("SET_GAIN_IMAGES", "        s.gain = shape.gain as i32;\n"),
    ("SET_GAIN_PASS", "                    s.gain = gain;\n"),
];

const NEG: &str = "
            impl Neg for Register<$T> {
                type Output = Self;
                #[inline(always)]
                fn neg(self) -> Self {
                    VALUE
                }
            }";
const SHIFTS: &str = "
            $(impl $shift<usize> for Register<$T> {
                type Output = Self;
                #[inline(always)]
                fn $by(self, bits: usize) -> Self {
                    // SAFETY: the processor has AVX-512.
                    unsafe { Register($shift_call(self.0, Self::all(bits as i64).0), PhantomData) }
                }
            })*";

const TURN: &str = "
/// All steps of a turn along columns, away from borders; `row` gives each row once.
#[inline(always)]
fn turn<'a, T: Sample>(forward: bool, n: usize, row: impl FnMut(usize, i32) -> &'a mut [T]) {
    match forward {
ARMS    }
}
";
const NO_TURN: &str = "
/// A turn takes too many rows for a loop of its own.
#[inline(always)]
fn turn<'a, T: Sample>(_: bool, _: usize, _: impl FnMut(usize, i32) -> &'a mut [T]) {}
";

/// The sweep's placeholders, and what turns in registers put there.
const WIDE_PLACES: [(&str, &str); 8] = [
    ("WIDE_FIELD", "    #[cfg(target_arch = \"x86_64\")]\n    wide: bool,\n"),
    (
        "WIDE_VALUE",
        "            #[cfg(target_arch = \"x86_64\")]\n            wide: T::WIDE.is_some() && has_wide(),\n",
    ),
    (
        "WIDE_WAY",
        "    /// Lag of results along a row in registers, in pairs.
    #[cfg(target_arch = \"x86_64\")]
    behind: i32,
    /// Rows of a turn in registers: phase, and pair counted from the first one that arrives.
    #[cfg(target_arch = \"x86_64\")]
    rows: &'static [(usize, i32)],
",
    ),
    (
        "WIDE_NONE",
        "    #[cfg(target_arch = \"x86_64\")]
    behind: 0,
    #[cfg(target_arch = \"x86_64\")]
    rows: &[],
",
    ),
    ("WIDE_RING", "        #[cfg(target_arch = \"x86_64\")]\n        self.wide_move();\n"),
    (
        "WIDE_CONST",
        "
    /// Turns in AVX-512 registers, if any: analysis and synthesis.
    #[cfg(target_arch = \"x86_64\")]
    const WIDE: Option<[Loop<Self>; 2]>;
",
    ),
    (
        "WIDE_PART",
        "        #[cfg(target_arch = \"x86_64\")]
        let part = self.wide_part(level);
        #[cfg(not(target_arch = \"x86_64\"))]
        let part = [l.across[0]; 2];
",
    ),
    (
        "WIDE_TURN",
        "            #[cfg(target_arch = \"x86_64\")]
            if k0 == part[0] && part[0] < part[1] {
                self.wide_turn(level, part);
                if !forward {
                    let (lanes, lag) = ((64 / size_of::<T>()) as i32, INVERSE.behind);
                    self.leave(forward, level, [before, k0 + lanes - lag]);
                    before = part[1] - lag;
                }
                k0 = part[1];
                continue;
            }
            let k1 = (k0 + T::BLOCK).min(if k0 < part[0] { part[0] } else { l.across[0] });
",
    ),
];

/// Whether lines of one sample at an odd position occur, and are doubled.
fn has_lone(request: &Request) -> bool {
    request.doubles_lone_odd() && request.boundary != Boundary::Periodic
}

/// A function of a sample type's macro.
fn function(head: &str, result: &str, value: &str) -> String {
    let indent = "            ";
    format!("\n{indent}#[inline(always)]\n{indent}fn {head} -> {result} {{\n{indent}    {value}\n{indent}}}\n")
}
