//! Tests of the command line as one program: `cargo test -p liftc --test suite transform`. `hostile_media.rs` is
//! separate, because it counts the allocations of its process.

mod archive;
mod bench;
mod codec;
mod common;
mod compile;
mod explain;
mod factor;
mod fmt;
mod inspect;
mod jpeg2000;
mod kernels;
mod lsp;
mod media;
mod mistakes;
mod pairs;
mod plot;
mod readme;
mod shell;
mod show;
mod streams;
mod transform;
