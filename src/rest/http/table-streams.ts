/** `Accept: text/event-stream` on a table. The changes of tables are a feature on top of table REST, which registers itself here. */
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../../access/caller';
import type { RawRestRequest } from '../grammar/rest-request';

type StreamHandler = (caller: Caller, raw: RawRestRequest, response: Response) => Promise<void>;

const EVENT_STREAM = /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i;

@Injectable()
export class TableStreams {
  private handler: StreamHandler | null = null;

  register(handler: StreamHandler): void {
    this.handler = handler;
  }

  /** The handler for a request that asks for events; null for other requests. */
  handlerOf({ method, kind, headers }: RawRestRequest): StreamHandler | null {
    const { accept } = headers;
    if (accept === undefined || method !== 'GET' || kind !== 'table') return null;
    return typeof accept === 'string' && EVENT_STREAM.test(accept) ? this.handler : null;
  }
}
