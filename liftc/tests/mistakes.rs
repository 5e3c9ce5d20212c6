//! Invalid input of every kind: a clear message, the right exit code, and never a panic.

use crate::common::{Bench, npy, npy_i16};

#[test]
fn wrong_files() {
    let bench = Bench::new();
    bench.copy("camera.png");
    let png = bench.read("camera.png");
    std::fs::create_dir(bench.path("folder.png")).unwrap();
    bench
        .write("empty.png", b"")
        .write("cut.png", &png[..png.len() / 2])
        .write("stub.png", &png[..20])
        .write("spoilt.png", spoilt(&png))
        .write("text.png", b"This is not a picture, is it?")
        .write("cut.npy", npy_i16("(100,)", 0..50))
        .write("stub.npy", b"\x93NUMPY\x01");
    for (file, message) in [
        ("missing.png", "missing.png: cannot read: No such file"),
        ("folder.png", "folder.png: is a directory"),
        ("empty.png", "empty.png: is empty"),
        ("cut.png", "cut.png: the picture cannot be decoded"),
        ("stub.png", "stub.png: the picture cannot be decoded"),
        ("spoilt.png", "while decoding IHDR chunk"),
        ("text.png", "text.png: is not a file that can be transformed"),
        ("cut.npy", "cut.npy: is cut short: shape [100] has 100 elements, but the file holds 50"),
        ("stub.npy", "header is cut short"),
    ] {
        bench.run(&format!("transform {file} -w dd137 -o c.npy")).fails(1, message);
        assert!(!bench.exists("c.npy"), "{file}");
        let said = bench.run(&format!("transform {file} -w dd137 -o c.npy")).stderr;
        assert!(!said.contains(" { ") && !said.contains("os error"), "{said}");
    }
    bench
        .run("transform camera.png -w dd137 -o nowhere/c.npy")
        .fails(1, "nowhere/c.npy: cannot write: No such file or directory");
    bench
        .run("transform camera.png -w dd137 -o camera.png/c.npy")
        .fails(1, "camera.png/c.npy: cannot write: Not a dir");
    bench.run("transform camera.png -w dd137 -o folder.png/").ok();
    bench.run("dd137 -o camera.png").fails(1, "camera.png: is a file, but a directory is needed");
    bench.run("transform camera.png -w missing.lift -o c.npy").fails(1, "missing.lift: cannot read");
    bench.run("transform camera.png -w ./folder.png -o c.npy").fails(1, "is a directory, not a .lift file");
    bench.run("transform camera.png -w ./camera.png -o c.npy").fails(1, "is not text in UTF-8");
}

#[test]
fn false_headers() {
    let bench = Bench::new();
    let dict = |descr: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    for (dictionary, message) in [
        (dict("'<i2'", "(2, 2, 2, 2, 2, 2, 2, 2, 2)"), "has 9 axes: arrays of 1 to 8 axes"),
        (dict("'<i2'", "()"), "has 0 axes"),
        (dict("'<i2'", "(3, 0)"), "has no elements: axis 1"),
        (dict("'<c16'", "(3,)"), "elements of type `<c16`"),
        (dict("'|b1'", "(3,)"), "elements of type `|b1`"),
        (dict("'<u8'", "(3,)"), "elements of type `<u8`"),
        (dict("[('x', '<f4')]", "(3,)"), "structured elements"),
        (dict("'<i2'", "(4294967296, 4294967296, 4)"), "more elements than any machine can hold"),
        (dict("'<i2'", "(4000000000, 1000000000)"), "is cut short"),
        ("{'descr': ".into(), "header is malformed"),
        ("[1, 2]".into(), "header is malformed"),
    ] {
        bench.write("a.npy", npy(&dictionary, &[0; 64]));
        bench.run("transform a.npy -w dd137 -o c.npy").fails(1, message);
    }
    let mut huge = b"\x93NUMPY\x03\x00\xff\xff\xff\xff".to_vec();
    huge.extend([b' '; 100]);
    bench.write("huge.npy", huge).run("transform huge.npy -w dd137 -o c.npy").fails(1, "claims 4294967295 bytes");
    // A picture of 16 TiB: only the header is read before it is refused.
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend([0, 0x20, 0, 0, 0, 0x20, 0, 0, 16, 6, 0, 0, 0]);
    png.extend(crc32(&png[12..]).to_be_bytes());
    png.extend(b"\0\0\0\x01IDAT\0\0\0\0\0");
    bench.write("wide.png", png);
    bench.run("transform wide.png -w dd137 -o c.npy").fails(1, "wide.png: the picture");
}

