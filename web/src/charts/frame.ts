// The frame of each chart: title, explanatory sentence, switches, read-out, download button.
import { el } from "../dom";

export interface Frame {
  element: HTMLElement;
  title: HTMLElement;
  sentence: HTMLElement;
  plot: HTMLElement;
  readout: HTMLElement;
  /** Saves the drawing as a picture; enabled when there is a drawing. */
  download: HTMLButtonElement;
  /** Height of the drawing for a width, both in CSS pixels. */
  height: (width: number) => number;
}

const HINT = "Point at the chart, or focus it and use the arrow keys, to read values.";

export function frame(title: string, controls: HTMLElement[], height: (width: number) => number): Frame {
  const heading = el("h3", {}, title);
  const sentence = el("p", { class: "sentence" });
  const plot = el("div", { class: "plot", tabindex: "0", role: "img" });
  const readout = el("p", { class: "readout", "aria-live": "polite" }, HINT);
  const download = el("button", { type: "button", class: "quiet download" }, "Save PNG");
  const element = el(
    "figure",
    { class: "chart" },
    el("figcaption", {}, heading, sentence),
    controls.length > 0 && el("div", { class: "switches" }, ...controls),
    plot,
    el("div", { class: "chart-foot" }, readout, download),
  );
  return { element, title: heading, sentence, plot, readout, download, height };
}

/** Sets the sentence of the chart, visible and for screen readers. */
export function say(box: Frame, sentence: string): void {
  box.sentence.textContent = sentence;
  box.plot.setAttribute("aria-label", `Chart: ${box.title.textContent ?? ""}. ${sentence}`);
}

/** Shows the values at the cursor; `undefined` restores the hint. */
export function read(box: Frame, text: string | undefined): void {
  box.readout.textContent = text ?? HINT;
  box.readout.classList.toggle("live", text !== undefined);
}
