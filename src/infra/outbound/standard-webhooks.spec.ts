import { isWebhookSecret, webhookHeaders } from './standard-webhooks';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('webhookHeaders', () => {
  it('signs the example of the specification', () => {
    const body = '{"test": 2432232314}';
    const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body };
    expect(webhookHeaders(SECRET, message)['webhook-signature']).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
    expect(webhookHeaders(`v1,${SECRET}`, message)).toEqual(webhookHeaders(SECRET, message));
  });
});

it.each([
  [SECRET, true],
  ['whsec_short', false],
  [`whsec_${'A'.repeat(31)}`, false],
  [`whsec_${'A'.repeat(86)}==`, true],
  [`whsec_${'A'.repeat(88)}`, false],
  ['secret', false],
  ['', false],
])('accepts %s as a secret: %s', (secret, is) => {
  expect(isWebhookSecret(secret)).toBe(is);
});
