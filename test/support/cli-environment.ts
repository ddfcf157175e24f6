/** The environment of a command: no terminal, and no standard input unless a test provides it. */
import { Readable, Writable } from 'node:stream';
import { savedLogins } from '../../src/config/saved-logins';
import type { CliEnvironment } from '../../src/cli/command-context';

type Given = Pick<CliEnvironment, 'connect'> & Partial<CliEnvironment>;

export function cliEnvironment(given: Given): CliEnvironment {
  return {
    signIn: {
      server: () => 'http://localhost:1',
      logins: () => savedLogins({ XDG_CONFIG_HOME: '/nonexistent' }),
      ask: async () => '',
    },
    passphrase: () => null,
    ageKeys: () => ({ recipients: [], identityFile: null }),
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
