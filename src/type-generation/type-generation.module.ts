/** Types of TypeScript for applications, from a project's schema. */
import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { ApiDocsModule } from '../api-docs/api-docs.module';
import { TypesController } from './http/types.controller';

@Module({ imports: [AccessModule, ApiDocsModule], controllers: [TypesController] })
export class TypeGenerationModule {}
