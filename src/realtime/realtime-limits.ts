/** What a socket and a project may use in one process (docs/reference/realtime.md, "Limits"). */

/** Maximum bytes of a frame from a client. ws closes the connection with 1009 before it reads more. */
export const MAX_FRAME_BYTES = 256 * 1024;
/** Maximum characters of a topic, whose length is one byte in a binary frame. */
export const MAX_TOPIC_LENGTH = 255;
/** Maximum levels of arrays and objects in a message. */
export const MAX_NESTING = 64;

export const SOCKET_LIMITS = {
  channels: 100,
  /** Maximum number of subscriptions to changes per channel. */
  bindings: 100,
  messagesPerSecond: 100,
  messagesAtOnce: 300,
  bytesPerSecond: 1024 * 1024,
  bytesAtOnce: 4 * 1024 * 1024,
  /** Maximum bytes that wait for a client. */
  bufferedBytes: 2 * 1024 * 1024,
  /** Maximum milliseconds without a message from the client, which sends a heartbeat every 25 seconds. */
  silenceMs: 70_000,
} as const;

export const PROJECT_LIMITS = {
  channels: 100_000,
  /**
   * Maximum bytes, approximately, that the channels of a project hold: tokens with their claims, listeners
   * for changes, presences.
   */
  heldBytes: 128 * 1024 * 1024,
  /** Maximum number of messages that wait for delivery, and of their bytes. */
  queuedMessages: 10_000,
  queuedBytes: 32 * 1024 * 1024,
} as const;

/** Maximum bytes that wait for all clients of this process; the client with the most is closed first. */
export const PROCESS_BUFFERED_BYTES = 256 * 1024 * 1024;

export const PRESENCE_LIMITS = {
  /** Maximum characters of the JSON that a client tracks about itself. */
  metaLength: 4 * 1024,
  keyLength: 255,
  /** Maximum number of presences of a channel, and of characters of their JSON: each joining client gets the whole list. */
  ofChannel: 5_000,
  charactersOfChannel: 1024 * 1024,
} as const;

/** Maximum bytes of memory that a character of JSON takes: `[]` is an object. */
export const BYTES_OF_JSON = 16;
/** Bytes of memory that a character of a token takes: its claims are kept as text and as an object. */
export const BYTES_OF_TOKEN = 3;

/** Limits the messages of a client: `perSecond` on average, `atOnce` after a pause. */
export class Allowance {
  private left: number;
  private at = performance.now();

  constructor(
    private readonly perSecond: number,
    private readonly atOnce: number,
  ) {
    this.left = atOnce;
  }

  /** False if the allowance is used up. */
  take(amount: number): boolean {
    const now = performance.now();
    this.left = Math.min(this.atOnce, this.left + ((now - this.at) * this.perSecond) / 1_000);
    this.at = now;
    if (this.left < amount) return false;
    this.left -= amount;
    return true;
  }
}
