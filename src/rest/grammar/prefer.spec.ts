import { parsePrefer } from './prefer';
import { refusalOf } from '../../../test/support/grammar';
import type { Preferences } from './rest-request';

const NONE: Preferences = {
  return: null,
  resolution: null,
  missing: null,
  count: null,
  tx: null,
  handling: null,
  read: null,
  timezone: null,
  maxAffected: null,
  unknown: [],
};

describe('parsePrefer', () => {
  it.each<[string | null, Partial<Preferences>]>([
    [null, {}],
    ['', {}],
    ['return=representation', { return: 'representation' }],
    ['return=minimal', { return: 'minimal' }],
    ['return=headers-only', { return: 'headers-only' }],
    ['resolution=merge-duplicates', { resolution: 'merge-duplicates' }],
    ['resolution=ignore-duplicates', { resolution: 'ignore-duplicates' }],
    ['missing=default', { missing: 'default' }],
    ['missing=null', { missing: 'null' }],
    ['count=exact', { count: 'exact' }],
    ['count=planned', { count: 'planned' }],
    ['count=estimated', { count: 'estimated' }],
    ['tx=commit', { tx: 'commit' }],
    ['tx=rollback', { tx: 'rollback' }],
    ['handling=strict', { handling: 'strict' }],
    ['handling=lenient', { handling: 'lenient' }],
    ['timezone=America/Los_Angeles', { timezone: 'America/Los_Angeles' }],
    ['max-affected=10', { maxAffected: 10 }],
    ['max-affected=0', { maxAffected: 0 }],
    ['Return = "minimal"', { return: 'minimal' }],
    ['return=minimal; foo=bar', { return: 'minimal' }],
  ])('reads %s', (header, preferences) => {
    expect(parsePrefer(header)).toEqual({ ...NONE, ...preferences });
  });

  it('reads several preferences, with any amount of space between them', () => {
    const header =
      'count=exact,    tx=commit   ,return=representation , missing=default, handling=strict, anything';
    expect(parsePrefer(header)).toEqual({
      ...NONE,
      count: 'exact',
      tx: 'commit',
      return: 'representation',
      missing: 'default',
      handling: 'strict',
      unknown: ['anything'],
    });
  });

  it('takes the first of repeated preferences', () => {
    expect(parsePrefer('tx=commit, tx=rollback').tx).toBe('commit');
    expect(parsePrefer('max-affected=1, max-affected=2, timezone=UTC, timezone=CET')).toMatchObject({
      maxAffected: 1,
      timezone: 'UTC',
    });
  });

  it('keeps unknown preferences, for handling=strict', () => {
    const header =
      'count=none, return=all, wait=10;x, respond-async, max-affected=-1, max-affected=x, timezone=,,';
    expect(parsePrefer(header)).toEqual({
      ...NONE,
      unknown: [
        'count=none',
        'return=all',
        'wait=10;x',
        'respond-async',
        'max-affected=-1',
        'max-affected=x',
        'timezone=',
      ],
    });
  });

  it('refuses too many', () => {
    expect(refusalOf(() => parsePrefer('a,'.repeat(101))).code).toBe('PL153');
  });
});
