import { AppError } from '../../common/errors/app-error';
import { commonTypes, isAllowed, parseContentType, resolveContentType } from './content-type';

describe('resolveContentType', () => {
  const certain = { kind: 'certain', type: 'text/html' } as const;

  it('trusts the content, whatever type was declared', () => {
    expect(resolveContentType(certain, 'image/png')).toBe('text/html');
    expect(resolveContentType(certain, 'text/plain')).toBe('text/html');
    expect(resolveContentType(certain, null)).toBe('text/html');
  });

  it('keeps the parameters of a declared type that matches', () => {
    expect(resolveContentType(certain, 'text/html; charset=utf-8')).toBe('text/html; charset=utf-8');
  });

  it('uses the declared type if the content does not reveal one', () => {
    expect(resolveContentType({ kind: 'none' }, 'application/x-own')).toBe('application/x-own');
    expect(resolveContentType({ kind: 'text' }, 'text/csv')).toBe('text/csv');
    expect(resolveContentType({ kind: 'text' }, 'application/json')).toBe('application/json');
  });

  it('ignores a declared type that matching content would have revealed', () => {
    expect(resolveContentType({ kind: 'none' }, 'image/png')).toBe('application/octet-stream');
    expect(resolveContentType({ kind: 'text' }, 'image/jpeg')).toBe('text/plain');
    expect(resolveContentType({ kind: 'none' }, 'application/pdf')).toBe('application/octet-stream');
  });

  it('treats application/octet-stream as no declaration', () => {
    expect(resolveContentType({ kind: 'text' }, 'application/octet-stream')).toBe('text/plain');
    expect(resolveContentType({ kind: 'none' }, null)).toBe('application/octet-stream');
  });

  it('treats likely markup as other text only if that is declared', () => {
    const likely = { kind: 'likely', type: 'text/html' } as const;
    expect(resolveContentType(likely, 'text/markdown')).toBe('text/markdown');
    expect(resolveContentType(likely, 'image/png')).toBe('text/html');
    expect(resolveContentType(likely, null)).toBe('text/html');
  });
});

describe('parseContentType', () => {
  it.each([
    ['image/PNG', 'image/png'],
    ['text/plain; charset=UTF-8', 'text/plain; charset=UTF-8'],
    [' application/vnd.api+json ', 'application/vnd.api+json'],
    ['text/x;a="b c"', 'text/x;a="b c"'],
  ])('reads %j', (text, type) => expect(parseContentType(text)).toBe(type));

  it.each([
    '',
    'image',
    'image/',
    '/png',
    'image/png\r\nX-Evil: 1',
    'image/png; x',
    'a b/c',
    'text/plain; charset="a\nb"',
    'text/plain; charset="a\x01b"',
    'text/plain; charset="中"',
    `a/${'b'.repeat(300)}`,
  ])('refuses %j', (text) => expect(() => parseContentType(text)).toThrow(AppError));
});

describe('isAllowed', () => {
  it.each([
    ['image/png', null, true],
    ['image/png', ['image/*'], true],
    ['image/png', ['IMAGE/PNG'], true],
    ['text/plain; charset=utf-8', ['text/plain'], true],
    ['imagex/png', ['image/*'], false],
    ['application/pdf', ['image/*', 'application/pdf'], true],
    ['text/html', ['image/*'], false],
    ['text/html', [], false],
    ['text/html', ['*/*'], true],
  ])('of %s among %j is %s', (type, allowed, expected) => expect(isAllowed(type, allowed)).toBe(expected));
});

describe('commonTypes', () => {
  it.each([
    [null, null, null],
    [['image/*'], null, ['image/*']],
    [
      ['image/*', 'text/plain'],
      ['image/png', 'text/*'],
      ['text/plain', 'image/png'],
    ],
    [['image/png'], ['*/*'], ['image/png']],
    [['image/png'], ['text/plain'], []],
  ])('of %j and %j are %j', (one, other, expected) => {
    expect(commonTypes(one, other)).toEqual(expected);
  });
});
