//! Peak memory of transforms of large pictures: the resident set of the real program, without that of a small picture.
//! The tests are separate, because they compare the largest of all children of their process.

#![cfg(target_os = "linux")]

mod common;

use common::Bench;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Rows and columns of the picture. Its coefficients are large enough for transforms in place.
const SIDES: [usize; 2] = [4100, 4096];
/// Bytes of the picture.
const BYTES: u64 = 2 * SIDES[0] as u64 * SIDES[1] as u64;

/// Samples of 16 bits in little-endian order, row by row.
fn rows([height, width]: [usize; 2]) -> impl Iterator<Item = Vec<u8>> {
    let sample = move |at: usize| (at as u16).wrapping_mul(40_503).to_le_bytes();
    (0..height).map(move |y| (0..width).flat_map(|x| sample(y * width + x)).collect())
}

/// Writes a picture row by row: the children's resident sets count that of this process before they start.
fn write(path: &Path, sides: [usize; 2]) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    if path.extension().unwrap() == "pgm" {
        write!(file, "P5\n{} {}\n65535\n", sides[1], sides[0]).unwrap();
        for row in rows(sides) {
            let swapped: Vec<u8> = row.chunks(2).flat_map(|sample| [sample[1], sample[0]]).collect();
            file.write_all(&swapped).unwrap();
        }
    } else {
        // The samples begin at a multiple of 64 bytes, and a large file is mapped.
        let header = format!("{{'descr': '<u2', 'fortran_order': False, 'shape': ({}, {}), }}", sides[0], sides[1]);
        file.write_all(b"\x93NUMPY\x01\0\x76\0").unwrap();
        writeln!(file, "{header:117}").unwrap();
        rows(sides).for_each(|row| file.write_all(&row).unwrap());
    }
    file.into_inner().unwrap();
}

/// Asserts that two files have the same samples of a picture at their ends.
fn assert_same_end(a: &Path, b: &Path) {
    let [mut a, mut b] = [a, b].map(|path| {
        let mut file = File::open(path).unwrap();
        file.seek(SeekFrom::End(-(BYTES as i64))).unwrap();
        BufReader::new(file)
    });
    let (mut here, mut there) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    for at in (0..BYTES).step_by(1 << 16) {
        let length = (BYTES - at).min(1 << 16) as usize;
        a.read_exact(&mut here[..length]).unwrap();
        b.read_exact(&mut there[..length]).unwrap();
        assert!(here == there, "the samples differ from byte {at} on");
    }
}

/// Largest resident set in bytes of all children that have ended.
fn largest() -> u64 {
    // SAFETY: zeros are a valid structure, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage), 0);
        usage
    };
    usage.ru_maxrss as u64 * 1024
}

/// Samples of 16 bits become coefficients of 32 bits, twice the picture. Neither direction holds much more.
#[test]
fn transforms_hold_little_more_than_the_coefficients() {
    let bench = Bench::new();
    let run = |line: &str| {
        bench.run(line).ok();
        largest()
    };
    write(&bench.path("small.npy"), [64, 64]);
    run("transform -q --threads 2 -w legall53 -l 2 small.npy -o c.npy");
    let small = run("transform -q --threads 2 --inverse c.npy -o back.npy");
    for extension in ["npy", "pgm"] {
        let [name, back] = ["a", "back"].map(|stem| format!("{stem}.{extension}"));
        write(&bench.path(&name), SIDES);
        let forward = run(&format!("transform -q --threads 2 -w legall53 -l 2 {name} -o c.npy"));
        let inverse = run(&format!("transform -q --threads 2 --inverse c.npy -o {back}"));
        for (direction, most) in [("forward", forward), ("inverse", inverse)] {
            let multiple = (most - small) as f64 / BYTES as f64;
            // The measurement is real: coefficients alone are 2.
            assert!((1.9..2.2).contains(&multiple), "{name}, {direction}: {multiple} times the picture");
        }
        assert_same_end(&bench.path(&name), &bench.path(&back));
    }
}