/// A picture with a changed checksum of its header.
fn spoilt(png: &[u8]) -> Vec<u8> {
    let mut spoilt = png.to_vec();
    spoilt[29] ^= 1;
    spoilt
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &b| (0..8).fold(crc ^ u32::from(b), |c, _| (c >> 1) ^ (0xedb8_8320 * (c & 1))))
}

#[test]
fn impossible_requests() {
    let bench = Bench::new();
    bench.copy("chelsea.png").write("f.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}", &[0; 16]));
    bench.write("wide.npy", npy_i16("(3,)", [1, 2, 3]));
    for (line, code, message) in [
        ("chelsea.png -w dd137 -l 99", 2, "it must be 0 to 32"),
        ("chelsea.png -w dd137 -l -1", 2, "it must be 0 to 32"),
        ("chelsea.png -w dd137 -l 4294967296", 2, "invalid value"),
        ("chelsea.png -w dd173 -l 3", 1, "did you mean dd137"),
        ("chelsea.png -w nothing_like_it", 1, "`liftc list` prints the catalogue"),
        ("chelsea.png", 2, "--wavelet"),
        ("chelsea.png -w dd137 --boundary periodic -l 2", 1, "axis 1 has 451 samples, and the border rule `periodic`"),
        ("chelsea.png -w dd137 --boundary periodic -l 2", 1, "add --pad edge"),
        ("chelsea.png -w dd137 --boundary periodic -l 3,0", 1, "axis 0 has 75 samples after 2 levels"),
        ("chelsea.png -w dd137 --boundary periodc", 2, "a similar value exists: 'periodic'"),
        (
            "chelsea.png -w dd137 --boundary symmetric",
            2,
            "`symmetric` of PyWavelets and numpy repeats the signal's border sample",
        ),
        ("chelsea.png -w dd137 --boundary reflect", 2, "`whole-symmetric` is what PyWavelets and numpy call `reflect`"),
        ("chelsea.png -w dd137 --boundary Periodization", 2, "`periodic` is what PyWavelets calls"),
        ("chelsea.png -w dd137 --boundary constant", 2, "`edge` repeats the border sample"),
        ("chelsea.png -w dd137 -l 1,2,3", 2, "-l gives 3 numbers, but 2 axes are transformed: 0, 1"),
        ("chelsea.png -w dd137 -l 1,2 --axes 1", 2, "-l gives 2 numbers, but 1 axis is transformed: 1"),
        ("chelsea.png -w dd137 -l 1,,2", 2, "--levels"),
        ("chelsea.png -w dd137 --origin 1,2,3", 2, "--origin gives 3 numbers"),
        ("chelsea.png -w dd137 --origin 9223372036854775807", 1, "origins must lie within"),
        ("chelsea.png -w dd137 --origin 0.5", 2, "invalid value '0.5' for '--origin"),
        ("chelsea.png -w dd137 --profile vc2 --pad edge --origin 1", 1, "vc2 does not support origins"),
        (
            "chelsea.png -w dd137 -l 3 --tile 64x100",
            1,
            "length 100 along axis 1, which is not a multiple of 8 (2^levels)",
        ),
        ("chelsea.png -w dd137 --tile 8x8x8", 2, "--tile gives 3 numbers, but 2 axes are transformed: 0, 1"),
        ("chelsea.png -w dd137 --tile 8x0", 2, "write the lengths of the axes as 1080x1920, each at least 1"),
        ("chelsea.png -w dd137 -l 2 --tile 64 --pad edge", 1, "tiles of [300, 451, 3] are not padded"),
        ("chelsea.png --inverse --tile 64", 2, "cannot be used with"),
        ("chelsea.png -w dd137 --pad edge -l 20", 1, "[1048576, 1048576, 3] of shape [300, 451, 3]"),
        ("chelsea.png -w dd137 --pad edge -l 20", 1, "take -l 9"),
        ("chelsea.png -w dd137 --pad edge -l 9,13", 1, "axis 1 has 451 samples, enough for at most 9 levels"),
        ("f.npy -w cdf97 --pad edge -l 32", 1, "enough for at most 2 levels"),
        ("chelsea.png -w dd137 --force", 2, "--force is for --inverse"),
        ("chelsea.png -w dd137 --forty-two", 2, "unexpected argument '--forty-two' found"),
        ("chelsea.png -w dd137 --lvels 2", 2, "a similar argument exists: '--levels'"),
        ("chelsea.png -w dd137 --sample u16", 2, "invalid value 'u16'"),
        ("chelsea.png -w dd137 --profile vc2 -l 3", 1, "--pad edge"),
        ("chelsea.png -w cdf2_2 --profile vc2", 1, "has no profile vc2"),
        ("chelsea.png -w dd137 --profile jpeg", 2, "jpeg2000"),
        ("chelsea.png -w dd137 --axes 3", 2, "--axes 3: the data has 3 axes"),
        ("chelsea.png -w dd137 --axes -4", 2, "--axes -4"),
        ("chelsea.png -w dd137 --axes 1,1", 2, "names axis 1 twice"),
        ("chelsea.png -w dd137 --axes 0 --picture p.png", 2, "two transformed axes"),
        ("chelsea.png -w dd137 --sample f32", 1, "is an integer wavelet, but the samples are f32"),
        ("chelsea.png -w cdf97 --sample i16", 1, "is a real wavelet, but the samples are i16"),
        ("chelsea.png -w cdf97 --sample bf16", 2, "numpy has no such type"),
        ("f.npy -w dd137", 1, "an integer wavelet cannot transform float32 elements"),
        ("chelsea.png -w dd137 --level 1", 2, "--inverse"),
        ("chelsea.png -w dd137 --threads 0", 2, "it must be 1 to 65535"),
        ("chelsea.png --inverse", 1, "is a picture, not coefficients"),
        ("wide.npy --inverse", 1, "wide.npy.json: cannot read the sidecar"),
        ("chelsea.png --inverse -w dd137", 2, "cannot be used with"),
    ] {
        bench.run(&format!("transform {line} -o c.npy")).fails(code, message);
    }
    // Suggestions appear where a similar word exists.
    for line in ["transform chelsea.png -w dd137 --forty-two -o c.npy", "bench --device gpu", "list --verbose"] {
        let run = bench.run(line);
        assert!(run.code != 0 && !run.stderr.contains("similar"), "{line}: {}", run.stderr);
    }
    bench.run("compile legall53 -o kernels/").fails(2, "help: liftc legall53 -o kernels/");
    bench.run("compile").fails(2, "liftc compiles the wavelets it is given");
    bench.run("").fails(2, "Usage: liftc");
    bench.run("transfrom chelsea.png").fails(2, "did you mean the command `transform`");
}

