/** Signs HTTP calls by Standard Webhooks 1.0.0 (standardwebhooks.com), so receivers can verify them with its libraries. */
import { createHmac } from 'node:crypto';

/** `whsec_` and 24 to 64 bytes in base64; GoTrue writes `v1,` before it. */
const SECRET = /^(?:v1,)?whsec_([A-Za-z0-9+/]{32,86}={0,2})$/;
const KEY_BYTES = { min: 24, max: 64 };

export interface WebhookMessage {
  /** Stays the same in all attempts to deliver a message. */
  readonly id: string;
  /** Time of the attempt in Unix seconds. */
  readonly timestamp: number;
  readonly body: string;
}

export const isWebhookSecret = (secret: string): boolean => keyOf(secret) !== null;

/** @param secrets several during a rotation @throws Error for a text that is not a secret */
export function webhookHeaders(
  secrets: string | readonly string[],
  { id, timestamp, body }: WebhookMessage,
): Record<'content-type' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signatures = [secrets].flat().map((secret) => {
    const key = keyOf(secret);
    if (!key) throw new Error('the secret is not one of Standard Webhooks');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}

function keyOf(secret: string): Buffer | null {
  const [, encoded = ''] = SECRET.exec(secret) ?? [];
  const key = Buffer.from(encoded, 'base64');
  return key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max ? key : null;
}
