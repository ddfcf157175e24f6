/** The environment of the process, completed by a `.env` file in the working directory, which never overrides it. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

export function readEnvironment(): Record<string, string | undefined> {
  return { ...fromFile('.env'), ...process.env };
}

function fromFile(path: string): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}
