import { assertPlainXml, withoutComments } from './saml-document';

it('leaves out comments, in a time that grows with the length alone', () => {
  expect(withoutComments('a<!-- b --><c/><!----><!-- <d> -- -->e')).toBe('a<c/>e');
  expect(() => withoutComments('a<!-- b ->')).toThrow('a comment has no end');
  // Searched anew from each beginning, this would take minutes.
  expect(() => withoutComments('<!--'.repeat(1_000_000))).toThrow('a comment has no end');
});

it('refuses more tags and attributes than a parser takes in a turn of the event loop', () => {
  expect(() => assertPlainXml('<a/>'.repeat(1_500), 1_500)).toThrow('more than 1500 tags');
  expect(() => assertPlainXml(`<a ${'b="" '.repeat(4_000)}/>`)).toThrow('more than 4000 attributes');
  expect(() => assertPlainXml(`<a>${'<b c=""/>'.repeat(1_000)}</a>`, 1_500)).not.toThrow();
});
