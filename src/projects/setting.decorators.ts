/** Kinds of settings: each checks a value and describes itself in the OpenAPI document. */
import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsString,
  IsUrl,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';

/** Null takes a setting back to its default. @param schema what the OpenAPI document says besides */
export const OptionalSetting = (description: string, schema: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ValidateIf((_object, value) => value !== undefined && value !== null),
    ApiPropertyOptional({ nullable: true, description, ...schema }),
  );

export const FlagSetting = (description: string): PropertyDecorator =>
  applyDecorators(OptionalSetting(description, { type: Boolean }), IsBoolean());

export const IntegerSetting = (
  description: string,
  minimum: number,
  maximum: number = Number.MAX_SAFE_INTEGER,
): PropertyDecorator =>
  applyDecorators(
    OptionalSetting(description, { type: 'integer', format: 'int64', minimum, maximum }),
    IsInt(),
    Min(minimum),
    Max(maximum),
  );

export const TextSetting = (description: string, maxLength: number): PropertyDecorator =>
  applyDecorators(
    OptionalSetting(description, { type: String, maxLength }),
    IsString(),
    MaxLength(maxLength),
  );

export const UrlSetting = (description: string): PropertyDecorator =>
  applyDecorators(
    OptionalSetting(description, { type: String, format: 'uri' }),
    // A user and a password before the host are how addresses are made to look like others.
    IsUrl({ require_tld: false, require_protocol: true, protocols: ['http', 'https'], disallow_auth: true }),
  );

export const ListSetting = (
  description: string,
  maxItems: number,
  schema: ApiPropertyOptions = {},
): PropertyDecorator =>
  applyDecorators(
    OptionalSetting(description, { type: [String], maxItems, ...schema }),
    IsArray(),
    ArrayMaxSize(maxItems),
    IsString({ each: true }),
  );
