//! Metadata of files, with the real binary: it is preserved, or a note says that it is not.

use crate::common::{Bench, data_file, npy, npy_i16};
use image::ImageFormat;
use liftc::media::{Colour, Data, tiff as ours};
use std::io::Cursor;

/// Samples of a fixed pattern, up to `most`.
fn samples(count: usize, most: u16) -> Vec<u16> {
    let pattern = |i: usize| ((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u32;
    (0..count).map(|i| if i == 3 { most } else { (pattern(i) % (u32::from(most) + 1)) as u16 }).collect()
}

/// Samples as bytes, in the layout of netpbm's or numpy's files.
fn bytes(samples: &[u16], maxval: u16, big: bool) -> Vec<u8> {
    let each = |&x: &u16| match (maxval > 255, big) {
        (false, _) => vec![x as u8],
        (true, true) => x.to_be_bytes().to_vec(),
        (true, false) => x.to_le_bytes().to_vec(),
    };
    samples.iter().flat_map(each).collect()
}

#[test]
fn maxvals_are_preserved() {
    let bench = Bench::new();
    let (h, w) = (11, 14);
    for maxval in [1, 15, 100, 255, 256, 1000, 4095, 65535] {
        for (magic, extension, channels) in [("P5", "pgm", 1), ("P6", "ppm", 3)] {
            let values = samples(h * w * channels, maxval);
            let file = [format!("{magic}\n{w} {h}\n{maxval}\n").into_bytes(), bytes(&values, maxval, true)].concat();
            let descr = if maxval > 255 { "<u2" } else { "|u1" };
            let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({h}, {w}, {channels}), }}");
            bench.write(&format!("a.{extension}"), &file).write("a.npy", npy(&dict, &bytes(&values, maxval, false)));
            for wavelet in ["dd137", "cdf97"] {
                bench.run(&format!("transform a.{extension} -w {wavelet} -l 2 -o c.npy --picture p.png")).ok();
                bench.run(&format!("transform a.npy -w {wavelet} -l 2 --axes 0,1 -o d.npy")).ok();
                let [c, d] = ["c.npy", "d.npy"].map(|name| bench.read(name)[128..].to_vec());
                assert!(c == d, "{extension} of {maxval}: the coefficients of the same samples");
                assert!(
                    String::from_utf8(bench.read("c.npy.json")).unwrap().contains(&format!("\"maxval\": {maxval}"))
                );
                bench.run(&format!("transform c.npy --inverse -o back.{extension}")).ok();
                assert!(bench.read(&format!("back.{extension}")) == file, "{extension} of {maxval} with {wavelet}");
            }
            bench.run(&format!("transform c.npy --inverse --level 1 -o small.{extension}")).ok();
            let small = bench.read(&format!("small.{extension}"));
            assert!(small.starts_with(format!("{magic}\n7 6\n{maxval}\n").as_bytes()), "{extension} of {maxval}");
        }
    }
    // A sample above the maxval is detected. A result above it is clamped, with a note.
    bench.write("high.pgm", b"P5\n2 2\n100\n\x01\x02\x65\x03");
    bench
        .run("transform high.pgm -w dd137 -o c.npy")
        .fails(1, "row 1, column 0 is 101, above the file's maxval of 100");
    bench.write("full.pgm", b"P5\n4 1\n100\n\x64\x64\x64\x64");
    bench.run("transform full.pgm -w legall53 -o c.npy").ok();
    let mut changed = bench.read("c.npy");
    let low = changed.len() - 8;
    changed[low] += 20;
    bench.write("c.npy", changed);
    let run = bench.run("transform c.npy --inverse --force -o back.pgm");
    // Without a hash of the coefficients, --force is not an option.
    let run = if run.code == 2 { bench.run("transform c.npy --inverse -o back.pgm") } else { run }.ok();
    assert!(run.stderr.contains("out of range for 0 to 100, and clamped"), "{}", run.stderr);
    assert!(bench.read("back.pgm")[11..].iter().all(|&x| x <= 100));
}

