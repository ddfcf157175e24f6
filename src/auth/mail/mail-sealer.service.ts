/** Encrypts the confidential content of mails, which waits in the project's database. */
import { Inject, Injectable } from '@nestjs/common';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { SecretBox } from '../../infra/crypto/secret-box';
import { JsonObject } from '../../common/text/json';
import { MailFlow } from './mail-flow';
import { RequestOrigin } from '../../identity/request-origin';

/** Options of an application of `/auth/v1` for a mail. */
export interface MailRequestOptions {
  readonly flow?: MailFlow;
  /** The account to create if none has the address. */
  readonly create?: { readonly address: string; readonly data: JsonObject };
}

/** Content that only the recipient may read. The options come from the request, like `origin`. */
export interface SealedMail extends MailRequestOptions {
  /**
   * Key of the recipient's address (EmailAddress.key). The owner of the project can change the address in the database, which
   * is not encrypted; the mail is sent to this address only. Mails that earlier versions sealed have no key.
   */
  readonly to?: string;
  readonly token?: string;
  /** Six digits, for mails of `/auth/v1`. */
  readonly code?: string;
  /** See MailFlow; absent in mails of `/v1/auth`. */
  readonly redirectTo?: string | null;
  readonly newEmail?: string;
  /** Set in the notice of a sign-in. */
  readonly device?: NewDevice;
  /** Language tags of the request that caused the mail, in order of preference. */
  readonly languages?: readonly string[];
  /** Origin of the request, in place of a token, until a worker has found the account. */
  readonly origin?: RequestOrigin;
}

/** A sign-in from a device that is new to its account. */
export interface NewDevice {
  readonly ip: string;
  /** For example, `Firefox, Windows`. */
  readonly client: string;
}

@Injectable()
export class MailSealer {
  private readonly box: SecretBox;

  constructor(@Inject(SECRETS_CONFIG) { masterKey, otherMasterKey }: SecretsConfig) {
    this.box = new SecretBox(masterKey, otherMasterKey);
  }

  seal(projectId: string, mailId: string, content: SealedMail): Buffer {
    return this.box.seal(JSON.stringify(content), mailPurpose(projectId, mailId));
  }

  /** @throws Error if the content was altered or belongs to another mail */
  open(projectId: string, mailId: string, sealed: Buffer): SealedMail {
    return JSON.parse(this.box.open(sealed, mailPurpose(projectId, mailId))) as SealedMail;
  }
}

function mailPurpose(projectId: string, mailId: string): string {
  return `mail:${projectId}:${mailId}`;
}
