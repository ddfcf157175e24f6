import { inOneLine } from './visible-text';

it.each([
  ['two\r\nlines\n', 'two⏎lines⏎'],
  ['abc\u202edef\u2066', 'abc⟨U+202E⟩def⟨U+2066⟩'],
  ['\u061cx', '⟨U+061C⟩x'],
  ['a  b\tc עברית', 'a  b\tc עברית'],
])('shows %j as %j', (text, shown) => {
  expect(inOneLine(text)).toBe(shown);
});
