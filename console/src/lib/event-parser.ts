/** Parses server-sent events (WHATWG HTML, 9.2). Needed because EventSource cannot send an Authorization header. */

export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Characters of one event. A longer one ends the stream: memory must not grow with what a server sends. */
const MOST_CHARACTERS = 1_000_000;

export class EventParser {
  private rest = '';

  /**
   * @param text the next part of the stream, cut anywhere
   * @returns the events that are complete now
   * @throws RangeError if an event is longer than a million characters
   */
  push(text: string): ServerEvent[] {
    const parts = (this.rest + text).split(/\r?\n\r?\n/);
    this.rest = parts.pop() ?? '';
    if (this.rest.length > MOST_CHARACTERS) throw new RangeError('an event is too long');
    return parts.flatMap(eventOf);
  }
}

function eventOf(block: string): ServerEvent[] {
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ''] = /^(event|data): ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') name = value;
    if (field === 'data') data.push(value);
  }
  return data.length === 0 ? [] : [{ name, data: data.join('\n') }];
}
