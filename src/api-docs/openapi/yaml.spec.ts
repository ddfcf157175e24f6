import { load } from 'js-yaml';
import { yamlBlock } from './yaml';

const TEXTS = [
  ...[
    '',
    ' ',
    'plain',
    'two words',
    'yes',
    'No',
    'null',
    '~',
    'true',
    '1',
    '1.0',
    '0x1f',
    '1e3',
    '2026-01-31',
  ],
  ...['a: b', '# c', '- d', '[e]', '{f}', '*', '&a', '!b', '|', '>', '%', '@', '`', '"q"', "it's", '=', '<<'],
  ...['line\nbreak', '\ttab', 'back\\slash', '\u2028\u0085\u007f\ufeff', '🦊', '表', 'trailing ', '__proto'],
  ...['/p/{slug}', '#/components/schemas/A', '.inf', 'nan', '12:30:00', '-1', '--- x', '...'],
];

it.each(TEXTS.map((text) => [text]))('writes %j as a value and as a key', (text) => {
  expect(load(yamlBlock({ [text]: [text, { [text]: text }] }, 0))).toEqual({
    [text]: [text, { [text]: text }],
  });
});

it('writes nested and empty values', () => {
  const value = { a: [], b: {}, c: [[1, [2]], [{ d: null, e: [true, -0.5] }]], f: undefined };
  expect(load(`x:\n${yamlBlock({ y: value }, 2)}`)).toEqual({
    x: { y: JSON.parse(JSON.stringify(value)) as unknown },
  });
  expect(yamlBlock({ x: { a: [{ b: 1, c: 2 }], d: 'e' } }, 2)).toBe(
    '  x:\n    a:\n      - b: 1\n        c: 2\n    d: e\n',
  );
});
