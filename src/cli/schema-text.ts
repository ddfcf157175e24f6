/** Compares schemas, as text of pg_dump, object by object. */
import { printable } from './command-context';

/** The comment that pg_dump writes before each object. */
const OBJECT = /^--\n-- Name: (.*); Type: (.*); Schema: (.*); Owner: .*\n--\n/m;
/** Lines that depend on the order of the objects, or on the run of pg_dump. */
const PASSING = /^(SET default_\w+ = .*;|\\(un)?restrict .*|-- PostgreSQL database dump complete|--)$/;
/** The record of a project's migrations, which Plinth creates when it is first needed. */
const LEDGER = 'plinth_migrations';
/** Roles that Plinth creates for each project have its id in their names. */
const OWN_ROLE = /\bplinth_[a-z][a-z0-9]{19}_(owner|login)\b/g;
/** Equal lines that are shown around a difference. */
const CONTEXT = 3;

/** Texts of the objects by their kind and name, in this order. */
export type SchemaObjects = ReadonlyMap<string, string>;

/** @param dumps of a whole schema, or of its sections */
export function schemaObjects(...dumps: readonly string[]): SchemaObjects {
  const objects = new Map<string, string>();
  for (const dump of dumps) addObjects(objects, dump);
  return new Map([...objects].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function addObjects(objects: Map<string, string>, dump: string): void {
  // The first part is the head of the dump.
  const [, ...parts] = dump.split(OBJECT);
  for (let at = 0; at + 3 < parts.length; at += 4) {
    const [name = '', type = '', schema = '', text = ''] = parts.slice(at, at + 4);
    if (schema === LEDGER || (type !== 'TABLE' && name === LEDGER)) continue;
    const key = schema === '-' ? `${type} ${name}` : `${type} ${schema}.${name}`;
    const lines = text.replace(OWN_ROLE, 'plinth_$1').split('\n');
    const kept = lines
      .filter((line) => !PASSING.test(line))
      .join('\n')
      .trim();
    // Some objects share a name, such as the default privileges of two roles.
    objects.set(key, objects.has(key) ? `${objects.get(key)}\n${kept}` : kept);
  }
}

/**
 * The differences in the form of a unified diff, a hunk for each object.
 * @returns an empty string if there are none
 */
export function diffOf(
  from: { readonly name: string; readonly objects: SchemaObjects },
  to: { readonly name: string; readonly objects: SchemaObjects },
): string {
  const keys = [...new Set([...from.objects.keys(), ...to.objects.keys()])].sort();
  const hunks = keys.flatMap((key) => {
    const [before, after] = [from.objects.get(key), to.objects.get(key)];
    return before === after ? [] : [hunkOf(key, linesOf(before), linesOf(after))];
  });
  return hunks.length === 0 ? '' : `--- ${from.name}\n+++ ${to.name}\n${hunks.join('')}`;
}

const linesOf = (text: string | undefined): string[] => (text === undefined ? [] : text.split('\n'));

/** Everything between the first and the last line that differ counts as changed. */
function hunkOf(key: string, before: readonly string[], after: readonly string[]): string {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const first = Math.max(0, start - CONTEXT);
  const tail = Math.min(CONTEXT, end);
  const shown = (lines: readonly string[]): number => lines.length - first - (end - tail);
  const range = (lines: readonly string[]): string =>
    `${shown(lines) === 0 ? first : first + 1},${shown(lines)}`;
  const text = [
    `@@ -${range(before)} +${range(after)} @@ ${key}`,
    ...before.slice(first, start).map((line) => ` ${line}`),
    ...before.slice(start, before.length - end).map((line) => `-${line}`),
    ...after.slice(start, after.length - end).map((line) => `+${line}`),
    ...before.slice(before.length - end, before.length - end + tail).map((line) => ` ${line}`),
  ];
  return text.map((line) => `${printable(line)}\n`).join('');
}
