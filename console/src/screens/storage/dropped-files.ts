/** Files that were dropped on the page, including the files in dropped folders. */

/** A file and its path relative to the dropped item. */
export interface NamedFile {
  readonly file: File;
  readonly path: string;
}

export async function droppedFiles({ items, files }: DataTransfer): Promise<NamedFile[]> {
  // The list of items is empty after the event, so it is read before the first await.
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return [...files].map(toNamed);
  return (await Promise.all(entries.map((entry) => filesOf(entry, '')))).flat();
}

export function toNamed(file: File): NamedFile {
  return { file, path: file.webkitRelativePath || file.name };
}

async function filesOf(entry: FileSystemEntry, folder: string): Promise<NamedFile[]> {
  const path = `${folder}${entry.name}`;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    return [{ file, path }];
  }
  const found: NamedFile[] = [];
  for (const one of await entriesOf(entry as FileSystemDirectoryEntry))
    found.push(...(await filesOf(one, `${path}/`)));
  return found;
}

/** readEntries() returns some entries of a folder at a time, and none at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (part.length === 0) return all;
    all.push(...part);
  }
}
