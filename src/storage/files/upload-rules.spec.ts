import { AppError } from '../../common/errors/app-error';
import { assertFilename } from './upload-rules';

describe('assertFilename', () => {
  it.each([
    'a.txt',
    'a/b/c.txt',
    '日本語.pdf',
    'naïve “quotes”.md',
    '...',
    '..a',
    'a..',
    'x'.repeat(1_024),
    '🦆',
    'a\'b"c\\d',
  ])('takes %j', (name) => expect(() => assertFilename(name)).not.toThrow());

  it.each([
    ['an empty name', ''],
    ['a NUL', 'a\0b'],
    ['a line break', 'a\nb'],
    ['a C1 control character', 'a\u0085b'],
    ['DEL', 'a\x7fb'],
    ['the segment ..', '../a'],
    ['the segment .. in the middle', 'a/../b'],
    ['the segment ..  at the end', 'a/..'],
    ['the segment .', './a'],
    ['nothing but ..', '..'],
    ['1,025 bytes', 'x'.repeat(1_025)],
    ['1,025 bytes in fewer characters', 'ü'.repeat(513)],
    ['half a surrogate pair', 'a\ud800b'],
  ])('refuses %s', (_case, name) => {
    expect(() => assertFilename(name)).toThrow(AppError);
  });
});
