//! The interpreter runs the conformance suite.

use lifting_codegen::back::{Cuda, Dialect};
use lifting_codegen::ir::conformance::{cases, cases_of_warps};
use lifting_codegen::ir::{Access, ParamId, ParamKind, interp, print, valid::validate};
use lifting_codegen::opt::{Allows, Overlap, overlap};
use std::collections::BTreeSet;

#[test]
fn interpreter_conforms() {
    for case in cases() {
        let info = validate(&case.kernel).unwrap_or_else(|e| panic!("{}\n{e:#?}", print::kernel(&case.kernel)));
        let mut args = case.args.clone();
        if let Err(fault) = interp::run(&case.kernel, &info, &mut args) {
            panic!("{fault}\n{}", print::kernel(&case.kernel));
        }
        if let Err(difference) = case.check(&args) {
            panic!("{difference}\n{}", print::kernel(&case.kernel));
        }
        let launches = !case.name.starts_with("empty_");
        assert_eq!(case.args != case.expected, launches, "{}: a kernel that does nothing would pass", case.name);
    }
}

/// Other warp sizes than CUDA's, which CUDA refuses.
#[test]
fn other_warps_conform() {
    for lanes in [16, 64] {
        let cases = cases_of_warps(lanes);
        assert!(cases.len() > 5);
        for case in cases {
            let text = print::kernel(&case.kernel);
            let info = validate(&case.kernel).unwrap_or_else(|e| panic!("{text}\n{e:#?}"));
            let mut args = case.args.clone();
            interp::run(&case.kernel, &info, &mut args).unwrap_or_else(|e| panic!("{e}\n{text}"));
            case.check(&args).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let refused = Cuda.check(&case.kernel).expect_err("CUDA's warps have 32 lanes").to_string();
            assert!(refused.contains(&format!("its warps have {lanes} lanes instead of 32")), "{refused}");
            assert!(text.contains(&format!("warps of {lanes} lanes")), "{text}");
        }
    }
}

/// Every kernel of the suite, made to overlap, is valid and has the same results: it waits before it touches memory
/// that earlier launches may write.
#[test]
fn overlapping_kernels_conform() {
    for case in cases() {
        for allows in [Allows::AtOnce, Allows::AfterWaiting, Allows::BeforeStoring] {
            let reads =
                |id: &ParamId| matches!(case.kernel.params[id.0 as usize].kind, ParamKind::Pointer(_, Access::Read));
            let all: Vec<ParamId> = (0..case.kernel.params.len() as u32).map(ParamId).filter(reads).collect();
            for settled in [Vec::new(), all] {
                let kernel = overlap(case.kernel.clone(), &Overlap { settled, allows });
                let info = validate(&kernel).unwrap_or_else(|e| panic!("{}\n{e:#?}", print::kernel(&kernel)));
                let mut args = case.args.clone();
                interp::run(&kernel, &info, &mut args).unwrap_or_else(|e| panic!("{e}\n{}", print::kernel(&kernel)));
                case.check(&args).unwrap_or_else(|e| panic!("{e}\n{}", print::kernel(&kernel)));
            }
        }
    }
}

#[test]
fn names_are_unique() {
    let names: Vec<String> = cases().into_iter().map(|c| c.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    assert!(names.iter().all(|n| n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')));
}

#[test]
fn check_finds_differences() {
    let case = &cases()[0];
    assert!(case.check(&case.args).is_err());
    assert!(case.check(&case.expected).is_ok());
}
