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
 * The look of a line.
 */
export type Look = "solid" | "dashed" | "steps" | "crosses";
/**
 * How the values of an axis are spaced.
 */
export type Scale = "linear" | "log" | "share";
/**
 * The alignment of a column.
 */
export type Align = "text" | "number";

/**
 * Everything that a page of figures shows.
 */
export interface Figures {
  /**
   * The conditions of the measurement, in the order to show them.
   */
  conditions: Condition[];
  /**
   * The reasons and the warnings, each with its kind.
   */
  doubts: Caveat[];
  /**
   * The charts, in the order to show them. Adjacent charts of one kind are drawn as one: timelines share their
   * time axis and a cursor, scatters with the same axes share their limits.
   */
  panels: Panel[];
  /**
   * The reasons, as sentences. Empty if it is valid.
   */
  reasons: string[];
  /**
   * By this name the schema is found in docs/schema.
   */
  schema: "longhaul.figures/1";
  /**
   * What it shows, in one or two sentences.
   */
  summary: string;
  /**
   * The tables, shown below the charts.
   */
  tables: Table[];
  /**
   * The title of the page.
   */
  title: string;
  /**
   * False if this program was the bottleneck: then the numbers describe the tool and not what it measured.
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
   * The name.
   */
  name: string;
  /**
   * The value.
   */
  value: string;
}
/**
 * A doubt in a document.
 */
export interface Caveat {
  /**
   * Whether it invalidates the numbers, which then describe the tool and not the measured system.
   * Otherwise it weakens them.
   */
  invalid: boolean;
  /**
   * A stable identifier of the kind of doubt, such as "late_packets". It does not change between versions.
   */
  kind: string;
  /**
   * The description, as a sentence.
   */
  sentence: string;
}
/**
 * Lines of one unit over time, and what happened in that time.
 */
export interface Timeline {
  /**
   * The lines; x is seconds since the start.
   */
  lines: Line[];
  /**
   * What was done when, drawn as bands.
   */
  phases: Phase[];
  /**
   * The message, as a sentence.
   */
  sentence: string;
  /**
   * The title.
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
   * Its name, shown where it ends: there is room for twelve letters.
   */
  name: string;
  /**
   * Ascending.
   */
  x: number[];
  /**
   * The value at each; null where the line has a gap.
   */
  y: (number | null)[];
}
/**
 * Something that was done for a while.
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
 * An axis.
 */
export interface Axis {
  scale: Scale;
  /**
   * Its title: "throughput".
   */
  title: string;
  /**
   * The unit of its values, shown after them: "Mbit/s". Empty for plain numbers.
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
   * Events without a height, such as errors, marked at the upper edge.
   */
  marks: Marks[];
  /**
   * The message, as a sentence.
   */
  sentence: string;
  /**
   * The title.
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
   * How many points there are; more than are kept if many lie on one spot.
   */
  count: number;
  /**
   * Its name: short.
   */
  name: string;
  /**
   * The x of each kept point, ascending.
   */
  x: number[];
  /**
   * Its y.
   */
  y: number[];
}
/**
 * Events without a height.
 */
export interface Marks {
  /**
   * How many there are; more than are kept if many lie on one spot.
   */
  count: number;
  /**
   * Their name: "errors".
   */
  name: string;
  /**
   * The x of each kept mark, ascending.
   */
  x: number[];
}
/**
 * Small charts with the same axes: rows and columns for two settings, lines for a third.
 */
export interface Multiples {
  /**
   * The charts, row by row. Lines with the same name have the same colour in all of them.
   */
  charts: Small[];
  /**
   * The message, as a sentence.
   */
  sentence: string;
  /**
   * The title.
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
   * Its lines: a few points each, which are drawn as dots too.
   */
  lines: Line[];
  /**
   * The setting of its row: "1 Gbit/s". May be empty.
   */
  row: string;
}
/**
 * A few amounts side by side.
 */
export interface Bars {
  axis: Axis;
  /**
   * The bars, from the top.
   */
  bars: Bar[];
  /**
   * The message, as a sentence.
   */
  sentence: string;
  /**
   * The title.
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
 * A table of figures that are already formatted.
 */
export interface Table {
  /**
   * Its columns. The first one names the rows.
   */
  columns: Column[];
  /**
   * Notes for the reader, as sentences; may be empty.
   */
  note: string;
  /**
   * Its rows: a text for each column, "" if there is none.
   */
  rows: string[][];
  /**
   * The title.
   */
  title: string;
}
/**
 * A column of a [`Table`].
 */
export interface Column {
  align: Align;
  /**
   * Its title, with the unit of its figures: "round trip (ms)".
   */
  title: string;
  /**
   * Whether it is shown only if there is room for everything: on a page, and on a terminal with all details.
   */
  wide?: boolean;
}
