import { newTotpKey, stepOfCode } from './totp';

/** RFC 6238, appendix B: the secret "12345678901234567890" in base32, and its codes (the last six of eight digits). */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('a code', () => {
  it.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
  ])('at %d seconds is %s, as in RFC 6238', (seconds, code) => {
    expect(stepOfCode(RFC_SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  it('is accepted one step early and one step late, and no further', () => {
    const step = Math.floor(1111111111 / 30);
    const at = (offset: number): number | null =>
      stepOfCode(RFC_SECRET, '050471', (step + offset) * 30_000 + 15_000);
    expect([-2, -1, 0, 1, 2].map(at)).toEqual([null, step, step, step, null]);
  });

  it.each(['', '05047', '0504711', '05047a', '٠٥٠٤٧١', '-50471'])('is not %j', (code) => {
    expect(stepOfCode(RFC_SECRET, code, 1111111111_000)).toBeNull();
  });

  it('can be typed with a space, as apps show it', () => {
    expect(stepOfCode(RFC_SECRET, '050 471', 1111111111_000)).not.toBeNull();
  });
});

describe('a new key', () => {
  it('has 160 random bits and a URI that apps can read', () => {
    const { secret, uri } = newTotpKey('Shop: Berlin', 'ada@example.com');
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(newTotpKey('Shop', 'ada@example.com').secret).not.toBe(secret);
    const url = new URL(uri);
    expect(decodeURIComponent(url.pathname)).toContain('Shop  Berlin:ada@example.com');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      issuer: 'Shop  Berlin',
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
  });
});
