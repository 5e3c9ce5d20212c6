//! Steps in words, for comments of emitted text and the tables of `explain`.

use lifting_dsl::{Op, PairStage, Phase, RoundingMode, Step, Weight};
use num_traits::One;

/// A step in the language's notation, e.g. `odd[k] -= (9*even[k] + 9*even[k+1] - even[k-1] - even[k+2] + 8) >> 4`.
pub fn step(step: &Step) -> String {
    let target = step.target();
    let op = |op: Op| match op {
        Op::Add => "+=",
        Op::Sub => "-=",
    };
    let read = |o: i32| element(target.other(), o);
    match step {
        Step::Integer(s) => {
            let mut sum = String::new();
            for tap in &s.taps {
                term(&mut sum, tap.weight < 0, &read_times(tap.weight.unsigned_abs(), &read(tap.offset)));
            }
            if s.rounding != 0 {
                term(&mut sum, s.rounding < 0, &s.rounding.unsigned_abs().to_string());
            }
            let value = match (s.shift, s.taps.len() + usize::from(s.rounding != 0)) {
                (0, _) => sum,
                (shift, 1) => format!("{sum} >> {shift}"),
                (shift, _) => format!("({sum}) >> {shift}"),
            };
            let value = match s.mode {
                RoundingMode::Floor => value,
                mode => format!("{}({value})", mode.name()),
            };
            format!("{} {} {value}", element(target, 0), op(s.op))
        }
        Step::Real(s) => {
            let mut sum = String::new();
            for g in &s.groups {
                let reads = g.offsets.iter().map(|o| read(*o)).collect::<Vec<_>>().join(" + ");
                let reads = if g.offsets.len() > 1 { format!("({reads})") } else { reads };
                if g.weight.is_one() || g.weight.is_minus_one() {
                    term(&mut sum, g.weight.is_minus_one(), &reads);
                } else {
                    let w = weight(&g.weight);
                    let (negative, w) = match w.strip_prefix('-') {
                        Some(w) => (true, w.to_owned()),
                        None => (false, w),
                    };
                    term(&mut sum, negative, &format!("{w}*{reads}"));
                }
            }
            format!("{} {} {sum}", element(target, 0), op(s.op))
        }
        Step::Scale(s) => format!("{} *= {}", element(target, 0), weight(&s.factor)),
    }
}

/// A stage of a lattice, e.g. `(odd[k], even[k+1]) = [[3/5, 4/5], [-4/5, 3/5]] (odd[k], even[k+1])`.
pub fn stage(stage: &PairStage) -> String {
    let pair = format!("({}, {})", element(stage.first, 0), element(stage.first.other(), stage.offset()));
    let rows = stage.rows.each_ref().map(|row| format!("[{}]", row.each_ref().map(weight).join(", ")));
    format!("{pair} = [{}] {pair}", rows.join(", "))
}

/// `even[k]`, `odd[k-1]`, …
pub fn element(phase: Phase, offset: i32) -> String {
    match offset {
        0 => format!("{}[k]", phase.name()),
        o => format!("{}[k{o:+}]", phase.name()),
    }
}

/// A weight: the rational if it is short, otherwise the nearest `f64` with round-trip digits.
pub fn weight(w: &Weight) -> String {
    if let Weight::Rational(r) = w
        && r.numer().bits() <= 20
        && r.denom().bits() <= 20
    {
        return if r.denom().is_one() { r.numer().to_string() } else { format!("{}/{}", r.numer(), r.denom()) };
    }
    format!("{:?}", w.to_f64())
}

fn read_times(weight: u32, read: &str) -> String {
    if weight == 1 { read.to_owned() } else { format!("{weight}*{read}") }
}

fn term(sum: &mut String, negative: bool, text: &str) {
    sum.push_str(match (sum.is_empty(), negative) {
        (true, false) => "",
        (true, true) => "-",
        (false, false) => " + ",
        (false, true) => " - ",
    });
    sum.push_str(text);
}
