//! Registers, active masks, and the evaluation of one operation for all active threads.

use super::buffer::Element;
use super::code::{Code, PlaceCode, Pure, Slot};
use super::fault::FaultKind;
use crate::ir::print::Names;
use crate::ir::{BinOp, Kernel, LocalId, MAX_WARP, Scalar, UnOp};
use half::{bf16, f16};
use std::cell::Cell;

/// A fault, and the thread of the block that caused it.
pub(super) type Stop = Box<(FaultKind, u32)>;

/// The executing threads of a block, ascending; never empty.
#[derive(Clone, Debug)]
pub(super) enum Active {
    /// From the first number up to the second, exclusive.
    Range(u32, u32),
    /// These threads.
    List(Vec<u32>),
}

/// Runs the body for each active thread. Ranges are counted by hand: iterators are slow without full optimisation, and
/// tests spend most of their time here.
macro_rules! each {
    ($active:expr, $t:ident => $body:block) => {
        match $active {
            $crate::ir::interp::pure::Active::Range(a, b) => {
                let mut next = *a;
                while next < *b {
                    let $t = next;
                    next += 1;
                    $body
                }
            }
            $crate::ir::interp::pure::Active::List(list) => {
                for &$t in list {
                    $body
                }
            }
        }
    };
}
pub(super) use each;

impl Active {
    pub(super) fn len(&self) -> usize {
        match self {
            Active::Range(a, b) => (b - a) as usize,
            Active::List(list) => list.len(),
        }
    }

    /// The first active thread.
    pub(super) fn first(&self) -> u32 {
        match self {
            Active::Range(a, _) => *a,
            Active::List(list) => list[0],
        }
    }

    /// Splits by a condition; a side without threads is `None`.
    pub(super) fn split(&self, holds: impl Fn(u32) -> bool) -> (Option<Active>, Option<Active>) {
        // Most branches are taken by all threads or none.
        let first = holds(self.first());
        let mut same = true;
        each!(self, t => { same &= holds(t) == first });
        if same {
            return if first { (Some(self.clone()), None) } else { (None, Some(self.clone())) };
        }
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        each!(self, t => {
            if holds(t) { yes.push(t) } else { no.push(t) }
        });
        (Active::from_list(yes), Active::from_list(no))
    }

    fn from_list(list: Vec<u32>) -> Option<Active> {
        let (first, last) = (*list.first()?, *list.last()?);
        Some(match (last - first) as usize + 1 == list.len() {
            true => Active::Range(first, last + 1),
            false => Active::List(list),
        })
    }

    /// The active threads warp by warp, of `warp` lanes each.
    pub(super) fn warps(&self, warp: u32, mut f: impl FnMut(&[u32]) -> Result<(), Stop>) -> Result<(), Stop> {
        match self {
            &Active::Range(first, end) => {
                let mut lanes = [0; MAX_WARP as usize];
                let mut from = first;
                while from < end {
                    let to = end.min(from / warp * warp + warp);
                    let lanes = &mut lanes[..(to - from) as usize];
                    lanes.iter_mut().zip(from..to).for_each(|(lane, t)| *lane = t);
                    f(lanes)?;
                    from = to;
                }
                Ok(())
            }
            Active::List(list) => list.chunk_by(|a, b| a / warp == b / warp).try_for_each(f),
        }
    }
}

/// A register, as its threads see it.
#[derive(Clone, Copy)]
pub(super) struct Column<'a> {
    cells: &'a [Cell<u64>],
    /// 0 for a uniform register: all threads see its one cell.
    mask: usize,
}

impl Column<'_> {
    #[inline(always)]
    pub(super) fn get(&self, t: u32) -> u64 {
        self.cells[t as usize & self.mask].get()
    }

    #[inline(always)]
    pub(super) fn set(&self, t: u32, bits: u64) {
        self.cells[t as usize & self.mask].set(bits);
    }
}

/// The registers of a block.
pub(super) struct Registers<'a> {
    pub(super) names: &'a Names,
    uniform: Vec<Cell<u64>>,
    varying: Vec<Cell<u64>>,
    threads: usize,
    /// By tracked local: which elements are set, per thread.
    set: Vec<Vec<Cell<bool>>>,
}

