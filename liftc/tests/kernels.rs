//! `liftc kernels`: printed kernels, their names, and invalid input.

use crate::common::Bench;

/// Names of the kernels in a text.
fn names(text: &str) -> Vec<String> {
    let heads = text.split("extern \"C\" __global__").skip(1);
    let name = |head: &str| head.split_once(")) ")?.1.split_once('(').map(|(name, _)| name.to_owned());
    heads.map(|head| name(head).unwrap()).collect()
}

#[test]
fn kernels_are_those_of_the_plan() {
    let bench = Bench::new();
    let text = bench.run("kernels -w cdf97 --shape 1080x1920 -l 3 --schedule stream").ok().stdout;
    let video = names(&text);
    let plain: Vec<&str> = video.iter().map(|name| name.rsplit_once('_').unwrap().0).collect();
    for way in ["forward", "inverse"] {
        for kernel in ["stream_whole", "stream", "adjoint_stream"] {
            assert!(plain.contains(&&*format!("cdf97_{kernel}_{way}_f32")), "{plain:?}");
        }
    }
    // A file receives the same text.
    bench.run("kernels -w cdf97 --shape 1080x1920 -l 3 --schedule stream -o video.cu").ok();
    assert_eq!(String::from_utf8(bench.read("video.cu")).unwrap(), text);
    let line = names(&bench.run("kernels -w cdf97 --shape 4096").ok().stdout);
    assert!(line.iter().any(|name| name.starts_with("cdf97_horizontal_registers_aligned_x4_forward_f32_")), "{line:?}");
    let frames =
        names(&bench.run("kernels -w legall53 --shape 64x64 --batch 3 --pitch 256 --schedule stream").ok().stdout);
    assert!(frames.iter().any(|name| name.starts_with("legall53_stream_")), "{frames:?}");
}

/// Like all generated files, the text begins with the command that made it.
#[test]
fn header_names_the_command() {
    let bench = Bench::new();
    let text = bench.run("kernels -w dd137 --shape 480x640 --batch 2 -l 3 --boundary edge").ok().stdout;
    let header = text.split_once("*/").unwrap().0;
    for part in [
        "dd137\n",
        "Made by lifting ",
        "liftc kernels -w dd137 --sample i16 --shape 480x640 --batch 2 -l 3 --boundary edge --multiprocessors 132\n",
        "Domain integer; samples i16; border rule edge.",
        "Kernels of a plan for 2 x 480 x 640 samples, 3 levels.",
    ] {
        assert!(header.starts_with("/*\n") && header.contains(part), "{part}: {header}");
    }
}

/// Kernels of one name have different fingerprints if they differ: by border rule, or by the device that they are sized
/// for.
#[test]
fn fingerprints_differ_where_kernels_do() {
    let bench = Bench::new();
    let kernels = |more: &str| {
        names(&bench.run(&format!("kernels -w cdf97 --shape 64x64 --schedule separate {more}")).ok().stdout)
    };
    let own = kernels("");
    for other in ["--boundary zero", "--boundary edge"] {
        let other = kernels(other);
        let walks =
            |names: &[String]| names.iter().filter(|n| n.contains("vertical_registers")).cloned().collect::<Vec<_>>();
        assert!(!walks(&own).is_empty() && walks(&other).iter().all(|name| !own.contains(name)), "{other:?}");
    }
    let small = kernels("--multiprocessors 20");
    assert!(small.iter().any(|name| own.contains(name)) && small.iter().any(|name| !own.contains(name)), "{small:?}");
}

#[test]
fn mistakes_are_reported() {
    let bench = Bench::new();
    for (line, said) in [
        ("kernels -w cdf97 --shape 64x64 --sample i16", "wavelet `cdf97` is a real wavelet, but the samples are i16"),
        ("kernels -w cdf97 --shape 64 --schedule stream", "the level transforms one axis"),
        ("kernels -w cdf97 --shape 63x65 --boundary periodic", "the periodic border rule needs an even number"),
        ("kernels -w nope --shape 64x64", "no wavelet `nope` in the catalogue"),
        ("kernels -w cdf97 --shape 64x64 --pitch 30", "invalid --pitch 30: f32 needs a multiple of 4 bytes"),
        ("kernels -w cdf97", "--shape <HxW>"),
        ("kernels -w cdf97 --shape 64x64 -o no/such/folder/k.cu", "no/such/folder"),
        ("kernels -w cdf97 --shape 18446744073709551615x9", "more samples than this machine can index"),
    ] {
        let run = bench.run(line);
        let stderr = run.stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(run.code != 0 && run.stdout.is_empty() && stderr.contains(said), "{line}: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}
