import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Logger } from '@nestjs/common';
import type { AuthConfig } from '../../config/app-config';
import { BreachedPasswords } from './breached-passwords.service';

const hashOf = (password: string): string => createHash('sha1').update(password).digest('hex').toUpperCase();
const ORDERED = Array.from({ length: 5_000 }, (_, n) => `password ${n}`).sort((one, other) =>
  hashOf(one) < hashOf(other) ? -1 : 1,
);
const LINES = ORDERED.map((password, n) => `${hashOf(password)}:${n + 1}`);

describe('a list of breached passwords in a file', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-breaches-'));
    Logger.overrideLogger(false);
  });
  afterAll(() => {
    rmSync(directory, { recursive: true });
    Logger.overrideLogger(['log', 'warn', 'error']);
  });

  function listOf(content: string): BreachedPasswords {
    const file = join(directory, 'list.txt');
    writeFileSync(file, content);
    return new BreachedPasswords({ breachedPasswordsUrl: pathToFileURL(file).href } as AuthConfig);
  }

  const found = (list: BreachedPasswords, passwords: readonly string[]): Promise<boolean[]> =>
    Promise.all(passwords.map((password) => list.includes(password)));

  it.each([
    ['with the line ends of Windows', `${LINES.join('\r\n')}\r\n`],
    ['with other line ends, in lower case, without an end of the last line', LINES.join('\n').toLowerCase()],
    ['without numbers', LINES.map((line) => line.slice(0, 40)).join('\n')],
  ])('has each of its passwords and no other, %s', async (_form, content) => {
    const list = listOf(content);
    // The first and the last lines, and some between them.
    const searched = ORDERED.filter((_, n) => n < 20 || n >= ORDERED.length - 20 || n % 97 === 0);
    expect((await found(list, searched)).filter((isFound) => !isFound)).toEqual([]);
    const others = searched.map((password) => `not a ${password}`);
    expect((await found(list, others)).filter(Boolean)).toEqual([]);
  });

  it.each([
    ['of one line', `${hashOf('one')}:1`, [true, false]],
    ['of one line with the number 0, as in padding', `${hashOf('one')}:0\r\n`, [false, false]],
    ['that is empty', '', [false, false]],
    ['that is something else, of one long line', 'x'.repeat(100_000), [false, false]],
    ['that is something else, of many lines', 'x\n'.repeat(50_000), [false, false]],
  ])('can be a file %s', async (_what, content, expected) => {
    expect(await found(listOf(content), ['one', 'two'])).toEqual(expected);
  });

  it('accepts passwords while the file is missing', async () => {
    const list = new BreachedPasswords({
      breachedPasswordsUrl: pathToFileURL(join(directory, 'nowhere')).href,
    } as AuthConfig);
    expect(await list.includes('one')).toBe(false);
  });
});
