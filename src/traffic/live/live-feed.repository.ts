/** Sends notifications to other processes through the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

@Injectable()
export class LiveFeedRepository {
  constructor(private readonly dataSource: DataSource) {}

  async notify(channel: string, payloads: readonly string[]): Promise<void> {
    await this.dataSource.query('select pg_notify($1, payload) from unnest($2::text[]) payload', [
      channel,
      payloads,
    ]);
  }
}
