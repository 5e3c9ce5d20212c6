//! `liftc transform` with the real binary: round trips.

use crate::common::{Bench, data_file, npy, npy_i16};
use image::{DynamicImage, ImageBuffer, Luma, LumaA, Rgb, Rgba};

/// Pixels of a fixed pattern that uses the whole range.
fn pattern(i: usize) -> u16 {
    (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_shr(40) as u16
}

fn decode(bytes: &[u8]) -> DynamicImage {
    image::load_from_memory(bytes).unwrap()
}

#[test]
fn the_readmes_picture_round_trip() {
    let bench = Bench::new();
    bench.copy("chelsea.png");
    bench.run("transform chelsea.png -w dd137 -l 3 -o coeffs.npy --picture pyramid.png").ok();
    bench.run("transform coeffs.npy --inverse -o back.png").ok();
    let (before, after) = (decode(&bench.read("chelsea.png")), decode(&bench.read("back.png")));
    assert_eq!(before, after);

    let file = bench.read("coeffs.npy");
    let coefficients = npyz::NpyFile::new(&file[..]).unwrap();
    assert_eq!(coefficients.shape(), [300, 451, 3]);
    assert_eq!(coefficients.into_vec::<i16>().unwrap().len(), 300 * 451 * 3);

    let pyramid = decode(&bench.read("pyramid.png")).into_rgb8();
    assert_eq!(pyramid.dimensions(), (451, 300));
    let small = bench.run("transform coeffs.npy --inverse --level 3 -o small.png");
    assert_eq!(small.ok().code, 0);
    let small = decode(&bench.read("small.png")).into_rgb8();
    assert_eq!(small.dimensions(), (57, 38));
    // The low band is drawn unchanged; the lines belong to the detail bands.
    for (x, y, pixel) in small.enumerate_pixels() {
        assert_eq!(pyramid.get_pixel(x, y), pixel);
    }
    assert_eq!(pyramid.get_pixel(226, 10), &Rgb([255; 3]), "an outline between HL1 and the rest");
}

/// Border rules that do not suit the wavelet: a note above a condition of 100, and a refusal above 10,000.
#[test]
fn ill_conditioned_borders() {
    let bench = Bench::new();
    let array = |shape: &str, count| {
        let data: Vec<u8> = (0..count).flat_map(|i| f32::from(pattern(i) as i16).to_le_bytes()).collect();
        npy(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"), &data)
    };
    bench.write("odd.npy", array("(33, 47)", 33 * 47));
    bench.write("even.npy", array("(32, 48)", 32 * 48));
    let refused = bench.run("transform odd.npy -w coif2 -l 3 --boundary whole-symmetric -o c.npy");
    let refused =
        refused.fails(1, "border rule whole-symmetric does not suit wavelet coif2: near the borders of 33 × 47");
    let refused =
        refused.fails(1, "use --boundary periodic, with --pad edge for odd lengths; or accept it: --ill-cond");
    assert!(!refused.stderr.contains("note:"), "{}", refused.stderr);
    assert!(!bench.path("c.npy").exists());
    // As with `ill_conditioned=True` in Python, who accepts it reads no note. The inverse asks nothing.
    let accepted = bench.run("transform odd.npy -w coif2 -l 3 --boundary whole-symmetric --ill-conditioned -o c.npy");
    assert_eq!(accepted.ok().stderr, "");
    bench.run("transform c.npy --inverse -o back.npy").ok();
    bench.write("line.npy", array("(33,)", 33));
    let noted = bench.run("transform line.npy -w db4 -l 3 --boundary whole-symmetric -o c.npy").ok();
    let said = "note: line.npy: border rule whole-symmetric does not suit wavelet db4: near the borders of 33";
    assert!(noted.stderr.starts_with(said), "{}", noted.stderr);
    assert_eq!(bench.run("transform even.npy -w coif2 -l 3 --boundary periodic -o c.npy").ok().stderr, "");
    assert_eq!(bench.run("transform odd.npy -w cdf97 -l 3 -o c.npy").ok().stderr, "");
}

#[test]
fn every_kind_of_picture() {
    let bench = Bench::new();
    let (w, h) = (37, 26);
    let samples = |channels: usize| (0..(w * h) as usize * channels).map(pattern);
    let narrow = |channels| samples(channels).map(|x| x as u8).collect::<Vec<_>>();
    let wide = |channels| samples(channels).collect::<Vec<_>>();
    let pictures: Vec<(&str, DynamicImage)> = vec![
        ("l8", ImageBuffer::<Luma<u8>, _>::from_raw(w, h, narrow(1)).unwrap().into()),
        ("la8", ImageBuffer::<LumaA<u8>, _>::from_raw(w, h, narrow(2)).unwrap().into()),
        ("rgb8", ImageBuffer::<Rgb<u8>, _>::from_raw(w, h, narrow(3)).unwrap().into()),
        ("rgba8", ImageBuffer::<Rgba<u8>, _>::from_raw(w, h, narrow(4)).unwrap().into()),
        ("l16", ImageBuffer::<Luma<u16>, _>::from_raw(w, h, wide(1)).unwrap().into()),
        ("la16", ImageBuffer::<LumaA<u16>, _>::from_raw(w, h, wide(2)).unwrap().into()),
        ("rgb16", ImageBuffer::<Rgb<u16>, _>::from_raw(w, h, wide(3)).unwrap().into()),
        ("rgba16", ImageBuffer::<Rgba<u16>, _>::from_raw(w, h, wide(4)).unwrap().into()),
    ];
    for (name, picture) in &pictures {
        picture.save(bench.path(&format!("{name}.png"))).unwrap();
        for wavelet in ["dd137", "cdf97"] {
            bench.run(&format!("transform {name}.png -w {wavelet} -l 2 -o {name}.npy --picture p.png")).ok();
            bench.run(&format!("transform {name}.npy --inverse -o back.png")).ok();
            assert_eq!(&decode(&bench.read("back.png")), picture, "{name} {wavelet}");
        }
    }
    // Other formats, as input and output.
    for (name, extension) in [("l8", "pgm"), ("rgb8", "ppm"), ("rgb16", "ppm"), ("l16", "tiff"), ("rgba8", "tiff")] {
        let picture = &pictures.iter().find(|(n, _)| *n == name).unwrap().1;
        picture.save(bench.path(&format!("in.{extension}"))).unwrap();
        bench.run(&format!("transform in.{extension} -w legall53 -l 3 -o c.npy")).ok();
        bench.run(&format!("transform c.npy --inverse -o back.{extension}")).ok();
        let back = bench.read(&format!("back.{extension}"));
        assert_eq!(&decode(&back), picture, "{extension}");
        // Variants of the formats that every program reads.
        let magic: &[u8] = match extension {
            "pgm" => b"P5",
            "ppm" => b"P6",
            _ => b"",
        };
        assert!(back.starts_with(magic), "{extension}: {:?}", &back[..2]);
    }
    bench.run("transform rgba8.npy --inverse -o back.ppm").fails(1, "no alpha channel");
    pictures[2].1.save(bench.path("photo.jpg")).unwrap();
    bench.run("transform photo.jpg -w legall53 -o c.npy").ok();
    bench.run("transform c.npy --inverse -o back.png").ok();
    assert_eq!(decode(&bench.read("back.png")), decode(&bench.read("photo.jpg")));
    bench.run("transform c.npy --inverse -o back.jpg").fails(2, "JPEG would lose");
}

#[test]
fn arrays_of_every_type_and_rank() {
    let bench = Bench::new();
    let shapes = ["(210,)", "(14, 15)", "(5, 6, 7)", "(5, 2, 7, 3)"];
    let types = [
        ("|u1", 1, "legall53"),
        ("|i1", 1, "dd137"),
        ("<u2", 2, "legall53"),
        ("<i2", 2, "dd137"),
        ("<i4", 4, "legall53"),
        ("<u4", 4, "dd137"),
        ("<i8", 8, "fidelity"),
        ("<f2", 2, "cdf97"),
        ("<f4", 4, "cdf97"),
        ("<f8", 8, "cdf97"),
        ("|u1", 1, "cdf97"),
        ("<i4", 4, "cdf97"),
    ];
    for (i, (descr, bytes, wavelet)) in types.into_iter().enumerate() {
        let shape = shapes[i % 4];
        let real = descr.contains('f');
        let data: Vec<u8> = match descr {
            "<f2" => {
                (0..210).flat_map(|i| half::f16::from_f64(f64::from(pattern(i)) / 65536.0).to_le_bytes()).collect()
            }
            "<f4" => (0..210).flat_map(|i| (f32::from(pattern(i)) / 7.0).to_le_bytes()).collect(),
            "<f8" => (0..210).flat_map(|i| (f64::from(pattern(i)) / 7.0).to_le_bytes()).collect(),
            _ => (0..210 * bytes).map(|i| pattern(i) as u8).collect(),
        };
        let before = npy(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"), &data);
        bench.write("a.npy", &before);
        bench.run(&format!("transform a.npy -w {wavelet} -l 2 -o c.npy")).ok();
        bench.run("transform c.npy --inverse -o b.npy").ok();
        let after = bench.read("b.npy");
        assert!(after.len() % 64 == data.len() % 64, "data starts at a multiple of 64 bytes");
        let back = &after[after.len() - data.len()..];
        let header = String::from_utf8_lossy(&after[..after.len() - data.len()]).into_owned();
        assert!(header.contains(descr) && header.contains(shape), "{header}");
        if real {
            let value = |b: &[u8]| match bytes {
                2 => half::f16::from_le_bytes(b.try_into().unwrap()).to_f64(),
                4 => f32::from_le_bytes(b.try_into().unwrap()).into(),
                _ => f64::from_le_bytes(b.try_into().unwrap()),
            };
            let tolerance = [0.0, 0.0, 4e-3, 0.0, 1e-2, 0.0, 0.0, 0.0, 1e-9][bytes];
            for (x, y) in data.chunks(bytes).zip(back.chunks(bytes)) {
                assert!((value(x) - value(y)).abs() <= tolerance, "{descr} {} {}", value(x), value(y));
            }
        } else {
            assert_eq!(back, data, "{descr} {wavelet}");
        }
    }
}

#[test]
fn fortran_order_and_big_endian_are_the_same_array() {
    let bench = Bench::new();
    let value = |y: usize, x: usize| (y * 100 + x) as i16;
    bench.write("c.npy", npy_i16("(6, 9)", (0..54).map(|i| value(i / 9, i % 9))));
    let columns: Vec<u8> = (0..54).flat_map(|i| value(i % 6, i / 6).to_be_bytes()).collect();
    bench.write("f.npy", npy("{'descr': '>i2', 'fortran_order': True, 'shape': (6, 9), }", &columns));
    bench.run("transform c.npy -w dd137 -l 2 -o c.out.npy").ok();
    bench.run("transform f.npy -w dd137 -l 2 -o f.out.npy").ok();
    assert_eq!(bench.read("c.out.npy"), bench.read("f.out.npy"));
}

#[test]
fn options_reach_the_inverse() {
    let bench = Bench::new();
    bench.write("a.npy", npy_i16("(3, 21, 27)", (0..1701).map(|i| pattern(i) as i16 >> 4)));
    for options in [
        "-w dd137 -l 2 --axes 1,2",
        "-w dd137 -l 2 --axes -2,-1 --boundary zero",
        "-w dd137 -l 2 --axes 1,2 --profile vc2 --pad edge",
        "-w dd137 -l 2 --boundary periodic --pad edge",
        "-w legall53 -l 3 --profile jpeg2000",
        "-w legall53 -l 3 --layout interleaved",
        "-w ccsds97m -l 3 --axes 2,1 --profile ccsds122 --pad edge",
        "-w fidelity --axes 0 --sample i64",
        "-w legall53 -l 5 --threads 2",
        "-w legall53 -l 1,2,3",
        "-w dd137 -l 3,0,1",
        "-w dd137 -l 1,3 --axes 2,-2 --layout interleaved",
        "-w legall53 -l 2 --origin 1",
        "-w legall53 -l 4 --origin 0,-5,123456789 --profile jpeg2000",
        "-w dd137 -l 2,3 --origin -1,3 --axes 1,2 --pad edge",
        "-w dd137 -l 0",
        "-w dd137 -l 1,2 --axes 1,2 --tile 8x16",
        "-w legall53 -l 2 --axes 2,1 --tile 16x8 --layout interleaved",
        "-w legall53 -l 2 --tile 4 --profile jpeg2000",
    ] {
        bench.run(&format!("transform a.npy {options} -o c.npy")).ok();
        bench.run("transform c.npy --inverse -o b.npy").ok();
        let (a, b) = (bench.read("a.npy"), bench.read("b.npy"));
        assert_eq!(a[a.len() - 3402..], b[b.len() - 3402..], "{options}");
    }
}

/// A tile equals the transform of that part alone, in arrays and in pictures.
#[test]
fn tiles_are_transforms_of_parts() {
    let bench = Bench::new();
    let value = |y: usize, x: usize| pattern(y * 40 + x) as i16 >> 4;
    bench.write("whole.npy", npy_i16("(30, 40)", (0..1200).map(|i| value(i / 40, i % 40))));
    bench.run("transform whole.npy -w dd137 -l 2 --tile 16x16 -o whole.c.npy --picture whole.png").ok();
    let coefficients = |name: &str| {
        let file = bench.read(name);
        npyz::NpyFile::new(&file[..]).unwrap().into_vec::<i16>().unwrap()
    };
    let (whole, picture) = (coefficients("whole.c.npy"), decode(&bench.read("whole.png")).into_luma8());
    // A full tile, and the smaller last one.
    for (top, left, height, width) in [(0, 16, 16, 16), (16, 32, 14, 8)] {
        let (count, shape) = (height * width, format!("({height}, {width})"));
        let place = |i: usize| [top + i / width, left + i % width];
        bench.write("part.npy", npy_i16(&shape, (0..count).map(|i| value(place(i)[0], place(i)[1]))));
        bench.run("transform part.npy -w dd137 -l 2 -o part.c.npy").ok();
        let part = coefficients("part.c.npy");
        assert!((0..count).all(|i| whole[place(i)[0] * 40 + place(i)[1]] == part[i]), "{shape}");
        // First row and column of the details of level 1.
        let (row, column) = (top + height / 2, left + width / 2);
        let outlined = width / 2 >= 6;
        let drawn = (0..width).all(|x| picture.get_pixel((left + x) as u32, row as u32).0 == [255]);
        assert_eq!(
            drawn && (0..height).all(|y| picture.get_pixel(column as u32, (top + y) as u32).0 == [255]),
            outlined
        );
    }
}

#[test]
fn departures_from_the_format_are_reported() {
    let bench = Bench::new();
    bench.copy("camera.png");
    let run =
        |rule: &str| bench.run(&format!("transform camera.png -w legall53 --profile jpeg2000 {rule} -o c.npy")).ok();
    let said = "the border rule of jpeg2000 is whole-symmetric: with zero, coefficients are not jpeg2000's";
    assert!(run("--boundary zero").stderr.contains(said), "{}", run("--boundary zero").stderr);
    for rule in ["--boundary whole-symmetric", ""] {
        assert_eq!(run(rule).stderr, "note: camera.png: its resolution is ignored\n");
    }
}

#[test]
fn levels_origins_and_axes_of_the_library() {
    let bench = Bench::new();
    let sidecar = || serde_json::from_slice::<serde_json::Value>(&bench.read("c.npy.json")).unwrap();
    bench.write("a.npy", npy_i16("(3, 21, 27)", (0..1701).map(|i| pattern(i) as i16 >> 4)));
    let said = bench.run("transform a.npy -w legall53 -l 3,1 --axes 2,1 --origin 5,2 -o c.npy").ok().stdout;
    assert_eq!(said, "c.npy: 3 × 21 × 27 i16 coefficients, 1,3 × legall53 (whole-symmetric)\n");
    // In the order of the named axes.
    assert_eq!(sidecar()["levels"], serde_json::json!([0, 1, 3]));
    assert_eq!(sidecar()["origins"], serde_json::json!([0, 2, 5]));
    // Rows 2 to 22 include 11 even ones.
    let second = sidecar()["bands"].as_array().unwrap().iter().find(|b| b["level"] == 2).cloned().unwrap();
    assert_eq!(second["shape"][1], 11, "{second}");
    // Equal to the library's coefficients.
    use lifting::{Device, Plan, catalogue};
    let wavelet = catalogue::find("legall53").unwrap();
    let plan = Plan::builder(&wavelet).shape(&[3, 21, 27]).levels_per_axis(&[0, 1, 3]).origins(&[0, 2, 5]);
    let plan = plan.sample::<i16>().build(&Device::cpu()).unwrap();
    let data: Vec<i16> = (0..1701).map(|i| pattern(i) as i16 >> 4).collect();
    let mut expected = vec![0; 1701];
    plan.forward(&data, &mut expected).unwrap();
    let file = bench.read("c.npy");
    assert_eq!(npyz::NpyFile::new(&file[..]).unwrap().into_vec::<i16>().unwrap(), expected);

    // The maximum number of axes of plans.
    let shape = "(2, 3, 2, 2, 3, 2, 2, 3)";
    let data: Vec<i16> = (0..864).map(|i| pattern(i) as i16 >> 4).collect();
    bench.write("deep.npy", npy_i16(shape, data.iter().copied()));
    bench.run("transform deep.npy -w dd137 -l 1,0,1,1,2,1,1,2 --origin 0,0,0,0,0,0,0,1 -o c.npy").ok();
    bench.run("transform c.npy --inverse -o b.npy").ok();
    let file = bench.read("b.npy");
    let back = npyz::NpyFile::new(&file[..]).unwrap();
    assert_eq!(back.shape(), [2, 3, 2, 2, 3, 2, 2, 3]);
    assert_eq!(back.into_vec::<i16>().unwrap(), data);
    bench.run("transform deep.npy -w dd137 --axes 7,-4 -o c.npy").ok();
}

#[test]
fn superfluous_levels_are_reported() {
    let bench = Bench::new();
    bench.write("a.npy", npy_i16("(5, 64)", 0..320));
    for (options, said) in [
        ("-l 3", ""),
        ("-l 3,6", ""),
        ("-l 4,6", "axis 0 has nothing left to split after 3 of its 4\n"),
        (
            "-l 5,9",
            "axis 0 has nothing left to split after 3 of its 5, axis 1 has nothing left to split after 6 of its 9\n",
        ),
        ("-l 9 --axes 1", "axis 1 has nothing left to split after 6 of its 9\n"),
        // Padded to 8 × 64.
        ("-l 3,6 --pad edge", ""),
        // Positions 1 to 5 include two even ones, and those one.
        ("-l 4 --axes 0 --origin 1", "axis 0 has nothing left to split after 2 of its 4\n"),
    ] {
        let run = bench.run(&format!("transform a.npy -w legall53 {options} -o c.npy")).ok();
        assert!(
            if said.is_empty() { run.stderr.is_empty() } else { run.stderr.ends_with(said) },
            "{options}: {}",
            run.stderr
        );
        bench.run("transform c.npy --inverse -o b.npy").ok();
        let (a, b) = (bench.read("a.npy"), bench.read("b.npy"));
        assert_eq!(a[a.len() - 640..], b[b.len() - 640..], "{options}");
    }
}

#[test]
fn own_wavelets_are_stored_in_the_sidecar() {
    let bench = Bench::new();
    bench.write(
        "mine.lift",
        "wavelet a { domain integer; odd -= even[0]; }\nwavelet b { domain integer; odd += even[1]; }",
    );
    bench.write("a.npy", npy_i16("(5,)", [1, 2, 4, 8, 16]));
    bench.run("transform a.npy -w mine.lift -o c.npy").fails(2, "mine.lift has 2 wavelets");
    bench.run("transform a.npy -w mine.lift#c -o c.npy").fails(1, "has no wavelet `c` help: it has a, b");
    bench.run("transform a.npy -w mine.lift#b -o c.npy").ok();
    std::fs::remove_file(bench.path("mine.lift")).unwrap();
    bench.run("transform c.npy --inverse -o b.npy").ok();
    assert_eq!(bench.read("b.npy")[128..], bench.read("a.npy")[bench.read("a.npy").len() - 10..]);
}

#[test]
fn several_at_once() {
    let bench = Bench::new();
    for (name, n) in [("a", 8i16), ("b", 9)] {
        bench.write(&format!("{name}.npy"), npy_i16(&format!("({n},)"), 0..n));
    }
    bench.write("broken.npy", b"nothing");
    let run = bench.run("transform a.npy broken.npy b.npy -w legall53 -o out");
    run.fails(1, "broken.npy: is not a file that can be transformed");
    assert!(bench.exists("out/a.npy") && bench.exists("out/b.npy.json"), "the others are done all the same");
    bench.run("transform out/a.npy out/b.npy --inverse -o back/").ok();
    assert!(bench.read("back/b.npy").ends_with(&[7, 0, 8, 0]));
    // Two outputs of one name, and an output that is also an input.
    std::fs::create_dir(bench.path("sub")).unwrap();
    bench.write("sub/a.npy", bench.read("a.npy"));
    bench.run("transform a.npy sub/a.npy -w legall53 -o out").fails(2, "two outputs would have this name");
    bench.run("transform a.npy b.npy -w legall53 -o .").fails(2, "it is an input");
    bench.run("transform a.npy -w legall53 -o ./a.npy").fails(2, "it is an input");
    bench.run("transform a.npy b.npy -w legall53 -o broken.npy").fails(2, "need a directory");
}

/// A real volume from an archive, along all three axes.
#[test]
fn round_trip_of_a_volume() {
    let bench = Bench::new();
    bench.copy("brain.npz");
    bench.run("transform brain.npz --array volume -w dd137 -l 3 -o c.npy").ok();
    bench.run("transform c.npy --inverse -o back.npy").ok();
    let said = bench.run("transform c.npy --inverse --level 2 -o small.npy").ok().stdout;
    assert_eq!(said, "small.npy: 12 × 15 × 13, resolution 2, from 3 × dd137\n");
    let read = |name: &str| {
        let bytes = bench.read(name);
        let file = npyz::NpyFile::new(&bytes[..]).unwrap();
        (file.shape().to_vec(), file.into_vec::<i16>().unwrap())
    };
    assert_eq!(read("c.npy").0, [47, 58, 49]);
    assert_eq!(read("small.npy").0, [12, 15, 13]);
    let mut archive = zip::ZipArchive::new(std::fs::File::open(data_file("brain.npz")).unwrap()).unwrap();
    let mut volume = Vec::new();
    std::io::copy(&mut archive.by_name("volume.npy").unwrap(), &mut volume).unwrap();
    let volume: Vec<i16> = npyz::NpyFile::new(&volume[..]).unwrap().into_vec().unwrap();
    assert_eq!(read("back.npy").1, volume);
    assert_ne!(read("c.npy").1, volume);
}

#[test]
fn npz_archives() {
    use std::io::Write;
    let bench = Bench::new();
    let archive = |names: &[&str]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, method) in names.iter().zip([zip::CompressionMethod::Deflated, zip::CompressionMethod::Stored]) {
            zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default().compression_method(method))
                .unwrap();
            zip.write_all(&npy_i16("(3, 4)", 0..12)).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    bench.write("one.npz", archive(&["volume"])).write("two.npz", archive(&["x", "y"])).write("none.npz", archive(&[]));
    bench.run("transform one.npz -w dd137 -l 2 -o c.npy").ok();
    bench.run("transform c.npy --inverse -o b.npy").ok();
    assert!(bench.read("b.npy").ends_with(&[10, 0, 11, 0]));
    bench.run("transform two.npz -w dd137 -o c.npy").fails(1, "choose one with --array NAME: x, y");
    bench.run("transform two.npz --array y -w dd137 -o c.npy").ok();
    bench.run("transform two.npz --array z -w dd137 -o c.npy").fails(1, "has no array `z`");
    bench.run("transform none.npz -w dd137 -o c.npy").fails(1, "zip file without arrays");
    let cut = archive(&["volume"]);
    bench.write("cut.npz", &cut[..cut.len() / 2]);
    bench.run("transform cut.npz -w dd137 -o c.npy").fails(1, "is not a readable .npz file");
}

/// A wavelet for each axis, and for each level of an axis: the same coefficients as single transforms in order, and the
/// sidecar has all wavelets.
#[test]
fn a_wavelet_for_each_axis_and_level() {
    let bench = Bench::new();
    let samples = |i: u64| pattern(i as usize) as i16 >> 4;
    bench.write("a.npy", npy_i16("(24, 38)", (0..24 * 38).map(samples)));
    bench.write("mine.lift", "wavelet mine { domain integer; boundary edge; odd -= even[0]; even += odd[0] >> 1; }");
    let run = bench.run("transform a.npy -w legall53,dd137+mine.lift -l 1,1 --sample i32 -o c.npy").ok();
    assert!(run.stdout.contains("1 × legall53, dd137+mine"), "{}", run.stdout);
    // One level, the innermost axis first: a plan along each axis.
    bench.run("transform a.npy -w dd137 --axes 1 --sample i32 -o first.npy").ok();
    bench.run("transform first.npy -w legall53 --axes 0 -o by_hand.npy").ok();
    assert_eq!(bench.read("c.npy"), bench.read("by_hand.npy"));

    bench.run("transform a.npy -w legall53,dd137+mine.lift -l 2,3 --picture p.png -o c.npy").ok();
    bench.run("transform c.npy --inverse -o back.npy").ok();
    let [a, back] = ["a.npy", "back.npy"].map(|name| liftc::media::read(&bench.path(name), None).unwrap());
    assert_eq!(a, back);
    let sidecar = String::from_utf8(bench.read("c.npy.json")).unwrap();
    for part in ["\"version\": 4", "\"boundary\": \"own\"", "wavelet mine", "wavelet dd137", "wavelet legall53"] {
        assert!(sidecar.contains(part), "no {part} in {sidecar}");
    }
    // One list for all axes, and one rule for all wavelets.
    bench.run("transform a.npy -w dd137+legall53 -l 2 --boundary zero -o c.npy").ok();
    bench.run("transform c.npy --inverse -o back.npy").ok();
    let back = liftc::media::read(&bench.path("back.npy"), None).unwrap();
    assert_eq!(a, back);
    // One wavelet stays a sidecar of version 2.
    bench.run("transform a.npy -w dd137,dd137 -o two.npy").ok();
    bench.run("transform a.npy -w dd137 -o one.npy").ok();
    assert_eq!(bench.read("one.npy"), bench.read("two.npy"));
    assert!(String::from_utf8(bench.read("one.npy.json")).unwrap().contains("\"version\": 2"));

    for (line, code, said) in [
        ("-w legall53,dd137,haar", 2, "integer and real wavelets do not mix"),
        ("-w legall53,dd137,dd137", 2, "-w gives 3 wavelets, but 2 axes are transformed: 0, 1"),
        ("-w legall53,", 2, "a name is missing between separators"),
        ("-w legall53+dd137 --profile vc2", 2, "--profile vc2 describes one wavelet"),
    ] {
        bench.run(&format!("transform a.npy {line} -o no.npy")).fails(code, said);
    }
    assert!(!bench.exists("no.npy"));
}
