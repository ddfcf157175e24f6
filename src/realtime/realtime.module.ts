/** Realtime: WebSockets with channels, broadcasts and presence. */
import { FolderModule } from '../infra/folder-module';
import { AdmissionGuard } from '../access/admission.guard';
import { ApiKeyGuard } from '../access/api-key.guard';
import { BearerGuard } from '../access/bearer.guard';
import { SocketCredentials } from '../access/socket-credentials.service';
import { ChangesModule } from '../changes/changes.module';
import { BroadcastController } from './http/broadcast.controller';
import { SocketWatch } from './socket-watch.service';

@FolderModule(__dirname, {
  imports: [ChangesModule],
  controllers: [BroadcastController],
  providers: [
    AdmissionGuard,
    ApiKeyGuard,
    BearerGuard,
    // Not part of AccessModule: that imports PassportModule, with which Nest would replace the options of the guards.
    SocketCredentials,
    SocketWatch,
  ],
})
export class RealtimeModule {}
