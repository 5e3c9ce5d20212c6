//! Compilation with the real binary: to a directory, to the standard output, and with `--check`.

use crate::common::{Bench, data_file};

fn with_filters() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("filters")).unwrap();
    for file in ["dd137.lift", "jpeg2000.lift"] {
        std::fs::copy(data_file("../../filters").join(file), bench.path("filters").join(file)).unwrap();
    }
    bench
}

#[test]
fn the_readmes_command() {
    let bench = with_filters();
    bench.run("filters/dd137.lift -o kernels/").ok();
    let text = |name: &str| String::from_utf8(bench.read(name)).unwrap();
    for (name, part) in [
        ("kernels/dd137.cu", "__global__"),
        ("kernels/dd137.c", "FP_CONTRACT OFF"),
        ("kernels/dd137.h", "#ifndef DD137_H"),
    ] {
        let text = text(name);
        assert!(text.contains(part), "{name}");
        let emits: &[&str] = if name.ends_with(".h") { &["cuda", "c"] } else { &[name.rsplit_once('.').unwrap().1] };
        for emit in emits {
            let emit = if *emit == "cu" { "cuda" } else { emit };
            assert!(text.contains(&format!("liftc dd137.lift --emit {emit}\n")), "{name} says how it was made");
        }
    }
    assert_eq!(std::fs::read_dir(bench.path("kernels")).unwrap().count(), 3);
}

/// Functions for one shape are named after it and declared in the header. The CUDA file has nothing else, and names the
/// command that made it.
#[test]
fn functions_for_a_shape() {
    let bench = Bench::new();
    let line = "legall53 --sample i16,i32 --shape 480x640,64x48 --shape 64x48 -l 2 -o out";
    bench.run("legall53 --emit cuda --sample i16 --shape 32x64,48x64 -l 1,3 -o each").ok();
    let each = String::from_utf8(bench.read("each/legall53.cu")).unwrap();
    assert!(each.contains("_forward_32x64_l1_i16(") && each.contains("_forward_48x64_l3_i16("));
    bench.run(line).ok();
    bench.run(&format!("{line} --check")).ok();
    let text = |name: &str| String::from_utf8(bench.read(name)).unwrap();
    let (cuda, header) = (text("out/legall53.cu"), text("out/legall53.h"));
    for shape in ["480x640", "64x48"] {
        for what in ["scratch_bytes", "forward", "inverse"] {
            for sample in ["i16", "i32"] {
                let function = format!("legall53_cuda_{what}_{shape}_l2_{sample}(");
                assert_eq!(
                    cuda.matches(&format!("extern \"C\" int {function}")).count(),
                    usize::from(what != "scratch_bytes")
                );
                assert_eq!(header.matches(&function).count(), 1, "{function}");
            }
        }
    }
    assert!(!cuda.contains("legall53_cuda_forward_i16") && !header.contains("legall53_cuda_forward_i16"));
    // The C file is for any shape.
    assert!(header.contains("int legall53_forward_i16(") && header.contains("LEGALL53_MISALIGNED = 8"));
    let made = "liftc legall53 --emit cuda --sample i16,i32 --shape 480x640,64x48,64x48 -l 2\n";
    assert!(cuda.contains(made) && cuda.contains("copies\n"), "{}", &cuda[..2000]);

    let more =
        "cdf97 --emit cuda --sample f32 --shape 20x30x4 --batch 5 --axes 0,1 -l 1 --pitch 64 --multiprocessors 20";
    let cuda = bench.run(&format!("{more} -o -")).ok().stdout;
    assert!(cuda.contains("int cdf97_cuda_forward_5_of_20x30x4_l1_axes0_1_pitch64_f32("), "{cuda}");
    assert!(cuda.contains("5 x 20 x 30 x 4 samples, 1 level along axes 1, 2") && cuda.contains("20 multiprocessors"));

    for (line, said) in [
        ("legall53 --levels 2", "--shape"),
        ("legall53 --shape 5x5,6x6,7x7 -l 1,2", "there are 3 shapes but 2 numbers of levels"),
        ("legall53 --shape 5x5 --schedule shared", "for functions for any shape"),
        ("legall53 --emit opencl,c --shape 5x5", "other files take any shape"),
        ("legall53 --emit opencl --schedule shared", "other files hold all they need"),
        ("legall53 --shape 0x5", "write the lengths of the axes"),
        ("legall53 --shape 5x5 --axes 2", "axes"),
        ("db2 --shape 63x64", "the periodic border rule needs an even number"),
        ("legall53 --sample i32 --shape 9x9 --pitch 6", "invalid --pitch 6: i32 needs a multiple of 4 bytes"),
    ] {
        bench.run(line).fails(2, said);
    }
}

