/** Plans the parts of a multipart upload that joins objects. S3 requires a minimum size for each part but the last. */
import { ObjectAddress } from './object-address';
import { SizedObject } from './object-store';

export interface Slice {
  readonly address: ObjectAddress;
  /** First byte. */
  readonly start: number;
  /** Bytes. */
  readonly size: number;
}

/**
 * @param least bytes of a part but the last @param most bytes of a part
 * @returns the slices of each part: one, which the provider can copy; several, where objects are too small for that
 */
export function joinedParts(objects: readonly SizedObject[], least: number, most: number): Slice[][] {
  const parts: Slice[][] = [];
  let slices: Slice[] = [];
  let missing = least;
  for (const { address, size: whole } of objects) {
    for (let start = 0; start < whole;) {
      const left = whole - start;
      // The rest of a cut object must not be smaller than the minimum of a part.
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
