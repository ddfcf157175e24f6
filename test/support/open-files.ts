/** Lists the files that this process has open. Reads /proc, so it works only on Linux. */
import { readdirSync, readlinkSync } from 'node:fs';

const DESCRIPTORS = '/proc/self/fd';

/** The number of open files below a directory. */
export function openFilesBelow(directory: string): number {
  return readdirSync(DESCRIPTORS).filter((name) => targetOf(name).startsWith(`${directory}/`)).length;
}

/** Empty for a descriptor that was closed in the meantime, such as the descriptor of the listing itself. */
function targetOf(name: string): string {
  try {
    return readlinkSync(`${DESCRIPTORS}/${name}`);
  } catch {
    return '';
  }
}