/// C and Rust for one shape, in place: the files have nothing else, and name the command that made them.
#[test]
fn functions_in_place() {
    let bench = Bench::new();
    let line = "dd137 --emit c,rust --sample i16 --shape 8x8,5x3x4 -l 3,1 --in-place -o out";
    bench.run(line).ok();
    bench.run(&format!("{line} --check")).ok();
    let text = |name: &str| String::from_utf8(bench.read(name)).unwrap();
    let (c, header, rust) = (text("out/dd137.c"), text("out/dd137.h"), text("out/dd137.rs"));
    for name in ["8x8_l3", "5x3x4_l1"] {
        for way in ["forward", "inverse"] {
            let function = format!("void dd137_{way}_{name}_i16(int16_t *data)");
            assert_eq!(header.matches(&function).count(), 1, "{header}");
            assert_eq!(c.matches(&function).count(), 2, "{c}");
            assert_eq!(rust.matches(&format!("pub fn {way}_{name}_i16(data: &mut [i16; ")).count(), 1, "{rust}");
        }
    }
    assert!(c.contains("liftc dd137 --emit c --sample i16 --shape 8x8,5x3x4 -l 3,1 --in-place\n"), "{c}");
    assert!(!header.contains("dd137_shape") && !header.contains("DD137_OK"), "{header}");
    assert!(c.lines().count() < 400 && !c.contains("malloc") && !c.contains("scratch_bytes"), "{c}");
    assert!(!rust.contains("std::") && !rust.contains("unsafe {"), "{rust}");
    let alone = bench.run("dd137 --emit c --sample i16 --shape 1x1 -l 2 --in-place -o -").ok().stdout;
    assert!(alone.contains("(void)data;") && !alone.contains("lines_i16"), "{alone}");
    for (line, code, said) in [
        ("dd137 --in-place", 2, "--shape"),
        ("dd137 --emit opencl --shape 8x8 --in-place", 2, "--in-place is for functions in C and Rust files"),
        ("dd137 --emit c --shape 1x2000000 --in-place", 1, "is too large for functions in place: at most"),
        ("cdf97 --emit c --shape 8x8 --sample f16 --in-place", 1, "f16"),
    ] {
        bench.run(line).fails(code, said);
    }
}

#[test]
fn check_finds_outdated_files() {
    let bench = with_filters();
    let line = "filters/jpeg2000.lift -o kernels --emit c,scheme --boundary zero";
    bench.run(&format!("{line} --check")).fails(1, "cdf97.c: cannot read");
    bench.run(line).ok();
    bench.run(&format!("{line} --check")).ok();
    let mut text = String::from_utf8(bench.read("kernels/legall53.h")).unwrap();
    text.push_str("/* edited */\n");
    bench.write("kernels/legall53.h", text);
    let run = bench.run(&format!("{line} --check"));
    assert!(!run.stderr.contains("cdf97"), "{}", run.stderr);
    run.fails(1, "legall53.h: is out of date");
    assert!(String::from_utf8(bench.read("kernels/legall53.h")).unwrap().contains("edited"), "nothing is written");
}

