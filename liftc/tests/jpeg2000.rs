//! `encode`, `decode`, `transcode` and `info` of JPEG 2000 and HTJ2K.

use crate::common::{Bench, npy};

#[test]
fn pictures_come_back_from_every_format() {
    let bench = Bench::new();
    bench.copy("chelsea.png");
    bench.run("transform chelsea.png -w haar -o wanted.npy -q").ok();
    for format in ["jph", "j2c", "jp2", "j2k"] {
        let said =
            bench.run(&format!("encode chelsea.png -o a.{format} -l 4 --block 32x64 --tile 128x200")).ok().stdout;
        assert!(said.contains("300 × 451 × 3 in"), "{said}");
        bench.run(&format!("decode a.{format} -o back.png")).ok();
        bench.run("transform back.png -w haar -o back.npy -q").ok();
        assert_eq!(bench.read("wanted.npy"), bench.read("back.npy"), "{format}");
        bench.run(&format!("decode a.{format} --level 2 -o quarter.png")).ok();
        bench.run(&format!("decode a.{format} --region 10,20,30,40 -o part.png")).ok();
        bench.run(&format!("decode a.{format} --level 5 -o x.png")).fails(2, "levels 0 (full size) to 4");
    }
}

#[test]
fn targets_and_formats_are_checked() {
    let bench = Bench::new();
    bench.copy("camera.png");
    bench.run("encode camera.png --bpp 1 -o a.jph").ok();
    assert!(bench.read("a.jph").len() <= 32768 + 200);
    bench.run("encode camera.png --quality 80 -o a.jp2 --layers 4").ok();
    bench.run("decode a.jp2 --layers 1 -o rough.png").ok();
    for (options, said) in [
        ("-w dd137", "do not know other wavelets"),
        ("--fit", "do not know --fit"),
        ("--passes 3", "do not know --passes"),
        ("--fast 2", "do not know --fast"),
        ("--layers 3", "HTJ2K"),
        ("--quality 101", "1 to 100"),
        ("--device cuda", "coded on the processor"),
    ] {
        bench.run(&format!("encode camera.png {options} -o x.jph")).fails(2, said);
    }
    bench.run("encode camera.png --format jp2 -o x.jph").fails(2, "contradicts --format jp2");
}

#[test]
fn transcoding_keeps_the_picture() {
    let bench = Bench::new();
    bench.copy("camera.png");
    bench.run("encode camera.png --psnr 38 -o a.jp2").ok();
    bench.run("decode a.jp2 -o a.png").ok();
    let said = bench.run("transcode a.jp2 -o b.jph").ok().stdout;
    assert!(said.starts_with("b.jph: ") && said.contains(" % of "), "{said}");
    bench.run("decode b.jph -o b.png").ok();
    assert_eq!(bench.read("a.png"), bench.read("b.png"));
    bench.run("transcode b.jph -o c.j2k").ok();
    bench.run("decode c.j2k -o c.png").ok();
    assert_eq!(bench.read("a.png"), bench.read("c.png"));
    bench.run("transcode a.jp2 -o x.png").fails(2, "not a format of JPEG 2000");
    bench.run("transcode a.png -o x.jph").fails(1, "not JPEG 2000");
    bench.run("transcode a.jp2 -o x.lpc").fails(2, "decode and encode");
}

#[test]
fn streams_are_described() {
    let bench = Bench::new();
    bench.copy("chelsea.png");
    bench.run("encode chelsea.png -o a.jph").ok();
    let said = bench.run("info a.jph").ok().stdout;
    for line in [
        "file         jph, colours: ICC profile of 3144 bytes\n",
        "box          uuid of XMP, 3116 bytes\n",
        "picture      300 × 451\n",
        "comp. 0 – 2  300 × 451 of 8 bits\n",
        "coder        HTJ2K (Part 15)\n",
        "wavelet      5 × legall53\n",
        "CAP, 8 bytes\n",
    ] {
        assert!(said.contains(line), "{line:?} is not in\n{said}");
    }
    bench.write("cut.jph", &bench.read("a.jph")[..60_000]);
    assert!(bench.run("info cut.jph").ok().stdout.contains("no end marker"));
    bench.run("decode cut.jph -o cut.png").fails(3, "cut.jph: the stream ends early");
    let note = bench.run("decode cut.jph -o cut.png --salvage").ok().stderr;
    assert!(note.contains("ends early"), "{note}");
}

/// Colour profile, EXIF and XMP go through a file to a PNG; a codestream and other pictures lack them, and say so.
#[test]
fn files_keep_metadata() {
    let bench = Bench::new();
    let mut profile = vec![7; 200];
    profile[16..20].copy_from_slice(b"RGB ");
    let mut info = png::Info::with_size(20, 30);
    info.icc_profile = Some(profile.clone().into());
    info.exif_metadata = Some(b"II\x2a\0\x08\0\0\0\0\0"[..].into());
    info.utf8_text.push(png::text_metadata::ITXtChunk::new("XML:com.adobe.xmp", "<x/>"));
    info.color_type = png::ColorType::Rgb;
    let mut file = Vec::new();
    let mut writer = png::Encoder::with_info(&mut file, info).unwrap().write_header().unwrap();
    writer.write_image_data(&[9; 20 * 30 * 3]).unwrap();
    writer.finish().unwrap();
    bench.write("a.png", file);
    for name in ["a.jph", "a.jp2", "a.lpc"] {
        assert_eq!(bench.run(&format!("encode a.png -o {name}")).ok().stderr, "");
        assert_eq!(bench.run(&format!("decode {name} -o b.png")).ok().stderr, "");
        let back = bench.read("b.png");
        let reader = png::Decoder::new(std::io::Cursor::new(back)).read_info().unwrap();
        let info = reader.info();
        assert_eq!(info.icc_profile.as_deref(), Some(&profile[..]));
        assert_eq!(info.exif_metadata.as_deref(), Some(&b"II\x2a\0\x08\0\0\0\0\0"[..]));
        assert_eq!(info.utf8_text[0].get_text().unwrap(), "<x/>");
    }
    let said = bench.run("encode a.png -o a.j2c").ok().stderr;
    assert!(said.contains("its EXIF, XMP and ICC colour profile are ignored"), "{said}");
    let said = bench.run("decode a.jph -o b.ppm").ok().stderr;
    assert!(said.contains("its ICC colour profile, EXIF and XMP are ignored; .png keeps"), "{said}");
    bench.run("encode a.png -o c.jph --colour none").ok();
    assert!(!bench.run("info c.jph").ok().stdout.contains("ICC"));
}

/// Samples of more than 8 bits with a sign, and alpha.
#[test]
fn arrays_keep_their_type() {
    let bench = Bench::new();
    let data: Vec<u8> = (0..20 * 30 * 2i32).flat_map(|i| ((i * 97 % 4001 - 2000) as i16).to_le_bytes()).collect();
    let text = "{'descr': '<i2', 'fortran_order': False, 'shape': (20, 30, 2), }";
    bench.write("a.npy", npy(text, &data));
    for format in ["jph", "j2k"] {
        bench.run(&format!("encode a.npy -o a.{format}")).ok();
        bench.run(&format!("decode a.{format} -o b.npy")).ok();
        assert_eq!(bench.read("a.npy")[bench.read("a.npy").len() - data.len()..], bench.read("b.npy")[128..]);
    }
}
