/** Realtime: WebSockets with channels, broadcasts and presence. */
import { Module } from '@nestjs/common';
import { AdmissionGuard } from '../access/admission.guard';
import { ApiKeyGuard } from '../access/api-key.guard';
import { BearerGuard } from '../access/bearer.guard';
import { SocketCredentials } from '../access/socket-credentials.service';
import { ChangesModule } from '../changes/changes.module';
import { ChannelBroadcast } from './channel-broadcast.service';
import { ChannelChanges } from './channel-changes.service';
import { ChannelHub } from './channel-hub.service';
import { ChannelPresence } from './channel-presence.service';
import { ChannelRightsRepository } from './channel-rights.repository';
import { BroadcastController } from './http/broadcast.controller';
import { ProcessRelay } from './process-relay.service';
import { RealtimeGateway } from './realtime-gateway.service';
import { SentMessages } from './sent-messages.service';
import { SocketMessages } from './socket-messages.service';
import { SocketWatch } from './socket-watch.service';

@Module({
  imports: [ChangesModule],
  controllers: [BroadcastController],
  providers: [
    AdmissionGuard,
    ApiKeyGuard,
    BearerGuard,
    ChannelBroadcast,
    ChannelChanges,
    ChannelHub,
    ChannelPresence,
    ChannelRightsRepository,
    ProcessRelay,
    RealtimeGateway,
    SentMessages,
    // Not in AccessModule, which imports PassportModule: Nest would replace the options of the guards by its options.
    SocketCredentials,
    SocketMessages,
    SocketWatch,
  ],
})
export class RealtimeModule {}
