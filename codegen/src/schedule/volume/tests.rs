//! Tests of refusals and launch durations.

use super::*;
use crate::machine::Machine;
use crate::schedule::Fit as _;
use crate::schedule::level::{Array, Job, Planes};
use crate::testing::wavelets;

/// A small tile shape: small volumes then have several tiles.
fn small(options: Options) -> VolumeShape {
    let (columns, warps) = match options.sample.bytes() {
        2 => (4, 8),
        4 => (2, 4),
        _ => (2, 8),
    };
    VolumeShape { columns, pairs: 1, warps, min_blocks: 0, aligned: false, whole_sectors: false }
}

/// A batch of volumes of 4-byte samples with aligned rows.
fn job([depth, height, width]: [i32; 3], batch: i32) -> Job {
    // Pitches of the signal and of bands.
    let pitches = [width + 2, (width + 1) / 2 + 2].map(|pitch| (i64::from(pitch) + 15) / 16 * 16);
    let steps = [0, 1, 1].map(|i: usize| pitches[i] * i64::from([height, (height + 1) / 2][i]) + 16);
    let array = |i: usize| Array {
        address: 0,
        pitch: pitches[i],
        stride: steps[i] * i64::from([depth, (depth + 1) / 2][i]) + 16,
    };
    let planes = Planes { high: [array(1); 4], steps, depth, parity: 0 };
    Job { batch, planes: Some(planes), ..Job::image(array(0), [array(1); 4], width, height) }
}

#[test]
fn refusals_name_the_limit() {
    let compiled = lifting_dsl::compile(
        "wavelet short { domain integer; odd -= even[0]; even += odd[0]; }
         wavelet lopsided { domain integer; odd -= even[1]; even += odd[0] >> 1; }
         wavelet far { domain integer; boundary zero; odd -= even[-60] + even[60]; }
         wavelet scaled { domain real; odd += 0.5*(even[0] + even[1]); odd *= 0.5; even += 0.25*(odd[-1] + odd[0]); }",
    );
    let mut text = String::new();
    let schemes = compiled.expect("it compiles").schemes;
    let usual = VolumeShape { columns: 4, pairs: 3, warps: 8, min_blocks: 0, aligned: false, whole_sectors: false };
    let mut refuse = |scheme: &Scheme, sample: Scalar, boundary: Boundary, shape: VolumeShape| {
        let options = Options::new(sample, boundary, Direction::Forward);
        let error = fit(scheme, options, shape).expect_err("a limit");
        text += &format!("{error}\n");
    };
    let [short, lopsided, far, scaled] = &schemes[..] else { panic!("four wavelets") };
    refuse(short, Scalar::F32, Boundary::Zero, usual);
    for shape in [
        VolumeShape { columns: 8, ..usual },
        VolumeShape { columns: 1, ..usual },
        VolumeShape { pairs: 0, ..usual },
        VolumeShape { warps: 0, ..usual },
        VolumeShape { warps: 6, ..usual },
        VolumeShape { pairs: 20, ..usual },
    ] {
        refuse(short, Scalar::I32, Boundary::Zero, shape);
    }
    refuse(lopsided, Scalar::I32, Boundary::WholeSymmetric, usual);
    refuse(far, Scalar::I32, Boundary::Zero, usual);
    refuse(scaled, Scalar::F32, Boundary::Edge, usual);
    refuse(scaled, Scalar::F32, Boundary::WholeSymmetric, VolumeShape { whole_sectors: true, ..usual });
    refuse(short, Scalar::I64, Boundary::Zero, VolumeShape { columns: 2, pairs: 6, warps: 16, ..usual });
    insta::assert_snapshot!(text);
}

