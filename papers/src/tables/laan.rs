//! van der Laan, Jalba & Roerdink 2011: tables III to VI, section V-B.6 and figure 9, on a GeForce 8800 GTX.

use super::table::{Bandwidth, Claim, Counter, Row, Spec, Table, Unit, What};
use liftc::bench::TimedOperation;
use liftc::failure::Outcome;
use lifting::SampleType::{F32, I16, I32};
use lifting_codegen::analytic;

/// Bandwidth in 10⁹ bytes per second, from section V-C.
const DEVICE: (&str, Bandwidth) = ("GeForce 8800 GTX", Bandwidth::Theoretical(86.4));

/// The paper's names of wavelets, and the catalogue's.
const WAVELETS: [(&str, &str); 6] = [
    ("Haar", "haar_vc2_0"),
    ("DD (9,7)", "dd97"),
    ("Le Gall (5,3)", "legall53_vc2"),
    ("DD (13,7)", "dd137"),
    ("Daubechies (9,7)", "daubechies97"),
    ("Fidelity", "fidelity"),
];

const HD: [usize; 2] = [1080, 1920];

fn spec(wavelet: usize, way: TimedOperation, levels: u32, schedule: &'static str) -> Spec {
    Spec { way, levels, schedule, ..Spec::new(WAVELETS[wavelet].1, I16, &HD) }
}

const WAYS: [(TimedOperation, &str); 2] =
    [(TimedOperation::Forward, "analysis"), (TimedOperation::Inverse, "synthesis")];

fn three() -> Outcome<Table> {
    // Times of the transposed method, and of the paper's.
    let figures: [[[Option<f64>; 2]; 6]; 2] = [
        [
            [Some(5.58), Some(0.80)],
            [Some(6.01), Some(1.50)],
            [Some(5.89), Some(1.34)],
            [Some(6.08), Some(1.62)],
            [Some(6.54), Some(2.05)],
            [Some(6.45), Some(2.11)],
        ],
        [
            [Some(6.33), Some(0.83)],
            [Some(6.40), Some(1.45)],
            [Some(6.29), Some(1.28)],
            [Some(6.48), Some(1.55)],
            [Some(7.03), Some(2.04)],
            [None, None],
        ],
    ];
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for ((way, text), figures) in WAYS.into_iter().zip(figures) {
        for (i, ((name, _), [transposed, own])) in WAVELETS.into_iter().zip(figures).enumerate() {
            let label = |how: &str| format!("{name}, {text}, {how}");
            rows.push(spec(i, way, 3, "transposed").row(label("transposed"), transposed)?);
            rows.push(spec(i, way, 3, "sliding-window").row(label("sliding window"), own)?);
            rows.push(spec(i, way, 3, "auto").row(label("plan"), None)?);
            claims.push(Claim::new(
                label("sliding window"),
                label("transposed"),
                "there are few strips, each a long sweep, and the cache holds this image during the transpose",
            ));
        }
    }
    rows.push(spec(0, TimedOperation::Forward, 3, "naive-columns").row("Haar, analysis, naive columns", 15.23)?);
    claims.push(Claim::new(
        "Haar, analysis, sliding window",
        "Haar, analysis, naive columns",
        "a block per column finds its neighbours' loads in the cache",
    ));
    let title = "van der Laan 2011, table III: three levels of 1920 × 1080, 16 bit";
    Ok(Table { id: "laan-3", title, device: DEVICE, unit: Unit::Milliseconds, rows, claims })
}

const FEW_STRIPS: &str = "rows give 1080 independent blocks; columns give few strips, each a sweep of many iterations \
                          that wait for memory in sequence";

