//! Metadata of picture files that some formats keep.

pub use lifting_codec::Metadata;

/// Note on metadata that is not kept; `None` if there is none.
pub fn ignored(names: &[&str]) -> Option<String> {
    match names {
        [] => None,
        [only] => Some(format!("its {only} is ignored")),
        [others @ .., last] => Some(format!("its {} and {last} are ignored", others.join(", "))),
    }
}
