/** Statements about private channels: who may receive and send (policies on realtime.messages), and the messages in that table. */
import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/caller';
import { isJsonObject, type JsonValue, parseJson } from '../common/text/json';
import { UUID } from '../common/text/uuid';
import { Slices } from '../common/time/slices';
import type { ProjectDatabase } from '../database/pools/project-database';
import { roleContext } from '../database/rls/rls-context';
import { RlsTransaction } from '../database/rls/rls-transaction';
import { SERVICE_ROLE } from '../projects/project-keys';
import { MAX_FRAME_BYTES, MAX_TOPIC_LENGTH } from './realtime-limits';

export interface ChannelRights {
  readonly receiveBroadcast: boolean;
  readonly sendBroadcast: boolean;
  readonly receivePresence: boolean;
  readonly sendPresence: boolean;
}

/** The rights of every client in a public channel. */
export const ALL_RIGHTS: ChannelRights = {
  receiveBroadcast: true,
  sendBroadcast: true,
  receivePresence: true,
  sendPresence: true,
};

/** A message that SQL inserted. */
export interface StoredMessage {
  readonly id: string;
  readonly topic: string;
  readonly event: string;
  readonly isPrivate: boolean;
  readonly payload: JsonValue;
}

/** Maximum bytes of a query's result: a batch of the largest messages has less. */
const MAX_READ_BYTES = 32 * 1024 * 1024;

/** Maximum characters of a message: the owner may have changed the types of the table's columns. */
const MAX_MESSAGE = 2 * MAX_FRAME_BYTES;

const COLUMNS = `json_build_object('id', id, 'topic', topic, 'event', event, 'isPrivate', coalesce(private, false),
  'payload', payload)::text`;
const FITTING = `extension = 'broadcast' and event <> '' and octet_length(event) <= 255
  and octet_length(payload::text) <= ${MAX_FRAME_BYTES}`;

@Injectable()
export class ChannelRightsRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** Evaluates the policies in the caller's context. @throws DatabaseFault caller_refused for a session that ended */
  async find(caller: Caller, name: string): Promise<ChannelRights> {
    if (caller.role === SERVICE_ROLE) return ALL_RIGHTS;
    const text = `select pg_catalog.array_to_string(realtime.channel_rights($1, $2), ',') as rights`;
    const { rows } = await this.rls.query(
      caller,
      { text, values: [name, caller.role] },
      { callsFunction: true },
    );
    const rights = new Set(String(rows[0]?.rights ?? '').split(','));
    return {
      receiveBroadcast: rights.has('select broadcast'),
      sendBroadcast: rights.has('insert broadcast'),
      receivePresence: rights.has('select presence'),
      sendPresence: rights.has('insert presence'),
    };
  }

  /** Messages by their ids, in that order. */
  async findByIds(database: ProjectDatabase, ids: readonly string[]): Promise<StoredMessage[]> {
    const text = `select ${COLUMNS} as message from realtime.messages where id = any($1::uuid[]) and ${FITTING}
      order by pg_catalog.array_position($1::uuid[], id)`;
    return this.read(database, text, [`{${ids.join()}}`]);
  }

  /** Messages of the last seconds, the oldest first. */
  async findRecent(database: ProjectDatabase, seconds: number, most: number): Promise<StoredMessage[]> {
    const text = `select ${COLUMNS} as message from realtime.messages
      where inserted_at > now() - pg_catalog.make_interval(secs => $1::float8) and ${FITTING} order by inserted_at limit $2::int`;
    return this.read(database, text, [String(seconds), String(most)]);
  }

  /** The last messages of a private channel, the oldest first. @param since milliseconds since the epoch */
  async findForReplay(
    database: ProjectDatabase,
    name: string,
    since: number,
    limit: number,
  ): Promise<StoredMessage[]> {
    const text = `select message from (
      select ${COLUMNS} as message, inserted_at from realtime.messages
      where topic = $1 and private and inserted_at >= pg_catalog.to_timestamp($2::float8 / 1000) and ${FITTING}
      order by inserted_at desc limit $3::int) last order by inserted_at`;
    return this.read(database, text, [name, String(since), String(limit)]);
  }

  /** Reads with the rights of service_role: access was decided when the channel was joined. */
  private async read(database: ProjectDatabase, text: string, values: string[]): Promise<StoredMessage[]> {
    const { rows } = await this.rls.query(roleContext(database, SERVICE_ROLE), {
      text,
      values,
      maxBytes: MAX_READ_BYTES,
    });
    const slices = new Slices();
    const messages: StoredMessage[] = [];
    for (const row of rows) {
      const message = toMessage(row.message);
      if (message) messages.push(message);
      if (slices.isOver) await slices.yieldToLoop();
    }
    return messages;
  }
}

/** Null for a row that cannot belong to a channel. */
function toMessage(row: unknown): StoredMessage | null {
  const value = typeof row === 'string' && row.length <= MAX_MESSAGE ? parseJson(row) : null;
  if (!isJsonObject(value)) return null;
  const { id, topic, event, isPrivate, payload = null } = value;
  if (typeof id !== 'string' || !UUID.test(id) || typeof topic !== 'string' || typeof event !== 'string')
    return null;
  if (topic === '' || topic.length > MAX_TOPIC_LENGTH) return null;
  return { id, topic, event, isPrivate: isPrivate === true, payload };
}
