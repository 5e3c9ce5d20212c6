//! Tests of the crate in one binary.

mod hostile;
mod pictures;
mod round_trip;
mod vectors;
