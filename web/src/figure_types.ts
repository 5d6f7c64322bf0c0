// Generated from web/schema/figures.json by `npm run generate`: a document of figures as Rust writes it. Do not edit.

/**
 * A chart of a document of figures.
 */
export type Panel =
  | (Timeline & {
      kind: "timeline";
    })
  | (Scatter & {
      kind: "scatter";
    })
  | (Multiples & {
      kind: "multiples";
    })
  | (Bars & {
      kind: "bars";
    });
/**
 * How a line is drawn.
 */
export type Look = "solid" | "dashed" | "steps" | "crosses";
/**
 * How the values of an axis are spaced.
 */
export type Scale = "linear" | "log" | "share";
/**
 * How a column of a table is set.
 */
export type Align = "text" | "number";

/**
 * All that a page of figures shows.
 */
export interface Figures {
  /**
   * Under which conditions all this was measured, in the order to show them.
   */
  conditions: Condition[];
  /**
   * The reasons and the warnings with the kind of each.
   */
  doubts: Caveat[];
  /**
   * The charts, in the order to show them. Neighbours of one kind are drawn as one: timelines share their time and a
   * cursor; scatters of the same axes share their limits.
   */
  panels: Panel[];
  /**
   * Why not, as sentences. Empty if it is valid.
   */
  reasons: string[];
  /**
   * By this name the schema is found in docs/schema.
   */
  schema: "longhaul.figures/1";
  /**
   * What it shows, in a sentence or two.
   */
  summary: string;
  /**
   * The tables, shown below the charts.
   */
  tables: Table[];
  /**
   * What the page is called.
   */
  title: string;
  /**
   * Whether nothing of ours was the bottleneck. If not, the numbers describe the tool and not what it measured.
   */
  valid: boolean;
  /**
   * What a reader must know before trusting the numbers, as sentences.
   */
  warnings: string[];
}
/**
 * A named condition of the measurement.
 */
export interface Condition {
  /**
   * What.
   */
  name: string;
  /**
   * Its value.
   */
  value: string;
}
/**
 * A doubt in a document.
 */
export interface Caveat {
  /**
   * Whether it makes the numbers worthless: they describe the tool and not what it measured. Otherwise it weakens them.
   */
  invalid: boolean;
  /**
   * Which doubt it is, in a word that stays the same from version to version: "late_packets".
   */
  kind: string;
  /**
   * What it is, as a sentence.
   */
  sentence: string;
}
/**
 * Lines of one unit over time, and what happened meanwhile.
 */
export interface Timeline {
  /**
   * The lines; their x are seconds since the start.
   */
  lines: Line[];
  /**
   * What was done when, drawn as bands.
   */
  phases: Phase[];
  /**
   * What it shows, as a sentence.
   */
  sentence: string;
  /**
   * What is drawn.
   */
  title: string;
  y: Axis;
}
/**
 * A line as columns.
 */
export interface Line {
  look: Look;
  /**
   * What it is called where it ends: twelve letters have room there.
   */
  name: string;
  /**
   * Ascending.
   */
  x: number[];
  /**
   * The value at each; null where the line is broken.
   */
  y: (number | null)[];
}
/**
 * What was done for a while.
 */
export interface Phase {
  /**
   * When it began, seconds since the start.
   */
  from_s: number;
  /**
   * Its name: "slow".
   */
  label: string;
  /**
   * When it ended, seconds since the start.
   */
  to_s: number;
}
/**
 * What an axis shows.
 */
export interface Axis {
  scale: Scale;
  /**
   * What: "throughput".
   */
  title: string;
  /**
   * The unit of its values, as it is written behind them: "Mbit/s". Empty for plain numbers.
   */
  unit: string;
}
/**
 * Single events as points, in classes of different colours.
 */
export interface Scatter {
  /**
   * The classes: even and odd ports, for instance.
   */
  classes: Points[];
  /**
   * Summaries of the points, drawn over them.
   */
  lines: Line[];
  /**
   * Events that have no height, such as errors, marked at the upper edge.
   */
  marks: Marks[];
  /**
   * What it shows, as a sentence.
   */
  sentence: string;
  /**
   * What is drawn.
   */
  title: string;
  x: Axis;
  y: Axis;
}
/**
 * A class of points as columns.
 */
export interface Points {
  /**
   * How many points there are; more than are kept where many lie on one spot.
   */
  count: number;
  /**
   * What it is called: short.
   */
  name: string;
  /**
   * Where each that is kept lies, ascending.
   */
  x: number[];
  /**
   * Its height.
   */
  y: number[];
}
/**
 * Events without a height.
 */
export interface Marks {
  /**
   * How many there are; more than are kept where many lie on one spot.
   */
  count: number;
  /**
   * What they are called: "errors".
   */
  name: string;
  /**
   * Where each that is kept lies, ascending.
   */
  x: number[];
}
/**
 * Small charts of the same axes: rows and columns by two settings, lines by a third.
 */
export interface Multiples {
  /**
   * The charts, row by row. A line of the same name has the same colour in all of them.
   */
  charts: Small[];
  /**
   * What it shows, as a sentence.
   */
  sentence: string;
  /**
   * What is drawn.
   */
  title: string;
  x: Axis;
  y: Axis;
}
/**
 * One of [`Multiples`].
 */
export interface Small {
  /**
   * The setting of its column: "cubic". May be empty.
   */
  column: string;
  /**
   * Its lines: a few points each, which are drawn too.
   */
  lines: Line[];
  /**
   * The setting of its row: "1 Gbit/s". May be empty.
   */
  row: string;
}
/**
 * A few amounts beside each other.
 */
export interface Bars {
  axis: Axis;
  /**
   * The bars, from the top.
   */
  bars: Bar[];
  /**
   * What it shows, as a sentence.
   */
  sentence: string;
  /**
   * What is drawn.
   */
  title: string;
}
/**
 * One of [`Bars`].
 */
export interface Bar {
  /**
   * Its name.
   */
  label: string;
  /**
   * Its amount, 0 or more.
   */
  value: number;
}
/**
 * A table of figures that are written already.
 */
export interface Table {
  /**
   * Its columns. The first one names the rows.
   */
  columns: Column[];
  /**
   * What must be known to read it, as sentences; may be empty.
   */
  note: string;
  /**
   * Its rows: a text for each column, "" where there is nothing to say.
   */
  rows: string[][];
  /**
   * What it shows.
   */
  title: string;
}
/**
 * A column of a [`Table`].
 */
export interface Column {
  align: Align;
  /**
   * What stands above it, with the unit of its figures: "round trip (ms)".
   */
  title: string;
  /**
   * Whether it is shown only where there is room for everything: on a page, and on a terminal with all details.
   */
  wide?: boolean;
}
