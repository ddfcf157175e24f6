/** Chooses the representation of the response: the first accepted media type that Plinth can produce. RFC 9110, 12.5.1. */
import { type MediaHandler, nameKey, type QualifiedName } from '../catalog/catalog';
import { formatMediaType } from '../grammar/media-type';
import type { MediaType } from '../grammar/rest-request';
import { restError } from '../rest.errors';
import type { RepresentationPlan } from './plan';

export interface Offer {
  readonly handlers: readonly MediaHandler[];
  /** The relation or function whose rows are returned. */
  readonly rowsOf: QualifiedName;
  /** True when all columns are selected: handlers of a relation take whole rows. */
  readonly isWholeRow: boolean;
  readonly planEnabled: boolean;
}

export interface Negotiated {
  readonly representation: RepresentationPlan;
  readonly contentType: string;
}

const ROWS: RepresentationPlan = { kind: 'rows', stripNulls: false };

/** @throws AppError PL107 if Plinth can produce none of the types */
export function negotiate(accept: readonly MediaType[], offer: Offer): Negotiated {
  for (const media of accept) {
    const found = offered(media, offer);
    if (found) return found;
  }
  throw restError('PL107', {
    message: `None of these media types are available: ${accept.map(formatMediaType).join(', ')}`,
  });
}

function offered(media: MediaType, offer: Offer): Negotiated | null {
  const handler = handlerFor(media, offer);
  if (handler) return made({ kind: 'handler', handler }, handler.contentType);
  switch (media.kind) {
    case 'any':
    case 'json':
      return made(ROWS, 'application/json');
    case 'ndjson':
      return made({ kind: 'ndjson' }, formatMediaType(media));
    case 'csv':
      return made({ kind: 'csv' }, 'text/csv');
    case 'geojson':
      return made({ kind: 'geojson' }, formatMediaType(media));
    case 'stripped-array':
      return made({ kind: 'rows', stripNulls: true }, formatMediaType(media));
    case 'object':
      return made({ kind: 'object', stripNulls: media.stripNulls }, formatMediaType(media));
    case 'plan':
      return explained(media, offer);
    case 'other':
      return wildcard(media.type);
    default:
      return null;
  }
}

function explained(media: Extract<MediaType, { kind: 'plan' }>, offer: Offer): Negotiated | null {
  const inner = offer.planEnabled ? offered(media.for, offer) : null;
  if (!inner) return null;
  const { format, options } = media;
  return made({ kind: 'explain', format, options, of: inner.representation }, formatMediaType(media));
}

/** `application/*` */
function wildcard(type: string): Negotiated | null {
  if (type === 'application/*') return made(ROWS, 'application/json');
  return type === 'text/*' ? made({ kind: 'csv' }, 'text/csv') : null;
}

/** A handler of the relation itself takes precedence over a handler for any relation. The vendor types cannot be overridden. */
function handlerFor(media: MediaType, { handlers, rowsOf, isWholeRow }: Offer): MediaHandler | null {
  if (
    handlers.length === 0 ||
    media.kind === 'object' ||
    media.kind === 'stripped-array' ||
    media.kind === 'plan'
  ) {
    return null;
  }
  const wanted = formatMediaType(media);
  const own = isWholeRow
    ? handlers.filter((one) => one.appliesTo && nameKey(one.appliesTo) === nameKey(rowsOf))
    : [];
  return (
    own.find(({ mediaType }) => mediaType === '*/*') ??
    own.find(({ mediaType }) => mediaType === wanted) ??
    handlers.find((one) => one.appliesTo === null && one.mediaType === wanted) ??
    null
  );
}

function made(representation: RepresentationPlan, contentType: string): Negotiated {
  return { representation, contentType };
}
