//! The codec's tests as one program: `cargo test -p lifting-codec --test suite block`.

mod block;
mod codec;
mod device;
mod fields;
mod kernel;
mod scalable;
mod sources;
mod streams;
mod vectors;
