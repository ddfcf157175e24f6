/** Metrics of password hashing in GET /metrics. */
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Metrics } from '../../infra/metrics/metrics';

@Injectable()
export class PasswordMetrics {
  constructor({ registry }: Metrics, passwords: PasswordHasher) {
    new Gauge({
      name: 'plinth_passwords_waiting',
      help: 'Passwords that wait for a thread to be hashed or compared',
      registers: [registry],
      collect() {
        this.set(passwords.waiting);
      },
    });
  }
}
