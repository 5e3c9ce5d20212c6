//! `lifting!`: the Lifting language inside a Rust crate. A shell over [`lifting_dsl`] and [`lifting_codegen`].
//!
//! Users call it through the `lifting` crate. That macro passes its crate's path as the first token, so that the
//! expansion finds the crate under any name. [`text`] turns tokens into text, [`expand`] text into items.

mod expand;
mod text;

/// `lifting! { [path::to::lifting] … }`; see `lifting::lifting!`, which adds the path.
#[proc_macro]
pub fn lifting(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand::expand(input.into()).into()
}
