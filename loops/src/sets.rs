//! Loop table: by instruction set, sample type and shape of steps.

use crate::chain::{All, Chain, Dot, Ends, Half, Quarter, Single, Summed, Two};
use crate::find::{Along, Loop, Wanted};
use crate::isa::Isa;
use crate::kernels::{self, Kernel};
use crate::level::{Event, Level, ROWS};
#[cfg(target_arch = "aarch64")]
use crate::neon as registers;
use crate::vector::{Storage, Vector};
#[cfg(target_arch = "x86_64")]
use crate::{
    chain::{Pair, Products},
    level::Weights,
    long::Long,
    x86 as registers,
};
use half::{bf16, f16};
use std::any::TypeId;

/// The loop of an instruction set for these samples, if there is one; of a narrower set if rows are too short.
pub(crate) fn find(isa: Isa, samples: TypeId, wanted: Wanted<'_>) -> Option<Loop> {
    let baseline = || baseline::find(samples, wanted);
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = || avx2::find(samples, wanted).or_else(baseline);
        match isa {
            Isa::Avx512 => avx512::find(samples, wanted).or_else(avx2),
            Isa::Avx2 => avx2(),
            Isa::Baseline => baseline(),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    match isa {
        Isa::Baseline => baseline(),
        Isa::Avx2 | Isa::Avx512 => None,
    }
}

/// The loops of one instruction set; those of 64-bit reals, of 32-bit integers and of any steps only if they gain
/// enough.
macro_rules! set {
    ($set:ident, $($features:literal)?, $f32:ident, $i16:ident $(, $f64:ident, $i32:ident)? $(; $long:ident)?) => {
        mod $set {
            use super::*;
            $(use crate::wide::{$f64, $i32};)?
            use registers::{$f32, $i16};

            $(#[target_feature(enable = $features)])?
            unsafe fn analysis<
                V: Vector,
                S: Storage<V>,
                C: Chain<V>,
                const R: usize,
                const COLUMNS_FIRST: bool,
            >(
                level: &Level,
                event: &Event,
            ) {
                // SAFETY: passed on from the caller.
                unsafe { kernels::analysis::<V, S, C, R, COLUMNS_FIRST>(level, event) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn synthesis<
                V: Vector,
                S: Storage<V>,
                C: Chain<V>,
                const R: usize,
                const COLUMNS_FIRST: bool,
            >(
                level: &Level,
                event: &Event,
            ) {
                // SAFETY: passed on from the caller.
                unsafe { kernels::synthesis::<V, S, C, R, COLUMNS_FIRST>(level, event) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe fn columns<V: Vector, S: Storage<V>, C: Chain<V>, const ANALYSIS: bool>(
                level: &Level,
                event: &Event,
            ) {
                // SAFETY: passed on from the caller.
                unsafe { kernels::columns::<V, S, C, ANALYSIS>(level, event) }
            }

            fn of<V: Vector, S: Storage<V>, C: Chain<V>>(wanted: Wanted<'_>) -> Option<Loop> {
                either::<V, S, C, C>(wanted)
            }

            /// The loop for steps of analysis `C` or of synthesis `B`, equally many.
            fn either<V: Vector, S: Storage<V>, C: Chain<V>, B: Chain<V>>(wanted: Wanted<'_>) -> Option<Loop> {
                let kernel: Kernel = match (wanted.along, wanted.analysis) {
                    (Along::Both, true) => analysis::<V, S, C, ROWS, false>,
                    (Along::Both, false) => synthesis::<V, S, B, ROWS, false>,
                    (Along::ColumnsFirst, _) => return None,
                    (Along::Rows, true) => analysis::<V, S, C, 1, false>,
                    (Along::Rows, false) => synthesis::<V, S, B, 1, false>,
                    (Along::Columns, true) => columns::<V, S, C, true>,
                    (Along::Columns, false) => columns::<V, S, B, false>,
                };
                found::<V, S, C>(wanted, kernel)
            }

            /// The loop for steps of analysis and synthesis `C`, in either order of rows and columns.
            fn in_either_order<V: Vector, S: Storage<V>, C: Chain<V>>(wanted: Wanted<'_>) -> Option<Loop> {
                let kernel: Kernel = match (wanted.along, wanted.analysis) {
                    (Along::ColumnsFirst, true) => analysis::<V, S, C, ROWS, true>,
                    (Along::ColumnsFirst, false) => synthesis::<V, S, C, ROWS, true>,
                    _ => return of::<V, S, C>(wanted),
                };
                found::<V, S, C>(wanted, kernel)
            }

            fn found<V: Vector, S: Storage<V>, C: Chain<V>>(wanted: Wanted<'_>, kernel: Kernel) -> Option<Loop> {
                let shape = C::shape(wanted.long);
                let state = match wanted.along {
                    Along::Rows => 0,
                    Along::Columns => shape.down,
                    Along::Both | Along::ColumnsFirst => 2 * shape.down * kernels::columns_of::<V>(shape, wanted.n),
                };
                let fits = kernels::long_enough::<V, C>(shape, wanted.n) && kernels::buffers_suffice::<V, C>(shape);
                if wanted.along != Along::Columns && !fits {
                    return None;
                }
                let (back, reach, buffers) = (shape.back, shape.reach, kernels::buffers::<V, C>());
                Some(Loop { kernel, buffers, lanes: V::LANES, state, back, reach, picks: C::PICKS })
            }

            pub fn find(samples: TypeId, wanted: Wanted<'_>) -> Option<Loop> {
                let is = |other: TypeId| samples == other;
                match () {
                    () if is(TypeId::of::<f32>()) => reals::<$f32, f32>(wanted),
                    () if is(TypeId::of::<f16>()) => pairs::<$f32, f16>(wanted),
                    () if is(TypeId::of::<bf16>()) => pairs::<$f32, bf16>(wanted),
                    () if is(TypeId::of::<i16>()) => narrow(wanted),
                    $(
                        () if is(TypeId::of::<f64>()) => reals::<$f64, f64>(wanted),
                        () if is(TypeId::of::<i32>()) => whole(wanted),
                    )?
                    () => None,
                }
            }

            /// Steps of single products of reals, or of pairs.
            fn reals<V: Vector, S: Storage<V>>(wanted: Wanted<'_>) -> Option<Loop> {
                match (wanted.ends(), wanted.analysis) {
                    (Some((3, right)), analysis) if right == analysis => {
                        return either::<V, S, Ends<V, 3, true>, Ends<V, 3, false>>(wanted);
                    }
                    (Some((5, right)), analysis) if right == analysis => {
                        return either::<V, S, Ends<V, 5, true>, Ends<V, 5, false>>(wanted);
                    }
                    _ => (),
                }
                match (wanted.steps.len(), wanted.steps.iter().all(|step| !step.summed)) {
                    (2, true) => of::<V, S, All<Single<V>, 2>>(wanted),
                    (3, true) => of::<V, S, All<Single<V>, 3>>(wanted),
                    (5, true) => of::<V, S, All<Single<V>, 5>>(wanted),
                    _ => pairs::<V, S>(wanted).or_else(|| long::<V, S>(wanted)),
                }
            }

            /// Any steps of reals, if registers are wide enough to gain.
            fn long<V: Vector, S: Storage<V>>(wanted: Wanted<'_>) -> Option<Loop> {
                let _fits = wanted.long.filter(|steps| steps.depth() <= V::LANES)?;
                $(
                    return of::<V, S, $long<V>>(wanted);
                )?
                #[allow(unreachable_code, reason = "some sets have such loops")]
                None
            }

            /// Steps of a product with a sum of two reals.
            fn pairs<V: Vector, S: Storage<V>>(wanted: Wanted<'_>) -> Option<Loop> {
                match (wanted.steps.len(), wanted.steps.iter().all(|step| step.summed)) {
                    (2, true) => of::<V, S, All<Summed<V>, 2>>(wanted),
                    (4, true) => in_either_order::<V, S, All<Summed<V>, 4>>(wanted),
                    _ => None,
                }
            }

            /// 16-bit integers.
            fn narrow(wanted: Wanted<'_>) -> Option<Loop> {
                type V = $i16;
                match (wanted.steps.len(), wanted.sides) {
                    (2, 1) if wanted.is(0, true, 0.0, 1) && wanted.is(1, false, 2.0, 2) => {
                        in_either_order::<V, i16, Two<Half<true>, Quarter<V, false>>>(wanted)
                    }
                    (2, 1) if wanted.is(0, true, 2.0, 2) && wanted.is(1, false, 0.0, 1) => {
                        in_either_order::<V, i16, Two<Quarter<V, true>, Half<false>>>(wanted)
                    }
                    (2, 1) => of::<V, i16, All<Dot<V, 1>, 2>>(wanted),
                    (2, 2) => of::<V, i16, All<Dot<V, 2>, 2>>(wanted),
                    (2, 3..) => of::<V, i16, All<Dot<V, 4>, 2>>(wanted),
                    (4, 1) => of::<V, i16, All<Dot<V, 1>, 4>>(wanted),
                    _ => None,
                }
            }

            $(
                /// 32-bit integers.
                fn whole(wanted: Wanted<'_>) -> Option<Loop> {
                    type V = $i32;
                    let mirrored = wanted.steps.iter().all(Weights::symmetric);
                    match (wanted.steps.len(), wanted.sides) {
                        (2, 1) if wanted.plain(0, true) && wanted.plain(1, false) => {
                            in_either_order::<V, i32, Two<Pair<V, true>, Pair<V, false>>>(wanted)
                        }
                        (2, 1) => of::<V, i32, All<Products<V, 1, false>, 2>>(wanted),
                        (2, 2) if mirrored => of::<V, i32, All<Products<V, 2, true>, 2>>(wanted),
                        (2, 3..) if mirrored => of::<V, i32, All<Products<V, 4, true>, 2>>(wanted),
                        _ => None,
                    }
                }
            )?

        }
    };
}

#[cfg(target_arch = "x86_64")]
set!(avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,bmi2", F32x16, I16x32, F64x8, I32x16; Long);
#[cfg(target_arch = "x86_64")]
set!(avx2, "avx2,f16c", F32x8, I16x16, F64x4, I32x8; Long);
set!(baseline, , F32x4, I16x8);
