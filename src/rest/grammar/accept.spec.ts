import { parseAccept, formatMediaType } from './media-type';
import { refusalOf } from '../../../test/support/grammar';

function accepted(header: string | null): string[] {
  return parseAccept(header).map(formatMediaType);
}

describe('parseAccept', () => {
  it.each([
    [null, ['*/*']],
    ['', ['*/*']],
    [' , ', ['*/*']],
    ['*/*', ['*/*']],
    ['text/unknowntype, */*', ['text/unknowntype', '*/*']],
    ['*/*, text/csv', ['text/csv', '*/*']],
    ['text/csv, application/json', ['text/csv', 'application/json']],
    ['text/csv;q=0.5, application/json', ['application/json', 'text/csv']],
    ['text/csv;q=0.5, application/json;q=0.9, */*;q=0.1', ['application/json', 'text/csv', '*/*']],
    ['text/csv; q=0.8, text/*, application/json; q=0.8', ['text/*', 'text/csv', 'application/json']],
    ['application/json;q=0, text/csv', ['text/csv']],
    ['application/json;q=0', []],
    ['application/json;q=2, text/csv;q=x', ['application/json', 'text/csv']],
    [
      'application/json, application/vnd.pgrst.object+json;nulls=stripped',
      ['application/vnd.pgrst.object+json;nulls=stripped', 'application/json'],
    ],
    [
      'application/vnd.pgrst.plan+json; for="text/csv"; options=analyze|verbose, text/csv',
      ['application/vnd.pgrst.plan+json; for="text/csv"; options=analyze|verbose', 'text/csv'],
    ],
    ['foo/bar; x="a,b;q=0", text/csv', ['foo/bar', 'text/csv']],
    [
      'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8',
      ['text/html', 'application/xhtml+xml', 'image/webp', 'application/xml', '*/*'],
    ],
  ])('orders %j', (header, types) => {
    expect(accepted(header)).toEqual(types);
  });

  it('refuses too many types', () => {
    expect(refusalOf(() => parseAccept('a/b,'.repeat(101))).code).toBe('PL153');
  });
});
