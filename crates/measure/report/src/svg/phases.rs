//! The time that requests spend in each phase, stacked by percentile: one panel per side, all with
//! the same scales.

use super::{
    axis::Scale,
    canvas::{Canvas, Lettering, Stroke},
    frame::{Frame, width},
    heading::{finish, headed_with},
    labels::end_labels,
    over_time::{frame, name_panel},
    palette::{MUTED, phase, side},
    panels::{MOST, panels},
    sentences::{THIN, interpolated, latency, name, thin_from},
};
use crate::model::{PhaseStack, Report};

pub(super) fn draw(report: &Report) -> Option<String> {
    let charts = report.charts.iter().enumerate();
    let stacks: Vec<(usize, &PhaseStack)> = charts
        .filter_map(|(index, chart)| Some((index, chart.phases.as_ref().filter(|stack| is_drawable(stack))?)))
        .take(MOST)
        .collect();
    let first = stacks.first()?;
    let title = statement(report, first.1, &report.charts[first.0].label);
    let thin = |index: usize| thin_from(report, &[index]);
    let is_thin = |(index, stack): &(usize, &PhaseStack)| {
        stack.share.iter().any(|&share| share < 1.0 && share >= thin(*index))
    };
    let remark = if stacks.iter().any(is_thin) { "~ and pale: fewer than 10 samples beyond" } else { "" };
    let mut canvas = headed_with(report, &title, remark);
    let x = Scale::nines(stacks.iter().flat_map(|(_, stack)| stack.share.iter().copied()));
    let y = heights(&stacks);
    for ((index, stack), panel) in
        stacks.iter().zip(panels(stacks.len(), if stacks.len() == 4 { 2 } else { 3 }))
    {
        let frame = frame(&panel, x, y);
        let frame = Frame { right: frame.right - 30.0, ..frame }.roomy(panel.left);
        frame.axes(&mut canvas, if panel.is_last_row { "percentile of requests (%)" } else { "" }, ("", ""));
        let text = format!("{}: {} (ms)", name(&report.charts[*index].label), report.metric);
        name_panel(&mut canvas, &frame, &text, side(*index), panel.right);
        draw_stack(&mut canvas, &frame, stack, thin(*index), panel.right);
    }
    Some(finish(report, canvas, &title, ""))
}

fn is_drawable(stack: &PhaseStack) -> bool {
    stack.share.len() > 1
        && !stack.phases.is_empty()
        && stack.phases.iter().all(|one| one.mean_ms.len() == stack.share.len())
}

/// The phase that makes the difference, or the longest one.
fn statement(report: &Report, stack: &PhaseStack, label: &str) -> String {
    let decisive =
        report.comparison.phases.iter().rev().find_map(|one| Some((one, one.decisive.as_deref()?)));
    if let (Some((one, phase)), [first, second, ..]) = (decisive, &report.comparison.sides[..]) {
        let share = one.phases.iter().find(|share| share.phase == phase);
        let by = share.map_or(0.0, |share| share.second_ms - share.first_ms);
        let (slow, fast) = if by > 0.0 { (second, first) } else { (first, second) };
        let share = one.percentile.parse().map_or(0.0, |percent: f64| percent / 100.0);
        return format!(
            "At p{}{} the difference is {phase}: {} ms more with {} than with {}",
            one.percentile,
            if share >= thin_from(report, &[0, 1]) { THIN } else { "" },
            latency(by.abs()),
            name(&slow.label),
            name(&fast.label)
        );
    }
    let at = |values: &[f64]| interpolated(&stack.share, values, 0.99);
    let longest = stack.phases.iter().max_by(|a, b| at(&a.mean_ms).total_cmp(&at(&b.mean_ms)));
    longest.map_or_else(String::new, |one| {
        format!("At p99 {} spends most in {}: {} ms", name(label), one.phase, latency(at(&one.mean_ms)))
    })
}

