// Time of requests in each phase, by percentile of the metric: stacked areas in chronological order.
import type uPlot from "uplot";
import { ms, percentile, share, tick } from "../format";
import { phasesSentence } from "../sentences/phases";
import type { State } from "../store";
import type { PhaseStack, Report } from "../types";
import { type Frame, say } from "./frame";
import { endLabels, nameRoom } from "./labels";
import { type Palette, palette } from "./palette";
import { axis, axisTitle, draw } from "./plot";
import { shareScale } from "./shares";
import { thinIndex } from "./thinning";
import { linearTicks } from "./ticks";


interface Stack {
  names: string[];
  /** As shares of requests that the axis can show. */
  shares: number[];
  /** By phase: the upper end of its area. Its lower end is that of the previous phase. */
  tops: number[][];
  stack: PhaseStack;
}

/** In ms, or as shares of the total in percent. Phases without time have no area and no name. */
function stackOf(stack: PhaseStack, state: State): Stack {
  const kept = stack.share.flatMap((one, i) => (state.phaseAxis === "percent" || one < 1 ? [i] : []));
  const happened = stack.phases.filter((phase) => phase.mean_ms.some((value) => value > 0));
  const total = kept.map((i) => happened.reduce((sum, phase) => sum + (phase.mean_ms[i] ?? 0), 0));
  const sums = kept.map(() => 0);
  const tops = happened.map((phase) =>
    kept.map((i, k) => {
      const value = phase.mean_ms[i] ?? 0;
      const whole = total[k] as number;
      sums[k] = (sums[k] as number) + (state.phaseUnit === "ms" ? value : whole > 0 ? (100 * value) / whole : 0);
      return sums[k];
    }),
  );
  return { names: happened.map((phase) => phase.phase), shares: kept.map((i) => stack.share[i] as number), tops, stack };
}

/** Draws one side's panel; it must have phases. */
export function phases(box: Frame, report: Report, state: State, side: number): void {
  const stacks = report.charts.map((chart) => (chart.phases ? stackOf(chart.phases, state) : undefined));
  const one = stacks[side];
  const chart = report.charts[side];
  if (one === undefined || chart === undefined) return;
  const colors = palette();
  const all = stacks.filter((stack) => stack !== undefined);
  const inMs = state.phaseUnit === "ms";
  const high = inMs ? Math.max(...all.flatMap((stack) => stack.tops.at(-1) ?? []), 1e-6) * 1.04 : 100;
  const scale = shareScale(state.phaseAxis, all.flatMap((stack) => stack.shares));
  const xs = one.shares.map(scale.at);
  const thinFrom = Math.min(1 - 1e-12, (report.comparison.sides[side]?.thin_above ?? 100) / 100);
  const thinNote = thinIndex(one.shares, 100 * thinFrom) < xs.length ? " ~ and pale: fewer than 10 samples beyond." : "";
  say(box, phasesSentence(chart.label, one.stack) + thinNote);
  draw(box, {
    data: [xs, one.tops.at(-1) ?? xs.map(() => 0)],
    options: {
      padding: [10, nameRoom(all.flatMap((stack) => stack.names)) + 6, 0, 0],
      scales: {
        x: { time: false, auto: false, range: () => [0, scale.top] },
        y: { time: false, auto: false, range: () => [0, high] },
      },
      axes: [
        axis(colors, { scale: "x", side: "bottom", title: "percentile of requests (%)", ticks: scale.ticks, text: scale.text }),
        axis(colors, {
          scale: "y",
          side: "left",
          title: inMs ? axisTitle(report.metric) : `share of ${report.metric} (%)`,
          ticks: linearTicks,
          text: tick,
        }),
      ],
      series: [{}, { stroke: colors.ink, width: 1, points: { show: false } }],
      cursor: { y: false },
      hooks: {
        drawAxes: [(u) => drawAreas(u, colors, one, xs, scale.at(thinFrom))],
        draw: [(u) => nameAreas(u, colors, one, high)],
      },
    },
    read: (index) => readAt(one, index),
  });
}

