/** One client: its WebSocket, its channels, and its limits. */
import type { WebSocket } from 'ws';
import type { VerifiedApiKey } from '../access/strategies/api-key.strategy';
import type { ChangeFeedHandle, ChangeSubscription } from '../changes/change-feed';
import type { Caller } from '../access/caller';
import type { ChannelRights } from './channel-rights.repository';
import { encode, type ProtocolVersion, type ServerMessage, type SharedFrame } from './phoenix-protocol';
import { Allowance, BYTES_OF_JSON, BYTES_OF_TOKEN, SOCKET_LIMITS } from './realtime-limits';

/** Close codes (RFC 6455, 7.4.1, and the registry of IANA). */
export const CLOSE = { goingAway: 1001, policy: 1008, restart: 1012, tryLater: 1013 } as const;

/** Milliseconds in which a client has to answer the close frame. */
const CLOSE_MS = 2_000;

/** A listener of a client for changes of a table. */
export interface Binding {
  readonly wanted: Omit<ChangeSubscription, 'caller'>;
  /** The columns that it wants; null for all. */
  readonly select: readonly string[] | null;
  /** Names the listener in messages, also after the subscription was renewed. */
  id: number;
  handle: ChangeFeedHandle | null;
}

/** A channel that a client has joined. */
export interface Channel {
  readonly socket: RealtimeSocket;
  /** The topic as the client sends it: `realtime:room`. */
  readonly topic: string;
  /** The name without `realtime:`. */
  readonly name: string;
  /** Identifies the room of the channel within the project: a private and a public channel of one name are different rooms. */
  readonly room: string;
  readonly isPrivate: boolean;
  readonly joinRef: string | null;
  readonly broadcast: { readonly self: boolean; readonly ack: boolean };
  readonly presenceKey: string;
  /** Whether it gets presence_state and presence_diff. */
  presence: boolean;
  token: string;
  caller: Caller;
  rights: ChannelRights;
  /** Its listeners for changes of tables. */
  readonly bindings: Binding[];
  /** Characters of JSON that it holds. */
  readonly held: { changes: number; presence: number };
  /** Called when the feed of changes has ended: the client has to join again. */
  onUnavailable: () => void;
}

export const roomOf = (name: string, isPrivate: boolean): string =>
  `${isPrivate ? 'private' : 'public'}:${name}`;

export class RealtimeSocket {
  /** Keyed by topic. */
  readonly channels = new Map<string, Channel>();
  readonly messages = new Allowance(SOCKET_LIMITS.messagesPerSecond, SOCKET_LIMITS.messagesAtOnce);
  readonly bytes = new Allowance(SOCKET_LIMITS.bytesPerSecond, SOCKET_LIMITS.bytesAtOnce);
  /** The result of the last measurement. */
  heldBytes = 0;
  /** Milliseconds of the monotonic clock. */
  lastMessageAt = performance.now();

  constructor(
    private readonly socket: WebSocket,
    readonly version: ProtocolVersion,
    readonly apiKeyToken: string,
    public apiKey: VerifiedApiKey,
  ) {}

  get projectId(): string {
    return this.apiKey.project.id;
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /** Bytes that the client has not read yet. */
  get bufferedBytes(): number {
    return this.socket.bufferedAmount;
  }

  /** Approximate bytes that its channels hold. */
  measure(): number {
    const tokens = new Set<string>();
    let characters = 0;
    for (const { token, held } of this.channels.values()) {
      tokens.add(token);
      characters += held.changes + held.presence;
    }
    tokens.delete(this.apiKeyToken);
    let bytes = BYTES_OF_JSON * characters;
    for (const token of tokens) bytes += BYTES_OF_TOKEN * token.length;
    return bytes;
  }

  send(message: ServerMessage): void {
    this.write(encode(this.version, message), false);
  }

  sendShared(frame: SharedFrame): void {
    const data = frame.for(this.version);
    if (data) this.write(data, frame.isBinary);
  }

  reply(
    message: { topic: string; ref: string | null; joinRef: string | null },
    status: 'ok' | 'error',
    response: object,
  ): void {
    const payload = JSON.stringify({ status, response });
    const { topic, ref, joinRef } = message;
    this.send({ topic, event: 'phx_reply', payload, ref, joinRef });
  }

  /** A `system` message, which supabase-js gives to its listeners. */
  system(
    channel: Channel,
    status: 'ok' | 'error',
    message: string,
    extension = 'system',
    more: object = {},
  ): void {
    const { topic, name, joinRef } = channel;
    const payload = JSON.stringify({ status, message, extension, channel: name, ...more });
    this.send({ topic, event: 'system', payload, joinRef });
  }

  /** Reads no further messages until resume(). */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(code: number, reason: string): void {
    if (this.socket.readyState >= this.socket.CLOSING) return;
    // A paused connection would not read the client's answer.
    this.socket.resume();
    this.socket.close(code, reason);
    setTimeout(() => this.socket.terminate(), CLOSE_MS).unref();
  }

  private write(data: Buffer, binary: boolean): void {
    if (!this.isOpen) return;
    this.socket.send(data, { binary }, () => undefined);
    if (this.socket.bufferedAmount > SOCKET_LIMITS.bufferedBytes)
      this.close(CLOSE.policy, 'slow reader: too many messages wait for this client');
  }
}
