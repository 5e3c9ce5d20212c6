//! Passes over kernels. Each has a file, and a name under which `liftc --emit ir` can show what it leaves.

mod dead;

pub use dead::dead;
