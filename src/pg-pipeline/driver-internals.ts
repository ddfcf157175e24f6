/**
 * The members of node-postgres that this library needs and that neither its documentation nor its type declarations
 * mention. No other file may name further members. The version of `pg` is pinned, and
 * test/integration/pg-pipeline/driver-internals.int-spec.ts fails when an upgrade moves one of them.
 */
import type { EventEmitter } from 'node:events';
import type { Connection, FieldDef, Submittable } from 'pg';

declare module 'pg' {
  interface ClientConfig {
    /** Used by the client instead of a new connection (lib/client.js, constructor). */
    connection?: Connection;
  }

  interface Client {
    /** From BackendKeyData: the server process, and the key that a cancel request must present. Null until connected. */
    readonly processID: number | null;
    readonly secretKey: number | null;
    /** False while an answer of the server is awaited. */
    readonly readyForQuery: boolean;
  }

  interface Connection {
    connect(port: number, host: string): void;
    /** @param path of a Unix socket */
    connect(path: string): void;
    /** Parses what the stream emits as `data` and emits it as events. Call it once, when the stream is ready. */
    attachListeners(stream: EventEmitter): void;
    /** Sends an SSLRequest. If the server agrees, the connection encrypts itself. */
    requestSsl(): void;
    /** Sends a CancelRequest, which takes the place of the startup message. */
    cancel(processId: number, secretKey: number): void;
    /** Refuses a COPY FROM STDIN. */
    sendCopyFail(reason: string): void;
  }

  /** Converts rows to objects with the parsers of pg.types (lib/result.js). */
  interface Result<R extends QueryResultRow> {
    addFields(fields: FieldDef[]): void;
    parseRow(fields: (string | null)[]): R;
    addRow(row: R): void;
  }

  /** lib/utils.js */
  // oxlint-disable-next-line no-unused-vars -- a declaration for importers of pg
  const utils: {
    /** Converts a parameter to text or bytes; its handling of dates, arrays and objects is documented ("Data types"). */
    prepareValue(value: unknown): string | Buffer | null | undefined;
  };
}

/** Events of a Connection: one for each message of the server, named by pg-protocol's parser, and one for TLS. */
export const CONNECTION_EVENTS = {
  rowDescription: 'rowDescription',
  commandComplete: 'commandComplete',
  parameterStatus: 'parameterStatus',
  errorResponse: 'errorMessage',
  /** Emitted when the stream has been encrypted. */
  encrypted: 'sslconnect',
} as const;

/** Methods that Client calls on its query, in addition to submit() (lib/client.js, `_handle...`). */
export interface DriverQuery extends Submittable {
  /** If it returns an Error, the query fails immediately. */
  submit(connection: Connection): Error | null;
  handleRowDescription(message: { fields: FieldDef[] }): void;
  handleDataRow(message: { fields: (string | null)[] }): void;
  handleCommandComplete(): void;
  handleEmptyQuery(): void;
  handlePortalSuspended(): void;
  handleCopyInResponse(connection: Connection): void;
  handleCopyData(): void;
  /** Called for an ErrorResponse, and when the connection is lost. handleReadyForQuery() does not follow. */
  handleError(error: Error & { code?: string }): void;
  handleReadyForQuery(): void;
}
