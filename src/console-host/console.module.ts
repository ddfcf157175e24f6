/** The console, a static page that is built from `console/`, and the pages of docs/. */
import { Module } from '@nestjs/common';
import { ConsoleController } from './http/console.controller';
import { PagesController } from './http/pages.controller';

@Module({ controllers: [ConsoleController, PagesController] })
export class ConsoleModule {}
