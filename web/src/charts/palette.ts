// The colours of the charts, read from the style sheet, so that both schemes and print have one home.
export interface Palette {
  ink: string;
  muted: string;
  grid: string;
  surface: string;
  fault: string;
  font: string;
  side: (index: number) => string;
}

/** The colours in force now. */
export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    ink: read("--ink"),
    muted: read("--muted"),
    grid: read("--grid"),
    surface: read("--surface"),
    fault: read("--fault"),
    font: getComputedStyle(document.body).fontFamily,
    side: (index) => read(`--side-${index % 6}`),
  };
}
