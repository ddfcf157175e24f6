/** The input of the first stage: a request as HTTP delivered it, nothing decoded. */
import type { Caller } from '../access/caller';
import type { HeldBody } from '../http/bodies/body-budget';
import type { RequestFacts } from './execute/request-settings';
import type { RawRestRequest, RequestShape } from './grammar/rest-request';

export interface IncomingRequest {
  readonly caller: Caller;
  readonly raw: RawRestRequest;
  readonly facts: RequestFacts;
  /**
   * Reads the body and lends it to `work`; null for a method that has none. Its memory is counted until `work` is done.
   * @throws AppError as BodyReader.use()
   */
  withBody(request: RequestShape, work: (held: HeldBody | null) => Promise<void>): Promise<void>;
}
