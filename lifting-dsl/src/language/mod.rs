//! Text ↔ scheme: what `.lift` files and `lifting!` say.
//!
//! [`lex`](mod@lex) makes tokens, [`parse`](mod@parse) a tree ([`ast`]), and [`validate`] schemes; [`linear`] reduces
//! expressions to taps, [`constant`] is their arithmetic. [`print`](mod@print) goes the other way.

pub mod ast;
pub mod codes;
pub(crate) mod constant;
pub(crate) mod lex;
pub(crate) mod linear;
pub mod numbers;
pub mod parse;
pub mod print;
pub(crate) mod sink;
pub mod suggest;
pub mod validate;
