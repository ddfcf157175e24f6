/**
 * Intercepts the result of a handler and writes it in the envelope of storage: every successful JSON
 * response. The error filter writes failures, and ContentResponder writes the bytes of files.
 *
 * A method decorator rather than a NestInterceptor: Nest's chain of observables takes about 100 microseconds, a third
 * of what a page of files costs. It writes to Node's response itself, because JSON.stringify() cannot print JsonRows.
 */
import 'reflect-metadata';
import { Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { JsonRows } from '../rows/json-rows';

type Handler = (...parameters: unknown[]) => unknown;

const intercepted = new WeakSet<Handler>();

/** Applied once per handler, even if it is requested several times. */
export function interceptResult(target: object, name: string | symbol, descriptor: PropertyDescriptor): void {
  const handler = descriptor.value as Handler;
  if (intercepted.has(handler)) return;
  const { length } = handler;
  // Nest passes the response after the handler's own parameters, and sends nothing itself if there is a @Res().
  Res()(target, name, length);
  const replacement = async function (this: unknown, ...parameters: unknown[]): Promise<void> {
    write(parameters[length] as ServerResponse, bodyOf(await handler.apply(this, parameters)));
  };
  // Swagger finds the types of parameters by the function's name.
  Object.defineProperty(replacement, 'name', { value: handler.name });
  for (const key of Reflect.getMetadataKeys(handler))
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), replacement);
  intercepted.add(replacement);
  descriptor.value = replacement;
}

const envelope = (data: unknown): string => JSON.stringify({ data, error: null });

/** The text before and after the rows of a list. */
const [HEAD = '', TAIL = ''] = envelope([]).split(/(?<=\[)(?=\])/);
const [LIST_HEAD, LIST_TAIL] = [Buffer.from(HEAD), Buffer.from(TAIL)];

function bodyOf(data: unknown): string | Buffer {
  if (data instanceof JsonRows) return Buffer.concat([LIST_HEAD, ...data.pieces, LIST_TAIL]);
  return envelope(data ?? null);
}

function write(response: ServerResponse, body: string | Buffer): void {
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  };
  response.writeHead(response.statusCode, headers).end(body);
}
