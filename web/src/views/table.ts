// A table that marks figures, scrolls inside its own box and copies itself as tab-separated values.
import { el } from "../dom";

export interface Cell {
  text: string | HTMLElement;
  /** best: the lowest of those it stands against; thin: too few samples beyond it. */
  marks?: ("best" | "thin")[];
}

export interface Column {
  title: string | HTMLElement;
  align: "text" | "number";
}

const MARKS = {
  best: { sign: "\u2713", meaning: "lowest" },
  thin: { sign: "\u2020", meaning: "fewer than 10 samples beyond" },
} as const;

/** The first cell of each row is its heading. */
export function table(caption: string, columns: Column[], rows: Cell[][]): HTMLElement {
  const head = el("tr", {}, ...columns.map((column) => el("th", { scope: "col", class: column.align }, column.title)));
  const body = rows.map((row) => el("tr", {}, ...row.map((cell, i) => cellElement(cell, columns[i], i === 0))));
  const element = el("table", { "aria-label": caption }, el("thead", {}, head), el("tbody", {}, ...body));
  const used = (["best", "thin"] as const).filter((mark) =>
    rows.some((row) => row.some((cell) => cell.marks?.includes(mark))),
  );
  const notes = used.map((mark) => `${MARKS[mark].sign} ${MARKS[mark].meaning}`).join(" \u00b7 ");
  return el(
    "div",
    { class: "table" },
    el(
      "div",
      { class: "card" },
      // Above the box that scrolls, not a <caption> in it: that would be as wide as the table and cut off.
      el("p", { class: "caption", "aria-hidden": "true" }, caption),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, element),
    ),
    el("div", { class: "table-foot" }, el("p", { class: "note" }, notes), copyButton(element, columns, rows)),
  );
}

function cellElement(cell: Cell, column: Column | undefined, heading: boolean): HTMLElement {
  const best = cell.marks?.includes("best") ?? false;
  const thin = cell.marks?.includes("thin") ?? false;
  const attributes = { class: [column?.align, best && "best", thin && "thin"].filter(Boolean).join(" ") };
  const children = [
    best && sign("best"),
    cell.text,
    // The place of the mark is kept in every figure, so that digits stand under digits.
    column?.align === "number" && (thin ? sign("thin") : el("span", { class: "mark", "aria-hidden": "true" })),
  ];
  return heading ? el("th", { ...attributes, scope: "row" }, ...children) : el("td", attributes, ...children);
}

function sign(mark: keyof typeof MARKS): HTMLElement {
  const { sign: text, meaning } = MARKS[mark];
  return el("span", { class: `mark ${mark}-mark`, role: "img", "aria-label": meaning, title: meaning }, text);
}

const plain = (content: string | HTMLElement): string =>
  (typeof content === "string" ? content : (content.textContent ?? "")).replace(/[\u00a0\u202f\t\n]/g, " ");

function copyButton(element: HTMLTableElement, columns: Column[], rows: Cell[][]): HTMLElement {
  const button = el("button", { type: "button", class: "quiet copy" }, "Copy table");
  const lines = [
    columns.map((column) => plain(column.title)),
    ...rows.map((row) => row.map((cell) => plain(cell.text))),
  ];
  const text = lines.map((line) => line.join("\t")).join("\n");
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(text).then(
      () => (button.textContent = "Copied"),
      () => {
        getSelection()?.selectAllChildren(element);
        button.textContent = "Selected: press Ctrl+C";
      },
    );
  });
  return button;
}

/** The indices of the lowest of these; none if all that are there are equal. */
export function lowest(values: (number | null | undefined)[]): Set<number> {
  const present = values.filter((value) => typeof value === "number");
  const low = Math.min(...present);
  if (present.length < 2 || present.every((value) => value === low)) return new Set();
  return new Set(values.flatMap((value, i) => (value === low ? [i] : [])));
}
