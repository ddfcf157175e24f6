import { randomUUID } from 'node:crypto';
import { RefreshTokenService } from './refresh-token.service';

const service = new RefreshTokenService({
  masterKey: 'm'.repeat(32),
  otherMasterKey: null,
  platformAdminKey: '',
  metricsToken: null,
});
const PROJECT = { id: 'project', dataSecret: 'd'.repeat(43) };

describe('refresh tokens', () => {
  it('open to the content they were issued for', () => {
    const content = { sessionId: randomUUID(), number: 7 };
    expect(service.open(PROJECT, service.issue(PROJECT, content))).toEqual(content);
  });

  it('are equal only for the same session and number', () => {
    const sessionId = randomUUID();
    const tokens = [0, 0, 1, 2].map((number) => service.issue(PROJECT, { sessionId, number }));
    expect(tokens[0]).toBe(tokens[1]);
    expect(new Set(tokens).size).toBe(3);
  });

  it('do not open for another project or under another key', () => {
    const token = service.issue(PROJECT, { sessionId: randomUUID(), number: 0 });
    expect(service.open({ ...PROJECT, id: 'another' }, token)).toBeNull();
    expect(service.open({ ...PROJECT, dataSecret: 'e'.repeat(43) }, token)).toBeNull();
  });

  it('do not open if any character is changed', () => {
    const token = service.issue(PROJECT, { sessionId: randomUUID(), number: 0 });
    for (let at = 0; at < token.length; at += 1) {
      const changed = token.slice(0, at) + (token[at] === 'x' ? 'y' : 'x') + token.slice(at + 1);
      expect(service.open(PROJECT, changed)).toBeNull();
    }
  });

  it.each(['', 'x', 'A'.repeat(69), 'A'.repeat(70), 'A'.repeat(71), '='.repeat(70)])(
    'are not "%s"',
    (text) => {
      expect(service.open(PROJECT, text)).toBeNull();
    },
  );
});
