import { assertPlainXml, withoutComments } from './saml-document';

it('removes comments in linear time', () => {
  expect(withoutComments('a<!-- b --><c/><!----><!-- <d> -- -->e')).toBe('a<c/>e');
  expect(() => withoutComments('a<!-- b ->')).toThrow('a comment has no end');
  // A new search from each beginning would take minutes.
  expect(() => withoutComments('<!--'.repeat(1_000_000))).toThrow('a comment has no end');
});

it('refuses documents with too many tags or attributes for one turn of the event loop', () => {
  expect(() => assertPlainXml('<a/>'.repeat(1_500), 1_500)).toThrow('more than 1500 tags');
  expect(() => assertPlainXml(`<a ${'b="" '.repeat(4_000)}/>`)).toThrow('more than 4000 attributes');
  expect(() => assertPlainXml(`<a>${'<b c=""/>'.repeat(1_000)}</a>`, 1_500)).not.toThrow();
});