/// Up to the tallest stack: the slowest requests are the subject of the chart.
fn heights(stacks: &[(usize, &PhaseStack)]) -> Scale {
    let stacked = stacks.iter().flat_map(|(_, stack)| (0..stack.share.len()).map(move |at| (stack, at)));
    let drawn = stacked.filter(|(stack, at)| stack.share[*at] < 1.0);
    let total = drawn.map(|(stack, at)| stack.phases.iter().map(|one| one.mean_ms[at]).sum());
    let tallest: f64 = total.fold(0.0, f64::max);
    Scale::Linear { low: 0.0, high: if tallest > 0.0 { 1.04 * tallest } else { 1.0 } }
}

fn draw_stack(canvas: &mut Canvas, frame: &Frame, stack: &PhaseStack, thin: f64, edge: f64) {
    let shares: Vec<usize> = (0..stack.share.len()).filter(|&at| stack.share[at] < 1.0).collect();
    let Some(&last) = shares.last() else { return };
    let mut below = vec![0.0; stack.share.len()];
    let mut ends = Vec::new();
    for one in &stack.phases {
        let color = phase(&one.phase);
        let above: Vec<f64> = below.iter().zip(&one.mean_ms).map(|(below, ms)| below + ms).collect();
        let edges: Vec<(f64, [f64; 2])> =
            shares.iter().map(|&at| (stack.share[at], [below[at], above[at]])).collect();
        for (part, opacity) in parts(&edges, thin).iter().zip([0.9, 0.45]) {
            let lower = part.iter().map(|&(share, [low, _])| (share, low));
            let upper = part.iter().rev().map(|&(share, [_, high])| (share, high));
            frame.area(canvas, lower.chain(upper), color, opacity);
        }
        let middle = frame.at(0.0, f64::midpoint(below[last], above[last])).1.clamp(frame.top, frame.bottom);
        let tallest = one.mean_ms.iter().copied().fold(0.0, f64::max);
        let is_seen = frame.at(0.0, 0.0).1 - frame.at(0.0, tallest).1 >= 2.0;
        if is_seen {
            ends.push((middle, one.phase.clone(), Some(color)));
        }
        below = above;
    }
    mark_thin(canvas, frame, thin);
    // Names keep the order of the stack, also where areas end at one height.
    ends.reverse();
    end_labels(canvas, frame, &ends, edge);
}

fn parts(edges: &[(f64, [f64; 2])], thin: f64) -> [Vec<(f64, [f64; 2])>; 2] {
    let after = edges.partition_point(|(share, _)| *share < thin);
    if after == 0 {
        return [Vec::new(), edges.to_vec()];
    }
    let Some((to, high)) = edges.get(after) else { return [edges.to_vec(), Vec::new()] };
    let (from, low) = edges[after - 1];
    let part = (thin - from) / (to - from);
    let between = [0, 1].map(|end| low[end] + part * (high[end] - low[end]));
    let meeting = std::iter::once((thin, between));
    let before = edges[..after].iter().copied().chain(meeting.clone());
    [before.collect(), meeting.chain(edges[after..].iter().copied()).collect()]
}

fn mark_thin(canvas: &mut Canvas, frame: &Frame, thin: f64) {
    let (x, _) = frame.at(thin, 0.0);
    if x >= frame.right - 1.0 {
        return;
    }
    canvas.line(&[(x, frame.top), (x, frame.bottom)], Stroke { dashes: "2 4", ..Stroke::new(MUTED, 1.0) });
    let left = (x + 4.0).min(frame.right - width(THIN, 15.0));
    canvas.text((left, frame.top + 9.0), THIN, Lettering { halo: true, ..Lettering::new(15.0) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thick_and_thin_meet_between_two_entries() {
        let edges = [(0.0, [0.0, 10.0]), (0.5, [0.0, 20.0]), (1.0, [10.0, 40.0])];
        let [thick, thin] = parts(&edges, 0.75);
        assert_eq!(thick, [edges[0], edges[1], (0.75, [5.0, 30.0])]);
        assert_eq!(thin, [(0.75, [5.0, 30.0]), edges[2]]);
        assert_eq!(parts(&edges, 0.0), [vec![], edges.to_vec()]);
        assert_eq!(parts(&edges, 1.5), [edges.to_vec(), vec![]]);
    }
}
