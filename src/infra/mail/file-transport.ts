/** Without SMTP_URL: mails become .eml files, which any mail program opens. */
import { Logger } from '@nestjs/common';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { addressee, MailTransport, OutgoingMail } from './mail-transport';
import { AUTOMATIC } from './smtp-transport';

export class FileTransport extends MailTransport {
  private readonly logger = new Logger('Mail');
  private readonly composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });

  constructor(
    private readonly directory: string,
    private readonly from: string,
  ) {
    super();
  }

  override async send({ link, ...mail }: OutgoingMail): Promise<void> {
    const { message } = await this.composer.sendMail({
      from: this.from,
      ...mail,
      to: addressee(mail),
      headers: AUTOMATIC,
    });
    // The mail holds a token: only the owner of the data directory may read it.
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const file = join(this.directory, fileName(mail));
    // Written under another name and renamed, so that a reader never sees half a mail.
    await writeFile(`${file}.part`, message, { mode: 0o600 });
    await rename(`${file}.part`, file);
    // At the end of the line, where terminals recognise it as a link. With SMTP_URL no log holds a token.
    const ending = link === null ? '' : `; its link is ${link}`;
    this.logger.log(`SMTP_URL is not set: the mail "${mail.subject}" was written to ${file}${ending}`);
  }

  override async verify(): Promise<void> {}

  override async close(): Promise<void> {}
}

/** Sorts by time; sending a mail again overwrites its file. */
function fileName({ date, messageId }: Pick<OutgoingMail, 'date' | 'messageId'>): string {
  const time = date.toISOString().replace(/[:.]/g, '-');
  return `${time}-${messageId.replace(/[^\w-]/g, '_')}.eml`;
}