function readAt({ names, shares, tops, stack }: Stack, index: number): string {
  const at = stack.share.indexOf(shares[index] ?? 0);
  const values = names.map((name) => stack.phases.find((phase) => phase.phase === name)?.mean_ms[at] ?? 0);
  const total = values.reduce((sum, value) => sum + value, 0);
  const parts = names.map((name, i) => `${name} ${ms(values[i])}${total > 0 ? ` (${share((values[i] ?? 0) / total)})` : ""}`);
  return tops.length === 0
    ? "no phase was measured"
    : `p${percentile((shares[index] ?? 0) * 100)}: ${parts.join(" \u00b7 ")} \u00b7 together ${ms(total)}`;
}

/** Adds an entry at x, if it is between two others. */
function withEntry(xs: number[], tops: number[][], x: number): [xs: number[], tops: number[][]] {
  const after = xs.findIndex((one) => one > x);
  const [low, high] = [xs[after - 1], xs[after]];
  if (low === undefined || high === undefined || low === x) return [xs, tops];
  const part = (x - low) / (high - low);
  const insert = (values: number[], value: number): number[] => values.toSpliced(after, 0, value);
  const between = (top: number[]): number => {
    const [from, to] = [top[after - 1] as number, top[after] as number];
    return from + part * (to - from);
  };
  return [insert(xs, x), tops.map((top) => insert(top, between(top)))];
}

/** Pale to the right of `thinFrom` on the axis, where fewer than 10 samples remain. */
function drawAreas(u: uPlot, colors: Palette, { names, tops: own }: Stack, places: number[], thinFrom: number): void {
  const { ctx } = u;
  const [xs, tops] = withEntry(places, own, thinFrom);
  const first = xs.findIndex((x) => x >= thinFrom - 1e-9);
  const thin = first < 0 ? xs.length : first;
  const across = xs.map((x) => u.valToPos(x, "x", true));
  const down = (value: number): number => u.valToPos(value, "y", true);
  ctx.save();
  tops.forEach((top, phase) => {
    const under = tops[phase - 1] ?? xs.map(() => 0);
    const area = (first: number, last: number): void => {
      ctx.beginPath();
      for (let i = first; i <= last; i++) ctx.lineTo(across[i] as number, down(top[i] as number));
      for (let i = last; i >= first; i--) ctx.lineTo(across[i] as number, down(under[i] as number));
      ctx.closePath();
      ctx.fillStyle = colors.phase(names[phase] ?? "");
      ctx.fill();
      ctx.globalAlpha = 1;
      ctx.strokeStyle = colors.surface;
      ctx.lineWidth = devicePixelRatio;
      ctx.stroke();
    };
    if (thin > 0) area(0, Math.min(thin, across.length - 1));
    if (thin >= across.length) return;
    ctx.globalAlpha = 0.45;
    area(Math.max(0, thin), across.length - 1);
  });
  ctx.restore();
  const x = across[Math.max(0, thin)];
  if (x !== undefined && thin < across.length) markThin(u, colors, x);
}

/** The line to the right of which samples are few, with the mark of the tables. */
function markThin(u: uPlot, colors: Palette, x: number): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  if (x > bbox.left + bbox.width - 2 * scale) return;
  ctx.save();
  ctx.strokeStyle = colors.muted;
  ctx.lineWidth = scale;
  ctx.setLineDash([2 * scale, 4 * scale]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.fillStyle = colors.ink;
  ctx.font = `${14 * scale}px ${colors.font}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  const left = Math.min(x + 3 * scale, bbox.left + bbox.width - ctx.measureText("~").width);
  ctx.fillText("~", left, bbox.top + 8 * scale);
  ctx.restore();
}

/** Labels each area at the middle of its right end, in its colour. */
function nameAreas(u: uPlot, colors: Palette, { names, tops }: Stack, high: number): void {
  const ends = names.map((name, i) => {
    const [under, top] = [i === 0 ? 0 : (tops[i - 1]?.at(-1) ?? 0), tops[i]?.at(-1) ?? 0];
    return { text: name, y: u.valToPos(Math.min(high, (under + top) / 2), "y", true), dot: colors.phase(name) };
  });
  // From the top, so that areas without height keep their order.
  endLabels(u, colors, ends.toReversed());
}
