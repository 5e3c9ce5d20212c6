//! Line extension in place: lines in the middle of longer ones continue by a rule; and the adjoint of that.
//!
//! rewrite: lines in the middle of longer ones → the longer ones, filled by a rule; and the adjoint of that
//!
//! If every coefficient that depends on the data is kept ([`Extension`]), lines are lifted together with their
//! extension. An extension sample is a sum of samples of the line. A thread computes one, or moves it if it is a sample
//! itself. In the adjoint, a thread has a line, and adds the extension from the first position to the last, as the
//! oracle does, so that all executors agree bit for bit.

use super::Arithmetic;
use super::lines::EachLine;
use crate::ir::build::Builder;
use crate::ir::{Access, Builtin, Expr, Kernel, Literal, ParamId, Scalar, Space};
use lifting_dsl::extension::Extension;

/// The extension or its adjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtensionWay {
    /// Fills the extension from the line.
    Out,
    /// The adjoint: adds the extension to the line.
    Back,
}

/// A sample of the line, and its factor.
struct Term {
    /// Factor of type `i32`.
    factor: Expr,
    /// Index in the line.
    index: Expr,
}

/// Terms of the extension at index `i`, of a line of `n` samples: at least 2, except for rules that only move samples.
fn terms(rule: Extension, n: ParamId, i: Expr) -> Vec<Term> {
    let last = n - 1;
    let wrap = |i: Expr, n: Expr| Expr::wrap(i, n);
    let term = |factor: Expr, index: Expr| Term { factor, index };
    let one = |index: Expr| vec![term(Expr::i32(1), index)];
    let nearest = i.max(0).min(last);
    let before = i.lt(0);
    match rule {
        Extension::Zero => Vec::new(),
        Extension::Constant => one(nearest),
        Extension::Periodic => one(wrap(i, Expr::from(n))),
        Extension::Periodization => one(wrap(i, n + n % 2).min(last)),
        Extension::Symmetric | Extension::Antisymmetric => {
            let there = wrap(i, n * 2);
            let index = there.min(n * 2 - 1 - there);
            let turned = rule == Extension::Antisymmetric;
            let factor = if turned { there.lt(n).select(1, Expr::i32(-1)) } else { 1.into() };
            vec![term(factor, index)]
        }
        Extension::Reflect => one(Expr::mirror(i, n)),
        Extension::Smooth => {
            let beyond = before.select(-i, i - last);
            let inner = before.select(1, last - 1);
            vec![term(beyond + 1, nearest), term(-beyond, inner)]
        }
        Extension::Antireflect => {
            // In one period the line rises by twice the difference of its ends.
            let there = wrap(i, last * 2);
            let times = (i - there) / (last * 2);
            let back = there.gt(last);
            let at_end = times * 2 + back.select(2, 0);
            let index = there.min(last * 2 - there);
            let own = back.select(Expr::i32(-1), 1);
            vec![term(at_end, last), term(times * -2, 0.into()), term(own, index)]
        }
    }
}

/// Writes the kernel. Parameters: `data`, the long lines; `first`, index in them of the line's first sample; `samples`
/// of the line, `length` of a long one; `lines`; `step`, samples from one to the next of a line; `pitch`, from one line
/// to the next; `stride`, from one batch of lines to the next; `batch`.
///
/// Lines of one sample have no neighbours to continue from: do not use [`Extension::Smooth`] and
/// [`Extension::Antireflect`] for them.
pub fn kernel(rule: Extension, way: ExtensionWay, sample: Scalar) -> Kernel {
    let work = if sample.is_storage() { Scalar::F32 } else { sample };
    let arith = Arithmetic { storage: sample, work, sum: work };
    let verb = if way == ExtensionWay::Out { "extend" } else { "fold" };
    let mut builder = Builder::new(format!("{verb}_{rule}_{}", sample.name()));
    let b = &mut builder;
    b.doc(match way {
        ExtensionWay::Out => "Extends lines in the middle of longer ones, a sample a thread.",
        ExtensionWay::Back => "Adds the extension of lines back to its sources, a line a thread.",
    });
    let data = b.pointer("data", sample, Access::ReadWrite, "the long lines");
    let first = b.scalar("first", Scalar::I32, "samples before the line");
    let samples = b.scalar("samples", Scalar::I32, "samples of the line");
    let length = b.scalar("length", Scalar::I32, "samples of a long line");
    let lines = EachLine::declare(b);
    let beyond = length - samples;
    // The grid's maximum, however long a line is: blocks take several samples.
    let rows = if way == ExtensionWay::Out { beyond.min(Expr::i32(65535)) } else { 1.into() };
    lines.run(b, |b, base| {
        let place = |at: Expr| base + at.cast(Scalar::I64) * lines.step;
        let line = |i: Expr| place(i + first);
        let (from, by): (Expr, Expr) = match way {
            ExtensionWay::Out => (Builtin::BlockY.into(), Builtin::GridY.into()),
            ExtensionWay::Back => (0.into(), 1.into()),
        };
        b.for_("m", from, beyond, by, |b, m: Expr| {
            // Samples before the line come first, then those after it.
            let behind = m + samples;
            let at = m.lt(first).select(m, behind);
            let at: Expr = b.let_("at", Scalar::I32, at).into();
            let i: Expr = b.let_("i", Scalar::I32, at - first).into();
            let terms = terms(rule, samples, i);
            match way {
                ExtensionWay::Out => out(b, arith, Space::Global(data), place(at), terms, &line),
                ExtensionWay::Back => back(b, arith, Space::Global(data), place(at), terms, &line),
            }
        });
    });
    builder.finish(lines.launch(rows))
}

/// `factor`, of type `i32`, times a sample.
fn product(arith: Arithmetic, factor: Expr, sample: Expr) -> Expr {
    factor.cast(arith.work) * arith.widen(sample)
}

fn out(b: &mut Builder, arith: Arithmetic, data: Space, to: Expr, terms: Vec<Term>, line: &impl Fn(Expr) -> Expr) {
    let one = |factor: &Expr| matches!(factor, Expr::Lit(Literal::Int(1, _)));
    if let [Term { factor, index }] = &terms[..] {
        let x = b.load_new("x", arith.storage, data, line(*index));
        if one(factor) {
            b.store(data, to, x);
            return;
        }
        let turned = arith.zero() + product(arith, *factor, x.into());
        b.if_else((*factor).eq_(1), |b| b.store(data, to, x), |b| b.store(data, to, arith.narrow(turned)));
        return;
    }
    let sum = b.let_("sum", arith.work, arith.zero());
    for Term { factor, index } in terms {
        let factor: Expr = b.let_("factor", Scalar::I32, factor).into();
        // A sample with factor 0 is not read: it may be NaN.
        b.if_(factor.ne_(0), |b| {
            let x = b.load_new("x", arith.storage, data, line(index));
            b.set(sum, sum + product(arith, factor, x.into()));
        });
    }
    b.store(data, to, arith.narrow(sum.into()));
}

fn back(b: &mut Builder, arith: Arithmetic, data: Space, from: Expr, terms: Vec<Term>, line: &impl Fn(Expr) -> Expr) {
    if terms.is_empty() {
        return;
    }
    let given = b.load_new("given", arith.storage, data, from);
    for Term { factor, index } in terms {
        let factor: Expr = b.let_("factor", Scalar::I32, factor).into();
        b.if_(factor.ne_(0), |b| {
            let index = line(index);
            let old = b.load_new("old", arith.storage, data, index);
            let value = arith.widen(old.into()) + product(arith, factor, given.into());
            b.store(data, index, arith.narrow(value));
        });
    }
}
