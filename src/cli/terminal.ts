/** Questions at the terminal. They go to standard error, so that standard output stays the command's result. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** @param hidden the answer does not appear on the terminal */
export async function askOnTerminal(question: string, hidden: boolean): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: stdin,
    output: hidden ? silent : stderr,
    terminal: stdin.isTTY,
  });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error('there was no answer')));
      lines.once('SIGINT', () => reject(new Error('interrupted')));
    });
  } finally {
    lines.close();
    if (hidden) stderr.write('\n');
  }
}
