//! Functions of emitted CUDA files for arrays of any shape: the interpreter executes their launches, finds races and
//! stray accesses, and compares results with the oracle bit for bit. The launches equal those of plans, as far as the
//! file has their kernels.

mod support;

use lifting_codegen::emit::Request;
use lifting_codegen::ir::interp::{self, Arg, Buffer, Element};
use lifting_codegen::ir::{Kernel, ParamKind, launch};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::sample::{Sample, SampleType};
use lifting_dsl::{Boundary, Domain, Format, Scheme};
use lifting_planner::emit::{Count, File, General, general};
use lifting_planner::{Extent, Machine, Problem, Program, Schedule, Tuning, contiguous, scalar_of};
use std::fmt::Write as _;
use support::{BANDS, DEVICES, SCRATCH, SIGNAL, is_written, launched, logged, wavelet};

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }
}

/// A call of a function.
#[derive(Clone, Debug)]
struct Case {
    shape: Vec<usize>,
    levels: Vec<u32>,
    origins: Vec<i64>,
    order: Vec<usize>,
    /// Extra samples of the row pitch, of the signal and of the bands.
    apart: [usize; 2],
    /// Misalignment of the arrays to vectors, in samples.
    off: [u64; 2],
    gain: u32,
}

fn case(shape: &[usize], levels: u32) -> Case {
    let rank = shape.len();
    Case {
        shape: shape.to_vec(),
        levels: vec![levels; rank],
        origins: vec![0; rank],
        order: (0..rank).rev().collect(),
        apart: [0; 2],
        off: [0; 2],
        gain: 0,
    }
}

impl Case {
    fn strides(&self, apart: usize) -> Vec<isize> {
        let mut wide = self.shape.clone();
        *wide.last_mut().expect("there is an axis") += if self.shape.len() > 1 { apart } else { 0 };
        contiguous(&wide)
    }

    /// C code that calls both functions.
    fn calls(&self, wavelet: &str, sample: SampleType, index: usize) -> String {
        let (t, s) = (lifting_codegen::emit::sample_type(scalar_of(sample)), sample.name());
        let mut out = format!(
            "    {{\n        {wavelet}_shape s;\n        memset(&s, 0, sizeof s);\n        s.axes = {};\n",
            self.shape.len()
        );
        let [signal, bands] = self.apart.map(|apart| self.strides(apart));
        for (a, size) in self.shape.iter().enumerate() {
            let (levels, origin, order) = (self.levels[a], self.origins[a], self.order[a]);
            let _ = writeln!(out, "        s.size[{a}] = {size}, s.levels[{a}] = {levels}, s.origin[{a}] = {origin};");
            let _ = writeln!(out, "        s.order[{a}] = {order}, s.signal_stride[{a}] = {};", signal[a]);
            let _ = writeln!(out, "        s.bands_stride[{a}] = {};", bands[a]);
        }
        let bytes = sample.bytes() as u64;
        let [signal, bands] = [SIGNAL + self.off[0] * bytes, BANDS + self.off[1] * bytes];
        let _ = writeln!(out, "        s.gain = {};", self.gain);
        let _ = writeln!(out, "        printf(\"== {index} %zu\\n\", {wavelet}_cuda_scratch_bytes_{s}(&s));");
        let call = |way: &str, from: u64, to: u64| {
            format!(
                "        failed |= {wavelet}_cuda_{way}_{s}(&s, (const {t} *){from}ull, ({t} *){to}ull, \
                 (void *){SCRATCH}ull, NULL);\n"
            )
        };
        out += &call("forward", signal, bands);
        out += "        printf(\"--\\n\");\n";
        out += &call("inverse", bands, signal);
        out + "    }\n"
    }

    fn transform(&self, scheme: &Scheme, boundary: Boundary) -> Transform {
        let geometry = Geometry::new(&self.shape, &self.origins, &self.levels, &self.order).expect("cases are legal");
        let mut transform = Transform::new(scheme.clone(), geometry);
        (transform.boundary, transform.gain_shift) = (boundary, self.gain);
        transform
    }
}

/// Memory of an interpreted device.
struct Memory([Buffer; 3]);

impl Memory {
    /// Array and element of an address.
    fn find(&self, address: u64, off: [u64; 2], bytes: u64) -> (usize, usize) {
        let array = (address >> 44) as usize - 1;
        let start = off.get(array).map_or(0, |off| off * bytes);
        let at = (address & ((1 << 44) - 1)).checked_sub(start).expect("within the array");
        assert_eq!(at % bytes, 0);
        (array, (at / bytes) as usize)
    }

