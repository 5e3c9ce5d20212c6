//! Dialects: the languages of kernels.
//!
//! A [`Dialect`] turns kernels into text. A C-like language implements [`CLike`], in its own file: its spellings and
//! its features. `c_like` writes statements and expressions for all of these. One line in [`DIALECTS`](super::DIALECTS)
//! registers a dialect.

use super::Unsupported;
use super::c_like::Helper;
use super::namer::Namer;
use crate::ir::valid::KernelInfo;
use crate::ir::{BinOp, Builtin, Cache, Feature, Kernel, Lane, Scalar, UnOp, WARP};

/// A language of kernels.
pub trait Dialect: Sync {
    /// Name in errors and headings: `CUDA C++`.
    fn name(&self) -> &'static str;

    /// Name on a command line: `cuda`.
    fn word(&self) -> &'static str;

    /// File extension: `cu`.
    fn extension(&self) -> &'static str;

    /// Whether the language has a feature.
    fn has(&self, feature: Feature) -> bool;

    /// Lanes of a warp.
    fn warp(&self) -> u32 {
        WARP
    }

    /// Whether warps are formed within rows of a block, so that rows must be whole warps.
    fn warps_are_in_rows(&self) -> bool {
        false
    }

    /// A namer for the file scope, with the language's reserved words.
    fn namer(&self) -> Namer;

    /// The prelude of a file with these kernels, before any definition; may be empty.
    fn prelude(&self, kernels: &[(&Kernel, &KernelInfo)]) -> String;

    /// Text of some kernels with the helper functions that they call, without the prelude; and the kernels' names.
    /// `namer` gives the names, so that text added to the file can avoid them.
    ///
    /// # Errors
    /// If the language lacks a feature of a kernel.
    fn write_with(
        &self,
        kernels: &[(&Kernel, &KernelInfo)],
        namer: &mut Namer,
    ) -> Result<(String, Vec<String>), Unsupported>;

    /// Some kernels as a complete translation unit.
    ///
    /// # Errors
    /// Those of [`Dialect::write_with`].
    fn write(&self, kernels: &[(&Kernel, &KernelInfo)]) -> Result<String, Unsupported> {
        let (text, _) = self.write_with(kernels, &mut self.namer())?;
        Ok(match self.prelude(kernels) {
            prelude if prelude.is_empty() => text,
            prelude => format!("{prelude}\n{text}"),
        })
    }

    /// Checks that the language has all features of a kernel.
    ///
    /// # Errors
    /// The missing feature, and what to do instead.
    fn check(&self, kernel: &Kernel) -> Result<(), Unsupported> {
        let features = kernel.features();
        let Some(lacked) = features.iter().copied().find(|f| !self.has(*f)) else {
            let asks = [Feature::Shuffles, Feature::Ballots, Feature::Warps].iter().any(|f| features.contains(f));
            let (warp, row) = (self.warp(), kernel.launch.block[0]);
            let what = if asks && kernel.warp != warp {
                format!("its warps have {} lanes instead of {warp}; derive the kernel for that warp size", kernel.warp)
            } else if asks && self.warps_are_in_rows() && !row.is_multiple_of(warp) {
                format!("rows of its blocks have {row} threads, not a multiple of the warp size {warp}")
            } else {
                return Ok(());
            };
            return Err(self.unsupported(kernel, what));
        };
        let advice = match lacked {
            Feature::Overlap => "leave out pass `overlap`",
            _ if self.has(Feature::Threads) => "choose a schedule that needs none",
            _ => "use the single-threaded `rows` schedule",
        };
        Err(self.unsupported(kernel, format!("{}; {advice}", lacked.reason())))
    }

    /// The error for a feature that the language lacks.
    fn unsupported(&self, kernel: &Kernel, what: String) -> Unsupported {
        Unsupported { kernel: kernel.name.clone(), target: self.name(), what }
    }
}

/// The memory that a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// Memory of the device, visible to all blocks.
    Global,
    /// Memory of a block, shared by its threads.
    Shared,
}

