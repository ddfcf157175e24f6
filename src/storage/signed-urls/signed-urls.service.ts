/** Makes, checks and revokes signed addresses of files. */
import { Inject, Injectable } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { Project } from '../../projects/project';
import { FileContent } from '../files/file';
import { FileContentRepository } from '../files/file-content.repository';
import { FileRepository } from '../files/file.repository';
import { fileNotFound, forbidden, invalidSignature } from '../storage.errors';
import { serviceContext } from '../service-context';
import { EXPIRIES, Expiry, LinkClaims, LinkParameters, LinkQuery, signLink, verifyLink } from './signed-url';

export interface SignedUrl {
  /** Absolute. */
  readonly url: string;
  /** Unix seconds. */
  readonly expires_at: number;
}

@Injectable()
export class SignedUrlsService {
  constructor(
    private readonly files: FileRepository,
    private readonly contents: FileContentRepository,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  /** For a file that the caller may read. @throws AppError 404 */
  async create(caller: Caller, fileId: string, expiry: Expiry): Promise<SignedUrl> {
    const file = await this.contents.findLinked(caller, fileId);
    if (!file) throw fileNotFound();
    const expiresAt = this.clock.nowSeconds() + EXPIRIES[expiry];
    const claims = { fileId: file.id, revision: file.linkRevision, expiresAt };
    return {
      url: this.urlOf(caller.project, file.id, signLink(caller.project, claims)),
      expires_at: expiresAt,
    };
  }

  /** Ends all addresses of a file that the caller may change. @throws AppError 404, 403 */
  async revokeAll(caller: Caller, fileId: string): Promise<void> {
    const outcome = await this.files.raiseLinkRevision(caller, fileId);
    if (outcome === 'not_found') throw fileNotFound();
    if (outcome === 'forbidden') throw (await this.files.find(caller, fileId)) ? forbidden() : fileNotFound();
  }

  /** Needs no database. @throws AppError 401 */
  verify(project: Project, fileId: string, parameters: LinkQuery): LinkClaims {
    return verifyLink(project, fileId, parameters, this.clock.nowSeconds());
  }

  /** The file of a verified address. @throws AppError 404 when it is gone, 401 when the address was revoked */
  async resolve(project: Project, { fileId, revision }: LinkClaims): Promise<FileContent> {
    const file = await this.contents.findLinked(serviceContext(project), fileId);
    if (!file) throw fileNotFound();
    if (file.linkRevision !== revision) throw invalidSignature();
    return file;
  }

  /** Begins with the configured address, never with a request's Host. */
  private urlOf(project: Project, fileId: string, parameters: LinkParameters): string {
    const query = new URLSearchParams({ ...parameters }).toString();
    return `${this.server.publicUrl}/p/${project.slug}/storage/files/${fileId}/signed?${query}`;
  }
}