    /// Executes a logged launch.
    fn execute<T: Element>(&mut self, line: &str, file: &File, off: [u64; 2]) {
        let bytes = self.0[0].scalar().bytes() as u64;
        let (head, values) = line.split_once(": ").expect("a launch");
        let values: Vec<u64> = values.split(' ').map(|v| u64::from_str_radix(v, 16).expect("hexadecimal")).collect();
        if head == "copy" {
            let [to, to_pitch, from, from_pitch, width, height] = values[..] else { panic!("{line}") };
            for row in 0..height {
                let (from, at) = self.find(from + row * from_pitch, off, bytes);
                let (to, place) = self.find(to + row * to_pitch, off, bytes);
                let width = (width / bytes) as usize;
                let samples = self.0[from].tail(at);
                assert!((0..width).all(|i| samples.is_defined_at(i)), "copied elements are defined: {line}");
                let samples = samples.to_vec::<T>().expect("they are of this type");
                self.0[to].set::<T>(samples.into_iter().take(width).enumerate().map(|(i, x)| (place + i, x)));
            }
            return;
        }
        let name = head.split(' ').next().expect("a name");
        let (_, kernel, info) = file.kernels.iter().find(|(n, ..)| logged(n) == name).expect("a kernel of the file");
        let grid: Vec<u64> =
            head.split(['[', ']']).nth(1).expect("a grid").split(' ').map(|n| n.parse().unwrap()).collect();
        let (mut args, mut written, mut scalars) = (Vec::new(), Vec::new(), Vec::new());
        for (value, param) in values.iter().zip(&kernel.params) {
            match param.kind {
                ParamKind::Scalar(scalar) => {
                    let shift = 64 - 8 * scalar.bytes() as u32;
                    let value = (*value << shift) as i64 >> shift;
                    scalars.push(value);
                    args.push(Arg::Scalar(value));
                }
                ParamKind::Pointer(..) => {
                    let (array, from) = self.find(*value, off, bytes);
                    assert!(from <= self.0[array].len(), "{line}: {} is outside", param.name);
                    let seen = self.0[array].tail(from);
                    if is_written(param.kind) {
                        written.push((args.len(), array, from, seen.clone()));
                    }
                    args.push(Arg::Buffer(seen));
                }
            }
        }
        assert_eq!(launch::grid(kernel, &scalars).expect("a grid").to_vec(), grid, "{line}");
        interp::run(kernel, info, &mut args).unwrap_or_else(|fault| panic!("{line}: {fault}"));
        for (index, array, from, before) in written {
            let after = args[index].buffer().expect("a buffer");
            self.0[array].adopt(from, &before, after).unwrap_or_else(|at| panic!("{line}: two write {at}"));
        }
    }
}

/// Runs all cases of one wavelet, sample type and border rule through the interpreter.
fn equal_the_oracle<T: Sample + Element>(name: &str, boundary: Boundary, columns_first: bool, cases: &[Case]) {
    let launches = all_launches::<T>(name, boundary, (columns_first, Count::Usual), cases);
    assert!(!launches.is_empty(), "{name} {boundary}");
}

