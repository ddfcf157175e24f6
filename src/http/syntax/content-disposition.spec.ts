import { contentDisposition } from './content-disposition';

describe('contentDisposition', () => {
  it.each([
    ['a.txt', 'attachment; filename="a.txt"'],
    ['dir/sub/a b.txt', 'attachment; filename="a b.txt"'],
    ['résumé.pdf', `attachment; filename="resume.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf`],
    ['日本.png', `attachment; filename="__.png"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.png`],
    ['a"b\\c.txt', `attachment; filename="a_b_c.txt"; filename*=UTF-8''a%22b%5Cc.txt`],
    ["it's (1)*.txt", `attachment; filename="it's (1)*.txt"`],
    ["ü's (1)*.txt", `attachment; filename="u's (1)*.txt"; filename*=UTF-8''%C3%BC%27s%20%281%29%2A.txt`],
    ['100%.txt', `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`],
    ['dir/', 'attachment; filename="file"'],
  ])('of %j', (name, header) => expect(contentDisposition('attachment', name)).toBe(header));

  it('keeps line breaks, NUL and half surrogates out of the header', () => {
    const header = contentDisposition('inline', 'a\r\nSet-Cookie: x=1\0\ud800"; filename=evil');
    expect(header).not.toMatch(/[^\x20-\x7e]/);
    expect(header.split('"')).toHaveLength(3);
  });

  it('keeps the fallback short', () => {
    expect(contentDisposition('inline', 'x'.repeat(1_000)).indexOf('; filename*')).toBeLessThan(130);
  });
});
