/** Requests with fetch(), whose answers schemas of zod check and type. */
import { BASE_URL } from './common';
import type { Failure } from './steps';

export interface Schema<T> {
  parse(value: unknown): T;
}

interface Answer {
  readonly status: number;
  readonly data: unknown;
}

export type Send = (method: string, path: string, body?: object, prefer?: string) => Promise<Answer>;

/** @param credentials headers of each request */
export function sender(credentials: Record<string, string>): Send {
  return async (method, path, body, prefer) => {
    const headers = new Headers({ ...credentials, ...(prefer === undefined ? {} : { Prefer: prefer }) });
    const isForm = body instanceof FormData;
    if (body && !isForm) headers.set('Content-Type', 'application/json');
    const init = { method, headers, ...(body && { body: isForm ? body : JSON.stringify(body) }) };
    const response = await fetch(BASE_URL + path, init);
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return { status: response.status, data: isJson ? await response.json() : await response.blob() };
  };
}

export function ok<T>({ data }: Answer, schema: Schema<T>): T {
  return schema.parse(data);
}

export function failed<T>({ status, data }: Answer, schema: Schema<T>): Failure<T> {
  return { status, error: schema.parse(data) };
}
