/** What the guards leave on a request. Read it through the decorators of current-caller.decorator.ts. */
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
