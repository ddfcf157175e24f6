/** GoTrue merges `data`: members of a change replace those of the same name, and null removes one. */
import { JsonObject } from '../../../common/text/json';

export function mergedJson(old: JsonObject, change: JsonObject | null | undefined): JsonObject | undefined {
  if (!change) return undefined;
  const removed = new Set(Object.keys(change).filter((name) => change[name] === null));
  const whole = [...Object.entries(old), ...Object.entries(change)];
  return Object.fromEntries(whole.filter(([name]) => !removed.has(name)));
}
