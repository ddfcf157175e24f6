/** Creates, verifies and revokes signed URLs of files. */
import { Inject, Injectable } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { Project } from '../../projects/project';
import { FileContent } from '../files/file';
import { FileContentRepository, Revision } from '../files/file-content.repository';
import { FileRepository } from '../files/file.repository';
import { fileNotFound, invalidSignature, signedUrlExpired } from '../storage.errors';
import { serviceContext } from '../storage-transaction';
import { EXPIRIES, Expiry, LinkClaims, LinkParameters, LinkQuery, signLink, verifyLink } from './signed-url';

export interface SignedUrl {
  /** Absolute URL. */
  readonly url: string;
  /** Unix seconds. */
  readonly expires_at: number;
}

/** The result for one of several files: a URL, or an error as in the error envelope. */
export type BulkSignedUrl = { readonly file_id: string } & (
  | (SignedUrl & { readonly error: null })
  | { readonly url: null; readonly expires_at: null; readonly error: typeof NOT_FOUND }
);

const NOT_FOUND = (({ message, code, status }) => ({ message, code, status }))(fileNotFound());

/** Seconds by which a replica's clock may be ahead of the database's. */
const CLOCK_SKEW = 60;

@Injectable()
export class SignedUrlsService {
  constructor(
    private readonly files: FileRepository,
    private readonly contents: FileContentRepository,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  /**
   * Signs a URL for a file that the caller may read.
   * @throws AppError 404 if there is no such file, or the caller may not read it
   */
  async create(caller: Caller, fileId: string, expiry: Expiry): Promise<SignedUrl> {
    const file = await this.contents.findRevision(caller, fileId);
    if (!file) throw fileNotFound();
    return this.sign(caller.project, fileId.toLowerCase(), file, expiry);
  }

  /** A URL or an error for each file, in the order of the ids; one round trip. */
  async createAll(caller: Caller, fileIds: readonly string[], expiry: Expiry): Promise<BulkSignedUrl[]> {
    const found = await this.contents.findRevisions(caller, fileIds);
    return fileIds.map((id) => {
      const fileId = id.toLowerCase();
      const file = found.get(fileId);
      if (!file) return { file_id: id, url: null, expires_at: null, error: NOT_FOUND };
      return { file_id: id, ...this.sign(caller.project, fileId, file, expiry), error: null };
    });
  }

  /**
   * Tokens for files by bucket and filename: each contains the parts of a signed URL in one text. Files that
   * the caller may not read are left out.
   * @param bucket slug or name
   * @param transformation makes tokens for renditions
   */
  async createTokens(
    caller: Caller,
    bucket: string,
    filenames: readonly string[],
    seconds: number,
    transformation?: string,
  ): Promise<ReadonlyMap<string, string>> {
    const found = await this.contents.findNamedRevisions(caller, bucket, filenames);
    return new Map(
      [...found].map(([filename, { id, revision, now }]) => {
        const link = signLink(caller.project, {
          fileId: id,
          revision,
          expiresAt: now + seconds,
          transformation,
        });
        const parts = [caller.project.id, id, link.expires, link.revision, link.signature];
        return [filename, [...parts, ...(transformation === undefined ? [] : [transformation])].join('.')];
      }),
    );
  }

  /** Like verify(), for a token of createTokens(). @throws AppError 401 for an invalid or expired token */
  verifyToken(project: Project, token: unknown): LinkClaims {
    const [projectId, fileId = '', expires, revision, signature, transformation, ...rest] = partsOf(token);
    if (projectId !== project.id || rest.length > 0) throw invalidSignature();
    return this.verify(project, fileId, { expires, revision, signature }, transformation);
  }

  /**
   * Revokes all signed URLs of a file that the caller may change.
   * @throws AppError 404 if there is no such file, 403 if a policy refuses
   */
  async revokeAll(caller: Caller, fileId: string): Promise<void> {
    await this.files.raiseLinkRevision(caller, fileId);
  }

  /**
   * Verifies without the database, so that forged and old URLs cost no round trip. A URL that expired less
   * than CLOCK_SKEW ago is accepted; resolve() decides about it.
   * @throws AppError 401 for an invalid or expired URL
   */
  verify(project: Project, fileId: string, parameters: LinkQuery, transformation?: string): LinkClaims {
    return verifyLink(project, fileId, parameters, this.clock.now(), CLOCK_SKEW, transformation);
  }

  /**
   * The file of a verified URL. Expiry is decided by the database's clock, which all replicas share.
   * @throws AppError 404 if the file does not exist, 401 if the URL was revoked or has expired
   */
  async resolve(project: Project, { fileId, revision, expiresAt }: LinkClaims): Promise<FileContent> {
    const file = await this.contents.findLinked(serviceContext(project), fileId);
    if (!file) throw fileNotFound();
    if (file.revision !== revision) throw invalidSignature();
    if (expiresAt <= file.now) throw signedUrlExpired();
    return file.content;
  }

  /** Seconds until the URL expires, by this replica's clock. */
  secondsLeft({ expiresAt }: LinkClaims): number {
    return expiresAt - this.clock.nowSeconds();
  }

  private sign(project: Project, fileId: string, { revision, now }: Revision, expiry: Expiry): SignedUrl {
    const expiresAt = now + EXPIRIES[expiry];
    const link = signLink(project, { fileId, revision, expiresAt });
    return { url: this.urlOf(project, fileId, link), expires_at: expiresAt };
  }

  /** Begins with PUBLIC_URL, never with a request's Host header. */
  private urlOf(project: Project, fileId: string, parameters: LinkParameters): string {
    const query = new URLSearchParams({ ...parameters }).toString();
    return `${this.server.publicUrl}/p/${project.slug}/storage/files/${fileId}/signed?${query}`;
  }
}

const partsOf = (token: unknown): string[] => (typeof token === 'string' ? token.split('.') : []);