#[test]
fn each_kind_of_output() {
    let bench = with_filters();
    let scheme = bench.run("cdf97 --emit scheme -o -").ok().stdout;
    assert_eq!(lifting_dsl::compile(&scheme).unwrap().schemes[0].name(), "cdf97");
    let one = bench.run("legall53 --emit ir --schedule vertical --sample i16 -o -").ok().stdout;
    let all = bench.run("legall53 --emit ir --sample i16 -o -").ok().stdout;
    assert!(one.contains("legall53_vertical_forward_i16") && !one.contains("horizontal"), "{one}");
    assert!(all.contains(one.lines().next().unwrap()) && all.contains("horizontal"));
    bench.run("filters/jpeg2000.lift#legall53 --emit cuda --sample i32 -o out").ok();
    assert!(bench.exists("out/legall53.cu") && !bench.exists("out/cdf97.cu") && !bench.exists("out/legall53.c"));
    bench.run("factor db2 --as lattice -o db2.lift").ok();
    let lattice = bench.run("db2.lift --emit ir --schedule lattice --sample f32 -o -").ok().stdout;
    assert!(lattice.contains("db2_lattice_rows_forward_f32") && lattice.contains("db2_lattice_columns_inverse_f32"));
    bench.run("cdf97 --emit ir --schedule lattice -o -").fails(1, "`cdf97` is not written as a lattice");
    let plain = bench.run("dd137 --emit c --sample i16 -o -").ok().stdout;
    let vc2 = bench.run("dd137 --emit c --sample i16 --profile vc2 -o -").ok().stdout;
    assert!(!plain.contains("<< gain") && vc2.contains("<< gain") && vc2.contains("border rule edge"));
}

/// A schedule that does not support a wavelet in its usual form is replaced, with a note.
#[test]
fn long_wavelets_are_compiled() {
    let bench = Bench::new();
    let run = bench.run("coif17 -o kernels").ok();
    let line = "coif17_vertical_forward_f64: slabs of 16 columns instead of 32: bytes of shared memory";
    assert!(run.stderr.contains(&format!("coif17: {line}")), "{}", run.stderr);
    assert!(String::from_utf8(bench.read("kernels/coif17.cu")).unwrap().contains(line));
    assert!(bench.run("coif17 --emit ir --sample f64 -o -").ok().stdout.contains("launch block (16, 16, 1)"));
    bench.write("far.lift", "wavelet far { domain integer; odd -= even[900]; }");
    bench.run("far.lift -o out").fails(1, "hold every wavelet");
    bench.run("far.lift --emit c,rust -o out").ok();
}

/// The kernels after each pass can be printed, and the help lists the passes.
#[test]
fn kernels_after_each_pass() {
    let bench = Bench::new();
    let of = |schedule: &str, more: &str| {
        let line = format!("cdf97 --emit ir --schedule {schedule} --sample f32 {more} -o -");
        bench.run(&line).ok().stdout
    };
    let ir = |more: &str| of("warp", more);
    let made = ir("");
    assert!(made.contains(" mirror(") && !made.contains("mirror_near("));
    assert!(of("tile", "--after dead").len() < of("tile", "").len());
    assert!(ir("--after reflect").contains(" mirror_near("));
    assert!(ir("--after kept").matches("kept").count() > made.matches("kept").count());
    let overlapping = ir("--after overlap");
    assert!(overlapping.contains("wait for launches\n") && overlapping.contains("allow the next launch\n"));
    let help = bench.run("--help").ok().stdout;
    for pass in lifting_codegen::opt::PASSES {
        assert!(help.contains(&format!("- {}", pass.name)) && !pass.about.is_empty(), "{}: {help}", pass.name);
    }
    bench.run("cdf97 --emit ir --after nothing -o -").fails(2, "invalid value 'nothing'");
    bench.run("cdf97 --after dead -o -").fails(2, "use --emit ir");
}

