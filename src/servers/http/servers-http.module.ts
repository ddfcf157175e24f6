/** The HTTP interface of servers. */
import { Module } from '@nestjs/common';
import { ServersModule } from '../servers.module';
import { ServersController } from './servers.controller';

@Module({
  imports: [ServersModule],
  controllers: [ServersController],
})
export class ServersHttpModule {}
