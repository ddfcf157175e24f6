/** Messages reach node-postgres bounded, whole and in order, wherever the bytes are cut on their way. */
import { parse } from 'pg-protocol';
import { PassThrough } from 'node:stream';
import { MAX_TEXT_MESSAGE_BYTES, MessageLimiter, type MessageLimits } from './message-limiter';

function message(code: string, body: Buffer | string): Buffer {
  const content = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.write(code, 0, 'latin1');
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const READY = message('Z', 'I');
const row = (bytes: number): Buffer => message('D', Buffer.alloc(bytes, 'x'));
const error = (text: string, hint = 'a hint'): Buffer =>
  message('E', `SERROR\0VERROR\0C22P02\0M${text}\0H${hint}\0\0`);
const notice = (text: string): Buffer => message('N', `SNOTICE\0C00000\0M${text}\0\0`);

/** Passes a stream through the limiter in pieces of `size` bytes, and returns the output. */
function limited(stream: Buffer, size: number, limits: Partial<MessageLimits> = {}): Buffer {
  const passed: Buffer[] = [];
  const limiter = new MessageLimiter(
    { admitsRow: () => true, admitsNotice: () => true, ...limits },
    (bytes) => passed.push(Buffer.from(bytes)),
  );
  for (const piece of pieces(stream, size)) limiter.push(piece);
  return Buffer.concat(passed);
}

/** Pieces as RowSplitter passes them on: it never cuts a header. */
function* pieces(stream: Buffer, size: number): Generator<Buffer> {
  let [at, next] = [0, 0];
  while (at < stream.length) {
    let end = Math.min(stream.length, at + size);
    // Advances to the end of the last header in the piece; an incomplete header is left for the next piece.
    while (next + 5 <= end) next += 1 + stream.readUInt32BE(next + 1);
    if (next < end) end = next === at ? Math.min(stream.length, next + 5) : next;
    yield stream.subarray(at, end);
    at = end;
  }
}

interface Parsed {
  readonly name: string;
  readonly message?: string;
  readonly code?: string;
  readonly hint?: string;
}

async function parsed(bytes: Buffer): Promise<Parsed[]> {
  const messages: Parsed[] = [];
  const stream = new PassThrough();
  const done = parse(stream, (one) => messages.push(one));
  stream.end(bytes);
  await done;
  return messages;
}

const SIZES = [1, 7, 1_000, 65_536, 10_000_000];

describe('MessageLimiter', () => {
  it.each(SIZES)('passes small messages unchanged, in pieces of %i bytes', (size) => {
    const stream = Buffer.concat([row(10), error('short'), notice('short'), row(0), READY]);
    expect(limited(stream, size).equals(stream)).toBe(true);
  });

  it.each(SIZES)('drops the rows that are not admitted, in pieces of %i bytes', (size) => {
    let total = 0;
    const admitsRow = (bytes: number): boolean => (total += bytes) < 100_000;
    const stream = Buffer.concat([row(10), row(200_000), READY, row(20), READY]);
    expect(limited(stream, size, { admitsRow }).equals(Buffer.concat([row(10), READY, READY]))).toBe(true);
  });

  it.each(SIZES)('truncates a long error, in pieces of %i bytes', async (size) => {
    const stream = Buffer.concat([error('é'.repeat(200_000)), READY, error('short'), READY]);
    const [cut, ready, short, last] = await parsed(limited(stream, size));
    expect([ready?.name, last?.name]).toEqual(['readyForQuery', 'readyForQuery']);
    expect([cut?.name, cut?.code]).toEqual(['error', '22P02']);
    expect(cut?.message).toMatch(/^é+…$/);
    expect(Buffer.byteLength(cut?.message ?? '')).toBeLessThanOrEqual(MAX_TEXT_MESSAGE_BYTES);
    expect(short).toMatchObject({ name: 'error', message: 'short', hint: 'a hint' });
  });

  it.each([0, 1, 2, 3])('does not split a character (%i)', async (shift) => {
    const [cut] = await parsed(limited(error('x'.repeat(shift) + '𝕏'.repeat(10_000)), 1_000));
    expect(cut?.message).toMatch(/^x*𝕏+…$/u);
  });

  it('keeps the message if a field after it is too long', async () => {
    const [cut] = await parsed(limited(error('short', 'x'.repeat(20_000)), 1_000));
    expect([cut?.message, cut?.code]).toEqual(['short', '22P02']);
    expect(cut?.hint).toMatch(/^x+…$/);
  });

  it('truncates a long setting', async () => {
    const long = message('S', `search_path\0${'x'.repeat(100_000)}\0`);
    const [cut, ready] = await parsed(limited(Buffer.concat([long, READY]), 1_000));
    expect([cut?.name, ready?.name]).toEqual(['parameterStatus', 'readyForQuery']);
    expect((cut as unknown as { parameterValue: string }).parameterValue).toMatch(/^x+…$/);
  });

  it('drops long notices, the data of COPY, and notices that are not admitted', () => {
    const long = 'x'.repeat(MAX_TEXT_MESSAGE_BYTES);
    const setting = message('S', `search_path\0public\0`);
    const stream = Buffer.concat([notice(long), message('d', 'data'), setting, notice('a word'), READY]);
    expect(limited(stream, 500).equals(Buffer.concat([setting, notice('a word'), READY]))).toBe(true);
    const silent = limited(stream, 500, { admitsNotice: () => false });
    expect(silent.equals(Buffer.concat([setting, READY]))).toBe(true);
  });
});
