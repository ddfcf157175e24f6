/** Metrics of password hashing in GET /metrics. */
import { Injectable } from '@nestjs/common';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Metrics } from '../../infra/metrics/metrics';

@Injectable()
export class PasswordMetrics {
  constructor(metrics: Metrics, passwords: PasswordHasher) {
    metrics.gauge(
      'plinth_passwords_waiting',
      'Passwords that wait for a thread to be hashed or compared',
      () => passwords.waiting,
    );
  }
}