impl<'a> Registers<'a> {
    pub(super) fn new(kernel: &Kernel, names: &'a Names, code: &Code, threads: usize) -> Registers<'a> {
        let lens = code.tracked.iter().zip(kernel.locals.iter().map(|l| l.len.unwrap_or(1) as usize));
        Registers {
            names,
            uniform: vec![Cell::new(0); code.uniform as usize],
            varying: vec![Cell::new(0); code.varying as usize * threads],
            threads,
            set: lens.map(|(&tracked, len)| vec![Cell::new(false); if tracked { len * threads } else { 0 }]).collect(),
        }
    }

    #[inline(always)]
    pub(super) fn column(&self, slot: Slot) -> Column<'_> {
        match slot {
            Slot::Uniform(s) => Column { cells: &self.uniform[s as usize..s as usize + 1], mask: 0 },
            Slot::Varying(_) => Column { cells: self.cells(slot), mask: usize::MAX },
        }
    }

    #[inline(always)]
    fn cells(&self, slot: Slot) -> &[Cell<u64>] {
        match slot {
            Slot::Uniform(s) => &self.uniform[s as usize..s as usize + 1],
            Slot::Varying(s) => &self.varying[s as usize * self.threads..(s as usize + 1) * self.threads],
        }
    }

    pub(super) fn set_uniform(&self, slot: u32, bits: u64) {
        self.uniform[slot as usize].set(bits);
    }

    /// Marks the elements of a tracked local as unset, for the active threads.
    pub(super) fn forget(&self, local: LocalId, active: &Active) {
        for flags in self.set[local.0 as usize].chunks(self.threads) {
            each!(active, t => { flags[t as usize].set(false) });
        }
    }

    #[inline(always)]
    pub(super) fn mark(&self, local: LocalId, element: u32, t: u32) {
        self.set[local.0 as usize][element as usize * self.threads + t as usize].set(true);
    }

    fn check(&self, place: PlaceCode, element: u32, t: u32) -> Result<(), FaultKind> {
        if self.set[place.local.0 as usize][element as usize * self.threads + t as usize].get() {
            return Ok(());
        }
        Err(FaultKind::Uninitialised {
            name: self.names.local(place.local),
            index: place.array.then_some(element.into()),
        })
    }

    /// Evaluates an operation for all active threads.
    pub(super) fn evaluate(&self, op: &Pure, active: &Active) -> Result<(), Stop> {
        match *op {
            Pure::Copy { dst, a } => self.map1(active, dst, a, |a| a),
            Pure::Unary { op, scalar, dst, a } => self.unary(active, op, scalar, dst, a),
            Pure::Binary { op, scalar, dst, a, b } => self.binary(active, op, scalar, dst, a, b)?,
            Pure::Select { dst, c, a, b } => {
                let (c, a, b) = (self.column(c), self.column(a), self.column(b));
                self.fill(active, dst, |t| if c.get(t) != 0 { a.get(t) } else { b.get(t) });
            }
            Pure::Cast { from, to, dst, a } => self.cast(active, from, to, dst, a)?,
            Pure::Mirror { dst, i, n } => self.fold(active, dst, i, n, |i, n| {
                let period = (2 * (n - 1)).max(1);
                let r = i.rem_euclid(period);
                r.min(period - r).min(n - 1)
            })?,
            Pure::Wrap { dst, i, n } => self.fold(active, dst, i, n, |i, n| i.rem_euclid(n))?,
            Pure::Dot { dst, pair, weights: [low, high], sum } => self.map2(active, dst, pair, sum, |pair, sum| {
                let pair = i32::from_pattern(pair);
                let products =
                    [(pair as i16, low), ((pair >> 16) as i16, high)].map(|(a, w)| i32::from(a) * i32::from(w));
                products.into_iter().fold(i32::from_pattern(sum), i32::wrapping_add).to_pattern()
            }),
            Pure::Elem { dst, array, index } => {
                let index = self.column(index);
                if dst.is_uniform() {
                    let t = active.first();
                    let bits = self.element(array, index.get(t) as i64, t)?;
                    self.column(dst).set(0, bits);
                    return Ok(());
                }
                let out = self.column(dst);
                each!(active, t => { out.set(t, self.element(array, index.get(t) as i64, t)?) });
            }
            Pure::Check { array } => {
                each!(active, t => { self.check(array, array.first, t).map_err(|kind| Box::new((kind, t)))? });
            }
        }
        Ok(())
    }

