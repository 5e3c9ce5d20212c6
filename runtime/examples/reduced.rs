//! Smaller versions of an image from its coefficients, and a single band: `cargo run -p lifting --example reduced`.

use lifting::{Device, Plan, catalogue};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (height, width) = (300, 451);
    let plan = Plan::builder(&catalogue::find("dd137")?)
        .shape(&[height, width])
        .levels(3)
        .sample::<i16>()
        .build(&Device::cpu())?;
    let image: Vec<i16> = (0..height * width).map(|n| (n / width + n % width) as i16).collect();
    let mut coefficients = vec![0; plan.coefficient_len()];
    plan.forward(&image, &mut coefficients)?;

    for level in (0..=plan.depth()).rev() {
        let shape = plan.level_shape(level)?.to_vec();
        let mut small = vec![0; shape.iter().product()];
        plan.inverse_to(level, &coefficients, &mut small)?;
        println!("level {level}: {shape:?}, first and last sample {} and {}", small[0], small[small.len() - 1]);
        if level == 0 {
            assert_eq!(small, image);
        }
    }
    let band = plan.subband("HL1").ok_or("every plan of two axes has this band")?;
    println!("{}: {:?} at {:?}", band.name, band.shape, band.offset);
    Ok(())
}
