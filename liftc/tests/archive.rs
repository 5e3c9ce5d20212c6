//! Streams for archives: metadata, what is left behind, files on servers, and bounded memory.

use crate::common::{Bench, npy};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// TIFF of 2 × 1 bytes with these tags: number, type, count, and values in little-endian order.
fn tiff(tags: &[(u16, u16, u32, Vec<u8>)]) -> Vec<u8> {
    let word = |n: u32| n.to_le_bytes().to_vec();
    let short = |n: u16| vec![n as u8, (n >> 8) as u8, 0, 0];
    let mut all = vec![
        (256, 3, 1, short(2)),
        (257, 3, 1, short(1)),
        (258, 3, 1, short(8)),
        (259, 3, 1, short(1)),
        (262, 3, 1, short(1)),
        (273, 4, 1, word(8)),
        (277, 3, 1, short(1)),
        (278, 3, 1, short(1)),
        (279, 4, 1, word(2)),
    ];
    all.extend_from_slice(tags);
    all.sort_by_key(|tag| tag.0);
    let mut file = b"II\x2a\0\x0a\0\0\0\x01\x02".to_vec();
    file.extend((all.len() as u16).to_le_bytes());
    let mut values = Vec::new();
    let end = 12 + 12 * all.len() + 4;
    for (number, kind, count, bytes) in all {
        file.extend([number.to_le_bytes(), kind.to_le_bytes()].concat());
        file.extend(word(count));
        if bytes.len() <= 4 {
            file.extend([bytes, vec![0; 4]].concat()[..4].to_vec());
        } else {
            file.extend(word((end + values.len()) as u32));
            values.extend(bytes);
        }
    }
    file.extend(word(0));
    [file, values].concat()
}

/// Value of a tag in a file's first directory.
fn tag(file: &[u8], number: u16) -> tiff::decoder::ifd::Value {
    let mut decoder = tiff::decoder::Decoder::new(std::io::Cursor::new(file)).unwrap();
    decoder.get_tag(tiff::tags::Tag::from_u16_exhaustive(number)).unwrap()
}

/// Profiles, texts and georeferences of a TIFF come back, bit for bit.
#[test]
fn tags_of_tiffs_come_back() {
    let bench = Bench::new();
    let doubles: Vec<u8> = [0.25f64, -0.1, 1e300].iter().flat_map(|x| x.to_le_bytes()).collect();
    let tags = [
        (33550, 12, 3, doubles),
        (34735, 3, 4, vec![1, 0, 1, 0, 0, 0, 9, 4]),
        (34737, 2, 7, b"WGS 84\0".to_vec()),
        (42113, 2, 6, b"-9999\0".to_vec()),
        (282, 5, 1, vec![44, 1, 0, 0, 7, 0, 0, 0]),
        (296, 3, 1, vec![2, 0]),
        (34675, 7, 6, vec![5; 6]),
        (700, 1, 4, b"<x/>".to_vec()),
    ];
    bench.write("a.tif", tiff(&tags));
    let said = bench.run("encode a.tif -o a.lpc -l 0 --lossless").ok().stderr;
    assert_eq!(said, "");
    assert_eq!(bench.run("decode a.lpc -o b.tif").ok().stderr, "");
    let (before, after) = (bench.read("a.tif"), bench.read("b.tif"));
    for (number, ..) in &tags {
        assert_eq!(tag(&before, *number), tag(&after, *number), "{number}");
    }
    assert_eq!(liftc::media::read(&bench.path("b.tif"), None).unwrap().data.native_bytes(), [1, 2]);
    let said = bench.run("decode a.lpc -o b.png").ok().stderr;
    assert!(said.contains("its TIFF tags is ignored"), "{said}");
    let said = bench.run("info a.lpc").ok().stdout;
    assert!(said.contains("metadata     ICC colour profile, XMP, TIFF tags: "), "{said}");
    // Left behind on request.
    bench.run("encode a.tif -o b.lpc -l 0 --lossless --drop metadata").ok();
    assert!(bench.read("b.lpc").len() < 80);
    // A stream that ends in its metadata has no picture.
    bench.write("cut.lpc", &bench.read("a.lpc")[..90]);
    bench.run("decode cut.lpc -o c.png").fails(3, "the stream ends early");
    bench.run("decode cut.lpc -o c.png --salvage").ok();
}

/// With `--lossless`, metadata that the stream does not keep is a loss.
#[test]
fn losses_are_named() {
    let bench = Bench::new();
    bench.write("a.tif", tiff(&[(34665, 4, 1, vec![8, 0, 0, 0])]));
    bench.run("encode a.tif -o a.lpc -l 0").ok();
    let said = bench.run("encode a.tif -o a.lpc -l 0 --lossless").fails(1, "without loss: its EXIF is ignored").stderr;
    assert!(said.contains("--drop metadata"), "{said}");
    bench.run("encode a.tif -o a.lpc -l 0 --lossless --drop metadata").ok();
    bench.run("encode a.tif -o a.lpc -l 0 --drop colours").fails(2, "alpha, channels, cmyk, damage, metadata, pages");
}

