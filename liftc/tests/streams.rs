//! `liftc transform` on pipes: `-`, FIFOs and devices, as input and output.

use crate::common::{Bench, npy, npy_i16};
use std::io::Write;
use std::process::{Command, Stdio};

/// Result of a run, with the output as bytes.
struct Piped {
    code: i32,
    bytes: Vec<u8>,
    stderr: String,
}

impl Piped {
    fn ok(self) -> Piped {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self
    }

    fn fails(self, code: i32, message: &str) {
        crate::common::Run { code: self.code, stdout: String::new(), stderr: self.stderr }.fails(code, message);
    }
}

/// Runs the words of `line` with these bytes as the standard input.
fn pipe(bench: &Bench, line: &str, bytes: &[u8]) -> Piped {
    let mut command = bench.command();
    command.args(line.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, bytes) = (child.stdin.take().unwrap(), bytes.to_vec());
    let writer = std::thread::spawn(move || {
        // A command that refuses its input may not read it.
        let _ = stdin.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Piped { code: output.status.code().expect("ended by itself"), bytes: output.stdout, stderr }
}

fn pixels(bytes: &[u8]) -> image::DynamicImage {
    image::load_from_memory(bytes).unwrap()
}

#[test]
fn forward_into_inverse() {
    let bench = Bench::new();
    bench.copy("chelsea.png").copy("camera.png").write("a.npy", npy_i16("(21, 34)", (0..714).map(|i| i * 37 % 1009)));
    for name in ["chelsea.png", "camera.png"] {
        let picture = bench.read(name);
        let coefficients = pipe(&bench, "transform - -w dd137 -l 3 -o -", &picture).ok();
        assert!(coefficients.stderr.contains("standard output: "), "{}", coefficients.stderr);
        let back = pipe(&bench, "transform - --inverse -o -", &coefficients.bytes).ok();
        assert!(back.bytes.starts_with(b"\x89PNG"), "as what it was");
        assert_eq!(pixels(&back.bytes), pixels(&picture), "{name}");
        let tiff = pipe(&bench, "transform - --inverse --format tiff -o -", &coefficients.bytes).ok();
        assert!(tiff.bytes.starts_with(b"II*\0") || tiff.bytes.starts_with(b"MM\0*"));
        assert_eq!(pixels(&tiff.bytes), pixels(&picture), "{name}");
    }
    let array = bench.read("a.npy");
    let coefficients = pipe(&bench, "transform - -q -w legall53 -l 2 -o -", &array).ok();
    assert_eq!(coefficients.stderr, "");
    let back = pipe(&bench, "transform - --inverse -o -", &coefficients.bytes).ok();
    assert!(back.bytes.starts_with(b"\x93NUMPY") && back.bytes.ends_with(&array[array.len() - 1428..]));
    // Connected by a shell.
    let line = "cat chelsea.png | \"$0\" transform - -w cdf97 -l 4 -o - | \"$0\" transform - --inverse --format ppm \
                -o - > back.ppm";
    let run = Command::new("sh").args(["-c", line, env!("CARGO_BIN_EXE_liftc")]).current_dir(bench.path("")).output();
    assert!(run.unwrap().status.success());
    assert!(bench.read("back.ppm").starts_with(b"P6"));
    assert_eq!(pixels(&bench.read("back.ppm")), pixels(&bench.read("chelsea.png")));
}

#[test]
fn every_kind_of_input() {
    let bench = Bench::new();
    bench.copy("chelsea.png").copy("camera.png").copy("brain.npz");
    pixels(&bench.read("camera.png")).save(bench.path("camera.pgm")).unwrap();
    for (name, options) in [
        ("chelsea.png", "-w dd137 -l 3"),
        ("camera.pgm", "-w cdf97 -l 2 --layout interleaved"),
        ("brain.npz", "--array volume -w dd137 -l 2,1,2"),
    ] {
        bench.run(&format!("transform {name} {options} -o file.npy")).ok();
        let streamed = pipe(&bench, &format!("transform - {options} -o -"), &bench.read(name)).ok();
        // Same bytes as in a file, followed by the sidecar.
        let file = bench.read("file.npy");
        assert!(streamed.bytes.starts_with(&file), "{name}");
        let sidecar: serde_json::Value = serde_json::from_slice(&streamed.bytes[file.len()..]).unwrap();
        let mut beside: serde_json::Value = serde_json::from_slice(&bench.read("file.npy.json")).unwrap();
        assert_eq!(sidecar["source"]["name"], "");
        beside["source"]["name"] = "".into();
        beside["checksum"] = sidecar["checksum"].clone();
        assert_eq!(sidecar, beside, "{name}");
        // Other programs read it as an array.
        assert!(npyz::NpyFile::new(&streamed.bytes[..]).is_ok());
    }
    if std::path::Path::new("/dev/zero").exists() {
        // The input is endless.
        bench.run("transform /dev/zero -w dd137 -o c.npy").fails(1, "/dev/zero: is not a file that can be transformed");
    }
    pipe(&bench, "transform - -w dd137 -o -", b"").fails(1, "standard input: is empty");
    pipe(&bench, "transform - -w dd137 -o -", b"no picture at all")
        .fails(1, "standard input: is not a file that can be");
    let cut = npy_i16("(100,)", 0..50);
    pipe(&bench, "transform - -w dd137 -o -", &cut).fails(1, "standard input: is cut short");
}

#[test]
fn a_stream_in_a_file_is_whole() {
    let bench = Bench::new();
    bench.copy("chelsea.png");
    let streamed = pipe(&bench, "transform - -w dd137 -l 3 -o -", &bench.read("chelsea.png")).ok();
    bench.write("c.npy", &streamed.bytes);
    bench.run("transform c.npy --inverse -o back.png").ok();
    assert_eq!(pixels(&bench.read("back.png")), pixels(&bench.read("chelsea.png")));
    bench.run("transform c.npy --inverse -o folder/").ok();
    assert_eq!(pixels(&bench.read("folder/c.png")), pixels(&bench.read("chelsea.png")));
    // A sidecar after the data is checked like one in a file.
    let place = streamed.bytes.windows(12).position(|w| w == b"\"levels\": [3").unwrap() + 11;
    let mut edited = streamed.bytes.clone();
    edited[place] = b'2';
    pipe(&bench, "transform - --inverse -o -", &edited).fails(1, "standard input, after the data: was changed");
    let mut changed = streamed.bytes.clone();
    changed[4000] ^= 1;
    pipe(&bench, "transform - --inverse -o -", &changed).fails(1, "belongs to other coefficients");
    // No sidecar, neither after the data nor in a file.
    let bare = npy_i16("(4,)", 0..4);
    pipe(&bench, "transform - --inverse -o -", &bare).fails(1, "no sidecar follows the coefficients");
}

#[test]
fn separate_sidecars() {
    let bench = Bench::new();
    bench.copy("camera.png");
    let picture = bench.read("camera.png");
    let coefficients = pipe(&bench, "transform - -w dd137 -l 2 -o - --sidecar s.json", &picture).ok();
    bench.run("transform camera.png -w dd137 -l 2 -o c.npy --sidecar t.json").ok();
    assert_eq!(coefficients.bytes, bench.read("c.npy"), "nothing behind the data");
    assert!(!bench.exists("c.npy.json"));
    let back = pipe(&bench, "transform - --inverse -o - --sidecar s.json", &coefficients.bytes).ok();
    assert_eq!(pixels(&back.bytes), pixels(&picture));
    bench.run("transform c.npy --inverse --sidecar t.json -o back.png").ok();
    assert_eq!(pixels(&bench.read("back.png")), pixels(&picture));
    bench.run("transform c.npy --inverse -o b.png").fails(1, "c.npy.json: cannot read the sidecar");
    bench.run("transform c.npy --inverse --sidecar no.json -o b.png").fails(1, "no.json: cannot read the sidecar");
    bench.run("transform c.npy --inverse --sidecar camera.png -o b.png").fails(1, "camera.png: is not text");
    bench.run("transform camera.png -w dd137 -o d.npy --sidecar d.npy").fails(2, "two outputs would have this name");
    bench.run("transform camera.png -w dd137 -o d.npy --sidecar camera.png").fails(2, "it is an input");
    bench.run("transform c.npy --inverse --sidecar t.json -o t.json").fails(2, "it is an input");
    bench.run("transform camera.png -w dd137 -o d.npy --sidecar -").fails(2, "--sidecar needs the name of a file");
    bench.run("transform camera.png c.npy -w dd137 -o d --sidecar s.json").fails(2, "--sidecar names one file");
}

#[cfg(unix)]
#[test]
fn named_pipes() {
    let bench = Bench::new();
    bench.copy("camera.png");
    for name in ["in", "coefficients", "out.png"] {
        assert!(Command::new("mkfifo").arg(bench.path(name)).status().unwrap().success());
    }
    let spawn = |line: &str| {
        let mut command = bench.command();
        command.args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let forward = spawn("transform in -w dd137 -l 3 -o coefficients");
    let inverse = spawn("transform coefficients --inverse -o out.png");
    std::fs::write(bench.path("in"), bench.read("camera.png")).unwrap();
    let back = std::fs::read(bench.path("out.png")).unwrap();
    for child in [forward, inverse] {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(pixels(&back), pixels(&bench.read("camera.png")));
    assert!(!bench.exists("coefficients.json"));
    // System names of open files.
    if std::path::Path::new("/dev/stdin").exists() {
        // A regular file remains one, and no other file is created for such a name.
        for line in [
            "\"$0\" transform camera.png -w dd137 -l 3 -o /dev/stdout > c.npy",
            "\"$0\" transform camera.png -w dd137 -l 3 -o /dev/fd/3 3> c.npy",
        ] {
            std::fs::remove_file(bench.path("c.npy")).unwrap_or_default();
            let mut shell = Command::new("sh");
            let run =
                shell.args(["-c", line, env!("CARGO_BIN_EXE_liftc")]).current_dir(bench.path("")).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            assert!(!std::path::Path::new("/dev/stdout.json").exists());
            bench.run("transform c.npy --inverse -o back.png").ok();
            assert_eq!(pixels(&bench.read("back.png")), pixels(&bench.read("camera.png")));
        }
        let streamed =
            pipe(&bench, "transform /dev/stdin -w dd137 -l 3 -o /dev/stdout", &bench.read("camera.png")).ok();
        assert!(streamed.stderr.contains("coefficients, 3 × dd137"), "{}", streamed.stderr);
        let back = pipe(&bench, "transform /dev/stdin --inverse -o /dev/stdout", &streamed.bytes).ok();
        assert_eq!(pixels(&back.bytes), pixels(&bench.read("camera.png")));
    }
}

#[test]
fn unsupported_pipes() {
    let bench = Bench::new();
    bench.copy("camera.png").write("a.npy", npy_i16("(4, 5)", 0..20));
    for (line, message) in [
        ("a.npy camera.png -w dd137 -o -", "several inputs need a directory"),
        ("- - -w dd137 -o folder", "`-` is given twice"),
        ("a.npy -w dd137 -o - --picture -", "two outputs would go to the standard output"),
        ("a.npy -w dd137 -o c.npy --format png", "coefficients are arrays"),
        ("a.npy -w dd137 -o c.npy --format gif", "invalid value 'gif'"),
    ] {
        bench.run(&format!("transform {line}")).fails(2, message);
    }
    bench.run("transform a.npy -w dd137 -o c.npy").ok();
    bench.run("transform c.npy --inverse -o b.png --format npy").fails(2, "the extension contradicts --format npy");
    bench.run("transform c.npy --inverse -o - --format png").fails(1, "int16 samples cannot be written as a picture");
    bench.run("transform c.npy --inverse -o b --format npy").ok();
    assert!(bench.read("b").starts_with(b"\x93NUMPY"));
    // Eight bits without a channel axis are a grey picture.
    bench.write(
        "g.npy",
        npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }", &[0, 50, 100, 150, 200, 250]),
    );
    bench.run("transform g.npy -w legall53 -o c.npy").ok();
    let picture = pipe(&bench, "transform c.npy --inverse -o - --format png", b"").ok();
    assert_eq!(pixels(&picture.bytes).into_luma8().into_raw(), [0, 50, 100, 150, 200, 250]);
    let drawn = pipe(&bench, "transform g.npy -w legall53 -o c.npy --picture -", b"").ok();
    assert!(drawn.bytes.starts_with(b"\x89PNG") && drawn.stderr.starts_with("c.npy: 2 × 3 i16"));
    // Output to a directory from a pipe is named after its source.
    pipe(&bench, "transform - -w legall53 -o folder/", &bench.read("g.npy")).ok();
    assert!(bench.exists("folder/stdin.npy") && bench.exists("folder/stdin.npy.json"));
}

#[test]
fn closed_pipes() {
    let bench = Bench::new();
    bench.copy("chelsea.png");
    let mut command = bench.command();
    command.args("transform chelsea.png -q -w dd137 -o -".split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// A closed standard output loses results, as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_an_error() {
    let bench = Bench::new();
    bench.copy("camera.png").run("encode camera.png -o a.lpc").ok();
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        let command = command.args(["-c", line, env!("CARGO_BIN_EXE_liftc")]).current_dir(bench.path(""));
        let output = command.env("NO_COLOR", "1").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for command in
        ["list", "--help", "--version", "decode a.lpc -o -", "transform camera.png -w haar -o -", "info a.lpc"]
    {
        let (code, said) = shell(&format!("\"$0\" {command} >&-"));
        assert_eq!(code, Some(1), "{command}: {said}");
        assert!(said.contains("standard output: cannot write: it is closed"), "{command}: {said}");
        let (code, said) = shell(&format!("\"$0\" {command} > /dev/full"));
        assert_eq!(code, Some(1), "{command}: {said}");
        assert!(said.contains("standard output: cannot write: No space left on device"), "{command}: {said}");
        let (code, said) = shell(&format!("\"$0\" {command} > /dev/null"));
        assert_eq!(code, Some(0), "{command}: {said}");
        assert!(!shell(&format!("\"$0\" {command} | head -c 10")).1.contains("panicked"), "{command}");
    }
}
