/**
 * HTTP requests to servers that a tenant names. They reach public addresses over TLS only, unless the operator allows
 * a host. The address is checked when the connection resolves it, so that a changed DNS answer cannot redirect it.
 * Redirects are not followed, connections are not shared, and answers are limited in time and size.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { isPublicAddress } from './public-address';

/** Milliseconds for a request, from the resolution of the name to the last byte of the answer. */
const TIMEOUT_MS = 10_000;
/** Milliseconds for an answer of a name server, and the number of attempts. */
const DNS_MS = 2_000;
const DNS_TRIES = 2;
/** Maximum bytes of the head of an answer. */
const MAX_HEADERS = 32 * 1024;
/** Maximum bytes of the body of an answer. */
const MAX_BODY = 512 * 1024;

export interface OutboundRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface OutboundLimits {
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Whether to read the beginning of a larger answer instead of refusing it. */
  readonly cutsAnswer?: boolean;
}

/** For the log only: its message reveals details of the installation's network. */
class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused';
}

export class OutboundHttp {
  /**
   * @param allowedHosts `host` or `host:port` that may have a private address and plain HTTP
   * @param schemes the schemes that other hosts may have
   */
  constructor(
    private readonly allowedHosts: readonly string[],
    private readonly schemes: readonly string[] = ['https:'],
  ) {}

  /** Creates a client for a server that the operator has chosen. */
  static toHostOf(url: URL): OutboundHttp {
    return new OutboundHttp([hostOf(url)]);
  }

  /** @throws Error if the server may not be reached, does not answer in time, or sends too much */
  async send(
    url: string | URL,
    { method = 'GET', headers = {}, body }: OutboundRequest = {},
    { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BODY, cutsAnswer = false }: OutboundLimits = {},
  ): Promise<Response> {
    const target = new URL(url);
    const isAllowed = this.isAllowed(target);
    if (!isAllowed) this.assertPublic(target);
    const options: RequestOptions = {
      method,
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      maxHeaderSize: MAX_HEADERS,
      headers: {
        ...headers,
        // A compressed answer would have a different size.
        'accept-encoding': 'identity',
        'user-agent': 'Plinth',
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      },
      ...(isAllowed ? {} : { lookup: lookupPublic }),
    };
    const message = await exchange(target, options, body);
    const content = await readAll(message, maxBytes, cutsAnswer);
    const { statusCode: status = 0 } = message;
    if (status < 200 || status > 599) throw new OutboundRefused(`status ${status}`);
    const hasBody = ![204, 205, 304].includes(status);
    return new Response(hasBody ? content : null, { status, headers: headersOf(message) });
  }

  /** Whether the operator allows a private address and plain HTTP. */
  isAllowed(url: URL): boolean {
    return this.isAllowedAt(hostOf(url), url.port || (url.protocol === 'http:' ? '80' : '443'));
  }

  /**
   * Opens a connection for another protocol, which must encrypt it. A host name with a private address makes the socket fail.
   * @throws Error for an IP address that may not be reached
   */
  connect(host: string, port: number): Socket {
    const isAllowed = this.isAllowedAt(host, String(port));
    if (!isAllowed && isIP(host) !== 0 && !isPublicAddress(host))
      throw new OutboundRefused(`${host} is not public`);
    return connectTcp({ host, port, ...(isAllowed ? {} : { lookup: lookupPublic }) });
  }

  private isAllowedAt(hostname: string, port: string): boolean {
    const host = hostname.toLowerCase();
    return this.allowedHosts.some((allowed) => [host, `${host}:${port}`].includes(allowed.toLowerCase()));
  }

  private assertPublic(url: URL): void {
    if (!this.schemes.includes(url.protocol)) throw new OutboundRefused(`${url.protocol} is not allowed`);
    const host = hostOf(url);
    // lookup() is not called when the host is an address.
    if (isIP(host) !== 0 && !isPublicAddress(host)) throw new OutboundRefused(`${host} is not public`);
  }
}

/** Removes the brackets of an IPv6 address. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const lookupPublic: LookupFunction = (hostname, options: LookupOptions, callback) => {
  resolve(hostname).then(
    (addresses) => {
      const hidden = addresses.find(({ address }) => !isPublicAddress(address));
      const [first] = addresses;
      if (!first) callback(new OutboundRefused(`${hostname} has no address`), '');
      else if (hidden) callback(new OutboundRefused(`${hostname} is not public: ${hidden.address}`), '');
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    },
    (error: Error) => callback(error, ''),
  );
};

/**
 * Queries name servers without getaddrinfo(), which would hold a thread of libuv for as long as a slow name
 * server takes: files, passwords and signatures of all projects share these threads.
 */
async function resolve(hostname: string): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: DNS_MS, tries: DNS_TRIES });
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = found.map((one) => (one.status === 'fulfilled' ? one.value : []));
  const [ofFour = [], ofSix = []] = addresses;
  return [
    ...ofFour.map((address) => ({ address, family: 4 })),
    ...ofSix.map((address) => ({ address, family: 6 })),
  ];
}

function exchange(target: URL, options: RequestOptions, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    const send = target.protocol === 'https:' ? requestHttps : requestHttp;
    send(target, options, done).on('error', fail).end(body);
  });
}

async function readAll(
  message: IncomingMessage,
  maxBytes: number,
  cuts: boolean,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoding = message.headers['content-encoding'] ?? 'identity';
  try {
    if (encoding !== 'identity' && !cuts) throw new OutboundRefused(`content encoding ${encoding}`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of message as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes && !cuts) throw new OutboundRefused(`the answer has more than ${maxBytes} bytes`);
      chunks.push(chunk);
      if (size >= maxBytes) break;
    }
    return new Uint8Array(Buffer.concat(chunks).subarray(0, maxBytes));
  } finally {
    message.destroy();
  }
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  return headers;
}
