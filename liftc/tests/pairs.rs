//! Coefficients and their sidecar belong together: after any change to either, a wrong pair is never accepted.

use crate::common::{Bench, npy, npy_i16};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Distinct square arrays.
fn array(side: usize, seed: i16) -> Vec<u8> {
    let sample = |i: usize| (((i as i64 * 2_654_435_761) >> 20) as i16 >> 4).wrapping_mul(seed | 1).wrapping_add(seed);
    npy_i16(&format!("({side}, {side})"), (0..side * side).map(sample))
}

/// Number of temporary files in the directory.
fn temporary(bench: &Bench) -> usize {
    let names = std::fs::read_dir(bench.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".liftc-")).count()
}

fn samples(file: &[u8], side: usize) -> &[u8] {
    &file[file.len() - 2 * side * side..]
}

/// The inverse returns one of these arrays, or an error. Returns its index.
fn which(bench: &Bench, side: usize, arrays: &[&str]) -> Option<usize> {
    let run = bench.run("transform c.npy --inverse -q -o b.npy");
    if run.code != 0 {
        run.fails(1, "c.npy.json: belongs to other coefficients");
        return None;
    }
    let back = bench.read("b.npy");
    let same = |name: &&str| samples(&bench.read(name), side) == samples(&back, side);
    Some(arrays.iter().position(same).expect("one of the arrays, or an error"))
}

#[test]
fn every_wrong_pair_is_detected() {
    let bench = Bench::new();
    bench.write("one.npy", array(16, 3)).write("two.npy", array(16, 5)).copy("camera.png");
    let transforms = [
        "one.npy -w dd137 -l 2",
        "two.npy -w dd137 -l 2",
        "one.npy -w legall53 -l 2",
        "one.npy -w dd137 -l 3",
        "one.npy -w dd137 -l 2 --boundary periodic",
        "one.npy -w dd137 -l 2 --layout interleaved",
        "one.npy -w dd137 -l 2 --origin 1",
    ];
    let pairs: Vec<_> = transforms
        .iter()
        .map(|line| {
            bench.run(&format!("transform {line} -o c.npy")).ok();
            (bench.read("c.npy"), bench.read("c.npy.json"))
        })
        .collect();
    for (i, (coefficients, _)) in pairs.iter().enumerate() {
        for (j, (_, sidecar)) in pairs.iter().enumerate() {
            // Left by a process that dies between the two files, or by two concurrent writers.
            bench.write("c.npy", coefficients).write("c.npy.json", sidecar);
            let run = bench.run("transform c.npy --inverse -o b.npy");
            match i == j {
                true => drop(run.ok()),
                false => drop(run.fails(1, "c.npy.json: belongs to other coefficients")),
            }
            // `--force` accepts the pair.
            let run = bench.run("transform c.npy --inverse -o b.npy --force").ok();
            assert_eq!(
                run.stderr.contains("note: c.npy.json: belongs to other coefficients"),
                i != j,
                "{}",
                run.stderr
            );
        }
    }
    // Changed coefficients have another hash.
    let (mut coefficients, sidecar) = pairs[0].clone();
    let last = coefficients.len() - 1;
    coefficients[last] ^= 1;
    bench.write("c.npy", &coefficients).write("c.npy.json", sidecar);
    bench.run("transform c.npy --inverse -o b.npy").fails(1, "or were changed since");
    // The hash is that of the array, in Fortran order and in the other byte order too.
    let flat: Vec<i16> = npyz::NpyFile::new(&pairs[0].0[..]).unwrap().into_vec().unwrap();
    let turned: Vec<u8> = (0..256).flat_map(|i| flat[i % 16 * 16 + i / 16].to_be_bytes()).collect();
    bench.write("c.npy", npy("{'descr': '>i2', 'fortran_order': True, 'shape': (16, 16), }", &turned));
    bench.run("transform c.npy --inverse -o b.npy").ok();
    assert_eq!(samples(&bench.read("b.npy"), 16), samples(&bench.read("one.npy"), 16));
}

