// The CDF of all sides: latency on x, the share of requests that are done by then on y, in percent or in nines.
import type uPlot from "uplot";
import { ms, percentile, short, tick } from "../format";
import { commonShares, quantile } from "../quantiles";
import { cdfSentence } from "../sentences";
import type { State } from "../store";
import type { Report } from "../types";
import { type Frame, say } from "./frame";
import { dense, Labels, type Point } from "./labels";
import { type Palette, palette } from "./palette";
import { axis, axisTitle, draw, latencyAxis, latencyScale, onScale, sideValue } from "./plot";
import { fromNines, linearTicks, nines, ninesTicks } from "./ticks";

export function cdf(box: Frame, report: Report, state: State): void {
  const colors = palette();
  const inNines = state.axis === "nines";
  const functions = report.charts.map((chart) => chart.quantiles);
  // The slowest sample has share 1, which no number of nines reaches; fromNines would not come back from it.
  const shares = commonShares(functions).filter((share) => !inNines || share < 1);
  const lines = functions.map((one) => shares.map((share) => quantile(one, share) ?? null));
  const scale = latencyScale(
    lines.flat().filter((value) => value !== null),
    state.cdf,
  );
  const top = inNines ? Math.max(1, nines(shares.at(-1) ?? 0)) : 100;
  const heights = shares.map((share) => (inNines ? nines(share) : share * 100));
  const asPercent = (height: number): number => (inNines ? fromNines(height) * 100 : height);
  say(box, cdfSentence(report) + (inNines ? beyond(report) : ""));
  draw(box, {
    data: [heights, ...lines.map((line) => onScale(line, scale.limits))] as uPlot.AlignedData,
    options: {
      padding: [10, 16, 0, 0],
      // The share is uPlot's x because it is what all sides have in common; it is drawn upwards.
      scales: { x: { time: false, auto: false, ori: 1, range: () => [0, top] }, y: { ...scale, ori: 0 } },
      axes: [
        axis(colors, {
          scale: "x",
          side: "left",
          title: "percentile of requests (%)",
          ticks: (_, high, pixels) => (inNines ? ninesTicks(high) : linearTicks(0, 100, pixels / 45)),
          text: (value) => (inNines ? percentile(asPercent(value)) : tick(value)),
        }),
        latencyAxis(colors, state.cdf, { scale: "y", side: "bottom", title: axisTitle(report.metric) }),
      ],
      series: [{}, ...report.charts.map((_, i) => ({ stroke: colors.side(i), width: 2, points: { show: false } }))],
      // All sides are read at one share; the pointer's latency says nothing.
      cursor: { x: false },
      hooks: { draw: [(u) => nameLines(u, colors, report)] },
    },
    read: (index) => {
      const values = report.charts.map((chart, i) => sideValue(chart.label, lines[i]?.[index]));
      return `p${percentile((shares[index] ?? 0) * 100)}: ${values.join(" \u00b7 ")}`;
    },
  });
}

/** What the nines axis leaves out. */
function beyond(report: Report): string {
  const slowest = report.comparison.sides.map((side) => `${side.label} ${ms(side.max_ms)}`);
  return ` The slowest sample lies beyond any number of nines: ${slowest.join(", ")}.`;
}

function nameLines(u: uPlot, colors: Palette, report: Report): void {
  const [heights = [], ...lines] = u.data as [number[], ...(number | null)[][]];
  const drawn = lines.map((line) =>
    dense(
      line.flatMap((value, i): Point[] =>
        value === null ? [] : [[u.valToPos(value, "y", true), u.valToPos(heights[i] ?? 0, "x", true)]],
      ),
    ),
  );
  const labels = new Labels(u, colors, drawn.flat());
  drawn.forEach((points, i) => {
    // The middle of a line is where it is steep and most its own; places further off come after it.
    const middle = u.bbox.top + u.bbox.height * 0.45;
    const anchors = points
      .filter((_, at) => at % 3 === 0)
      .sort((a, b) => Math.abs(a[1] - middle) - Math.abs(b[1] - middle));
    const others = drawn.filter((_, other) => other !== i).flat();
    labels.place(short(report.charts[i]?.label ?? ""), anchors, { dot: colors.side(i) }, others);
  });
}