/// Refused launches and chosen chunk lengths.
#[test]
fn launches() {
    let [_, legall53, cdf97] = wavelets();
    let options = |sample, boundary| Options::new(sample, boundary, Direction::Forward);
    let block = |boundary, aligned| {
        let shape = VolumeShape { aligned, ..small(options(Scalar::I32, boundary)) };
        fit(&legall53, options(Scalar::I32, boundary), shape).expect("a tile")
    };
    let whole = job([64; 3], 1);
    let symmetric = block(Boundary::WholeSymmetric, false);
    assert_eq!(symmetric.placement(&whole), Ok([3, 0]));
    let aligned = block(Boundary::Edge, true);
    assert_eq!(aligned.accepts(&whole), Ok(()));
    let planes = whole.planes.expect("it is a volume");
    let with = |planes: Planes| Job { planes: Some(planes), ..whole };
    // Tiles of 112 columns that store whole sectors, against 120 without.
    let sectors = fit(
        &legall53,
        options(Scalar::I32, Boundary::Periodic),
        VolumeShape { aligned: true, whole_sectors: true, columns: 4, pairs: 1, warps: 8, min_blocks: 0 },
    )
    .expect("a tile");
    let mut text = String::new();
    let periodic = block(Boundary::Periodic, false);
    for (block, job) in [
        (&symmetric, Job { planes: None, ..whole }),
        (&symmetric, with(Planes { depth: 1, ..planes })),
        (&symmetric, with(Planes { parity: 2, ..planes })),
        (&symmetric, with(Planes { steps: [1 << 31, 4096, 4096], ..planes })),
        (&symmetric, Job { width: 1, ..whole }),
        (&symmetric, Job { batch: 65536, ..whole }),
        (&symmetric, Job { height: 65535 * symmetric.rows() as i32 + 1, ..whole }),
        (&symmetric, with(Planes { high: planes.high.map(|band| Array { pitch: 65, ..band }), ..planes })),
        (&symmetric, with(Planes { high: planes.high.map(|band| Array { address: 1, ..band }), ..planes })),
        (&periodic, with(Planes { depth: 63, ..planes })),
        (&periodic, Job { width: 63, ..whole }),
        (&aligned, with(Planes { steps: [4097, 4096, 4096], ..planes })),
        (&aligned, Job { parity: [0, 1], ..whole }),
        (&aligned, Job { width: 63, ..whole }),
        (&aligned, Job { width: 2, ..whole }),
        (&aligned, Job { batch: 3, signal: Array { stride: 1 << 30, ..whole.signal }, ..whole }),
        (&aligned, with(Planes { depth: 1 << 19, ..planes })),
        (&sectors, job([8, 8, 480], 1)),
    ] {
        text += &format!("{}\n", block.accepts(&job).expect_err("a limit"));
    }
    insta::assert_snapshot!(text);
    assert_eq!(symmetric.accepts(&with(Planes { depth: 1 << 19, ..planes })), Ok(()));
    assert_eq!(sectors.accepts(&job([8, 8, 512], 1)), Ok(()));
    // The chosen chunks make the last block end earliest.
    let options = options(Scalar::F32, Boundary::WholeSymmetric);
    let shape = VolumeShape::proposed(&cdf97, options).expect("a tile")[0];
    let block = fit(&cdf97, options, shape).expect("a tile");
    let chunk = |side| block.chunk(&job([side; 3], 1), &Machine::default());
    insta::assert_snapshot!(format!("{:?}", [64, 128, 256, 512].map(chunk)));
}

/// `duration` predicts when the last block ends. A simulation starts blocks in order as multiprocessors become free,
/// with long and short chunks.
#[test]
fn durations() {
    let [.., cdf97] = wavelets();
    let options = Options::new(Scalar::F32, Boundary::WholeSymmetric, Direction::Inverse);
    let shape = VolumeShape::proposed(&cdf97, options).expect("a tile")[0];
    let block = fit(&cdf97, options, shape).expect("a tile");
    for (sides, batch, multiprocessors) in
        [([512, 512, 512], 1, 132), ([480, 400, 300], 1, 108), ([64, 64, 64], 7, 132), ([201, 30, 40], 2, 5)]
    {
        let job = job(sides, batch);
        let [depth, height, width] = sides.map(|n| n as i64);
        let tiles = (width as u64).div_ceil(block.columns() as u64) * (height as u64).div_ceil(block.rows() as u64);
        let simulated = |chunk: i64| {
            let mut ends = vec![0; multiprocessors as usize];
            for part in 0..(depth + 1) / 2 {
                let walked = ((depth + 1) / 2 - part * chunk).min(chunk);
                for _ in 0..if walked > 0 { tiles * batch as u64 } else { 0 } {
                    *ends.iter_mut().min().expect("there are some") += walked + block.halo_pairs();
                }
            }
            ends.into_iter().max().expect("there are some")
        };
        let chunks = 1..=(depth + 1) / 2;
        for chunk in chunks.clone() {
            assert_eq!(block.duration(&job, chunk as i32, multiprocessors), simulated(chunk), "{sides:?} {chunk}");
        }
        let chosen = block.chunk(&job, &Machine::default().with_multiprocessors(multiprocessors));
        assert_eq!(Some(simulated(chosen.into())), chunks.map(simulated).min());
    }
}