#[test]
fn edited_sidecars_are_detected() {
    let bench = Bench::new();
    bench.write("a.npy", array(12, 7));
    bench.run("transform a.npy -w dd137 -l 2 -o c.npy").ok();
    let text = String::from_utf8(bench.read("c.npy.json")).unwrap();
    for (from, to) in [
        ("\"levels\": [2, 2]", "\"levels\": [1, 2]"),
        ("\"origins\": [0, 0]", "\"origins\": [2, 0]"),
        ("\"axis_order\": [1, 0]", "\"axis_order\": [0, 1]"),
        ("\"boundary\": \"whole-symmetric\"", "\"boundary\": \"zero\""),
        ("\"layout\": \"mallat\"", "\"layout\": \"interleaved\""),
        (">> 4", ">> 3"),
        ("\"element\": \"i16\"", "\"element\": \"i32\""),
        ("\"profile\": null", "\"profile\": \"vc2\""),
        ("\"name\": \"a.npy\"", "\"name\": \"b.npy\""),
        ("\"checksum\": \"", "\"checksum\": \"0"),
        ("\"coefficient_hash\": \"", "\"coefficient_hash\": \"0"),
        ("{\n", "{\n  \"remark\": \"mine\",\n"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        bench.write("c.npy.json", text.replacen(from, to, 1));
        bench.run("transform c.npy --inverse -o b.npy").fails(1, "c.npy.json: was changed since it was written");
        assert!(!bench.exists("b.npy"));
    }
    // The layout of the JSON does not matter.
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    bench.write("c.npy.json", value.to_string()).run("transform c.npy --inverse -o b.npy").ok();
    bench.write("c.npy.json", serde_json::to_vec_pretty(&value).unwrap());
    bench.run("transform c.npy --inverse -o b.npy").ok();
    bench.run("transform c.npy.json --inverse -o b.npy").fails(1, "which has no coefficients: invert c.npy");
    // The checksum is the documented one.
    let coefficients = bench.read("c.npy");
    let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(samples(&coefficients, 12)));
    assert!(text.contains(&hash), "{hash} in {text}");
}

#[test]
fn version_1_is_not_verified() {
    let bench = Bench::new();
    bench.write("a.npy", array(9, 7));
    bench.run("transform a.npy -w dd137 -l 2 -o c.npy").ok();
    let mut old: serde_json::Value = serde_json::from_slice(&bench.read("c.npy.json")).unwrap();
    let fields = old.as_object_mut().unwrap();
    for field in ["origins", "coefficient_hash", "checksum"] {
        fields.remove(field).unwrap();
    }
    fields["version"] = 1.into();
    bench.write("c.npy.json", old.to_string());
    bench
        .run("transform c.npy --inverse -o b.npy")
        .fails(1, "is of version 1, which does not identify its coefficients");
    let run = bench.run("transform c.npy --inverse --force -o b.npy").ok();
    assert!(run.stderr.contains("note: c.npy.json: is of version 1"), "{}", run.stderr);
    assert_eq!(samples(&bench.read("b.npy"), 9), samples(&bench.read("a.npy"), 9));
}

#[test]
fn failures_keep_the_old_pair() {
    let bench = Bench::new();
    bench.write("one.npy", array(16, 3)).write("two.npy", array(16, 5));
    bench.run("transform one.npy -w dd137 -l 2 -o c.npy").ok();
    // The third of three files cannot be written.
    bench.run("transform two.npy -w dd137 -l 2 -o c.npy --picture no/where.png").fails(1, "where.png: cannot write");
    assert_eq!(which(&bench, 16, &["one.npy", "two.npy"]), Some(0));
    if std::path::Path::new("/dev/full").exists() {
        let run = bench.run("transform two.npy -w dd137 -l 2 -o c.npy --picture /dev/full");
        run.fails(1, "/dev/full: cannot write: No space left on device");
        assert_eq!(which(&bench, 16, &["one.npy", "two.npy"]), Some(0));
    }
    assert_eq!(temporary(&bench), 0);
}

#[cfg(unix)]
fn fifo(bench: &Bench, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(bench.path(name)).status().unwrap();
    assert!(made.success());
}

