import { areaOf, methodOf } from './request-area';

describe('the labels of a request', () => {
  it.each([
    ['/rest/v1/notes?select=*', 'rest'],
    ['/p/acme/rest/v1/notes', 'rest'],
    ['/p/acme/storage/buckets', 'storage'],
    ['/v1/auth/k3v9/login', 'auth'],
    ['/admin/v1/projects', 'admin'],
    ['/p/acme/openapi.json', 'other'],
    ['/p/acme', 'other'],
    ['/p/', 'other'],
    ['/health/live', 'other'],
    ['/', 'other'],
    ['*', 'other'],
    ['/%00/../rest/v1', 'other'],
  ])('puts %s into %s', (url, area) => expect(areaOf(url)).toBe(area));

  it('counts unknown methods together', () => {
    expect(methodOf('PATCH')).toBe('PATCH');
    expect(methodOf('PROPFIND')).toBe('OTHER');
    expect(methodOf(undefined)).toBe('OTHER');
  });
});