    /// Reads an element of a register array.
    fn element(&self, array: PlaceCode, index: i64, t: u32) -> Result<u64, Stop> {
        let element = u32::try_from(index).ok().filter(|i| *i < array.len);
        let element = element.ok_or_else(|| {
            Box::new((
                FaultKind::OutOfBounds {
                    array: self.names.local(array.local),
                    index,
                    lanes: 1,
                    len: array.len as usize,
                },
                t,
            ))
        })?;
        if array.tracked {
            self.check(array, element, t).map_err(|kind| Box::new((kind, t)))?;
        }
        Ok(self.column(array.base.plus(element)).get(t))
    }

    /// Sets `dst` to a function of the thread's number.
    #[inline(always)]
    fn fill(&self, active: &Active, dst: Slot, f: impl Fn(u32) -> u64) {
        let out = self.column(dst);
        if dst.is_uniform() {
            return out.set(0, f(active.first()));
        }
        each!(active, t => { out.set(t, f(t)) });
    }

    #[inline(always)]
    fn map1(&self, active: &Active, dst: Slot, a: Slot, f: impl Fn(u64) -> u64) {
        match (dst, a, active) {
            (Slot::Varying(_), Slot::Varying(_), &Active::Range(first, end)) => {
                let range = first as usize..end as usize;
                for (out, a) in self.cells(dst)[range.clone()].iter().zip(&self.cells(a)[range]) {
                    out.set(f(a.get()));
                }
            }
            _ => {
                let a = self.column(a);
                self.fill(active, dst, |t| f(a.get(t)));
            }
        }
    }

    #[inline(always)]
    fn map2(&self, active: &Active, dst: Slot, a: Slot, b: Slot, f: impl Fn(u64, u64) -> u64) {
        if let (Slot::Varying(_), &Active::Range(first, end)) = (dst, active) {
            let range = first as usize..end as usize;
            let out = &self.cells(dst)[range.clone()];
            match (a, b) {
                (Slot::Varying(_), Slot::Varying(_)) => {
                    let (a, b) = (&self.cells(a)[range.clone()], &self.cells(b)[range]);
                    for ((out, a), b) in out.iter().zip(a).zip(b) {
                        out.set(f(a.get(), b.get()));
                    }
                    return;
                }
                (Slot::Varying(_), Slot::Uniform(b)) => {
                    let b = self.uniform[b as usize].get();
                    for (out, a) in out.iter().zip(&self.cells(a)[range]) {
                        out.set(f(a.get(), b));
                    }
                    return;
                }
                _ => {}
            }
        }
        let (a, b) = (self.column(a), self.column(b));
        self.fill(active, dst, |t| f(a.get(t), b.get(t)));
    }

    /// The first active thread for which `holds` is true.
    fn find(&self, active: &Active, holds: impl Fn(u32) -> bool) -> Option<u32> {
        each!(active, t => {
            if holds(t) {
                return Some(t);
            }
        });
        None
    }

    fn unary(&self, active: &Active, op: UnOp, scalar: Scalar, dst: Slot, a: Slot) {
        macro_rules! apply {
            ($t:ty, $f:expr) => {
                self.map1(active, dst, a, |a| $f(<$t>::from_pattern(a)).to_pattern())
            };
        }
        macro_rules! bits {
            ($t:ty) => {
                match op {
                    UnOp::CountOnes => apply!($t, |v: $t| v.count_ones() as $t),
                    UnOp::LeadingZeros => apply!($t, |v: $t| v.leading_zeros() as $t),
                    UnOp::Neg | UnOp::Not => apply!($t, <$t>::wrapping_neg),
                }
            };
        }
        match (op, scalar) {
            (UnOp::Not, _) => self.map1(active, dst, a, |a| a ^ 1),
            (_, Scalar::I16) => apply!(i16, i16::wrapping_neg),
            (_, Scalar::I32) => bits!(i32),
            (_, Scalar::I64) => bits!(i64),
            (_, Scalar::U32) => bits!(u32),
            (_, Scalar::U64) => bits!(u64),
            (_, Scalar::F32) => apply!(f32, |v: f32| -v),
            (_, Scalar::F64) => apply!(f64, |v: f64| -v),
            (_, Scalar::Bool | Scalar::U8 | Scalar::F16 | Scalar::Bf16) => {
                unreachable!("the validator rejects such operands")
            }
        }
    }

