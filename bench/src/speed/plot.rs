//! Draws the rows of a processor beside its roofline, as SVG.

use std::fmt::Write as _;

use super::report::{Entry, GOALS_OF};
use super::results::{COPY, Limit, Results};
use super::rows::{ROWS, Row, Work};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 560.0;
/// The area of the plot: left, right, top, bottom.
const AREA: [f64; 4] = [70.0, 640.0, 50.0, 500.0];
/// Exponents of two of the horizontal axis, of ten of the vertical one.
const X: [f64; 2] = [-5.0, 9.0];
const Y: [f64; 2] = [-2.0, 4.0];

fn x(operations_per_byte: f64) -> f64 {
    let at = (operations_per_byte.log2() - X[0]) / (X[1] - X[0]);
    AREA[0] + at.clamp(0.0, 1.0) * (AREA[1] - AREA[0])
}

fn y(rate: f64) -> f64 {
    let at = (rate.log10() - Y[0]) / (Y[1] - Y[0]);
    AREA[3] - at.clamp(0.0, 1.0) * (AREA[3] - AREA[2])
}

/// Returns the bytes that a call moves at least.
fn bytes(row: &Row) -> Option<f64> {
    let square = |side: f64, sizes: f64| side * side * sizes;
    match row.work {
        Work::Streams { reads, writes, bytes } => Some(((reads + writes) * bytes) as f64),
        Work::Bytes(bytes) => Some(bytes),
        Work::Call | Work::Compile | Work::FirstBuild | Work::Launch => None,
        _ => Some(match row.name {
            "matmul_512" => square(512.0, 12.0),
            "matmul_1024" => square(1024.0, 12.0),
            "matmul_2048" => square(2048.0, 12.0),
            "matmul_1000_777_333" => 4.0 * (1000.0 * 333.0 + 333.0 * 777.0 + 1000.0 * 777.0),
            "matmul_u8s8" => square(1024.0, 6.0),
            "matmul_bf16" => square(1024.0, 8.0),
            "conv2d" => 4.0 * (2.0 * 64.0 * 56.0 * 56.0 + 64.0 * 64.0 * 9.0),
            "attention" => 4.0 * 4.0 * 8.0 * 512.0 * 64.0,
            _ => return None,
        }),
    }
}

/// A row as a point: operations for each byte, 1e9 operations a second, share of its limit.
fn point(row: &Row, entry: &Entry) -> Option<(f64, f64, Option<f64>)> {
    let ours = entry.ours.get(GOALS_OF)?.median;
    let share = entry.limit.as_ref().map(|limit| limit.share.median);
    (row.operations > 0.0).then_some((row.operations / bytes(row)?, row.operations / ours, share))
}

/// Draws the rows with one number of threads.
#[must_use]
pub fn draw(results: &Results, threads: usize) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"DejaVu Sans, Arial, sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    let plural = if threads == 1 { "" } else { "s" };
    text(
        &mut svg,
        AREA[0],
        28.0,
        "start",
        16,
        &format!("{}: rows of {GOALS_OF} beside the roofline, {threads} thread{plural}", results.processor),
    );
    axes(&mut svg);
    roofs(&mut svg, results, threads);
    points(&mut svg, results, threads);
    svg.push_str("</svg>\n");
    svg
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, size: u32, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{words}</text>"
    );
}

fn line(svg: &mut String, [x1, y1, x2, y2]: [f64; 4], style: &str) {
    let _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>");
}

fn axes(svg: &mut String) {
    const GRID: &str = "stroke=\"#dddddd\"";
    let [left, right, top, bottom] = AREA;
    let mut exponent = X[0];
    while exponent <= X[1] {
        let at = x(exponent.exp2());
        line(svg, [at, top, at, bottom], GRID);
        let label =
            if exponent < 0.0 { format!("1/{}", (-exponent).exp2()) } else { exponent.exp2().to_string() };
        text(svg, at, bottom + 16.0, "middle", 11, &label);
        exponent += 1.0;
    }
    let mut exponent = Y[0];
    while exponent <= Y[1] {
        let at = y(10.0_f64.powf(exponent));
        line(svg, [left, at, right, at], GRID);
        text(svg, left - 6.0, at + 4.0, "end", 11, &format!("{}", 10.0_f64.powf(exponent)));
        exponent += 1.0;
    }
    line(svg, [left, bottom, right, bottom], "stroke=\"black\"");
    line(svg, [left, top, left, bottom], "stroke=\"black\"");
    text(
        svg,
        (left + right) / 2.0,
        bottom + 36.0,
        "middle",
        12,
        "operations for each byte that must be moved",
    );
    let middle = (top + bottom) / 2.0;
    let _ = writeln!(
        svg,
        "<text x=\"18\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {middle})\">1e9 operations a second</text>"
    );
}

fn roofs(svg: &mut String, results: &Results, threads: usize) {
    let Some(bandwidth) = results.limit(COPY, threads) else { return };
    let of_arithmetic = |limit: &&Limit| limit.threads == threads && limit.unit != "GB/s";
    let mut peaks: Vec<_> = results.limits.iter().filter(of_arithmetic).collect();
    peaks.sort_by(|one, other| one.value.total_cmp(&other.value));
    let Some(highest) = peaks.last() else { return };
    const ROOF: &str = "stroke=\"#444444\" stroke-width=\"2\"";
    let from = X[0].exp2();
    let ridge = highest.value / bandwidth;
    line(svg, [x(from), y(from * bandwidth), x(ridge), y(highest.value)], ROOF);
    text(svg, x(0.5) - 6.0, y(0.5 * bandwidth) - 8.0, "end", 11, &format!("copy {bandwidth:.1} GB/s"));
    for peak in peaks {
        line(svg, [x(peak.value / bandwidth), y(peak.value), AREA[1], y(peak.value)], ROOF);
        text(
            svg,
            // Left of its ridge, where no row can lie.
            x(peak.value / bandwidth) - 8.0,
            y(peak.value) + 4.0,
            "end",
            11,
            &format!("{} {:.0} {}", peak.name, peak.value, peak.unit),
        );
    }
}

fn points(svg: &mut String, results: &Results, threads: usize) {
    let mut index = 0;
    let mut taken: Vec<(f64, f64)> = Vec::new();
    text(svg, AREA[1] + 24.0, AREA[2] + 4.0, "start", 12, "row, 1e9 operations/s, share of its limit");
    for row in ROWS {
        let Some(entry) = results.row(row.name, threads) else { continue };
        let Some((intensity, rate, share)) = point(row, entry) else { continue };
        index += 1;
        let (across, down) = (x(intensity), y(rate));
        let colour = if share.is_some_and(|share| share >= 0.9) { "#1a7f37" } else { "#0969da" };
        let _ = writeln!(svg, "<circle cx=\"{across:.1}\" cy=\"{down:.1}\" r=\"4\" fill=\"{colour}\"/>");
        // The number stands beside its point, further right for each one near it.
        let near = taken.iter().filter(|(x, y)| (x - across).abs() < 14.0 && (y - down).abs() < 12.0).count();
        taken.push((across, down));
        text(svg, across + 7.0 + 15.0 * near as f64, down + 14.0, "start", 11, &index.to_string());
        let share = share.map(|share| format!(", {:.0} %", 100.0 * share)).unwrap_or_default();
        let words = format!("{index}  {}: {rate:.3}{share}", row.title);
        text(svg, AREA[1] + 24.0, AREA[2] + 6.0 + 20.0 * f64::from(index), "start", 11, &words);
    }
}
