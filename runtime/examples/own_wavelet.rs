//! A custom wavelet in Rust source: `cargo run -p lifting --example own_wavelet`.

use lifting::{Device, Plan};

lifting::lifting! {
    /// An interpolating wavelet: a longer predict step than (5,3) has, and no update.
    wavelet mine {
        domain integer;
        boundary whole-symmetric;
        odd -= (9 * (even[0] + even[1]) - (even[-1] + even[2]) + 8) >> 4;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::builder(&mine).shape(&[64]).levels(2).sample::<i32>().build(&Device::cpu())?;
    // Cubics are predicted exactly: only borders and rounding errors remain.
    let cubic: Vec<i32> = (0..64).map(|n: i32| (n - 20).pow(3) / 16).collect();
    let mut line = cubic.clone();
    plan.forward_in_place(&mut line)?;
    for band in plan.subbands() {
        let from = band.offset[0];
        println!("{:>3}: {:?}", band.name, &line[from..from + band.shape[0]]);
    }
    plan.inverse_in_place(&mut line)?;
    assert_eq!(line, cubic);
    Ok(())
}
