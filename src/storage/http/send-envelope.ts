/** Writes a list of records that PostgreSQL made into the storage's envelope (SPEC.md 2.8), byte by byte as they came. */
import type { ServerResponse } from 'node:http';

const HEAD = Buffer.from('{"data":[');
const SEPARATOR = Buffer.from(',');
const TAIL = Buffer.from('],"error":null}');

/** @param records each in JSON */
export function sendRecords(response: ServerResponse, records: readonly Buffer[]): void {
  const separated = records.flatMap((record, index) => (index === 0 ? [record] : [SEPARATOR, record]));
  const body = Buffer.concat([HEAD, ...separated, TAIL]);
  response
    .writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length })
    .end(body);
}
