/**
 * Public keys of issuers (RFC 7517), cached. A key set of a stranger has limits of size, number and time, and is read again
 * at a bounded rate, for an unknown `kid` too. While an issuer is down, the keys that were read before stay in use.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isJsonObject, type JsonObject, parseJson } from '../../common/text/json';
import type { Clock } from '../../common/time/clock';
import type { OutboundHttp } from '../../infra/outbound/outbound-http';

/** Key sets in memory. */
const MAX_SETS = 500;
const MAX_KEYS = 100;
/** Bytes. */
const MAX_SIZE = 256 * 1024;
/** Milliseconds for an answer. */
const TIMEOUT_MS = 5_000;
/** Milliseconds after which a set is read again. */
const FRESH_MS = 10 * 60_000;
/** Minimum milliseconds between two attempts to read a set, even if a key is missing from it. */
const PAUSE_MS = 15_000;

interface KeySet {
  readonly keys: readonly JsonObject[];
  readonly readAt: number;
}

interface Entry {
  set: KeySet | null;
  triedAt: number;
  reading: Promise<KeySet> | null;
}

export interface WantedKey {
  /** The `kid` in the token's header; absent if it has none. */
  readonly kid?: string;
  /** Pinned by the caller, such as `RS256`. */
  readonly algorithm: string;
}

/** Characters of a modulus in base64url: 8,192 bits. Larger keys take long to verify with. */
const MAX_MODULUS = 1_366;
const MAX_EXPONENT = 8;

const KEY_TYPES: Readonly<Record<string, string>> = { RS: 'RSA', PS: 'RSA', ES: 'EC' };

export class KeySets {
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_SETS });

  constructor(
    private readonly http: OutboundHttp,
    private readonly clock: Clock,
  ) {}

  /** @param uri the URI of the key set @throws Error if there is no such key, or the set cannot be read */
  async find(uri: string, wanted: WantedKey): Promise<KeyObject> {
    const set = await this.read(uri, FRESH_MS);
    const key = choose(set, wanted) ?? choose(await this.read(uri, 0), wanted);
    if (!key) throw new Error('the key set has no key for the token');
    return createPublicKey({ key, format: 'jwk' });
  }

  /** @param maxAge milliseconds: an older set is read again, if the last attempt is long enough ago */
  private async read(uri: string, maxAge: number): Promise<KeySet> {
    const entry: Entry = this.entries.get(uri) ?? { set: null, triedAt: -Infinity, reading: null };
    this.entries.set(uri, entry);
    const now = this.clock.now();
    const isDue = (!entry.set || now - entry.set.readAt >= maxAge) && now - entry.triedAt >= PAUSE_MS;
    if (isDue && !entry.reading) {
      entry.triedAt = now;
      entry.reading = this.fetch(uri)
        .then((set) => (entry.set = set))
        .finally(() => (entry.reading = null));
    }
    if (!entry.reading) return known(entry);
    return entry.reading.catch((error: unknown) => {
      if (entry.set) return entry.set;
      throw error;
    });
  }

  private async fetch(uri: string): Promise<KeySet> {
    const headers = { accept: 'application/json, application/jwk-set+json' };
    const response = await this.http.send(uri, { headers }, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_SIZE });
    if (response.status !== 200) throw new Error(`the key set answers ${response.status}`);
    const body = parseJson(await response.text());
    const keys = isJsonObject(body) && Array.isArray(body.keys) ? body.keys : null;
    if (!keys || keys.length > MAX_KEYS) throw new Error('the key set is not valid, or has too many keys');
    return { keys: keys.filter(isJsonObject), readAt: this.clock.now() };
  }
}

function known({ set }: Entry): KeySet {
  if (!set) throw new Error('the key set could not be read a moment ago');
  return set;
}

/** Without a `kid`, only a key that is the only one of its type is chosen. */
function choose({ keys }: KeySet, { kid, algorithm }: WantedKey): JsonObject | null {
  const fitting = keys.filter(
    (key) =>
      key.kty === KEY_TYPES[algorithm.slice(0, 2)] &&
      (key.use === undefined || key.use === 'sig') &&
      (key.alg === undefined || key.alg === algorithm) &&
      (kid === undefined || key.kid === kid) &&
      (key.kty !== 'RSA' || (isShort(key.n, MAX_MODULUS) && isShort(key.e, MAX_EXPONENT))),
  );
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

const isShort = (value: unknown, most: number): boolean => typeof value === 'string' && value.length <= most;
