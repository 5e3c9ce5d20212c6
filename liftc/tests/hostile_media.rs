//! Malformed files: every reader of pictures and arrays reports an error, without a panic, and without allocating the
//! claimed sizes. A counting allocator checks this.

use liftc::media::{Array, image, npy, npz};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Cursor, Write};

thread_local! {
    static NOW: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

struct Watching;

fn changed(by: isize) {
    // The counter is unavailable while the thread ends.
    let _ = NOW.try_with(|now| {
        now.set(now.get().wrapping_add_signed(by));
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: forwards every call to the system's allocator.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        changed(layout.size() as isize);
        // SAFETY: the caller's contract, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        changed(layout.size() as isize);
        // SAFETY: the caller's contract, passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        changed(-(layout.size() as isize));
        // SAFETY: the caller's contract, passed on.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        changed(size as isize);
        changed(-(layout.size() as isize));
        // SAFETY: the caller's contract, passed on.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// Result of a reader. Asserts that it allocates at most `most` MiB.
fn outcome(most: usize, read: impl FnOnce() -> Result<Array, liftc::failure::Failure>) -> Result<Array, String> {
    let before = NOW.get();
    MOST.set(before);
    let result = read();
    let taken = MOST.get().wrapping_sub(before);
    let result = result.map_err(|failure| failure.render(false, 500));
    assert!(taken < most << 20, "{} MiB: {:?}", taken >> 20, result.map(|a| a.shape));
    result
}

/// Reads a `.npy` as a file of known size, from a pipe, and from an archive.
fn read_npy(bytes: &[u8]) -> Result<Array, String> {
    let unknown = outcome(16, || npy::read(&mut &bytes[..], None));
    let known = outcome(16, || npy::read(&mut &bytes[..], Some(bytes.len() as u64)));
    assert_eq!(unknown.is_ok(), known.is_ok(), "{unknown:?} {known:?}");
    known
}

fn read_npz(bytes: &[u8]) -> Result<Array, String> {
    outcome(16, || npz::read(Cursor::new(bytes), None))
}

fn read_image(bytes: &[u8]) -> Result<Array, String> {
    // The TIFF decoder allocates 32 bytes per value that a tag claims, up to its own limit.
    outcome(300, || image::read(Cursor::new(bytes)))
}

/// A `.npy` of version 1 with this header, and `says` as its length.
fn npy_file(says: u16, header: &str, data: &[u8]) -> Vec<u8> {
    [b"\x93NUMPY\x01\x00", &says.to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn npy_of(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    npy_file(header.len() as u16, &header, data)
}

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn refused(result: Result<Array, String>, words: &str) {
    let said = result.expect_err(words);
    assert!(said.contains(words), "`{words}` is not in: {said}");
}

#[test]
fn impossible_shapes() {
    for (shape, words) in [
        ("(4294967296, 4294967296, 4294967296)", "more elements than any machine"),
        ("(18446744073709551615,)", "more elements than any machine"),
        ("(9223372036854775807,)", "more elements than any machine"),
        ("(-1,)", "not a Python dictionary"),
        ("(3, -4)", "not a Python dictionary"),
        ("(2.5,)", "not a Python dictionary"),
        ("(1e9,)", "not a Python dictionary"),
        ("'12'", "shape"),
        ("((2, 3),)", "shape"),
        ("(0,)", "axis 0"),
        ("()", "0 axes"),
        ("(1, 1, 1, 1, 1, 1, 1, 1, 1)", "9 axes"),
    ] {
        refused(read_npy(&npy_of("<i2", "False", shape, &[0; 64])), words);
    }
    // A plausible number of samples, also in Fortran order, where samples are transposed.
    for order in ["False", "True"] {
        let claims = npy_of("<f8", order, "(1000, 1000, 1000)", &[0; 800]);
        refused(read_npy(&claims), "has 1000000000 elements, but the file holds 100");
    }
}

#[test]
fn false_header_lengths() {
    let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (4,), }\n";
    let whole = npy_file(header.len() as u16, header, &[7; 8]);
    assert_eq!(read_npy(&whole).unwrap().shape, [4]);
    for cut in 0..whole.len() {
        assert!(read_npy(&whole[..cut]).is_err(), "cut to {cut} bytes");
    }
    for says in (0..header.len() as u16 - 2).chain([u16::MAX]) {
        assert!(read_npy(&npy_file(says, header, &[7; 8])).is_err(), "a header of {says} bytes");
    }
    for version in [0, 2, 3, 4, 255] {
        let mut bytes = whole.clone();
        bytes[6] = version;
        // In versions 2 and 3, two bytes of the header belong to the length.
        assert!(read_npy(&bytes).is_err(), "version {version}");
    }
}

#[test]
fn every_changed_byte_of_a_valid_file() {
    let data: Vec<u8> = (0..2 * 3 * 4).collect();
    for order in ["False", "True"] {
        let good = npy_of(">i2", order, "(3, 4)", &data);
        let zipped = archive(&[("a.npy", &good)]);
        for at in 0..good.len() {
            for value in [0, b'9', b'(', 0xff, good[at] ^ 1] {
                let mut bytes = good.clone();
                bytes[at] = value;
                let _ = read_npy(&bytes);
            }
        }
        for at in 0..zipped.len() {
            for value in [0, 0x7f, 0xff, zipped[at] ^ 1] {
                let mut bytes = zipped.clone();
                bytes[at] = value;
                let _ = read_npz(&bytes);
            }
            assert!(read_npz(&zipped[..at]).is_err(), "cut to {at} bytes");
        }
    }
}

#[test]
fn fortran_order_requires_all_samples() {
    let array = read_npy(&npy_of("<i2", "True", "(2, 3)", &[1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0])).unwrap();
    assert_eq!(array.data, vec![1i16, 2, 3, 4, 5, 6].into());
    refused(read_npy(&npy_of("<i2", "True", "(2, 3)", &[0; 11])), "has 6 elements, but the file holds 5");
    refused(read_npy(&npy_of("<i2", "None", "(2, 3)", &[0; 12])), "Python");
}

/// A megabyte of zeros deflates to a thousandth. The reader does not allocate the size that the header claims beyond
/// that.
#[test]
fn decompression_bombs() {
    let bomb = |shape: &str| archive(&[("a.npy", &npy_of("|u1", "False", shape, &[0; 1 << 20]))]);
    let zipped = bomb("(1024, 1024)");
    assert!(zipped.len() < 4096, "{} bytes", zipped.len());
    assert_eq!(read_npz(&zipped).unwrap().shape, [1024, 1024]);
    refused(read_npz(&bomb("(1024, 1024, 1024)")), "but the file holds 1048576");
    refused(read_npz(&bomb("(1048576, 1048576)")), "more than 16 GiB");

    // Sizes in the directory are false as well: 4 GiB each, in both headers of the member.
    let mut lies = zipped.clone();
    for (signature, offset) in [(*b"PK\x03\x04", 18), (*b"PK\x01\x02", 20)] {
        let at = lies.windows(4).position(|w| w == signature).unwrap() + offset;
        lies[at + 4..at + 8].fill(0xfe);
    }
    let _ = read_npz(&lies);
    // The largest number of members.
    let mut many = zipped;
    let at = many.windows(4).position(|w| w == *b"PK\x05\x06").unwrap();
    many[at + 8..at + 12].fill(0xff);
    let _ = read_npz(&many);
}

#[test]
fn archives_without_arrays() {
    refused(read_npz(b"PK\x05\x06"), "not a readable .npz");
    refused(read_npz(&archive(&[("notes.txt", b"hello")])), "without arrays");
    refused(read_npz(&archive(&[("a.npy", b"hello")])), "a");
    refused(read_npz(&archive(&[(".npy", b"")])), "");
    refused(read_npz(&archive(&[("../../a.npy", b"\x93NUMPY")])), "cut short");
}

/// Archives of other kinds, named in the error.
#[test]
fn unsupported_archives() {
    let good = archive(&[("a.npy", &npy_of("<i2", "False", "(40, 50)", &[7; 4000]))]);
    let edited = |edit: &dyn Fn(&mut [u8], usize)| {
        let mut file = good.clone();
        for (signature, offset) in [(*b"PK\x03\x04", 6), (*b"PK\x01\x02", 8)] {
            let at = file.windows(4).position(|w| w == signature).unwrap() + offset;
            edit(&mut file, at);
        }
        file
    };
    // The flags, followed by the method.
    refused(read_npz(&edited(&|file, at| file[at] |= 1)), "an archive with a password");
    for method in [12, 14, 93, 95] {
        refused(read_npz(&edited(&|file, at| file[at + 2] = method)), "a: uses a compression that numpy does not");
    }
    refused(read_npz(&good[..good.len() / 2]), "it is cut short or corrupted");
    let mut spoilt = good.clone();
    let data = spoilt.windows(5).position(|w| w == b"a.npy").unwrap() + 5;
    spoilt[data..data + 8].fill(0xff);
    refused(read_npz(&spoilt), "a: is corrupted: its compressed data cannot be unpacked");
}

#[test]
fn unsupported_files() {
    for (start, name) in [
        (&b"GIF89a......"[..], "is a GIF, which is not read"),
        (b"RIFF....WEBPVP8 ", "is a WebP, WAV or AVI file"),
        (b"BM............", "is a BMP"),
        (b"\xff\x4f\xff\x51\0\0\0\0", "is a JPEG 2000 codestream"),
        (b"SIMPLE  =    T", "is a FITS file"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "is compressed by gzip"),
        (b"hello, world", "is not a file that can be transformed"),
    ] {
        refused(read_image(start), name);
    }
}

#[test]
fn tiff_variants() {
    let file = tiff_file(false, 3, false, false);
    assert!(read_image(&file).is_ok());
    let with = |tag: u16, value: u16| {
        let mut file = file.clone();
        let entry = [&tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0]].concat();
        let at = file.windows(entry.len()).position(|w| w == entry).unwrap() + entry.len();
        file[at..at + 2].copy_from_slice(&value.to_le_bytes());
        file
    };
    refused(read_image(&with(259, 50000)), "an unsupported compression (its number is 50000)");
    refused(read_image(&with(259, 34925)), "an unsupported compression (its number is 34925)");
    refused(read_image(&with(262, 8)), "a TIFF of unsupported colours (CIELab)");
    refused(read_image(&with(262, 6)), "luma and chroma (YCbCr)");

    // Inks become light; black darkens all of them.
    let mut cmyk = tiff_file(false, 4, false, false);
    let photometric = [6, 1, 4, 0, 1, 0, 0, 0, 2];
    let at = cmyk.windows(9).position(|w| w == photometric).unwrap();
    cmyk[at + 8] = 5;
    cmyk[1000..1004].copy_from_slice(&[255, 0, 51, 0]);
    cmyk[1004..1008].copy_from_slice(&[0, 0, 0, 204]);
    let array = read_image(&cmyk).unwrap();
    assert_eq!(array.lost, [(liftc::media::Loss::Cmyk, "CMYK is read as RGB, without its profile".to_string())]);
    assert_eq!(array.shape, [20, 20, 3]);
    assert_eq!(array.data.native_bytes()[..6], [0, 255, 204, 51, 51, 51]);
}

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in kind.iter().chain(data) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    [&(data.len() as u32).to_be_bytes()[..], kind, data, &(!crc).to_be_bytes()].concat()
}

/// A file of a few bytes that claims a large picture.
#[test]
fn pictures_without_data() {
    let png = |w: u32, h: u32| {
        let head = [&w.to_be_bytes()[..], &h.to_be_bytes(), &[16, 6, 0, 0, 0]].concat();
        let parts = [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &head), chunk(b"IDAT", b"\x78\x9c\x03\0\0\0\0\x01")];
        [parts.concat(), chunk(b"IEND", b"")].concat()
    };
    for (w, h) in [(20_000, 20_000), (60_000, 60_000), (u32::MAX >> 1, u32::MAX >> 1), (0, 4)] {
        assert!(read_image(&png(w, h)).is_err(), "{w} × {h}");
    }
    refused(read_image(&png(20_000, 20_000)), "would take over");
    for (w, h) in
        [("20000", "20000"), ("4294967295", "4294967295"), ("99999999999999999999", "1"), ("-3", "4"), ("0", "0")]
    {
        for kind in ["P5", "P6", "P2", "P3", "P4"] {
            assert!(read_image(format!("{kind}\n{w} {h}\n65535\n\0\0").as_bytes()).is_err(), "{kind} {w} × {h}");
        }
    }
    // A TIFF whose only strip claims 4 GiB.
    let entry = |tag: u16, kind: u16, value: u32| {
        [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &1u32.to_le_bytes(), &value.to_le_bytes()].concat()
    };
    let entries = [
        (256, 20_000),
        (257, 20_000),
        (258, 16),
        (259, 1),
        (262, 1),
        (273, 8),
        (277, 1),
        (278, 20_000),
        (279, u32::MAX),
    ];
    let mut tiff = b"II\x2a\0\x08\0\0\0".to_vec();
    tiff.extend((entries.len() as u16).to_le_bytes());
    entries.iter().for_each(|&(tag, value)| tiff.extend(entry(tag, 4, value)));
    tiff.extend([0; 4]);
    assert!(read_image(&tiff).is_err());
}

#[test]
fn truncated_and_corrupted_pictures() {
    let picture = ::image::DynamicImage::ImageRgb8(::image::RgbImage::from_fn(9, 7, |x, y| {
        ::image::Rgb([x as u8 * 20, y as u8 * 30, (x * y) as u8])
    }));
    use ::image::ImageFormat::{Jpeg, Png, Pnm, Tiff};
    for format in [Png, Jpeg, Tiff, Pnm] {
        let mut good = Cursor::new(Vec::new());
        picture.write_to(&mut good, format).unwrap();
        let good = good.into_inner();
        assert_eq!(read_image(&good).unwrap().shape, [7, 9, 3], "{format:?}");
        for at in 0..good.len() {
            let _ = read_image(&good[..at]);
            for value in [0, 0x7f, 0xff] {
                let mut bytes = good.clone();
                bytes[at] = value;
                let _ = read_image(&bytes);
            }
        }
    }
}

/// A TIFF of 20 × 20 samples in four tiles of 16 × 16, or in two strips. With `planar`, each channel has a plane.
fn tiff_file(tiles: bool, channels: u32, planar: bool, float: bool) -> Vec<u8> {
    let bytes = if float { 4 } else { 1 };
    let planes = if planar { channels } else { 1 };
    let chunks = if tiles { 4 } else { 2 } * planes;
    let size = if tiles { 16 * 16 } else { 20 * 10 } * bytes * (channels / planes);
    let mut entries = vec![
        (256, vec![20]),
        (257, vec![20]),
        (258, vec![8 * bytes; channels as usize]),
        (259, vec![1]),
        (262, vec![if channels == 1 { 1 } else { 2 }]),
        (277, vec![channels]),
        (284, vec![if planar { 2 } else { 1 }]),
        (339, vec![if float { 3 } else { 1 }; channels as usize]),
    ];
    let offsets = |from: u32| (0..chunks).map(|i| from + i * size).collect::<Vec<_>>();
    if tiles {
        entries.extend([(322, vec![16]), (323, vec![16]), (324, offsets(1000)), (325, vec![size; chunks as usize])]);
    } else {
        entries.extend([(273, offsets(1000)), (278, vec![10]), (279, vec![size; chunks as usize])]);
    }
    entries.sort();
    let mut head = b"II\x2a\0\x08\0\0\0".to_vec();
    head.extend((entries.len() as u16).to_le_bytes());
    let mut behind = Vec::new();
    let start = 8 + 2 + 12 * entries.len() + 4;
    for (tag, values) in &entries {
        let list: Vec<u8> = values.iter().flat_map(|v: &u32| v.to_le_bytes()).collect();
        head.extend([&(*tag as u16).to_le_bytes()[..], &[4, 0], &(values.len() as u32).to_le_bytes()].concat());
        if values.len() == 1 {
            head.extend(list);
        } else {
            head.extend(((start + behind.len()) as u32).to_le_bytes());
            behind.extend(list);
        }
    }
    head.extend([0; 4]);
    head.extend(behind);
    head.resize(1000, 0);
    head.extend((0..chunks * size).map(|i| i as u8));
    head
}

#[test]
fn every_changed_byte_of_a_tiff_directory() {
    for (tiles, channels, planar, float) in
        [(true, 1, false, false), (true, 3, false, true), (false, 3, false, false), (false, 3, true, false)]
    {
        let good = tiff_file(tiles, channels, planar, float);
        let shape = read_image(&good).unwrap().shape;
        assert_eq!(shape, if channels == 1 { vec![20, 20] } else { vec![20, 20, 3] });
        for at in 0..400 {
            for value in [0, 1, 2, 3, 5, 0x10, 0x7f, 0xff] {
                let mut bytes = good.clone();
                bytes[at] = value;
                let _ = read_image(&bytes);
            }
        }
        // Bytes of the last tile beyond the picture may be missing.
        for at in (0..1500).step_by(7) {
            assert!(read_image(&good[..at]).is_err(), "cut to {at} bytes");
        }
    }
    refused(read_image(&tiff_file(true, 3, true, false)), "tiles with separate planes");
}
