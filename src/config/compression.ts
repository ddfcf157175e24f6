/** The ways in which an archive can be compressed, and zstd of Node.js, which versions before 22.15 do not have. */
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';

export const COMPRESSIONS = ['gzip', 'zstd', 'none'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** @types/node 20 does not declare the zstd functions. */
interface Zstd {
  readonly createZstdCompress?: (options: object) => Transform;
  readonly createZstdDecompress?: (options: object) => Transform;
  readonly constants: { readonly ZSTD_c_compressionLevel?: number };
}

/** Absent members: this version of Node.js has no zstd. */
export const ZSTD = zlib as unknown as Zstd;
export const HAS_ZSTD = ZSTD.createZstdCompress !== undefined;
export const ZSTD_MISSING = 'zstd needs Node.js 22.15 or later';
