import { BucketLayout } from './bucket-object-store';
import { DiskLayout } from './disk-layout';
import { ObjectAddress } from './object-store';

const PROJECT = 'abcdefghij0123456789';
const OBJECT = '0f9d3a52-7c41-4b8e-9a55-3f1f6d2c8b10';
const REFUSED = expect.objectContaining({ code: 'storage_unavailable', status: 500 }) as Error;

const NO_OBJECTS: unknown[] = [
  '../platform-admin-key',
  '..',
  '.',
  '',
  '/etc/passwd',
  `../${OBJECT}`,
  `${OBJECT}/..`,
  `${OBJECT}\n`,
  `\n${OBJECT}`,
  OBJECT.toUpperCase(),
  OBJECT.replaceAll('-', ''),
  OBJECT.replaceAll('-', '/'),
  OBJECT.replace('0', '\0'),
  'x'.repeat(5_000_000),
  null,
  undefined,
  7,
  [OBJECT],
  { toString: () => OBJECT },
];
const NO_PROJECTS = [
  '..',
  '.',
  '',
  '../..',
  'a/../../b',
  `${PROJECT}/`,
  `${PROJECT}\n`,
  PROJECT.toUpperCase(),
  '0',
];

describe('ObjectAddress', () => {
  it.each(NO_OBJECTS.map((name) => [JSON.stringify(name)?.slice(0, 60), name]))(
    'refuses the object %s',
    (_, name) => {
      expect(() => new ObjectAddress(PROJECT, name as string)).toThrow(REFUSED);
    },
  );

  it.each(NO_PROJECTS)('refuses the project %j, and creates no folder for it', (name) => {
    expect(() => new ObjectAddress(name, OBJECT)).toThrow(REFUSED);
    expect(() => new BucketLayout('files/').folderOf(name)).toThrow(REFUSED);
    expect(() => new DiskLayout('/srv/files').folderOf(name)).toThrow(REFUSED);
    expect(() => new DiskLayout('/srv/files').uploadsOf(name)).toThrow(REFUSED);
  });

  it('becomes paths and keys below the folder of its project', () => {
    const address = new ObjectAddress(PROJECT, OBJECT);
    const disk = new DiskLayout('/srv/files');
    expect(disk.pathOf(address)).toBe(`/srv/files/${PROJECT}/0f/${OBJECT}`);
    expect(disk.draftOf(address)).toBe(`/srv/files/${PROJECT}/.uploads/${OBJECT}`);
    expect(disk.relativePathOf(address)).toBe(`${PROJECT}/0f/${OBJECT}`);
    expect(new BucketLayout('files/').keyOf(address)).toBe(`files/${PROJECT}/${OBJECT}`);
    expect(new BucketLayout('').keyOf(address)).toBe(`${PROJECT}/${OBJECT}`);
  });

  it('shortens a refused name in the error', () => {
    const refusal = ((): Error | null => {
      try {
        return (new ObjectAddress(PROJECT, 'x'.repeat(5_000_000)), null);
      } catch (error) {
        return error as Error;
      }
    })();
    expect(String(refusal?.cause).length).toBeLessThan(200);
  });
});
