//! Enfedaque 2017: tables 2.1 to 2.4 and 2.6, figures 2.5 to 2.8, on a GeForce GTX TITAN Black.

use super::table::{Bandwidth, Claim, Counter, Row, Spec, Table, Unit, Usage, What};
use crate::register_blocks::{Build, RegisterBlockShape};
use liftc::bench::TimedOperation;
use liftc::failure::Outcome;
use lifting::BlockShape;
use lifting::SampleType::{F16, F32, I16};

/// Bandwidth measured by the SDK's test, of a peak of 336 · 10⁹ bytes per second (table 2.5).
const TITAN: (&str, Bandwidth) = ("GeForce GTX TITAN Black", Bandwidth::Measured(234.0));

/// The two transforms. The paper stores the 9/7 in 16 bits and computes it in 32.
fn wavelet(lossy: bool, side: usize) -> Spec {
    let spec = if lossy { Spec::new("cdf97", F32, &[side; 2]) } else { Spec::new("legall53", I16, &[side; 2]) };
    Spec { stored: Some(2), ..spec }
}

fn name(lossy: bool) -> &'static str {
    if lossy { "9/7" } else { "5/3" }
}

/// The paper's blocks of four warps.
fn blocks(rows: u32, build: Build) -> Vec<BlockShape> {
    vec![RegisterBlockShape { rows, warps: 4, build }.into()]
}

/// Rows, halo included, and warps of blocks to choose from, the paper's first.
const SHAPES: [(u32, u32); 13] = [
    (20, 4),
    (10, 4),
    (12, 4),
    (14, 4),
    (16, 4),
    (24, 4),
    (32, 4),
    (12, 8),
    (16, 8),
    (20, 8),
    (12, 2),
    (20, 2),
    (20, 1),
];

/// Number of shapes for variants of the paper's kernel, which compile slowly.
const OF_VARIANTS: usize = 5;

fn tuned(build: Build) -> Vec<BlockShape> {
    let shapes = if build == Build::Shuffles { &SHAPES[..] } else { &SHAPES[..OF_VARIANTS] };
    shapes.iter().map(|&(rows, warps)| RegisterBlockShape { rows, warps, build }.into()).collect()
}

/// Samples read and written per sample of the image, for blocks with a halo of 2J samples per side: equation 2.4.
fn moved(width: f64, height: f64, pairs: f64) -> f64 {
    width * height / ((width - 4.0 * pairs) * (height - 4.0 * pairs)) + 1.0
}

/// Sides of the paper's images.
const SIDES: [usize; 4] = [1024, 2048, 4096, 8192];

fn one() -> Table {
    let sizes = [(16.0, 16.0), (32.0, 32.0), (64.0, 64.0), (128.0, 128.0), (64.0, 20.0)];
    let papers = [[2.78, 2.31, 2.14, 2.07, 2.33], [5.0, 2.78, 2.31, 2.14, 2.90]];
    let rows = papers.into_iter().enumerate().flat_map(|(j, papers)| {
        sizes.into_iter().zip(papers).map(move |((width, height), paper)| {
            let label = format!("{}, blocks of {width} × {height}", name(j == 1));
            Row::new(label, paper, What::Derived(moved(width, height, j as f64 + 1.0)))
        })
    });
    // Over the samples that blocks without halos move, in the text of table 2.2.
    let increases = [1.17, 1.45].into_iter().enumerate().map(|(j, paper)| {
        let label = format!("{}, blocks of 64 × 20, increase by halos", name(j == 1));
        Row::new(label, paper, What::Derived(moved(64.0, 20.0, j as f64 + 1.0) / 2.0))
    });
    let title = "Enfedaque 2017, table 2.1: samples moved by blocks, in M (separate passes: 4)";
    let rows = rows.chain(increases).collect();
    Table { id: "enfedaque-2.1", title, device: TITAN, unit: Unit::Number, rows, claims: Vec::new() }
}