#[test]
fn bit_maps_text_and_alpha() {
    let bench = Bench::new();
    for (name, file) in [
        ("a.pbm", &b"P4\n10 2\n\xa5\x40\x0f\x80"[..]),
        ("a.pam", b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 9\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n\x01\x09\x05\x00"),
    ] {
        bench.write(name, file);
        bench.run(&format!("transform {name} -w dd137 -o c.npy")).ok();
        bench.run(&format!("transform c.npy --inverse -o back-{name}")).ok();
        assert_eq!(bench.read(&format!("back-{name}")), file, "{name}");
    }
    bench.write("text.pgm", b"P2 3 1 # plain\n500 0 500 250\n");
    let run = bench.run("transform text.pgm -w dd137 -o c.npy").ok();
    assert!(run.stderr.contains("its samples are text (P2), and come back as bytes (P5)"), "{}", run.stderr);
    bench.run("transform c.npy --inverse -o back.pgm").ok();
    assert_eq!(bench.read("back.pgm"), b"P5\n3 1\n500\n\x00\x00\x01\xf4\x00\xfa");
    // Other formats cannot state the value of white.
    let run = bench.run("transform c.npy --inverse -o back.png").ok();
    assert!(run.stderr.contains("samples still range from 0 to 500"), "{}", run.stderr);
    bench.run("transform c.npy --inverse -o back.ppm").fails(1, "the picture is grey");
    bench.write("rgb.ppm", b"P6 1 1 255\n\x01\x02\x03").run("transform rgb.ppm -w dd137 -o c.npy").ok();
    bench.run("transform c.npy --inverse -o back.pgm").fails(1, "PGM is grey, but the picture has colours");
}

#[test]
fn pages_of_a_tiff_are_a_stack() {
    use tiff::encoder::{TiffEncoder, colortype};
    let bench = Bench::new();
    let pages: Vec<Vec<u16>> = (1..=3).map(|p| samples(20 * 13, 1000 * p)).collect();
    let mut file = std::io::Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new_big(&mut file).unwrap();
    pages.iter().for_each(|page| encoder.write_image::<colortype::Gray16>(13, 20, page).unwrap());
    bench.write("stack.tif", file.into_inner());
    let run = bench.run("transform stack.tif -w dd137 -l 2 -o c.npy --picture p.png").ok();
    assert!(run.stdout.contains("3 × 20 × 13 i32"), "{}", run.stdout);
    assert!(run.stderr.contains("only the first of the 3 along axis 0 is drawn"), "{}", run.stderr);
    bench.run("transform c.npy --inverse -o back.tif").ok();
    let back = bench.read("back.tif");
    let mut decoder = tiff::decoder::Decoder::new(std::io::Cursor::new(back)).unwrap();
    for (i, page) in pages.iter().enumerate() {
        decoder.seek_to_image(i).unwrap();
        let tiff::decoder::DecodingResult::U16(v) = decoder.read_image().unwrap() else { panic!("page {i}") };
        assert_eq!(&v, page, "page {i}");
    }
    assert!(!decoder.more_images());
    bench.run("transform c.npy --inverse -o back.png").fails(1, "only TIFF has pages");

    let mut file = std::io::Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap();
    encoder.write_image::<colortype::Gray16>(13, 20, &pages[0]).unwrap();
    encoder.write_image::<colortype::Gray8>(13, 20, &vec![0; 260]).unwrap();
    bench.write("mixed.tif", file.into_inner());
    let message = "page 2 is 20 × 13 uint8, but page 1 is 20 × 13 uint16";
    bench.run("transform mixed.tif -w dd137 -o c.npy").fails(1, message);
}

#[test]
fn every_type_of_tiff() {
    let bench = Bench::new();
    let f = |i: usize| i as f32 / 4.0 - 20.0;
    let kinds: [(Data, &str); 9] = [
        ((0..96).map(|i| i as u8).collect::<Vec<_>>().into(), "legall53"),
        ((0..96).map(|i| i as i8 - 48).collect::<Vec<_>>().into(), "legall53"),
        ((0..96).map(|i| i as i16 * 300 - 9000).collect::<Vec<_>>().into(), "legall53"),
        ((0..96).map(|i| i as u32 * 40_000_000).collect::<Vec<_>>().into(), "legall53"),
        ((0..96).map(|i| i * 9_000_000 - 500).collect::<Vec<i32>>().into(), "legall53"),
        ((0..96).map(|i| i << 40).collect::<Vec<i64>>().into(), "legall53"),
        ((0..96).map(|i| half::f16::from_f32(f(i))).collect::<Vec<_>>().into(), "haar"),
        ((0..96).map(f).collect::<Vec<_>>().into(), "cdf97"),
        ((0..96).map(|i| f64::from(f(i))).collect::<Vec<_>>().into(), "cdf97"),
    ];
    for (data, wavelet) in kinds {
        for (shape, colour, stack) in [
            (vec![12, 8], Colour::Grey, false),
            (vec![2, 6, 8], Colour::Grey, true),
            (vec![4, 12, 2], Colour::GreyAlpha, false),
            (vec![4, 8, 3], Colour::Rgb, false),
            (vec![2, 3, 4, 4], Colour::Rgba, true),
        ] {
            let name = format!("{} {shape:?}", data.element().name());
            let kind = ours::Kind { stack, premultiplied: false, maxval: None };
            bench.write("a.tiff", ours::encode(&shape, colour, data.clone(), kind, &Default::default()).unwrap());
            bench.run(&format!("transform a.tiff -w {wavelet} -o c.npy --picture p.png")).ok();
            bench.run("transform c.npy --inverse -o b.tiff").ok();
            let [a, b] = ["a.tiff", "b.tiff"].map(|n| liftc::media::read(&bench.path(n), None).unwrap());
            assert_eq!((&a.shape, &a.origin), (&b.shape, &b.origin), "{name}");
            assert_eq!(a.shape, shape);
            if !data.element().is_real() {
                assert_eq!(a.data, b.data, "{name}");
            }
            assert_eq!(a.data, data, "{name}");
        }
    }
}

#[test]
fn overflow_is_reported() {
    let bench = Bench::new();
    let f8 = |values: &[f64]| {
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        npy(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", values.len()), &data)
    };
    bench.write("large.npy", f8(&[1.0, 1e300, 2.0, 3.0])).write("nan.npy", f8(&[1.0, f64::NAN, 2.0, 3.0]));
    bench.run("transform large.npy -w cdf97 --sample f32 -o c.npy").fails(1, "holds 1e300, which does not fit f32");
    bench.run("transform large.npy -w cdf97 --sample f16 -o c.npy").fails(1, "which does not fit f16 samples");
    let run = bench.run("transform nan.npy -w cdf97 -o c.npy").ok();
    assert!(run.stderr.contains("1 sample is NaN or infinite, and so becomes"), "{}", run.stderr);
    // The inverse, too.
    let run = bench.run("transform c.npy --inverse -o back.npy").ok();
    assert!(run.stderr.contains("samples are NaN or infinite"), "{}", run.stderr);
    let run = bench.run("transform c.npy --inverse --level 1 -o half.npy").ok();
    assert!(run.stderr.contains("NaN or infinite"), "{}", run.stderr);
    bench.write("edge.npy", f8(&[1.7e308, -1.7e308, 1.7e308, -1.7e308]));
    let run = bench.run("transform edge.npy -w cdf97 -o c.npy").ok();
    assert!(run.stderr.contains("beyond the range of f64"), "{}", run.stderr);
    bench.write("deep.pgm", b"P5\n2 1\n65535\n\xff\xff\x00\x00").write("odd.pgm", b"P5\n2 1\n65535\n\x10\x01\x00\x00");
    bench.run("transform deep.pgm -w cdf97 --sample f16 -o c.npy").fails(1, "holds 65535, which does not fit f16");
    let run = bench.run("transform odd.pgm -w cdf97 --sample f16 -o c.npy").ok();
    assert!(run.stderr.contains("1 of 2 integers are rounded: f16 samples hold 11 bits"), "{}", run.stderr);

    let shades: Vec<u8> = [f32::NAN, 1.0, f32::INFINITY, 0.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    bench.write("p.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", &shades));
    let run = bench.run("transform p.npy -w haar -o c.npy --picture p.png").ok();
    assert!(run.stderr.contains("coefficients are NaN, drawn black"), "{}", run.stderr);
}

#[test]
fn reduced_resolutions_keep_the_brightness() {
    let bench = Bench::new();
    bench.write("flat.pgm", [b"P5\n32 32\n255\n".to_vec(), vec![180; 1024]].concat());
    for wavelet in ["daubechies97", "dd137", "legall53", "fidelity", "cdf97", "haar"] {
        bench.run(&format!("transform flat.pgm -w {wavelet} -l 3 -o c.npy")).ok();
        for level in 1..=3 {
            bench.run(&format!("transform c.npy --inverse --level {level} -o small.pgm")).ok();
            let small = bench.read("small.pgm");
            let pixels = &small[small.len() - (32 >> level) * (32 >> level)..];
            assert!(pixels.iter().all(|x| x.abs_diff(180) <= 2), "{wavelet}, level {level}: {pixels:?}");
        }
    }
}

#[test]
fn losses_of_pictures_are_reported() {
    let bench = Bench::new();
    let chunk = |name: &[u8; 4], data: &[u8]| {
        let body = [&name[..], data].concat();
        let crc = !body
            .iter()
            .fold(!0u32, |crc, &b| (0..8).fold(crc ^ u32::from(b), |c, _| (c >> 1) ^ (0xedb8_8320 * (c & 1))));
        [&(data.len() as u32).to_be_bytes()[..], &body, &crc.to_be_bytes()].concat()
    };
    // Two pixels in a stored block: a filter byte, and a byte of samples.
    let png = |bits: u8, kind: u8, extra: &[Vec<u8>], pixels: u8| {
        let data = [0x78, 1, 1, 2, 0, 0xfd, 0xff, 0, pixels];
        let sum = 1 + u32::from(pixels);
        let adler = ((1 + sum) << 16 | sum).to_be_bytes();
        let head = [0, 0, 0, 2, 0, 0, 0, 1, bits, kind, 0, 0, 0];
        let mut file = [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &head)].concat();
        extra.iter().for_each(|c| file.extend(c));
        [file, chunk(b"IDAT", &[&data[..], &adler].concat()), chunk(b"IEND", &[])].concat()
    };
    let palette = chunk(b"PLTE", &[1, 2, 3, 4, 5, 6]);
    let animated = chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]);
    // A name, a method, and four bytes in a stored block.
    let profile = chunk(b"iCCP", b"p\0\0\x78\x01\x01\x04\0\xfb\xff\0\0\0\0\0\x04\0\x01");
    let turned = chunk(b"eXIf", b"II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0");
    for (name, file, said) in [
        (
            "bits.png",
            png(1, 0, &[chunk(b"tRNS", &[0, 1])], 0x40),
            "its transparent colour becomes an alpha channel; its samples of less than 8 bits are read as 8",
        ),
        ("animated.png", png(1, 0, &[animated], 0x40), "only the first picture of its animation is read"),
        ("profile.png", png(1, 0, &[profile], 0x40), "its ICC colour profile is ignored"),
        ("palette.png", png(1, 3, &[palette], 0x40), "colours of its palette are read as RGB"),
        ("turned.png", png(1, 0, &[turned], 0x40), "turned by 90° clockwise (orientation 6), which is not applied"),
    ] {
        let run = bench.write(name, file).run(&format!("transform {name} -w legall53 -l 0,1 -o c.npy")).ok();
        assert!(run.stderr.contains(said), "{name}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{name}: {}", run.stderr);
    }
}

