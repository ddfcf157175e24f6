/** A member of a body or query string that may be left out, or null. */
import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';

export const OptionalProperty = (options: ApiPropertyOptions = {}): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional(options), IsOptional());
