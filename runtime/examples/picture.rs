//! A lossless round trip of a picture: `cargo run --release -p lifting --example picture -- photo.png`.

use image::RgbImage;
use lifting::{Device, Plan, catalogue};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/chelsea.png");
    let path = std::env::args().nth(1).unwrap_or_else(|| sample.to_owned());
    let picture: RgbImage = image::open(&path)?.to_rgb8();
    let (height, width) = (picture.height() as usize, picture.width() as usize);

    // Height, width, channels: only the first two axes are transformed.
    let plan = Plan::builder(&catalogue::find("legall53")?)
        .shape(&[height, width, 3])
        .axes(&[0, 1])
        .levels(3)
        .sample::<i16>()
        .build(&Device::cpu())?;
    let samples: Vec<i16> = picture.as_raw().iter().map(|&x| i16::from(x)).collect();
    let mut coefficients = vec![0; plan.coefficient_len()];
    plan.forward(&samples, &mut coefficients)?;

    let zeros = coefficients.iter().filter(|&&x| x == 0).count();
    println!("{width} × {height}: {zeros} of {} coefficients are zero", coefficients.len());

    let mut back = vec![0; samples.len()];
    plan.inverse(&coefficients, &mut back)?;
    assert_eq!(back, samples);
    println!("lossless: every pixel was restored");
    Ok(())
}