fn two() -> Outcome<Table> {
    // Times without halos, and with them.
    let papers = [
        [[17.0, 23.0], [63.0, 74.0], [245.0, 279.0], [981.0, 1091.0]],
        [[19.0, 34.0], [67.0, 116.0], [255.0, 444.0], [1015.0, 1749.0]],
    ];
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for (j, papers) in papers.into_iter().enumerate() {
        // Twice the samples is where two passes win.
        let most = 2.0;
        for (side, [without, with]) in SIDES.into_iter().zip(papers) {
            let spec = Spec { blocks: blocks(20, Build::Moves), ..wavelet(j == 1, side) };
            let label = |how: &str| format!("{}, {side}², only moved, {how}", name(j == 1));
            rows.push(spec.row(label("with halos"), with)?);
            rows.push(spec.copy(label("no halos (a copy)"), without)?);
            let else_ = "a warp stores rows of 60 bytes into each band and shares the sectors at both ends with the \
                         next warp: counted in sectors, that is 1.7 copies";
            claims.push(Claim::within(most, label("with halos"), label("no halos (a copy)"), else_));
        }
    }
    let title = "Enfedaque 2017, table 2.2: blocks of 64 × 20 that only move, one level";
    Ok(Table { id: "enfedaque-2.2", title, device: TITAN, unit: Unit::Microseconds, rows, claims })
}

/// Height of blocks: figure 2.5, whose numbers are not printed.
fn heights() -> Outcome<Table> {
    let mut rows = Vec::new();
    for lossy in [false, true] {
        for height in [10, 20, 30, 40, 50, 60, 70] {
            let halo = if lossy { 8 } else { 4 };
            if height <= halo + 2 && lossy {
                continue;
            }
            let spec = Spec { blocks: blocks(height, Build::Shuffles), ..wavelet(lossy, 7168) };
            rows.push(spec.row(format!("{}, blocks of 64 × {height}", name(lossy)), None)?);
        }
        rows.push(wavelet(lossy, 7168).row(format!("{}, plan", name(lossy)), None)?);
    }
    let best = |else_| Claim::new("5/3, blocks of 64 × 20", "5/3, blocks of 64 × 70", else_);
    let claims = vec![best("the registers suffice for taller blocks, and these have relatively smaller halos")];
    let title = "Enfedaque 2017, figure 2.5: heights of blocks, one level of 7168²";
    Ok(Table { id: "enfedaque-2.3", title, device: TITAN, unit: Unit::Microseconds, rows, claims })
}

/// Instructions by height of blocks: table 2.3. As in the paper, all five levels are counted.
fn instructions() -> Outcome<Table> {
    let papers = [70655.0, 45153.0, 39749.0, 37106.0, 35599.0, 34604.0, 34222.0];
    let heights = [10, 20, 30, 40, 50, 60, 70];
    let label = |height: u32| format!("5/3, blocks of 64 × {height}");
    let row = |(height, paper): (u32, f64)| {
        let spec = Spec { blocks: blocks(height, Build::Shuffles), ..wavelet(false, 7168) };
        spec.counted((Counter::Instructions, 5), label(height), paper)
    };
    let rows = heights.into_iter().zip(papers).map(row).collect::<Outcome<_>>()?;
    let taller = |pair: &[u32]| {
        Claim::new(label(pair[1]), label(pair[0]), "blocks of four warps extend beyond the image by more than a halo")
    };
    let claims = heights.windows(2).map(taller).collect();
    let title =
        "Enfedaque 2017, table 2.3: instructions of warps by height of blocks, five levels of 7168², in thousands";
    Ok(Table { id: "enfedaque-2.3-counts", title, device: TITAN, unit: Unit::Number, rows, claims })
}