/// Server of one file by ranges, with a counter of the bytes that it sent.
fn serve(file: Vec<u8>) -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let (port, sent) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU64::new(0)));
    let counter = sent.clone();
    let answer = move |mut stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
        let path = lines.next().unwrap_or_default();
        let mut range = None;
        for line in lines.take_while(|line| !line.is_empty()) {
            let numbers = line.strip_prefix("Range: bytes=").and_then(|range| range.split_once('-'));
            range = range.or(numbers.map(|(a, b)| (a.parse::<usize>().unwrap(), b.parse::<usize>().unwrap())));
        }
        let (first, last) = range.unwrap();
        let last = last.min(file.len() - 1);
        let head = match path.starts_with("GET /a.lpc ") {
            true => format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{last}/{}\r\nContent-Length: {}\r\n\r\n",
                file.len(),
                last + 1 - first
            ),
            false if path.starts_with("GET /whole ") => "HTTP/1.0 200 OK\r\n\r\n".into(),
            false => "HTTP/1.1 404 Not Found\r\n\r\n".into(),
        };
        stream.write_all(head.as_bytes()).unwrap();
        if head.contains("206") {
            counter.fetch_add((last + 1 - first) as u64, Ordering::Relaxed);
            stream.write_all(&file[first..=last]).unwrap();
        }
    };
    std::thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(answer));
    (port, sent)
}

/// Array of 16 bits as `.npy`.
fn large(height: usize, width: usize) -> Vec<u8> {
    let noise = |i: usize| (i as u32).wrapping_mul(2_654_435_761) >> 27;
    let sample = |i: usize| ((i % width) * 7 + (i / width) * 5) as u16 + noise(i) as u16;
    let samples: Vec<u8> = (0..height * width).flat_map(|i| sample(i).to_le_bytes()).collect();
    npy(&format!("{{'descr': '<u2', 'fortran_order': False, 'shape': ({height}, {width}), }}"), &samples)
}

/// A region of a file on a server takes a small part of it.
#[test]
fn regions_of_servers_are_read_by_ranges() {
    let bench = Bench::new();
    bench.write("a.npy", large(1500, 1600));
    bench.run("encode a.npy -o a.lpc --tile 128x128").ok();
    bench.run("decode a.lpc --region 700,800,90,100 -o file.npy").ok();
    let stream = bench.read("a.lpc");
    let (port, sent) = serve(stream.clone());
    bench.run(&format!("decode http://127.0.0.1:{port}/a.lpc --region 700,800,90,100 -o part.npy")).ok();
    assert_eq!(bench.read("part.npy"), bench.read("file.npy"));
    let sent = sent.load(Ordering::Relaxed);
    assert!(sent > 1000 && sent * 14 < stream.len() as u64, "{sent} of {} bytes", stream.len());
    for (address, said) in [
        (format!("http://127.0.0.1:{port}/b.lpc"), "the server answers with status 404"),
        (format!("http://127.0.0.1:{port}/whole"), "the server does not serve ranges"),
        ("https://127.0.0.1/a.lpc".into(), "only addresses of http:// can be read"),
        ("http://127.0.0.1:1/a.lpc".into(), "cannot read"),
    ] {
        bench.run(&format!("decode {address} -o x.npy")).fails(1, said);
        assert!(!bench.exists("x.npy"));
    }
}

/// Pictures that need more than `--memory` go by rows, with the same samples.
#[test]
fn memory_is_bounded() {
    let bench = Bench::new();
    bench.write("a.npy", large(3000, 1000));
    bench.run("encode a.npy -o a.lpc --memory 60M").ok();
    let said = bench.run("info a.lpc").ok().stdout;
    assert!(said.contains("tiles        512 × 512") && said.contains("order        by rows of tiles"), "{said}");
    bench.run("decode a.lpc -o b.npy --memory 60M").ok();
    assert!(bench.read("a.npy").ends_with(&bench.read("b.npy")[128..]), "the samples differ");
    bench.run("decode a.lpc -o c.pgm --memory 60M --level 1").ok();
    bench.run("decode a.lpc -o d.pgm --level 1").ok();
    assert_eq!(bench.read("c.pgm"), bench.read("d.pgm"));
    bench.run("decode a.lpc -o e.npy --memory 60M --region 500,30,2300,900").ok();
    bench.run("decode a.lpc -o f.npy --region 500,30,2300,900").ok();
    assert_eq!(bench.read("e.npy"), bench.read("f.npy"));
    // Sources of rows.
    bench.run("decode a.lpc -o a.pgm").ok();
    bench.run("decode a.lpc -o a.tif").ok();
    for source in ["a.pgm", "a.tif"] {
        bench.run(&format!("encode {source} -o s.lpc --memory 60M")).ok();
        assert_eq!(bench.read("s.lpc"), bench.read("a.lpc"), "{source}");
    }
    bench.run("encode a.pgm -o q.lpc --memory 60M --quality 90").ok();
    bench.run("decode a.lpc -o a.png").ok();
    for (line, code, said) in [
        ("encode a.npy -o x.lpc --memory 60M --psnr 40", 2, "cannot be encoded by rows with a PSNR"),
        ("encode a.npy -o x.lpc --memory 1M", 1, "and --memory allows 1"),
        ("encode a.png -o x.lpc --memory 60M", 1, "convert it to .pgm, .ppm, .npy or TIFF"),
        ("decode a.lpc -o x.png --memory 60M", 2, "write .pgm, .ppm, .pam or .npy"),
        ("decode a.lpc -o x.npy --memory 1M", 1, "and --memory allows 1"),
        ("decode a.lpc -o x.npy --memory 1X", 2, "write bytes as 512M or 2G"),
    ] {
        bench.run(line).fails(code, said);
        assert!(!bench.exists("x.lpc") && !bench.exists("x.npy"), "{line}");
    }
    // A file that ends early is an error at its last rows.
    let cut = bench.read("a.lpc");
    bench.write("cut.lpc", &cut[..cut.len() / 2]);
    bench.run("decode cut.lpc -o x.npy --memory 60M").fails(3, "the stream ends early");
    bench.run("decode cut.lpc -o y.npy --memory 60M --salvage").ok();
    assert_eq!(bench.read("y.npy").len(), bench.read("b.npy").len());
}