    fn binary(&self, active: &Active, op: BinOp, scalar: Scalar, dst: Slot, a: Slot, b: Slot) -> Result<(), Stop> {
        use BinOp::*;
        // Checked first, so that every active thread has a result below.
        match op {
            Div | Rem if scalar.is_integer() => {
                let (a, b) = (self.column(a), self.column(b));
                if let Some(t) = self.find(active, |t| b.get(t) == 0) {
                    return Err(Box::new((FaultKind::DivisionByZero, t)));
                }
                let least = match scalar {
                    Scalar::I16 => i16::MIN.to_pattern(),
                    Scalar::I32 => i32::MIN.to_pattern(),
                    Scalar::I64 => i64::MIN.to_pattern(),
                    // Only the unsigned value 2^64−1 has the pattern of −1, and 0 divided by it is 0.
                    _ => 0,
                };
                let overflows = |t| least != 0 && b.get(t) == u64::MAX && a.get(t) == least;
                if let Some(t) = self.find(active, overflows) {
                    return Err(Box::new((FaultKind::DivisionOverflow(scalar), t)));
                }
            }
            Shl | Shr => {
                let (count, bits) = (self.column(b), scalar.bytes() as u64 * 8);
                if let Some(t) = self.find(active, |t| count.get(t) >= bits) {
                    let count = count.get(t) as i64;
                    return Err(Box::new((FaultKind::Shift { count, scalar }, t)));
                }
            }
            _ => {}
        }
        macro_rules! go {
            ($t:ty, $f:expr) => {
                self.map2(active, dst, a, b, |a, b| $f(<$t>::from_pattern(a), <$t>::from_pattern(b)).to_pattern())
            };
        }
        macro_rules! compare {
            ($t:ty, $op:tt) => {
                self.map2(active, dst, a, b, |a, b| (<$t>::from_pattern(a) $op <$t>::from_pattern(b)).into())
            };
        }
        macro_rules! integer {
            ($t:ident) => {
                match op {
                    Add => go!($t, $t::wrapping_add),
                    Sub => go!($t, $t::wrapping_sub),
                    Mul => go!($t, $t::wrapping_mul),
                    Div => go!($t, $t::wrapping_div),
                    Rem => go!($t, $t::wrapping_rem),
                    Min => go!($t, $t::min),
                    Max => go!($t, $t::max),
                    Pack { low, high } => self.map2(active, dst, a, b, |a, b| {
                        ((a as i32 >> (8 * low) & 0xffff) | (b as i32 >> (8 * high) << 16)).to_pattern()
                    }),
                    And => go!($t, |a, b| a & b),
                    Or => go!($t, |a, b| a | b),
                    Xor => go!($t, |a, b| a ^ b),
                    Shl => self.map2(active, dst, a, b, |a, n| $t::from_pattern(a).wrapping_shl(n as u32).to_pattern()),
                    Shr => self.map2(active, dst, a, b, |a, n| $t::from_pattern(a).wrapping_shr(n as u32).to_pattern()),
                    Eq => compare!($t, ==),
                    Ne => compare!($t, !=),
                    Lt => compare!($t, <),
                    Le => compare!($t, <=),
                    Gt => compare!($t, >),
                    Ge => compare!($t, >=),
                }
            };
        }
        macro_rules! float {
            ($t:ident) => {
                match op {
                    Add => go!($t, |a, b| a + b),
                    Sub => go!($t, |a, b| a - b),
                    Mul => go!($t, |a, b| a * b),
                    Div => go!($t, |a, b| a / b),
                    Eq => compare!($t, ==),
                    Ne => compare!($t, !=),
                    Lt => compare!($t, <),
                    Le => compare!($t, <=),
                    Gt => compare!($t, >),
                    Ge => compare!($t, >=),
                    Rem | Min | Max | Pack { .. } | And | Or | Xor | Shl | Shr => {
                        unreachable!("the validator rejects such operands")
                    }
                }
            };
        }
        match scalar {
            Scalar::I16 => integer!(i16),
            Scalar::I32 => integer!(i32),
            Scalar::I64 => integer!(i64),
            Scalar::U32 => integer!(u32),
            Scalar::U64 => integer!(u64),
            Scalar::F32 => float!(f32),
            Scalar::F64 => float!(f64),
            Scalar::Bool => match op {
                And => self.map2(active, dst, a, b, |a, b| a & b),
                Or => self.map2(active, dst, a, b, |a, b| a | b),
                Eq => self.map2(active, dst, a, b, |a, b| (a == b).into()),
                _ => self.map2(active, dst, a, b, |a, b| (a != b).into()),
            },
            Scalar::U8 | Scalar::F16 | Scalar::Bf16 => unreachable!("the validator rejects such operands"),
        }
        Ok(())
    }

