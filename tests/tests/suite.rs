//! Tests across crates, in one program: `cargo test -p lifting-tests --test suite catalogue`.

mod adjoint;
mod architecture;
mod c_equals_oracle;
mod catalogue;
mod conformance;
mod exact;
mod in_place;
mod macro_functions;
mod macros;
mod opencl;
mod outside;
mod own_schedule;
mod pywavelets;
mod random_schemes;
mod reference;
mod rounding;
mod rust_equals_oracle;
mod toy_dialect;
mod volumes;
