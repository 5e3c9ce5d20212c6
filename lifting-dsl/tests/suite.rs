//! The language's tests in one program: `cargo test -p lifting-dsl --test suite language`.

mod diagnostics;
mod format;
mod hostile;
mod language;
mod lattice;
mod layers;
mod reference;
mod spectral;