/// Kernels are printed in every dialect that supports their operations, and the help lists the dialects.
#[test]
fn kernels_in_dialects() {
    let bench = Bench::new();
    let ir = |more: &str| bench.run(&format!("cdf97 --emit ir --sample f32 -o - {more}"));
    for (word, text) in
        [("cuda", "extern \"C\" __global__ void"), ("c", "static void "), ("rust", "#[inline(always)]\nfn ")]
    {
        let written = ir(&format!("--schedule rows --dialect {word}")).ok().stdout;
        assert_eq!(written.matches(text).count(), 4, "{written}");
    }
    for word in ["c", "rust"] {
        ir(&format!("--schedule warp --dialect {word}"))
            .fails(1, "it runs in many threads; use the single-threaded `rows` schedule");
    }
    let help = bench.run("--help").ok().stdout;
    for dialect in lifting_codegen::back::DIALECTS {
        assert!(help.contains(&format!("- {}", dialect.word())) && help.contains(dialect.name()), "{help}");
    }
    let made = ir("--schedule horizontal,warp --after dead --dialect opencl-sub-groups").ok().stdout;
    let line = " --emit ir --sample f32 --schedule horizontal,warp --after dead --dialect opencl-sub-groups\n";
    assert!(made.contains(line) && made.contains("sub_group_shuffle"), "{made}");
    ir("--schedule warp --dialect opencl").fails(1, "it has a warp shuffle; choose a schedule that needs none");
    bench.run("cdf97 --emit ir --dialect cuda -o out").ok();
    let text = String::from_utf8(bench.read("out/cdf97.kernels.cu")).expect("text");
    assert!(text.contains("Kernels of schedules, as CUDA C++."));
    bench.run("cdf97 --dialect c -o -").fails(2, "use --emit ir");
}

#[test]
fn compile_errors() {
    let bench = with_filters();
    bench.write("bad.lift", "wavelet bad { domain integer; odd -= odd[0]; }");
    bench.run("bad.lift -o out").fails(1, "cannot read `odd`");
    bench.run("bad.lift missing.lift filters/dd137.lift -o out").fails(1, "missing.lift: cannot read");
    assert!(!bench.exists("out"), "nothing is written unless all compile");
    bench.run("dd137 --sample f32 -o out").fails(1, "dd137: wavelet `dd137` is in the integer domain");
    bench.run("cdf97 --profile vc2 -o out").fails(1, "has no profile vc2");
    bench.run("dd137 --schedule vertical -o out").fails(2, "use --emit ir");
    bench.run("dd137 --emit fortran -o out").fails(2, "invalid value 'fortran'");
    bench.run("filters/dd137.lift --emit scheme -o filters").fails(2, "it is an input");
    bench.run("dd137 dd137 -o .").fails(2, "two outputs would have this name");
    bench.run("dd137 -o filters/dd137.lift").fails(1, "dd137.lift: is a file, but a directory is needed");
    bench.run("dd137 -o - --check").fails(2, "--check compares files");
}

