/** Writes JSON values as YAML 1.2 blocks. General YAML writers take seconds for the document of some hundred tables. */

/** Words that YAML 1.1 or 1.2 reads as something else than a string. */
const WORDS = /^(?:true|false|yes|no|on|off|y|n|null|nan|inf)$/i;
/** Text that no reader takes for anything but a string: it begins with a letter and has no indicator. */
const PLAIN = /^[A-Za-z_/][\w/.+()]*(?: [\w/.+()]+)*$/;
/** Characters that JSON leaves as they are, but YAML requires to be escaped. */
const UNPRINTABLE = /[\x7f-\x84\x86-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** A member of a mapping, with a line break at its end. @param indent spaces before the key */
export function yamlMember(key: string, value: unknown, indent: number): string {
  return `${' '.repeat(indent)}${scalar(key)}:${afterKey(value, indent)}`;
}

/** The value of a key: on the same line if it is a scalar or empty. */
function afterKey(value: unknown, indent: number): string {
  const text = short(value);
  return text === null ? `\n${block(value as object, indent + 2)}` : ` ${text}\n`;
}

function block(value: object, indent: number): string {
  if (Array.isArray(value)) return value.map((item) => listItem(item, indent)).join('');
  return members(value)
    .map(([key, member]) => yamlMember(key, member, indent))
    .join('');
}

function listItem(item: unknown, indent: number): string {
  const dash = `${' '.repeat(indent)}- `;
  const text = short(item);
  return text === null ? dash + block(item as object, indent + 2).slice(indent + 2) : `${dash}${text}\n`;
}

/** One line for a scalar, or for an empty list or mapping; null for everything else. */
function short(value: unknown): string | null {
  if (typeof value === 'string') return scalar(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return value.length === 0 ? '[]' : null;
  return members(value).length === 0 ? '{}' : null;
}

const members = (value: object): [string, unknown][] =>
  Object.entries(value).filter(([, member]) => member !== undefined);

function scalar(text: string): string {
  if (PLAIN.test(text) && !WORDS.test(text)) return text;
  return JSON.stringify(text).replace(UNPRINTABLE, escaped);
}

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
