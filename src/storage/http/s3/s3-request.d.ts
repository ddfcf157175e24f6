/** Property of a request that S3Guard sets. Read it through callOf(). */
import type { S3Call } from './s3-call';

declare global {
  namespace Express {
    interface Request {
      s3Call?: S3Call;
    }
  }
}
