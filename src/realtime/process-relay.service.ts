/**
 * Messages of Realtime between the processes of the installation: over Redis if REDIS_URL is set, otherwise over
 * NOTIFY on the platform database, in pieces, because its payload has less than 8,000 bytes. Messages are lost while
 * the connection is; handlers of gaps recover what must not be lost. Nothing is sent while no other process is known.
 */
import { randomUUID } from 'node:crypto';
import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { messageOf } from '../common/errors/error-facts';
import { isJsonObject, type JsonObject, parseJson } from '../common/text/json';
import { RedisClient } from '../infra/coordination/redis-client';
import { MessageBus } from '../install/message-bus.service';
import { MAX_FRAME_BYTES } from './realtime-limits';

const PREFIX = 'realtime:';
const REDIS_CHANNEL = 'plinth:realtime';
/** Milliseconds between two heartbeats of a process, and milliseconds of silence after which a process counts as dead. */
const ALIVE_MS = 3_000;
const DEAD_MS = 10_000;
/** Characters of a piece, which fits into a payload of NOTIFY together with its header. */
const PIECE = 7_800;
/** Characters of a message, in base64. */
const MAX_TEXT = 4 * MAX_FRAME_BYTES;
/** Maximum characters that wait for PostgreSQL or Redis; further messages are dropped. */
const MAX_WAITING = 16 * 1024 * 1024;
/** Maximum characters that wait for one project. */
const MAX_WAITING_OF_PROJECT = MAX_WAITING / 4;

interface Assembly {
  readonly message: string;
  readonly pieces: string[];
  length: number;
}

