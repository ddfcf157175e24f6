/**
 * Informs this process about the replicas and poolers in the list of servers: at its start, after each
 * change, and once a minute.
 */
import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { messageOf } from '../common/errors/error-facts';
import { ProjectPools } from '../database/pools/project-pools';
import { ReplicaSets } from '../database/replicas/replica-sets';
import { MessageBus } from '../install/message-bus.service';
import { ServersService } from './servers.service';

const MESSAGE = 'servers:';
/** Prefix of a message, followed by a position and the name of a server. */
const REVOKED = 'revoked:';
const REVOCATION = /^(\d{1,20}) (.+)$/;
/** Milliseconds after which the list is read again, in case a message was lost. */
const REFRESH_MS = 60_000;

@Injectable()
export class ReplicaList implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ReplicaList.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly servers: ServersService,
    private readonly sets: ReplicaSets,
    private readonly pools: ProjectPools,
    private readonly bus: MessageBus,
  ) {
    bus.onMessage(MESSAGE, () => void this.refresh());
    servers.onChange = () => this.announce();
    bus.onMessage(REVOKED, (text) => {
      const [, position, server] = REVOCATION.exec(text) ?? [];
      if (position !== undefined && server !== undefined) sets.refuseBefore(server, BigInt(position));
    });
    sets.broadcast = (server, position) => bus.broadcastAndConfirm(REVOKED, `${position} ${server}`);
    sets.hearsSince = () => bus.listeningSince;
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.refresh();
    this.timer = setInterval(() => void this.refresh(), REFRESH_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Other processes that miss the message read the list again within a minute. */
  private async announce(): Promise<void> {
    await this.refresh();
    await this.bus.broadcast(MESSAGE, '').catch(() => undefined);
  }

  private async refresh(): Promise<void> {
    try {
      const { replicas, poolers } = await this.servers.listAddresses();
      this.sets.configure(replicas);
      this.pools.poolers = poolers;
    } catch (error) {
      this.logger.warn(`the list of servers could not be read: ${messageOf(error)}`);
    }
  }
}
