//! Figures as pixels.

use super::outline::Command;
use super::{Colour, Scene};
use image::RgbImage;
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, StrokeDash, Transform};

impl Scene {
    /// Pixels at a resolution in pixels per inch. `None` if the picture would be empty or too large.
    pub fn pixels(&self, dpi: f64) -> Option<RgbImage> {
        let scale = dpi / 72.0;
        let (width, height) = ((self.width * scale).ceil() as u32, (self.height * scale).ceil() as u32);
        let mut pixmap = Pixmap::new(width, height)?;
        pixmap.fill(tiny_skia::Color::WHITE);
        let transform = Transform::from_scale(scale as f32, scale as f32);
        for shape in &self.shapes {
            let Some(path) = path(&shape.outline) else { continue };
            if let Some(colour) = shape.fill {
                pixmap.fill_path(&path, &paint(colour), FillRule::Winding, transform, None);
            }
            if let Some((colour, width, dash)) = shape.stroke {
                let stroke = tiny_skia::Stroke {
                    width: width as f32,
                    line_join: LineJoin::Round,
                    line_cap: LineCap::Butt,
                    dash: (dash > 0.0).then(|| StrokeDash::new(vec![dash as f32; 2], 0.0)).flatten(),
                    ..Default::default()
                };
                pixmap.stroke_path(&path, &paint(colour), &stroke, transform, None);
            }
        }
        // The background is opaque, so alpha is 255 everywhere.
        let rgb = pixmap.data().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
        RgbImage::from_raw(width, height, rgb)
    }
}

fn paint(Colour(r, g, b): Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, 255);
    paint
}

fn path(outline: &[Command]) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    let c = |v: f64| v as f32;
    for command in outline {
        match command {
            Command::Move(p) => builder.move_to(c(p.x), c(p.y)),
            Command::Line(p) => builder.line_to(c(p.x), c(p.y)),
            Command::Quad(a, p) => builder.quad_to(c(a.x), c(a.y), c(p.x), c(p.y)),
            Command::Cubic(a, b, p) => builder.cubic_to(c(a.x), c(a.y), c(b.x), c(b.y), c(p.x), c(p.y)),
            Command::Close => builder.close(),
        }
    }
    builder.finish()
}
