/** The mutator of orval's clients for fetch(): one that knows the server's URL. */
import { BASE_URL } from './common';

export async function fetcher<T>(path: string, init: RequestInit): Promise<T> {
  const response = await fetch(BASE_URL + path, init);
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  const data: unknown = isJson ? await response.json() : await response.blob();
  return { status: response.status, data, headers: response.headers } as T;
}
