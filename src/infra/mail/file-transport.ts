/** Without SMTP_URL, writes mails to .eml files, which any mail program opens. */
import { Logger } from '@nestjs/common';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { addressee, MailTransport, OutgoingMail } from './mail-transport';
import { AUTOMATIC } from './smtp-transport';

/** Limits for the stored files: the next mail removes the files beyond them. */
const LIMITS = { count: 1_000, ageMs: 30 * 86_400_000 };

export class FileTransport extends MailTransport {
  private readonly logger = new Logger('Mail');
  private readonly composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });

  constructor(
    private readonly directory: string,
    private readonly from: string,
    private readonly limits = LIMITS,
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
    // Written under another name and then renamed, so that a reader never sees an incomplete mail.
    await writeFile(`${file}.part`, message, { mode: 0o600 });
    await rename(`${file}.part`, file);
    await this.removeOld();
    // The link ends the line, so that terminals recognise it. With SMTP_URL, no log contains a token.
    const ending = link === null ? '' : `; its link is ${link}`;
    this.logger.log(`SMTP_URL is not set: the mail "${mail.subject}" was written to ${file}${ending}`);
  }

  override async verify(): Promise<void> {}

  private async removeOld(): Promise<void> {
    const names = (await readdir(this.directory)).filter((name) => /\.eml(\.part)?$/.test(name)).sort();
    const oldest = timeText(new Date(Date.now() - this.limits.ageMs));
    const excess = names.length - this.limits.count;
    for (const [index, name] of names.entries())
      if (index < excess || name < oldest) await rm(join(this.directory, name), { force: true });
  }

  override async close(): Promise<void> {}
}

/** Sorts by time; sending a mail again overwrites its file. */
function fileName({ date, messageId }: Pick<OutgoingMail, 'date' | 'messageId'>): string {
  return `${timeText(date)}-${messageId.replace(/[^\w-]/g, '_')}.eml`;
}

const timeText = (date: Date): string => date.toISOString().replace(/[:.]/g, '-');
