import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyHistories, copySegments, WalArchive } from './wal-archive';
import { SEGMENT_BYTES, segmentName, startOfSegment } from './wal-position';

let archive: string;
let cluster: string;
beforeEach(() => {
  archive = mkdtempSync(join(tmpdir(), 'plinth-wal-archive-'));
  cluster = join(archive, 'pg_wal');
  mkdirSync(cluster);
});
afterEach(() => rmSync(archive, { recursive: true, force: true }));

const segmentsIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => /^[0-9A-F]{24}/.test(name))
    .sort();
const put = (name: string, content = name): void => writeFileSync(join(archive, name), content);
const since = (number: number) => ({ timeline: 1, number, isPartial: false });

describe('an archive', () => {
  it('has complete segments, and a partial last one', async () => {
    const writer = await WalArchive.open(archive, 1);
    const start = startOfSegment(7);
    writer.begin(start);
    await writer.write(start, Buffer.alloc(SEGMENT_BYTES - 3, 'a'));
    // Crosses the end of the segment.
    await writer.write(start + BigInt(SEGMENT_BYTES - 3), Buffer.from('bbbccccc'));
    await writer.close();
    const [whole = '', part = ''] = segmentsIn(archive);
    expect([whole, part]).toEqual([segmentName(1, 7), `${segmentName(1, 8)}.partial`]);
    expect(statSync(join(archive, whole)).size).toBe(SEGMENT_BYTES);
    expect(readFileSync(join(archive, whole)).subarray(-4).toString()).toBe('abbb');
    expect(readFileSync(join(archive, part), 'utf8')).toBe('ccccc');
    expect(writer.position).toBe(startOfSegment(8) + 5n);
  });

  it('continues with the partial segment, and keeps its bytes until they are written again', async () => {
    const first = await WalArchive.open(archive, 1);
    first.begin(startOfSegment(7));
    await first.write(startOfSegment(7), Buffer.from('12345'));
    await first.close();
    const second = await WalArchive.open(archive, 1);
    const position = await second.resumeAt();
    expect(position).toBe(startOfSegment(7));
    second.begin(position ?? 0n);
    await second.write(startOfSegment(7), Buffer.from('12'));
    await second.close();
    expect(readFileSync(join(archive, `${segmentName(1, 7)}.partial`), 'utf8')).toBe('12345');
  });

  it('continues after the last whole segment of its own timeline', async () => {
    put(segmentName(1, 7));
    put(segmentName(1, 8));
    put(`${segmentName(2, 9)}.partial`);
    expect(await (await WalArchive.open(archive, 1)).resumeAt()).toBe(startOfSegment(9));
    expect(await (await WalArchive.open(archive, 3)).resumeAt()).toBeNull();
  });

  it('refuses bytes that do not follow the last ones', async () => {
    const writer = await WalArchive.open(archive, 1);
    writer.begin(startOfSegment(7));
    await expect(writer.write(startOfSegment(7) + 1n, Buffer.from('x'))).rejects.toThrow('another part');
  });

  it('refuses a history of another restored copy', async () => {
    const writer = await WalArchive.open(archive, 2);
    await writer.putHistory('1\t0/7000000\treason\n');
    await writer.putHistory('1\t0/7000000\treason\n');
    await expect(writer.putHistory('1\t0/8000000\treason\n')).rejects.toThrow(
      /00000002\.history belongs to another restored copy/,
    );
  });
});

describe('for a restore', () => {
  it('copies histories, and the segments that recovery needs', async () => {
    put('00000002.history');
    put(segmentName(1, 6));
    put(segmentName(1, 7));
    put(`${segmentName(1, 8)}.partial`);
    put(segmentName(2, 8));
    put(`${segmentName(2, 9)}.partial`);
    await copyHistories(archive, cluster);
    await copySegments(archive, cluster, since(7));
    expect(readdirSync(cluster).sort()).toEqual(
      [segmentName(1, 7), segmentName(1, 8), '00000002.history', segmentName(2, 8), segmentName(2, 9)].sort(),
    );
    expect(statSync(join(cluster, segmentName(2, 9))).size).toBe(SEGMENT_BYTES);
  });

  it('does not overwrite the segments that the backup has', async () => {
    put(segmentName(1, 7), 'of the archive');
    writeFileSync(join(cluster, segmentName(1, 7)), 'of the backup');
    await copySegments(archive, cluster, since(7));
    expect(readFileSync(join(cluster, segmentName(1, 7)), 'utf8')).toBe('of the backup');
  });

  it('refuses a log with a gap', async () => {
    put(segmentName(1, 7));
    put(segmentName(1, 9));
    await expect(copySegments(archive, cluster, since(7))).rejects.toThrow(
      new RegExp(`${segmentName(1, 8)} is missing`),
    );
    expect(readdirSync(cluster)).toEqual([]);
  });
});
