/** Tokens that `plinth login` keeps in the staff member's own configuration directory, by the server's PUBLIC_URL. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../common/text/json';
import { readSecret, writeSecret } from './secret-file';

export type Environment = Readonly<Record<string, string | undefined>>;

const FILE = 'plinth/credentials.json';

export interface SavedLogin {
  readonly token: string;
  /** Id of the token. */
  readonly id: string;
  readonly email: string;
}

export interface SavedLogins {
  /** The path of the file. */
  readonly file: string;
  find(server: string): SavedLogin | null;
  /** Null removes it. The file has mode 0600. */
  save(server: string, login: SavedLogin | null): void;
}

/** XDG_CONFIG_HOME, or APPDATA on Windows; by default ~/.config. */
export function savedLogins(environment: Environment): SavedLogins {
  const directory = environment.XDG_CONFIG_HOME ?? environment.APPDATA ?? join(homedir(), '.config');
  const file = join(directory, FILE);
  const all = (): Record<string, unknown> => {
    const saved = parseJson(readSecret(file) ?? '{}');
    return isJsonObject(saved) ? saved : {};
  };
  return {
    file,
    find: (server) => {
      const login = all()[server];
      return isLogin(login) ? login : null;
    },
    save: (server, login) => {
      const { [server]: _former, ...others } = all();
      writeSecret(file, JSON.stringify(login ? { ...others, [server]: login } : others, null, 2));
    },
  };
}

function isLogin(value: unknown): value is SavedLogin {
  if (typeof value !== 'object' || value === null) return false;
  const login = value as Partial<Record<keyof SavedLogin, unknown>>;
  return [login.token, login.id, login.email].every((member) => typeof member === 'string');
}
