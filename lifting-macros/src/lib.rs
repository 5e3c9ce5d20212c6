//! lifting-macros
