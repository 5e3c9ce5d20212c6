//! Kučis, Barina, Kula & Zemčík 2014: tables I to V.

use super::table::{Bandwidth, Claim, Spec, Table, Unit};
use liftc::failure::Outcome;
use lifting::SampleType::F32;

/// Images of 1 and 10 Mpel.
const SIZES: [(&str, [usize; 2]); 2] = [("1 Mpel", [1024, 1024]), ("10 Mpel", [2560, 4096])];

/// Bandwidth in 10⁹ bytes per second, from width and clock: 384 bits at 4.008 GT/s, and 64 bits at 1.6 GT/s.
const GTX: (&str, Bandwidth) = ("GeForce GTX 580", Bandwidth::Theoretical(192.4));
const NVS: (&str, Bandwidth) = ("NVS 4200M", Bandwidth::Theoretical(12.8));

/// The paper's name of a method, its figures for 1 and 10 Mpel, and the schedule here.
type Method = (&'static str, [f64; 2], &'static str);

fn table(
    (id, title): (&'static str, &'static str),
    device: (&'static str, Bandwidth),
    axis: usize,
    methods: &[Method],
    claims: &[[&'static str; 3]],
) -> Outcome<Table> {
    let mut rows = Vec::new();
    for (i, (size, shape)) in SIZES.into_iter().enumerate() {
        let one = |schedule| Spec { axes: Some(vec![axis]), schedule, ..Spec::new("cdf97", F32, &shape) };
        for (name, figures, schedule) in methods {
            rows.push(one(schedule).row(format!("{name}, {size}"), figures[i])?);
        }
        rows.push(one("auto").row(format!("plan, {size}"), None)?);
    }
    let of_size = |size: &str, [faster, slower, else_]: &[&'static str; 3]| {
        Claim::new(format!("{faster}, {size}"), format!("{slower}, {size}"), else_)
    };
    let claims = SIZES.iter().flat_map(|(size, _)| claims.iter().map(move |claim| of_size(size, claim))).collect();
    Ok(Table { id, title, device, unit: Unit::Picoseconds, rows, claims })
}

const FOUR_PAIRS: [&str; 3] = [
    "Horiz-Blazewicz2012-4",
    "Horiz-Blazewicz2012-1",
    "less work per thread means more threads, which hide the latency",
];
const NO_BARRIERS: [&str; 3] = [
    "Horiz-Blazewicz2012-4",
    "Horiz-Laan2009",
    "with many resident blocks, barriers cost little, while redundant lifting costs instructions",
];
const STEPS: [&str; 3] = [
    "Horiz-Blazewicz2012-4",
    "Horiz-Galiano2011",
    "filters of 9 and 7 taps take more instructions, which memory latency hides",
];
const PROPOSED: [&str; 3] = [
    "Vert-Proposed",
    "Vert-Laan2009",
    "a block sweeps a whole strip, so too few blocks are resident; the other schedule divides strips into chunks",
];
const TRANSPOSED: [&str; 3] =
    ["Vert-Proposed", "Vert-Blazewicz2012", "the image is cached when it is transposed, and there are more blocks"];

/// Sides of the images of curves by size.
const SIDES: [usize; 5] = [512, 1024, 2048, 4096, 8192];

/// Time by size; the paper only plots it.
fn curve(id: &'static str, title: &'static str, axis: usize, methods: &[Method]) -> Outcome<Table> {
    let mut rows = Vec::new();
    for side in SIDES {
        let one = |schedule| Spec { axes: Some(vec![axis]), schedule, ..Spec::new("cdf97", F32, &[side; 2]) };
        for (name, _, schedule) in methods {
            rows.push(one(schedule).row(format!("{name}, {side}²"), None)?);
        }
        rows.push(one("auto").row(format!("plan, {side}²"), None)?);
    }
    Ok(Table { id, title, device: GTX, unit: Unit::Picoseconds, rows, claims: Vec::new() })
}

pub fn tables() -> Outcome<Vec<Table>> {
    let horizontal = |figures: [[f64; 2]; 4]| {
        [
            ("Horiz-Galiano2011", figures[0], "convolution"),
            ("Horiz-Laan2009", figures[1], "sliding-window"),
            ("Horiz-Blazewicz2012-1", figures[2], "barrier-free-1"),
            ("Horiz-Blazewicz2012-4", figures[3], "barrier-free"),
        ]
    };
    let vertical = |figures: [[f64; 2]; 3]| {
        [
            ("Vert-Laan2009", figures[0], "sliding-window"),
            ("Vert-Blazewicz2012", figures[1], "transposed"),
            ("Vert-Proposed", figures[2], "barrier-free"),
        ]
    };
    Ok(vec![
        table(
            ("kucis-1", "Kučis 2014, table I: the horizontal pass, CDF 9/7 f32"),
            GTX,
            1,
            &horizontal([[87.1, 81.9], [103.0, 80.6], [95.4, 89.3], [56.0, 56.7]]),
            &[FOUR_PAIRS, NO_BARRIERS, STEPS],
        )?,
        table(
            ("kucis-2", "Kučis 2014, table II: the horizontal pass, CDF 9/7 f32"),
            NVS,
            1,
            &horizontal([[1173.8, 1020.2], [1389.9, 1142.2], [1212.2, 1108.4], [700.7, 800.8]]),
            &[FOUR_PAIRS, NO_BARRIERS, STEPS],
        )?,
        table(
            ("kucis-3", "Kučis 2014, table III: the vertical pass, CDF 9/7 f32"),
            GTX,
            0,
            &vertical([[119.3, 79.6], [167.0, 186.5], [69.6, 63.5]]),
            &[PROPOSED, TRANSPOSED],
        )?,
        table(
            ("kucis-4", "Kučis 2014, table IV: the vertical pass, CDF 9/7 f32"),
            NVS,
            0,
            &vertical([[965.3, 930.2], [2139.0, 2231.7], [739.4, 737.9]]),
            &[PROPOSED, TRANSPOSED],
        )?,
        curve(
            "kucis-fig3",
            "Kučis 2014, figures 3 and 4: the horizontal pass by size, CDF 9/7 f32",
            1,
            &horizontal([[0.0; 2]; 4]),
        )?,
        curve(
            "kucis-fig5",
            "Kučis 2014, figures 5 and 6: the vertical pass by size, CDF 9/7 f32",
            0,
            &vertical([[0.0; 2]; 3]),
        )?,
    ])
}
