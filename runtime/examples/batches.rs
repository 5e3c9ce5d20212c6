//! Many images with one plan, on several threads and without allocation: `cargo run --release -p lifting --example
//! batches`.

use lifting::{Device, Plan, catalogue};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wavelet = catalogue::find("cdf97")?;
    // A whole stack: axis 0 is not transformed.
    let (frames, height, width) = (8, 90, 160);
    let stack = Plan::builder(&wavelet)
        .shape(&[frames, height, width])
        .axes(&[1, 2])
        .levels(3)
        .sample::<f32>()
        .build(&Device::cpu())?;
    let video: Vec<f32> = (0..stack.len()).map(|n| (n % 251) as f32).collect();
    let mut together = vec![0.0; stack.coefficient_len()];
    stack.forward(&video, &mut together)?;

    // Frame by frame: threads share a plan for one frame, and each has a workspace.
    let frame = Plan::builder(&wavelet)
        .shape(&[height, width])
        .levels(3)
        .sample::<f32>()
        .build(&Device::cpu_with_threads(1))?;
    let mut apart = vec![0.0; together.len()];
    let size = height * width;
    std::thread::scope(|scope| {
        let halves = video.chunks(size * frames / 2).zip(apart.chunks_mut(size * frames / 2));
        let workers: Vec<_> = halves
            .map(|(from, to)| {
                scope.spawn(|| {
                    let mut workspace = frame.workspace();
                    let mut images = from.chunks(size).zip(to.chunks_mut(size));
                    images.try_for_each(|(from, to)| frame.forward_with(from, to, &mut workspace))
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })?;
    assert_eq!(together, apart);
    println!("{frames} frames of {width} × {height}: the same bits, together and one by one");
    Ok(())
}
