//! `lifting!`, and what its expansion needs.

/// The Lifting language in Rust source: the same text as in a `.lift` file, checked while the crate compiles.
///
/// Each `wavelet NAME { … }` becomes a static [`NAME: LazyLock<Scheme>`](crate::Scheme) to make plans from, and a module
/// `NAME` with `SOURCE`, its text. Visibility, attributes and doc comments go before `wavelet`, as before any
/// other item; errors are reported at the token that they are about.
///
/// ```
/// lifting::lifting! {
///     /// Le Gall (5,3), the reversible filter of JPEG 2000.
///     pub wavelet legall53 {
///         domain integer;
///         odd  -= (even[0] + even[1]) >> 1;
///         even += (odd[-1] + odd[0] + 2) >> 2;
///     }
/// }
///
/// let plan = lifting::Plan::builder(&legall53)
///     .shape(&[8])
///     .levels(1)
///     .sample::<i16>()
///     .build(&lifting::Device::cpu())?;
/// let mut line = [1, 2, 3, 4, 5, 6, 7, 8];
/// plan.forward_in_place(&mut line)?;
/// assert_eq!(line, [1, 3, 5, 7, 0, 0, 0, 1]);
/// assert!(legall53::SOURCE.contains("wavelet legall53 {"));
/// # Ok::<(), lifting::PlanError>(())
/// ```
///
/// `lifting!("filters/mine.lift")` or `lifting!(pub "filters/mine.lift")` reads a file instead, its path being relative to
/// the crate's `Cargo.toml`; the crate is compiled again when the file changes.
///
/// ```
/// mod filters {
///     lifting::lifting!(pub "../filters/jpeg2000.lift");
/// }
/// assert_eq!(filters::cdf97.name(), "cdf97");
/// ```
#[macro_export]
macro_rules! lifting {
    ($($text:tt)*) => {
        $crate::__private::lifting! { [$crate] $($text)* }
    };
}

/// For the expansion of [`lifting!`](crate::lifting) only.
#[doc(hidden)]
pub mod __private {
    pub use lifting_macros::lifting;

    /// The wavelet of a text that the macro has compiled before.
    pub fn scheme(source: &str) -> crate::Scheme {
        let compiled = lifting_dsl::compile(source).expect("a text that was printed from a scheme");
        compiled.schemes.into_iter().next().expect("a text of one wavelet")
    }
}
