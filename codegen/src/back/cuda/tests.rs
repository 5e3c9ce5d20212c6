//! CUDA text: copies, hints and waits in their places, and the refusals of C.

use crate::back::{C, Cuda, Dialect};
use crate::ir::conformance::cases;
use crate::ir::valid::validate;
use crate::ir::{Kernel, ParamId, Scalar};
use crate::opt::{Allows, Overlap, kept, overlap};
use crate::schedule::{Fit as _, Options, level, stream, warp};
use lifting_dsl::{Boundary, Direction, testing};

fn text(kernel: &Kernel) -> String {
    Cuda.write(&[(kernel, &validate(kernel).expect("cases are valid"))]).expect("CUDA has everything")
}

fn case(name: &str) -> crate::ir::conformance::Case {
    cases().into_iter().find(|c| c.name == name).expect("a case of that name")
}

/// Asynchronous copies are helpers around one instruction each; devices without it copy plainly.
#[test]
fn asynchronous_copies() {
    insta::assert_snapshot!(text(&case("copy_async_ring").kernel));
    let eight = text(&case("copy_async_i16_4").kernel);
    assert!(eight.contains("cp.async.ca.shared.global [%0], [%1], 8, %2;"), "{eight}");
    let sixteen = text(&case("copy_async_f64_2").kernel);
    assert!(sixteen.contains("cp.async.cg.shared.global [%0], [%1], 16, %2;"), "{sixteen}");
}

/// Results that the next level reads are stored with the hint to be evicted last, where a device supports it, in
/// vectors and one by one. Other stores stay as they are.
#[test]
fn kept_results() {
    let options = |sample| Options::new(sample, Boundary::WholeSymmetric, Direction::Forward);
    let scheme = testing::wavelet("legall53", testing::legall53());
    let shape = warp::WarpShape { columns: 4, takes: level::RowAlignment::Whole, ..warp::WarpShape::paper() };
    for (sample, store) in [
        (Scalar::I16, "st.global.L2::cache_hint.b32 [%0], %2, %1;"),
        (Scalar::I32, "st.global.L2::cache_hint.v2.b32 [%0], {%2, %3}, %1;"),
    ] {
        let block = warp::fit(&scheme, options(sample), shape).unwrap();
        let kernel = block.kernel(&scheme, level::Order::HorizontalFirst).unwrap();
        let (plain, kept) = (text(&kernel), text(&kept(kernel.clone())));
        let stores = |text: &str, name: &str| text.matches(&format!("{name}(ll + ")).count();
        let name = format!("store_{}x2", sample.name());
        assert!(!plain.contains("evict_last") && stores(&plain, &name) > 0);
        assert!(kept.contains(store) && kept.contains("#if __CUDA_ARCH__ >= 800\n    unsigned long long policy;"));
        assert_eq!(stores(&kept, &format!("{name}_kept")), stores(&plain, &name));
        assert_eq!(kept.matches("_streaming(").count(), plain.matches("_streaming(").count());
    }
    insta::assert_snapshot!(["wide_i16_1_loop", "wide_f32_2_threads"].map(|name| text(&case(name).kernel)).join("\n"));
}

/// Every thread waits before it touches global memory, and no pointer that is read promises constant data.
#[test]
fn overlapping_kernels_wait_first() {
    let how = Overlap { settled: Vec::new(), allows: Allows::BeforeStoring };
    let overlapping = |kernel: Kernel| text(&overlap(kernel, &how));
    insta::assert_snapshot!(overlapping(case("copy_async_ring").kernel));
    // A kernel that computes much before it touches memory, in some of its threads.
    let walk = {
        let scheme = testing::wavelet("legall53", testing::legall53());
        let (sample, boundary, direction) = (Scalar::I16, Boundary::WholeSymmetric, Direction::Forward);
        let options = Options::new(sample, boundary, direction);
        let shape = stream::StreamShape::for_sample(sample).for_rows(stream::RowAlignment::Whole);
        let walk = stream::fit(&scheme, options, shape).expect("it is held");
        walk.kernel(&scheme, level::Order::HorizontalFirst).expect("it is held")
    };
    assert!(overlapping(walk.clone()).contains("        wait_launches();"));
    // One kernel of the suite overlaps already.
    let plain = cases().into_iter().filter(|case| case.name != "overlapping_launches");
    for kernel in plain.map(|case| case.kernel).chain([walk]) {
        let text = overlapping(kernel);
        assert!(!text.contains("__ldg("), "{text}");
        let kernels = text.split("extern \"C\"").skip(1);
        for (head, body) in kernels.map(|kernel| kernel.split_once("{\n").expect("a body")) {
            let promises = |p: &&str| p.contains("const") && p.contains("__restrict__");
            assert_eq!(head.split(',').find(promises), None, "{head}");
            let (before, after) = body.split_once("wait_launches();").expect("it waits");
            // Where one statement both reads and writes, the end of the threads lets the next launch begin.
            let allowed = after.matches("allow_launch();").count();
            assert!(allowed <= 1 && !before.contains("allow_launch();"), "{text}");
            assert!(allowed == 1 || !head.contains("legall53"), "{text}");
            let apart = |c: char| !c.is_alphanumeric() && c != '_';
            for name in
                head.split(',').filter(|p| p.contains('*')).filter_map(|p| p.split(apart).rfind(|w| !w.is_empty()))
            {
                assert!(before.split(apart).all(|word| word != name), "{name}: {text}");
            }
        }
    }
}

