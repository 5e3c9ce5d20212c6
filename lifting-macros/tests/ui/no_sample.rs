//! A plan without a sample type, and one with an invalid sample type.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wavelet = lifting::catalogue::find("haar")?;
    lifting::Plan::builder(&wavelet).shape(&[8]).build(&lifting::Device::cpu())?;
    lifting::Plan::builder(&wavelet).shape(&[8]).sample::<u8>();
    Ok(())
}
