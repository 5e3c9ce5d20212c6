//! Parts of kernels as functions of a file.

use lifting_codegen::back::{Cuda, Dialect, write_templates};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::{Access, Builtin, Cache, Kernel, Launch, Place, Scalar, Space};
use lifting_codegen::opt::{Instance, prepare, share};

/// Copies `rows` samples of two arrays, and adds those that follow them.
fn kernel(name: &str, rows: i32) -> Kernel {
    let mut b = Builder::new(name);
    let from = ["one", "other"].map(|name| b.pointer(name, Scalar::I32, Access::Read, ""));
    let to = b.pointer("result", Scalar::I32, Access::Write, "");
    let first = b.let_("first", Scalar::I32, Builtin::BlockX * rows);
    let raw = b.array("raw", Scalar::I32, 4 * rows as u32);
    for (array, at) in from.into_iter().zip([0, 2 * rows]) {
        b.part("load_rows", "Loads rows.", |b| {
            b.unrolled("row", 0, 2 * rows, 1, |b, k| {
                let index = first + at + k;
                b.load(Place::Elem(raw, k + at), Space::Global(array), index, 1, Cache::Default);
            });
        });
    }
    let sum = b.let_("sum", Scalar::I32, 0);
    b.part("add_rows", "Adds rows.", |b| {
        b.unrolled("row", 0, rows, 1, |b, k| {
            b.set(sum, sum + raw.at(k));
            b.set(sum, sum + raw.at(k + 2 * rows));
        });
    });
    b.store(Space::Global(to), first, sum);
    b.finish(Launch { block: [1, 1, 1], grid: [1.into(), 1.into(), 1.into()] })
}

fn written(kernels: impl IntoIterator<Item = Kernel>) -> String {
    let instance = |kernel| Instance { kernel: prepare(kernel), numbers: Vec::new() };
    let templates = share(&kernels.into_iter().map(instance).collect::<Vec<_>>());
    let (helpers, texts) = write_templates(&templates, &mut Cuda.namer()).expect("CUDA has all features");
    helpers + &texts.into_iter().map(|(text, _)| text).collect::<Vec<_>>().join("\n")
}

/// Parts that differ in what they use from outside are one function; numbers that differ are its template parameters.
#[test]
fn parts_of_one_form_are_a_function() {
    insta::assert_snapshot!("parts", written([kernel("small", 2), kernel("large", 5)]));
}

/// In a file of one kernel the numbers stay.
#[test]
fn equal_parts_need_no_template() {
    let text = written([kernel("small", 2)]);
    assert_eq!(text.matches("void load_rows").count(), 1, "{text}");
    assert!(!text.contains("template"), "{text}");
}

/// Text without functions of parts has their statements in the kernel.
#[test]
fn other_texts_have_the_statements() {
    let kernel = prepare(kernel("small", 2));
    let info = lifting_codegen::ir::valid::validate(&kernel).expect("it is valid");
    let (text, _) = Cuda.write_with(&[(&kernel, &info)], &mut Cuda.namer()).expect("CUDA has all features");
    assert!(!text.contains("load_rows") && text.contains("raw[row + 4] = other[first + 4 + row];"), "{text}");
}
