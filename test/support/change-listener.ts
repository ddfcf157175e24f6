/** Streams of a table's changes. */
import { EventReader } from './event-stream';
import { until } from './eventually';
import type { HttpClient } from './http-client';

/** Resolves when the given rows have arrived or, with Last-Event-ID, when the headers have arrived. */
export async function listen(
  client: HttpClient,
  path: string,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const given = {
    baseUrl: client.baseUrl,
    headers: { ...client.headers, accept: 'text/event-stream', ...headers },
  };
  const reader = await EventReader.open(given as unknown as HttpClient, path);
  if (reader.status === 200 && !headers['last-event-id']) await until(() => reader.of('ready').length > 0);
  return reader;
}
