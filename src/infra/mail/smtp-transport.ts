/** Sends mails over SMTP: pooled connections, STARTTLS where the server offers it, TLS with smtps://. */
import { createTransport, type Transporter } from 'nodemailer';
import { addressee, MailTransport, OutgoingMail } from './mail-transport';

const CONNECTION_TIMEOUT_MS = 15_000;
const SOCKET_TIMEOUT_MS = 60_000;
const MAX_CONNECTIONS = 3;

export class SmtpTransport extends MailTransport {
  private readonly transporter: Transporter;

  /** @param url smtp://user:password@host:port, with nodemailer's options as query (`?requireTLS=true`) */
  constructor(
    url: string,
    private readonly from: string,
  ) {
    super();
    this.transporter = createTransport({
      url,
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      greetingTimeout: CONNECTION_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      // nodemailer must not read content from files or URLs.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  override async send({ link: _link, ...mail }: OutgoingMail): Promise<void> {
    await this.transporter.sendMail({ from: this.from, ...mail, to: addressee(mail), headers: AUTOMATIC });
  }

  override async verify(): Promise<void> {
    await this.transporter.verify();
  }

  override async close(): Promise<void> {
    this.transporter.close();
  }
}

/** Keeps holiday notices from answering (RFC 3834, 5). */
export const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' } as const;
