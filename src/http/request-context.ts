/** What is noted about a request before a guard sees it. Guards add `apiKey`, `caller` and `staff` (request.d.ts). */
import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface';
import type { IncomingMessage } from 'node:http';
import type { FairStarts } from '../admission/fair-starts';

export interface RequestTimes {
  /** Milliseconds, without a use that still runs. */
  database: number;
  /** Current uses; parallel uses count once. */
  uses: number;
  /** When the first of them began. */
  since: number;
}

export class RequestContext {
  /** By which the request is found in the logs of several services; null where requests are neither logged nor traced. */
  id: string | null = null;
  /** Null for a request that started before something watched. */
  times: RequestTimes | null = null;
  /** Milliseconds with, or in wait for, the database; measured by table REST, and of other requests while something watches. */
  databaseMs: number | null = null;
  /** The main statement of table REST, with parameters in place of the values. */
  statement: string | null = null;
  /** Code of the error that was answered. */
  errorCode: string | null = null;
  /** Gives the request its turn when its body was read. */
  starts: FairStarts | null = null;
  /** It arrived through the listener of METRICS_PORT. */
  isOfMetrics = false;
  /** It arrived through the listener of S3_PORT. */
  isOfS3 = false;
  /** What the rules of a bucket allow pages of other origins; null: the default. */
  cors: CorsOptions | null = null;
  /** The address that the client signed, where that is not the one of the route. */
  signedUrl: string | null = null;
}

declare module 'node:http' {
  interface IncomingMessage {
    context?: RequestContext;
  }
}

export function contextOf(request: IncomingMessage): RequestContext {
  return (request.context ??= new RequestContext());
}
