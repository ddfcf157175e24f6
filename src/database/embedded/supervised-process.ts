// Starts a program that must not outlive this process, not even when this process is killed with SIGKILL.
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { SystemUser } from './server-user';

/**
 * The shell starts a watcher and then becomes the program with exec, so the program keeps the pid that Node
 * knows. The watcher reads a pipe whose other end only Node holds: end of file means that Node has ended, for
 * whatever reason, and the watcher sends SIGINT, PostgreSQL's fast shutdown. The double fork keeps the watcher
 * from being a child that the postmaster would reap and log. `$$` is the shell's own pid, in a subshell too.
 */
const SUPERVISOR = `
  ( ( cd /; read -r word <&3; [ "$word" = finished ] || kill -INT $$ ) & )
  exec "$@" 3<&-
`;

/**
 * A fixed locale and time zone for the same behaviour everywhere. Our own variables (keys, PG*) are not passed
 * on.
 */
const ENVIRONMENT = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  ...userNames(process.env),
};

/** nss_wrapper's variables, which name a user id that /etc/passwd does not have (docker/entrypoint.sh). */
function userNames(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { LD_PRELOAD, NSS_WRAPPER_PASSWD, NSS_WRAPPER_GROUP } = environment;
  return NSS_WRAPPER_PASSWD ? { LD_PRELOAD, NSS_WRAPPER_PASSWD, NSS_WRAPPER_GROUP } : {};
}

export interface SupervisedOptions {
  /** Working directory; entered before the switch of users, so that user need not be able to reach its path. */
  cwd: string;
  /** User to run as; null: the user of this process. */
  user: SystemUser | null;
  /** File descriptor that gets standard output and standard error. */
  output: number;
  /** File descriptor for standard input; none by default. */
  input?: number;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface SupervisedProcess {
  pid: number;
  /** Resolves when the program has ended; never rejects. */
  exited: Promise<ProcessExit>;
  /** Sends a signal to the program; does nothing once it has ended. */
  kill(signal: NodeJS.Signals): void;
  /** Makes the program keep Node alive; by default it does not. */
  hold(): void;
}

/**
 * Starts a program in a new session, so that Ctrl-C in the terminal reaches only Node.
 * Rejects when it cannot be started; a program that cannot be executed exits with 126 or 127.
 */
export function startSupervised(
  program: string,
  args: readonly string[],
  options: SupervisedOptions,
): Promise<SupervisedProcess> {
  const { cwd, user, output, input } = options;
  const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'sh', program, ...args], {
    cwd,
    env: ENVIRONMENT,
    detached: true,
    stdio: [input ?? 'ignore', output, output, 'pipe'],
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(supervise(child)));
  });
}

function supervise(child: ChildProcess): SupervisedProcess {
  const { pid, stdio } = child;
  const lifeline = stdio[3];
  if (pid === undefined || !(lifeline instanceof Socket)) throw new Error('the process was not spawned');
  // The watcher may have ended already, which is not an error.
  lifeline.on('error', () => undefined);
  lifeline.unref();
  child.unref();
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => {
      lifeline.end('finished\n');
      resolve({ code, signal });
    });
  });
  return {
    pid,
    exited,
    kill: (signal) => void child.kill(signal),
    hold: () => child.ref(),
  };
}
