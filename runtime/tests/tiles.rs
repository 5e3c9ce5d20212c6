//! Independent tiles: the same bits as each tile by itself, on every executor.

use lifting::{Boundary, Device, Layout, Pad, Plan, PlanBuilder, PlanError, Sample, catalogue};

/// Independent samples.
fn noise(len: usize) -> impl Iterator<Item = i16> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as i16 % 1000
    })
    .take(len)
}

/// Cuts a tile out of an array, row-major.
fn cut<T: Copy>(array: &[T], shape: &[usize], offset: &[usize], tile: &[usize]) -> Vec<T> {
    let samples = tile.iter().product::<usize>();
    let at = |mut index: usize| {
        let (mut at, mut stride) = (0, 1);
        for axis in (0..shape.len()).rev() {
            at += (offset[axis] + index % tile[axis]) * stride;
            index /= tile[axis];
            stride *= shape[axis];
        }
        array[at]
    };
    (0..samples).map(at).collect()
}

/// Compares a plan with tiles with plans of each tile, in all operations.
fn check<T: Sample + PartialEq + std::fmt::Debug>(
    builder: &PlanBuilder<'_, T>,
    shape: &[usize],
    tile: &[usize],
    device: &Device,
    sample: impl Fn(i16) -> T,
) {
    let what = format!("{shape:?} in {tile:?} on {device}");
    let whole = builder.clone().shape(shape);
    let plan = whole.clone().tile(tile).build(device).unwrap();
    let data: Vec<T> = noise(plan.len()).map(sample).collect();
    let empty = vec![T::default(); data.len()];
    let mut coefficients = empty.clone();
    plan.forward(&data, &mut coefficients).unwrap();
    let mut in_place = data.clone();
    plan.forward_in_place(&mut in_place).unwrap();
    assert!(in_place == coefficients, "{what}: in place");

    // Arbitrary coefficients are valid input for synthesis.
    let mut back = empty.clone();
    plan.inverse(&coefficients, &mut back).unwrap();
    let mut back_in_place = coefficients.clone();
    plan.inverse_in_place(&mut back_in_place).unwrap();
    assert!(back == back_in_place, "{what}: synthesis in place");
    let lows: Vec<Vec<T>> = (0..=plan.depth())
        .map(|level| {
            let mut low = vec![T::default(); plan.level_shape(level).unwrap().iter().product()];
            plan.inverse_to(level, &coefficients, &mut low).unwrap();
            low
        })
        .collect();
    let mut adjoint = empty.clone();
    let has_adjoint = plan.adjoint(&coefficients, &mut adjoint).is_ok();

    let mut seen = vec![0; data.len()];
    for tile in plan.tiles() {
        let alone = builder.clone().shape(&tile.shape).build(&Device::cpu_with_threads(1)).unwrap();
        let own = cut(&data, shape, &tile.offset, &tile.shape);
        let mut wanted = vec![T::default(); own.len()];
        alone.forward(&own, &mut wanted).unwrap();
        let found = cut(&coefficients, shape, &tile.offset, &tile.shape);
        assert!(found == wanted, "{what}: the tile at {:?}", tile.offset);
        for (own, band) in alone.subbands().zip(&tile.subbands) {
            assert_eq!((&own.name, &own.shape), (&band.name, &band.shape));
            assert!(own.samples(&wanted).eq(band.samples(&coefficients)), "{what}: {}", band.name);
        }
        for (level, low) in (0..).zip(&lows) {
            let shape = alone.level_shape(level).unwrap();
            let mut wanted = vec![T::default(); shape.iter().product()];
            alone.inverse_to(level, &found, &mut wanted).unwrap();
            // Offsets of tiles are halved at every level.
            let halved = |axis: usize| {
                let levels = plan.recipe().levels[axis].min(level);
                tile.offset[axis] >> levels
            };
            let offset: Vec<usize> = (0..shape.len()).map(halved).collect();
            let found = cut(low, plan.level_shape(level).unwrap(), &offset, shape);
            assert!(found == wanted, "{what}: level {level} of the tile at {:?}", tile.offset);
        }
        if has_adjoint {
            let mut wanted = vec![T::default(); own.len()];
            alone.adjoint(&found, &mut wanted).unwrap();
            assert!(cut(&adjoint, shape, &tile.offset, &tile.shape) == wanted, "{what}: the adjoint");
        }
        for (index, count) in seen.iter_mut().enumerate() {
            let (mut rest, mut inside) = (index, true);
            for axis in (0..shape.len()).rev() {
                inside &= (tile.offset[axis]..tile.offset[axis] + tile.shape[axis]).contains(&(rest % shape[axis]));
                rest /= shape[axis];
            }
            *count += usize::from(inside);
        }
    }
    assert!(seen.iter().all(|&count| count == 1), "{what}: each sample is in one tile");
}

