import { redirectFor } from './redirects';

const allows = (pattern: string, url: string): boolean =>
  redirectFor({ site_url: null, redirect_urls: [pattern] }, url) !== null;

it.each([
  ['https://app.example.com/a', 'https://app.example.com/a'],
  ['https://app.example.com', 'https://app.example.com/'],
  ['https://*.example.com/**', 'https://app.example.com/a/b?c=d'],
  ['https://*.example.com/*', 'https://app.example.com/a'],
  ['https://app.example.com/**', 'https://APP.example.com/'],
  ['https://**.example.com/a?', 'https://a.b.example.com/ab'],
  ['https://app.example.com/a*b**c', 'https://app.example.com/aab/c/abxc'],
  ['https://app.example.com/***', 'https://app.example.com/a/b'],
  ['com.example.app://**', 'com.example.app://callback'],
])('%s allows %s', (pattern, url) => expect(allows(pattern, url)).toBe(true));

it.each([
  ['https://app.example.com/a', 'https://app.example.com/b'],
  ['https://*.example.com/**', 'https://a.b.example.com/'],
  ['https://*.example.com/**', 'https://evil.test/.example.com/'],
  ['https://**.example.com/**', 'https://evil.test/.example.com/'],
  ['https://app.example.com/*', 'https://app.example.com/a/b'],
  ['https://app.example.com/a?', 'https://app.example.com/a/'],
  ['https://app.example.com/a**b', 'https://app.example.com/a/c'],
  ['https://app.example.com/+', 'https://app.example.com/'],
  ['**', 'javascript:alert(1)'],
])('%s does not allow %s', (pattern, url) => expect(allows(pattern, url)).toBe(false));

it('matches many wildcards without backtracking', () => {
  for (const wildcard of ['**', '*'])
    expect(allows(`https://x/${`${wildcard}a`.repeat(200)}b`, `https://x/${'a'.repeat(1_900)}`)).toBe(false);
});
