/** A value in the grid, and its editor by type. Values are shown as text only. */
import { type ChangeEvent, type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { Column } from '../../queries/catalog-types';
import { type Translate, useT } from '../../i18n';
import { elementsOf, isPlainList, toArrayLiteral } from '../../lib/array-literal';
import { fieldOf, toField } from '../../lib/cell-input';
import { shortTime } from '../../lib/short-time';
import { inOneLine } from '../../lib/visible-text';
import gridStyles from '../../ui/grid.module.css';
import styles from './grid.module.css';

/** A cell shows the beginning of a long value; the drawer of the row shows all of it. */
const SHOWN_CHARACTERS = 200;

const TITLE_CHARACTERS = 1_000;
const CHIP_HUES = 6;

/** Number of characters above which a text is not shown in a field: it would block the browser for several seconds. */
export const FIELD_CHARACTERS = 50_000;

interface CellTextProps {
  readonly column: Column;
  readonly value: string | null | undefined;
  /** Null if the value cannot be changed here. */
  readonly onStore: ((value: string) => void) | null;
}

export function CellText({ column, value, onStore }: CellTextProps) {
  const t = useT();
  if (value === undefined) return <span className={gridStyles.null}>{unsetText(column, t)}</span>;
  if (value === null) return <span className={gridStyles.null}>null</span>;
  if (value === '') return <span className={gridStyles.null}>{t('emptyText')}</span>;
  if (column.category === 'B' && /^(true|false)$/.test(value))
    return <BooleanBox column={column} isTrue={value === 'true'} onStore={onStore} />;
  if (column.category === 'E') {
    const hue = Math.max(0, column.labels?.indexOf(value) ?? 0) % CHIP_HUES;
    return (
      <span className={styles.chip} data-hue={hue} dir="auto" title={value}>
        {value}
      </span>
    );
  }
  const className = column.category === 'N' ? `${gridStyles.text} ${gridStyles.number}` : gridStyles.text;
  const text = column.category === 'D' ? shortTime(value) : value;
  return (
    <span className={className} dir="auto" title={inOneLine(value.slice(0, TITLE_CHARACTERS))}>
      {inOneLine(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text)}
    </span>
  );
}

interface BooleanBoxProps extends Pick<CellTextProps, 'column' | 'onStore'> {
  readonly isTrue: boolean;
}

/** A checkbox for the mouse; the keyboard uses the editor of the cell. */
function BooleanBox({ column, isTrue, onStore }: BooleanBoxProps) {
  return (
    <input
      type="checkbox"
      className={styles.box}
      aria-label={column.name}
      tabIndex={-1}
      checked={isTrue}
      aria-readonly={onStore === null}
      // The grid keeps the focus, because it handles the keys.
      onMouseDown={(event) => event.preventDefault()}
      onChange={() => onStore?.(isTrue ? 'false' : 'true')}
    />
  );
}

/** The value of a column without input. An integer column that must not be null may be an identity column. */
export function unsetText(column: Column, t: Translate): string {
  if (column.default !== null || column.always) return column.default ?? t('generated');
  if (column.nullable) return 'null';
  return /^(big|small)?int/.test(column.type) ? t('default') : t('required');
}

/** The values to choose from for a type that has few values; null for other types. */
export function choicesOf({ category, labels }: Column): readonly string[] | null {
  if (category === 'B') return ['true', 'false'];
  return category === 'E' ? labels : null;
}

/** The elements of a list that is edited as lines; null if lines cannot represent it. */
function linesOf(column: Column, value: string | null): readonly string[] | null {
  const elements = isPlainList(column) ? elementsOf(value ?? '{}') : null;
  const isLossless = elements?.every((one) => one !== '' && !one.includes('\n'));
  return isLossless ? elements : null;
}

/** Values that the database sets, and bytea values, are read-only. */
export function isEditable(column: Column | undefined): boolean {
  return column !== undefined && !column.always && column.type !== 'bytea';
}

export function isLongType({ type }: Column): boolean {
  return /^(jsonb?|text|xml|character varying)/.test(type);
}

interface CellEditorProps {
  readonly column: Column;
  readonly value: string | null;
  /** The typed character that replaces the value. */
  readonly typed: string | null;
  readonly onStore: (value: string | null) => void;
  /** @param by number of lines and columns to the next cell */
  readonly onLeave: (by?: readonly [number, number]) => void;
}

export function CellEditor(props: CellEditorProps) {
  const { column, value } = props;
  const [lines] = useState(() => linesOf(column, value));
  const choices = choicesOf(column);
  if (choices) return <ChoiceEditor {...props} choices={choices} />;
  return <TextEditor {...props} lines={lines} />;
}

/** Enter moves to the next line, and Tab to the next column. */
function wayOf({ key, shiftKey }: KeyboardEvent): readonly [number, number] | null {
  if (key === 'Enter') return shiftKey ? null : [1, 0];
  return key === 'Tab' ? [0, shiftKey ? -1 : 1] : null;
}

function ChoiceEditor(props: CellEditorProps & { readonly choices: readonly string[] }) {
  const { column, value, choices, onStore, onLeave } = props;
  return (
    <select
      autoFocus
      aria-label={column.name}
      className={styles.editor}
      value={value ?? ''}
      onBlur={() => onLeave()}
      onKeyDown={(event) => {
        event.stopPropagation();
        const way = event.key === 'Escape' ? ([0, 0] as const) : wayOf(event);
        if (!way) return;
        event.preventDefault();
        onLeave(way);
      }}
      onChange={(event) => {
        onStore(event.target.value === '' ? null : event.target.value);
        onLeave();
      }}
    >
      {column.nullable || value === null ? <option value="">null</option> : null}
      {choices.map((choice) => (
        <option key={choice}>{choice}</option>
      ))}
    </select>
  );
}

function TextEditor({ lines, ...props }: CellEditorProps & { readonly lines: readonly string[] | null }) {
  const t = useT();
  const { column } = props;
  const { field, text, ...shared } = useTextEditor(props, lines);
  if (lines) return <textarea {...shared} rows={6} value={text} dir="auto" title={t('listHint')} />;
  if (isLongType(column) && (text.length > 40 || text.includes('\n') || column.type.startsWith('json')))
    return <textarea {...shared} rows={6} value={text} dir="auto" title={t('editHint')} />;
  return <input {...shared} {...field} value={text} dir="auto" />;
}

/** Stores the input when the editor is closed, also when its row leaves the view or the table. */
function useTextEditor(props: CellEditorProps, lines: readonly string[] | null) {
  const { column, value, typed, onStore, onLeave } = props;
  const [field] = useState(() => fieldOf(column.type, value ?? ''));
  /** The initial value, because the row may be read again while the value is being edited. */
  const [shown] = useState(lines ? lines.join('\n') : toField(value ?? '', field));
  const [text, setText] = useState(typed !== null && !lines && field.type === 'text' ? typed : shown);
  const isLeft = useRef(false);
  const keep = (): void => {
    // An empty field does not change a value that was null.
    if (text !== shown) onStore(storedText(column, lines, text));
  };
  const latest = useRef(keep);
  useEffect(() => {
    latest.current = keep;
  });
  useEffect(
    () => () => {
      if (!isLeft.current) latest.current();
    },
    [],
  );
  const leave = (keeps: boolean, way?: readonly [number, number]): void => {
    // When the field is closed, it also loses the focus, which must not store the input again.
    if (isLeft.current) return;
    isLeft.current = true;
    if (keeps) keep();
    onLeave(way);
  };
  return {
    field,
    text,
    autoFocus: true,
    'aria-label': column.name,
    className: styles.editor,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => setText(event.target.value),
    onFocus: ({ target }: FocusEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      if (field.type === 'text') target.setSelectionRange(text.length, text.length);
    },
    onBlur: () => leave(true),
    onKeyDown: (event: KeyboardEvent) => {
      event.stopPropagation();
      const way = wayOf(event);
      if (event.key === 'Escape') leave(false);
      else if (way) leave(true, way);
      else return;
      event.preventDefault();
    },
  };
}

function storedText(column: Column, lines: readonly string[] | null, text: string): string | null {
  if (lines) return toArrayLiteral(text.split('\n').filter((one) => one !== ''));
  const isNone = text === '' && (column.category === 'A' || !isLongType(column));
  return isNone && column.nullable ? null : text;
}
