//! `liftc bench`: printed and written results, figures, and invalid input.

use crate::common::Bench;
use serde_json::Value;

/// Small and fast: tests check results, not times.
const QUICK: &str = "bench --device cpu --repeats 3 --quiet";

#[test]
fn cpu_benchmark() {
    let bench = Bench::new();
    let line = format!("{QUICK} -w cdf97,legall53 --shape 40x61,300 -l 1,2 --threads 2 --json b.json --svg b.svg");
    let table = bench.run(&line).ok().stdout;
    assert!(table.starts_with("cpu, 2 threads of "), "{table}");
    assert!(table.contains("cdf97 f32 40x61, 1 level") && table.contains("legall53 i16 300, 2 levels"), "{table}");
    assert!(table.contains("verified: forward equals the oracle bit for bit; inverse(forward(x)) = x bit for bit for"));

    let json: Value = serde_json::from_slice(&bench.read("b.json")).unwrap();
    assert_eq!(json["format"], "lifting-bench");
    assert_eq!(json["version"], 1);
    assert_eq!(json["device"], serde_json::json!({ "kind": "cpu", "threads": 2 }));
    assert!(json["command"].as_array().unwrap().iter().any(|word| word == "bench"));
    assert!(json["machine"]["threads"].as_u64().unwrap() > 0);
    let results = json["results"].as_array().unwrap();
    // Two wavelets, two shapes, two numbers of levels, two directions.
    assert_eq!(results.len(), 16);
    for result in results {
        let number = |path: &str| result.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"));
        let streams = cfg!(target_arch = "x86_64");
        assert_eq!(result["streaming_us"].is_object(), streams);
        for times in ["time_us", "copy_us", "streaming_us"].into_iter().take(2 + usize::from(streams)) {
            let time = |what: &str| number(&format!("/{times}/{what}"));
            assert!(time("min") > 0.0 && time("min") <= time("q1") && time("q1") <= time("median"));
            assert!(time("median") <= time("q3") && time("q3") <= time("max"));
            assert_eq!(time("runs"), 3.0);
        }
        let ratio = number("/time_us/median") / number("/copy_us/median");
        assert!((number("/ratio") / ratio - 1.0).abs() < 1e-9);
        let shape: Vec<u64> = result["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        let bytes = shape.iter().product::<u64>() * if result["sample"] == "f32" { 4 } else { 2 };
        let speed = 2e-3 * bytes as f64 / number("/copy_us/median");
        assert!((number("/copy_gb_per_s") / speed - 1.0).abs() < 1e-9);
        assert_eq!(result["verified"]["forward_shape"], result["shape"]);
        assert_eq!(result["verified"]["inverse_error"] == 0.0, result["wavelet"] == "legall53");
        assert!(result["recipe"].as_str().unwrap().contains(result["wavelet"].as_str().unwrap()));
        assert!(!result["schedules"].as_array().unwrap().is_empty());
    }
    let svg = String::from_utf8(bench.read("b.svg")).unwrap();
    for direction in ["forward", "inverse"] {
        assert_eq!(svg.matches(&format!("level, {direction}: ")).count(), 4);
        assert_eq!(svg.matches(&format!("levels, {direction}: ")).count(), 4);
        assert!(svg.contains(&format!("aria-label=\"{direction}\"")));
    }
    assert_eq!(svg.matches("aria-label=\"cdf97 f32 40x61, 1 level\"").count(), 1);
    assert!(svg.contains("aria-label=\"cpu, 2 threads of ") && svg.contains("<title>a copy</title>"), "{svg}");
}

#[test]
fn batches_volumes_pitches_and_types() {
    let bench = Bench::new();
    let table = |rest: &str| bench.run(&format!("{QUICK} {rest}")).ok().stdout;
    assert!(table("-w dd137 --shape 9x31 --batch 5").contains("dd137 i16 5 of 9x31, 1 level "));
    assert!(table("-w haar --shape 8x9x10 --direction inverse").contains("inverse"));
    let gradients = table("-w cdf97,db4 --boundary periodic --shape 8x10 --direction adjoint");
    assert_eq!(gradients.matches("inverse adjoint").count(), 2, "{gradients}");
    let pitched = table("-w legall53 --shape 11x21 --pitch 32 -l 3 --direction forward");
    assert!(pitched.contains("legall53 i16 11x21, 3 levels, rows at multiples of 32 bytes"), "{pitched}");
    assert!(!pitched.contains("inverse  "));
    // Each wavelet is measured in the types of its domain.
    let types = table("-w cdf97,legall53 --sample i16,i32,i64,f16,bf16,f32,f64 --shape 12x10 --threads 1");
    assert_eq!(types.lines().filter(|line| line.contains("1 level")).count(), 2 * 7, "{types}");
    assert!(table("-w legall53 --boundary periodic --shape 16").contains("bit for bit"));
}

#[test]
fn suites() {
    let bench = Bench::new();
    bench.write(
        "a.suite",
        "# what matters\n-w cdf97,legall53 --shape 8x9 # both\n\n--batch 3 --shape 4x4 --direction forward\n",
    );
    let run = bench.run("bench --device cpu --repeats 1 --suite a.suite --json a.json").ok();
    assert!(run.stderr.contains("[2/3] legall53 i16 8x9, 1 level: forward "), "{}", run.stderr);
    let json: Value = serde_json::from_slice(&bench.read("a.json")).unwrap();
    assert_eq!(json["results"].as_array().unwrap().len(), 5);
    let fails = |text: &str, message: &str| {
        bench.write("b.suite", text).run(&format!("{QUICK} --suite b.suite")).fails(1, message);
    };
    fails("# nothing\n", "b.suite: no cases in this suite");
    fails("\n--shape 4y4\n", "b.suite, line 2: invalid value '4y4' for '--shape <HxW>'");
    fails("--json c.json", "b.suite, line 1: --suite, --json, --svg and --threads belong on the command line");
    fails("-w nosuch", "b.suite, line 1: ");
    bench.run(&format!("{QUICK} --suite none.suite")).fails(1, "none.suite: cannot read");
    bench.run(&format!("{QUICK} --suite a.suite -w dd137")).fails(2, "cannot be used with");
}

#[test]
fn invalid_input() {
    let bench = Bench::new();
    let fails = |rest: &str, code: i32, message: &str| {
        bench.run(&format!("{QUICK} {rest}")).fails(code, message);
    };
    fails("-w cdf97 --sample i16", 2, "use --sample f16, bf16, f32 or f64");
    fails("-w nosuch", 1, "nosuch");
    fails("--shape 0x4", 2, "write the lengths of the axes as 1080x1920");
    fails("--shape 4x", 2, "write the lengths of the axes as 1080x1920");
    fails("--shape -4", 2, "");
    fails("--shape 1x1x1x1x1x1x1x1x1x1", 2, "axes");
    fails("--batch 0", 2, "a whole number from 1");
    fails("--levels 0", 2, "it must be 1 to 32");
    bench.run("bench --repeats 0").fails(2, "it must be 1 to 10000");
    fails("--boundary periodic --shape 15x16", 2, "periodic");
    fails("--schedule stream --shape 8x8", 2, "this schedule needs a GPU");
    fails("--schedule nosuch", 2, "[possible values: auto, separate, shared, stream");
    fails("--pitch 3", 2, "f32 needs a multiple of 4 bytes");
    fails("--shape 10000000x10000000", 1, "out of memory");
    fails("--shape 99999999999x99999999999", 2, "more samples than");
    fails("--shape 99999999999999999999", 2, "write the lengths");
    fails("--json b.svg --svg b.svg --shape 8", 2, "two outputs would have this name");
    bench.run("bench --device gpu").fails(2, "write best, cpu, cuda, cuda:N, cuda:all, opencl or opencl:N");
    bench.run("bench --device cuda:99 --shape 8x8").fails(1, "CUDA");
    bench.run("bench --device opencl:99 --shape 8x8").fails(1, "OpenCL");
    // Invalid cases are reported before anything is measured.
    fails("--shape 8x8,15 --boundary periodic --json b.json", 2, "15");
    assert!(!bench.exists("b.json"));
}

/// With an OpenCL device: accepted options, and verification against the CPU.
#[test]
fn opencl_benchmark() {
    let bench = Bench::new();
    let line = "bench --device opencl --repeats 3 -w cdf97,legall53 --shape 21x40 -l 2 --json o.json";
    let run = bench.run(line);
    if ["no OpenCL: the library", "OpenCL finds no device"].iter().any(|none| run.stderr.contains(none)) {
        assert!(!std::env::var("LIFTING_REQUIRE_OPENCL").is_ok_and(|v| v == "1"), "{}", run.stderr);
        println!("bench --device opencl: skipped: {}", run.stderr);
        return;
    }
    let run = run.ok();
    assert!(run.stdout.starts_with("OpenCL on "), "{}", run.stdout);
    assert!(run.stdout.contains("verified: forward equals the CPU plan bit for bit"), "{}", run.stdout);
    let json: Value = serde_json::from_slice(&bench.read("o.json")).unwrap();
    assert_eq!(json["device"]["kind"], "opencl");
    assert_eq!(json["results"].as_array().unwrap().len(), 4);
    bench.run("bench --device opencl --shape 8x8 --pitch 64").fails(2, "OpenCL devices support only contiguous rows");
    bench.run("bench --device opencl --shape 100000x1000000").fails(1, "the arrays need 1");

    bench.copy("camera.png");
    for device in ["cpu", "opencl"] {
        bench.run(&format!("transform camera.png -w dd137 -l 3 --device {device} -o {device}.npy")).ok();
        bench.run(&format!("transform {device}.npy --inverse --device {device} -o {device}.png")).ok();
    }
    assert!(bench.read("cpu.npy") == bench.read("opencl.npy") && bench.read("cpu.png") == bench.read("opencl.png"));
    bench
        .run("transform camera.png -w dd137 --device opencl --threads 1 -o a.npy")
        .fails(2, "--threads is for the CPU");
}

/// The codec's table has a row per coding, and pictures are reconstructed.
#[test]
fn codec_benchmark() {
    let bench = Bench::new();
    bench.copy("camera.png").copy("chelsea.png");
    let said = bench.run("bench --codec camera.png chelsea.png --device cpu --threads 1 --repeats 2").ok();
    for line in ["cpu, 1 thread of ", "camera.png: 512 × 512 × 1\n", "chelsea.png: 300 × 451 × 3\n", "encode, Ms/s"]
    {
        assert!(said.stdout.contains(line), "{}", said.stdout);
    }
    for name in ["5/3, lossless ", "5/3, lossless, 3 passes ", "9/7, quality 64 "] {
        assert_eq!(said.stdout.matches(&format!("Lifting {name}")).count(), 2, "{}", said.stdout);
    }
    let peer = said.stdout.matches("OpenJPEG 5/3, lossless ").count() == 2;
    assert!(peer || said.stderr.contains("OpenJPEG is skipped"), "{}", said.stderr);
    bench.run("bench --codec camera.png --shape 40x40").fails(2, "cannot be used with");
    bench.run("bench --codec missing.png").fails(1, "missing.png: cannot read");
}