    fn cast(&self, active: &Active, from: Scalar, to: Scalar, dst: Slot, a: Slot) -> Result<(), Stop> {
        use Scalar::*;
        if matches!(from, F32 | F64) && to.is_integer() {
            let column = self.column(a);
            // Both limits of every integer type are f64 values, except for the upper ones of 64-bit types.
            let value = |t| match from {
                F32 => f64::from(f32::from_pattern(column.get(t))),
                _ => f64::from_pattern(column.get(t)),
            };
            let (least, beyond) = match to {
                I16 => (f64::from(i16::MIN), 32768.0),
                I32 => (f64::from(i32::MIN), 2147483648.0),
                I64 => (i64::MIN as f64, 9223372036854775808.0),
                U32 => (0.0, 4294967296.0),
                _ => (0.0, 18446744073709551616.0),
            };
            let fits = |v: f64| v.trunc() >= least && v < beyond;
            if let Some(t) = self.find(active, |t| !fits(value(t))) {
                return Err(Box::new((FaultKind::CastOverflow { value: value(t).to_string(), to }, t)));
            }
        }
        macro_rules! to {
            ($from:ty, $($scalar:ident $t:ty),*) => {
                match to {
                    $($scalar => self.map1(active, dst, a, |a| (<$from>::from_pattern(a) as $t).to_pattern()),)*
                    _ => unreachable!("the validator rejects such casts"),
                }
            };
        }
        match from {
            U8 => to!(u8, U8 u8, I16 i16, I32 i32, I64 i64, U32 u32, U64 u64),
            I16 => to!(i16, U8 u8, I16 i16, I32 i32, I64 i64, U32 u32, U64 u64, F32 f32, F64 f64),
            I32 => to!(i32, U8 u8, I16 i16, I32 i32, I64 i64, U32 u32, U64 u64, F32 f32, F64 f64),
            I64 => to!(i64, U8 u8, I16 i16, I32 i32, I64 i64, U32 u32, U64 u64, F32 f32, F64 f64),
            U32 => to!(u32, U8 u8, I16 i16, I32 i32, I64 i64, U32 u32, U64 u64, F32 f32, F64 f64),
            U64 => to!(u64, U8 u8, I16 i16, I32 i32, I64 i64, U32 u32, U64 u64, F32 f32, F64 f64),
            F64 => to!(f64, I16 i16, I32 i32, I64 i64, U32 u32, U64 u64, F32 f32, F64 f64),
            F32 => match to {
                F16 => self.map1(active, dst, a, |a| f16::from_f32(f32::from_pattern(a)).to_pattern()),
                Bf16 => self.map1(active, dst, a, |a| bf16::from_f32(f32::from_pattern(a)).to_pattern()),
                _ => to!(f32, I16 i16, I32 i32, I64 i64, U32 u32, U64 u64, F32 f32, F64 f64),
            },
            F16 => self.map1(active, dst, a, |a| f16::from_pattern(a).to_f32().to_pattern()),
            Bf16 => self.map1(active, dst, a, |a| bf16::from_pattern(a).to_f32().to_pattern()),
            Bool => self.map1(active, dst, a, |a| a),
        }
        Ok(())
    }

    /// `mirror` and `wrap`.
    fn fold(&self, active: &Active, dst: Slot, i: Slot, n: Slot, f: impl Fn(i64, i64) -> i64) -> Result<(), Stop> {
        let extent = self.column(n);
        if let Some(t) = self.find(active, |t| (extent.get(t) as i64) < 1) {
            return Err(Box::new((FaultKind::Extent(extent.get(t) as i64), t)));
        }
        self.map2(active, dst, i, n, |i, n| f(i as i64, n as i64) as u64);
        Ok(())
    }
}
