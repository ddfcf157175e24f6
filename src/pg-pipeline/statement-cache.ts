/**
 * The prepared statements of one connection: least recently used ones are closed, so that a client that varies its
 * queries cannot fill the server's memory.
 */
import type { FieldDef } from 'pg';

interface PreparedStatement {
  /** Known once the first execution described it; null when it returns no rows. */
  fields: FieldDef[] | null | undefined;
}

export class StatementCache {
  private readonly prepared = new Map<string, PreparedStatement>();
  private readonly doubtful = new Set<string>();

  /** @param capacity how many statements one connection keeps prepared */
  constructor(private readonly capacity = 200) {}

  /** The statement of that name if the server has it, marked as just used. */
  find(name: string): PreparedStatement | undefined {
    const statement = this.prepared.get(name);
    if (!statement) return undefined;
    this.prepared.delete(name);
    this.prepared.set(name, statement);
    return statement;
  }

  /** Notes a statement that is being parsed under that name. */
  add(name: string): PreparedStatement {
    const statement: PreparedStatement = { fields: undefined };
    this.prepared.set(name, statement);
    return statement;
  }

  /** Forgets a statement of which nobody knows whether the server still has it (its pipeline failed). */
  doubt(name: string): void {
    this.prepared.delete(name);
    this.doubtful.add(name);
  }

  /** Forgets all of them: none is prepared any more. */
  clear(): void {
    this.prepared.clear();
    this.doubtful.clear();
  }

  /** Names to send a Close for before anything else; closing an unknown name is no error in PostgreSQL. */
  takeNamesToClose(): string[] {
    const names = [...this.doubtful];
    this.doubtful.clear();
    while (this.prepared.size > this.capacity) {
      const oldest = this.prepared.keys().next().value as string;
      this.prepared.delete(oldest);
      names.push(oldest);
    }
    return names;
  }
}
