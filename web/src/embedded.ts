// Reads a document from the page and shows it. A failure is a value with a sentence for the user, never an
// empty page.
import { el } from "./dom";

export type Embedded<T> = { document: T } | { problem: string };

/** The document of this page, which must have this schema. `noun` names the document in error messages. */
export function readEmbedded<T extends { schema: string }>(schema: string, noun: string): Embedded<T> {
  const text = document.getElementById("report-data")?.textContent?.trim() ?? "";
  if (text === "" || text.startsWith("/*")) {
    return {
      problem: `This page contains no ${noun}: its data block is empty. Longhaul fills it when it writes a ${noun}.`,
    };
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return { problem: `This page's ${noun} cannot be read: ${messageOf(error)}.` };
  }
  const found = (parsed as Partial<T> | null)?.schema;
  if (found !== schema) {
    return {
      problem: `This page draws a ${noun} of schema ${schema}; its data has schema ${JSON.stringify(found ?? null)}.`,
    };
  }
  return { document: parsed as T };
}

/** Shows the document, or the reason why it cannot be shown. */
export function showEmbedded<T>(read: Embedded<T>, noun: string, show: (root: HTMLElement, document: T) => void): void {
  const root = document.getElementById("report") as HTMLElement;
  const problem = (sentence: string): void =>
    root.replaceChildren(el("p", { class: "problem", role: "alert" }, sentence));
  if ("problem" in read) {
    problem(read.problem);
    return;
  }
  try {
    show(root, read.document);
  } catch (error) {
    // Parts of the document are missing: show an error instead of half a page.
    problem(`This page's ${noun} cannot be drawn: ${messageOf(error)}.`);
    throw error;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