/// Runs all cases of a file with `count` kernels; returns all launches.
fn all_launches<T: Sample + Element>(
    name: &str,
    boundary: Boundary,
    (columns_first, count): (bool, Count),
    cases: &[Case],
) -> String {
    let scheme = wavelet(name);
    let tuning = Tuning::new(Schedule::Auto, Machine::default(), String::new());
    let samples = [scalar_of(T::KIND)];
    let gain = scheme.domain() == Domain::Integer;
    // The catalogue's wavelets of JPEG 2000 follow it if columns come first.
    let profile = scheme.profile(Format::Jpeg2000).filter(|_| columns_first);
    let request =
        Request { scheme: &scheme, boundary, samples: &samples, gain, profile, prefix: None, command: "test" };
    let how = General { count, columns_first, tuning: &tuning };
    let file = general(&request, &how).unwrap_or_else(|e| panic!("{name}: {e}"));
    let legal: Vec<&Case> = cases
        .iter()
        .filter(|case| gain || case.gain == 0)
        .filter(|case| case.transform(&scheme, boundary).geometry.check_boundary(boundary).is_ok())
        .collect();
    let calls: String = legal.iter().enumerate().map(|(i, case)| case.calls(name, T::KIND, i)).collect();
    let folder = format!("general-{name}-{}-{boundary}-{columns_first}-{count:?}", T::KIND);
    let found = launched(&folder, &file, &DEVICES[..1], &calls).remove(0);
    let mut random = Random(7);
    for (case, text) in legal.iter().zip(found.split("== ").skip(1)) {
        let (first, rest) = text.split_once('\n').expect("a line");
        let scratch: usize = first.split(' ').nth(1).expect("bytes").parse().expect("a number");
        let (forward, inverse) = rest.split_once("--\n").expect("both functions");
        let len = |apart: usize| {
            case.strides(apart).iter().zip(&case.shape).map(|(s, n)| (n - 1) * *s as usize).sum::<usize>() + 1
        };
        let [signal_len, bands_len] = case.apart.map(len);
        let places = |apart: usize| -> Vec<usize> {
            let strides = case.strides(apart);
            (0..case.shape.iter().product::<usize>())
                .map(|mut i| {
                    let mut at = 0;
                    for a in (0..case.shape.len()).rev() {
                        at += i % case.shape[a] * strides[a] as usize;
                        i /= case.shape[a];
                    }
                    at
                })
                .collect()
        };
        let data: Vec<T> = (0..case.shape.iter().product::<usize>())
            .map(|i| {
                T::from_i64(if gain && i % 3 == 0 { random.bits() as i64 } else { random.below(513) as i64 - 256 })
            })
            .collect();
        let mut bands = data.clone();
        let mut transform = case.transform(&scheme, boundary);
        transform.double_lone_odd = profile.is_some();
        transform.forward(&mut bands).expect("it is legal");
        let mut back = bands.clone();
        transform.inverse(&mut back).expect("it is legal");
        for (lines, from, expected, ways) in [(forward, &data, &bands, [0, 1]), (inverse, &bands, &back, [1, 0])] {
            let lens = [signal_len, bands_len];
            let scalar = scalar_of(T::KIND);
            let empty = |i: usize| Buffer::undefined(scalar, lens[i]).misaligned(case.off[i] as usize);
            let mut memory = Memory([empty(0), empty(1), Buffer::undefined(scalar, scratch / T::KIND.bytes())]);
            let [source, target] = ways;
            memory.0[source].set::<T>(places(case.apart[source]).into_iter().zip(from.iter().copied()));
            for line in lines.lines() {
                memory.execute::<T>(line, &file, case.off);
            }
            let found = &memory.0[target];
            let samples = found.to_vec::<T>().expect("they are of this type");
            for (i, at) in places(case.apart[target]).into_iter().enumerate() {
                assert!(found.is_defined_at(at), "{name} {boundary} {case:?}: sample {i} is undefined:\n{lines}");
                let (found, expected) = (samples[at], expected[i]);
                #[expect(clippy::eq_op, reason = "NaN differs from itself")]
                let same = found == expected || found != found && expected != expected;
                assert!(same, "{name} {boundary} {case:?}: sample {i} is {found:?}, not {expected:?}:\n{lines}");
            }
        }
    }
    found
}

/// Awkward sizes, single and many axes, batches, pitches, unaligned arrays, origins, and orders of axes.
fn awkward(seed: u64) -> Vec<Case> {
    let mut random = Random(seed);
    let mut cases: Vec<Case> = vec![
        case(&[1], 2),
        case(&[37], 3),
        case(&[700], 4),
        case(&[1, 1], 1),
        case(&[2, 2], 1),
        case(&[16, 16], 4),
        case(&[32, 32], 5),
        case(&[5, 64], 2),
        case(&[64, 48], 2),
        case(&[33, 65], 3),
        case(&[72, 128], 1),
        case(&[9, 10, 12], 2),
        Case { levels: vec![0, 2, 2], ..case(&[3, 20, 36], 0) },
        Case { levels: vec![2, 2, 0], ..case(&[20, 24, 3], 0) },
        Case { levels: vec![1, 2], ..case(&[20, 24], 0) },
        Case { levels: vec![2, 1], ..case(&[20, 24], 0) },
        Case { levels: vec![2, 0], ..case(&[40, 24], 0) },
        Case { apart: [3, 8], ..case(&[20, 40], 2) },
        Case { apart: [8, 8], off: [1, 0], ..case(&[24, 56], 2) },
        Case { off: [0, 1], ..case(&[32, 64], 2) },
        Case { off: [4, 4], ..case(&[16, 64], 1) },
        Case { order: vec![0, 1], ..case(&[24, 40], 2) },
        Case { origins: vec![1, 1], ..case(&[24, 40], 2) },
        Case { levels: vec![1, 0, 2, 1], order: vec![2, 0, 3, 1], ..case(&[4, 3, 8, 6], 0) },
    ];
    for _ in 0..24 {
        let (h, w) = (1 + random.below(40) as usize, 1 + random.below(90) as usize);
        let origins = if random.below(3) == 0 {
            vec![random.below(4) as i64 - 1, random.below(4) as i64 - 1]
        } else {
            vec![0; 2]
        };
        let apart = if random.below(2) == 0 { [0; 2] } else { [random.below(9) as usize, random.below(9) as usize] };
        let off = if random.below(3) == 0 { [random.below(8), random.below(8)] } else { [0; 2] };
        cases.push(Case { origins, apart, off, ..case(&[h, w], 1 + random.below(4) as u32) });
    }
    cases
}

