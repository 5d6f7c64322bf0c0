// The colours of the charts, read from the style sheet, which defines both colour schemes and print.
export interface Palette {
  ink: string;
  muted: string;
  grid: string;
  surface: string;
  fault: string;
  /** Colour of failures. */
  bad: string;
  /** Whether the background is dark. */
  dark: boolean;
  font: string;
  side: (index: number) => string;
  /** The colour of a phase's area. */
  phase: (name: string) => string;
}

/** The current colours. */
export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    ink: read("--ink"),
    muted: read("--muted"),
    grid: read("--grid"),
    surface: read("--surface"),
    fault: read("--fault"),
    bad: read("--bad"),
    dark: document.documentElement.dataset["theme"] === "dark",
    font: getComputedStyle(document.body).fontFamily,
    side: (index) => read(`--side-${index % 6}`),
    phase: (name) => read(`--phase-${name}`) || read("--phase-rest"),
  };
}
