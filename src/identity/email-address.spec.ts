import { isDomainAllowed, localPart, parseEmailAddress } from './email-address';

const keyOf = (text: string): string | undefined => parseEmailAddress(text)?.key;

describe('e-mail addresses', () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    ['  ada@example.com ', 'ada@example.com'],
    ['ada+tag@example.com', 'ada+tag@example.com'],
    ['ada@Bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
    ['jürgen@example.com', 'jürgen@example.com'],
    ['JÜRGEN@example.com', 'jürgen@example.com'],
    ['ada@例え.テスト', 'ada@xn--r8jz45g.xn--zckzah'],
  ])('compare "%s" as "%s"', (text, key) => {
    expect(keyOf(text)).toBe(key);
  });

  it('are the same in composed and decomposed Unicode', () => {
    expect(keyOf('ju\u0308rgen@example.com')).toBe(keyOf('j\u00fcrgen@example.com'));
  });

  it.each([
    '',
    'ada',
    '@example.com',
    'ada@',
    'ada@@example.com',
    'a b@example.com',
    'ada@exa mple.com',
    'ada@example',
    '\ud800@example.com',
    'ada@exam\udc00ple.com',
  ])('are not "%s"', (text) => {
    expect(parseEmailAddress(text)).toBeNull();
  });

  it.each([
    'ada@example.com\nbcc: x@example.com',
    'ada\0@example.com',
    'ada@example.com\r',
    '<ada@example.com>',
  ])('contain nothing that could begin a header: %j', (text) => {
    const parsed = parseEmailAddress(text);
    expect(parsed === null || /^[^\r\n\0<>]+$/.test(parsed.address)).toBe(true);
  });

  it('have a local part', () => {
    const parsed = parseEmailAddress('Grace.Hopper@example.com');
    expect(parsed && localPart(parsed)).toBe('Grace.Hopper');
  });

  it('are allowed by their whole domain', () => {
    const allowed = (text: string, domains: string[]): boolean => {
      const parsed = parseEmailAddress(text);
      return parsed !== null && isDomainAllowed(parsed, domains);
    };
    expect(allowed('a@x.example', [])).toBe(true);
    expect(allowed('a@Acme.example', ['acme.EXAMPLE'])).toBe(true);
    expect(allowed('a@bücher.example', ['xn--bcher-kva.example'])).toBe(true);
    expect(allowed('a@sub.acme.example', ['acme.example'])).toBe(false);
    expect(allowed('a@notacme.example', ['acme.example'])).toBe(false);
  });
});
