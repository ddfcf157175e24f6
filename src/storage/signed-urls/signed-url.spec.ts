import { Project, ProjectSecret } from '../../projects/project';
import { LinkParameters, signLink, verifyLink } from './signed-url';

const secret = { storageSecret: 'secret', expiresAt: null } as ProjectSecret;
const project = { id: 'project', secrets: [secret] } as unknown as Project;
const NOW = 1_000_000;
const claims = { fileId: 'file', revision: 3, expiresAt: NOW + 300 };
const link = signLink(project, claims);

const code = (fn: () => unknown): string => {
  try {
    fn();
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('verifyLink', () => {
  it('accepts a link by signLink until it expires', () => {
    expect(verifyLink(project, 'file', link, NOW * 1000)).toEqual(claims);
    expect(verifyLink(project, 'file', link, (NOW + 299) * 1000 + 999)).toEqual(claims);
    expect(code(() => verifyLink(project, 'file', link, (NOW + 300) * 1000))).toBe('signed_url_expired');
  });

  it('refuses every change of a single character', () => {
    for (const [name, value] of Object.entries(link) as [string, string][]) {
      for (let index = 0; index < value.length; index += 1) {
        for (const other of ['0', '1', 'A', '-', '']) {
          const changed = value.slice(0, index) + other + value.slice(index + 1);
          if (changed === value) continue;
          expect(code(() => verifyLink(project, 'file', { ...link, [name]: changed }, NOW * 1000))).toBe(
            'invalid_signature',
          );
        }
      }
    }
  });

  it.each<[string, Partial<LinkParameters>]>([
    ['no expiry', { revision: link.revision, signature: link.signature }],
    ['no revision', { expires: link.expires, signature: link.signature }],
    ['no signature', { expires: link.expires, revision: link.revision }],
    ['leading zeros', { ...link, expires: `0${link.expires}` }],
    ['something appended', { ...link, signature: `${link.signature}=` }],
    ['an array', { ...link, signature: [link.signature] as unknown as string }],
  ])('refuses %s', (_case, parameters) => {
    expect(code(() => verifyLink(project, 'file', parameters, NOW * 1000))).toBe('invalid_signature');
  });

  it('is bound to file, project and secret', () => {
    expect(code(() => verifyLink(project, 'other', link, NOW * 1000))).toBe('invalid_signature');
    expect(code(() => verifyLink({ ...project, id: 'other' }, 'file', link, NOW * 1000))).toBe(
      'invalid_signature',
    );
    const renewed = { ...project, secrets: [{ ...secret, storageSecret: 'x' }] as const };
    expect(code(() => verifyLink(renewed, 'file', link, NOW * 1000))).toBe('invalid_signature');
  });

  it('accepts a link signed by an older secret until that secret expires', () => {
    const current = { ...secret, storageSecret: 'new' };
    const old = { ...secret, expiresAt: NOW * 1000 + 500 };
    const rotated: Project = { ...project, secrets: [current, { ...old, storageSecret: 'x' }, old] };
    expect(verifyLink(rotated, 'file', link, NOW * 1000 + 499)).toEqual(claims);
    expect(code(() => verifyLink(rotated, 'file', link, NOW * 1000 + 500))).toBe('invalid_signature');
    expect(signLink(rotated, claims)).toEqual(signLink({ ...project, secrets: [current] }, claims));
  });
});