#[test]
fn output_names_decide_the_format() {
    let bench = Bench::new();
    bench.copy("camera.png");
    bench.run("transform camera.png -w dd137 -o c.png").fails(2, "coefficients are arrays");
    bench.run("transform camera.png -w dd137 -o c.txt").fails(2, "coefficients are arrays");
    bench.run("transform camera.png -w dd137 -o c.npy --picture p.jpg").fails(2, "JPEG would lose");
    assert!(!bench.exists("c.npy"));
    bench.run("transform camera.png -w dd137 -o c.npz --picture p.tiff").ok();
    assert!(bench.read("p.tiff").starts_with(b"II\x2a\0") && bench.read("c.npz").starts_with(b"PK"));
    bench.run("transform c.npz --inverse -o back.png").ok();
    let [a, b] = ["camera.png", "back.png"].map(|name| liftc::media::read(&bench.path(name), None).unwrap());
    assert_eq!((a.shape, a.data), (b.shape, b.data));

    // Only `.npz` files have named arrays.
    bench
        .run("transform camera.png --array a -w dd137 -o d.npy")
        .fails(2, "camera.png: is not a .npz file, so it has no array `a`");
    bench.run("transform c.npz --inverse -o d.npy").ok();
    bench
        .run("transform d.npy --array a -w dd137 -o e.npy")
        .fails(2, "d.npy: is not a .npz file, so it has no array `a`");

    // The array's name is preserved. It may be given with numpy's extension.
    bench.copy("brain.npz");
    bench.run("transform brain.npz --array volume.npy -w dd137 -o v.npz").ok();
    bench.run("transform v.npz --inverse -o back.npz").ok();
    let [a, b] = ["brain.npz", "back.npz"].map(|n| liftc::media::read(&bench.path(n), Some("volume")).unwrap());
    assert_eq!(a, b);
}

