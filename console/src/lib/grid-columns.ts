/** The columns of a grid: which are shown, in which order, and how wide. Pure. */
import type { Column } from '../queries/catalog-types';

export interface ColumnLayout {
  /** Widths in pixels that a person chose, by name. */
  readonly widths: Readonly<Record<string, number>>;
  readonly hidden: readonly string[];
  /** Columns that stay in view at the start of each row. */
  readonly pinned: readonly string[];
}

export interface ShownColumn {
  readonly column: Column;
  readonly width: number;
  /** Fixed position of a pinned column, in pixels from the start of the row; null for other columns. */
  readonly left: number | null;
}

export type LayoutChange =
  | { readonly type: 'width'; readonly name: string; readonly width: number }
  | { readonly type: 'pin' | 'hide'; readonly name: string }
  | { readonly type: 'showAll' };

/** The cell before the first column, with the box that selects the row. */
export const SELECT_PX = 48;
const MIN_PX = 56;
const MAX_PX = 900;
/** Padding and border of a cell. */
const FRAME_PX = 17;
const CHARACTER_PX = 7.2;
const NAME_CHARACTER_PX = 8;

export const NO_LAYOUT: ColumnLayout = { widths: {}, hidden: [], pinned: [] };

export function changeLayout(layout: ColumnLayout, change: LayoutChange): ColumnLayout {
  switch (change.type) {
    case 'width': {
      const width = Math.round(Math.min(Math.max(change.width, MIN_PX), MAX_PX));
      return { ...layout, widths: { ...layout.widths, [change.name]: width } };
    }
    case 'pin':
      return { ...layout, pinned: toggled(layout.pinned, change.name) };
    case 'hide':
      return { ...layout, hidden: toggled(layout.hidden, change.name) };
    case 'showAll':
      return { ...layout, hidden: [] };
  }
}

function toggled(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
}

/** Reads a layout from localStorage, where another version of the console, or a person, may have written it. */
export function layoutFromText(text: string | undefined): ColumnLayout {
  try {
    const found = JSON.parse(text ?? '') as Partial<Record<keyof ColumnLayout, unknown>> | null;
    const names = (value: unknown): string[] =>
      Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
    const widths = Object.entries(found?.widths ?? {}).filter(([, width]) => Number.isFinite(width));
    const { hidden, pinned } = found ?? {};
    return { widths: Object.fromEntries(widths), hidden: names(hidden), pinned: names(pinned) };
  } catch {
    return NO_LAYOUT;
  }
}

/** The shown columns, with pinned columns first. Names of columns that no longer exist have no effect. */
export function shownColumns(columns: readonly Column[], layout: ColumnLayout): ShownColumn[] {
  const { hidden, pinned, widths } = layout;
  const shown = columns.filter(({ name }) => !hidden.includes(name));
  const isPinned = ({ name }: Column): boolean => pinned.includes(name);
  let left = SELECT_PX;
  return [...shown.filter(isPinned), ...shown.filter((one) => !isPinned(one))].map((column) => {
    const width = (Object.hasOwn(widths, column.name) && widths[column.name]) || usualWidth(column);
    const place = isPinned(column) ? left : null;
    left += width;
    return { column, width, left: place };
  });
}

/** A width that suffices for the name, and for the beginning of a value of the type. */
function usualWidth(column: Column): number {
  return Math.max(valueWidth(column), Math.min(220, 64 + column.name.length * NAME_CHARACTER_PX));
}

function valueWidth({ type, category, labels }: Column): number {
  if (category === 'B') return 64;
  if (category === 'N') return 84;
  if (category === 'E') return Math.min(170, 40 + Math.max(0, ...(labels ?? []).map(textWidth)));
  if (category === 'D') return type.startsWith('timestamp') ? 142 : 100;
  return type === 'uuid' ? 132 : 190;
}

const textWidth = (text: string): number => text.length * CHARACTER_PX;

/** The width at which the longest of some values is shown completely. */
export function fittingWidth(name: string, values: readonly (string | null | undefined)[]): number {
  return FRAME_PX + Math.max(40 + textWidth(name), ...values.map((value) => textWidth(value ?? '')));
}
