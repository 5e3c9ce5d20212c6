//! Streams of other encoders.
