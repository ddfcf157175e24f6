/** A value in the grid, and its editor by type. Values are shown as text only. */
import { type ChangeEvent, type KeyboardEvent, useState } from 'react';
import type { Column } from '../../queries/catalog-types';
import { useT } from '../../i18n';

/** A cell shows the beginning of a long value; the drawer of the row shows all of it. */
const SHOWN_CHARACTERS = 200;

/** A field with more text than this keeps the browser busy for seconds. */
export const FIELD_CHARACTERS = 50_000;

export function CellText({ column, value }: { column: Column; value: string | null | undefined }) {
  const t = useT();
  if (value === undefined) return <span className="cell-null">{t('default')}</span>;
  if (value === null) return <span className="cell-null">null</span>;
  if (value === '') return <span className="cell-null">{t('emptyText')}</span>;
  const className = column.category === 'N' ? 'cell-text cell-number' : 'cell-text';
  return (
    <span className={className} dir="auto">
      {value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value}
    </span>
  );
}

/** The choices of a type that has few values; null for others. */
export function choicesOf({ category, labels }: Column): readonly string[] | null {
  if (category === 'B') return ['true', 'false'];
  return labels;
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
  const [text, setText] = useState(value ?? '');
  const choices = choicesOf(column);
  const leave = (): void => {
    // An empty field of a value that was null is no change.
    if (text !== (value ?? '')) onStore(text === '' && column.nullable && !isLongType(column) ? null : text);
    onLeave();
  };
  const shared = {
    autoFocus: true,
    'aria-label': column.name,
    className: 'cell-editor',
    onBlur: leave,
    onKeyDown: (event: KeyboardEvent) => {
      event.stopPropagation();
      if (event.key === 'Escape') onLeave();
      else if (event.key === 'Enter' && !event.shiftKey) leave();
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
  if (isLongType(column) && (text.length > 40 || text.includes('\n') || column.type.startsWith('json')))
    return <textarea {...shared} rows={6} value={text} onChange={onText} dir="auto" title={t('editHint')} />;
  return (
    <input
      {...shared}
      type={column.type === 'date' && /^(\d{4}-\d\d-\d\d)?$/.test(text) ? 'date' : 'text'}
      value={text}
      onChange={onText}
      dir="auto"
    />
  );
}