#[test]
fn any_shape_equals_the_oracle() {
    for boundary in Boundary::ALL {
        equal_the_oracle::<i16>("legall53", boundary, false, &awkward(1));
    }
    let cases = awkward(2).into_iter().map(|case| Case { gain: 1, ..case }).collect::<Vec<_>>();
    equal_the_oracle::<i32>("dd137", Boundary::WholeSymmetric, false, &cases);
    equal_the_oracle::<f32>("cdf97", Boundary::WholeSymmetric, false, &awkward(3));
    equal_the_oracle::<f64>("cdf97", Boundary::Periodic, false, &awkward(4));
    equal_the_oracle::<f32>("db4", Boundary::Periodic, false, &awkward(5));
    equal_the_oracle::<f32>("cdf1_1", Boundary::Edge, false, &awkward(6));
    let first = awkward(7).into_iter().map(|case| Case { order: (0..case.shape.len()).collect(), ..case });
    let first: Vec<Case> = first.chain(lone()).collect();
    equal_the_oracle::<i16>("legall53", Boundary::WholeSymmetric, true, &first);
    equal_the_oracle::<f32>("cdf97", Boundary::WholeSymmetric, true, &first);
}

/// A file of few kernels takes every shape, with one launch for both axes of a level.
#[test]
fn few_kernels_equal_the_oracle() {
    let run = |launches: String| {
        for other in ["_pyramid_", "_registers_", "_warp_whole_", "_warp_image_", "_warp_aligned_"] {
            assert!(!launches.contains(other), "{other}: {launches}");
        }
    };
    let few = (false, Count::Few);
    let launches = all_launches::<i16>("dd137", Boundary::WholeSymmetric, few, &awkward(8));
    assert!(launches.contains("_warp_"), "{launches}");
    run(launches);
    run(all_launches::<f32>("cdf97", Boundary::Periodic, few, &awkward(9)));
    run(all_launches::<i32>("legall53", Boundary::HalfSymmetric, few, &awkward(10)));
}

/// Lines of one sample at odd positions, which JPEG 2000 doubles.
fn lone() -> Vec<Case> {
    let mut cases = vec![
        Case { origins: vec![1, 0, 1], order: vec![0, 1, 2], ..case(&[1, 5, 1], 1) },
        Case { levels: vec![0, 0, 0, 1, 1], origins: vec![0, 0, 0, 1, 3], ..case(&[2, 3, 2, 1, 4], 0) },
    ];
    cases[1].order = vec![0, 1, 2, 3, 4];
    for (h, w) in [(1, 1), (1, 2), (2, 1), (3, 1), (1, 7), (2, 2), (3, 5)] {
        for origin in [[0, 1], [1, 0], [1, 1], [-1, 3], [2, 3]] {
            let gain = u32::from(h == w);
            cases.push(Case { origins: origin.to_vec(), order: vec![0, 1], gain, ..case(&[h, w], 3) });
        }
    }
    cases
}

