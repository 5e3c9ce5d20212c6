//! Matela 2009, tables 1 to 3, on a GeForce GTX 295; and Yatsymirskyy, Puchala & Szczępaniak 2015, figures 3 and 4 and
//! table 1, on a GeForce GT 720M.

use super::table::{Bandwidth, Claim, Row, Spec, Table, Unit, What};
use liftc::bench::cuda::Transfer;
use liftc::failure::Outcome;
use lifting::SampleType::{F32, I16};

/// Bandwidth of one of its two processors: 448 bits at 2 GT/s.
const GTX: (&str, Bandwidth) = ("GeForce GTX 295", Bandwidth::Theoretical(111.9));
/// Bandwidth of 64 bits at 1.8 GT/s.
const GT: (&str, Bandwidth) = ("GeForce GT 720M", Bandwidth::Theoretical(14.4));

fn matela_1() -> Table {
    // A byte per sample makes 2.1 MB; 0.40 ms and 4.7 GB/s make 1.9 MB.
    let bytes = 1920 * 1080;
    let row = |label, paper, pinned| Row::new(label, paper, What::Transfer(Transfer { bytes, pinned, back: false }));
    let rows = vec![row("malloc()", 0.40, false), row("cudaMallocHost()", 0.33, true)];
    let claims =
        vec![Claim::new("cudaMallocHost()", "malloc()", "the driver's own copy to pinned memory costs little")];
    let title = "Matela 2009, table 1: host to device, 1920 × 1080 bytes (PCIe 2.0 ×16)";
    Table { id: "matela-1", title, device: GTX, unit: Unit::Milliseconds, rows, claims }
}

fn matela_2() -> Outcome<Table> {
    let sizes = [([512, 512], 0.12), ([1080, 1920], 0.81), ([2048, 2048], 1.62)];
    let mut rows = Vec::new();
    for (wavelet, sample, name) in [("legall53", I16, "5/3"), ("cdf97", F32, "9/7")] {
        for ([height, width], paper) in sizes {
            let label = |how: &str| format!("{name}, {width} × {height}, {how}");
            let spec = Spec::new(wavelet, sample, &[height, width]);
            let tiled = Spec { tile: Some(vec![32, 32]), ..spec.clone() };
            let own = Spec { schedule: "lone-tile", ..tiled.clone() };
            // The paper does not name the filter of its times.
            rows.push(own.row(label("tiles of 32 × 32"), paper)?);
            rows.push(tiled.row(label("tiles of 32 × 32, plan"), None)?);
            rows.push(Spec { schedule: "tile", ..spec.clone() }.row(label("tiles with halo"), None)?);
            rows.push(spec.row(label("plan, whole"), None)?);
        }
    }
    let title = "Matela 2009, table 2: independent tiles, one level";
    // The paper compares with processors only.
    Ok(Table { id: "matela-2", title, device: GTX, unit: Unit::Milliseconds, rows, claims: Vec::new() })
}

/// Sides of the images.
const SIDES: [usize; 5] = [512, 1024, 2048, 4096, 8192];

/// Filters of order 6/6 and 10/10 are those of db3 and db5.
fn lattice(id: &'static str, title: &'static str, wavelet: &'static str) -> Outcome<Table> {
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for side in SIDES {
        let of = |schedule| Spec { schedule, levels: 4, ..Spec::new(wavelet, F32, &[side; 2]) };
        rows.push(of("lattice").row(format!("{side}², lattice"), None)?);
        rows.push(of("auto").row(format!("{side}², plan"), None)?);
        rows.push(of("auto").on_cpu(format!("{side}², plan on a CPU"))?);
        let else_ = "small images fit into the CPU's cache, and eight launches take longer than their transform";
        claims.push(Claim::new(format!("{side}², lattice"), format!("{side}², plan on a CPU"), else_));
        rows.push(of("shared").row(format!("{side}², runs of pairs in registers (ours)"), None)?);
    }
    Ok(Table { id, title, device: GT, unit: Unit::Milliseconds, rows, claims })
}

/// Table 3 with our own plan on the CPU in place of JasPer.
fn matela_3() -> Outcome<Table> {
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for (wavelet, sample, name) in [("legall53", I16, "5/3"), ("cdf97", F32, "9/7")] {
        for [height, width] in [[512, 512], [1080, 1920], [2048, 2048]] {
            let label = |how: &str| format!("{name}, {width} × {height}, {how}");
            let whole = Spec::new(wavelet, sample, &[height, width]);
            let tiled = Spec { tile: Some(vec![32, 32]), schedule: "lone-tile", ..whole.clone() };
            rows.push(tiled.row(label("tiles of 32 × 32"), None)?);
            // Tiles are measured on devices only.
            rows.push(whole.on_cpu(label("whole, plan on a CPU"))?);
            let else_ = "the image fits into the CPU's cache";
            claims.push(Claim::new(label("tiles of 32 × 32"), label("whole, plan on a CPU"), else_));
        }
    }
    let title = "Matela 2009, table 3: independent tiles and a CPU, one level";
    Ok(Table { id: "matela-3", title, device: GTX, unit: Unit::Milliseconds, rows, claims })
}

fn lattice_1() -> Table {
    let papers = [1.41632, 4.51503, 16.3888, 64.7688, 256.102];
    let rows = SIDES.into_iter().zip(papers).map(|(side, paper)| {
        let what = What::Transfer(Transfer { bytes: 4 * side * side, pinned: false, back: true });
        Row::new(format!("{side}², there and back"), paper, what)
    });
    let title = "Yatsymirskyy 2015, table 1: transfers of N × N samples of four bytes in both directions";
    let rows = rows.collect();
    Table { id: "lattice-1", title, device: GT, unit: Unit::Milliseconds, rows, claims: Vec::new() }
}

pub fn tables() -> Outcome<Vec<Table>> {
    Ok(vec![
        matela_1(),
        matela_2()?,
        matela_3()?,
        lattice("lattice-fig3", "Yatsymirskyy 2015, figure 3: four levels, filters of order 6/6", "db3_lattice")?,
        lattice("lattice-fig4", "Yatsymirskyy 2015, figure 4: four levels, filters of order 10/10", "db5_lattice")?,
        lattice_1(),
    ])
}
