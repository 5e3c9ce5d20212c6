//! What a stream says of itself.

use crate::failure::{Outcome, input};
use lifting_codec::block::Passes;
use lifting_codec::{Colour, Decoder, Header};
use std::fmt::Write;

/// The stream's header and packets, in lines.
pub fn describe(stream: &[u8]) -> Outcome<String> {
    let decoder = Decoder::new(stream).map_err(input)?;
    let packets = decoder.packets().map_err(input)?;
    let header = decoder.header();
    let Header { height, width, components, bits, signed, colour, levels, block, passes, .. } = header;
    let pixels = *height as f64 * *width as f64;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{name:<13}{value}");
    };
    let s = if *components == 1 { "" } else { "s" };
    line(
        "picture",
        format!(
            "{height} × {width}, {components} component{s} of {bits} bits{}",
            if *signed { ", signed" } else { "" }
        ),
    );
    let transform = match colour {
        Colour::None => "none",
        Colour::Reversible => "reversible (RCT)",
        Colour::Irreversible => "irreversible (ICT)",
    };
    line("colour", transform.into());
    line("wavelet", format!("{levels} × {}, {} border", header.scheme.name(), header.scheme.boundary()));
    let passes = match passes {
        Passes::Two => 2,
        Passes::Three => 3,
    };
    line("codeblocks", format!("{} × {}, {passes} passes", block[0], block[1]));
    if let Some(tables) = &header.tables {
        line("tables", format!("{}, fitted to the picture", tables.count()));
    }
    line(
        "quantiser",
        if header.is_lossless() {
            "none: lossless".into()
        } else {
            let steps = header.quantisers.iter().flatten().map(|q| q.step.value());
            let (least, most) = steps.fold((f64::INFINITY, 0.0), |(a, b), s| (f64::min(a, s), f64::max(b, s)));
            format!("steps of {least} to {most}")
        },
    );
    let (of, whole) = (levels + 1, packets.len());
    let bits_per_pixel = 8.0 * stream.len() as f64 / pixels;
    line(
        "size",
        format!("{} bytes, {bits_per_pixel:.3} bits a pixel; header {}", stream.len(), decoder.header_length()),
    );
    for packet in &packets {
        let side = |n: usize| n.div_ceil(1 << (levels - packet.resolution));
        let raw = if packet.raw > 0 { format!(", {} raw", packet.raw) } else { String::new() };
        let blocks = if packet.blocks == 1 { "block" } else { "blocks" };
        line(
            &format!("resolution {}", packet.resolution),
            format!(
                "{} × {}: {} bytes, {} {blocks}, {} empty{raw}",
                side(*height),
                side(*width),
                packet.bytes,
                packet.blocks,
                packet.empty
            ),
        );
    }
    if whole < of as usize {
        line("cut", format!("{whole} of {of} resolutions are whole"));
    }
    Ok(text)
}
