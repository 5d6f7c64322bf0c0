// Saves a chart as a picture with its title and its sentence.
import { el } from "../dom";
import type { Frame } from "./frame";
import { palette } from "./palette";

const MARGIN = 20;
const LINE = 18;

/** The drawing below its texts, on the background of the page, in device pixels. */
export function savePicture(box: Frame, drawing: HTMLCanvasElement): void {
  const title = box.title.textContent ?? "chart";
  const canvas = el("canvas");
  const context = canvas.getContext("2d");
  if (context === null) return;
  const colors = palette();
  const scale = devicePixelRatio;
  const fonts = { title: `650 ${15 * scale}px ${colors.font}`, text: `${13 * scale}px ${colors.font}` };
  context.font = fonts.text;
  const lines = wrap(context, box.sentence.textContent ?? "", drawing.width);
  const head = (MARGIN + LINE * (lines.length + 1) + MARGIN / 2) * scale;
  canvas.width = drawing.width + 2 * MARGIN * scale;
  canvas.height = head + drawing.height + MARGIN * scale;
  // Setting the size of a canvas resets its state.
  context.fillStyle = colors.surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.textBaseline = "top";
  context.fillStyle = colors.ink;
  context.font = fonts.title;
  context.fillText(title, MARGIN * scale, MARGIN * scale);
  context.fillStyle = colors.muted;
  context.font = fonts.text;
  lines.forEach((line, i) => context.fillText(line, MARGIN * scale, (MARGIN + LINE * (i + 1.2)) * scale));
  context.drawImage(drawing, MARGIN * scale, head);
  canvas.toBlob((blob) => {
    if (blob === null) return;
    const href = URL.createObjectURL(blob);
    el("a", { href, download: `${fileName(title)}.png` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  });
}

function wrap(context: CanvasRenderingContext2D, text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && context.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Titles contain labels from files: only characters that are valid in file names are kept. */
const fileName = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 80) || "chart";
