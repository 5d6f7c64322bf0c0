// Copies a table as tab-separated values, also from a page opened as a file, where the clipboard API may be
// unavailable.
import { el } from "../dom";
import type { Cell, Column } from "./table";

export interface Copied {
  columns: Column[];
  rows: Cell[][];
}

const CAPTION = "Copy table";
/** Duration of the button's confirmation. */
const SAID_MS = 2500;

export function copyButton(element: HTMLTableElement, copied: Copied): HTMLElement {
  const button = el("button", { type: "button", class: "quiet copy", "aria-live": "polite" }, CAPTION);
  button.addEventListener("click", async () => {
    const done = (await copy(asText(copied))) ? "Copied" : "Selected: press Ctrl+C";
    if (done !== "Copied") getSelection()?.selectAllChildren(element);
    button.textContent = done;
    setTimeout(() => (button.textContent = CAPTION), SAID_MS);
  });
  return button;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Fallback without the clipboard API. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const field = el("textarea", { class: "offscreen", "aria-hidden": "true", readonly: "" });
  field.value = text;
  document.body.append(field);
  field.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch {
    done = false;
  }
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return done;
}

/** A figure with an interval takes three columns, so that a spreadsheet gets three numbers; its detail takes
 * another. */
function asText({ columns, rows }: Copied): string {
  const wide = columns.map((_, i) => ({
    ci: rows.some((row) => row[i]?.ci),
    detail: rows.some((row) => row[i]?.detail !== undefined),
  }));
  const head = columns.flatMap((column, i) => {
    const title = plain(column.title);
    const ends = wide[i]?.ci ? [`${title}, low end`, `${title}, high end`] : [];
    return [title, ...ends, ...(wide[i]?.detail ? [`${title}, detail`] : [])];
  });
  const body = rows.map((row) =>
    row.flatMap((cell, i) => {
      const text = columns[i]?.align === "number" ? number(plain(cell.text)) : plain(cell.text);
      const ends = wide[i]?.ci ? [0, 1].map((end) => String(cell.ci?.[end] ?? "")) : [];
      return [text, ...ends, ...(wide[i]?.detail ? [plain(cell.detail ?? "")] : [])];
    }),
  );
  return [head, ...body].map((line) => line.join("\t")).join("\n");
}

const plain = (content: string | HTMLElement): string =>
  (typeof content === "string" ? content : (content.textContent ?? "")).replace(/[\u00a0\u202f\t\n]/g, " ").trim();

/** In a format that other programs read: no spaces between thousands, a hyphen as minus. */
const number = (text: string): string => text.replace(/(?<=\d) (?=\d)/g, "").replace("\u2212", "-");
