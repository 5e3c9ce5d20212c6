//! Dialects: the languages that kernels are written in.
//!
//! A [`Dialect`] takes kernels and gives text. One of a C-like language implements [`CLike`] in a file of its own,
//! which says how that language spells things and what it can do; `c_like` writes statements and expressions for all of
//! these. A line in [`DIALECTS`](super::DIALECTS) then makes it known to everything else.

use super::Unsupported;
use super::c_like::Helper;
use super::namer::Namer;
use crate::ir::valid::KernelInfo;
use crate::ir::{BinOp, Builtin, Cache, Feature, Kernel, Lane, Scalar, UnOp, WARP};

/// A language that kernels are written in.
pub trait Dialect: Sync {
    /// How errors and headings call it: `CUDA C++`.
    fn name(&self) -> &'static str;

    /// The word for it on a command line: `cuda`.
    fn word(&self) -> &'static str;

    /// What names of its files end in: `cu`.
    fn extension(&self) -> &'static str;

    /// Whether its kernels may ask for something.
    fn has(&self, feature: Feature) -> bool;

    /// Lanes of a warp.
    fn warp(&self) -> u32 {
        WARP
    }

    /// Whether only threads of one row of a block make a warp, so that rows have to be whole warps.
    fn warps_are_in_rows(&self) -> bool {
        false
    }

    /// A namer for the file scope, which knows the language's reserved words.
    fn namer(&self) -> Namer;

    /// What a file opens with that has these kernels, before any definition; may be nothing.
    fn prelude(&self, kernels: &[(&Kernel, &KernelInfo)]) -> String;

    /// Some kernels with the helper functions that they call, without the prelude; and the kernels' names, which
    /// `namer` gives, so that whoever adds more text to the file can keep out of their way.
    ///
    /// # Errors
    /// If the language lacks what a kernel asks for.
    fn write_with(
        &self,
        kernels: &[(&Kernel, &KernelInfo)],
        namer: &mut Namer,
    ) -> Result<(String, Vec<String>), Unsupported>;

    /// Some kernels as a complete translation unit.
    ///
    /// # Errors
    /// As [`Dialect::write_with`].
    fn write(&self, kernels: &[(&Kernel, &KernelInfo)]) -> Result<String, Unsupported> {
        let (text, _) = self.write_with(kernels, &mut self.namer())?;
        Ok(match self.prelude(kernels) {
            prelude if prelude.is_empty() => text,
            prelude => format!("{prelude}\n{text}"),
        })
    }

    /// Whether a kernel asks for nothing that the language lacks.
    ///
    /// # Errors
    /// What it lacks, and what to do instead.
    fn check(&self, kernel: &Kernel) -> Result<(), Unsupported> {
        let features = kernel.features();
        let Some(lacked) = features.iter().copied().find(|f| !self.has(*f)) else {
            let asks = [Feature::Shuffles, Feature::Ballots, Feature::Warps].iter().any(|f| features.contains(f));
            let (warp, row) = (self.warp(), kernel.launch.block[0]);
            let what = if asks && kernel.warp != warp {
                format!("its warps have {} lanes, and not {warp}; derive it for these", kernel.warp)
            } else if asks && self.warps_are_in_rows() && !row.is_multiple_of(warp) {
                format!("rows of its blocks have {row} threads, which are not whole warps of {warp}")
            } else {
                return Ok(());
            };
            return Err(self.unsupported(kernel, what));
        };
        let advice = match lacked {
            Feature::Overlap => "leave pass `overlap` away",
            _ if self.has(Feature::Threads) => "choose a schedule that does without",
            _ => "use the `rows` schedule, which has one thread",
        };
        Err(self.unsupported(kernel, format!("{}; {advice}", lacked.reason())))
    }

    /// The error that says what the language lacks for a kernel.
    fn unsupported(&self, kernel: &Kernel, what: String) -> Unsupported {
        Unsupported { kernel: kernel.name.clone(), target: self.name(), what }
    }
}

/// Where the array stands that a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// What all blocks see.
    Global,
    /// What the threads of a block share.
    Shared,
}

/// How a C-like language spells what such languages spell differently. What a method does not say otherwise is C99's.
///
/// Methods that give `None` where a language lacks something are asked only for what [`CLike::has`] promises.
pub trait CLike: Sync {
    /// [`Dialect::name`].
    fn name(&self) -> &'static str;

    /// [`Dialect::word`].
    fn word(&self) -> &'static str;

    /// [`Dialect::extension`].
    fn extension(&self) -> &'static str;

    /// [`Dialect::has`].
    fn has(&self, feature: Feature) -> bool;

    /// [`Dialect::warp`].
    fn warp(&self) -> u32 {
        WARP
    }

    /// [`Dialect::warps_are_in_rows`].
    fn warps_are_in_rows(&self) -> bool {
        false
    }

