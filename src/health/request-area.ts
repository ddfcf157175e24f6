/** The label of a request in the metrics: a closed list, so that no URL can make new time series. */

export type Area = 'auth' | 'rest' | 'storage' | 'admin' | 'other';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** @param url as it stands in the request line: `/p/acme/rest/v1/notes?id=eq.1` */
export function areaOf(url: string): Area {
  if (url.startsWith('/rest/v1')) return 'rest';
  if (url.startsWith('/v1/auth/')) return 'auth';
  if (url.startsWith('/admin/')) return 'admin';
  if (!url.startsWith('/p/')) return 'other';
  const rest = url.indexOf('/', 3);
  if (rest < 0) return 'other';
  if (url.startsWith('/rest/v1', rest)) return 'rest';
  return url.startsWith('/storage', rest) ? 'storage' : 'other';
}

export function methodOf(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : 'OTHER';
}