@Injectable()
export class ProcessRelay implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ProcessRelay.name);
  /** The name of this process. */
  readonly id = randomUUID();
  private readonly handlers = new Map<string, (from: string, body: JsonObject) => void>();
  private readonly peers = new Map<string, number>();
  private readonly assemblies = new Map<string, Assembly>();
  private readonly endHandlers: ((process: string) => void)[] = [];
  private readonly gapHandlers: (() => void)[] = [];
  private subscriber: Redis | null = null;
  private alive: NodeJS.Timeout | undefined;
  private last: Promise<void> = Promise.resolve();
  private sent = 0;
  private waiting = 0;
  /** True from a message that could not be sent until the next message that is sent. */
  private hasLost = false;
  private readonly waitingOf = new Map<string, number>();
  /** Number of messages that were not sent since the start. */
  dropped = 0;

  constructor(
    private readonly bus: MessageBus,
    private readonly redis: RedisClient,
  ) {}

  onApplicationBootstrap(): void {
    const { connection } = this.redis;
    if (connection) {
      const subscriber = connection.duplicate();
      this.subscriber = subscriber;
      // The error of the first connection was logged already.
      subscriber.on('error', () => undefined);
      subscriber.on('message', (_channel: string, text: string) => this.onMessage(text));
      subscriber.on('ready', () => this.onGap());
      subscriber.subscribe(REDIS_CHANNEL).catch((error: unknown) => this.warn(error));
    } else {
      this.bus.onMessage(PREFIX, (text) => this.onPiece(text));
      this.bus.onGap(() => this.onGap());
    }
    this.alive = setInterval(() => this.live(), ALIVE_MS).unref();
    void this.emit('hello', {});
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.alive);
    await this.emit('bye', {});
    this.subscriber?.disconnect();
  }

  /** Registers the handler for one kind of messages of other processes. Their bodies are not checked. */
  onKind(kind: string, handler: (from: string, body: JsonObject) => void): void {
    this.handlers.set(kind, handler);
  }

  /** Registers a handler for the end of another process. */
  onEnd(handler: (process: string) => void): void {
    this.endHandlers.push(handler);
  }

  /** Registers a handler that is called after messages may have been lost, and when there is a new process. */
  onGap(handler?: () => void): void {
    if (handler) this.gapHandlers.push(handler);
    else for (const one of this.gapHandlers) one();
  }

  /** Sends a message of a project to the other processes. */
  send(projectId: string, kind: string, body: JsonObject): void {
    if (this.peers.size > 0) void this.emit(kind, body, projectId);
  }

  /** @param projectId empty for a message that belongs to no project */
  private async emit(kind: string, body: JsonObject, projectId = ''): Promise<void> {
    const text = JSON.stringify({ from: this.id, kind, body });
    const ofProject = this.waitingOf.get(projectId) ?? 0;
    const isMuch = projectId !== '' && ofProject + text.length > MAX_WAITING_OF_PROJECT;
    if (isMuch || this.waiting + text.length > MAX_WAITING) {
      this.dropped += 1;
      return;
    }
    this.count(projectId, text.length);
    try {
      const sending = this.last.then(() => this.transmit(text));
      // Sent one after the other, so that they arrive in order.
      this.last = sending.catch(() => undefined);
      await sending;
      if (this.hasLost) {
        this.hasLost = false;
        this.onGap();
      }
    } catch (error) {
      this.hasLost = true;
      this.dropped += 1;
      this.warn(error);
    } finally {
      this.count(projectId, -text.length);
    }
  }

  private count(projectId: string, characters: number): void {
    this.waiting += characters;
    const ofProject = (this.waitingOf.get(projectId) ?? 0) + characters;
    if (ofProject > 0) this.waitingOf.set(projectId, ofProject);
    else this.waitingOf.delete(projectId);
  }

  private async transmit(text: string): Promise<void> {
    const { connection } = this.redis;
    if (connection) {
      await connection.publish(REDIS_CHANNEL, text);
      return;
    }
    const base64 = Buffer.from(text).toString('base64');
    const count = Math.ceil(base64.length / PIECE);
    const name = `${this.id}/${(this.sent += 1)}`;
    for (let index = 0; index < count; index += 1) {
      const piece = base64.slice(index * PIECE, (index + 1) * PIECE);
      await this.bus.broadcast(PREFIX, `${name} ${index + 1}/${count} ${piece}`);
    }
  }

  private onPiece(text: string): void {
    const [message = '', position = '', piece = ''] = text.split(' ', 3);
    const [from = ''] = message.split('/', 1);
    const [index, count] = position.split('/').map(Number);
    if (from === this.id) return;
    let assembly = this.assemblies.get(from);
    if (index === 1) this.assemblies.set(from, (assembly = { message, pieces: [], length: 0 }));
    if (!assembly || assembly.message !== message || assembly.pieces.length + 1 !== index) return;
    assembly.pieces.push(piece);
    assembly.length += piece.length;
    if (assembly.length > MAX_TEXT) this.assemblies.delete(from);
    if (index !== count) return;
    this.assemblies.delete(from);
    this.onMessage(Buffer.from(assembly.pieces.join(''), 'base64').toString('utf8'));
  }

  private onMessage(text: string): void {
    const message = parseJson(text);
    if (!isJsonObject(message)) return;
    const { from, kind, body } = message;
    if (typeof from !== 'string' || typeof kind !== 'string' || !isJsonObject(body) || from === this.id)
      return;
    if (kind === 'bye') return this.end(from);
    const isNew = !this.peers.has(from);
    this.peers.set(from, performance.now());
    if (isNew) {
      void this.emit('hello', {});
      this.onGap();
    }
    this.handlers.get(kind)?.(from, body);
  }

  private live(): void {
    void this.emit('hello', {});
    const now = performance.now();
    for (const [id, at] of this.peers) if (now - at > DEAD_MS) this.end(id);
  }

  private end(process: string): void {
    this.assemblies.delete(process);
    if (this.peers.delete(process)) for (const handler of this.endHandlers) handler(process);
  }

  private warn(error: unknown): void {
    this.logger.warn(`a message to other processes was lost: ${messageOf(error)}`);
  }
}
