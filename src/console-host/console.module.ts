/** The console: a static page that is built from `console/`. */
import { Module } from '@nestjs/common';
import { ConsoleController } from './http/console.controller';

@Module({ controllers: [ConsoleController] })
export class ConsoleModule {}
