/** Types of parsed JSON, for code that handles JSON whose shape it does not know. */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Undefined for text that is not JSON; no JSON text stands for undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member with this name, which may have dots, or that of nested objects at a path such as `realm.roles`. */
export function memberAt(object: JsonObject, path: string): unknown {
  if (Object.hasOwn(object, path)) return object[path];
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      object,
    );
}

/** True if arrays and objects are nested in JSON text more than `levels` deep. Does not recurse. */
export function isNestedDeeper(json: string, levels: number): boolean {
  let [depth, inString] = [0, false];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > levels) return true;
    } else if (character === ']' || character === '}') depth -= 1;
  }
  return false;
}

/** Values in a JSON body: elements, members and the body itself. */
export const MAX_VALUES = 20_000;
/** Values that classes with decorators read: each takes microseconds, and the members of an object take quadratic time. */
const MAX_CHECKED_VALUES = 5_000;
const MAX_CHECKED_MEMBERS = 1_000;

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** True if JSON has more than MAX_VALUES values. Parsing fewer takes milliseconds, regardless of their size. */
export function hasTooManyValues(json: Uint8Array): boolean {
  if (json.length <= MAX_VALUES) return false;
  let values = 1;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === COMMA || byte === BRACKET || byte === BRACE) {
      values += 1;
      if (values > MAX_VALUES) return true;
    }
  }
  return false;
}

/** True if a value of parsed JSON is too large for classes with decorators. */
export function isTooLargeToCheck(value: unknown): boolean {
  const open: unknown[] = [value];
  for (let [next, count] = [open.pop(), 1]; next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const parts = Array.isArray(next) ? (next as unknown[]) : Object.values(next);
    count += parts.length;
    if (count > MAX_CHECKED_VALUES || (!Array.isArray(next) && parts.length > MAX_CHECKED_MEMBERS))
      return true;
    for (const part of parts) if (typeof part === 'object' && part !== null) open.push(part);
  }
  return false;
}
