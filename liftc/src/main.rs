//! liftc
fn main() {}
