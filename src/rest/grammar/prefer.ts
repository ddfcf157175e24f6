/** The Prefer header (RFC 7240). */
import { headerItems, nameAndValue } from './header-list';
import type { Preferences } from './rest-request';

type ChoiceName = 'return' | 'resolution' | 'missing' | 'count' | 'tx' | 'handling' | 'read';

/** Preferences with a closed list of values. */
const CHOICES: { readonly [Name in ChoiceName]: readonly NonNullable<Preferences[Name]>[] } = {
  return: ['representation', 'minimal', 'headers-only'],
  resolution: ['merge-duplicates', 'ignore-duplicates'],
  missing: ['default', 'null'],
  count: ['exact', 'planned', 'estimated'],
  tx: ['commit', 'rollback'],
  handling: ['strict', 'lenient'],
  read: ['primary', 'replica'],
};

/** The preferences of a request without the header. */
const NONE: Preferences = Object.freeze({
  return: null,
  resolution: null,
  missing: null,
  count: null,
  tx: null,
  handling: null,
  read: null,
  timezone: null,
  maxAffected: null,
  unknown: [],
});

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/**
 * Parses the header's value; null: no header. Names are case-insensitive; the first of repeated preferences
 * counts.
 * Example: `Prefer: return=representation, count=exact, handling=strict, timezone=America/Los_Angeles, max-affected=10`
 * @throws GrammarError PL153 for too many preferences.
 */
export function parsePrefer(header: string | null): Preferences {
  if (header === null) return NONE;
  const preferences: Mutable<Preferences> = { ...NONE };
  const unknown: string[] = [];
  for (const { head, text } of headerItems(header)) {
    const [name, value] = nameAndValue(head);
    if (!apply(preferences, name, value)) unknown.push(text);
  }
  return { ...preferences, unknown };
}

/** False when the preference or its value is unknown. */
function apply(into: Mutable<Preferences>, name: string, value: string): boolean {
  switch (name) {
    case 'return':
    case 'resolution':
    case 'missing':
    case 'count':
    case 'tx':
    case 'handling':
    case 'read':
      return choose(into, name, value);
    case 'timezone':
      into.timezone ??= value || null;
      return value !== '';
    case 'max-affected':
      if (!/^\d+$/.test(value)) return false;
      into.maxAffected ??= Math.min(Number(value), Number.MAX_SAFE_INTEGER);
      return true;
    default:
      return false;
  }
}

function choose<Name extends ChoiceName>(into: Mutable<Preferences>, name: Name, value: string): boolean {
  const words: readonly NonNullable<Preferences[Name]>[] = CHOICES[name];
  const choice = words.find((word) => word === value);
  if (choice === undefined) return false;
  into[name] ??= choice;
  return true;
}
