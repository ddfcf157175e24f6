/**
 * Logins that wait before the last message of SCRAM, so that many complete at the same moment as a database is created.
 */
import { Client } from 'pg';
import { type DatabaseAccess, asOwner } from './owner-connection';

interface ScramConnection {
  sendSCRAMClientFinalMessage(message: unknown): void;
}

interface HeldLogin {
  /** Sends the last message. Resolves with the outcome: `entered`, or an SQLSTATE. */
  finish(): Promise<string>;
  end(): Promise<void>;
}

const POLL_MS = 1;
/** Milliseconds for a database to appear after its role. */
const WAIT_MS = 4_000;

/** The server looks up the database after it has checked the password, so the database need not exist yet. */
async function holdLogin(access: DatabaseAccess, database: string): Promise<HeldLogin> {
  const { host, port, owner_role: user, owner_password: password } = access;
  const client = new Client({ host, port, user, password, database });
  client.on('error', () => undefined);
  const { connection } = client as unknown as { connection: ScramConnection };
  const original = connection.sendSCRAMClientFinalMessage.bind(connection);
  let outcome: Promise<string> | undefined;
  const last = await new Promise<unknown>((resolve, reject) => {
    connection.sendSCRAMClientFinalMessage = resolve;
    outcome = client.connect().then(
      () => 'entered',
      (error: Error & { code?: string }) => {
        reject(error);
        return error.code ?? 'no code';
      },
    );
  });
  return {
    finish: () => {
      original(last);
      return outcome as Promise<string>;
    },
    end: () => client.end().catch(() => undefined),
  };
}

/** Logs the owner of one project in to every database whose roles already exist, but which itself does not exist yet. */
export class EntryRace {
  /** Number of logins by outcome. */
  readonly answers: Record<string, number> = {};
  readonly entered = new Set<string>();
  raced = 0;
  private isOver = false;
  private work: Promise<void> | undefined;

  constructor(
    private readonly access: DatabaseAccess,
    private readonly connections: number,
  ) {}

  start(): void {
    this.work = asOwner(this.access, async (client) => {
      const seen = new Set<string>();
      while (!this.isOver) {
        const { rows } = await client.query<{ name: string }>(
          `select left(rolname, -6) as name from pg_roles where rolname ~ '^plinth_[0-9a-z]{20}_owner$'
             and not exists (select from pg_database where datname = left(rolname, -6)) order by oid desc limit 1`,
        );
        const name = rows[0]?.name;
        if (name === undefined || seen.has(name)) {
          if (name === undefined) seen.clear();
          await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        } else {
          seen.add(name);
          await this.race(client, name);
        }
      }
    });
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.work;
  }

  private async race(client: Client, database: string): Promise<void> {
    const held = await Promise.allSettled(
      Array.from({ length: this.connections }, () => holdLogin(this.access, database)),
    );
    const logins = held.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const end = performance.now() + WAIT_MS;
    for (let exists = false; !exists && performance.now() < end;) {
      const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
      exists = rowCount === 1;
    }
    const answers = await Promise.all(logins.map((login) => login.finish()));
    for (const answer of answers) this.answers[answer] = (this.answers[answer] ?? 0) + 1;
    if (answers.includes('entered')) this.entered.add(database);
    this.raced += 1;
    await Promise.all(logins.map((login) => login.end()));
  }
}
