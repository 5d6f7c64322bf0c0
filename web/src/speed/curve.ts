// The rate of both directions during the test, as live curves.
import { el } from "../dom";
import { rate } from "../format";
import type { Direction } from "./api";
import { draw, fit, room, ticks } from "./svg";

/** Received bytes at one time, and the rate of the preceding second. */
interface Point {
  seconds: number;
  bytes: number;
  bps: number;
}

const [HEIGHT, LEFT, BOTTOM, TOP] = [190, 84, 34, 10];
const DIRECTIONS: Direction[] = ["download", "upload"];

const START: Point = { seconds: 0, bytes: 0, bps: 0 };

export class Curve {
  readonly element = el("figure", { class: "curve" });
  private readonly points: Record<Direction, Point[]> = { download: [], upload: [] };

  constructor() {
    fit(this.element, () => (this.points.download.length === 0 ? [] : this.drawn()));
  }

  /**
   * Adds the numbers of received bytes and draws the curve. The server reports the progress of an upload from
   * time to time, last at `reported`; until the next report, the rate is unknown.
   */
  add(now: number, moved: Record<Direction, number>, uploading: boolean, reported: number): void {
    for (const direction of DIRECTIONS) {
      const points = this.points[direction];
      const bytes = moved[direction];
      const last = points.at(-1) ?? START;
      const isReport = direction === "upload" && bytes !== last.bytes;
      const isUnknown = direction === "upload" && uploading && !isReport;
      const seconds = isReport ? reported : now;
      if (seconds <= last.seconds || isUnknown) continue;
      // A busy page reads delayed data in bursts: a shorter window would show a rate that is too high.
      const from = points.find((point) => point.seconds >= seconds - 1) ?? last;
      points.push({ seconds, bytes, bps: ((bytes - from.bytes) * 8) / (seconds - from.seconds) });
    }
    this.element.replaceChildren(...this.drawn());
  }

  private drawn(): Node[] {
    const width = room();
    const all = DIRECTIONS.flatMap((direction) => this.points[direction]);
    const last = Math.max(1, ...all.map(({ seconds }) => seconds));
    const most = Math.max(1e3, ...all.map(({ bps }) => bps));
    const [up, along] = [ticks(most), ticks(last)];
    const [top, right] = [up.at(-1) ?? 1, Math.max(last, 1)];
    const x = (seconds: number): number => LEFT + (seconds / right) * (width - LEFT - 14);
    const y = (bps: number): number => HEIGHT - BOTTOM - (bps / top) * (HEIGHT - BOTTOM - TOP);
    const lines = up.flatMap((bps) => [
      draw("line", { class: "grid", x1: LEFT, x2: width - 14, y1: y(bps), y2: y(bps) }),
      draw("text", { x: LEFT - 6, y: y(bps) + 4, "text-anchor": "end" }, bps === 0 ? "0" : rate(bps)),
    ]);
    const seconds = along
      .filter((second) => second <= right)
      .map((second) => draw("text", { x: x(second), y: HEIGHT - 16, "text-anchor": "middle" }, String(second)));
    const title = draw("text", { x: (LEFT + width) / 2, y: HEIGHT - 2, "text-anchor": "middle" }, "seconds");
    const curves = DIRECTIONS.map((direction) => {
      const points = this.points[direction].map(({ seconds: at, bps }) => `${x(at).toFixed(1)},${y(bps).toFixed(1)}`);
      return draw("polyline", { class: `line ${direction}`, points: points.join(" ") });
    });
    const said = `The rate of downloads and uploads over ${last.toFixed(0)} seconds; the maximum was ${rate(most)}.`;
    const picture = draw(
      "svg",
      { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": said },
      ...lines,
      ...seconds,
      title,
      ...curves,
    );
    const key = el(
      "figcaption",
      {},
      ...DIRECTIONS.map((direction) => el("span", { class: `key ${direction}` }, direction)),
    );
    return [key, picture];
  }
}
