import { parseRestRequest } from './parse-rest-request';
import { refusalOf } from '../../../test/support/grammar';
import type { RawRestRequest, RequestShape } from './rest-request';

function request(more: Partial<RawRestRequest> = {}): RequestShape {
  return parseRestRequest({
    method: 'GET',
    target: 'items',
    kind: 'table',
    queryString: '',
    headers: {},
    ...more,
  }).shape;
}

describe('parseRestRequest', () => {
  it('gives a bare request its defaults', () => {
    expect(request()).toMatchObject({
      kind: 'table',
      method: 'GET',
      target: { text: 'items' },
      query: { select: [{ kind: 'star' }], filters: [] },
      window: { limit: null, offset: 0 },
      preferences: { return: null, unknown: [] },
      accept: [{ kind: 'any' }],
      contentType: { kind: 'json' },
      profile: null,
    });
  });

  it('reads the headers', () => {
    const headers = {
      prefer: ['return=minimal', 'count=exact'],
      accept: 'text/csv',
      'content-type': 'text/csv; charset=utf-8',
      range: '5-9',
      'range-unit': 'items',
      'accept-profile': 'api',
      'content-profile': 'other',
    };
    expect(request({ headers })).toMatchObject({
      preferences: { return: 'minimal', count: 'exact' },
      accept: [{ kind: 'csv' }],
      contentType: { kind: 'csv' },
      window: { limit: 5, offset: 5 },
      profile: 'api',
    });
  });

  it.each(['GET', 'HEAD', 'OPTIONS'])('takes the profile of %s from Accept-Profile', (method) => {
    const headers = { 'accept-profile': 'a', 'content-profile': 'c' };
    expect(request({ method, headers }).profile).toBe('a');
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('takes the profile of %s from Content-Profile', (method) => {
    const headers = { 'accept-profile': 'a', 'content-profile': 'c' };
    expect(request({ method, headers }).profile).toBe('c');
  });

  it('reads a profile beyond ASCII, which Node gives as bytes', () => {
    const bytes = Buffer.from('تست', 'utf8').toString('latin1');
    expect(request({ headers: { 'accept-profile': bytes } }).profile).toBe('تست');
  });

  it('narrows limit and offset by the Range header, only for GET', () => {
    const more = { queryString: 'limit=10&offset=2', headers: { range: '0-4' } };
    expect(request(more).window).toEqual({ limit: 3, offset: 2 });
    expect(request({ ...more, kind: 'rpc' }).window).toEqual({ limit: 3, offset: 2 });
    expect(request({ ...more, method: 'HEAD' }).window).toEqual({ limit: 10, offset: 2 });
    expect(request({ ...more, method: 'PATCH' }).window).toEqual({ limit: 10, offset: 2 });
  });

  it('does not confuse the window of an embed with the root’s', () => {
    expect(request({ queryString: 'clients.limit=1' }).window).toEqual({ limit: null, offset: 0 });
  });

  it.each([
    ['GET', true],
    ['HEAD', true],
    ['POST', false],
    ['OPTIONS', false],
  ])('searches for arguments of a function in a %s: %s', (method, has) => {
    const { query } = request({ kind: 'rpc', method, queryString: 'id=eq.1' });
    expect(query.callParameters).toHaveLength(has ? 1 : 0);
    expect(query.filters).toHaveLength(has ? 0 : 1);
  });

  it.each<[Partial<RawRestRequest>, string, string]>([
    [{ method: 'TRACE' }, 'PL117', 'Unsupported HTTP method: TRACE'],
    [{ method: 'get' }, 'PL117', 'Unsupported HTTP method: get'],
    [{ method: 'PUT', kind: 'rpc' }, 'PL101', 'Cannot use the PUT method on RPC'],
    [{ method: 'PATCH', kind: 'rpc' }, 'PL101', 'Cannot use the PATCH method on RPC'],
    [{ method: 'DELETE', kind: 'rpc' }, 'PL101', 'Cannot use the DELETE method on RPC'],
    [
      { method: 'PUT', queryString: 'limit=1' },
      'PL114',
      'limit/offset querystring parameters are not allowed for PUT',
    ],
    [
      { method: 'PUT', queryString: 'offset=1' },
      'PL114',
      'limit/offset querystring parameters are not allowed for PUT',
    ],
    [{ headers: { range: '1-0' } }, 'PL103', 'Requested range not satisfiable'],
    [{ target: '%zz' }, 'PL150', 'The path is not properly encoded'],
    [{ queryString: 'a=%ff' }, 'PL150', 'The query string is not properly encoded'],
    [{ headers: { prefer: 'x'.repeat(8_193) } }, 'PL151', 'The prefer header is too long'],
    [{ headers: { accept: 'x,'.repeat(200) } }, 'PL153', 'The request has too many items in a header'],
  ])('refuses %j with %s', (more, code, message) => {
    expect(refusalOf(() => request(more))).toMatchObject({ code, message });
  });
});
