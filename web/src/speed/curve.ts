// The rate of both directions while the test runs, as lines that grow.
import { el } from "../dom";
import { rate } from "../format";
import type { Direction } from "./api";
import { draw, room, ticks } from "./svg";

/** A moment of the test, and the rates until it. */
interface Point {
  seconds: number;
  bps: Record<Direction, number>;
}

const [HEIGHT, LEFT, BOTTOM, TOP] = [190, 84, 34, 10];
const DIRECTIONS: Direction[] = ["download", "upload"];

export class Curve {
  readonly element = el("figure", { class: "curve" });
  private readonly points: Point[] = [];
  private before = { seconds: 0, download: 0, upload: 0 };

  /** Notes how much has moved until now; draws it. */
  add(seconds: number, moved: Record<Direction, number>): void {
    const span = seconds - this.before.seconds;
    if (span <= 0) return;
    const bps = (direction: Direction): number => ((moved[direction] - this.before[direction]) * 8) / span;
    this.points.push({ seconds, bps: { download: bps("download"), upload: bps("upload") } });
    this.before = { seconds, ...moved };
    this.draw();
  }

  private draw(): void {
    const width = room();
    const last = this.points.at(-1)?.seconds ?? 1;
    const most = Math.max(1e3, ...this.points.flatMap(({ bps }) => [bps.download, bps.upload]));
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
      const points = this.points.map((point) => `${x(point.seconds).toFixed(1)},${y(point.bps[direction]).toFixed(1)}`);
      return draw("polyline", { class: `line ${direction}`, points: points.join(" ") });
    });
    const said = `The rate of downloads and uploads over ${last.toFixed(0)} seconds; the most was ${rate(most)}.`;
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
    this.element.replaceChildren(key, picture);
  }
}
