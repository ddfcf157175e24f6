/** Facts of a request, recorded before its guards run. Guards add `apiKey`, `caller` and `staff` (request.d.ts). */
import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface';
import type { IncomingMessage } from 'node:http';
import type { FairStarts } from '../admission/fair-starts';

export interface RequestTimes {
  /** Milliseconds, excluding a current use. */
  database: number;
  /** Current uses; parallel uses count once. */
  uses: number;
  /** Start of the first current use. */
  since: number;
}

export class RequestContext {
  /** The id that finds the request in the logs of several services; null without logs and traces of requests. */
  id: string | null = null;
  /** Null for a request that started before measuring began. */
  times: RequestTimes | null = null;
  /** Milliseconds of using or waiting for the database; for requests other than table REST only while measuring is on. */
  databaseMs: number | null = null;
  /** The main statement of table REST, with parameters in place of the values. */
  statement: string | null = null;
  /** Code of the error that was answered. */
  errorCode: string | null = null;
  /** Gives the request its turn when its body was read. */
  starts: FairStarts | null = null;
  /** True if the request arrived through the listener of METRICS_PORT. */
  isOfMetrics = false;
  /** True if the request arrived through the listener of S3_PORT. */
  isOfS3 = false;
  /** The permissions of a bucket's rules for pages of other origins; null: the default. */
  cors: CorsOptions | null = null;
  /** The address that the client signed, if it differs from that of the route. */
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
