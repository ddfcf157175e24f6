/**
 * The prepared statements of one connection. The least recently used statements are closed, so that clients that vary their
 * queries cannot fill the server's memory.
 */
import type { FieldDef } from 'pg';

export interface PreparedStatement {
  /** Undefined until the first execution has described it; null when it returns no rows. */
  fields: FieldDef[] | null | undefined;
}

export class StatementCache {
  private readonly prepared = new Map<string, PreparedStatement>();
  private readonly uncertain = new Set<string>();

  /** @param capacity the maximum number of statements that a connection keeps prepared */
  constructor(private readonly capacity = 200) {}

  /** Finds a prepared statement, and marks it as just used. */
  find(name: string): PreparedStatement | undefined {
    const statement = this.prepared.get(name);
    if (!statement) return undefined;
    this.prepared.delete(name);
    this.prepared.set(name, statement);
    return statement;
  }

  /** Adds a statement that is being parsed under that name. */
  add(name: string): PreparedStatement {
    const statement: PreparedStatement = { fields: undefined };
    this.prepared.set(name, statement);
    return statement;
  }

  /** Forgets a statement whose pipeline failed: the server may or may not have it. */
  markUncertain(name: string): void {
    this.prepared.delete(name);
    this.uncertain.add(name);
  }

  /** Forgets all statements, after DEALLOCATE ALL. */
  clear(): void {
    this.prepared.clear();
    this.uncertain.clear();
  }

  /** Names to close before anything else is sent. Closing a name that the server does not know is not an error. */
  takeNamesToClose(): string[] {
    const names = [...this.uncertain];
    this.uncertain.clear();
    while (this.prepared.size > this.capacity) {
      const oldest = this.prepared.keys().next().value;
      if (oldest === undefined) break;
      this.prepared.delete(oldest);
      names.push(oldest);
    }
    return names;
  }
}
