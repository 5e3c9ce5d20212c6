//! `lifting!`: the language inside a Rust crate. A shell over [`lifting_dsl`] and [`lifting_codegen`].
//!
//! Users call it through the `lifting` crate, which passes its own path as the first token, so that the expansion finds
//! that crate under whatever name it has been given. [`text`] turns tokens into text, [`expand`] text into items.

mod expand;
mod text;

/// `lifting! { [path::to::lifting] … }`; see `lifting::lifting!`, which adds the path.
#[proc_macro]
pub fn lifting(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand::expand(input.into()).into()
}
