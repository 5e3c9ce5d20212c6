//! Benchmark of CPU plans against a copy of the same samples: `cargo bench -p lifting --bench cpu`; a filter selects
//! benchmarks.

// The macros make functions without documentation.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lifting::{Device, Plan, Sample, catalogue};

/// Measures a representative wavelet on an image of `side`², one level and five, on one thread.
fn transforms<T: Sample + From<u8>>(c: &mut Criterion, wavelet: &str, side: usize) {
    let scheme = catalogue::find(wavelet).expect("the catalogue has it");
    let image: Vec<T> = (0..side * side).map(|n| T::from((n % 251) as u8)).collect();
    let mut group = c.benchmark_group(format!("{wavelet} {side}²"));
    group.throughput(Throughput::Bytes((2 * size_of_val(&image[..])) as u64)).sample_size(20);
    let mut to = image.clone();
    group.bench_function("copy", |b| b.iter(|| to.copy_from_slice(std::hint::black_box(&image))));
    for levels in [1, 5] {
        let plan = Plan::builder(&scheme).shape(&[side, side]).levels(levels).sample::<T>();
        let plan = plan.build(&Device::cpu_with_threads(1)).expect("the CPU takes every shape");
        let mut workspace = plan.workspace();
        let mut coefficients = vec![T::from(0); plan.coefficient_len()];
        group.bench_function(BenchmarkId::new("forward", levels), |b| {
            b.iter(|| plan.forward_with(&image, &mut coefficients, &mut workspace).expect("lengths are the plan's"));
        });
        group.bench_function(BenchmarkId::new("inverse", levels), |b| {
            b.iter(|| plan.inverse_with(&coefficients, &mut to, &mut workspace).expect("lengths are the plan's"));
        });
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    transforms::<i16>(c, "legall53", 2048);
    transforms::<i16>(c, "dd137", 2048);
    transforms::<f32>(c, "cdf97", 2048);
}

criterion_group!(benches, all);
criterion_main!(benches);