/// Volumes run in one launch, with aligned and other whole rows, or in several if that is impossible.
#[test]
fn volumes_equal_the_oracle() {
    let shapes: [(&[usize], u32); 7] = [
        (&[4, 6, 120], 1),
        (&[12, 20, 32], 2),
        (&[17, 10, 64], 1),
        (&[6, 34, 36], 1),
        (&[9, 10, 12], 2),
        (&[10, 31, 45], 1),
        (&[2, 2, 64], 1),
    ];
    let mut cases: Vec<Case> = shapes.iter().map(|(shape, levels)| case(shape, *levels)).collect();
    cases.extend([
        Case { order: vec![2, 0, 1], ..case(&[12, 20, 32], 1) },
        Case { order: vec![1, 2, 0], ..case(&[12, 20, 32], 1) },
        Case { origins: vec![1, 0, 0], ..case(&[12, 20, 32], 1) },
        Case { origins: vec![0, 1, 1], ..case(&[12, 20, 32], 1) },
        Case { apart: [4, 8], ..case(&[8, 12, 32], 1) },
        Case { levels: vec![0, 1, 1, 1], order: vec![3, 2, 1, 0], ..case(&[3, 8, 12, 32], 0) },
        Case { levels: vec![1, 1, 0, 1], order: vec![3, 1, 0, 2], ..case(&[8, 6, 3, 32], 0) },
    ]);
    let launched = |count, kind: &str| {
        let found = all_launches::<f32>("cdf97", Boundary::WholeSymmetric, (false, count), &cases);
        assert!(found.contains(kind), "{kind}: {found}");
    };
    launched(Count::Usual, "volume_aligned_forward");
    launched(Count::All, "volume_whole_forward");
    let found = all_launches::<f32>("db4", Boundary::Periodic, (false, Count::All), &cases);
    assert!(found.contains("inverse"), "{found}");
}

/// For shapes with launches over several axes, files have as many launches as plans, and report differences.
#[test]
fn large_shapes_launch_like_plans() {
    let tuning = Tuning::new(Schedule::Auto, Machine::default(), String::new());
    for (name, sample) in [("cdf97", SampleType::F32), ("legall53", SampleType::I16), ("dd137", SampleType::I16)] {
        let scheme = wavelet(name);
        let samples = [scalar_of(sample)];
        let boundary = scheme.boundary();
        let request = Request {
            scheme: &scheme,
            boundary,
            samples: &samples,
            gain: false,
            profile: None,
            prefix: None,
            command: "test",
        };
        let file =
            general(&request, &General { count: Count::All, columns_first: false, tuning: &tuning }).expect("a file");
        let cases = [
            case(&[8192, 8192], 1),
            case(&[8192, 8192], 5),
            case(&[4096, 4096], 5),
            case(&[1080, 1920], 3),
            case(&[1024, 1024], 4),
            case(&[8191, 8193], 1),
            case(&[1081, 1921], 3),
            Case { levels: vec![0, 3, 3], ..case(&[64, 1080, 1920], 0) },
        ];
        let calls: String = cases.iter().enumerate().map(|(i, case)| case.calls(name, sample, i)).collect();
        let found = launched(&format!("plans-{name}"), &file, &DEVICES[..1], &calls).remove(0);
        for (case, text) in cases.iter().zip(found.split("== ").skip(1)) {
            let geometry = Geometry::new(&case.shape, &case.origins, &case.levels, &case.order).expect("legal");
            let problem = Problem::new(scheme.clone(), geometry);
            let strides = contiguous(&case.shape);
            let mut program = Program::new(&problem, sample, &strides, &strides, &tuning).expect("a program");
            let count = case.shape.iter().product();
            program.arrange(Extent::of(count, None, &tuning.machine), &tuning.machine).expect("valid");
            let (_, rest) = text.split_once('\n').expect("a line");
            let (forward, inverse) = rest.split_once("--\n").expect("both");
            for (lines, list) in [(forward, &program.forward), (inverse, &program.inverse[0])] {
                let found: Vec<&str> = lines.lines().collect();
                let grids: Vec<String> =
                    list.launches.iter().map(|l| format!("[{} {} {}]", l.grid[0], l.grid[1], l.grid[2])).collect();
                let plain = |name: &str| name.split("_x").next().unwrap_or(name).to_owned();
                let kernel = |k: &Kernel| plain(&k.name);
                let names: Vec<String> =
                    list.launches.iter().map(|l| kernel(&program.kernels[l.kernel].kernel)).collect();
                let same = found.len() == names.len()
                    && found
                        .iter()
                        .zip(&grids)
                        .zip(&names)
                        .all(|((line, grid), name)| line.contains(grid) && line.starts_with(name));
                if !same {
                    println!(
                        "{name} {:?} {:?}:\n  file: {found:#?}\n  plan: {names:?} {grids:?}",
                        case.shape, case.levels
                    );
                }
                assert!(found.len() <= names.len() + 1, "{name} {:?}: {found:#?}, {names:?}", case.shape);
            }
        }
    }
}