/// Registers per thread and occupancy, by height of blocks: table 2.3.
fn registers() -> Outcome<Table> {
    let papers =
        [(10, 34.0, 69.0), (20, 57.0, 45.0), (30, 78.0, 33.0), (40, 97.0, 22.0), (50, 121.0, 22.0), (60, 141.0, 16.0)];
    let label = |height: u32, what: &str| format!("5/3, blocks of 64 × {height}, {what}");
    let mut rows = Vec::new();
    for (height, registers, occupancy) in papers.into_iter().chain([(70, 161.0, 16.0)]) {
        let spec = Spec { blocks: blocks(height, Build::Shuffles), ..wavelet(false, 7168) };
        rows.push(spec.used(Usage::Registers, label(height, "registers"), registers)?);
        rows.push(spec.used(Usage::Occupancy, label(height, "occupancy, %"), occupancy)?);
    }
    let claims = [20, 30, 40, 50, 60, 70].map(|height| {
        let else_ = "launch bounds request resident blocks, and the compiler uses all registers that they leave";
        Claim::new(label(height - 10, "registers"), label(height, "registers"), else_)
    });
    let title = "Enfedaque 2017, table 2.3: registers of a thread, and occupancy, by heights of blocks";
    let claims = claims.into();
    Ok(Table { id: "enfedaque-2.3-registers", title, device: TITAN, unit: Unit::Number, rows, claims })
}

/// Instructions and sectors of the paper's method, of van der Laan's, and of the method in shared memory: table 2.4.
fn counts() -> Outcome<Table> {
    /// Instructions of the method, of reference [8], and in shared memory; accesses of the method and of [8].
    const PAPERS: [[[f64; 5]; 4]; 2] = [
        [
            [982.0, 3554.0, 1618.0, 208.0, 348.0],
            [3804.0, 12350.0, 6224.0, 822.0, 1395.0],
            [14926.0, 44541.0, 24357.0, 3287.0, 5587.0],
            [59e3, 167e3, 96e3, 13e3, 22e3],
        ],
        [
            [2026.0, 5370.0, 3743.0, 210.0, 366.0],
            [7847.0, 18921.0, 14456.0, 825.0, 1396.0],
            [31200.0, 69266.0, 57513.0, 3313.0, 5588.0],
            [124e3, 263e3, 229e3, 13e3, 23e3],
        ],
    ];
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for (lossy, papers) in [false, true].into_iter().zip(PAPERS) {
        for (side, [own, laan, shared, own_moved, laan_moved]) in SIDES.into_iter().zip(papers) {
            let label = |how: &str| format!("{}, {side}², {how}", name(lossy));
            let built = |build| Spec { blocks: blocks(20, build), ..wavelet(lossy, side) };
            let passes = Spec { schedule: "shared", ..wavelet(lossy, side) };
            let (instructions, sectors) = ((Counter::Instructions, 5), (Counter::Transactions, 5));
            rows.push(built(Build::Shuffles).counted(instructions, label("instructions"), own)?);
            rows.push(passes.counted(instructions, label("instructions, van der Laan's passes"), laan)?);
            rows.push(built(Build::Shared).counted(
                instructions,
                label("instructions, all in shared memory"),
                shared,
            )?);
            rows.push(built(Build::Shuffles).counted(sectors, label("memory accesses"), own_moved)?);
            rows.push(passes.counted(sectors, label("memory accesses, van der Laan's passes"), laan_moved)?);
            if lossy {
                // As stored in the thesis; arithmetic in 32 bits.
                let halves = |spec: Spec| Spec { sample: F16, ..spec };
                let blocks = halves(built(Build::Shuffles));
                rows.push(blocks.counted(sectors, label("memory accesses, f16"), own_moved)?);
                let passes = halves(passes);
                rows.push(passes.counted(sectors, label("memory accesses, van der Laan's passes, f16"), laan_moved)?);
            }
            let passes = "passes over whole rows have no halo, and IR operations are counted, before compilation";
            let sectors = "9/7 samples have 32 bits here";
            for (less, more, else_) in [
                ("instructions", "instructions, van der Laan's passes", passes),
                ("instructions", "instructions, all in shared memory", passes),
                ("memory accesses", "memory accesses, van der Laan's passes", sectors),
            ] {
                claims.push(Claim::new(label(less), label(more), else_));
            }
        }
    }
    let title =
        "Enfedaque 2017, table 2.4: instructions of warps, and sectors that they access, five levels, in thousands";
    Ok(Table { id: "enfedaque-2.4", title, device: TITAN, unit: Unit::Number, rows, claims })
}

