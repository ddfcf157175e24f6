/** Properties of a request that the guards set. Read them through the decorators of current-caller.decorator.ts. */
import type { Caller } from './caller';
import type { VerifiedApiKey } from './strategies/api-key.strategy';

declare global {
  namespace Express {
    interface Request {
      apiKey?: VerifiedApiKey;
      caller?: Caller;
    }
  }
}