#[test]
fn arrays_of_eight_axes_and_large_ones() {
    let bench = Bench::new();
    bench.write("a.npy", npy_i16("(2, 3, 1, 4, 2, 1, 3, 2)", 0..288));
    bench.run("transform a.npy -w dd137 -o c.npy").ok();
    bench.run("transform c.npy --inverse -o b.npy").ok();
    let [a, b] = ["a.npy", "b.npy"].map(|n| liftc::media::read(&bench.path(n), None).unwrap());
    assert_eq!(a, b);
    // Files of 16 MiB or more are mapped if samples are aligned, and read otherwise.
    for shape in ["(2100, 4100)", "( 2100, 4100)", "(2100,  4100)"] {
        let large = npy_i16(shape, (0..2100 * 4100u64).map(|i| (i * 7919) as i16 >> 3));
        bench.write("large.npy", &large);
        bench.run("transform large.npy -w legall53 -l 2 -o c.npy").ok();
        bench.run("transform c.npy --inverse -o b.npy").ok();
        let back = bench.read("b.npy");
        assert!(back[128..] == large[large.len() - 2 * 2100 * 4100..], "{shape}");
    }
}

#[test]
fn unsupported_elements_have_advice() {
    let bench = Bench::new();
    for (descr, way) in [
        ("<c16", "np.stack([a.real, a.imag], -1)"),
        ("|b1", "a.astype(np.uint8)"),
        ("<u8", "a.astype(np.int64)"),
        ("<f16", "a.astype(np.float64)"),
        ("<M8[s]", "a.astype(np.int64)"),
    ] {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (4,), }}");
        bench.write("a.npy", npy(&dict, &[0; 64])).run("transform a.npy -w dd137 -o c.npy").fails(1, way);
    }
}

