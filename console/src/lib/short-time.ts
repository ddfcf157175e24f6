/**
 * Shortens a time to the minute, for a narrow column: `2026-11-26 10:39` of `2026-11-26 10:39:12.5+00`. Other
 * texts are unchanged. Pure.
 */

const STAMP = /^(\d{4,6}-\d\d-\d\d \d\d:\d\d):\d\d(\.\d+)?([+-]\d\d(:\d\d)*)?$/;

export function shortTime(text: string): string {
  return STAMP.exec(text)?.[1] ?? text;
}
