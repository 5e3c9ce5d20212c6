//! Snapshots of whole emitted files, reviewed when they change.

use lifting_codegen::emit::{self, EmitError, Request};
use lifting_codegen::ir::Scalar;
use lifting_dsl::Scheme;

fn wavelet(name: &str) -> Scheme {
    let entry = lifting_filters::find(name).expect("a wavelet of the catalogue");
    let compiled = lifting_dsl::compile(entry.source).expect("the catalogue is valid");
    compiled.schemes.into_iter().find(|s| s.name() == entry.name).expect("the file has the wavelet")
}

fn request<'a>(scheme: &'a Scheme, samples: &'a [Scalar]) -> Request<'a> {
    let gain = scheme.profiles().iter().any(|p| p.gain_shift > 0);
    Request {
        scheme,
        boundary: scheme.boundary(),
        samples,
        gain,
        profile: None,
        prefix: None,
        command: "liftc x.lift -o kernels/",
    }
}

/// The text without the version, which changes more often than anything else.
fn unversioned(text: String) -> String {
    let text = text.replace(&format!("Made by lifting {}", env!("CARGO_PKG_VERSION")), "Made by lifting VERSION");
    match text.split_once("_VERSION (") {
        Some((before, after)) => {
            format!("{before}_VERSION (0{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => text,
    }
}

fn cuda(name: &str, sample: Scalar) -> String {
    unversioned(emit::cuda(&request(&wavelet(name), &[sample])).expect("the schedules hold it").text)
}

fn c(name: &str, sample: Scalar) -> String {
    unversioned(emit::c(&request(&wavelet(name), &[sample])).expect("rows hold everything"))
}

#[test]
fn dd137_cuda() {
    insta::assert_snapshot!(cuda("dd137", Scalar::I16));
}

#[test]
fn cdf97_cuda() {
    insta::assert_snapshot!(cuda("cdf97", Scalar::F32));
}

#[test]
fn dd137_c() {
    insta::assert_snapshot!(c("dd137", Scalar::I16));
}

#[test]
fn dd137_rust() {
    let text = emit::rust(&request(&wavelet("dd137"), &[Scalar::I16])).expect("rows hold everything");
    insta::assert_snapshot!(unversioned(text));
}

#[test]
fn cdf97_c() {
    insta::assert_snapshot!(c("cdf97", Scalar::F64));
}

#[test]
fn header() {
    let scheme = wavelet("legall53");
    let request = request(&scheme, &[Scalar::I16, Scalar::I32]);
    insta::assert_snapshot!(unversioned(emit::header(&request, &[&emit::C, &emit::CUDA])));
}

/// Every wavelet in all its natural types. Where a schedule cannot have its usual shape, another shape replaces it and
/// the file names both.
#[test]
fn every_wavelet_of_the_catalogue_has_files() {
    let mut replaced = Vec::new();
    for entry in lifting_filters::CATALOGUE {
        let scheme = wavelet(entry.name);
        let request = request(&scheme, emit::natural_samples(scheme.domain()));
        let cuda = emit::cuda(&request).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        for line in &cuda.replaced {
            assert!(cuda.text.contains(&format!("\n * {line}\n")), "{line}");
        }
        replaced.extend(cuda.replaced);
        let one = Request { samples: &request.samples[..1], ..request };
        let rust = emit::rust(&one).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        assert!(!rust.contains("filter(|_|") && !rust.contains("dead_code"), "{}", entry.name);
    }
    assert_eq!(
        replaced,
        ["forward", "inverse"].map(|way| format!(
            "coif17_vertical_{way}_f64: slabs of 16 columns instead of 32: bytes of shared memory for the window \
             would be 52224, the limit is 49152."
        ))
    );
}

/// Emission is deterministic.
#[test]
fn text_is_deterministic() {
    assert_eq!(cuda("fidelity", Scalar::I32), cuda("fidelity", Scalar::I32));
    assert_eq!(c("fidelity", Scalar::I32), c("fidelity", Scalar::I32));
}

#[test]
fn invalid_requests_are_errors() {
    let scheme = wavelet("dd137");
    assert_eq!(emit::c(&request(&scheme, &[])), Err(EmitError::NoSamples));
    assert_eq!(emit::cuda(&request(&scheme, &[])), Err(EmitError::NoSamples));
    let error = emit::c(&request(&scheme, &[Scalar::F32])).unwrap_err().to_string();
    assert!(error.contains("dd137") && error.contains("i16, i32, i64"), "{error}");
    let real = wavelet("cdf97");
    let gain = Request { gain: true, ..request(&real, &[Scalar::F32]) };
    let error = emit::c(&gain).unwrap_err().to_string();
    assert!(error.contains("gain"), "{error}");
    let error = emit::c(&request(&real, &[Scalar::F16])).unwrap_err().to_string();
    assert!(error.contains("f16") && error.contains("f32"), "{error}");
}

/// A description can neither end its comment nor join the next line to it.
#[test]
fn comments_hold_any_description() {
    use lifting_codegen::back::comment_line;
    for nasty in
        ["ends */ here", "/* opens", "swallows \\", "trigraph ??/", "bell \u{7} and \u{202e} turned", "line\nbreak"]
    {
        let safe = comment_line(nasty);
        assert!(!safe.contains("*/") && !safe.contains("/*") && !safe.ends_with('\\'), "{safe:?}");
        assert!(!safe.contains("??/") && !safe.contains(['\n', '\u{7}', '\u{202e}']), "{safe:?}");
    }
}
