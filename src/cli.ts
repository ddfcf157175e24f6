/** Entry of `npm run plinth -- ...`: the administration from the command line, over a running server's admin API. */
import { buffer } from 'node:stream/consumers';
import { AdminClient } from './cli/admin-client';
import { EXIT } from './cli/cli-error';
import { runCli } from './cli/run-cli';
import { readEnvironment } from './config/dot-env';
import {
  backupAgeKeys,
  backupPassphrase,
  loadClientConfig,
  loadLocalConfig,
  serverAddress,
} from './config/load-client-config';
import { savedLogins } from './config/saved-logins';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** @param hidden the answer does not appear on the terminal */
async function askOnTerminal(question: string, hidden: boolean): Promise<string> {
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

// Nothing keeps the process alive for a promise that never settles: its command must not pass for done.
process.exitCode = EXIT.failed;
const reportUnfinished = (): void => void process.stderr.write('The command ended before it was done.\n');
process.once('beforeExit', reportUnfinished);
void runCli(process.argv.slice(2), {
  connect: () => AdminClient.for(loadClientConfig(readEnvironment())),
  signIn: {
    server: () => serverAddress(readEnvironment()).publicUrl,
    logins: () => savedLogins(readEnvironment()),
    ask: askOnTerminal,
  },
  passphrase: () => backupPassphrase(readEnvironment()),
  ageKeys: () => backupAgeKeys(readEnvironment()),
  localInstall: () => loadLocalConfig(readEnvironment()),
  stdin: process.stdin,
  stdout: process.stdout,
  isTerminal: process.stderr.isTTY,
  readStdin: async () => (await buffer(process.stdin)).toString('utf8'),
  untilInterrupted: () => {
    const interruption = new AbortController();
    process.once('SIGINT', () => interruption.abort());
    process.once('SIGTERM', () => interruption.abort());
    return interruption.signal;
  },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
}).then((exitCode) => {
  process.exitCode = exitCode;
  process.off('beforeExit', reportUnfinished);
});