/// Spellings of a C-like language. Default methods are C99's.
///
/// Methods that return `None` where a language lacks something are only called for features of [`CLike::has`].
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

    /// Reserved words, in addition to those of C and C++ and the helper functions.
    fn reserved(&self) -> &'static [&'static str] {
        &[]
    }

    /// [`Dialect::prelude`].
    fn prelude(&self, kernels: &[(&Kernel, &KernelInfo)]) -> String {
        let _ = kernels;
        String::new()
    }

    // Types and declarations.

    /// The type's spelling. `f16` and `bf16` are held as bits.
    fn type_name(&self, s: Scalar) -> &'static str;

    /// Text before a kernel's parameters, including the parenthesis.
    fn kernel_head(&self, kernel: &Kernel, name: &str) -> String;

    /// Helper that the heads of kernels call, if any.
    fn head_helper(&self) -> Option<Helper> {
        None
    }

    /// Qualifiers of a helper function.
    fn function(&self) -> &'static str {
        "static inline"
    }

    /// Qualifiers of a helper function that must not be inlined.
    fn called_function(&self) -> &'static str {
        "static"
    }

    /// Qualifier of pointers into a memory, followed by a space. If it differs between memories, helper functions are
    /// written for each.
    fn memory(&self, memory: Memory) -> &'static str {
        let _ = memory;
        ""
    }

    /// Whether a kernel takes each array as two parameters, a buffer and the index of its first element, instead of one
    /// pointer.
    fn arrays_have_offsets(&self) -> bool {
        false
    }

    /// Qualifier of pointers that nothing else in the kernel aliases.
    fn restrict(&self) -> &'static str {
        "restrict"
    }

    /// Declaration of a shared array, aligned to 16 bytes.
    fn shared_array(&self, element: Scalar, name: &str, len: &str) -> Option<String> {
        let _ = (element, name, len);
        None
    }

    /// Whether compilers warn about unused parameters and locals unless a statement names them.
    fn warns_of_unused(&self) -> bool {
        false
    }

    // Expressions.

    /// Suffix of an integer literal that is not an `int`.
    fn suffix(&self, s: Scalar) -> &'static str {
        match s {
            Scalar::I64 => "ll",
            Scalar::U32 => "u",
            Scalar::U64 => "ull",
            _ => "",
        }
    }

    /// A float literal without digits, such as infinity.
    fn special_float(&self, value: f64, s: Scalar) -> String {
        let _ = s;
        match value {
            v if v.is_nan() => "NAN".into(),
            v if v < 0.0 => "-INFINITY".into(),
            _ => "INFINITY".into(),
        }
    }

    /// A builtin, in a block of this shape. Without [`Feature::Threads`] there is one block of one thread.
    fn builtin(&self, b: Builtin, block: [u32; 3]) -> &'static str {
        let _ = block;
        if matches!(b, Builtin::GridX | Builtin::GridY | Builtin::GridZ) { "1" } else { "0" }
    }

    /// The function for a float operation that is rounded once and never fused; `None` if the operator does this.
    fn float_op(&self, op: BinOp, s: Scalar) -> Option<&'static str> {
        let _ = (op, s);
        None
    }

    /// The language's function for [`BinOp::Min`] or [`BinOp::Max`]; `None`: a helper is written.
    fn min_max(&self, op: BinOp, s: Scalar) -> Option<&'static str> {
        let _ = (op, s);
        None
    }

    /// The language's function for [`UnOp::CountOnes`] or [`UnOp::LeadingZeros`]; `None`: a helper is written.
    fn count_bits(&self, op: UnOp, s: Scalar) -> Option<&'static str> {
        let _ = (op, s);
        None
    }

    /// Whether each operand of an unsigned operation is converted explicitly, for compilers that warn about implicit
    /// conversions; otherwise the language converts the second operand.
    fn converts_each(&self) -> bool {
        true
    }

    /// An expression with the bits of another of the same size; `None`: bits are copied by `memcpy`.
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

    /// `value` of another lane; `at` is the text of the distance, mask or lane.
    fn shuffle(&self, s: Scalar, value: &str, lane: &Lane, at: &str) -> Option<String> {
        let _ = (s, value, lane, at);
        None
    }

    /// The bits of [`crate::ir::Stmt::Ballot`].
    fn ballot(&self, cond: &str) -> Option<String> {
        let _ = cond;
        None
    }

    /// The line before a loop.
    fn unrolling(&self, unroll: bool) -> Option<&'static str> {
        let _ = unroll;
        None
    }

    /// Whether loads and stores of global memory can have cache hints.
    fn has_hints(&self) -> bool {
        false
    }

    /// A memory cell, loaded with a hint.
    fn load(&self, cell: &str, cache: Cache) -> String {
        let _ = cache;
        cell.into()
    }

    /// The statement that stores a value into a cell with a hint.
    fn store(&self, cell: &str, value: &str, cache: Cache) -> String {
        let _ = cache;
        format!("{cell} = {value};")
    }

    /// The body of a helper function for which the language has instructions, in indented lines; `None`: the portable
    /// body is written.
    fn helper_body(&self, helper: Helper) -> Option<String> {
        let _ = helper;
        None
    }

    /// Another helper function that [`CLike::helper_body`] calls.
    fn helper_calls(&self, helper: Helper) -> Option<Helper> {
        let _ = helper;
        None
    }
}

/// Type names that device languages share; they rely on the sizes of C's own types.
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

/// `min` and `max` where they are overloaded for integers from 32 bits on, for [`CLike::min_max`].
pub(super) fn overloaded_min_max(op: BinOp, s: Scalar) -> Option<&'static str> {
    let overloaded = s.is_integer() && s != Scalar::I16;
    overloaded.then_some(if op == BinOp::Min { "min" } else { "max" })
}
