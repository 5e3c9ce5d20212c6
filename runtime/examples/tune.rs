//! Measures the schedules of a plan and keeps the fastest: `cargo run --release --example tune -- cdf97 4096x4096 5`.
//!
//! Arguments: wavelet, shape, levels. Integer wavelets use `i16`, real ones `f32`. Results go to the file that plans
//! read (`LIFTING_WISDOM`, or the user's cache folder). Without a CUDA device the interpreter replaces it, and nothing
//! is saved.

use lifting::{Device, Domain, Plan, PlanError, Sample, Scheme, Wisdom, catalogue};

fn tune<T: Sample>(wavelet: &Scheme, shape: &[usize], levels: u32) -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::cuda(0).or_else(|why| {
        println!("{why}");
        Ok::<_, PlanError>(Device::Interpreter)
    })?;
    let path = Wisdom::default_path().filter(|_| device != Device::Interpreter);
    let (mut wisdom, warnings) = path.as_ref().map(Wisdom::load).unwrap_or_default();
    warnings.iter().for_each(|w| println!("{w}"));
    let plan = Plan::builder(wavelet).shape(shape).levels(levels).sample::<T>();
    for measured in plan.tune(&device, &mut wisdom)? {
        println!("{measured}");
    }
    println!("\n{}", plan.clone().wisdom(&wisdom).build(&device)?.recipe());
    if let Some(path) = path {
        wisdom.save(&path)?;
        println!("{} entries in {}", wisdom.len(), path.display());
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let wavelet = catalogue::find(args.first().map_or("cdf97", String::as_str))?;
    let shape = args.get(1).map_or("1024x1024", String::as_str);
    let shape = shape.split('x').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    let levels = args.get(2).map_or(Ok(3), |text| text.parse())?;
    match wavelet.domain() {
        Domain::Integer => tune::<i16>(&wavelet, &shape, levels),
        Domain::Real => tune::<f32>(&wavelet, &shape, levels),
    }
}