/// A transform that has written both of its files, and waits for a reader of its picture.
#[cfg(unix)]
fn waiting(bench: &Bench, command: &mut std::process::Command) -> Child {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while temporary(bench) < 2 {
        assert!(begun.elapsed() < Duration::from_secs(120), "it writes its files");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[cfg(unix)]
fn send(child: &Child, signal: &str) {
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn signals_clean_up() {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    let bench = Bench::new();
    bench.write("one.npy", array(64, 3)).write("two.npy", array(64, 5));
    bench.run("transform one.npy -w dd137 -l 2 -o c.npy").ok();
    fifo(&bench, "p.png");
    for (signal, number) in [("-INT", 2), ("-QUIT", 3), ("-TERM", 15), ("-HUP", 1)] {
        let mut command = bench.command();
        command.args("transform two.npy -w dd137 -l 2 -o c.npy --picture p.png".split(' '));
        // SAFETY: `signal` is async-signal-safe, and no handler is installed.
        let heard = move || match unsafe { libc::signal(number, libc::SIG_DFL) } {
            libc::SIG_ERR => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        };
        // Shells may start background tests with signals ignored, which child processes inherit.
        // SAFETY: `signal` may be called between `fork` and `exec`.
        unsafe { command.pre_exec(heard) };
        let mut child = waiting(&bench, &mut command);
        send(&child, signal);
        let status = child.wait().unwrap();
        // A shell reports 128 + number.
        assert_eq!(status.signal(), Some(number), "{status}");
        assert_eq!(temporary(&bench), 0, "{signal}");
        assert_eq!(which(&bench, 64, &["one.npy", "two.npy"]), Some(0), "{signal}");
    }
}

/// The system reports a truncated file that is mapped by SIGBUS.
#[cfg(unix)]
#[test]
fn truncated_mapped_files_are_errors() {
    let bench = Bench::new();
    bench.write("one.npy", array(64, 3));
    fifo(&bench, "p.png");
    let mut command = bench.command();
    command.args("transform one.npy -w dd137 -l 2 -o c.npy --picture p.png".split(' '));
    let mut child = waiting(&bench, &mut command);
    send(&child, "-BUS");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(temporary(&bench), 0);
    assert!(!bench.path("c.npy").exists());
}

#[cfg(unix)]
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let bench = Bench::new();
    bench.write("one.npy", array(64, 3));
    fifo(&bench, "p.png");
    let line = "trap '' HUP; exec \"$0\" transform one.npy -w dd137 -l 2 -o c.npy --picture p.png";
    let mut command = std::process::Command::new("sh");
    command.current_dir(bench.path("")).args(["-c", line, env!("CARGO_BIN_EXE_liftc")]);
    let child = waiting(&bench, &mut command);
    send(&child, "-HUP");
    // The process continues, and finishes when its picture is read.
    let picture = std::fs::read(bench.path("p.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(which(&bench, 64, &["one.npy"]), Some(0));
}

#[cfg(unix)]
#[test]
fn file_size_limit_is_an_error() {
    let bench = Bench::new();
    bench.write("one.npy", array(300, 3)).write("two.npy", array(300, 5));
    bench.run("transform one.npy -w dd137 -l 2 -o c.npy").ok();
    let line = "ulimit -f 20; exec \"$0\" transform two.npy -w dd137 -l 2 -o c.npy";
    let mut command = std::process::Command::new("sh");
    command.current_dir(bench.path("")).args(["-c", line, env!("CARGO_BIN_EXE_liftc")]);
    crate::common::Run::from(command.output().unwrap()).fails(1, "c.npy: cannot write: File too large");
    assert_eq!(temporary(&bench), 0);
    assert_eq!(which(&bench, 300, &["one.npy", "two.npy"]), Some(0));
}

#[test]
fn killed_at_any_moment() {
    let side = 400;
    let bench = Bench::new();
    let names = ["one.npy", "two.npy"];
    bench.write(names[0], array(side, 3)).write(names[1], array(side, 5));
    // Measure the duration, to spread the kills over it.
    let begun = Instant::now();
    bench.run("transform one.npy -w dd137 -l 3 -o c.npy").ok();
    let whole = begun.elapsed();
    for i in 0..20 {
        let line = format!("transform {} -w dd137 -l 3 -o c.npy", names[i % 2]);
        let mut child =
            bench.command().args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * i as u32 / 16);
        let _ = child.kill();
        let _ = child.wait();
        which(&bench, side, &names);
    }
}

#[test]
fn concurrent_writers() {
    let side = 200;
    let bench = Bench::new();
    let names = ["one.npy", "two.npy", "three.npy"];
    for (name, seed) in names.iter().zip([3, 5, 7]) {
        bench.write(name, array(side, seed));
    }
    let mut found = 0;
    for _ in 0..6 {
        let start = |name: &&str| {
            let line = format!("transform {name} -q -w dd137 -l 3 -o c.npy");
            bench.command().args(line.split(' ')).spawn().unwrap()
        };
        let children: Vec<Child> = names.iter().map(start).collect();
        children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
        found += usize::from(which(&bench, side, &names).is_some());
    }
    // Usually one of them writes both files last.
    assert!(found > 0);
    assert_eq!(temporary(&bench), 0);
}
