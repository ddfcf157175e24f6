/** Buckets and files of a project. */
import { Module } from '@nestjs/common';

@Module({})
export class StorageModule {}
