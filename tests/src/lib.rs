//! What the tests of this workspace share: deterministic random numbers, samples, and the machine's C compilers.

pub mod compilers;
pub mod random;
pub mod samples;
