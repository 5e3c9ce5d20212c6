//! `liftc info`: description of a stream.

use super::jpeg2000;
use crate::failure::{Outcome, input};
use lifting_codec::block::{Order, Passes};
use lifting_codec::{Colour, Decoder, Header, PacketInfo};
use std::fmt::Write;

/// Lines about an order by tiles, and about metadata, if a stream has these.
fn rarer_parts(decoder: &Decoder<'_>) -> Vec<(&'static str, String)> {
    let header = decoder.header();
    let order = header.tiles_first.then(|| ("order", "by rows of tiles".into()));
    let metadata = (header.sections > 0).then(|| {
        let names = decoder.metadata().map(|metadata| metadata.names().join(", "));
        ("metadata", format!("{}: {} bytes", names.unwrap_or_else(|e| e.to_string()), header.sections))
    });
    order.into_iter().chain(metadata).collect()
}

/// Header and packets of a stream, in lines.
pub fn describe(stream: &[u8]) -> Outcome<String> {
    if jpeg2000::is_stream(stream) {
        return jpeg2000::describe(stream);
    }
    if lifting_codec::field::is_field(stream) {
        return super::field::describe(stream);
    }
    let decoder = Decoder::new(stream).map_err(input)?;
    let packets = decoder.packets().map_err(input)?;
    let header = decoder.header();
    let Header { height, width, components, colour, levels, layers, tile, block, order, .. } = header;
    let lifting_codec::Format { bits, signed, .. } = header.format();
    let pixels = *height as f64 * *width as f64;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<13}{value}");
    };
    let s = if *components == 1 { "" } else { "s" };
    line(
        "picture",
        format!("{height} × {width}, {components} component{s} of {bits} bits{}", if signed { ", signed" } else { "" }),
    );
    let transform = match colour {
        Colour::None => "none",
        Colour::Reversible => "reversible (RCT)",
        Colour::Irreversible => "irreversible (ICT)",
    };
    line("colour", transform.into());
    line("wavelet", format!("{levels} × {}, {} border", header.scheme.name(), header.scheme.boundary()));
    if [*height, *width] != *tile {
        let [down, across] = header.tiles();
        line("tiles", format!("{} × {}, {down} × {across} of them", tile[0], tile[1]));
    }
    let Order { passes, fast } = *order;
    let passes = match passes {
        Passes::Two => 2,
        Passes::Three => 3,
    };
    let fast = if fast > 0 { format!(", {fast} fast planes") } else { String::new() };
    line("codeblocks", format!("{} × {}, {passes} passes{fast}", block[0], block[1]));
    if let Some(values) = &header.values {
        line("values", format!("{}, coded by their ranks", values.list.len()));
    }
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
    let bits_per_pixel = |bytes: usize| 8.0 * bytes as f64 / pixels;
    rarer_parts(&decoder).into_iter().for_each(|(name, value)| line(name, value));
    line(
        "size",
        format!(
            "{} bytes, {:.3} bits a pixel; header {}",
            stream.len(),
            bits_per_pixel(stream.len()),
            decoder.header_length()
        ),
    );
    for resolution in 0..=*levels {
        let here = || packets.iter().filter(move |packet| packet.id.resolution == resolution);
        let sum = |of: fn(&PacketInfo) -> usize| here().map(of).sum::<usize>();
        let side = |n: usize| n.div_ceil(1 << (levels - resolution));
        let (bytes, begun, raw) = (sum(|p| p.bytes), sum(|p| p.begun), sum(|p| p.raw));
        // All layers have the same blocks.
        let blocks: usize = here().filter(|packet| packet.id.layer == 0).map(|packet| packet.blocks).sum();
        let raw = if raw > 0 { format!(", {raw} raw") } else { String::new() };
        let noun = if blocks == 1 { "block" } else { "blocks" };
        line(
            &format!("resolution {resolution}"),
            format!(
                "{} × {}: {bytes} bytes, {blocks} {noun}, {} empty{raw}",
                side(*height),
                side(*width),
                blocks - begun
            ),
        );
    }
    let mut bytes = decoder.header_length();
    for layer in (0..*layers).filter(|_| *layers > 1) {
        bytes += packets.iter().filter(|packet| packet.id.layer == layer).map(|packet| packet.bytes).sum::<usize>();
        line(
            &format!("layer {}", layer + 1),
            format!("up to {bytes} bytes, {:.3} bits a pixel", bits_per_pixel(bytes)),
        );
    }
    let of = header.packets();
    if (packets.len() as u128) < of {
        line("cut", format!("{} of {of} packets are complete", packets.len()));
    }
    Ok(text)
}
