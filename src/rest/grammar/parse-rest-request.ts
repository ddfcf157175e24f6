/**
 * Entry point of the grammar: parses the raw parts of a request into its typed tree. Pure; independent of
 * catalog and settings.
 */
import { parseAccept, parseMediaType } from './media-type';
import { GrammarError } from './grammar-error';
import { headerValue } from './header-list';
import { type Method, METHODS } from './operators';
import { parsePrefer } from './prefer';
import { parseRestQuery } from './rest-query';
import type { MediaType, ParsedRequest, RawRestRequest, RequestHeaders, TargetKind } from './rest-request';
import { parseTarget } from './query-string';
import type { RestQuery, Window } from './tree';
import { intersect, parseRange, WHOLE } from './window';

/**
 * Parses a request to `/rest/v1/<table>` or `/rest/v1/rpc/<function>`. Pass its parts without decoding them.
 * @throws GrammarError with a code of GRAMMAR_ERRORS; nothing else.
 */
export function parseRestRequest(raw: RawRestRequest): ParsedRequest {
  const { kind, headers } = raw;
  const method = parseMethod(raw.method, kind);
  const target = parseTarget(raw.target);
  const hasArguments = kind === 'rpc' && (method === 'GET' || method === 'HEAD');
  const { shape: query, values } = parseRestQuery(raw.queryString, { hasArguments });
  const shape = {
    kind,
    method,
    target,
    query,
    window: rootWindow(method, query, headers),
    preferences: parsePrefer(headerValue(headers, 'prefer')),
    accept: parseAccept(headerValue(headers, 'accept')),
    contentType: contentTypeOf(headers),
    profile: profileOf(method, headers),
  };
  return { shape, values };
}

const JSON_TYPE = parseMediaType('application/json');

function contentTypeOf(headers: RequestHeaders): MediaType {
  const text = headerValue(headers, 'content-type');
  return text ? parseMediaType(text) : JSON_TYPE;
}

function parseMethod(text: string, kind: TargetKind): Method {
  if (!METHODS.has(text)) {
    throw new GrammarError({ code: 'PL117', message: `Unsupported HTTP method: ${text}` });
  }
  if (kind === 'rpc' && (text === 'PUT' || text === 'PATCH' || text === 'DELETE')) {
    throw new GrammarError({ code: 'PL101', message: `Cannot use the ${text} method on RPC` });
  }
  return text;
}

/** RFC 9110 defines Range for GET only. PUT writes one row, so a range makes no sense for it. */
function rootWindow(method: Method, query: RestQuery, headers: RequestHeaders): Window {
  const asked = query.windows.find(({ path }) => path.length === 0)?.node ?? WHOLE;
  if (method === 'PUT' && (asked.limit !== null || asked.offset !== 0)) {
    throw new GrammarError({
      code: 'PL114',
      message: 'limit/offset querystring parameters are not allowed for PUT',
    });
  }
  if (method !== 'GET') return asked;
  return intersect(asked, parseRange(headerValue(headers, 'range'), headerValue(headers, 'range-unit')));
}

/** Schema names arrive as UTF-8, which Node decodes as Latin-1. */
function profileOf(method: Method, headers: RequestHeaders): string | null {
  const reads = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
  const name = headerValue(headers, reads ? 'accept-profile' : 'content-profile');
  return name ? Buffer.from(name, 'latin1').toString('utf8') : null;
}
