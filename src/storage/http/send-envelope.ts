/**
 * Writes successes in the storage's envelope (SPEC.md 2.8) for the busiest routes: without the interceptor and Express, which
 * cost more than writing does.
 */
import type { ServerResponse } from 'node:http';

const HEAD = '{"data":';
const TAIL = ',"error":null}';
const LIST_HEAD = Buffer.from(`${HEAD}[`);
const LIST_SEPARATOR = Buffer.from(',');
const LIST_TAIL = Buffer.from(`]${TAIL}`);

/** Answers 200 with `data`. */
export function sendData(response: ServerResponse, data: object): void {
  send(response, `${HEAD}${JSON.stringify(data)}${TAIL}`);
}

/** Answers 200 with a list of records that PostgreSQL wrote, byte by byte as they came. @param records each in JSON */
export function sendRecords(response: ServerResponse, records: readonly Buffer[]): void {
  const separated = records.flatMap((record, index) => (index === 0 ? [record] : [LIST_SEPARATOR, record]));
  send(response, Buffer.concat([LIST_HEAD, ...separated, LIST_TAIL]));
}

function send(response: ServerResponse, body: string | Buffer): void {
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  };
  response.writeHead(200, headers).end(body);
}
