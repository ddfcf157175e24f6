/** The console, a static page that is built from `console/`, the pages of docs/, and the home page of the installation. */
import { Module } from '@nestjs/common';
import { ConsoleController } from './http/console.controller';
import { HomeController } from './http/home.controller';
import { PagesController } from './http/pages.controller';

@Module({ controllers: [HomeController, ConsoleController, PagesController] })
export class ConsoleModule {}
