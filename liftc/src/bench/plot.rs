//! The ratios as bars, the copy as a line through them.

use super::report::{Report, micros};

const LABEL: f64 = 420.0;
const WIDTH: f64 = 420.0;
const ROW: f64 = 18.0;
const TOP: f64 = 56.0;

/// A complete SVG: a bar for each measurement, one colour for each direction.
pub fn svg(report: &Report) -> String {
    let results = &report.results;
    let longest = results.iter().map(|m| m.ratio).fold(1.0, f64::max);
    // Whole copies, about ten of them.
    let step = (longest / 10.0).ceil();
    let end = (longest / step).ceil() * step;
    let x = |ratio: f64| LABEL + WIDTH * ratio / end;
    let bottom = TOP + ROW * results.len() as f64;
    let mut body = String::new();
    let mut tick = 0.0;
    while tick <= end {
        let (at, above) = (x(tick), TOP - 8.0);
        let class = if tick == 1.0 { "unit" } else { "grid" };
        body += &format!("<path class=\"{class}\" d=\"M{at:.1} {TOP}V{bottom}\"/>\n");
        body += &format!("<text x=\"{at:.1}\" y=\"{above}\" text-anchor=\"middle\">{tick}</text>\n");
        tick += step;
    }
    if step > 1.0 {
        body += &format!("<path class=\"unit\" d=\"M{:.1} {TOP}V{bottom}\"/>\n", x(1.0));
    }
    for (i, m) in results.iter().enumerate() {
        let top = TOP + ROW * i as f64;
        let (bar, base, length) = (top + 3.0, top + 13.0, x(m.ratio) - LABEL);
        let repeated = i > 0 && results[i - 1].label == m.label;
        if !repeated {
            body +=
                &format!("<text x=\"{}\" y=\"{base}\" text-anchor=\"end\">{}</text>\n", LABEL - 8.0, escape(&m.label));
        }
        body += &format!(
            "<rect class=\"{}\" x=\"{LABEL}\" y=\"{bar}\" width=\"{length:.1}\" height=\"12\"><title>{}, {}: {}, a copy {}</title></rect>\n",
            m.direction,
            escape(&m.label),
            m.direction,
            micros(m.time()),
            micros(m.copy())
        );
        body += &format!("<text x=\"{:.1}\" y=\"{base}\">{:.2}</text>\n", x(m.ratio) + 4.0, m.ratio);
    }
    let (width, height) = (LABEL + WIDTH + 60.0, bottom + 20.0);
    let legend = "<text x=\"8\" y=\"34\">time as a multiple of a copy; <tspan class=\"forward\">forward</tspan>, \
                  <tspan class=\"inverse\">inverse</tspan></text>";
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <style>text {{ font: 12px sans-serif }} .forward {{ fill: #3b6ea5 }} .inverse {{ fill: #c8742c }} \
         .grid {{ stroke: #ddd }} .unit {{ stroke: #000 }}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"8\" y=\"16\">{}</text>\n{legend}\n{body}</svg>\n",
        escape(&report.device_text())
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
