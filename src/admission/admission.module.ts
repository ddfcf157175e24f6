/** Providers with which features admit work. */
import { Global, Module } from '@nestjs/common';
import { WholeRequests } from './whole-requests.service';

@Global()
@Module({ providers: [WholeRequests], exports: [WholeRequests] })
export class AdmissionModule {}
