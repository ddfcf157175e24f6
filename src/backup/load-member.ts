/** Loads a member of a project's archive: SQL and rows into its database, files into the storage. */
import { UUID } from '../common/text/uuid';
import type { ProjectLoader } from '../copies/load/project-loader';
import {
  type ArchiveHeader,
  FILES_FOLDER,
  LARGE_OBJECTS,
  POST_DATA,
  PRE_DATA,
  STORED_FILES,
} from './archive/archive-format';
import { type ArchiveMember, ArchiveReader } from './archive/archive-reader';
import { archiveInvalid, restoreFault } from './backup.errors';
import type { FileLoader } from './file-loader';
import type { ArchivedContent } from './rehearsal/archived-content';
import { filesIn } from './stored/file-lines';
import type { OpenStored } from './stored/open-stored';

/** Where the members of an archive go. */
export interface Targets {
  readonly header: ArchiveHeader;
  readonly loader: ProjectLoader;
  readonly files: FileLoader | null;
  /** Set in a dry run. */
  readonly content: ArchivedContent | null;
  readonly openStored: OpenStored;
  /** Rows that were loaded, by member. */
  readonly rows: Map<string, number>;
}

export async function loadMember(member: ArchiveMember, targets: Targets): Promise<void> {
  const { header, loader, files, rows, content } = targets;
  const { name, chunks } = member;
  try {
    if (name === STORED_FILES) return await loadStored(chunks, targets);
    if (name.startsWith(FILES_FOLDER)) {
      const objectId = objectIdIn(name);
      return await (content ? content.addFile(objectId, chunks) : files?.put(objectId, member));
    }
    if (name === PRE_DATA) return await loader.loadDump(await ArchiveReader.hold(chunks));
    if (name === LARGE_OBJECTS) return await loader.addLargeObjects(chunks);
    if (name === POST_DATA) {
      await loader.setSequences(header.sequences);
      return await loader.loadDump(await ArchiveReader.hold(chunks));
    }
    const table = header.tables.find((one) => one.member === name);
    if (!table) throw archiveInvalid(`${name} is not a member that this version knows`);
    rows.set(name, await loader.copy(table, content ? content.digested(name, chunks) : chunks));
  } catch (error) {
    throw restoreFault(name, error as Error);
  }
}

/** Loads the files that an incremental archive names. */
async function loadStored(
  lines: AsyncIterable<Buffer>,
  { files, content, openStored }: Targets,
): Promise<void> {
  for await (const file of filesIn(lines)) {
    const [{ objectId: name, size }, chunks] = [file, openStored(file)];
    await (content ? content.addFile(name, chunks) : files?.put(name, { name, size, chunks }));
  }
}

/** @throws AppError 400 */
function objectIdIn(member: string): string {
  const objectId = member.slice(FILES_FOLDER.length);
  if (UUID.test(objectId)) return objectId;
  throw archiveInvalid(`${member} is not a member that this version knows`);
}