    /// Words that no name may be, beyond those of C and C++ and the helper functions.
    fn reserved(&self) -> &'static [&'static str] {
        &[]
    }

    /// [`Dialect::prelude`].
    fn prelude(&self, kernels: &[(&Kernel, &KernelInfo)]) -> String {
        let _ = kernels;
        String::new()
    }

    // Types and declarations.

    /// The type's spelling. `f16` and `bf16` are their bits.
    fn type_name(&self, s: Scalar) -> &'static str;

    /// What stands before a kernel's parameters, up to and including the parenthesis.
    fn kernel_head(&self, kernel: &Kernel, name: &str) -> String;

    /// What stands before a helper function.
    fn function(&self) -> &'static str {
        "static inline"
    }

    /// What stands before a helper function that is to be called, not written out where it is called.
    fn called_function(&self) -> &'static str {
        "static"
    }

    /// The qualifier of pointers into a memory, with a space after it. Where it is not the same for all memories,
    /// helper functions are written for each.
    fn memory(&self, memory: Memory) -> &'static str {
        let _ = memory;
        ""
    }

    /// Whether a kernel takes each array as a buffer and the element at which to begin in it, in two parameters; else
    /// as a pointer.
    fn arrays_have_offsets(&self) -> bool {
        false
    }

    /// The qualifier for pointers that nothing else in the kernel aliases.
    fn restrict(&self) -> &'static str {
        "restrict"
    }

    /// The declaration of a shared array, aligned to 16 bytes.
    fn shared_array(&self, element: Scalar, name: &str, len: u32) -> Option<String> {
        let _ = (element, name, len);
        None
    }

    /// Whether compilers warn of parameters and locals that are not used unless these are named in a statement.
    fn warns_of_unused(&self) -> bool {
        false
    }

    // Expressions.

    /// What stands after an integer literal that is not an `int`.
    fn suffix(&self, s: Scalar) -> &'static str {
        match s {
            Scalar::I64 => "ll",
            Scalar::U32 => "u",
            Scalar::U64 => "ull",
            _ => "",
        }
    }

    /// A float literal that has no digits: infinities and the like.
    fn special_float(&self, value: f64, s: Scalar) -> String {
        let _ = s;
        match value {
            v if v.is_nan() => "NAN".into(),
            v if v < 0.0 => "-INFINITY".into(),
            _ => "INFINITY".into(),
        }
    }

    /// A builtin, for a block of the given shape; without [`Feature::Threads`] there is one block of one thread.
    fn builtin(&self, b: Builtin, block: [u32; 3]) -> &'static str {
        let _ = block;
        if matches!(b, Builtin::GridX | Builtin::GridY | Builtin::GridZ) { "1" } else { "0" }
    }

    /// The function that rounds a float operation once and is never fused with another; `None` where the operator does.
    fn float_op(&self, op: BinOp, s: Scalar) -> Option<&'static str> {
        let _ = (op, s);
        None
    }

    /// The language's own function for [`BinOp::Min`] or [`BinOp::Max`]; without one, a helper is written.
    fn min_max(&self, op: BinOp, s: Scalar) -> Option<&'static str> {
        let _ = (op, s);
        None
    }

    /// The language's own function for [`UnOp::CountOnes`] or [`UnOp::LeadingZeros`]; without one, a helper is written.
    fn count_bits(&self, op: UnOp, s: Scalar) -> Option<&'static str> {
        let _ = (op, s);
        None
    }

    /// Whether operands of an unsigned operation are converted one by one, which compilers that warn of implicit
    /// conversions ask for; else the language converts the other operand of an unsigned one.
    fn converts_each(&self) -> bool {
        true
    }

    /// An expression with the bits of another of the same size; without one, bits are copied by `memcpy`.
    fn reinterpret(&self, to: Scalar, text: &str) -> Option<String> {
        let _ = (to, text);
        None
    }

    // Statements.

    /// [`crate::ir::Stmt::Barrier`].
    fn barrier(&self) -> Option<&'static str> {
        None
    }

    /// [`crate::ir::Stmt::SyncWarp`].
    fn sync_warp(&self) -> Option<&'static str> {
        None
    }

    /// `value`, as another lane has it; `at` is the text of the distance, mask or lane.
    fn shuffle(&self, s: Scalar, value: &str, lane: &Lane, at: &str) -> Option<String> {
        let _ = (s, value, lane, at);
        None
    }

    /// The bits of [`crate::ir::Stmt::Ballot`].
    fn ballot(&self, cond: &str) -> Option<String> {
        let _ = cond;
        None
    }

    /// What stands in the line before a loop.
    fn unrolling(&self, unroll: bool) -> Option<&'static str> {
        let _ = unroll;
        None
    }

    /// Whether loads and stores of global memory can be given hints.
    fn has_hints(&self) -> bool {
        false
    }

    /// The value of a cell in memory that is loaded with a hint.
    fn load(&self, cell: &str, cache: Cache) -> String {
        let _ = cache;
        cell.into()
    }

    /// The statement that stores a value in a cell with a hint.
    fn store(&self, cell: &str, value: &str, cache: Cache) -> String {
        let _ = cache;
        format!("{cell} = {value};")
    }

    /// The body of a helper function that the language has instructions for, in lines that are indented; without one,
    /// what it does is written out.
    fn helper_body(&self, helper: Helper) -> Option<String> {
        let _ = helper;
        None
    }

    /// Another helper function that [`CLike::helper_body`] calls there.
    fn helper_calls(&self, helper: Helper) -> Option<Helper> {
        let _ = helper;
        None
    }
}

/// The types that languages of devices spell alike, which count on the sizes of C's own.
pub(super) fn fixed_size(s: Scalar) -> &'static str {
    match s {
        Scalar::Bool => "bool",
        Scalar::I16 => "short",
        Scalar::I32 => "int",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::U8 | Scalar::I64 | Scalar::U32 | Scalar::U64 | Scalar::F16 | Scalar::Bf16 => {
            unreachable!("a dialect's own word")
        }
    }
}

/// `min` and `max` where they are overloaded for integers from 32 bits on, as [`CLike::min_max`] has them.
pub(super) fn overloaded_min_max(op: BinOp, s: Scalar) -> Option<&'static str> {
    let overloaded = s.is_integer() && s != Scalar::I16;
    overloaded.then_some(if op == BinOp::Min { "min" } else { "max" })
}
