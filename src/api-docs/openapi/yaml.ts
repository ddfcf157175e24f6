/** Writes JSON values as YAML 1.2 blocks. General YAML writers take seconds for the document of some hundred tables. */

/** Words that YAML 1.1 or 1.2 reads as something else than a string. */
const WORDS = /^(?:true|false|yes|no|on|off|y|n|null|nan|inf)$/i;
/** Text that no reader takes for anything but a string: it begins with a letter and has no indicator. */
const PLAIN = /^[A-Za-z_/][\w/.+()]*(?: [\w/.+()]+)*$/;
/** Characters that JSON leaves as they are, but YAML requires to be escaped. */
const UNPRINTABLE = /[\x7f-\x84\x86-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Most texts of a document are a few words that repeat. Longer texts are not kept. */
const known = new Map<string, string>();
const MAX_KNOWN = 4_096;
const MAX_KNOWN_LENGTH = 64;

const INDENTS = Array.from({ length: 64 }, (_, width) => ' '.repeat(width));
const spaces = (width: number): string => INDENTS[width] ?? ' '.repeat(width);

/** A member of a mapping, with a line break at its end. @param indent spaces before the key */
export function yamlMember(key: string, value: unknown, indent: number): string {
  return spaces(indent) + member(key, value, indent);
}

/** An item of a list, with a line break at its end. @param indent spaces before the dash */
export function yamlItem(item: unknown, indent: number): string {
  return spaces(indent) + listItem(item, indent);
}

/** Without the spaces before the key. The value is on the same line if it is a scalar or empty. */
function member(key: string, value: unknown, indent: number): string {
  const text = short(value);
  const start = `${scalar(key)}:`;
  return text === null
    ? `${start}\n${spaces(indent + 2)}${block(value as object, indent + 2)}`
    : `${start} ${text}\n`;
}

/** A list or mapping, without the spaces before its first line. */
function block(value: object, indent: number): string {
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += (text === '' ? '' : spaces(indent)) + listItem(item, indent);
    return text;
  }
  for (const [key, one] of Object.entries(value)) {
    if (one !== undefined) text += (text === '' ? '' : spaces(indent)) + member(key, one, indent);
  }
  return text;
}

function listItem(item: unknown, indent: number): string {
  const text = short(item);
  return text === null ? `- ${block(item as object, indent + 2)}` : `- ${text}\n`;
}

/** One line for a scalar, or for an empty list or mapping; null for everything else. */
function short(value: unknown): string | null {
  if (typeof value === 'string') return scalar(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return value.length === 0 ? '[]' : null;
  return isEmpty(value) ? '{}' : null;
}

function isEmpty(value: object): boolean {
  for (const key in value) if ((value as Record<string, unknown>)[key] !== undefined) return false;
  return true;
}

function scalar(text: string): string {
  if (text.length > MAX_KNOWN_LENGTH) return written(text);
  const found = known.get(text);
  if (found !== undefined) return found;
  if (known.size >= MAX_KNOWN) known.clear();
  const made = written(text);
  known.set(text, made);
  return made;
}

function written(text: string): string {
  if (PLAIN.test(text) && !WORDS.test(text)) return text;
  return JSON.stringify(text).replace(UNPRINTABLE, escaped);
}

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
