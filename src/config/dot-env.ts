/** The environment of the process, completed by a `.env` file in the working directory, which never overrides it. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { codeOf, messageOf } from '../common/errors/error-facts';

/** @throws DotEnvError */
export function readEnvironment(): Record<string, string | undefined> {
  return { ...fromFile('.env'), ...process.env };
}

/** `.env` is there and cannot be read; the message is one clear line. */
class DotEnvError extends Error {
  override readonly name = 'DotEnvError';

  constructor(path: string, cause: unknown) {
    super(`${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function fromFile(path: string): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw new DotEnvError(path, error);
  }
}
