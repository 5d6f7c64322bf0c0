// Percentiles over time with the maximum: one panel a side, all on the same scales, faults as labelled bands.
import type uPlot from "uplot";
import { count, elapsed, short, tick, timeUnit } from "../format";
import { timeSentence } from "../sentences";
import type { State } from "../store";
import type { FaultMark, OverTime, Report } from "../types";
import { type Frame, say } from "./frame";
import { endLabels } from "./labels";
import { type Palette, palette } from "./palette";
import { axis, axisTitle, draw, latencyAxis, latencyScale, onScale, sideValue } from "./plot";
import { linearTicks } from "./ticks";

const LINES = [
  { name: "p50", key: "p50_ms", width: 2.5, alpha: 1 },
  { name: "p90", key: "p90_ms", width: 1.5, alpha: 0.85 },
  { name: "p99", key: "p99_ms", width: 1.25, alpha: 0.65 },
  { name: "max", key: "max_ms", width: 1, alpha: 0.45 },
] as const;

const FAULT_ROW = 17;
const MOST_ROWS = 4;
/** Room for the names of the lines. */
const PADDING_RIGHT = 44;

/** Draws one side's panel; it must have percentiles over time. */
export function overTime(box: Frame, report: Report, state: State, side: number): void {
  const over = report.charts[side]?.over_time;
  if (!over) return;
  const colors = palette();
  const all = report.charts.flatMap((chart) => chart.over_time ?? []);
  const scale = latencyScale(
    all.flatMap((one) => LINES.flatMap((line) => one[line.key])),
    state.time,
  );
  const [start, end] = spanOf(all);
  const unit = timeUnit(end - start);
  const columns = withGaps(over);
  say(box, timeSentence(over));
  draw(box, {
    data: [columns.middle, ...LINES.map((line) => onScale(columns[line.key], scale.limits))] as uPlot.AlignedData,
    options: {
      padding: [8 + FAULT_ROW * rowsOf(report.faults), PADDING_RIGHT, 0, 0],
      scales: { x: { time: false, auto: false, range: () => [start, end] }, y: scale },
      axes: [
        axis(colors, {
          scale: "x",
          side: "bottom",
          title: `time since the start (${unit.name})`,
          ticks: (low, high, pixels) =>
            linearTicks(low / unit.seconds, high / unit.seconds, pixels / 70).map((value) => value * unit.seconds),
          text: (value) => tick(value / unit.seconds),
        }),
        latencyAxis(colors, state.time, { scale: "y", side: "left", title: axisTitle(report.metric) }),
      ],
      series: [
        {},
        ...LINES.map((line) => ({
          stroke: colors.side(side),
          width: line.width,
          alpha: line.alpha,
          // A lone interval has no line to be seen by.
          points: { show: over.start_s.length < 3, size: 8, fill: colors.side(side) },
        })),
      ],
      cursor: { sync: { key: "over-time", scales: ["x", null] }, y: false },
      hooks: {
        drawClear: [(u) => faultBands(u, colors, bandsOf(u, report.faults, [start, end]))],
        drawAxes: [(u) => faultLabels(u, colors, bandsOf(u, report.faults, [start, end]))],
        draw: [(u) => nameLines(u, colors, columns)],
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

/** The columns with a null where intervals without samples lie: a line across them would claim samples there. */
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

function nameLines(u: uPlot, colors: Palette, columns: Columns): void {
  // The maximum first: where lines meet, labels keep this order from the top.
  const ends = LINES.toReversed().map((line) => {
    const last = columns[line.key].findLast((value) => value !== null) ?? 0;
    return { text: line.name, y: u.valToPos(Math.max(last, u.scales["y"]?.min ?? last), "y", true) };
  });
  endLabels(u, colors, ends);
}

/** Up to so many faults have their labels in rows of their own; more are numbered as in the table of faults. */
const rowsOf = (faults: FaultMark[]): number => (faults.length > MOST_ROWS ? 1 : faults.length);

/** Height of a panel: faults take their rows from the card, not from the lines. */
export const panelHeight = (report: Report): number => 310 + FAULT_ROW * rowsOf(report.faults);

interface Band {
  left: number;
  right: number;
  /** Where its label's row begins. */
  top: number;
  text: string;
}

function bandsOf(u: uPlot, faults: FaultMark[], [start, end]: [number, number]): Band[] {
  const rows = rowsOf(faults);
  return faults.flatMap((fault, i) => {
    if (fault.at_s > end || (fault.until_s ?? end) < start) return [];
    const numbered = faults.length > rows;
    return [
      {
        left: u.valToPos(Math.max(start, fault.at_s), "x", true),
        right: u.valToPos(Math.min(end, fault.until_s ?? end), "x", true),
        top: u.bbox.top - FAULT_ROW * devicePixelRatio * (numbered ? 1 : rows - i),
        text: numbered ? String(i + 1) : short(fault.label, 40),
      },
    ];
  });
}

function faultBands(u: uPlot, colors: Palette, bands: Band[]): void {
  const { ctx, bbox } = u;
  // One path, so that bands that overlap do not grow darker.
  const area = new Path2D();
  for (const { left, right } of bands) area.rect(left, bbox.top, Math.max(devicePixelRatio, right - left), bbox.height);
  ctx.save();
  ctx.fillStyle = colors.fault;
  ctx.globalAlpha = 0.16;
  ctx.fill(area);
  ctx.restore();
}

function faultLabels(u: uPlot, colors: Palette, bands: Band[]): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  const row = FAULT_ROW * scale;
  ctx.save();
  ctx.font = `${12 * scale}px ${colors.font}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  ctx.lineWidth = 4 * scale;
  ctx.strokeStyle = colors.surface;
  const edge = bbox.left + bbox.width + PADDING_RIGHT * scale;
  for (const { left, top, text } of bands) {
    const beside = left + 5 * scale;
    const at = Math.max(0, Math.min(beside, edge - ctx.measureText(text).width));
    // The band's pole reaches up to its label, unless the label had to move over it.
    const pole = at < beside ? top + row : top;
    ctx.fillStyle = colors.fault;
    ctx.fillRect(left, pole, 1.5 * scale, bbox.top + bbox.height - pole);
    ctx.strokeText(text, at, top + row / 2);
    ctx.fillStyle = colors.ink;
    ctx.fillText(text, at, top + row / 2);
  }
  ctx.restore();
}
