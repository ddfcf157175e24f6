/** The files that this process holds open. Read from /proc, so only on Linux. */
import { readdirSync, readlinkSync } from 'node:fs';

const DESCRIPTORS = '/proc/self/fd';

/** The number of open files below a directory. */
export function openFilesBelow(directory: string): number {
  return readdirSync(DESCRIPTORS).filter((name) => targetOf(name).startsWith(`${directory}/`)).length;
}

/** Empty for a descriptor that was closed since, such as that of the listing itself. */
function targetOf(name: string): string {
  try {
    return readlinkSync(`${DESCRIPTORS}/${name}`);
  } catch {
    return '';
  }
}
