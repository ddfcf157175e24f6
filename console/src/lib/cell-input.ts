/** The browser's input field for a value, if it can show the value without loss. Pure. */

interface Field {
  readonly type: 'text' | 'date' | 'time' | 'datetime-local';
  /** Seconds between the values that the field offers. */
  readonly step?: number;
}

const DATE = String.raw`\d{4}-\d\d-\d\d`;
const TIME = String.raw`\d\d:\d\d(:\d\d)?`;
/** With an empty value, the field of the type. */
const FIELDS: readonly (readonly [type: RegExp, value: RegExp, field: Field])[] = [
  [/^date$/, new RegExp(`^(${DATE})?$`), { type: 'date' }],
  [/^time(\(\d\))? without/, new RegExp(`^(${TIME})?$`), { type: 'time', step: 1 }],
  [/^timestamp(\(\d\))? without/, new RegExp(`^(${DATE}[T ]${TIME})?$`), { type: 'datetime-local', step: 1 }],
];

/** A text field for types and values that browsers have no field for, such as `infinity`, microseconds and time zones. */
export function fieldOf(type: string, value: string): Field {
  return FIELDS.find(([one, shown]) => one.test(type) && shown.test(value))?.[2] ?? { type: 'text' };
}

/** A time in the format of the field, which has a `T` where PostgreSQL prints a space. */
export function toField(value: string, { type }: Field): string {
  return type === 'datetime-local' ? value.replace(' ', 'T') : value;
}
