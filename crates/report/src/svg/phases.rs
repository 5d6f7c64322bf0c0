//! What requests spend in each phase, stacked by percentile: one panel a side, all on the same scales.

use super::{
    axis::Scale,
    canvas::Canvas,
    frame::Frame,
    heading::{finish, headed},
    labels::end_labels,
    over_time::{frame, name_panel},
    palette::{phase, side},
    panels::{MOST, panels},
    sentences::{interpolated, latency, name},
};
use crate::model::{PhaseStack, Report};

/// The chart, if samples carry phases.
pub(super) fn draw(report: &Report) -> Option<String> {
    let charts = report.charts.iter().enumerate();
    let stacks: Vec<(usize, &PhaseStack)> = charts
        .filter_map(|(index, chart)| Some((index, chart.phases.as_ref().filter(|stack| is_drawable(stack))?)))
        .take(MOST)
        .collect();
    let first = stacks.first()?;
    let title = statement(report, first.1, &report.charts[first.0].label);
    let mut canvas = headed(report, &title, "");
    let thick = report.comparison.sides.iter().map(|side| side.thin_above / 100.0).fold(1.0, f64::min);
    let x = Scale::nines(stacks.iter().flat_map(|(_, stack)| stack.share.iter().copied()));
    let y = heights(&stacks, thick);
    for ((index, stack), panel) in
        stacks.iter().zip(panels(stacks.len(), if stacks.len() == 4 { 2 } else { 3 }))
    {
        let frame = frame(&panel, x, y);
        let frame = Frame { right: frame.right - 30.0, ..frame };
        frame.axes(&mut canvas, if panel.is_last_row { "percentile of requests (%)" } else { "" }, "");
        let text = format!("{}: {} (ms)", name(&report.charts[*index].label), report.metric);
        name_panel(&mut canvas, &frame, &text, side(*index));
        draw_stack(&mut canvas, &frame, stack);
    }
    Some(finish(report, canvas, &title, ""))
}

fn is_drawable(stack: &PhaseStack) -> bool {
    stack.share.len() > 1
        && !stack.phases.is_empty()
        && stack.phases.iter().all(|one| one.mean_ms.len() == stack.share.len())
}

/// The phase that makes the difference at the highest percentile that tells, or the longest one there.
fn statement(report: &Report, stack: &PhaseStack, label: &str) -> String {
    let decisive =
        report.comparison.phases.iter().rev().find_map(|one| Some((one, one.decisive.as_deref()?)));
    if let (Some((one, phase)), [first, second, ..]) = (decisive, &report.comparison.sides[..]) {
        let share = one.phases.iter().find(|share| share.phase == phase);
        let by = share.map_or(0.0, |share| share.second_ms - share.first_ms);
        let (slow, fast) = if by > 0.0 { (second, first) } else { (first, second) };
        return format!(
            "At p{} the difference is {phase}: {} ms more with {} than with {}",
            one.percentile,
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

/// From 0 to the tallest stack that enough samples stand behind.
fn heights(stacks: &[(usize, &PhaseStack)], thick: f64) -> Scale {
    let tallest = |most_share: f64| {
        let stacked = stacks.iter().flat_map(|(_, stack)| (0..stack.share.len()).map(move |at| (stack, at)));
        let known = stacked.filter(|(stack, at)| stack.share[*at] <= most_share);
        known.map(|(stack, at)| stack.phases.iter().map(|one| one.mean_ms[at]).sum()).fold(0.0, f64::max)
    };
    let known = tallest(thick);
    Scale::Linear { low: 0.0, high: 1.04 * if known > 0.0 { known } else { tallest(1.0).max(1e-9) } }
}

fn draw_stack(canvas: &mut Canvas, frame: &Frame, stack: &PhaseStack) {
    let shares: Vec<usize> = (0..stack.share.len()).filter(|&at| stack.share[at] < 1.0).collect();
    let Some(&last) = shares.last() else { return };
    let mut below = vec![0.0; stack.share.len()];
    let mut ends = Vec::new();
    for one in &stack.phases {
        let above: Vec<f64> = below.iter().zip(&one.mean_ms).map(|(below, ms)| below + ms).collect();
        let lower = shares.iter().map(|&at| (stack.share[at], below[at]));
        let upper = shares.iter().rev().map(|&at| (stack.share[at], above[at]));
        frame.area(canvas, lower.chain(upper), phase(&one.phase), 0.9);
        let middle = frame.at(0.0, f64::midpoint(below[last], above[last])).1.clamp(frame.top, frame.bottom);
        let tallest = one.mean_ms.iter().copied().fold(0.0, f64::max);
        let is_seen = frame.at(0.0, 0.0).1 - frame.at(0.0, tallest).1 >= 2.0;
        if is_seen {
            ends.push((middle, one.phase.clone(), Some(phase(&one.phase))));
        }
        below = above;
    }
    // The names of phases stand in the order of the stack, also where their areas end at one height.
    ends.reverse();
    end_labels(canvas, frame, &ends);
}
