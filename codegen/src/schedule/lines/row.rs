//! A lane's samples of a row, in registers.

use super::dots::join;
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Place, Scalar};
use crate::schedule::Arithmetic;

/// Form of a lane's samples of a row in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One sample in each register.
    Single,
    /// 16-bit integers, two in each register, of neighbouring columns: as memory has an image's rows.
    Beside,
    /// 16-bit integers, two in each register, of columns of one phase: as memory has bands' rows, and as rows are
    /// lifted. Holds the number of columns, a multiple of 4.
    ByPhase(i32),
}

impl Form {
    /// Form of rows to lift: packed by phase, or single samples.
    pub fn of(packed: bool, columns: i32) -> Form {
        if packed { Form::ByPhase(columns) } else { Form::Single }
    }

    /// Registers of `columns` columns.
    pub fn registers(self, columns: i32) -> i32 {
        if self == Form::Single { columns } else { columns / 2 }
    }

    /// The register of a column, and its half: 0 is low.
    fn find(self, column: i32) -> (i32, i32) {
        match self {
            Form::Single => (column, 0),
            Form::Beside => (column / 2, column % 2),
            Form::ByPhase(columns) => (column % 2 * (columns / 4) + column / 4, column / 2 % 2),
        }
    }

    /// Columns grouped by register, in the register's order. `columns` must have all columns of a register or none.
    pub fn units(self, columns: impl IntoIterator<Item = i32>) -> Vec<Vec<i32>> {
        let mut columns: Vec<i32> = columns.into_iter().collect();
        columns.sort_by_key(|c| self.find(*c));
        columns.chunk_by(|a, b| self.find(*a).0 == self.find(*b).0).map(<[i32]>::to_vec).collect()
    }
}

/// A row in a register array, from an element on.
pub struct Row {
    /// The array.
    pub array: LocalId,
    /// First element.
    pub first: Expr,
    /// Form of the samples.
    pub form: Form,
}

impl Row {
    /// A row with a register for each column.
    pub fn single(array: LocalId, first: impl Into<Expr>) -> Row {
        Row { array, first: first.into(), form: Form::Single }
    }

    /// A column's sample.
    pub fn at(&self, column: i32) -> Expr {
        let (register, half) = self.form.find(column);
        let register = self.register(register);
        match (self.form, half) {
            (Form::Single, _) => register,
            (_, 0) => register.cast(Scalar::I16).cast(Scalar::I32),
            _ => register >> 16,
        }
    }

    /// A register.
    pub fn register(&self, register: i32) -> Expr {
        self.array.at(self.first + register)
    }

    /// The columns of a register of another form ([`Form::units`]), packed for it.
    pub fn word(&self, unit: &[i32]) -> Expr {
        let half = |column: i32| {
            let (register, half) = self.form.find(column);
            (self.register(register), 2 * half as u8)
        };
        match *unit {
            [low, high] => join(half(low), half(high)),
            _ => self.at(unit[0]),
        }
    }

    /// Copies all columns of a row into this row's form. Both rows are packed, or neither is.
    pub fn copy(&self, b: &mut Builder, from: &Row, columns: i32) {
        for unit in self.form.units(0..columns) {
            self.set_word(b, &unit, from.word(&unit));
        }
    }

    /// The even columns of a row packed by phase, as a separate row.
    pub fn evens(&self) -> Row {
        debug_assert!(matches!(self.form, Form::ByPhase(_)));
        Row { array: self.array, first: self.first, form: Form::Beside }
    }

    /// Sets the columns of a register ([`Form::units`]) from a packed word.
    pub fn set_word(&self, b: &mut Builder, unit: &[i32], word: Expr) {
        self.set_register(b, self.form.find(unit[0]).0, word);
    }

    /// Sets a register.
    pub fn set_register(&self, b: &mut Builder, register: i32, word: Expr) {
        b.set(Place::Elem(self.array, self.first + register), word);
    }

    /// Multiplies the first `columns` columns.
    pub fn multiply(&self, b: &mut Builder, columns: i32, factor: Expr) {
        for c in 0..columns {
            b.set(self.place(c), self.at(c) * factor);
        }
    }

    /// The register of a column in an unpacked row.
    pub fn place(&self, column: i32) -> Place {
        debug_assert_eq!(self.form, Form::Single, "a place holds one sample");
        Place::Elem(self.array, self.first + column)
    }

    /// Sets columns; all columns of each register involved.
    pub fn fill(&self, b: &mut Builder, columns: impl IntoIterator<Item = i32>, value: impl Fn(i32) -> Expr) {
        for unit in self.form.units(columns) {
            self.put(b, &unit, unit.iter().map(|column| value(*column)).collect());
        }
    }

    /// Sets the columns of a register ([`Form::units`]).
    pub fn put(&self, b: &mut Builder, unit: &[i32], values: Vec<Expr>) {
        let join = |low, high| word(low, high).cast(Scalar::I32);
        if let Some(value) = values.into_iter().reduce(join) {
            self.set_word(b, unit, value);
        }
    }
}

/// An array of `registers` registers, all zero.
pub fn zeros(b: &mut Builder, name: &str, arith: Arithmetic, registers: i32) -> LocalId {
    let array = b.array(name, arith.work, registers as u32);
    b.unrolled("i", 0, registers, 1, |b, i| b.set(Place::Elem(array, i), arith.zero()));
    array
}

/// Two 16-bit samples in a word, of type `u32`, in the order of memory.
pub fn word(low: Expr, high: Expr) -> Expr {
    let half = |sample: Expr| sample.cast(Scalar::U32);
    half(low).and(Expr::int(0xffff, Scalar::U32)).or(half(high) << 16)
}
