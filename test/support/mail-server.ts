/** A real SMTP server for tests. It stores mails, and can fail on demand. */
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail extends ParsedMail {
  readonly recipients: string[];
  /** True if the mail came over TLS. */
  readonly secure: boolean;
}

/** How the server treats the next mails. */
export type Mood = 'accept' | 'refuse' | 'drop' | 'hold';

const POLL_MS = 25;
const WAIT_TIMEOUT_MS = 20_000;

export class MailServer {
  readonly mails: ReceivedMail[] = [];
  mood: Mood = 'accept';
  /** Number of mails that the server refused. */
  refusals = 0;
  /** Mails that wait for the server's reply. */
  private readonly held: (() => void)[] = [];

  private constructor(
    private readonly server: SMTPServer,
    readonly port: number,
  ) {}

  /** @param port to listen on; 0 chooses a free port */
  static async start(options: SMTPServerOptions = {}, port = 0): Promise<MailServer> {
    const holder: { self?: MailServer } = {};
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      ...options,
      onData: (stream, session, callback) => {
        const { self } = holder;
        if (!self) throw new Error('a mail came before the server was ready');
        if (self.mood === 'drop') {
          self.refusals += 1;
          stream.resume();
          stream.destroy();
          (session as unknown as { socket?: { destroy(): void } }).socket?.destroy();
          server.connections.forEach((connection) =>
            (connection as unknown as { _socket: { destroy(): void } })._socket.destroy(),
          );
          return;
        }
        void simpleParser(stream).then((mail) => {
          if (self.mood === 'refuse') {
            self.refusals += 1;
            callback(Object.assign(new Error('try again later'), { responseCode: 451 }));
            return;
          }
          const recipients = session.envelope.rcptTo.map(({ address }) => address);
          const take = (): void => {
            self.mails.push({ ...mail, recipients, secure: session.secure });
            callback();
          };
          if (self.mood === 'hold') self.held.push(take);
          else take();
        });
      },
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const { port: taken } = server.server.address() as AddressInfo;
    return (holder.self = new MailServer(server, taken));
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  /** Number of mails that wait for the server's reply. */
  get waiting(): number {
    return this.held.length;
  }

  /** Accepts the held mails and all later mails. */
  letGo(): void {
    this.mood = 'accept';
    for (const take of this.held.splice(0)) take();
  }

  /** Waits for the nth mail (from 1) to an address. */
  async mailTo(address: string, nth = 1): Promise<ReceivedMail> {
    const mails = await eventually(() => {
      const found = this.to(address);
      return found.length >= nth ? found : null;
    });
    return mails[nth - 1] as ReceivedMail;
  }

  to(address: string): ReceivedMail[] {
    return this.mails.filter(({ recipients }) =>
      recipients.some((one) => one.toLowerCase() === address.toLowerCase()),
    );
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** The token of a mail, which is in its text and in its link. */
export function tokenIn(mail: ParsedMail): string {
  const link = linkIn(mail).searchParams.get('token');
  const [, spelled] = /^([A-Za-z0-9_-]{43})$/m.exec(mail.text ?? '') ?? [];
  if (!link || link !== spelled) throw new Error(`no token in the mail: ${mail.text}`);
  return link;
}

export function linkIn(mail: ParsedMail): URL {
  const [address] = /https?:\/\/\S+/.exec(mail.text ?? '') ?? [];
  if (!address) throw new Error(`no link in the mail: ${mail.text}`);
  return new URL(address);
}

/** Polls until there is a value. @throws Error after the time limit */
export async function eventually<T>(
  look: () => T | null | Promise<T | null>,
  waitTimeoutMs = WAIT_TIMEOUT_MS,
): Promise<T> {
  const end = Date.now() + waitTimeoutMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error('the time limit was reached');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