/// Lines of a kernel's text that touch these arrays and may run before it has waited.
fn not_waited_for<'a>(text: &'a str, arrays: &[&str]) -> Vec<&'a str> {
    /// An open block: whether the kernel has waited before it, whether it has at the end of all sibling branches, and
    /// whether one of these is an `else`.
    struct Block {
        before: bool,
        beside: bool,
        is_else: bool,
    }
    let (mut waited, mut blocks, mut found) = (false, Vec::<Block>::new(), Vec::new());
    let (_, body) = text.split_once("extern \"C\"").and_then(|(_, kernel)| kernel.split_once("{\n")).expect("a kernel");
    let uses = |line: &str, array: &str| {
        let text = |(before, after): (&str, &str)| line.contains(&format!("{before}{array}{after}"));
        ["(", " "].iter().any(|before| [" + ", "["].iter().any(|after| text((before, after))))
    };
    for line in body.lines().map(str::trim) {
        waited |= line == "wait_launches();";
        if !waited && arrays.iter().any(|array| uses(line, array)) {
            found.push(line);
        }
        match (line.strip_prefix("} else"), line.starts_with('}'), line.ends_with('{')) {
            (Some(rest), ..) => {
                let block = blocks.last_mut().expect("a block is open");
                block.beside &= waited;
                block.is_else = rest == " {";
                waited = block.before;
            }
            (None, true, _) => {
                let Some(block) = blocks.pop() else { break };
                waited = block.before || block.is_else && block.beside && waited;
            }
            (None, false, true) => blocks.push(Block { before: waited, beside: true, is_else: false }),
            _ => {}
        }
    }
    found
}

/// Settled arrays are loaded before a kernel waits, in blocks inside the image and at its upper and lower edges.
/// Nothing else is touched before.
#[test]
fn settled_arrays_are_not_waited_for() {
    let schemes = [
        (testing::wavelet("legall53", testing::legall53()), Scalar::I16),
        (testing::wavelet("cdf97", testing::cdf97()), Scalar::F32),
    ];
    for (scheme, sample) in &schemes {
        for boundary in [Boundary::WholeSymmetric, Boundary::Periodic, Boundary::Edge, Boundary::Zero] {
            for takes in level::RowAlignment::ALL {
                let options = Options::new(*sample, boundary, Direction::Inverse);
                let shape = warp::WarpShape { columns: 4, rows: 12, takes, ..warp::WarpShape::paper() };
                let block = warp::fit(scheme, options, shape).expect("it is held");
                let kernel = block.kernel(scheme, level::Order::HorizontalFirst).expect("it is held");
                let named = |name: &str| kernel.params.iter().position(|p| p.name == name).expect("a band");
                let bands = ["hl", "lh", "hh"];
                let settled: Vec<ParamId> = bands.iter().map(|band| ParamId(named(band) as u32)).collect();
                for allows in [Allows::AtOnce, Allows::AfterWaiting, Allows::BeforeStoring] {
                    let written = |settled: &[ParamId]| {
                        text(&overlap(kernel.clone(), &Overlap { settled: settled.to_vec(), allows }))
                    };
                    let (early, late) = (written(&settled), written(&[]));
                    let what = format!("{} {boundary:?} {takes:?}: {early}", scheme.name());
                    assert_eq!(not_waited_for(&early, &["ll", "dst"]), Vec::<&str>::new(), "{what}");
                    assert_eq!(not_waited_for(&late, &["ll", "dst", "hl", "lh", "hh"]), Vec::<&str>::new(), "{what}");
                    let loads = |band: &&str| !not_waited_for(&early, &[band]).is_empty();
                    assert_eq!(bands.iter().all(loads), takes.is_aligned(), "{what}");
                    let at_once = early.split_once("wait_launches();").unwrap().0.contains("allow_launch();\n");
                    assert_eq!(at_once, allows == Allows::AtOnce, "{what}");
                    assert!(early.contains("allow_launch();\n"), "{what}");
                }
            }
        }
    }
}

/// A CPU has neither lanes nor asynchronous copies.
#[test]
fn c_refuses() {
    use crate::ir::Stmt;
    for (stmt, what) in [
        (Stmt::CommitCopies, "asynchronous copies"),
        (Stmt::WaitCopies(1), "asynchronous copies"),
        (Stmt::SyncWarp, "synchronises a warp"),
    ] {
        let mut kernel = case("branches_loop").kernel;
        // Invalid in a block of one thread; the writer does not rely on that.
        let info = validate(&kernel).expect("a kernel of the suite");
        kernel.body.push(stmt);
        let error = C.write(&[(&kernel, &info)]).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}
