/** The protocol of clamd: one INSTREAM command for each connection (clamd(8)). */
import { connect, type Socket } from 'node:net';
import type { ClamdConfig } from '../../config/app-config';

/** Maximum bytes of a response, which contains the name of the signature. */
const MAX_ANSWER = 1_024;
const COMMAND = 'zINSTREAM\0';
const END = Buffer.alloc(4);
const ANSWER = /^stream: (?:(OK)|(.+) FOUND)\0?$/;
const SIZE_LIMIT = /size limit exceeded/i;
/** With `AlertExceedsMax`, clamd reports files that it did not read to the end as findings with names that begin like this. */
const NOT_READ = 'Heuristics.Limits.Exceeded';

/** `unscanned`: the file is larger than clamd reads. */
export type Verdict =
  | { readonly kind: 'clean' }
  | { readonly kind: 'unscanned' }
  | { readonly kind: 'infected'; readonly signature: string };

/** Sends bytes to clamd as they arrive. @throws Error when clamd does not answer in time, or sends an invalid answer */
export async function scanStream(
  { address }: ClamdConfig,
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<Verdict> {
  const socket = connect(address);
  const answer = answerOf(socket);
  // The error is thrown below. This handler is for a failure that occurs before the promise is awaited.
  answer.catch(() => undefined);
  const abort = (): void => void socket.destroy(new Error('clamd did not answer in time'));
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    // A response before the end means that the file is too large; clamd then stops reading.
    await Promise.race([send(socket, chunks), answer]).catch((error: Error) => socket.destroy(error));
    return verdictOf(await answer);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

async function send(socket: Socket, chunks: AsyncIterable<Buffer>): Promise<void> {
  await written(socket, Buffer.from(COMMAND));
  for await (const chunk of chunks) {
    if (socket.destroyed || socket.readableEnded) return;
    if (chunk.length === 0) continue;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(chunk.length);
    socket.cork();
    socket.write(length);
    const done = written(socket, chunk);
    socket.uncork();
    // The store may reuse the memory of a chunk as soon as the next chunk is requested.
    await done;
  }
  await written(socket, END);
}

function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function answerOf(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: Buffer | string) => {
      text += String(chunk);
      if (text.length > MAX_ANSWER) socket.destroy(new Error('the answer of clamd is too long'));
      else if (text.endsWith('\0')) resolve(text);
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('clamd closed the connection without an answer')));
  });
}

function verdictOf(answer: string): Verdict {
  if (SIZE_LIMIT.test(answer)) return { kind: 'unscanned' };
  const [matched, clean, signature = ''] = ANSWER.exec(answer) ?? [];
  if (matched === undefined) throw new Error(`clamd answered ${JSON.stringify(answer)}`);
  if (clean) return { kind: 'clean' };
  return signature.startsWith(NOT_READ) ? { kind: 'unscanned' } : { kind: 'infected', signature };
}
