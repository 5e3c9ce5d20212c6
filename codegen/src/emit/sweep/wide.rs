//! Turns in AVX-512 registers, away from borders: the wavelet's part in Rust.
//!
//! rewrite: "each step is a loop over a block of a row" → one loop over columns, a register at a time. Arriving rows
//! are split and take all steps along the row. Each step lags a few lanes behind the samples it reads, and keeps what
//! it still needs of the previous register. Then the rows take all steps of the turn along columns. The ring is read
//! and written only for rows that stay in it; all others leave at once. Synthesis runs backwards.
//!
//! The steps are those of the sweep's kernels. This module adds only the spelling of arithmetic in an instruction set.

use crate::emit::{EmitError, prepared};
use crate::ir::{BinOp, Expr, Kernel, Literal, LocalId, ParamId, Place, Scalar, Space, Stmt, UnOp};
use crate::schedule::rows::{Row, Sweep};
use std::collections::BTreeMap;

/// Spelling of a sample type's registers: operators of a type `V`.
#[derive(Clone, Copy)]
pub(super) struct Set {
    scalar: Scalar,
    /// Samples per register.
    pub lanes: i32,
    /// The register type.
    pub vector: &'static str,
    /// Suffix of arithmetic intrinsics.
    pub arithmetic: &'static str,
    /// Suffix of loads, stores and bit operations.
    pub bits: &'static str,
}

impl Set {
    /// `None` for types without arithmetic.
    fn of(scalar: Scalar) -> Option<Set> {
        let (lanes, vector, arithmetic, bits) = match scalar {
            Scalar::F32 => (16, "__m512", "ps", "ps"),
            Scalar::F64 => (8, "__m512d", "pd", "pd"),
            Scalar::I16 => (32, "__m512i", "epi16", "si512"),
            Scalar::I32 => (16, "__m512i", "epi32", "si512"),
            Scalar::I64 => (8, "__m512i", "epi64", "si512"),
            _ => return None,
        };
        Some(Set { scalar, lanes, vector, arithmetic, bits })
    }

    /// Whether samples are integers.
    pub fn whole(self) -> bool {
        self.bits == "si512"
    }

    /// `None` for unsupported operations.
    fn operation(self, op: BinOp, a: String, b: String) -> Option<String> {
        let symbol = match op {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
            BinOp::And if self.whole() => "&",
            BinOp::Or if self.whole() => "|",
            BinOp::Xor if self.whole() => "^",
            _ => return None,
        };
        Some(format!("{a} {symbol} {b}"))
    }
}

/// A line of text.
pub(super) enum Line {
    Comment(String),
    /// A named register and its value.
    Let(String, Value),
}

/// Value of a register.
pub(super) enum Value {
    Text(String),
    /// A register, shifted by lanes.
    Later(String, i32),
    /// A row of the ring.
    Ring(usize),
}

/// Names in use along a row before the first step.
const NAMES: [&str; 7] = ["even", "odd", "one", "two", "kept", "first", "second"];

/// Loops of one direction.
pub(super) struct Wide {
    pub set: Set,
    /// All steps along a row, on registers `even` and `odd`.
    pub along: Vec<Line>,
    /// Names of the results.
    pub results: [String; 2],
    /// Registers kept for the next block of the row.
    pub kept: Vec<String>,
    /// Lag of the results, in lanes.
    pub behind: i32,
    /// All steps of a turn along columns. Arriving rows are `new_rows[0]` to `new_rows[3]`, in order.
    pub down: Vec<Line>,
    /// Rows of the ring that are used.
    pub rows: Vec<Row>,
    /// Values stored in the ring.
    pub stored: Vec<(usize, String)>,
    /// Values that leave, with their rows.
    pub left: Vec<(usize, String)>,
}

impl Wide {
    /// `None` if the sweep has no turn loop, registers are too short, or an operation has no intrinsic.
    ///
    /// # Errors
    /// If a kernel breaks the rules of the IR.
    pub fn new(sweep: &Sweep, sample: Scalar) -> Result<Option<Wide>, EmitError> {
        let Some(set) = Set::of(sample) else { return Ok(None) };
        let Some((turn, rows)) = &sweep.turn else { return Ok(None) };
        let kernels: Vec<Kernel> = prepared(sweep.steps.iter().map(|step| step.kernel.clone()).chain([turn.clone()]))?
            .into_iter()
            .map(|(kernel, _)| kernel)
            .collect();
        let (turn, steps) = kernels.split_last().expect("there is a turn");
        let mut text = Text { set, lines: Vec::new(), names: NAMES.map(str::to_string).to_vec() };
        let Some((results, kept, behind)) = along(sweep, steps, &mut text) else { return Ok(None) };
        // One register is lifted ahead of each result, so the lag and the halo must fit into it.
        if kept.is_empty() || behind + sweep.halo[0].max(sweep.halo[1]) >= set.lanes {
            return Ok(None);
        }
        let along = std::mem::take(&mut text.lines);
        text.names.clear();
        let down = down(sweep, turn, rows, &mut text);
        Ok(down.map(|(rows, stored, left)| Wide {
            set,
            along,
            results,
            kept,
            behind,
            down: text.lines,
            rows,
            stored,
            left,
        }))
    }
}

