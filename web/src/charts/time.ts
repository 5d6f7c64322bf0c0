// Percentiles and maximum over time: one panel per side, all with the same scales, faults as labelled bands.
import type uPlot from "uplot";
import { count, elapsed } from "../format";
import { timeSentence } from "../sentences/time";
import type { State } from "../store";
import type { OverTime, Report } from "../types";
import { type Frame, say } from "./frame";
import { endLabels } from "./labels";
import { type Palette, palette } from "./palette";
import { faultMoments, momentBands, momentLabels, MOMENT_ROW, rowsOf } from "./moments";
import { axisTitle, draw, latencyAxis, latencyScale, onScale, sideValue, timeAxis } from "./plot";

/** `needs`: samples that an interval needs so that ten are above the percentile: 10/(1 - share). */
const LINES = [
  { name: "p50", key: "p50_ms", width: 2.5, alpha: 1, needs: 20 },
  { name: "p90", key: "p90_ms", width: 1.5, alpha: 0.85, needs: 100 },
  { name: "p99", key: "p99_ms", width: 1.25, alpha: 0.65, needs: 1000 },
  { name: "max", key: "max_ms", width: 1, alpha: 0.45, needs: 0 },
] as const;

/** Whether the median interval has fewer than 10 samples above the percentile. */
const isThinLine = (over: OverTime, needs: number): boolean =>
  (over.count.toSorted((a, b) => a - b)[over.count.length >> 1] ?? 0) < needs;

/** Room for the names of the lines. */
const PADDING_RIGHT = 44;

/** Draws one side's panel; it must have percentiles over time. */
export function overTime(box: Frame, report: Report, state: State, side: number): void {
  const over = report.charts[side]?.over_time;
  if (!over) return;
  const colors = palette();
  const all = report.charts.flatMap((chart) => chart.over_time ?? []).filter((one) => one.start_s.length > 0);
  const scale = latencyScale(
    all.flatMap((one) => LINES.flatMap((line) => one[line.key])),
    state.time,
  );
  const [start, end] = spanOf(all);
  const moments = faultMoments(report);
  const columns = withGaps(over);
  const thin = LINES.some((line) => isThinLine(over, line.needs));
  say(box, timeSentence(over) + (thin ? " ~ fewer than 10 samples beyond." : ""));
  draw(box, {
    data: [columns.middle, ...LINES.map((line) => onScale(columns[line.key], scale.limits))] as uPlot.AlignedData,
    options: {
      padding: [8 + MOMENT_ROW * rowsOf(moments), PADDING_RIGHT, 0, 0],
      scales: { x: { time: false, auto: false, range: () => [start, end] }, y: scale },
      axes: [
        timeAxis(colors, end - start),
        latencyAxis(colors, state.time, { scale: "y", side: "left", title: axisTitle(report.metric) }),
      ],
      series: [
        {},
        ...LINES.map((line) => ({
          stroke: colors.side(side),
          width: line.width,
          alpha: line.alpha,
          // A single interval has no line, so it needs a point.
          points: { show: over.start_s.length < 3, size: 8, fill: colors.side(side) },
        })),
      ],
      cursor: { sync: { key: "over-time", scales: ["x", null] }, y: false },
      hooks: {
        drawClear: [(u) => momentBands(u, colors, moments, [start, end])],
        drawAxes: [(u) => momentLabels(u, colors, moments, [start, end], { room: PADDING_RIGHT, poles: "bottom" })],
        draw: [(u) => nameLines(u, colors, over, columns)],
      },
    },
    read: (index) => {
      const values = LINES.map((line) => sideValue(line.name, columns[line.key][index]));
      const from = columns.from[index];
      const when = from === undefined || from === null ? "" : `from ${elapsed(from, end - start)}: `;
      return `${when}${values.join(" \u00b7 ")} \u00b7 ${count(columns.count[index])} samples`;
    },
  });
}

function spanOf(all: OverTime[]): [number, number] {
  const starts = all.map((one) => one.start_s[0] ?? 0);
  const ends = all.map((one) => (one.start_s.at(-1) ?? 0) + one.interval_s);
  return [Math.min(...starts), Math.max(...ends)];
}

interface Columns {
  middle: number[];
  from: (number | null)[];
  count: (number | null)[];
  p50_ms: (number | null)[];
  p90_ms: (number | null)[];
  p99_ms: (number | null)[];
  max_ms: (number | null)[];
}

/** The columns with a null for intervals without samples, so that the line is interrupted. */
function withGaps(over: OverTime): Columns {
  const columns: Columns = { middle: [], from: [], count: [], p50_ms: [], p90_ms: [], p99_ms: [], max_ms: [] };
  const keys = ["count", "p50_ms", "p90_ms", "p99_ms", "max_ms"] as const;
  over.start_s.forEach((start, i) => {
    const before = over.start_s[i - 1];
    if (before !== undefined && start - before > over.interval_s * 1.5) {
      columns.middle.push(before + over.interval_s);
      columns.from.push(null);
      for (const key of keys) columns[key].push(null);
    }
    columns.middle.push(start + over.interval_s / 2);
    columns.from.push(start);
    for (const key of keys) columns[key].push(over[key][i] ?? null);
  });
  return columns;
}

function nameLines(u: uPlot, colors: Palette, over: OverTime, columns: Columns): void {
  // The maximum first: where lines meet, labels keep this order from the top.
  const ends = LINES.toReversed().map((line) => {
    const last = columns[line.key].findLast((value) => value !== null) ?? 0;
    return { text: `${line.name}${isThinLine(over, line.needs) ? "~" : ""}`, y: u.valToPos(Math.max(last, u.scales["y"]?.min ?? last), "y", true) };
  });
  endLabels(u, colors, ends);
}

/** Height of a panel: the rows of faults increase the height and do not shrink the plot. */
export const panelHeight = (report: Report): number => 310 + MOMENT_ROW * rowsOf(faultMoments(report));
