//! In Rust.

use super::{HANDED_TURNS, Sweeps, is_unread};
use crate::back::rust::{self, Helper};
use crate::emit::{EmitError, Request, Template, prepared};
use crate::ir::Scalar;
use crate::schedule::rows::{Place, Row, Sweep};
use lifting_dsl::Boundary;
use std::collections::BTreeSet;

/// Analysis and synthesis: their name in kernels, and what `forward` is.
const WAYS: [(&str, bool); 2] = [("analyse", true), ("synthesise", false)];

impl Sweeps {
    /// What the file has once.
    pub(in crate::emit) fn rust_opening(
        &self,
        t: &Template,
        boundary: Boundary,
        helpers: &mut BTreeSet<Helper>,
    ) -> String {
        let serve = match boundary {
            Boundary::WholeSymmetric => {
                helpers.insert(Helper::Mirror);
                "    Some((mirror(2 * k + phase - parity, length) + parity - phase) / 2)\n"
            }
            Boundary::Edge | Boundary::Zero | Boundary::Periodic => {
                "    let first = if phase == 0 { parity } else { 0 };\n    \
                 let last = (parity + length + 1 - phase) / 2 - 1;\n    @OUTSIDE@\n"
            }
        };
        let outside = match boundary {
            Boundary::Zero => "(first..=last).contains(&k).then_some(k)",
            _ => "Some(k.clamp(first, last))",
        };
        let most = |of: fn(&Sweep) -> i32| self.all().map(of).max().unwrap_or(0).to_string();
        let [forward, inverse] = &self.ways[0];
        let t = t
            .clone()
            .with("PAIRS", forward.pairs.to_string())
            .with("RING", most(|sweep| sweep.ring))
            .with("MARGIN", most(|sweep| sweep.margin))
            .with("HANDED", (HANDED_TURNS * forward.pairs).to_string())
            .with("WAY_FORWARD", way(forward))
            .with("WAY_INVERSE", way(inverse))
            .with("SERVE", serve.replace("@OUTSIDE@", outside));
        t.fill(&[include_str!("../sweep_rows.rs.in"), include_str!("../sweep.rs.in")].join("\n"))
    }

    /// The loops of the sample type of that index.
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
        Ok(kernels + "\n" + &loops(request, request.samples[index], ways))
    }
}

/// What a step's loop is called.
fn step_name(way: &str, step: usize, sample: &str) -> String {
    format!("{way}_step{}_{sample}", step + 1)
}

/// The fields of a `Way`.
fn way(sweep: &Sweep) -> String {
    let step = |step: &Place| {
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
        "    steps: &[\n{steps}    ],\n    halo: {:?},\n    delay: {},\n    turn: {turn},\n",
        sweep.halo, sweep.delay
    )
}

/// The first and last row of a phase.
fn reach(rows: &[Row], phase: u8) -> [i32; 2] {
    let of = || rows.iter().filter(|row| row.phase == phase).map(|row| row.k);
    [of().min().unwrap_or(0), of().max().unwrap_or(0)]
}

/// The implementation of `Sample`.
fn loops(request: &Request, sample: Scalar, ways: &[Sweep; 2]) -> String {
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
}}
",
        ways[0].block.max(ways[1].block)
    )
}

/// A list as rustfmt lays it out from a column on: in a line if it fits there, or else numbers in as few lines as hold
/// them, and anything else in a line each.
fn list(head: &str, items: &[String], tail: &str, indent: usize) -> String {
    let one = items.join(", ");
    if one.len() <= 60 && indent + head.len() + one.len() + tail.len() < 100 {
        return format!("{head}{one}{tail}");
    }
    let within = format!("\n{}", " ".repeat(indent + 4));
    let short = items.iter().all(|item| item.len() <= 10 && !item.ends_with(')'));
    let mut out = head.to_string();
    let mut column = 100;
    for item in items {
        if short && column + 1 + item.len() < 100 {
            out += &format!(" {item},");
            column += item.len() + 2;
        } else {
            out += &format!("{within}{item},");
            column = indent + 5 + item.len();
        }
    }
    out + "\n" + &" ".repeat(indent) + tail
}