/// Devices for these tests. An OpenCL device may be missing, as the tests of `opencl` report.
fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu_with_threads(1), Device::cpu_with_threads(3), Device::Interpreter];
    devices.extend(Device::cuda(0));
    devices.extend(Device::opencl(0));
    devices
}

#[test]
fn each_tile_equals_a_separate_transform() {
    let legall = catalogue::find("legall53").unwrap();
    let cdf97 = catalogue::find("cdf97").unwrap();
    let dd137 = catalogue::find("dd137").unwrap();
    let db4 = catalogue::find("db4").unwrap();
    for device in devices() {
        let integer = |builder: PlanBuilder<'_>, shape: &[usize], tile: &[usize]| {
            check(&builder.sample::<i16>(), shape, tile, &device, |x| x);
        };
        let real = |builder: PlanBuilder<'_>, shape: &[usize], tile: &[usize]| {
            check(&builder.sample::<f32>(), shape, tile, &device, f32::from);
        };
        integer(Plan::builder(&legall).levels(2), &[37, 50], &[16, 16]);
        integer(Plan::builder(&dd137).levels(1).boundary(Boundary::Edge), &[24, 41], &[8, 100]);
        integer(Plan::builder(&legall).levels(2).layout(Layout::Interleaved), &[19, 21], &[8, 4]);
        real(Plan::builder(&cdf97).levels(2), &[33, 70], &[32, 32]);
        real(Plan::builder(&db4).levels(1).boundary(Boundary::Periodic), &[24, 36], &[10, 8]);
        // Tiles of odd origins, a batch, a line, a volume.
        real(Plan::builder(&cdf97).levels(2).origins(&[3, 5]), &[20, 40], &[12, 16]);
        real(Plan::builder(&cdf97).levels_per_axis(&[0, 1, 2]), &[3, 18, 24], &[3, 8, 12]);
        integer(Plan::builder(&legall).levels(3), &[101], &[16]);
        integer(Plan::builder(&legall).levels(1), &[9, 10, 11], &[4, 10, 6]);
    }
}

#[test]
fn one_tile_is_the_whole() {
    let cdf97 = catalogue::find("cdf97").unwrap();
    let plan = Plan::builder(&cdf97).shape(&[30, 40]).levels(2).sample::<f32>();
    let tiled = plan.clone().tile(&[64, 64]).build(&Device::cpu()).unwrap();
    let plain = plan.build(&Device::cpu()).unwrap();
    assert!(tiled.subbands().eq(plain.subbands()));
    let tiles: Vec<_> = plain.tiles().collect();
    assert_eq!(tiles, tiled.tiles().collect::<Vec<_>>());
    assert_eq!((tiles.len(), &tiles[0].shape[..]), (1, &[30, 40][..]));
}

#[test]
fn invalid_tiles_are_reported() {
    let cdf97 = catalogue::find("cdf97").unwrap();
    let error = |tile: &[usize], change: &dyn Fn(PlanBuilder<'_, f32>) -> String| {
        change(Plan::builder(&cdf97).shape(&[30, 40]).levels(2).tile(tile).sample::<f32>())
    };
    let said = |builder: PlanBuilder<'_, f32>| match builder.build(&Device::cpu()) {
        Err(e @ PlanError::Tile(_)) => e.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(error(&[8], &said), "a tile has 1 lengths, but the data has 2 axes: give one for each axis");
    assert!(error(&[8, 0], &said).contains("length 0 along axis 1"));
    assert_eq!(
        error(&[8, 10], &said),
        "a tile has length 10 along axis 1, which is not a multiple of 4 (2^levels): low bands of tiles would not \
         join; choose a multiple, fewer levels, or the axis' length"
    );
    assert!(error(&[8, 8], &|builder| said(builder.pad(Pad::Edge))).contains("are not padded to [32, 40]"));
    let many = Plan::builder(&cdf97).shape(&[4; 5]).levels(1).tile(&[2; 5]).sample::<f32>().build(&Device::cpu());
    assert!(matches!(many, Err(PlanError::Tile(_))), "{many:?}");
}

#[test]
fn first_tiles_are_one_of_each_shape() {
    let plan = Plan::builder(&catalogue::find("legall53").unwrap())
        .shape(&[100, 70])
        .levels(2)
        .tile(&[32, 32])
        .sample::<i32>()
        .build(&Device::cpu())
        .unwrap();
    let mut expected: Vec<lifting::Tile> = Vec::new();
    for tile in plan.tiles() {
        if expected.iter().all(|other| other.shape != tile.shape) {
            expected.push(tile);
        }
    }
    assert_eq!(expected.len(), 4);
    assert_eq!(plan.first_tiles().collect::<Vec<_>>(), expected);
}
