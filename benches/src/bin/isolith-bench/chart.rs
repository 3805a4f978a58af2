use crate::results::{Results, digits};
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
/// Where bars begin and where the scale ends: names stand before, each value behind its bar.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 630.0;
/// Where the column of ratios ends.
const RATIOS: f64 = 740.0;
const TOP: f64 = 92.0;
const ROW: f64 = 36.0;
const BAR: f64 = 20.0;

/// Greys and one colour that can be read on white and on black.
const OURS: &str = "#0ca678";
const OURS_PALE: &str = "#0ca678\" fill-opacity=\"0.5";
const THEIRS: &str = "#8a94a6";
const TEXT: &str = "#737c8a";
const LINE: &str = "#8a94a6\" stroke-opacity=\"0.22";

struct Bar {
    name: String,
    value: f64,
    fill: &'static str,
}

/// Fresh isolates by CPU time, as bars on a logarithmic scale.
pub(crate) fn draw(results: &Results) -> String {
    let mut bars = bars(results);
    bars.sort_by(|a, b| a.value.total_cmp(&b.value));
    let own = bars.iter().find(|bar| bar.fill == OURS).map_or(1.0, |bar| bar.value);
    let least = bars.first().map_or(1.0, |bar| bar.value);
    let most = bars.last().map_or(10.0, |bar| bar.value);
    let (low, high) = (least.log10().floor(), most.log10().ceil().max(least.log10().floor() + 1.0));
    let x = |value: f64| LEFT + (RIGHT - LEFT) * (value.log10() - low) / (high - low);
    let bottom = TOP + ROW * bars.len() as f64;
    let height = bottom + 56.0;

    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"CPU time of a fresh isolate, isolith and peers\" \
         font-family=\"system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\" fill=\"{TEXT}\">\n"
    );
    let mut text = |x: f64, y: f64, style: &str, words: &str| {
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escape(words));
    };
    text(20.0, 30.0, "font-size=\"18\" font-weight=\"600\"", "A fresh isolate, one tiny program, its result, gone");
    text(20.0, 52.0, "font-size=\"13\"", "CPU time of the whole process, median; logarithmic scale, shorter is better");
    let foot = format!(
        "{}: {} rounds in turns on one machine. node:vm is not a security boundary.",
        results.command, results.rounds
    );
    text(20.0, height - 12.0, "font-size=\"12\"", &foot);
    text(RATIOS, TOP - 12.0, "font-size=\"12\" text-anchor=\"end\"", &format!("times {}", results.first()));
    for tick in (low as i32..=high as i32).map(|power| 10f64.powi(power)) {
        text(x(tick), bottom + 18.0, "font-size=\"12\" text-anchor=\"middle\"", &time(tick));
    }
    for tick in (low as i32..=high as i32).map(|power| x(10f64.powi(power))) {
        let top = TOP - 6.0;
        let _ = writeln!(
            out,
            "<line x1=\"{tick:.1}\" y1=\"{top:.1}\" x2=\"{tick:.1}\" y2=\"{bottom:.1}\" stroke=\"{LINE}\"/>"
        );
    }
    for (number, bar) in bars.iter().enumerate() {
        let middle = TOP + ROW * number as f64 + ROW / 2.0;
        let (base, end) = (middle + 5.0, x(bar.value).max(LEFT + 2.0));
        let ours = bar.fill != THEIRS;
        let fill = if ours { OURS } else { TEXT };
        let weight = if bar.fill == OURS { 600 } else { 400 };
        let name = escape(&bar.name);
        let _ = writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"3\" fill=\"{}\"/>\n\
             <text x=\"{:.1}\" y=\"{base:.1}\" font-size=\"14\" font-weight=\"{weight}\" text-anchor=\"end\" fill=\"{fill}\">{name}</text>\n\
             <text x=\"{:.1}\" y=\"{base:.1}\" font-size=\"14\" font-weight=\"600\" fill=\"{fill}\">{}</text>",
            middle - BAR / 2.0,
            end - LEFT,
            bar.fill,
            LEFT - 12.0,
            end + 10.0,
            time(bar.value)
        );
        if !ours {
            let _ = writeln!(
                out,
                "<text x=\"{RATIOS}\" y=\"{base:.1}\" font-size=\"14\" font-weight=\"600\" text-anchor=\"end\">{}×</text>",
                short(bar.value / own)
            );
        }
    }
    out.push_str("</svg>\n");
    out
}

fn bars(results: &Results) -> Vec<Bar> {
    let median = |id: &str, peer: &str| {
        let row = results.rows.iter().find(|row| row.id == id)?;
        Some(row.entries.get(peer)?.median).filter(|value| *value > 0.0)
    };
    let own = results.first();
    let mut bars = Vec::new();
    for peer in &results.peers {
        if let Some(value) = median("fresh", &peer.name) {
            bars.push(Bar { name: peer.name.clone(), value, fill: if peer.name == own { OURS } else { THEIRS } });
        }
    }
    if let Some(value) = median("fresh.source", own) {
        bars.push(Bar { name: format!("{own}, from TypeScript"), value, fill: OURS_PALE });
    }
    bars
}

fn time(us: f64) -> String {
    let (value, unit) = if us < 1_000.0 { (us, "µs") } else { (us / 1e3, "ms") };
    let shown = if value.fract() == 0.0 { format!("{value}") } else { short(value) };
    format!("{shown} {unit}")
}

/// No more digits than a picture needs.
fn short(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { digits(value.round()).trim_end_matches(".0").to_owned() }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