/// JPEGs that decoders accept although parts are missing or wrong.
#[test]
fn damaged_jpegs_are_refused() {
    let bench = Bench::new();
    let mut baseline = Cursor::new(Vec::new());
    image::open(data_file("chelsea.png")).unwrap().write_to(&mut baseline, ImageFormat::Jpeg).unwrap();
    for (name, jpeg) in [
        ("baseline.jpg", baseline.into_inner()),
        ("progressive.jpg", std::fs::read(data_file("progressive.jpg")).unwrap()),
    ] {
        bench.write(name, &jpeg).run(&format!("encode {name} -o whole.lpc")).ok();
        // Any cut, down to the headers.
        let scan = jpeg.windows(2).position(|marker| marker == [0xff, 0xda]).unwrap();
        let lengths = (1..=40).map(|part| scan + (jpeg.len() - scan) * part / 41);
        for length in lengths {
            let damage = liftc::media::jpeg::check(&jpeg[..length]);
            assert!(damage.is_err(), "{name}: {length} of {} bytes", jpeg.len());
        }
        // Bits of the scans: many flips lead to other valid values, which nothing can tell.
        let flips = (0..400).map(|flip| (scan + 14 + flip * 7919 % (jpeg.len() - scan - 16), 1 << (flip % 8)));
        let found = flips.filter(|&(at, bit)| {
            let mut flipped = jpeg.clone();
            flipped[at] ^= bit;
            liftc::media::jpeg::check(&flipped).is_err()
        });
        assert!(found.count() > 40, "{name}");
        let cut = &jpeg[..scan + (jpeg.len() - scan) / 2];
        let out = format!("{name}.lpc");
        let run = bench.write("cut.jpg", cut).run(&format!("encode cut.jpg -o {out}"));
        run.fails(1, "cut.jpg: the JPEG is damaged");
        assert!(!bench.exists(&out));
        bench.run("transform cut.jpg -w legall53 -o cut.npy").fails(1, "the JPEG is damaged");
        let run = bench.run("transform cut.jpg -w legall53 -o cut.npy --salvage").ok();
        assert!(run.stderr.contains("and parts of it may be wrong"), "{}", run.stderr);
        bench.run(&format!("encode cut.jpg -o {out} --salvage")).fails(1, "cannot be encoded without loss");
        bench.run(&format!("encode cut.jpg -o {out} --salvage --quality 60")).ok();
    }
}

/// Little-endian grey TIFF of `width` columns, with the strips of 8 rows each. `compression` is a number of TIFF.
fn strips(width: u32, compression: u32, tables: &[u8], strips: &[&[u8]]) -> Vec<u8> {
    let place =
        |from: usize| strips.iter().scan(from, |at, strip| Some(std::mem::replace(at, *at + strip.len()) as u32));
    let count = strips.len() as u32;
    let (offsets, lengths, samples) = (200u32, 200 + 4 * count, 200 + 8 * count);
    let tables_at = samples + strips.iter().map(|strip| strip.len() as u32).sum::<u32>();
    let mut entries = vec![
        (256u16, 4u16, 1u32, width),
        (257, 4, 1, 8 * count),
        (258, 4, 1, 8),
        (259, 4, 1, compression),
        (262, 4, 1, 1),
        (273, 4, count, offsets),
        (277, 4, 1, 1),
        (278, 4, 1, 8),
        (279, 4, count, lengths),
    ];
    if !tables.is_empty() {
        entries.push((347, 7, tables.len() as u32, tables_at));
    }
    let mut file = b"II\x2a\0\x08\0\0\0".to_vec();
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, count, value) in entries {
        file.extend([&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &value.to_le_bytes()].concat());
    }
    file.resize(offsets as usize, 0);
    file.extend(place(samples as usize).flat_map(u32::to_le_bytes));
    file.extend(strips.iter().flat_map(|strip| (strip.len() as u32).to_le_bytes()));
    file.extend(strips.concat());
    file.extend(tables);
    file
}

