//! `encode`, `decode` and `info`: round trips, requested properties of streams, and errors.

use crate::common::{Bench, npy};

/// A `.npy` of this type and shape.
fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"), data)
}

#[test]
fn lossless_round_trip() {
    let bench = Bench::new();
    bench.copy("camera.png").copy("chelsea.png");
    for (file, more) in [
        ("camera", ""),
        ("chelsea", "-w dd137 -l 3 --passes 3 --fast 2 --block 32x64"),
        ("chelsea", "--lossless --drop metadata"),
    ] {
        let said = bench.run(&format!("encode {file}.png -o a.lpc {more}")).ok().stdout;
        assert!(said.starts_with("a.lpc: ") && said.contains("bits a pixel"), "{said}");
        bench.run("decode a.lpc -o back.png").ok();
        // Equal coefficients decode to equal pixels.
        for name in [file, "back"] {
            bench.run(&format!("transform {name}.png -w haar -o {name}.npy -q")).ok();
        }
        assert_eq!(bench.read(&format!("{file}.npy")), bench.read("back.npy"), "{file} {more}");
        assert!(bench.read("a.lpc").len() < bench.read(&format!("{file}.png")).len(), "smaller than a PNG");
    }
}

/// A missing device is an error with advice; the processor is the default.
#[test]
fn devices_are_opened() {
    let bench = Bench::new();
    bench.copy("camera.png");
    bench.run("encode camera.png -o a.lpc").ok();
    bench.run("encode camera.png -o b.lpc --device cpu").ok();
    assert!(bench.read("a.lpc") == bench.read("b.lpc"));
    for command in ["encode camera.png -o c.lpc", "decode a.lpc -o back.png"] {
        let said = bench.run(&format!("{command} --device cuda:999")).fails(1, "").stderr;
        assert!(said.contains("CUDA") || said.contains("NVIDIA"), "{said}");
        assert!(!said.contains("Device::cpu()"), "{said}");
        bench.run(&format!("{command} --device gpu")).fails(2, "write best, cpu, cuda or cuda:N");
        bench.run(&format!("{command} --device opencl")).fails(2, "pictures are not coded on OpenCL devices");
    }
}

#[test]
fn streams_have_the_requested_properties() {
    let bench = Bench::new();
    bench.copy("camera.png");
    bench.run("encode camera.png --bpp 1 -o a.lpc").ok();
    let bytes = bench.read("a.lpc").len();
    assert!(bytes <= 32768 && bytes > 32000, "{bytes}");
    bench.run("encode camera.png --psnr 40 -o b.lpc -w legall53").ok();
    let said = bench.run("info b.lpc").ok().stdout;
    for line in [
        "picture      512 × 512, 1 component of 8 bits\n",
        "wavelet      5 × legall53",
        "quantiser    steps of 1 to",
        "resolution 5 512 × 512: ",
    ] {
        assert!(said.contains(line), "{said}");
    }
    bench.run("encode camera.png --quality 30 -o c.lpc --threads 1 --fit").ok();
    assert!(bench.read("c.lpc").len() < bytes);
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let bench = Bench::new();
    bench.copy("chelsea.png");
    bench.run("encode chelsea.png -o one.lpc --threads 1 --psnr 38").ok();
    bench.run("encode chelsea.png -o many.lpc --psnr 38").ok();
    assert_eq!(bench.read("one.lpc"), bench.read("many.lpc"));
}

#[test]
fn round_trip_of_arrays_and_depths() {
    let bench = Bench::new();
    let samples: Vec<u8> = (0..20 * 30 * 5).map(|i: u32| (i * i / 7 % 251) as u8).collect();
    bench.write("five.npy", array("|u1", "(20, 30, 5)", &samples));
    bench.run("encode five.npy -o five.lpc -l 2").ok();
    bench.run("decode five.lpc -o back.npy").ok();
    assert!(bench.read("back.npy").ends_with(&samples));
    bench.run("decode five.lpc -o back.png").fails(1, "has 5 components, which picture formats do not support");
    // A single component keeps its axis.
    for (shape, level_1) in [("(20, 30, 1)", "(10, 15, 1)"), ("(20, 30)", "(10, 15)")] {
        bench.write("one.npy", array("|u1", shape, &samples[..600]));
        bench.run("encode one.npy -o one.lpc -l 2").ok();
        for (options, shape) in [("-o back.npy", shape), ("-o back.npy --level 1", level_1)] {
            bench.run(&format!("decode one.lpc {options}")).ok();
            let header = String::from_utf8_lossy(&bench.read("back.npy")[..96]).into_owned();
            assert!(header.contains(&format!("{shape},")), "{header}");
        }
    }
    bench.run("decode one.lpc -o back.pgm").ok();
    // Samples of twelve bits, and signed samples.
    let mut pgm = b"P5 9 7 4095\n".to_vec();
    pgm.extend((0..63u16).flat_map(|i| (i * 65).to_be_bytes()));
    bench.write("twelve.pgm", &pgm);
    bench.run("encode twelve.pgm -o a.lpc").ok();
    assert!(bench.run("info a.lpc").ok().stdout.contains("of 12 bits"));
    bench.run("decode a.lpc -o back.pgm").ok();
    for name in ["twelve", "back"] {
        bench.run(&format!("transform {name}.pgm -w haar -o {name}.npy -q")).ok();
    }
    assert_eq!(bench.read("twelve.npy"), bench.read("back.npy"));
    assert!(bench.read("back.pgm").starts_with(b"P5"));
    let signed: Vec<u8> = (0..63i16).flat_map(|i| ((i - 31) * 1000).to_le_bytes()).collect();
    bench.write("signed.npy", array("<i2", "(7, 9)", &signed));
    bench.run("encode signed.npy -o a.lpc").ok();
    bench.run("decode a.lpc -o again.npy").ok();
    assert!(bench.read("again.npy").ends_with(&signed));
    bench.run("decode a.lpc -o again.png").fails(1, "int16 samples cannot be written");
}

