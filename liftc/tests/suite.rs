//! The command line's tests as one program, `hostile_media.rs` apart, which watches what its process allocates:
//! `cargo test -p liftc --test suite transform`.

mod bench;
mod codec;
mod common;
mod compile;
mod explain;
mod factor;
mod inspect;
mod kernels;
mod media;
mod mistakes;
mod pairs;
mod papers;
mod plot;
mod readme;
mod shell;
mod show;
mod streams;
mod transform;
