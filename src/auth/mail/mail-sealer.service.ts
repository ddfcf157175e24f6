/**
 * Encrypts the confidential content of mails, which waits in the project's database, and the requests for mails, which
 * wait in the queue.
 */
import { Inject, Injectable } from '@nestjs/common';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { SecretBox } from '../../infra/crypto/secret-box';
import { MailJob } from '../../infra/mail/mail-queue';

/** Content that only the recipient may read. */
export interface SealedMail {
  /**
   * Key of the recipient's address (EmailAddress.key). The owner of the project can change the address in the database,
   * which is not encrypted; the mail is sent to this one only. Mails that earlier versions sealed have no key.
   */
  readonly to?: string;
  readonly token?: string;
  /** Six digits, for mails of `/auth/v1`. */
  readonly code?: string;
  /** Of MailFlow; absent in mails of `/v1/auth`. */
  readonly redirectTo?: string | null;
  readonly newEmail?: string;
  /** Language tags of the request that caused the mail, in order of preference. */
  readonly languages?: readonly string[];
}

@Injectable()
export class MailSealer {
  private readonly box: SecretBox;

  constructor(@Inject(SECRETS_CONFIG) { masterKey }: SecretsConfig) {
    this.box = new SecretBox(masterKey);
  }

  seal(projectId: string, mailId: string, content: SealedMail): Buffer {
    return this.box.seal(JSON.stringify(content), mailPurpose(projectId, mailId));
  }

  /** @throws Error if the content was altered or belongs to another mail */
  open(projectId: string, mailId: string, sealed: Buffer): SealedMail {
    return JSON.parse(this.box.open(sealed, mailPurpose(projectId, mailId))) as SealedMail;
  }

  /** @returns base64, for MailJob.request */
  sealRequest(projectId: string, mailId: string, request: object): string {
    return this.box.seal(JSON.stringify(request), requestPurpose(projectId, mailId)).toString('base64');
  }

  /** @throws Error if the request was altered or belongs to another job */
  openRequest({ projectId, mailId, request = '' }: MailJob): unknown {
    return JSON.parse(this.box.open(Buffer.from(request, 'base64'), requestPurpose(projectId, mailId)));
  }
}

function mailPurpose(projectId: string, mailId: string): string {
  return `mail:${projectId}:${mailId}`;
}

function requestPurpose(projectId: string, mailId: string): string {
  return `mail-request:${projectId}:${mailId}`;
}
