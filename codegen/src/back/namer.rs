//! Names in emitted text: valid, unique where they are visible, and not reserved by the target.
//!
//! A name is given when its declaration is written. So the text depends on the order of statements, not on the order of
//! the arenas. Scopes follow the blocks of the text: a name is free again after the block that declared it, and nothing
//! ever shadows anything.

use std::collections::BTreeSet;

pub use lifting_dsl::c_identifier as identifier;

/// Gives unique names.
pub struct Namer {
    reserved: BTreeSet<&'static str>,
    scopes: Vec<BTreeSet<String>>,
}

impl Namer {
    /// A namer with one open scope that avoids these words.
    pub fn new(reserved: &[&[&'static str]]) -> Namer {
        Namer { reserved: reserved.iter().flat_map(|l| l.iter().copied()).collect(), scopes: vec![BTreeSet::new()] }
    }

    /// Opens a scope inside the current one.
    pub fn open(&mut self) {
        self.scopes.push(BTreeSet::new());
    }

    /// Ends the innermost scope; its names are free again.
    pub fn close(&mut self) {
        self.scopes.pop();
    }

    /// A namer for a new function: names of file scope are taken.
    pub fn function(&self) -> Namer {
        Namer { reserved: self.reserved.clone(), scopes: vec![self.scopes[0].clone(), BTreeSet::new()] }
    }

    /// Takes over the names of file scope that a function has added.
    pub fn adopt(&mut self, function: Namer) {
        self.scopes[0].extend(function.scopes.into_iter().next().unwrap_or_default());
    }

    /// A name of file scope: free in all scopes that are open.
    pub fn global(&mut self, wish: &str) -> String {
        let name = self.name(wish);
        self.scopes[0].insert(name.clone());
        name
    }

    /// The wished name, or the first free variant of it: `row`, `row_1`, `row_2`, …
    pub fn name(&mut self, wish: &str) -> String {
        let base = identifier(wish);
        let free = |s: &str| !self.reserved.contains(s) && self.scopes.iter().all(|scope| !scope.contains(s));
        let name = if free(&base) {
            base
        } else {
            (1u64..).map(|i| format!("{base}_{i}")).find(|s| free(s)).expect("some number is unused")
        };
        self.scopes.last_mut().expect("a scope is open").insert(name.clone());
        name
    }
}

/// Keywords of C99, C++ and CUDA C++, and names that the included headers or the compiler define.
pub const C_RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    // headers
    "abs",
    "int16_t",
    "int32_t",
    "int64_t",
    "main",
    "memcpy",
    "memset",
    "offsetof",
    "ptrdiff_t",
    "size_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uintptr_t",
    "unix",
    "linux",
    "errno",
    "NULL",
    "INFINITY",
    "NAN",
];

/// Names of the helper functions that emitted text may define; see `back::c_like`.
pub const HELPERS: &[&str] = &[
    "mirror",
    "mirror_far",
    "mirror_near",
    "wrap",
    "min_i32",
    "max_i32",
    "min_i64",
    "max_i64",
    "f16_to_f32",
    "f32_to_f16",
    "bf16_to_f32",
    "f32_to_bf16",
    "pack",
    "commit_copies",
    "allow_launch",
    "wait_launches",
    "resident",
];

/// Words that no Rust variable may be called: keywords, and names that the surrounding text defines.
pub const RUST_RESERVED: &[&str] = &[
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "bf16_to_f32",
    "bool",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "f16_to_f32",
    "f32",
    "f32_to_bf16",
    "f32_to_f16",
    "f64",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "i16",
    "i32",
    "i64",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mirror",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "u16",
    "u32",
    "u64",
    "union",
    "unsafe",
    "unsized",
    "use",
    "usize",
    "virtual",
    "where",
    "while",
    "wrap",
    "yield",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::back::{Cuda, Dialect};

    #[test]
    fn names_are_unique_where_they_are_visible() {
        let mut n = Namer::new(&[C_RESERVED]);
        assert_eq!(n.name("row"), "row");
        n.open();
        assert_eq!(n.name("row"), "row_1");
        assert_eq!(n.name("k"), "k");
        n.close();
        n.open();
        assert_eq!(n.name("k"), "k");
        n.close();
        assert_eq!(n.name("row"), "row_1");
    }

    #[test]
    fn reserved_and_impossible_names_are_avoided() {
        let mut n = Cuda.namer();
        assert_eq!(n.name("register"), "register_1");
        assert_eq!(n.name("int"), "int_1");
        assert_eq!(n.name("min"), "min_1");
        assert_eq!(n.name("9-7"), "x9_7");
        assert_eq!(n.name("__x__y_"), "x_y");
        assert_eq!(n.name("é"), "x");
    }
}
