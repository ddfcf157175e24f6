/** OpenAPI documents and the page that shows them. */
import { Module } from '@nestjs/common';
import { DocumentService } from './document.service';
import { ApiDocsController } from './http/api-docs.controller';

@Module({ controllers: [ApiDocsController], providers: [DocumentService] })
export class ApiDocsModule {}