/// Two commands for one folder share its header, and unchanged files keep their times.
#[test]
fn commands_for_one_folder() {
    let bench = with_filters();
    let header = || String::from_utf8(bench.read("k/dd137.h")).unwrap();
    let time = |name: &str| std::fs::metadata(bench.path(name)).unwrap().modified().unwrap();
    bench.run("dd137 --emit c --sample i16 -o k").ok();
    let first = (header(), time("k/dd137.h"), time("k/dd137.c"));
    bench.run("dd137 --emit opencl --sample i32 -o k").ok();
    let both = header();
    for part in [
        "int dd137_forward_i16(",
        "int dd137_opencl_forward_i32(",
        "liftc dd137 --emit c --sample i16\n",
        "liftc dd137 --emit opencl --sample i32\n",
    ] {
        assert!(both.contains(part), "{part}: {both}");
    }
    assert!(!both.contains("int dd137_forward_i32(") && !first.0.contains("opencl"));
    assert_eq!(time("k/dd137.c"), first.2);
    // Both commands find the folder up to date, and write nothing.
    let before = time("k/dd137.h");
    for line in ["dd137 --emit c --sample i16 -o k", "dd137 --emit opencl --sample i32 -o k"] {
        bench.run(&format!("{line} --check")).ok();
        bench.run(line).ok();
    }
    assert_eq!((header(), time("k/dd137.h")), (both, before));
    // The order of commands changes nothing.
    bench.run("dd137 --emit opencl --sample i32 -o other").ok();
    bench.run("dd137 --emit c --sample i16 -o other").ok();
    assert_eq!(String::from_utf8(bench.read("other/dd137.h")).unwrap(), header());
    // Functions of a removed file go.
    std::fs::remove_file(bench.path("k/dd137.opencl.c")).unwrap();
    bench.run("dd137 --emit c --sample i16 -o k").ok();
    assert_eq!(header(), first.0);
    bench.run("dd137 --emit opencl --profile vc2 -o k").fails(2, "for another profile");
    // The spelling of a path changes nothing.
    bench.run("filters/dd137.lift --emit c -o p").ok();
    bench.run("./filters/../filters/dd137.lift --emit c -o ./p/../p --check").ok();
    bench.run(&format!("{} --emit c -o p --check", bench.path("filters/dd137.lift").display())).ok();
}

/// A rule for make names the files and the text that they are made of.
#[test]
fn dependencies_of_files() {
    let bench = with_filters();
    bench.run("filters/dd137.lift --emit c -o k --depfile k/dd137.d").ok();
    let rule = String::from_utf8(bench.read("k/dd137.d")).unwrap();
    assert_eq!(rule, "k/dd137.c k/dd137.h: filters/dd137.lift\n");
    bench.run("dd137 --emit c -o k --check --depfile x.d").fails(2, "cannot be used with");
}

/// Names that are alike in C are warned of, refused together, and told apart by a prefix.
#[test]
fn names_in_c() {
    let bench = Bench::new();
    let body = "domain integer; odd -= even[0];";
    bench.write("n.lift", format!("wavelet _x {{ {body} }} wavelet x {{ {body} }} wavelet X {{ {body} }}"));
    let run = bench.run("check n.lift").ok();
    assert_eq!(run.stderr.matches("L0907").count(), 2, "{}", run.stderr);
    bench.run("check n.lift --deny warnings").fails(1, "2 warnings");
    bench.run("n.lift --emit c -o k").fails(2, "would share the C prefix `x`");
    bench.run("n.lift --emit scheme -o k").ok();
    bench.run("n.lift#_x --emit c,opencl --sample i16 --prefix under -o k").ok();
    let text = |name: &str| String::from_utf8(bench.read(name)).unwrap();
    assert!(text("k/under.opencl.c").contains("#include \"under.h\""));
    assert!(text("k/under.h").contains("int under_forward_i16(") && !text("k/under.c").contains("x_rows_"));
    bench.run("n.lift#_x --emit opencl --sample i16 -o k").ok();
    assert!(text("k/_x.opencl.c").contains("#include \"_x.h\"") && bench.exists("k/_x.h"));
    bench.run("n.lift --emit c --prefix p -o k").fails(2, "--prefix names one wavelet, but there are 3");
    bench.run("dd137 --emit c --prefix 9x -o k").fails(2, "begin with a letter");
}

#[test]
fn samples_that_files_do_not_hold() {
    let bench = Bench::new();
    for (emit, language) in [("c", "C"), ("rust", "Rust")] {
        let said = format!("{language} files hold no f16 samples: use f32, or a CUDA or OpenCL file");
        bench.run(&format!("cdf97 --emit {emit} --sample f16 -o k")).fails(1, &said);
    }
}
