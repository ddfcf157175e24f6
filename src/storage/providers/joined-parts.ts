/** Plans the parts of a multipart upload that joins objects. S3 requires a minimum size for each part but the last. */
import { ObjectAddress, SizedObject } from './object-store';

export interface Slice {
  readonly address: ObjectAddress;
  /** Offset of the first byte. */
  readonly start: number;
  /** Number of bytes. */
  readonly size: number;
}

/**
 * @param least minimum bytes of each part except the last
 * @param most maximum bytes of a part
 * @returns the slices of each part: a single slice, which the provider can copy, or several if the objects
 * are too small for that
 */
export function joinedParts(objects: readonly SizedObject[], least: number, most: number): Slice[][] {
  const parts: Slice[][] = [];
  let slices: Slice[] = [];
  let missing = least;
  for (const { address, size: whole } of objects) {
    for (let start = 0; start < whole;) {
      const left = whole - start;
      // The rest of an object that is cut must not be smaller than the minimum of a part.
      const longest = left > most ? most - least : left;
      const size = slices.length > 0 && left - missing >= least ? missing : longest;
      slices.push({ address, start, size });
      start += size;
      missing -= size;
      if (missing > 0) continue;
      parts.push(slices);
      [slices, missing] = [[], least];
    }
  }
  return slices.length > 0 ? [...parts, slices] : parts;
}
