/** The surroundings of a command of the command line: no terminal, and nothing on standard input unless a test gives it. */
import { Readable, Writable } from 'node:stream';
import type { CliEnvironment } from '../../src/cli/command-context';

type Given = Pick<CliEnvironment, 'connect'> & Partial<CliEnvironment>;

export function cliEnvironment(given: Given): CliEnvironment {
  return {
    passphrase: () => null,
    localInstall: () => {
      throw new Error('this test has no local install');
    },
    readStdin: async () => '',
    untilInterrupted: () => new AbortController().signal,
    stdin: Readable.from([]),
    stdout: new Writable(),
    isTerminal: false,
    out: () => undefined,
    err: () => undefined,
    ...given,
  };
}
