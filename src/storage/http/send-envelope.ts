/**
 * Writes successes in the storage's envelope (SPEC.md 2.8) for the busiest routes: without the interceptor and Express, which
 * cost more than writing does.
 */
import type { ServerResponse } from 'node:http';

const HEAD = '{"data":';
const TAIL = ',"error":null}';
const LIST_HEAD = Buffer.from(`${HEAD}[`);
const LIST_TAIL = Buffer.from(`]${TAIL}`);

/** Answers with `data`. */
export function sendData(response: ServerResponse, data: object, status = 200): void {
  send(response, status, `${HEAD}${JSON.stringify(data)}${TAIL}`);
}

/** Answers 200 with a list. @param records in JSON with commas between, in pieces of any size */
export function sendRecords(response: ServerResponse, records: readonly Buffer[]): void {
  send(response, 200, Buffer.concat([LIST_HEAD, ...records, LIST_TAIL]));
}

function send(response: ServerResponse, status: number, body: string | Buffer): void {
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  };
  response.writeHead(status, headers).end(body);
}
