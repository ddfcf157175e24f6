/** Accounts and sessions of a project. */
import { Module } from '@nestjs/common';

@Module({})
export class AuthModule {}