/// Shuffles, shared memory and plans: figures 2.6 and 2.7, whose times are not printed.
fn variants() -> Outcome<Table> {
    let mut rows = Vec::new();
    let mut claims = Vec::new();
    for lossy in [false, true] {
        let (forward, inverse) = (TimedOperation::Forward, TimedOperation::Inverse);
        let cases = [
            (2048, 1, forward, "2048²"),
            (8192, 1, forward, "8192²"),
            (8192, 5, forward, "8192², five levels"),
            (8192, 1, inverse, "8192², synthesis"),
        ];
        for (side, levels, way, text) in cases {
            let label = |how: &str| format!("{}, {text}, {how}", name(lossy));
            let spec = Spec { levels, way, ..wavelet(lossy, side) };
            let built = |build| Spec { blocks: tuned(build), ..spec.clone() };
            rows.push(built(Build::Shuffles).row(label("registers and shuffles"), None)?);
            rows.push(built(Build::Exchange).row(label("registers, exchange through shared memory"), None)?);
            rows.push(built(Build::Shared).row(label("all in shared memory"), None)?);
            let passes = Spec { schedule: "sliding-window", ..spec.clone() };
            rows.push(passes.row(label("van der Laan's passes"), None)?);
            rows.push(spec.row(label("plan"), None)?);
            for (slower, else_) in [
                (
                    "registers, exchange through shared memory",
                    "memory limits both, and shared memory is otherwise idle",
                ),
                ("all in shared memory", "memory limits both"),
                ("van der Laan's passes", "one pass should beat two"),
            ] {
                claims.push(Claim::new(label("registers and shuffles"), label(slower), else_));
            }
        }
    }
    let title = "Enfedaque 2017, figures 2.6 and 2.7: registers against shared memory";
    Ok(Table { id: "enfedaque-2.7", title, device: TITAN, unit: Unit::Microseconds, rows, claims })
}

fn bound() -> Outcome<Table> {
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for lossy in [false, true] {
        let label = |how: &str| format!("{}, 8192², {how}", name(lossy));
        for (build, how) in [
            (Build::Shuffles, "total"),
            (Build::Moves, "global memory accesses"),
            (Build::Lifts, "arithmetic operations"),
        ] {
            let spec = Spec { blocks: blocks(20, build), ..wavelet(lossy, 8192) };
            rows.push(spec.row(label(how), None)?);
        }
        let else_ = "instructions are the limit, not memory: on this device, bandwidth has grown more than throughput";
        claims.push(Claim::new(label("arithmetic operations"), label("global memory accesses"), else_));
    }
    let title = "Enfedaque 2017, figure 2.8: what bounds blocks of 64 × 20, one level";
    Ok(Table { id: "enfedaque-2.8", title, device: TITAN, unit: Unit::Microseconds, rows, claims })
}

fn six() -> Outcome<Table> {
    let papers = [[55.0, 139.0, 467.0, 1741.0], [79.0, 194.0, 652.0, 2490.0]];
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for (j, papers) in papers.into_iter().enumerate() {
        for (side, paper) in SIDES.into_iter().zip(papers) {
            let five = Spec { levels: 5, ..wavelet(j == 1, side) };
            let own = Spec { blocks: tuned(Build::Shuffles), ..five.clone() };
            rows.push(own.row(format!("{}, {side}²", name(j == 1)), paper)?);
            rows.push(five.row(format!("{}, {side}², plan", name(j == 1)), None)?);
            // Claim: time follows the bandwidth of devices.
            let else_ = "latency of launches and memory does not shrink as bandwidth grows: a small level \
                         takes as long as on slower devices, and a large one stores partial sectors";
            claims.push(Claim::no_more_copies(format!("{}, {side}²", name(j == 1)), else_));
        }
    }
    let title = "Enfedaque 2017, table 2.6: five levels";
    Ok(Table { id: "enfedaque-2.6", title, device: TITAN, unit: Unit::Microseconds, rows, claims })
}

pub fn tables() -> Outcome<Vec<Table>> {
    Ok(vec![one(), two()?, heights()?, registers()?, instructions()?, counts()?, variants()?, bound()?, six()?])
}
