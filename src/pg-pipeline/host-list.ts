/**
 * Connection URLs with several hosts, as in libpq (manual, 34.1.1.3): `postgres://user@a:5432,b:5433/db`. Neither URL
 * (WHATWG) nor node-postgres can read such a URL, so withHostList() moves the hosts into the parameter `hosts`.
 */

export interface HostAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 5432;
const PARAMETER = 'hosts';
/** Scheme and credentials, hosts, the rest. */
const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/i;
/** A name or an IPv4 address, or an IPv6 address in brackets, and a port. */
const HOST = /^(?:\[([0-9a-f:.%]+)\]|([^\s:,[\]@]+))(?::(\d{1,5}))?$/i;

/**
 * Rewrites a URL so that URL and node-postgres can read it: with the first host, and the other hosts in a
 * parameter. A URL with one host is unchanged.
 */
export function withHostList(url: string): string {
  const [, begin, hosts, rest] = URL_PARTS.exec(url) ?? [];
  if (begin === undefined || hosts === undefined || rest === undefined || !hosts.includes(',')) return url;
  const list = hosts.split(',');
  const single = `${begin}${list[0]}${rest}`;
  if (!URL.canParse(single) || list.some((one) => parseHost(one) === null)) return url;
  const target = new URL(single);
  // Every connection is made to the primary.
  target.searchParams.delete('target_session_attrs');
  target.searchParams.set(PARAMETER, hosts);
  return target.href;
}

/** The hosts of a URL that withHostList() returned; empty for a URL with a single host. */
export function hostsOf(url: string | undefined): readonly HostAddress[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const list = new URL(url).searchParams.get(PARAMETER)?.split(',') ?? [];
  return list.map(parseHost).filter((address) => address !== null);
}

/** `db.example.com`, `10.0.0.7:5433` or `[2001:db8::7]:5432`; null for other text. */
export function parseHost(text: string): HostAddress | null {
  const [, v6, name, port = String(DEFAULT_PORT)] = HOST.exec(text) ?? [];
  const host = v6 ?? name;
  const number = Number(port);
  return host === undefined || number < 1 || number > 65_535 ? null : { host, port: number };
}

/** Formats a host as parseHost() reads it. */
export function formatHost({ host, port }: HostAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
