/** A value in the grid, and its editor by type. Values are shown as text only. */
import { type ChangeEvent, type KeyboardEvent, useRef, useState } from 'react';
import type { Column } from '../../queries/catalog-types';
import { type Translate, useT } from '../../i18n';
import { elementsOf, isPlainList, toArrayLiteral } from '../../lib/array-literal';
import { fieldOf, toField } from '../../lib/cell-input';
import { inOneLine } from '../../lib/visible-text';
import gridStyles from '../../ui/grid.module.css';
import styles from './grid.module.css';

/** A cell shows the beginning of a long value; the drawer of the row shows all of it. */
const SHOWN_CHARACTERS = 200;

/** A field with more text than this keeps the browser busy for seconds. */
export const FIELD_CHARACTERS = 50_000;

export function CellText({ column, value }: { column: Column; value: string | null | undefined }) {
  const t = useT();
  if (value === undefined) return <span className={gridStyles.null}>{unsetText(column, t)}</span>;
  if (value === null) return <span className={gridStyles.null}>null</span>;
  if (value === '') return <span className={gridStyles.null}>{t('emptyText')}</span>;
  const className = column.category === 'N' ? `${gridStyles.text} ${gridStyles.number}` : gridStyles.text;
  return (
    <span className={className} dir="auto">
      {inOneLine(value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value)}
    </span>
  );
}

/** What a column without a value gets. Whole numbers that must not be null may count by themselves. */
export function unsetText(column: Column, t: Translate): string {
  if (column.default !== null || column.always) return column.default ?? t('generated');
  if (column.nullable) return 'null';
  return /^(big|small)?int/.test(column.type) ? t('default') : t('required');
}

/** The choices of a type that has few values; null for others. */
export function choicesOf({ category, labels }: Column): readonly string[] | null {
  if (category === 'B') return ['true', 'false'];
  return category === 'E' ? labels : null;
}

/** The elements of a list that is edited as lines; null if lines cannot show it. */
function linesOf(column: Column, value: string | null): readonly string[] | null {
  const elements = isPlainList(column) ? elementsOf(value ?? '{}') : null;
  const isLossless = elements?.every((one) => one !== '' && !one.includes('\n'));
  return isLossless ? elements : null;
}

/** Values that the database sets, and bytes, are shown only. */
export function isEditable(column: Column | undefined): boolean {
  return column !== undefined && !column.always && column.type !== 'bytea';
}

export function isLongType({ type }: Column): boolean {
  return /^(jsonb?|text|xml|character varying)/.test(type);
}

interface CellEditorProps {
  readonly column: Column;
  readonly value: string | null;
  readonly onStore: (value: string | null) => void;
  readonly onLeave: () => void;
}

export function CellEditor({ column, value, onStore, onLeave }: CellEditorProps) {
  const t = useT();
  const [lines] = useState(() => linesOf(column, value));
  const field = fieldOf(column.type, value ?? '');
  /** As it was at first: the row may be read again while it is edited. */
  const [shown] = useState(lines ? lines.join('\n') : toField(value ?? '', field));
  const [text, setText] = useState(shown);
  const choices = choicesOf(column);
  const stored = (): string | null => {
    if (lines) return toArrayLiteral(text.split('\n').filter((one) => one !== ''));
    const isNone = text === '' && (column.category === 'A' || !isLongType(column));
    return isNone && column.nullable ? null : text;
  };
  const isLeft = useRef(false);
  const leave = (keeps: boolean): void => {
    // The field loses the focus as it is left.
    if (isLeft.current) return;
    isLeft.current = true;
    // An empty field of a value that was null is no change.
    if (keeps && text !== shown) onStore(stored());
    onLeave();
  };
  const shared = {
    autoFocus: true,
    'aria-label': column.name,
    className: styles.editor,
    onBlur: () => leave(true),
    onKeyDown: (event: KeyboardEvent) => {
      event.stopPropagation();
      if (event.key === 'Escape') leave(false);
      else if (event.key === 'Enter' && !event.shiftKey) leave(true);
      else return;
      event.preventDefault();
    },
  };
  const onText = (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>): void =>
    setText(event.target.value);
  if (choices) {
    return (
      <select
        {...shared}
        value={value ?? ''}
        onBlur={onLeave}
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
  if (lines)
    return <textarea {...shared} rows={6} value={text} onChange={onText} dir="auto" title={t('listHint')} />;
  if (isLongType(column) && (text.length > 40 || text.includes('\n') || column.type.startsWith('json')))
    return <textarea {...shared} rows={6} value={text} onChange={onText} dir="auto" title={t('editHint')} />;
  return <input {...shared} {...field} value={text} onChange={onText} dir="auto" />;
}
