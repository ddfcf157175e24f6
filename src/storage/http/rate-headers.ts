/** The rate's three headers (SPEC.md 8). */
import type { Response } from 'express';
import { RateState } from '../rate-limit/storage-rate-limiter';

export function setRateHeaders(response: Response, { limit, remaining, resetAt }: RateState): void {
  response.setHeader('X-RateLimit-Limit', String(limit));
  response.setHeader('X-RateLimit-Remaining', String(remaining));
  response.setHeader('X-RateLimit-Reset', String(Math.ceil(resetAt / 1000)));
}