/// Decoders fill damaged strips with grey, with tables of their own or shared ones.
#[test]
fn damaged_jpegs_in_tiffs_are_refused() {
    let bench = Bench::new();
    let jpeg = |seed: u32| {
        let pixels = image::GrayImage::from_fn(64, 8, |x, y| image::Luma([(x * x * seed + y * 37) as u8]));
        let mut file = Cursor::new(Vec::new());
        image::DynamicImage::from(pixels).write_to(&mut file, ImageFormat::Jpeg).unwrap();
        file.into_inner()
    };
    let (first, second) = (jpeg(3), jpeg(5));
    // Segments of tables, which all strips share.
    let mut tables = vec![0xff, 0xd8];
    let [mut short, mut shorter] = [vec![0xff, 0xd8], vec![0xff, 0xd8]];
    for (jpeg, rest) in [(&first, &mut short), (&second, &mut shorter)] {
        let (mut at, mut own) = (2, vec![0xff, 0xd8]);
        while jpeg[at + 1] != 0xda {
            let end = at + 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
            let part = if matches!(jpeg[at + 1], 0xdb | 0xc4) { &mut own } else { &mut *rest };
            part.extend(&jpeg[at..end]);
            at = end;
        }
        rest.extend(&jpeg[at..]);
        tables = own;
    }
    tables.extend([0xff, 0xd9]);
    let whole = strips(64, 7, &[], &[&first, &second]);
    let shared = strips(64, 7, &tables, &[&short, &shorter]);
    for (name, file) in [("whole.tif", &whole), ("shared.tif", &shared)] {
        bench.write(name, file).run(&format!("encode {name} -o a.lpc -l 0")).ok();
    }
    let cut = &second[..second.len() - 20];
    for (name, file) in [
        ("cut.tif", strips(64, 7, &[], &[&first, cut])),
        ("cut.tif", strips(64, 7, &tables, &[&short, &shorter[..shorter.len() - 20]])),
    ] {
        bench.write(name, file);
        bench.run("encode cut.tif -o b.lpc -l 0").fails(1, "cut.tif: the JPEG of strip 2 is damaged: ");
        bench.run("transform cut.tif -w legall53 -l 0 -o b.npy").fails(1, "the JPEG of strip 2 is damaged");
        assert!(!bench.exists("b.lpc") && !bench.exists("b.npy"));
        let run = bench.run("transform cut.tif -w legall53 -l 0 -o b.npy --salvage");
        run.ok();
        bench.run("encode cut.tif -o b.lpc -l 0 --salvage").fails(1, "cannot be encoded without loss");
        std::fs::remove_file(bench.path("b.npy")).unwrap();
    }
}

/// Files that are cut short, or are of two kinds, say so.
#[test]
fn truncated_tiffs_and_dicom_are_named() {
    let bench = Bench::new();
    let file = strips(64, 1, &[], &[&[1; 512], &[2; 512]]);
    bench.write("a.tif", &file).run("encode a.tif -o a.lpc -l 0").ok();
    let said = format!("strip 2 of 2 ends at byte {}, but the file has {} bytes", file.len(), file.len() - 100);
    bench.write("a.tif", &file[..file.len() - 100]).run("encode a.tif -o b.lpc").fails(1, &said);
    let said = "is cut short: the TIFF refers to data beyond its 40 bytes";
    bench.write("a.tif", &file[..40]).run("encode a.tif -o b.lpc").fails(1, said);
    let mut dicom = vec![0; 300];
    dicom[128..132].copy_from_slice(b"DICM");
    bench.write("a.dcm", &dicom).run("encode a.dcm -o b.lpc").fails(1, "a.dcm: is a DICOM file, which is not read");
    dicom[..8].copy_from_slice(b"II\x2a\0\x08\0\0\0");
    bench.write("a.dcm", &dicom).run("encode a.dcm -o b.lpc").fails(1, "is a DICOM file with a TIFF's header");
}