/// Lines, and the names they define.
struct Text {
    set: Set,
    lines: Vec<Line>,
    names: Vec<String>,
}

impl Text {
    /// Defines a register with this name or a similar unused one.
    fn set(&mut self, like: &str, value: Value) -> String {
        let name = (1..)
            .map(|i| if i == 1 { like.to_string() } else { format!("{like}_{i}") })
            .find(|name| !self.names.contains(name))
            .expect("some number is unused");
        self.names.push(name.clone());
        self.lines.push(Line::Let(name.clone(), value));
        name
    }

    /// An expression; `None` if it has another type or an operation that sweeps do not use. Long parts get their own
    /// line.
    fn expression(&mut self, e: &Expr, names: &BTreeMap<LocalId, String>) -> Option<String> {
        let set = self.set;
        let scalar = set.scalar;
        Some(match e {
            Expr::Lit(Literal::F32(x)) if x.is_finite() && scalar == Scalar::F32 => format!("V::all({x:?})"),
            Expr::Lit(Literal::F64(x)) if x.is_finite() && scalar == Scalar::F64 => format!("V::all({x:?})"),
            Expr::Lit(Literal::Int(v, of)) if *of == scalar && i32::try_from(*v).is_ok_and(|v| v > i32::MIN) => {
                format!("V::all({v})")
            }
            Expr::Local(id) => names.get(id)?.clone(),
            Expr::Cast(to, e) if *to == scalar => self.expression(e, names)?,
            Expr::Unary(UnOp::Neg, a) => format!("-{}", self.argument(a, names)?),
            Expr::Binary(op @ (BinOp::Shl | BinOp::Shr), a, by) => {
                let Expr::Lit(Literal::Int(by, _)) = **by else { return None };
                set.operation(*op, self.argument(a, names)?, by.to_string())?
            }
            Expr::Binary(op, a, b) => set.operation(*op, self.argument(a, names)?, self.argument(b, names)?)?,
            _ => return None,
        })
    }

    /// An expression as an operand of another one.
    fn argument(&mut self, e: &Expr, names: &BTreeMap<LocalId, String>) -> Option<String> {
        let text = self.expression(e, names)?;
        Some(match text.len() > 32 {
            true => self.set("part", Value::Text(text)),
            false if text.contains(' ') => format!("({text})"),
            false => text,
        })
    }

    /// The loop of a kernel, on registers. `loaded` gives the value of each parameter; the result is the stored value.
    fn carry_out(
        &mut self,
        kernel: &Kernel,
        mut loaded: impl FnMut(&mut Text, ParamId, &str) -> Option<String>,
    ) -> Option<Vec<(ParamId, String)>> {
        let body = kernel.body.iter().find_map(|statement| match statement {
            Stmt::For { body, .. } => Some(body),
            _ => None,
        })?;
        let mut names = BTreeMap::new();
        let mut stored = Vec::new();
        for statement in body {
            match statement {
                Stmt::Comment(text) => self.lines.push(Line::Comment(text.clone())),
                Stmt::Declare(_) => {}
                Stmt::Load { dst: Place::Local(id), space: Space::Global(param), .. } => {
                    let name = loaded(self, *param, &kernel.locals[id.0 as usize].name)?;
                    names.insert(*id, name);
                }
                Stmt::Let(id, value) => {
                    let value = self.expression(value, &names)?;
                    let name = self.set(&kernel.locals[id.0 as usize].name, Value::Text(value));
                    names.insert(*id, name);
                }
                Stmt::Store { space: Space::Global(param), values, .. } => {
                    let [value] = &values[..] else { return None };
                    stored.push((*param, self.expression(value, &names)?));
                }
                _ => return None,
            }
        }
        Some(stored)
    }
}

/// All steps along a row. Each phase's register lags some lanes behind the last one loaded. A step's lag follows from
/// the last sample that it reads.
fn along(sweep: &Sweep, steps: &[Kernel], text: &mut Text) -> Option<([String; 2], Vec<String>, i32)> {
    let phases = ["even", "odd"];
    let mut now = phases.map(|name| (name.to_string(), 0));
    let mut kept = Vec::new();
    let mut shifted: BTreeMap<(String, i32), String> = BTreeMap::new();
    let mut later = |text: &mut Text, name: &str, lanes: i32| -> Option<String> {
        if lanes == 0 {
            return Some(name.to_string());
        }
        if lanes > text.set.lanes {
            return None;
        }
        let key = (name.to_string(), lanes);
        if let Some(there) = shifted.get(&key) {
            return Some(there.clone());
        }
        if !kept.iter().any(|k| k == name) {
            kept.push(name.to_string());
        }
        let value = text.set(&format!("{name}_m{lanes}"), Value::Later(name.to_string(), lanes));
        shifted.insert(key, value.clone());
        Some(value)
    };
    for (place, kernel) in sweep.steps.iter().zip(steps) {
        let target = place.target.parity() as usize;
        let (ours, theirs) = (now[target].clone(), now[1 - target].clone());
        let behind = place.offsets.iter().map(|o| theirs.1 + o).fold(ours.1, i32::max);
        text.lines.push(Line::Comment(place.text.clone()));
        let stored = text.carry_out(kernel, |text, param, _| match param.0 {
            0 => later(text, &ours.0, behind - ours.1),
            read => later(text, &theirs.0, behind - theirs.1 - place.offsets[read as usize - 1]),
        })?;
        let [(_, value)] = &stored[..] else { return None };
        let name = text.set(phases[target], Value::Text(value.clone()));
        now[target] = (name, behind);
    }
    let behind = now[0].1.max(now[1].1);
    let results = [later(text, &now[0].0, behind - now[0].1)?, later(text, &now[1].0, behind - now[1].1)?];
    Some((results, kept, behind))
}

