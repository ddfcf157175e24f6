/** What node-postgres has and its type declarations leave out. */
import type { EventEmitter } from 'node:events';

declare module 'pg' {
  interface Connection {
    /** Begins to parse what arrives. */
    attachListeners(stream: EventEmitter): void;
  }
  interface ClientConfig {
    connection?: Connection;
  }
}
