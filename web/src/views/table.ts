// A table that marks figures, scrolls inside its box and copies itself as tab-separated values.
import { el } from "../dom";
import { type Ends, interval, UNBOUNDED } from "../format";
import { copyButton, type Copied } from "./copy";

type Mark = "best" | "thin" | "decisive";

export interface Cell {
  text: string | HTMLElement;
  /** The confidence interval of the figure, shown beneath it. */
  ci?: Ends | null | undefined;
  /** Additional text in small type beneath the figure. */
  detail?: string | undefined;
  marks?: Mark[];
  /** A CSS class. */
  look?: string;
}

export interface Column {
  title: string | HTMLElement;
  align: "text" | "number";
  /** Whether it contains sentences. As the last column, it is shown beneath its row on a narrow page. */
  wide?: boolean | undefined;
}

interface Options {
  /** Text beneath the table, before the meaning of the marks. */
  note?: string;
  /** All rows, for the copy, if the table shows only some of them. */
  all?: Cell[][];
}

const MARKS = {
  best: { sign: "\u2713", meaning: "lowest" },
  thin: { sign: "~", meaning: "fewer than 10 samples beyond" },
  decisive: { sign: "\u25c6", meaning: "most of the difference" },
} as const;

/** The first cell of each row is its heading. */
export function table(caption: string, columns: Column[], rows: Cell[][], options: Options = {}): HTMLElement {
  const head = el("tr", {}, ...columns.map((column) => el("th", { scope: "col", class: column.align }, column.title)));
  const hasSentences = columns.at(-1)?.wide === true;
  const body = rows.flatMap((row) => {
    const cells = el("tr", {}, ...row.map((cell, i) => cellElement(cell, columns[i], i === 0)));
    return hasSentences ? [cells, beneath(row.at(-1), columns)] : [cells];
  });
  const attributes = { "aria-label": caption, class: hasSentences ? "with-sentences" : undefined };
  const element = el("table", attributes, el("thead", {}, head), el("tbody", {}, ...body));
  const copied: Copied = { columns, rows: options.all ?? rows };
  return el(
    "div",
    { class: "table" },
    el(
      "div",
      { class: "card" },
      // Above the box that scrolls: a <caption> would be as wide as the table and be cut off.
      el("p", { class: "caption", "aria-hidden": "true" }, caption),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, element),
    ),
    el(
      "div",
      { class: "table-foot" },
      el("p", { class: "note" }, [options.note, ...meanings(rows)].filter(Boolean).join(" \u00b7 ")),
      copyButton(element, copied),
    ),
  );
}

/** The last cell again, across all columns; the style shows one of the two. */
function beneath(cell: Cell | undefined, columns: Column[]): HTMLElement {
  const text = cell === undefined || typeof cell.text !== "string" ? "" : cell.text;
  return el("tr", { class: "beneath" }, el("td", { colspan: String(columns.length - 1) }, text));
}

/** The meaning of the marks in these rows. */
function meanings(rows: Cell[][]): string[] {
  const cells = rows.flat();
  const used = (Object.keys(MARKS) as Mark[]).filter((mark) => cells.some((cell) => cell.marks?.includes(mark)));
  const said = used.map((mark) => `${MARKS[mark].sign} ${MARKS[mark].meaning}`);
  const open = cells.some((cell) => cell.ci && interval(cell.ci).includes(UNBOUNDED));
  return open ? [...said, `${UNBOUNDED} an end that the samples do not bound`] : said;
}

function cellElement(cell: Cell, column: Column | undefined, heading: boolean): HTMLElement {
  const marks = cell.marks ?? [];
  const attributes = { class: [column?.align, ...marks, cell.look].filter(Boolean).join(" ") };
  const thin = marks.includes("thin");
  const children = [
    ...(["best", "decisive"] as const).map((mark) => marks.includes(mark) && sign(mark)),
    cell.text,
    // Every figure reserves the room of the mark, so that digits are aligned.
    column?.align === "number" && (thin ? sign("thin") : el("span", { class: "mark", "aria-hidden": "true" })),
    cell.ci && el("span", { class: "ci" }, interval(cell.ci)),
    cell.detail !== undefined && el("span", { class: "ci" }, cell.detail),
  ];
  return heading ? el("th", { ...attributes, scope: "row" }, ...children) : el("td", attributes, ...children);
}

function sign(mark: Mark): HTMLElement {
  const { sign: text, meaning } = MARKS[mark];
  return el("span", { class: `mark ${mark}-mark`, role: "img", "aria-label": meaning, title: meaning }, text);
}

/** The indices of the lowest values; empty if all present values are equal. */
export function lowest(values: (number | null | undefined)[]): Set<number> {
  const present = values.filter((value) => typeof value === "number");
  const low = Math.min(...present);
  if (present.length < 2 || present.every((value) => value === low)) return new Set();
  return new Set(values.flatMap((value, i) => (value === low ? [i] : [])));
}
