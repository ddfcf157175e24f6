/**
 * The frames of Phoenix channels, as realtime-js sends and reads them. Version 1.0.0 has JSON objects, version 2.0.0
 * JSON arrays and, for broadcasts, binary frames: kind 3 from a client, kind 4 to a client. All input is untrusted.
 */
import { isJsonObject, isNestedDeeper, type JsonObject, parseJson } from '../common/text/json';
import { MAX_NESTING, MAX_TOPIC_LENGTH } from './realtime-limits';

export type ProtocolVersion = '1.0.0' | '2.0.0';

export interface ClientMessage {
  readonly joinRef: string | null;
  readonly ref: string | null;
  readonly topic: string;
  readonly event: string;
  readonly payload: JsonObject;
  /** The payload of a broadcast that is not JSON. */
  readonly bytes?: Buffer;
}

/** A message to clients; encoded once for each version. */
export interface ServerMessage {
  readonly topic: string;
  readonly event: string;
  /** JSON text. */
  readonly payload: string;
  readonly joinRef?: string | null;
  readonly ref?: string | null;
}

/** A broadcast whose payload is bytes; clients of version 1.0.0 cannot receive it. */
export interface BytesMessage {
  readonly topic: string;
  /** The event of the application. */
  readonly userEvent: string;
  readonly bytes: Buffer;
}

const USER_BROADCAST_PUSH = 3;
const USER_BROADCAST = 4;
const JSON_ENCODING = 1;
const PUSH_HEADER_BYTES = 7;

/** Null for text that is not a message. */
export function readText(version: ProtocolVersion, text: string): ClientMessage | null {
  if (isNestedDeeper(text, MAX_NESTING)) return null;
  const value = parseJson(text);
  if (version === '1.0.0') {
    if (!isJsonObject(value)) return null;
    return toMessage([value.join_ref, value.ref, value.topic, value.event, value.payload]);
  }
  return Array.isArray(value) && value.length === 5 ? toMessage(value) : null;
}

function toMessage([joinRef, ref, topic, event, payload]: readonly unknown[]): ClientMessage | null {
  if (!isRef(joinRef) || !isRef(ref) || !isName(topic) || !isName(event)) return null;
  const object = payload ?? {};
  return isJsonObject(object)
    ? { joinRef: joinRef ?? null, ref: ref ?? null, topic, event, payload: object }
    : null;
}

const isRef = (value: unknown): value is string | null | undefined =>
  value === null || value === undefined || (typeof value === 'string' && value.length <= MAX_TOPIC_LENGTH);

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TOPIC_LENGTH;

/**
 * A broadcast of version 2.0.0: kind, the lengths of five texts, the encoding of the payload, the texts, and the payload.
 * Null if the lengths do not fit, or if the payload is not what its encoding says.
 */
export function readBinary(data: Buffer): ClientMessage | null {
  if (data.length < PUSH_HEADER_BYTES || data[0] !== USER_BROADCAST_PUSH) return null;
  const [, ...lengths] = data.subarray(0, 6);
  const encoding = data[6];
  let at = PUSH_HEADER_BYTES;
  if (at + lengths.reduce((sum, length) => sum + length, 0) > data.length) return null;
  const [joinRef, ref, topic, userEvent] = lengths.map((length) =>
    data.toString('utf8', at, (at += length)),
  ) as [string, string, string, string, string];
  if (!isName(topic) || !isName(userEvent)) return null;
  const head = { joinRef: joinRef || null, ref: ref || null, topic, event: 'broadcast' };
  const payload = { type: 'broadcast', event: userEvent };
  const rest = data.subarray(at);
  if (encoding !== JSON_ENCODING)
    return encoding === 0 ? { ...head, payload, bytes: Buffer.from(rest) } : null;
  const json = rest.toString('utf8');
  if (isNestedDeeper(json, MAX_NESTING)) return null;
  const value = parseJson(json);
  return value === undefined ? null : { ...head, payload: { ...payload, payload: value as JsonObject } };
}

export function encode(version: ProtocolVersion, message: ServerMessage): Buffer {
  const { topic, event, payload, joinRef = null, ref = null } = message;
  const text = (value: string | null): string => JSON.stringify(value);
  return Buffer.from(
    version === '1.0.0'
      ? `{"topic":${text(topic)},"event":${text(event)},"payload":${payload},"ref":${text(ref)},"join_ref":${text(joinRef)}}`
      : `[${text(joinRef)},${text(ref)},${text(topic)},${text(event)},${payload}]`,
  );
}

function encodeBytes({ topic, userEvent, bytes }: BytesMessage): Buffer {
  const texts = [Buffer.from(topic), Buffer.from(userEvent)];
  const lengths = texts.map(({ length }) => length);
  // A name of 255 characters may have more bytes than its length field can express.
  if (lengths.some((length) => length > 255)) return Buffer.alloc(0);
  return Buffer.concat([Buffer.from([USER_BROADCAST, ...lengths, 0, 0]), ...texts, bytes]);
}

/** A message to all members of a channel, encoded when the first client of a version gets it. */
export class SharedFrame {
  private readonly encoded = new Map<ProtocolVersion, Buffer | null>();

  constructor(readonly message: ServerMessage | BytesMessage) {}

  get isBinary(): boolean {
    return 'bytes' in this.message;
  }

  /** Approximate size in bytes. */
  get size(): number {
    return 'bytes' in this.message ? this.message.bytes.length : this.message.payload.length;
  }

  /** Null if clients of that version cannot receive it. */
  for(version: ProtocolVersion): Buffer | null {
    let frame = this.encoded.get(version);
    if (frame === undefined) this.encoded.set(version, (frame = this.encode(version)));
    return frame;
  }

  private encode(version: ProtocolVersion): Buffer | null {
    if (!('bytes' in this.message)) return encode(version, this.message);
    const frame = version === '1.0.0' ? null : encodeBytes(this.message);
    return frame && frame.length > 0 ? frame : null;
  }
}
