//! The `lifting!` macro and support for its expansion.

/// The Lifting language in Rust source: the same text as in a `.lift` file, checked while the crate compiles.
///
/// Each `wavelet NAME { … }` becomes a static [`NAME: LazyLock<Scheme>`](crate::Scheme) for plans, and a module `NAME`
/// with compiled functions. Visibility, attributes and doc comments go before `wavelet`, as for any other item. Errors
/// are reported at the offending token.
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
/// # Ok::<(), lifting::PlanError>(())
/// ```
///
/// # The module
///
/// | item | meaning |
/// |---|---|
/// | `SOURCE` | the wavelet in the language |
/// | `forward_T`, `inverse_T` | the transform in place, T = `i16`, `i32` (integer) or `f32`, `f64` (real wavelets) |
/// | `forward_to_T`, `inverse_to_T` | the transform into another array, faster for images |
/// | `scratch_samples_T` | their scratch size in samples |
/// | `Shape`, `Error` | the shape of the data, and the reason for a refusal |
/// | `CUDA` | the transform in CUDA C++, as `liftc` writes it: for nvcc, or (its kernels) for NVRTC |
///
/// The functions equal the output of `liftc --emit rust`. They are specialised for this wavelet and its border rule,
/// dense arrays and one thread, and allocate no samples. They are also compiled for AVX2 and AVX-512, and select the
/// version at run time. They give the same bits as a plan. Plans add other border rules and sample types, strides,
/// threads and devices. The functions do not depend on plans, and cost nothing if they are not called.
///
/// ```
/// lifting::lifting! {
///     /// Each pair of samples as mean and difference.
///     wavelet haar {
///         domain integer;
///         odd  -= even[0];
///         even += (odd[0] + 1) >> 1;
///     }
/// }
///
/// let shape = haar::Shape::new(&[2, 4], 1); // two rows of four samples, one level along both axes
/// let mut image = [10, 14, 3, 1, 20, 24, 13, 11];
/// let mut scratch = vec![0; haar::scratch_samples_i32(&shape)?];
/// haar::forward_i32(&shape, &mut image, &mut scratch)?;
/// assert_eq!(image, [17, 7, 4, -2, 10, 10, 0, 0]); // LL and HL above LH and HH
/// haar::inverse_i32(&shape, &mut image, &mut scratch)?;
/// assert_eq!(image, [10, 14, 3, 1, 20, 24, 13, 11]);
/// assert!(haar::SOURCE.contains("odd -= even[0];"));
/// assert!(haar::CUDA.contains("haar_cuda_forward_i16"));
/// # Ok::<(), haar::Error>(())
/// ```
///
/// `CUDA` is a [`LazyLock`](std::sync::LazyLock): its text is made on first use only.
///
/// Functions that a back end cannot generate are left out; the module's documentation gives the reason. For example,
/// there is no `CUDA` for wavelets with a longer reach than a block of threads holds.
///
/// # From a file
///
/// `lifting!("filters/mine.lift")` or `lifting!(pub "filters/mine.lift")` reads a file instead. The path is relative to
/// the crate's `Cargo.toml`; the crate is recompiled when the file changes.
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

/// Support for the expansion of [`lifting!`](crate::lifting) only.
#[doc(hidden)]
pub mod __private {
    use lifting_codegen::emit::Request;
    pub use lifting_macros::lifting;
    use lifting_planner::emit::{Count, General, general};
    use lifting_planner::{Machine, Schedule, Tuning};

    /// CUDA file of such a wavelet, as `liftc` writes it without options; with a gain if a profile has one.
    pub fn cuda(source: &str) -> String {
        let scheme = scheme(source);
        let command = format!("lifting! {{ wavelet {} … }}", scheme.name());
        let request = Request::natural(&scheme, &command);
        let tuning = Tuning::new(Schedule::Auto, Machine::default(), String::new());
        let how = General { count: Count::Usual, columns_first: false, tuning: &tuning };
        general(&request, &how).expect("the macro has generated these kernels").text
    }

    /// The wavelet of a text that the macro has already compiled.
    pub fn scheme(source: &str) -> crate::Scheme {
        let compiled = lifting_dsl::compile(source).expect("the text of a printed scheme compiles");
        compiled.schemes.into_iter().next().expect("the text has one wavelet")
    }
}