#[test]
fn resolutions_pipes_and_directories() {
    let bench = Bench::new();
    bench.copy("camera.png").copy("chelsea.png");
    bench.run("encode camera.png chelsea.png --quality 80 -o streams/").ok();
    bench.run("decode streams/camera.lpc streams/chelsea.lpc --level 2 -o small/").ok();
    assert!(bench.run("info streams/camera.lpc streams/chelsea.lpc").ok().stdout.contains("chelsea.lpc:\n"));
    bench.run("transform small/camera.png -w haar -o c.npy").ok();
    assert!(bench.exists("small/chelsea.png"));
    // Pipe the output of one command into the next.
    let piped = |args: &[&str], input: Vec<u8>| {
        use std::io::Write;
        use std::process::Stdio;
        let mut child = bench.command();
        let child = child.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let (stream, said) = piped(&["encode", "-", "-o", "-"], bench.read("chelsea.png"));
    assert!(said.contains("standard output: 300 × 451 × 3"), "{said}");
    let (back, _) = piped(&["decode", "-", "-o", "-"], stream.clone());
    bench.write("back.png", back);
    for name in ["chelsea", "back"] {
        bench.run(&format!("transform {name}.png -w haar -o {name}.npy -q")).ok();
    }
    assert_eq!(bench.read("chelsea.npy"), bench.read("back.npy"));
    // A prefix of the stream is still a picture.
    let (_, said) = piped(&["decode", "-", "--salvage", "-o", "part.png"], stream[..stream.len() / 2].to_vec());
    assert!(said.contains("the stream ends early"), "{said}");
    assert!(bench.exists("part.png"));
}

/// Layers, prefixes, tiles and regions.
#[test]
fn parts_of_streams_are_pictures() {
    let bench = Bench::new();
    bench.copy("camera.png");
    bench.run("encode camera.png -o a.lpc --layers 5 --tile 256x512").ok();
    let said = bench.run("info a.lpc").ok().stdout;
    for line in ["tiles        256 × 512, 2 × 1 of them\n", "layer 1      up to ", "layer 5      up to "] {
        assert!(said.contains(line), "{said}");
    }
    bench.run("decode a.lpc -o whole.png").ok();
    bench.run("decode a.lpc -o rough.png --layers 2").ok();
    bench.run("decode a.lpc -o part.npy --region 300,17,64,32").ok();
    let samples = |array: &[u8], count: usize| array[array.len() - count..].to_vec();
    let part = samples(&bench.read("part.npy"), 64 * 32);
    assert_ne!(bench.read("rough.png"), bench.read("whole.png"));
    bench.run("decode a.lpc -o all.npy").ok();
    let all = samples(&bench.read("all.npy"), 512 * 512);
    for (y, row) in part.chunks(32).enumerate() {
        assert!(all[(300 + y) * 512 + 17..].starts_with(row), "row {y}");
    }
    let stream = bench.read("a.lpc");
    bench.write("b.lpc", &stream[..stream.len() / 10]);
    assert!(bench.run("info b.lpc").ok().stdout.contains("packets are complete"));
    bench.run("decode b.lpc -o b.png").fails(3, "b.lpc: the stream ends early");
    assert!(!bench.exists("b.png"));
    assert!(bench.run("decode b.lpc -o b.png --salvage").ok().stderr.contains("b.lpc: the stream ends early"));
    for (line, message) in [
        ("encode camera.png -o c.lpc --layers 0", "it must be 1 to 255"),
        ("encode camera.png -o c.lpc --tile 256", "write height and width as 1024x1024"),
        ("decode a.lpc -o c.png --layers 6", "invalid number of layers 6: 1 to 5"),
        ("decode a.lpc -o c.png --region 1,2,3", "as 100,200,512,512"),
        ("decode a.lpc -o c.png --region 500,0,13,1", "lie within a picture of 512 × 512 pixels"),
    ] {
        bench.run(line).fails(2, message);
    }
    bench.run("encode camera.png -o c.lpc --tile 100x100").fails(1, "a multiple of 32");
}

#[test]
fn mistakes_are_reported() {
    let bench = Bench::new();
    bench.copy("camera.png");
    bench.run("encode camera.png -o a.lpc").ok();
    let stream = bench.read("a.lpc");
    let mut broken = stream.clone();
    broken[stream.len() / 2] ^= 4;
    bench.write("broken.lpc", &broken).write("cut.lpc", &stream[..20]).write("empty.lpc", b"");
    for (line, code, message) in [
        ("encode camera.png -o b.lpc -w cdf97", 2, "lossless coding needs an integer wavelet"),
        ("encode camera.png -o b.lpc --psnr 300", 2, "a PSNR of 300"),
        ("encode camera.png -o b.lpc --quality 101", 2, "from 1 to 100"),
        ("encode camera.png -o b.lpc --bpp -1", 2, "a rate of -1"),
        ("encode camera.png -o b.lpc --bpp 0.001", 1, "are too few for this picture"),
        ("encode camera.png -o b.lpc --bpp 1 --psnr 40", 2, "cannot be used with"),
        ("encode camera.png -o b.lpc --block 64x65", 2, "each 4, 8, 16, 32 or 64"),
        ("encode camera.png -o camera.png", 2, "would be overwritten, but it is an input"),
        ("encode a.lpc -o b.lpc", 1, "is not a file that can be transformed"),
        ("encode missing.png -o b.lpc", 1, "missing.png: cannot read"),
        ("decode camera.png -o b.png", 1, "camera.png: not a stream of the Lifting codec"),
        ("decode broken.lpc -o b.png", 1, "broken.lpc: the stream is corrupted"),
        ("decode cut.lpc -o b.png", 1, "the stream ends in its header"),
        ("decode empty.lpc -o b.png", 1, "is empty"),
        ("decode a.lpc -o b.jpg", 2, "JPEG would lose"),
        ("decode a.lpc -o b.png --level 6", 2, "invalid level 6: this picture has levels 0 (full size) to 5"),
        ("decode a.lpc -o a.lpc", 2, "would be overwritten, but it is an input"),
        ("decode a.lpc -o b.lpc", 2, "is not a picture format"),
        ("decode missing.lpc -o b.png", 1, "missing.lpc: cannot read"),
        ("info camera.png", 1, "camera.png: not a stream"),
        ("info broken.lpc", 1, "corrupted"),
    ] {
        bench.run(line).fails(code, message);
        assert!(!bench.exists("b.lpc") && !bench.exists("b.png"), "{line}");
    }
}

/// Arrays of three components take the colour transform as pictures do.
#[test]
fn arrays_of_colours_are_coded_as_pictures() {
    let bench = Bench::new();
    bench.copy("chelsea.png");
    let samples = image::open(bench.path("chelsea.png")).unwrap().into_rgb8().into_raw();
    bench.write("a.npy", array("|u1", "(300, 451, 3)", &samples));
    let bytes = |line: &str| {
        bench.run(&format!("encode {line} -o x.lpc")).ok();
        bench.read("x.lpc").len()
    };
    let [picture, coloured] = [bytes("chelsea.png --drop metadata"), bytes("a.npy")];
    assert_eq!(picture, coloured);
    let [none, plain] = [bytes("a.npy --colour none"), bytes("chelsea.png --colour none --drop metadata")];
    assert_eq!(none, plain);
    assert!(coloured < none * 9 / 10, "{coloured} {none}");

    // Axes in another order are asked about.
    bench.write("first.npy", array("|u1", "(3, 451, 300)", &samples));
    bench.run("encode first.npy -o x.lpc").fails(1, "np.moveaxis(a, 0, -1)");
    bench.write("frames.npy", array("|u1", "(100, 41, 99)", &samples[..100 * 41 * 99]));
    bench.run("encode frames.npy -o x.lpc").fails(1, "if axis 0 counts frames");
    bench.run("encode frames.npy -o x.lpc -l 2 --colour none").ok();
    bench.run("decode x.lpc -o back.npy").ok();
    assert!(bench.read("back.npy").ends_with(&samples[..100 * 41 * 99]));
}

#[test]
fn outputs_are_where_help_says() {
    let bench = Bench::new();
    bench.copy("camera.png");
    bench.run("encode camera.png -o a.lpc").ok();
    bench.run("decode a.lpc -o plain").ok();
    assert!(bench.read("plain").starts_with(b"\x89PNG"), "the default of --format");
    bench.run("decode a.lpc -o plain --format pnm").ok();
    assert!(bench.read("plain").starts_with(b"P5"));
    bench.run("decode a.lpc -o b.pnm").ok();
    assert_eq!(bench.read("b.pnm"), bench.read("plain"));
    bench.write("broken.lpc", b"x");
    bench.run("decode broken.lpc -o new/folder/").fails(1, "broken.lpc");
    assert!(!bench.exists("new"), "failed runs leave no directory");
}

/// A rate that holds a lossless stream is not filled with a lossy one.
#[test]
fn generous_rates_are_lossless() {
    let bench = Bench::new();
    bench.copy("camera.png");
    bench.run("encode camera.png -o exact.lpc").ok();
    let run = bench.run("encode camera.png -o rate.lpc --bpp 8").ok();
    assert!(run.stderr.contains("the rate suffices for lossless coding"), "{}", run.stderr);
    assert_eq!(bench.read("rate.lpc"), bench.read("exact.lpc"));
    bench.run("encode camera.png -o rate.lpc --bpp 1").ok();
    assert!(bench.read("rate.lpc").len() <= 512 * 512 / 8);
}

/// Floats are coded as fields: exactly, or within a bound.
#[test]
fn fields_keep_their_bound() {
    let bench = Bench::new();
    let mut samples: Vec<f32> = (0..20 * 30 * 40).map(|i| (i as f32 / 50.0).sin() * 8.0).collect();
    samples[7] = f32::NAN;
    let bytes: Vec<u8> = samples.iter().flat_map(|s| s.to_le_bytes()).collect();
    bench.write("a.npy", array("<f4", "(20, 30, 40)", &bytes));
    bench.run("encode a.npy -o exact.lpc").ok();
    bench.run("decode exact.lpc -o back.npy").ok();
    assert!(bench.read("back.npy").ends_with(&bytes));
    for (bound, error) in [("0.01", 0.01), ("0.1%", 0.016)] {
        let run = bench.run(&format!("encode a.npy -o a.lpc --max-error {bound}")).ok();
        assert!(run.stdout.contains("20 × 30 × 40 of float32") && run.stdout.contains("errors of at most"), "{run:?}");
        assert!(bench.read("a.lpc").len() < bytes.len() / 4);
        bench.run("decode a.lpc -o back.npy").ok();
        let back = bench.read("back.npy");
        let back: Vec<f32> =
            back[back.len() - bytes.len()..].as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        assert_eq!(back[7].to_bits(), f32::NAN.to_bits());
        let is_good = |(a, b): (&f32, &f32)| (a - b).abs() <= error || a.is_nan();
        assert!(samples.iter().zip(&back).all(is_good), "{bound}");
        bench.run("decode a.lpc -o part.npy --region 3,10,0,1,2,40").ok();
        let part: Vec<u8> = back[(3 * 30 + 10) * 40..][..80].iter().flat_map(|s| s.to_le_bytes()).collect();
        assert!(bench.read("part.npy").ends_with(&part));
    }
    let info = bench.run("info a.lpc").ok();
    assert!(info.stdout.starts_with("field        20 × 30 × 40, float32\n"), "{}", info.stdout);
    bench.write("four.npy", array("|u1", "(2, 2, 2, 2)", &[0; 16])).write("half.npy", array("<f2", "(2, 2)", &[0; 8]));
    for (line, code, message) in [
        ("encode four.npy -o b.lpc --max-error 1", 1, "one to three axes are allowed"),
        ("encode half.npy -o b.lpc", 1, "has float16 samples"),
        ("encode a.npy -o b.lpc --max-error -1", 2, "a number of at least 0"),
        ("encode a.npy -o b.lpc --max-error 1 --psnr 40", 2, "cannot be used with"),
        ("encode a.npy -o b.jph --max-error 1", 2, "--max-error is not for JPEG 2000"),
        ("decode a.lpc -o b.png", 1, "has float32 samples, which pictures cannot have"),
        ("decode a.lpc -o b.npy --level 1", 2, "without levels and layers"),
        ("decode a.lpc -o b.npy --region 0,0,20,30", 2, "in a field of shape [20, 30, 40]"),
        ("decode a.lpc -o b.npy --region 0,0,20", 2, "of a volume 10,20,30,64,64,64"),
    ] {
        bench.run(line).fails(code, message);
    }
}

/// No advice rounds measurements to integers without a word.
#[test]
fn advice_for_reals_keeps_them() {
    let bench = Bench::new();
    bench.write("a.npy", array("<f4", "(2, 2)", &[0; 16]));
    let run = bench.run("encode a.npy -o x.lpc --psnr 40");
    assert!(run.stderr.contains("--max-error") && !run.stderr.contains("np.round"), "{}", run.stderr);
    run.fails(1, "has float32 samples");
}
