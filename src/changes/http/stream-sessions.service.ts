/** Ends streams within a second when their sessions end: one statement a second for each project that has any. */
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import type { Caller } from '../../access/caller';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import type { ProjectDatabase } from '../../database/pools/project-database';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { ProjectRegistry } from '../../projects/project-registry.service';

const CHECK_MS = 800;
const REASON = 'streams outlive the request that checked their session';

interface Watched {
  readonly caller: Caller;
  /** Seconds since the epoch; null: the token has no end. */
  readonly expires: number | null;
  readonly onEnded: (message: string) => void;
}

@Injectable()
export class StreamSessions implements OnApplicationShutdown {
  private readonly logger = new Logger(StreamSessions.name);
  private readonly watched = new Set<Watched>();
  private timer: NodeJS.Timeout | undefined;
  private isChecking = false;

  constructor(
    private readonly door: RlsTransaction,
    private readonly registry: ProjectRegistry,
    private readonly clock: Clock,
  ) {}

  /** @returns ends the watch */
  watch(caller: Caller, onEnded: (message: string) => void): () => void {
    const { exp } = caller.tokenClaims;
    const one: Watched = { caller, onEnded, expires: typeof exp === 'number' ? exp : null };
    this.watched.add(one);
    this.timer ??= setInterval(() => void this.check(), CHECK_MS).unref();
    return () => {
      this.watched.delete(one);
      if (this.watched.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async check(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    try {
      const now = this.clock.nowSeconds();
      for (const one of [...this.watched]) {
        if (one.expires !== null && one.expires <= now) one.onEnded('The token has expired');
        else if (this.keysChanged(one.caller)) one.onEnded('The keys of the project were rotated');
      }
      await this.checkSessions();
    } catch (error) {
      this.logger.warn(`sessions of streams could not be checked: ${messageOf(error)}`);
    } finally {
      this.isChecking = false;
    }
  }

  /** A rotation ends streams: the client's credentials are checked again when it connects. */
  private keysChanged({ project }: Caller): boolean {
    const current = this.registry.peek(project.id);
    return current !== null && current.secrets[0].kid !== project.secrets[0].kid;
  }

  private async checkSessions(): Promise<void> {
    const byDatabase = new Map<string, { readonly database: ProjectDatabase; readonly all: Watched[] }>();
    for (const one of this.watched) {
      const { database, sessionId } = one.caller;
      if (sessionId === null) continue;
      const known = byDatabase.get(database.key);
      if (known) known.all.push(one);
      else byDatabase.set(database.key, { database, all: [one] });
    }
    for (const { database, all } of byDatabase.values()) {
      const ids = [...new Set(all.map(({ caller }) => caller.sessionId))];
      const { rows } = await this.door.systemQuery(database, REASON, {
        name: 'changes:sessions',
        text: `select s.id::text as id from auth.sessions s join auth.users u on u.id = s.user_id
          where s.id = any ($1::uuid[]) and s.revoked_at is null and s.expires_at > now()
            and (u.banned_until is null or u.banned_until <= now())`,
        values: [`{${ids.join()}}`],
      });
      const valid = new Set((rows as { id: string }[]).map(({ id }) => id));
      for (const one of all)
        if (!valid.has(one.caller.sessionId?.toLowerCase() ?? '')) one.onEnded('The session has ended');
    }
  }
}
