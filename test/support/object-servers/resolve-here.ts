/** Resolves host names of test servers, because names below `localhost` do not resolve on every system. */
import dns from 'node:dns';

type Answer = (error: Error | null, address: string | dns.LookupAddress[], family?: number) => void;

/** Resolves a domain and its subdomains to 127.0.0.1 in this process. @returns a function that undoes this */
export function resolveHere(domain: string): () => void {
  const { lookup } = dns;
  const here = (name: string, ...rest: [Answer] | [dns.LookupOptions, Answer]): void => {
    if (name !== domain && !name.endsWith(`.${domain}`)) {
      (lookup as (...all: unknown[]) => void)(name, ...rest);
      return;
    }
    const [options, answer] = rest.length === 1 ? [{}, rest[0]] : rest;
    const found = { address: '127.0.0.1', family: 4 };
    process.nextTick(() => (options.all ? answer(null, [found]) : answer(null, found.address, found.family)));
  };
  dns.lookup = here as typeof lookup;
  return () => {
    dns.lookup = lookup;
  };
}