/// Rows of a ring, by their index in the turn's list.
type Rows = Vec<(usize, String)>;

/// All steps of a turn along columns: rows of the ring, rows stored there, and rows that leave.
fn down(sweep: &Sweep, turn: &Kernel, rows: &[Row], text: &mut Text) -> Option<(Vec<Row>, Rows, Rows)> {
    let of_turn = 0..2 * sweep.pairs;
    let arrives = |i: i32| Row { k: i / 2, phase: (i % 2) as u8 };
    let mut all = rows.to_vec();
    all.extend(of_turn.clone().map(arrives).filter(|row| !rows.contains(row)));
    let arrival = |row: Row| (row.k >= 0).then(|| format!("new_rows[{}]", 2 * row.k + i32::from(row.phase)));
    let mut values: BTreeMap<Row, String> = all.iter().filter_map(|&row| Some((row, arrival(row)?))).collect();
    let mut changed: Vec<Row> = values.keys().copied().collect();
    let stored = text.carry_out(turn, |text, param, name| {
        let at = param.0 as usize;
        let row = rows[at];
        let value = arrival(row).map_or(Value::Ring(at), Value::Text);
        let name = text.set(name, value);
        values.insert(row, name.clone());
        Some(name)
    })?;
    for (param, value) in stored {
        let row = rows[param.0 as usize];
        values.insert(row, value);
        changed.push(row);
    }
    let leaves: Vec<Row> =
        of_turn.map(|i| Row { k: i / 2 - sweep.delay[(i % 2) as usize], phase: (i % 2) as u8 }).collect();
    let at = |row: Row| all.iter().position(|r| *r == row);
    let left = leaves.iter().map(|&row| Some((at(row)?, values.get(&row)?.clone()))).collect::<Option<Rows>>()?;
    let stays = |row: &Row| changed.contains(row) && !leaves.contains(row);
    let stored =
        all.iter().enumerate().filter(|(_, row)| stays(row)).map(|(i, row)| (i, values[row].clone())).collect();
    Some((all, stored, left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Options;
    use lifting_dsl::Direction;
    use lifting_dsl::{Boundary, Domain, testing};

    fn wide(domain: Domain, steps: Vec<lifting_dsl::Step>, sample: Scalar) -> Option<Wide> {
        let scheme = testing::scheme("wavelet", domain, Boundary::WholeSymmetric, steps);
        let options = Options {
            sample,
            boundary: Boundary::WholeSymmetric,
            direction: Direction::Forward,
            gain: false,
            doubled_ends: false,
        };
        let sweep = Sweep::new(&scheme, options).expect("the sample type is of the domain");
        Wide::new(&sweep, sample).expect("kernels keep the rules")
    }

    /// Each step lags as far as its reads require: the even sample to the right, twice.
    #[test]
    fn results_lag_as_steps_require() {
        let cdf97 = wide(Domain::Real, testing::cdf97(), Scalar::F32).expect("it has a loop");
        assert_eq!(cdf97.behind, 2);
        let kept = ["odd", "even", "odd_2", "even_2", "odd_3"];
        assert_eq!(cdf97.kept, kept);
        // Rows that leave are not stored in the ring.
        assert_eq!(cdf97.left.len(), 4);
        assert!(cdf97.stored.iter().all(|(row, _)| cdf97.left.iter().all(|(left, _)| left != row)));
        let dd137 = wide(Domain::Integer, testing::dd137(), Scalar::I16).expect("it has a loop");
        assert_eq!(dd137.behind, 3);
    }

    /// Widened steps, and steps that reach beyond a register, have no loop.
    #[test]
    fn steps_without_a_loop() {
        use lifting_dsl::{Op, Phase};
        let wide_sum = testing::integer(Phase::Odd, Op::Sub, &[(0, 30000), (1, 30000)], 1, 14);
        let steps = |step| vec![step, testing::legall53().remove(1)];
        assert!(wide(Domain::Integer, steps(wide_sum.clone()), Scalar::I16).is_none());
        assert!(wide(Domain::Integer, steps(wide_sum), Scalar::I32).is_some());
        let far = testing::integer(Phase::Odd, Op::Sub, &[(0, 1), (40, 1)], 0, 1);
        assert!(wide(Domain::Integer, steps(far), Scalar::I16).is_none());
    }
}
