/** Mails a link and a code that sign in. */
import { Injectable } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { JsonObject } from '../../common/text/json';
import { getEmailAddress } from '../../identity/email-address';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { Sender } from '../../identity/request-origin';
import { Project } from '../../projects/project';
import { magicLinkDisabled } from '../auth.errors';
import { MailFlow } from '../mail/mail-flow';
import { RequestedMails } from '../mail/requested-mails.service';

interface MagicLinkRequest {
  readonly email: string;
  /** Creates an account for an address that has none. */
  readonly createUser: boolean;
  /** `data` of the new account. */
  readonly data: JsonObject;
}

/** Bytes: the data waits with the request for the mail. */
const MAX_DATA = 4_096;

@Injectable()
export class MagicLinkService {
  constructor(
    private readonly mails: RequestedMails,
    private readonly throttle: GuessThrottle,
  ) {}

  /** The answer is the same for any address, and takes the same time. @throws AppError 400, 403 if it is turned off, 429, 503 */
  async request(from: Sender, { email, createUser, data }: MagicLinkRequest, flow: MailFlow): Promise<void> {
    if (!isMagicLinkEnabled(from.project)) throw magicLinkDisabled();
    if (Buffer.byteLength(JSON.stringify(data)) > MAX_DATA)
      throw invalidParameters(`data must not be longer than ${MAX_DATA} bytes`);
    const { address, key } = getEmailAddress(email);
    await this.throttle.assertMayMail(from.project, key);
    const create = createUser ? { address, data } : undefined;
    await this.mails.request(from, 'magic_link', key, { flow, create });
  }
}

/** Enabled by default once the project has an address for its links. */
export function isMagicLinkEnabled({ settings }: Project): boolean {
  return settings.magic_link_enabled ?? settings.site_url !== null;
}