fn four() -> Outcome<Table> {
    let figures: [[Option<[f64; 2]>; 6]; 2] = [
        [
            Some([0.26, 0.19]),
            Some([0.44, 0.42]),
            Some([0.39, 0.34]),
            Some([0.47, 0.47]),
            Some([0.62, 0.62]),
            Some([0.63, 0.76]),
        ],
        [Some([0.29, 0.19]), Some([0.39, 0.44]), Some([0.35, 0.36]), Some([0.42, 0.48]), Some([0.58, 0.79]), None],
    ];
    let (mut rows, mut claims): (Vec<Row>, Vec<Claim>) = Default::default();
    for ((way, text), figures) in WAYS.into_iter().zip(figures) {
        for (i, ((name, _), paper)) in WAVELETS.into_iter().zip(figures).enumerate() {
            for (axis, pass) in [(1, "horizontal"), (0, "vertical")] {
                let one = |schedule| Spec { axes: Some(vec![axis]), ..spec(i, way, 1, schedule) };
                let figure = paper.map(|[horizontal, vertical]| if axis == 1 { horizontal } else { vertical });
                rows.push(one("sliding-window").row(format!("{name}, {text}, {pass}"), figure)?);
                rows.push(one("auto").row(format!("{name}, {text}, {pass}, plan"), None)?);
            }
            // The paper's ratios reach 1.36, which it calls not significantly slower.
            let of = |pass: &str| format!("{name}, {text}, {pass}");
            claims.push(Claim::within(1.4, of("vertical"), of("horizontal"), FEW_STRIPS));
        }
    }
    let title = "van der Laan 2011, table IV: one pass over 1920 × 1080, 16 bit";
    Ok(Table { id: "laan-4", title, device: DEVICE, unit: Unit::Milliseconds, rows, claims })
}

fn five() -> Outcome<Table> {
    let figures: [[[Option<f64>; 2]; 6]; 2] = [
        [
            [Some(0.80), Some(1.09)],
            [Some(1.50), Some(1.64)],
            [Some(1.34), Some(1.45)],
            [Some(1.62), Some(1.75)],
            [Some(2.05), Some(2.13)],
            [Some(2.11), Some(2.72)],
        ],
        [
            [Some(0.83), Some(1.15)],
            [Some(1.45), Some(1.81)],
            [Some(1.28), Some(1.66)],
            [Some(1.55), Some(1.90)],
            [Some(2.04), Some(2.35)],
            [None, None],
        ],
    ];
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for ((way, text), figures) in WAYS.into_iter().zip(figures) {
        for (i, ((name, _), figures)) in WAVELETS.into_iter().zip(figures).enumerate() {
            for (sample, figure) in [I16, I32].into_iter().zip(figures) {
                let label = format!("{name}, {text}, {sample}");
                rows.push(Spec { sample, ..spec(i, way, 3, "sliding-window") }.row(label.clone(), figure)?);
                rows.push(Spec { sample, ..spec(i, way, 3, "auto") }.row(label + ", plan", None)?);
            }
            let of = |sample| format!("{name}, {text}, {sample}");
            claims.push(Claim::new(
                of(I16),
                of(I32),
                "the latency per iteration limits a sweep, not the bytes that it moves",
            ));
        }
    }
    let title = "van der Laan 2011, table V: 16 and 32 bits, three levels of 1920 × 1080";
    Ok(Table { id: "laan-5", title, device: DEVICE, unit: Unit::Milliseconds, rows, claims })
}

fn six() -> Outcome<Table> {
    let figures: [[Option<f64>; 6]; 2] = [
        [Some(147.2), Some(192.0), Some(179.3), Some(200.5), Some(234.6), Some(239.2)],
        [Some(150.9), Some(184.7), Some(173.7), Some(192.1), Some(232.0), None],
    ];
    let mut rows = Vec::new();
    for ((way, text), figures) in WAYS.into_iter().zip(figures) {
        for (i, ((name, _), figure)) in WAVELETS.into_iter().zip(figures).enumerate() {
            let volume = |schedule| Spec { shape: vec![512; 3], ..spec(i, way, 3, schedule) };
            rows.push(volume("sliding-window").row(format!("{name}, {text}"), figure)?);
            rows.push(volume("auto").row(format!("{name}, {text}, plan"), None)?);
        }
    }
    let title = "van der Laan 2011, table VI: three levels of 512³, 16 bit";
    Ok(Table { id: "laan-6", title, device: DEVICE, unit: Unit::Milliseconds, rows, claims: Vec::new() })
}

