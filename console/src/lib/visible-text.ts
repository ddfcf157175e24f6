/** Text on one line, with marks for characters that break a line or change the direction of their neighbours. Pure. */

const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/g;
/** Marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm (UAX 9). */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function inOneLine(text: string): string {
  return text
    .replace(LINE_BREAK, '⏎')
    .replace(DIRECTION, (mark) => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
