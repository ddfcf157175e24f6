/** A request with a secret in some part of it where a client could put the secret by mistake. */

export interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | FormData;
}

/** Requests that carry a secret in the same part. */
export type Place = (address: string, secret: string) => Attempt[];

const query = (address: string, text: string): string => address + (address.includes('?') ? '&' : '?') + text;
const send = (path: string, body: string, type = 'application/json', method = 'POST'): Attempt => ({
  method,
  path,
  body,
  headers: { 'content-type': type },
});

function formWith(secret: string): FormData {
  const form = new FormData();
  form.append(secret, secret);
  form.append('file', new Blob([secret]), secret);
  return form;
}

const HEADERS = [
  'apikey',
  'authorization',
  'x-api-key',
  'cookie',
  'referer',
  'accept',
  'accept-language',
  'accept-profile',
  'content-profile',
  'prefer',
  'range',
  'range-unit',
  'if-none-match',
  'if-modified-since',
  'content-encoding',
  'x-forwarded-for',
  'origin',
  'x-upsert',
];

export const PLACES: Readonly<Record<string, Place>> = {
  'the query string': (address, secret) =>
    ['apikey', 'token', 'password', 'select', 'order', 'limit', 'on_conflict', secret].flatMap((name) =>
      ['GET', 'POST'].map((method) => ({
        method,
        path: query(address, `${encodeURIComponent(name)}=${encodeURIComponent(secret)}`),
      })),
    ),
  'the path': (address, secret) =>
    [
      `${address}/${encodeURIComponent(secret)}`,
      `/${encodeURIComponent(secret)}${address}`,
      `${address}/%ff${encodeURIComponent(secret)}`,
    ].flatMap((path) => ['GET', 'POST'].map((method) => ({ method, path }))),
  'a header': (path, secret) =>
    HEADERS.flatMap((name) =>
      [secret, `Bearer x ${secret}`, `handling=strict, ${secret}=1`].map((value) => ({
        method: 'GET',
        path,
        headers: { [name]: value },
      })),
    ),
  'a body': (path, secret) => {
    const text = JSON.stringify(secret);
    return [
      ...[
        text,
        `[${text}]`,
        `{${text}:${text}}`,
        `{"password":${text},"email":${text}}`,
        `{"query":${text}}`,
      ].map((body) => send(path, body)),
      ...[`{"password":"${secret}`, `${secret}{}`, `{"a":1}${secret}`].map((body) => send(path, body)),
      send(path, `password=${encodeURIComponent(secret)}&%zz=${secret}`, 'application/x-www-form-urlencoded'),
      send(path, `id,text\n"${secret}`, 'text/csv'),
      send(path, secret, 'text/plain'),
      send(path, secret, `application/${secret.replace(/\W/g, '')}`),
      send(path, `--x\r\n${secret}`, 'multipart/form-data; boundary=x'),
      send(path, `{${text}:${text}}`, undefined, 'PATCH'),
      { method: 'POST', path, body: formWith(secret) },
    ];
  },
};