/// Little-endian TIFF of 2 × 1 pixels of 8 bits, with additional `tags`.
fn small_tiff(channels: u16, samples: &[u8], tags: &[(u16, u16, u32)]) -> Vec<u8> {
    let photometric = if channels < 3 { 1 } else { 2 };
    let mut entries = vec![
        (256u16, 4u16, 2u32),
        (257, 4, 1),
        (258, 3, 8),
        (259, 3, 1),
        (262, 3, photometric),
        (273, 4, 8),
        (277, 3, channels.into()),
        (278, 4, 1),
        (279, 4, samples.len() as u32),
    ];
    entries.extend(tags);
    entries.sort();
    let mut file = b"II\x2a\0".to_vec();
    // Bits of each channel follow the samples.
    let bits_at = 8 + samples.len() as u32;
    let directory = bits_at + 2 * u32::from(channels);
    file.extend((directory + directory % 2).to_le_bytes());
    file.extend(samples);
    (0..channels).for_each(|_| file.extend([8, 0]));
    file.extend(vec![0; (directory % 2) as usize]);
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, value) in entries {
        let is_bits = tag == 258;
        let count = if is_bits { u32::from(channels) } else { 1 };
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(count.to_le_bytes());
        file.extend(
            if is_bits && channels > 2 {
                bits_at
            } else if is_bits {
                8 | 8 << 16
            } else {
                value
            }
            .to_le_bytes(),
        );
    }
    file.extend([0; 4]);
    file
}

/// Colours multiplied by alpha stay so in TIFFs, and are divided elsewhere: 64 of 128 is 128 over white 191.
#[test]
fn premultiplied_alpha_keeps_its_meaning() {
    let bench = Bench::new();
    let file = small_tiff(4, &[64, 64, 64, 128, 10, 20, 30, 255], &[(338, 3, 1)]);
    let run = bench.write("a.tif", file).run("transform a.tif -w legall53 -l 0 -o c.npy").ok();
    assert!(run.stderr.contains("its colours are premultiplied by alpha"), "{}", run.stderr);
    bench.run("transform c.npy --inverse -o back.tif").ok();
    let back = liftc::media::read(&bench.path("back.tif"), None).unwrap();
    assert!(back.origin.is_premultiplied());
    assert_eq!(back.data.native_bytes(), [64, 64, 64, 128, 10, 20, 30, 255]);
    let run = bench.run("transform c.npy --inverse -o back.png").ok();
    assert!(run.stderr.contains("its colours are divided by alpha"), "{}", run.stderr);
    let straight = [128, 128, 128, 128, 10, 20, 30, 255];
    assert_eq!(image::open(bench.path("back.png")).unwrap().into_rgba8().into_raw(), straight);
    // Over white, in whole numbers.
    assert_eq!((128 * 128 + 255 * (255 - 128) + 127) / 255, 191);

    bench.run("encode a.tif -o a.lpc -l 0").fails(1, "cannot be encoded without loss: its colours are divided");
    bench.run("encode a.tif -o a.lpc -l 0 --quality 100").ok();
    bench.run("decode a.lpc -o a.png").ok();
    let decoded = image::open(bench.path("a.png")).unwrap().into_rgba8().into_raw();
    assert!(decoded.iter().zip(straight).all(|(a, b)| a.abs_diff(b) <= 2), "{decoded:?}");
}

/// Lossless coding of a part of the channels is none.
#[test]
fn lossless_coding_refuses_what_it_would_lose() {
    let bench = Bench::new();
    let file = small_tiff(5, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], &[(338, 3, 0)]);
    bench.write("five.tif", file);
    let run = bench.run("encode five.tif -o a.lpc -l 0 --lossless");
    run.fails(1, "cannot be encoded without loss: channels beyond its colours are ignored");
    bench.run("encode five.tif -o a.lpc -l 0").fails(1, "cannot be encoded without loss");
    bench.run("encode five.tif -o a.lpc -l 0 --quality 90").ok();
    bench.run("encode five.tif -o a.lpc -l 0 --lossless --drop channels").ok();
}

