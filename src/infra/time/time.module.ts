/** Provides the clock everywhere. */
import { DynamicModule, Global, Module } from '@nestjs/common';
import { Clock } from '../../common/time/clock';

@Global()
@Module({})
export class TimeModule {
  static forRoot(clock: Clock): DynamicModule {
    const provider = { provide: Clock, useValue: clock };
    return { module: TimeModule, providers: [provider], exports: [provider] };
  }
}