#[test]
fn false_sidecars() {
    let bench = Bench::new();
    bench.write("a.npy", npy_i16("(6, 7)", 0..42));
    bench.run("transform a.npy -w dd137 -l 2 -o c.npy").ok();
    let text = String::from_utf8(bench.read("c.npy.json")).unwrap();
    for (from, to, message) in [
        ("[6, 7]", "[7, 6]", "is 6 × 7, but the sidecar describes coefficients of 7 × 6"),
        ("\"i16\"", "\"i32\"", "has int16 elements, but the sidecar describes i32 samples"),
        ("\"i16\"", "\"u16\"", "unknown sample type `u16`"),
        ("whole-symmetric\",", "mirrored\",", "unknown border rule"),
        ("\"mallat\"", "\"spiral\"", "unknown layout `spiral`"),
        ("\"levels\": [2, 2]", "\"levels\": [2, 77]", "77 levels"),
        ("\"levels\": [2, 2]", "\"levels\": [2]", "c.npy.json"),
        ("\"axis_order\": [1, 0]", "\"axis_order\": [1, 5]", "c.npy.json"),
        ("\"pad\": null", "\"pad\": \"edge\"", "contradicts itself"),
        ("domain integer;", "domain integer", "expected `;`"),
        ("\"version\": 2", "\"version\": 9", "is of version 9: this liftc knows versions 1 to 4"),
        ("\"version\": 2", "\"version\": \"two\"", "it has no `version`"),
        ("\"lifting-coefficients\"", "\"other\"", "its `format` is not `lifting-coefficients`"),
        ("{", "[", "is not valid JSON, from line"),
        ("\"levels\": [2, 2]", "\"levels\": \"2\"", "it has string \"2\" where a list should be"),
        ("\"levels\": [2, 2],", "", "is not what `liftc transform` wrote: it has no field `levels`"),
        ("\"source\": {", "\"source\": [], \"rest\": {", "an object with the name and kind of the source"),
        ("\"origins\": [0, 0]", "\"origins\": [0]", "1 origins for 2 axes"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        bench.write("c.npy.json", text.replace(from, to));
        bench.run("transform c.npy --inverse -o b.npy").fails(1, "c.npy.json: ");
        // The message names the false field.
        bench.run("transform c.npy --inverse --force -o b.npy").fails(1, message);
        assert!(!bench.exists("b.npy"), "{from}");
    }
    for other in ["[]", "7", "null", "\"c.npy\"", "", "{}", "{\"format\": \"lifting-coefficients\"}"] {
        bench.write("c.npy.json", other);
        let said = bench.run("transform c.npy --inverse --force -o b.npy").fails(1, "c.npy.json: is not ").stderr;
        assert!(!said.contains("struct"), "{said}");
    }
    bench.write("c.npy.json", &text);
    bench.run("transform c.npy --inverse --level 3 -o b.npy").fails(2, "levels 0 (full size) to 2");
    bench.run("transform c.npy --inverse -o b.txt").fails(2, "is not a picture format");
    bench.run("transform c.npy --inverse -o c.npy.json").fails(2, "it is an input");
    bench.run("transform c.npy --inverse -o b.png").fails(1, "int16 samples cannot be written as a picture");
    // Changed coefficients may leave the range of the picture's samples.
    bench.write("p.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}", &[0, 255, 255, 0]));
    bench.run("transform p.npy -w legall53 -o c.npy").ok();
    let mut changed = bench.read("c.npy");
    let end = changed.len();
    changed[end - 8..].copy_from_slice(&[0, 64, 0, 64, 0, 192, 0, 192]);
    bench.write("c.npy", changed);
    let run = bench.run("transform c.npy --inverse --force -o b.npy").ok();
    assert!(run.stderr.contains("clamped"), "{}", run.stderr);
}