#[test]
fn ignored_metadata_of_tiffs_is_one_note() {
    let bench = Bench::new();
    let tags = [(700, 1, 0), (34665, 4, 0), (34853, 4, 0), (42113, 2, 0)];
    bench.write("tags.tif", small_tiff(1, &[1, 2], &tags));
    let run = bench.run("encode tags.tif -o a.lpc -l 0").ok();
    let said = "its EXIF and GPS position are ignored";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

/// Large arrays are transformed in place, with the same coefficients.
#[test]
fn large_arrays_have_the_coefficients_of_small_ones() {
    let bench = Bench::new();
    let (rows, columns) = (4200, 4200);
    let data: Vec<u8> =
        (0..rows * columns).flat_map(|i| (((i as u32).wrapping_mul(40503) >> 8) as u16).to_le_bytes()).collect();
    let array = |rows: usize| {
        let dict = format!("{{'descr': '<u2', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
        let padding = " ".repeat(117 - dict.len());
        npy(&format!("{dict}{padding}\n"), &data[..2 * rows * columns])
    };
    bench.write("whole.npy", array(rows)).write("half.npy", array(rows / 2));
    bench.run("transform whole.npy -w legall53 -l 3 --axes 1 -o c.npy --threads 2").ok();
    bench.run("transform half.npy -w legall53 -l 3 --axes 1 -o d.npy --threads 2").ok();
    let [c, d] = ["c.npy", "d.npy"].map(|name| bench.read(name)[128..].to_vec());
    assert!(c[..d.len()] == d, "both have the same coefficients");
    bench.run("transform c.npy --inverse -o back.npy --threads 2").ok();
    assert!(bench.read("back.npy")[128..] == data);
}

/// Grey samples of 1, 2 and 4 bits keep their depth: through coefficients, through streams, and between formats.
#[test]
fn pictures_of_few_bits_keep_their_depth() {
    let bench = Bench::new();
    for (bits, depth) in [(1u8, png::BitDepth::One), (2, png::BitDepth::Two), (4, png::BitDepth::Four)] {
        let (width, height) = (13u32, 70u32);
        let row = (width as usize * usize::from(bits)).div_ceil(8);
        // Unused bits at the ends of rows are 0.
        let unused = 8 * row - width as usize * usize::from(bits);
        let mut packed: Vec<u8> = (0..row * height as usize).map(|i| (i * i * 37 % 251) as u8).collect();
        packed.chunks_mut(row).for_each(|row| *row.last_mut().unwrap() &= 0xff << unused);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(depth);
        encoder.write_header().unwrap().write_image_data(&packed).unwrap();
        bench.write("a.png", &file);
        let white = (1 << bits) - 1;
        let array = liftc::media::read(&bench.path("a.png"), None).unwrap();
        assert_eq!((array.origin.maxval(), &array.notes[..]), (Some(white), &[][..]));

        let samples = |name: &str| {
            let mut decoder = png::Decoder::new(std::io::Cursor::new(bench.read(name)));
            decoder.set_transformations(png::Transformations::IDENTITY);
            let mut reader = decoder.read_info().unwrap();
            let mut samples = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut samples).unwrap();
            assert_eq!((info.bit_depth, info.color_type), (depth, png::ColorType::Grayscale), "{name}");
            samples
        };
        assert_eq!(bench.run("transform a.png -w legall53 -l 2 -o c.npy").ok().stderr, "");
        assert_eq!(bench.run("transform c.npy --inverse -o back.png").ok().stderr, "");
        assert_eq!(samples("back.png"), packed);
        let run = bench.run("encode a.png -l 2 -o a.lpc").ok();
        assert!(run.stderr.is_empty() && run.stdout.contains(&format!("of {bits}\n")), "{run:?}");
        assert_eq!(bench.run("decode a.lpc -o back.png").ok().stderr, "");
        assert_eq!(samples("back.png"), packed);
        // TIFF and netpbm record the depth, too.
        for name in ["b.tiff", "b.pgm"] {
            assert_eq!(bench.run(&format!("decode a.lpc -o {name}")).ok().stderr, "");
            let read = liftc::media::read(&bench.path(name), None).unwrap();
            assert_eq!((read.origin.maxval(), &read.data), (Some(white), &array.data), "{name}");
            assert!(read.notes.is_empty(), "{name}: {:?}", read.notes);
            bench.run(&format!("encode {name} -l 2 -o b.lpc")).ok();
            bench.run("decode b.lpc -o b.png").ok();
            assert_eq!(samples("b.png"), packed);
        }
    }
    // Pages of a stack keep it; colours have no format of few bits, so the white level gets lost.
    let picture = |stack: bool, colour, shape: &[usize]| liftc::media::image::Picture {
        shape: shape.to_vec(),
        colour,
        data: (0..shape.iter().product()).map(|i: usize| (i * 7 % 16) as u8).collect::<Vec<_>>().into(),
        maxval: Some(15),
        stack,
        premultiplied: false,
        metadata: Default::default(),
    };
    use liftc::media::{Colour, image::Format};
    for (stack, colour, shape) in [(true, Colour::Grey, &[2, 5, 7][..]), (false, Colour::Rgb, &[3, 5, 3])] {
        let picture = picture(stack, colour, shape);
        assert_eq!([Format::Tiff, Format::Png].map(|format| picture.keeps_white(format)), [stack; 2]);
        let data = picture.data.clone();
        bench.write("few.tiff", picture.encode(Format::Tiff).unwrap());
        let read = liftc::media::read(&bench.path("few.tiff"), None).unwrap();
        let maxval = stack.then_some(15);
        assert_eq!((read.shape.as_slice(), read.data, read.origin.maxval()), (shape, data, maxval));
    }
}
