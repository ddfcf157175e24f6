/** How a finished mail leaves the house. */

export interface OutgoingMail {
  /** Stays the same when a mail is sent again after a crash: receivers then show it once (RFC 5322, 3.6.4). */
  readonly messageId: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The address that the mail asks its reader to open; null in a notice. */
  readonly link: string | null;
  /** When the mail was caused. */
  readonly date: Date;
}

/** Kept apart from a name, so that nothing in the address is read as a name or as a further address (RFC 5322, 3.4). */
export function addressee({ to }: Pick<OutgoingMail, 'to'>): { name: string; address: string } {
  return { name: '', address: to };
}

export abstract class MailTransport {
  /** Resolves when the next server has accepted the mail. @throws when sending may be tried again */
  abstract send(mail: OutgoingMail): Promise<void>;

  /** Releases connections. */
  abstract close(): Promise<void>;
}
