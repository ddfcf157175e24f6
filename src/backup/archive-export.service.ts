/** Writes a scheduled archive of a project with the bytes of its files, which an incremental archive keeps in the store. */
import type { Writable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import type { Compression } from '../config/compression';
import { ObjectMissingError } from '../storage/providers/object-store';
import { FILES_FOLDER, HEADER, SECRETS, STORED_FILES } from './archive/archive-format';
import { ArchiveReader } from './archive/archive-reader';
import { ArchiveWriter } from './archive/archive-writer';
import { assertAvailable, compressor } from './archive/compression';
import { assertAuthentic, type OpenArchive, openArchive, readToEnd } from './archive/open-archive';
import { archiveNotFound } from './archived-rows/archived-rows.errors';
import { BackupDestination } from './schedule/backup-destination';
import { RunRepository } from './schedule/run.repository';
import { filesIn } from './stored/file-lines';
import { StoredFiles } from './stored/stored-files.service';

@Injectable()
export class ArchiveExport {
  constructor(
    private readonly runs: RunRepository,
    private readonly destination: BackupDestination,
    private readonly stored: StoredFiles,
    private readonly clock: Clock,
  ) {}

  /**
   * @param openOutput called once the passphrase has opened the archive
   * @throws AppError 400 for another passphrase, an archive that is damaged or that this server cannot decrypt; 404
   */
  async write(
    projectId: string,
    runId: string,
    passphrase: string,
    openOutput: () => Promise<Writable>,
    compression: Compression = 'gzip',
  ): Promise<void> {
    assertAvailable(compression);
    const { name } = this.destination;
    const run = (await this.runs.listKept(projectId, name)).find(({ id }) => id === runId);
    if (!run) throw archiveNotFound();
    const input = await this.destination
      .read(projectId, run.archive, Number(run.bytes))
      .catch((error: unknown) => {
        throw error instanceof ObjectMissingError ? archiveNotFound() : error;
      });
    const members = new ArchiveReader(input).members();
    try {
      const source = await openArchive(members, passphrase);
      const output = await openOutput();
      await ArchiveWriter.write(output, this.clock.now(), compressor(compression, false), (archive) =>
        this.copy(source, archive),
      );
    } finally {
      await members.return(undefined as never);
    }
  }

  private async copy(source: OpenArchive, archive: ArchiveWriter): Promise<void> {
    const { header, secrets, key, members, sealed } = source;
    const open = this.stored.opener(header.project.id, secrets.data_secret);
    await archive.add(HEADER, sealed.header);
    await archive.add(SECRETS, sealed.secrets);
    const end = await readToEnd(members, async ({ name, size, chunks }) => {
      if (name === STORED_FILES)
        for await (const file of filesIn(chunks))
          await archive.addSized(FILES_FOLDER + file.objectId, file.size, open(file));
      else if (name.startsWith(FILES_FOLDER)) await archive.addSized(name, size, chunks);
      else await archive.addParts(name, chunks);
    });
    assertAuthentic(key, end);
    const { rows, files } = end.manifest;
    await archive.finish(key, { rows, files });
  }
}
