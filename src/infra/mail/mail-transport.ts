/** Sends a finished mail: over SMTP or into a file. */

export interface OutgoingMail {
  /** Stays the same when a mail is sent again after a crash, so that receivers show it once (RFC 5322, 3.6.4). */
  readonly messageId: string;
  /** A single address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The address that the mail asks its reader to open; null in a notice. */
  readonly link: string | null;
  /** Time of the request that caused the mail. */
  readonly date: Date;
}

/** Separate from the name, so that no part of the address is parsed as a name or as another address (RFC 5322, 3.4). */
export function addressee({ to }: Pick<OutgoingMail, 'to'>): { name: string; address: string } {
  return { name: '', address: to };
}

export abstract class MailTransport {
  /** Resolves when the next server has accepted the mail. @throws when sending may be tried again */
  abstract send(mail: OutgoingMail): Promise<void>;

  /** Tests the connection and the login without sending a mail. @throws when sending would fail */
  abstract verify(): Promise<void>;

  /** Releases connections. */
  abstract close(): Promise<void>;
}
