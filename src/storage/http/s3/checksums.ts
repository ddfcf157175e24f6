/** The checksums of x-amz-checksum-*, with which clients detect errors of the transfer. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export interface Checksum {
  update(bytes: Buffer): void;
  /** The checksum in base64. */
  digest(): Promise<string>;
}

const ALGORITHMS = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'] as const;
export type ChecksumAlgorithm = (typeof ALGORITHMS)[number];

/** The algorithm of `x-amz-checksum-<algorithm>`; null for other headers. */
export function algorithmOf(header: string): ChecksumAlgorithm | null {
  const name = header.toLowerCase();
  return ALGORITHMS.find((algorithm) => name === `x-amz-checksum-${algorithm}`) ?? null;
}

export async function newChecksum(algorithm: ChecksumAlgorithm): Promise<Checksum> {
  switch (algorithm) {
    case 'crc32': {
      let value = 0;
      return {
        update: (bytes) => void (value = crc32(bytes, value)),
        digest: () => Promise.resolve(Buffer.from(Uint32Array.of(value).buffer).swap32().toString('base64')),
      };
    }
    case 'crc32c':
    case 'crc64nvme': {
      // Loaded on first use, because few clients send these checksums.
      const { Crc32c, Crc64Nvme } = await import('@aws-sdk/checksums/crc');
      const checksum = algorithm === 'crc32c' ? new Crc32c() : new Crc64Nvme();
      return {
        update: (bytes) => checksum.update(bytes),
        digest: async () => Buffer.from(await checksum.digest()).toString('base64'),
      };
    }
    case 'sha1':
    case 'sha256': {
      const hash = createHash(algorithm);
      return {
        update: (bytes) => void hash.update(bytes),
        digest: () => Promise.resolve(hash.digest('base64')),
      };
    }
  }
}