/// Section V-B.6, which states times in the text. The paper's samples have 16 bits; filters here require real samples.
fn convolution() -> Outcome<Table> {
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for ((way, text), figure) in WAYS.into_iter().zip([3.4, 5.0]) {
        let of = |schedule| Spec { way, levels: 3, schedule, ..Spec::new("cdf97", F32, &HD) };
        let label = |how: &str| format!("{text}, {how}");
        rows.push(of("convolution").row(label("convolution"), figure)?);
        rows.push(of("sliding-window").row(label("sliding window"), 2.0)?);
        rows.push(of("auto").row(label("plan"), None)?);
        claims.push(Claim::new(
            label("sliding window"),
            label("convolution"),
            "lifting has a barrier per step, and filters have one in all; memory latency hides their \
             instructions",
        ));
    }
    let title = "van der Laan 2011, section V-B.6: lifting against convolution, three levels of 1920 × 1080, 9/7 f32";
    Ok(Table { id: "laan-convolution", title, device: DEVICE, unit: Unit::Milliseconds, rows, claims })
}

fn nine() -> Outcome<Table> {
    const SIDES: [usize; 5] = [256, 512, 1024, 2048, 4096];
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for side in SIDES {
        let of = |schedule| Spec { shape: vec![side; 2], ..spec(4, TimedOperation::Forward, 3, schedule) };
        rows.push(of("sliding-window").row(format!("{side} × {side}"), None)?);
        rows.push(of("auto").row(format!("{side} × {side}, plan"), None)?);
        rows.push(of("auto").on_cpu(format!("{side} × {side}, plan on a CPU"))?);
        claims.push(Claim::new(
            format!("{side} × {side}"),
            format!("{side} × {side}, plan on a CPU"),
            "small images fit into the CPU's cache, and a launch takes longer than their transform",
        ));
    }
    let title = "van der Laan 2011, figure 9: three levels of the Daubechies (9,7) by size, 16 bit";
    Ok(Table { id: "laan-fig9", title, device: DEVICE, unit: Unit::Milliseconds, rows, claims })
}

/// The abstract's claim that the method takes less memory, for three levels of 1920 × 1080. The paper's passes work in
/// place, and the transposed image needs a second array.
fn memory() -> Outcome<Table> {
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for (way, text) in WAYS {
        let of = |schedule| spec(4, way, 3, schedule);
        let label = |how: &str| format!("{text}, {how}");
        for (schedule, how) in [("sliding-window", "sliding window"), ("transposed", "transposed"), ("auto", "plan")] {
            rows.push(of(schedule).counted((Counter::Workspace, 3), label(how), None)?);
        }
        claims.push(Claim::new(label("sliding window"), label("transposed"), "both have a second array"));
    }
    let title = "van der Laan 2011, abstract: workspace in images, three levels of the Daubechies (9,7) on 1920 × 1080";
    Ok(Table { id: "laan-memory", title, device: DEVICE, unit: Unit::Number, rows, claims })
}

/// Section V-C: the cost model's worked examples, by equations 3 to 6 and 9.
fn model() -> Table {
    let device = analytic::Device::G80;
    let mut rows = Vec::new();
    let mut row = |label: String, paper: f64, found: f64| rows.push(Row::new(label, paper, What::Derived(found)));
    let examples = [
        ("horizontal", analytic::HORIZONTAL, [0.48, 301.0, 0.15, 1.65, 0.63, 4.0]),
        ("vertical", analytic::VERTICAL, [0.46, 352.0, 0.0, 0.047, 0.46, 4.84]),
    ];
    for (pass, launch, [instructions, hidden, memory, barrier, total, efficiency]) in examples {
        let found = launch.predict(&device);
        let label = |what: &str| format!("{pass}, {what}");
        row(label("instructions, ms"), instructions, found.instructions * 1e3);
        row(label("hidden latency, cycles"), hidden, launch.hidden(&device));
        row(label("memory, ms"), memory, found.memory * 1e3);
        row(label("a barrier, µs"), barrier, found.barriers / launch.barriers * 1e6);
        row(label("total without barriers, ms"), total, (found.instructions + found.memory) * 1e3);
        row(label("efficiency"), efficiency, launch.efficiency(22.0, 1920.0 * 1080.0, &device));
    }
    let title = "van der Laan 2011, section V-C: the cost model, DD (13,7) on 1920 × 1080, 16 bit";
    Table { id: "laan-model", title, device: DEVICE, unit: Unit::Number, rows, claims: Vec::new() }
}

pub fn tables() -> Outcome<Vec<Table>> {
    Ok(vec![model(), three()?, four()?, five()?, six()?, convolution()?, nine()?, memory()?])
}
