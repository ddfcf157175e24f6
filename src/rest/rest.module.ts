/** The table REST of a project. */
import { Module } from '@nestjs/common';

@Module({})
export class RestModule {}