#[test]
fn closed_pipes() {
    use std::process::Stdio;
    let bench = Bench::new();
    for args in [&["list"][..], &["--help"], &["show", "fidelity"]] {
        let mut child = bench.command().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Very long lines and words: messages stay readable.
#[test]
fn long_lines_are_shown_in_part() {
    let bench = Bench::new();
    let taps: String = (0..4000).map(|i| format!("{i}/7, ")).collect();
    let bank = format!("wavelet w {{ domain real; bank {{ lowpass at 0 [{taps}]; highpass at 0 [-1, 1]; }} }}");
    bench.write("taps.lift", &bank);
    bench.write("word.lift", format!("wavelet w {{ domain real; odd += {}*even[0]; }}", "x".repeat(500_000)));
    bench.write("many.lift", format!("wavelet w {{ domain real; {} }}", "odd += x*even[0]; ".repeat(5000)));
    for (file, place, most) in [("taps", "128/7", 1000), ("word", "word.lift:1:33", 2000), ("many", "L0005", 60_000)] {
        let text = bench.run(format!("check {file}.lift").as_str()).fails(1, place).stderr;
        assert!(text.len() < most, "{file}: {} bytes", text.len());
    }
}

#[test]
fn names_of_other_libraries() {
    let bench = Bench::new();
    bench.copy("camera.png").write("two.lift", "wavelet w { domain real; odd -= even[0]; }");
    for (line, message) in [
        ("transform camera.png --border zero -w dd137 -o c.npy", "a similar argument exists: '--boundary'"),
        ("transform camera.png --mode zero -w dd137 -o c.npy", "a similar argument exists: '--boundary'"),
        ("transform camera.png --dtype i16 -w dd137 -o c.npy", "a similar argument exists: '--sample'"),
        ("transform camera.png --padding edge -w dd137 -o c.npy", "a similar argument exists: '--pad'"),
        ("transform camera.png --wav dd137 -o c.npy", "a similar argument exists: '--wavelet'"),
        ("transform camera.png -L 3 -w dd137 -o c.npy", "a similar argument exists: '-l'"),
        ("dd137 --target c", "a similar argument exists: '--emit'"),
        ("bench --size 64x64", "a similar argument exists: '--shape'"),
        ("transform camera.png --sample int16 -w dd137 -o c.npy", "a similar value exists: 'i16'"),
        ("transform camera.png --sample I16 -w dd137 -o c.npy", "a similar value exists: 'i16'"),
        ("transform camera.png --sample uint8 -w dd137 -o c.npy", "coefficients have a sign and grow"),
        ("transform camera.png --profile J2K -w dd137 -o c.npy", "a similar value exists: 'jpeg2000'"),
        ("transform camera.png --profile VC2 -w dd137 -o c.npy", "a similar value exists: 'vc2'"),
        ("transform camera.png --pad zero -w dd137 -o c.npy", "padding repeats the last sample"),
        ("transform camera.png --format jpg -w dd137 -o c.npy", "lossy formats would change the result"),
        ("dd137 --emit cu,c", "a similar value exists: 'cuda'"),
        ("dd137 --emit cl", "a similar value exists: 'opencl'"),
        ("dd137 --emit metal", "not supported: use cuda, c, opencl or rust"),
        ("transform camera.png --threads many -w dd137 -o c.npy", "it must be a whole number"),
        ("transform camera.png -l two -w dd137 -o c.npy", "it must be a whole number"),
        ("transform camera.png --axes 0,x -w dd137 -o c.npy", "it must be a whole number"),
        ("transform camera.png --level -1 --inverse -o c.npy", "it must be 0 to 32"),
        ("plot dd137 -o p.png --dpi 99999999999999999999", "the number is too large"),
        ("factor db2 --pick x", "it must be a whole number"),
        ("forward camera.png", "help: liftc transform camera.png -w dd137 -l 3 -o coeffs.npy"),
        ("idwt c.npy", "help: liftc transform c.npy --inverse -o back.png"),
        ("format my.lift", "help: liftc fmt my.lift"),
        ("lint my.lift", "help: liftc check my.lift"),
        ("info cdf97", "help: liftc show cdf97"),
        ("version", "help: liftc --version"),
    ] {
        let said = bench.run(line).fails(2, message).stderr;
        assert!(!said.contains("to pass") && !said.contains("digit found") && !said.contains("..="), "{line}: {said}");
    }
    for (line, message) in [
        ("transform camera.png -w 5/3 -o c.npy", "the 5/3 of JPEG 2000 is legall53; in real numbers it is cdf2_2"),
        ("transform camera.png -w CDF53 -o c.npy", "the 5/3 of JPEG 2000 is legall53"),
        ("transform camera.png -w cdf9/7 -o c.npy", "the 9/7 of JPEG 2000 is cdf97"),
        ("show haarr", "did you mean haar?"),
        ("camera.png", "to transform it: liftc transform camera.png"),
    ] {
        bench.run(line).fails(1, message);
    }
    // Distant words get no suggestion, and the usage is not that of one.
    for line in
        ["transform camera.png --verbose -w dd137 -o c.npy", "transform camera.png --quality 9 -w dd137 -o c.npy"]
    {
        let said = bench.run(line).fails(2, "Usage: liftc transform [OPTIONS] --output").stderr;
        assert!(!said.contains("similar") && !said.contains("tip"), "{said}");
    }
    // A file with such a name is used.
    std::fs::create_dir(bench.path("9")).unwrap();
    bench.write("9/7", "wavelet w { domain real; odd -= even[0]; }").run("show 9/7").ok();
}

#[test]
fn wavelets_from_the_standard_input() {
    use std::process::Stdio;
    let bench = Bench::new();
    for (line, code, message) in [
        ("check -", 0, "standard input: w ok"),
        ("- --emit scheme -o -", 0, "wavelet w {"),
        ("show - --text", 0, "wavelet w {"),
        ("check - none.lift", 1, "none.lift: cannot read"),
    ] {
        let mut command = bench.command();
        command.args(line.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let text = b"wavelet w { domain real; odd -= even[0]; }";
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text).unwrap();
        let run = crate::common::Run::from(child.wait_with_output().unwrap());
        assert_eq!(run.code, code, "{line}: {}", run.stderr);
        assert!(run.stdout.contains(message) || run.stderr.contains(message), "{line}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn long_names() {
    let bench = Bench::new();
    let file = |n: usize| format!("wavelet {} {{ domain real; odd -= even[0]; }}", "w".repeat(n));
    bench.write("long.lift", file(64)).run("long.lift -o k").fails(1, "a name of 64 bytes: at most 63 are allowed");
    bench.write("long.lift", file(63)).run("long.lift -o k").ok();
    assert!(bench.exists(&format!("k/{}.cu", "w".repeat(63))));
    let name = "n".repeat(100);
    bench.run(&format!("factor db2 --name {name}")).fails(2, "a name of 100 bytes: at most 63 are allowed");
    // Names derived from file names are cut.
    let taps = format!("{name}.txt");
    bench.write(&taps, "1 1\n1 -1\n").run(&format!("factor {taps} -o w.lift")).ok();
    bench.run("check w.lift").ok();
}
