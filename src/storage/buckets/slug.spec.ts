import { slugOf } from './slug';

describe('slugOf', () => {
  it.each([
    ['Team Photos 2026!', 'team-photos-2026'],
    ['avatars', 'avatars'],
    ['  --a  b-- ', 'a-b'],
    ['Crème Brûlée', 'creme-brulee'],
    ['写真', '写真'],
    ['한국어 파일', '한국어-파일'],
    ['हिन्दी', 'हिन्दी'],
    ['a/b\\c', 'a-b-c'],
    ['ﬁnance', 'finance'],
  ])('of %j is %j', (name, slug) => expect(slugOf(name)).toBe(slug));

  it('of a name without letters and digits comes from its hash', () => {
    expect(slugOf('!!!')).toMatch(/^bucket-[0-9a-f]{8}$/);
    expect(slugOf('!!!')).toBe(slugOf('!!!'));
    expect(slugOf('???')).not.toBe(slugOf('!!!'));
  });

  it('of a slug is the slug itself', () => {
    for (const name of ['Team Photos', '写真 2', '!!!', 'Ünï côdé', 'x'.repeat(300), `${'x'.repeat(99)} y`]) {
      expect(slugOf(slugOf(name))).toBe(slugOf(name));
    }
  });

  it('has at most 100 characters', () => {
    expect([...slugOf('🅰x'.repeat(200))].length).toBeLessThanOrEqual(100);
  });
});
