//! A plan whose builder was not told the type of samples, and one that was told a type that is none.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wavelet = lifting::catalogue::find("haar")?;
    lifting::Plan::builder(&wavelet).shape(&[8]).build(&lifting::Device::cpu())?;
    lifting::Plan::builder(&wavelet).shape(&[8]).sample::<u8>();
    Ok(())
}
