//! The language: conversions between text and schemes, for `.lift` files and `lifting!`.
//!
//! [`lex`](mod@lex) makes tokens, [`parse`](mod@parse) a tree ([`ast`]), and [`validate`] schemes. [`linear`] reduces
//! expressions to taps with the arithmetic of [`constant`]. [`print`](mod@print) converts back to text;
//! [`format`](mod@format) lays a text out. [`words`] lists the language's words, for editors.

pub mod ast;
pub mod codes;
pub(crate) mod constant;
pub mod format;
pub(crate) mod lex;
pub(crate) mod linear;
pub mod numbers;
pub mod parse;
pub mod print;
pub(crate) mod sink;
pub mod suggest;
pub mod validate;
pub mod words;
