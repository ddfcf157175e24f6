/** PostgreSQL's text of an array of one dimension, as a list and back. Pure. */

/** Types whose elements are edited one by one; other arrays are edited as PostgreSQL prints them. */
const PLAIN =
  /^(text|character varying|character|citext|uuid|smallint|integer|bigint|numeric|real|double precision|boolean|date|time|timestamp|interval|inet|cidr|macaddr)\b[^[\]]*\[\]$/;

export function isPlainList({ type, category, labels }: ListColumn): boolean {
  return category === 'A' && (labels !== null || PLAIN.test(type));
}

interface ListColumn {
  readonly type: string;
  readonly category: string;
  /** Labels of an enum, or of the elements. */
  readonly labels: readonly string[] | null;
}

/** The elements; null unless the text is an array of one dimension without null and without explicit bounds. */
export function elementsOf(text: string): string[] | null {
  const inner = /^\{(.*)\}$/s.exec(text)?.[1];
  if (inner === undefined) return null;
  if (inner === '') return [];
  const elements: string[] = [];
  const element = /(?:"((?:[^"\\]|\\.)*)"|([^",{}\\\s](?:[^",{}\\]*[^",{}\\\s])?))(,|$)/sy;
  while (element.lastIndex < inner.length) {
    const found = element.exec(inner);
    if (!found || /^null$/i.test(found[2] ?? '')) return null;
    elements.push(found[2] ?? found[1]!.replace(/\\(.)/gs, '$1'));
    if (found[3] === '') return elements;
  }
  // The text ends with a comma, so an element is missing.
  return null;
}

/** The text of a list, as PostgreSQL reads it. */
export function toArrayLiteral(elements: readonly string[]): string {
  const quoted = elements.map((one) =>
    one === '' || /[",{}\\\s]/.test(one) || /^null$/i.test(one)
      ? `"${one.replace(/[\\"]/g, String.raw`\$&`)}"`
      : one,
  );
  return `{${quoted.join(',')}}`;
}
