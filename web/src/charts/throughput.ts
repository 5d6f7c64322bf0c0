// What arrived over time: a line for each transfer, all on the same scales, faults as labelled bands.
import uPlot from "uplot";
import { elapsed, rate, short, tick } from "../format";
import { throughputSentence } from "../sentences/transfers";
import type { Report, Transferred } from "../types";
import { sideIndex } from "../views/transfers";
import { type Frame, say } from "./frame";
import { endLabels, LETTERS, nameRoom } from "./labels";
import { faultMoments, momentBands, momentLabels, MOMENT_ROW, rowsOf } from "./moments";
import { type Palette, palette } from "./palette";
import { axis, draw, timeAxis } from "./plot";
import { linearTicks } from "./ticks";

/**
 * Points of a line. A byte that was sent again holds up those behind it, and what arrives with it is many times the line's
 * rate for a moment: of a mean over a longer time that is no more than it is.
 */
const POINTS = 60;

/** Draws the transfers of which something arrived; there must be one. */
export function throughput(box: Frame, report: Report): void {
  const colors = palette();
  const transfers = report.transfers.filter((transfer) => transfer.intervals.length > 0);
  const end = Math.max(...transfers.map((one) => (one.intervals.at(-1)?.t_s ?? 0) + interval(one)));
  // Whole intervals, lest some points have one more than others.
  const least = Math.max(...transfers.map(interval));
  const length = Math.ceil(end / POINTS / least) * least;
  const lines = transfers.map((transfer) => megabits(transfer, length));
  const top = Math.max(...lines.flatMap(([, rates]) => rates)) * 1.05 || 1;
  const moments = faultMoments(report);
  const names = transfers.map((transfer) => short(transfer.side, LETTERS));
  const room = nameRoom(names);
  const data = uPlot.join(lines);
  say(box, `${throughputSentence(report, transfers)} Means over ${elapsed(length, 100)}.`);
  draw(box, {
    data,
    options: {
      padding: [8 + MOMENT_ROW * rowsOf(moments), room, 0, 0],
      scales: { x: { time: false, auto: false, range: () => [0, end] }, y: { auto: false, range: () => [0, top] } },
      axes: [
        timeAxis(colors, end),
        axis(colors, {
          scale: "y",
          side: "left",
          title: "arrived (Mbit/s)",
          ticks: linearTicks,
          text: tick,
        }),
      ],
      series: [
        {},
        ...transfers.map((transfer) => ({
          stroke: colors.side(sideIndex(report, transfer.side)),
          width: 1.5,
          points: { show: false },
        })),
      ],
      cursor: { y: false },
      hooks: {
        drawClear: [(u) => momentBands(u, colors, moments, [0, end])],
        drawAxes: [(u) => momentLabels(u, colors, moments, [0, end], { room, poles: "bottom" })],
        draw: [(u) => nameLines(u, colors, report, transfers, names)],
      },
    },
    read: (index) => {
      const values = transfers.map((transfer, i) => `${transfer.side} ${rate(bits(data[i + 1]?.[index]))}`);
      return `at ${elapsed(data[0][index] ?? 0, end)}: ${values.join(" \u00b7 ")}`;
    },
  });
}

/** Of Mbit/s. */
const bits = (mbps: number | null | undefined): number | undefined => (mbps == null ? undefined : mbps * 1e6);

/** How long an interval is, s. */
const interval = ({ intervals }: Transferred): number => (intervals[1]?.t_s ?? 1) - (intervals[0]?.t_s ?? 0);

/** The middle of each time of this length, and Mbit/s in it. */
function megabits(transfer: Transferred, length: number): [times: number[], rates: number[]] {
  const { intervals } = transfer;
  const step = interval(transfer);
  const rates: number[] = [];
  for (const { t_s: at, bytes } of intervals) {
    // A hair more, for 0.3 / 0.1 is less than 3.
    const place = Math.floor(at / length + 1e-9);
    while (rates.length <= place) rates.push(0);
    rates[place] = (rates[place] ?? 0) + (bytes * 8) / 1e6 / length;
  }
  // A last one that the transfer fills only in part would look like a plunge; a single one is all that there is.
  const last = intervals.at(-1);
  const until = (last?.t_s ?? 0) + step;
  if (rates.length > 1 && until < rates.length * length - 1e-9) rates.pop();
  return [rates.map((_, i) => (i + 0.5) * length), rates];
}

function nameLines(u: uPlot, colors: Palette, report: Report, transfers: Transferred[], names: string[]): void {
  const ends = transfers.map((transfer, i) => {
    const last = (u.data[i + 1] as (number | null)[]).findLast((value) => typeof value === "number") ?? 0;
    const dot = colors.side(sideIndex(report, transfer.side));
    return { text: names[i] ?? "", y: u.valToPos(last, "y", true), dot };
  });
  endLabels(u, colors, ends);
}

/** Height of the chart: faults take their rows from the card, not from the lines. */
export const throughputHeight = (report: Report): number => 290 + MOMENT_ROW * rowsOf(faultMoments(report));
